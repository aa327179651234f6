"""A query as SQLite's text.

A printer of a closed set of expressions: those that `planner.agreement` makes of a fragment for SQLite.
Anything else is our mistake and an InternalError: nothing of another dialect is translated here. Every
operator has its own parentheses, so that SQLite's precedences need not be known.

    SELECT o.id FROM orders AS o WHERE (o.id = 5)
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from sqlglot import exp

from shardwise.errors import InternalError

_PLAIN = re.compile(r"[a-z_][a-z0-9_]*\Z")
_WORDS = """
    abort action add after all alter always analyze and as asc attach autoincrement before begin
    between by cascade case cast check collate column commit conflict constraint create cross
    current current_date current_time current_timestamp database default deferrable deferred delete
    desc detach distinct do drop each else end escape except exclude exclusive exists explain fail
    false filter first following for foreign from full generated glob group groups having if ignore
    immediate in index indexed initially inner insert instead intersect into is isnull join key last
    left like limit match materialized natural no not nothing notnull null nulls of offset on or
    order others outer over partition plan pragma preceding primary query raise range recursive
    references regexp reindex release rename replace restrict returning right rollback row rows
    savepoint select set table temp temporary then ties to transaction trigger true unbounded union
    unique update using vacuum values view virtual when where window with within without
"""
KEYWORDS = frozenset(re.findall(r"\w+", _WORDS))


def name_text(name: str) -> str:
    """A name, quoted where it must be.

    A quoted name that nothing has is a text to SQLite, so a column is always written with its table.
    """
    if _PLAIN.match(name) is not None and name not in KEYWORDS:
        return name
    return '"' + name.replace('"', '""') + '"'


def string_text(value: str) -> str:
    """A text as a literal. One with a NUL character cannot be written as one: it would end there."""
    if "\0" in value:
        return f"CAST(x'{value.encode().hex()}' AS TEXT)"
    return "'" + value.replace("'", "''") + "'"


def sqlite_text(query: exp.Expr) -> str:
    """The text of a query or expression."""
    kind = type(query)
    printer = _PRINTERS.get(kind)
    if printer is None:
        operator = _OPERATORS.get(kind)
        if operator is None:
            raise InternalError(f"no SQLite text is known for a {kind.__name__}")
        return f"({_t(query.this)} {operator} {_t(query.args['expression'])})"
    return printer(query)


_t = sqlite_text

_OVER = "over"
_HOLE = "\ue000"
HOLE = exp.Column(this=exp.Identifier(this=_HOLE, quoted=True))
"""Stands for an expression in a text that is made once and written over many."""


def over(expr: exp.Expr, text: str) -> exp.Expr:
    """A text, made of an expression with `HOLE` in it, over `expr`: a small tree, whatever the text says."""
    return exp.Anonymous(this=_OVER, expressions=[expr, exp.Literal.string(text)])


def _list(expressions: list[exp.Expr]) -> str:
    return ", ".join(map(_t, expressions))


# ------------------------------------------------------------------ queries

_SELECT = frozenset(
    {
        "expressions",
        "from_",
        "joins",
        "where",
        "group",
        "having",
        "distinct",
        "order",
        "limit",
        "offset",
        "with_",
    }
)
_UNION = frozenset({"this", "expression", "distinct", "order", "limit", "offset", "with_"})


def _only(node: exp.Expr, known: frozenset[str]) -> None:
    unknown = [key for key, value in node.args.items() if value and key not in known]
    if unknown:
        raise InternalError(f"no SQLite text is known for {unknown[0]} of a {type(node).__name__}")


def _select(node: exp.Expr) -> str:
    _only(node, _SELECT)
    args = node.args
    distinct = args.get("distinct")
    if distinct is not None and distinct.args.get("on") is not None:
        raise InternalError("SQLite has no DISTINCT ON")
    parts = [f"{_with(node)}SELECT {'DISTINCT ' if distinct is not None else ''}{_list(node.expressions)}"]
    if args.get("from_") is not None:
        parts.append(f"FROM {_t(args['from_'].this)}")
        parts += [_join(join) for join in args.get("joins") or ()]
    if args.get("where") is not None:
        parts.append(f"WHERE {_t(args['where'].this)}")
    if args.get("group") is not None:
        _only(args["group"], frozenset({"expressions"}))
        parts.append(f"GROUP BY {_list(args['group'].expressions)}")
    if args.get("having") is not None:
        parts.append(f"HAVING {_t(args['having'].this)}")
    return " ".join(parts) + _tail(node)


def _set_operation(word: str) -> Callable[[Any], str]:
    def text(node: exp.Expr) -> str:
        _only(node, _UNION)
        all_rows = not node.args.get("distinct")
        if all_rows and word != "UNION":
            raise InternalError(f"SQLite has no {word} ALL")
        arms = (_arm(node.this), _arm(node.args["expression"]))
        return f"{_with(node)}{arms[0]} {word}{' ALL' if all_rows else ''} {arms[1]}{_tail(node)}"

    return text


def _arm(node: exp.Expr) -> str:
    """SQLite takes no arm in parentheses."""
    is_wrapped = isinstance(node, exp.Subquery)
    return f"SELECT * FROM ({_t(node.this)})" if is_wrapped else _t(node)


def _tail(node: exp.Expr) -> str:
    args, text = node.args, ""
    if args.get("order") is not None:
        text += f" ORDER BY {_list(args['order'].expressions)}"
    limit, offset = args.get("limit"), args.get("offset")
    if limit is not None:
        if limit.args.get("limit_options"):
            raise InternalError("SQLite has no LIMIT of a percentage")
        text += f" LIMIT {_t(limit.expression)}"
    if offset is not None:
        text += f"{'' if limit is not None else ' LIMIT -1'} OFFSET {_t(offset.expression)}"
    return text


def _with(node: exp.Expr) -> str:
    found = node.args.get("with_")
    if found is None:
        return ""
    if found.args.get("recursive"):
        raise InternalError("no SQLite text is known for WITH RECURSIVE")
    ctes = (f"{_t(cte.args['alias'])} AS ({_t(cte.this)})" for cte in found.expressions)
    return f"WITH {', '.join(ctes)} "


def loses_order_of_joins(query: exp.Expr) -> bool:
    """Whether SQLite is to leave a UNION ALL in FROM whole, by a LIMIT.

    It joins each of its arms by itself, and 3.40 then says "ON clause references tables to its right" of some
    a RIGHT JOIN b ON … JOIN c ON … JOIN d ON …, whose names are in order.
    """
    joins = list(query.find_all(exp.Join))
    return len(joins) > 1 and any(str(j.args.get("side") or "").upper() in ("RIGHT", "FULL") for j in joins)


_JOINS = {
    ("", ""): "JOIN",
    ("", "CROSS"): "JOIN",  # CROSS JOIN is SQLite's way to fix the order
    ("LEFT", ""): "LEFT JOIN",
}


def _join(node: exp.Expr) -> str:
    _only(node, frozenset({"this", "on", "side", "kind"}))
    word = _JOINS.get((node.args.get("side") or "", node.args.get("kind") or ""))
    if word is None:
        raise InternalError(
            f"no SQLite text is known for the join {node.args.get('side')} {node.args.get('kind')}"
        )
    on = node.args.get("on")
    return f"{word} {_t(node.this)}{f' ON {_t(on)}' if on is not None else ''}"


def _table(node: exp.Expr) -> str:
    _only(node, frozenset({"this", "alias"}))
    inner = node.this
    return (name_text(node.name) if isinstance(inner, exp.Identifier) else _t(inner)) + _alias(node)


def _subquery(node: exp.Expr) -> str:
    """In FROM or in an expression; or a join in parentheses."""
    _only(node, frozenset({"this", "alias"}))
    inner = node.this
    joins = inner.args.get("joins") if isinstance(inner, exp.Table | exp.Subquery) else None
    if not joins:
        return f"({_t(inner)}){_alias(node)}"
    bare = inner.copy()
    bare.set("joins", None)
    return f"({' '.join([_t(bare), *map(_join, joins)])}){_alias(node)}"


def _alias(node: exp.Expr) -> str:
    alias = node.args.get("alias")
    return f" AS {_t(alias)}" if alias is not None else ""


def _table_alias(node: exp.Expr) -> str:
    columns = node.args.get("columns")
    return name_text(node.name) + (f"({', '.join(name_text(c.name) for c in columns)})" if columns else "")


# ------------------------------------------------------------------ expressions


def _column(node: exp.Expr) -> str:
    _only(node, frozenset({"this", "table"}))
    table = node.text("table")
    return f"{name_text(table)}.{name_text(node.name)}" if table else name_text(node.name)


def _literal(node: exp.Expr) -> str:
    return string_text(node.name) if node.args.get("is_string") else node.name


def _case(node: exp.Expr) -> str:
    subject, default = node.args.get("this"), node.args.get("default")
    if subject is not None:
        raise InternalError("no SQLite text is known for CASE of a subject")
    arms = "".join(f" WHEN {_t(arm.this)} THEN {_t(arm.args['true'])}" for arm in node.args["ifs"])
    return f"CASE{arms}{f' ELSE {_t(default)}' if default is not None else ''} END"


def _in(node: exp.Expr) -> str:
    _only(node, frozenset({"this", "expressions", "query"}))
    query = node.args.get("query")
    members = _t(query) if query is not None else f"({_list(node.expressions)})"
    return f"({_t(node.this)} IN {members})"


def _call(node: exp.Expr) -> str:
    if node.name == _OVER:
        expr, text = node.expressions
        return str(text.name).replace(f'"{_HOLE}"', _t(expr))
    return f"{node.name}({_list(node.expressions)})"


def _aggregate(word: str) -> Callable[[Any], str]:
    def text(node: exp.Expr) -> str:
        argument = node.this
        if isinstance(argument, exp.Distinct):
            return f"{word}(DISTINCT {_list(argument.expressions)})"
        return f"{word}({'*' if isinstance(argument, exp.Star) else _t(argument)})"

    return text


def _ordered(node: exp.Expr) -> str:
    direction = " DESC" if node.args.get("desc") else " ASC"
    return f"{_t(node.this)}{direction} NULLS {'FIRST' if node.args.get('nulls_first') else 'LAST'}"


def _window(node: exp.Expr) -> str:
    _only(node, frozenset({"this", "order", "over"}))
    return f"{_t(node.this)} OVER (ORDER BY {_list(node.args['order'].expressions)})"


_STORAGE = {
    exp.DType.BIGINT: "INTEGER",
    exp.DType.DOUBLE: "REAL",
    exp.DType.TEXT: "TEXT",
    exp.DType.VARBINARY: "BLOB",
}


def _cast(node: exp.Expr) -> str:
    """To a storage class; a NULL is the same in all of them."""
    if isinstance(node.this, exp.Null):
        return "NULL"
    storage = _STORAGE.get(node.args["to"].this)
    if storage is None:
        raise InternalError(f"no SQLite text is known for a CAST to {node.args['to']}")
    return f"CAST({_t(node.this)} AS {storage})"


_OPERATORS: dict[type, str] = {
    exp.And: "AND",
    exp.Or: "OR",
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
    exp.Is: "IS",
    exp.NullSafeEQ: "IS",
    exp.NullSafeNEQ: "IS NOT",
    exp.Add: "+",
    exp.Sub: "-",
    exp.Mul: "*",
    exp.Div: "/",
    exp.Mod: "%",
    exp.BitwiseAnd: "&",
    exp.BitwiseRightShift: ">>",
    exp.DPipe: "||",
}

_PRINTERS: dict[type, Callable[[Any], str]] = {
    exp.Select: _select,
    exp.Union: _set_operation("UNION"),
    exp.Intersect: _set_operation("INTERSECT"),
    exp.Except: _set_operation("EXCEPT"),
    exp.Table: _table,
    exp.Subquery: _subquery,
    exp.TableAlias: _table_alias,
    exp.Alias: lambda node: f"{_t(node.this)} AS {name_text(node.alias)}",
    exp.Column: _column,
    exp.Literal: _literal,
    exp.HexString: lambda node: f"x'{node.name}'",
    exp.Null: lambda _: "NULL",
    exp.Var: lambda node: node.name,
    exp.Boolean: lambda node: "1" if node.this else "0",
    exp.Placeholder: lambda node: f":{node.name}",
    exp.Paren: lambda node: _t(node.this),
    exp.Tuple: lambda node: f"({_list(node.expressions)})",
    exp.Not: lambda node: f"(NOT {_t(node.this)})",
    exp.Neg: lambda node: f"(-{_t(node.this)})",
    exp.Collate: lambda node: f"({_t(node.this)} COLLATE {node.args['expression'].name})",
    exp.Between: lambda node: f"({_t(node.this)} BETWEEN {_t(node.args['low'])} AND {_t(node.args['high'])})",
    exp.Case: _case,
    exp.In: _in,
    exp.Exists: lambda node: (
        f"EXISTS ({_t(node.this.this if isinstance(node.this, exp.Subquery) else node.this)})"
    ),
    exp.Anonymous: _call,
    exp.Cast: _cast,
    exp.Count: _aggregate("count"),
    exp.Sum: _aggregate("sum"),
    exp.Min: _aggregate("min"),
    exp.Max: _aggregate("max"),
    exp.Filter: lambda node: f"{_t(node.this)} FILTER (WHERE {_t(node.expression.this)})",
    exp.Ordered: _ordered,
    exp.RowNumber: lambda _: "row_number()",
    exp.Window: _window,
}
