"""DuckDB's names for columns without an alias."""

from __future__ import annotations

from sqlglot import exp


def name_of(expr: exp.Expr) -> str:
    """The name that DuckDB gives an unnamed column, as near as the parsed form allows.

    Exact for columns, fields and simple calls. A result's names come from DuckDB itself; this
    matters where an outer query names such a column.

    >>> import sqlglot
    >>> [name_of(e) for e in sqlglot.parse_one("select t.a, count(*), max(a)+1", read="duckdb").expressions]
    ['a', 'count_star()', '(max(a) + 1)']
    """
    if isinstance(expr, exp.Column):
        return expr.name
    if isinstance(expr, exp.Alias):
        return expr.alias
    return _text(expr)


def _text(expr: exp.Expr) -> str:
    if isinstance(expr, exp.Count) and isinstance(expr.this, exp.Star):
        return "count_star()"
    if isinstance(expr, exp.Paren):
        return _text(expr.this)
    if isinstance(expr, exp.Binary) and type(expr) in _OPERATORS:
        return f"({_text(expr.left)} {_OPERATORS[type(expr)]} {_text(expr.right)})"
    if isinstance(expr, exp.Cast):
        to = expr.to.sql("duckdb")
        return f"CAST({_text(expr.this)} AS {'INTEGER' if to == 'INT' else to})"
    if isinstance(expr, exp.Column):
        return ".".join(part.name for part in expr.parts)
    if isinstance(expr, exp.Neg):
        return f"-{_text(expr.this)}"
    if isinstance(expr, exp.Func) and not isinstance(expr, exp.Case | exp.And | exp.Or):
        return expr.sql("duckdb", normalize_functions="lower")
    return expr.sql("duckdb")


_OPERATORS: dict[type, str] = {
    exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Div: "/", exp.Mod: "%", exp.IntDiv: "//", exp.DPipe: "||",
    exp.EQ: "=", exp.NEQ: "!=", exp.LT: "<", exp.LTE: "<=", exp.GT: ">", exp.GTE: ">=",
    exp.And: "AND", exp.Or: "OR",
}  # fmt: skip
