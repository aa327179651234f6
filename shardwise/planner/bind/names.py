"""Names that the binder hands out: unique relation names, and DuckDB's names for unnamed columns."""

from __future__ import annotations

from sqlglot import exp


class Names:
    """Unique names in one statement, near what the user wrote: t, t_2, t_3.

    >>> names = Names()
    >>> [names.fresh("t"), names.fresh("T"), names.fresh("t")]
    ['t', 'T_2', 't_3']
    """

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def copy(self) -> Names:
        names = Names()
        names._taken = set(self._taken)
        return names

    def fresh(self, wanted: str) -> str:
        name, number = wanted, 1
        while name.lower() in self._taken:
            number += 1
            name = f"{wanted}_{number}"
        self._taken.add(name.lower())
        return name


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
