"""A query of MySQL's own SQL as its text.

sqlglot's generator translates: it writes LENGTH as CHAR_LENGTH's, REGEXP as a function that MariaDB has not,
and leaves operators to its own idea of precedence. Here a tree comes out as the words that it was read from.
Calls are `exp.Anonymous`; one whose arguments are parted by words has its form after `MARK` in its name, with
`HOLE` where an argument stands:

    CAST(a AS CHAR(10))      Anonymous("CAST⟨mark⟩CAST(⟨hole⟩ AS CHAR(10))", [a])
    BINARY a                 Anonymous("BINARY⟨mark⟩BINARY ⟨hole⟩", [a])
    a REGEXP b               ILike(a, b), which MySQL's own SQL has not

Nothing else is known: a node without a form here is an `InternalError`, and whoever reads a statement sees
beforehand that its text comes back (`planner.dialects.mysql_reading`).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

from sqlglot import exp

from shardwise.catalog.types import Family, read_type
from shardwise.errors import InternalError

MARK: Final = "\ue001"
HOLE: Final = "\ue002"

_ESCAPES: Final = {"\\": "\\\\", "'": "''", "\0": "\\0", "\x1a": "\\Z"}
_TO_ESCAPE: Final = re.compile(r"[\\'\0\x1a]")


def string_text(text: str) -> str:
    """A text as a constant, in a session that reads backslashes."""
    return "'" + _TO_ESCAPE.sub(lambda found: _ESCAPES[found[0]], text) + "'"


def name_text(name: str) -> str:
    """A name; always quoted, for what is a word of the language depends on the version."""
    return "`" + name.replace("`", "``") + "`"


def mysql_text(tree: exp.Expr) -> str:
    """The text of a query or an expression."""
    printer = _PRINTERS.get(type(tree))
    if printer is not None:
        return printer(tree)
    operator = _OPERATORS.get(type(tree))
    if operator is not None:
        return f"{_t(tree.this)} {operator} {_t(tree.args['expression'])}"
    raise InternalError(f"no MySQL text is known for a {type(tree).__name__}")


def is_known(tree: exp.Expr) -> bool:
    """Whether this node has a text."""
    return type(tree) in _PRINTERS or type(tree) in _OPERATORS


_t = mysql_text


def _list(expressions: list[exp.Expr]) -> str:
    return ", ".join(map(_t, expressions))


def _only(node: exp.Expr, *known: str) -> None:
    unknown = [key for key, value in node.args.items() if value and key not in known]
    if unknown:
        raise InternalError(f"no MySQL text is known for {unknown[0]} of a {type(node).__name__}")


# ------------------------------------------------------------------ queries


def _select(node: exp.Expr) -> str:
    _only(
        node,
        *("with_", "distinct", "expressions", "from_", "joins", "where", "group", "having", "windows"),
        *("order", "limit", "offset"),
    )
    args = node.args
    distinct = args.get("distinct")
    if distinct is not None and distinct.args.get("on") is not None:
        raise InternalError("MySQL has no DISTINCT ON")
    text = f"{_with(node)}SELECT {'DISTINCT ' if distinct is not None else ''}{_list(node.expressions)}"
    if args.get("from_") is not None:
        text += f" FROM {_t(args['from_'].this)}{_joins(node)}"
    if args.get("where") is not None:
        text += f" WHERE {_t(args['where'].this)}"
    if args.get("group") is not None:
        text += _group(args["group"])
    if args.get("having") is not None:
        text += f" HAVING {_t(args['having'].this)}"
    if args.get("windows"):
        text += f" WINDOW {', '.join(_named_window(w) for w in args['windows'])}"
    return text + _tail(node)


def _group(node: exp.Expr) -> str:
    _only(node, "expressions", "rollup", "all")
    keys = list(node.expressions)
    rollups = node.args.get("rollup") or []
    if any(r.expressions for r in rollups):
        raise InternalError("MySQL writes WITH ROLLUP")
    return f" GROUP BY {_list(keys)}{' WITH ROLLUP' if rollups else ''}"


def _set_operation(word: str) -> Callable[[Any], str]:
    def text(node: exp.Expr) -> str:
        _only(node, "with_", "this", "expression", "distinct", "order", "limit", "offset")
        every = "" if node.args.get("distinct") else " ALL"
        return f"{_with(node)}{_t(node.this)} {word}{every} {_t(node.args['expression'])}{_tail(node)}"

    return text


def _tail(node: exp.Expr) -> str:
    args, text = node.args, ""
    if args.get("order") is not None:
        text += f" {_order(args['order'])}"
    limit, offset = args.get("limit"), args.get("offset")
    if limit is not None:
        _only(limit, "expression")
        text += f" LIMIT {_t(limit.expression)}"
    if offset is not None:
        text += f"{'' if limit is not None else ' LIMIT 18446744073709551615'} OFFSET {_t(offset.expression)}"
    return text


def _order(node: exp.Expr) -> str:
    _only(node, "this", "expressions")
    value = f"{_t(node.this)} " if node.this is not None else ""
    return f"{value}ORDER BY {_list(node.expressions)}"


def _ordered(node: exp.Expr) -> str:
    """NULL is the smallest."""
    descending = bool(node.args.get("desc"))
    if node.args.get("nulls_first") is not None and bool(node.args["nulls_first"]) is descending:
        raise InternalError("MySQL sorts NULL first, or last where descending")
    return f"{_t(node.this)}{' DESC' if descending else ''}"


def _with(node: exp.Expr) -> str:
    found = node.args.get("with_")
    if found is None:
        return ""
    items = (f"{_t(cte.args['alias'])} AS ({_t(cte.this)})" for cte in found.expressions)
    return f"WITH {'RECURSIVE ' if found.args.get('recursive') else ''}{', '.join(items)} "


def _joins(node: exp.Expr) -> str:
    return "".join(map(_join, node.args.get("joins") or ()))


def _join(node: exp.Expr) -> str:
    _only(node, "this", "on", "using", "side", "kind", "method")
    on, using = node.args.get("on"), node.args.get("using")
    method, side, kind = (str(node.args.get(key) or "").upper() for key in ("method", "side", "kind"))
    if not (method or side or kind or on or using):
        return f", {_t(node.this)}"
    if kind in ("STRAIGHT", "STRAIGHT_JOIN"):
        words = "STRAIGHT_JOIN"
    elif (side in ("", "LEFT", "RIGHT") and kind in ("", "INNER", "CROSS", "OUTER")) and method in (
        "",
        "NATURAL",
    ):
        words = " ".join(word for word in (method, side, "" if kind == "OUTER" else kind, "JOIN") if word)
    else:
        raise InternalError(f"MySQL has no {method} {side} {kind} JOIN")
    text = f" {words} {_t(node.this)}"
    if on is not None:
        text += f" ON {_t(on)}"
    if using:
        text += f" USING ({', '.join(name_text(c.name) for c in using)})"
    return text


def _table(node: exp.Expr) -> str:
    _only(node, "this", "db", "alias", "joins")
    name = f"{name_text(node.text('db'))}." if node.args.get("db") else ""
    name += _t(node.this) if isinstance(node.this, exp.Anonymous) else name_text(node.name)
    return f"{name}{_alias(node)}{_joins(node)}"


def _subquery(node: exp.Expr) -> str:
    """In FROM or in an expression, or a join in parentheses; perhaps with an order and a limit of its own."""
    _only(node, "this", "alias", "with_", "order", "limit", "offset", "joins")
    return f"{_with(node)}({_t(node.this)}){_tail(node)}{_alias(node)}{_joins(node)}"


def _alias(node: exp.Expr) -> str:
    alias = node.args.get("alias")
    return f" AS {_t(alias)}" if alias is not None else ""


def _table_alias(node: exp.Expr) -> str:
    columns = node.args.get("columns")
    return name_text(node.name) + (f"({', '.join(name_text(c.name) for c in columns)})" if columns else "")


def _values(node: exp.Expr) -> str:
    _only(node, "expressions", "order", "limit", "offset")
    return f"VALUES {_list(node.expressions)}{_tail(node)}"


# ------------------------------------------------------------------ windows


def _window(node: exp.Expr) -> str:
    _only(node, "this", "partition_by", "order", "spec", "alias", "over", "first")
    alias = node.args.get("alias")
    body = _window_body(node)
    if alias is not None and not body:
        return f"{_t(node.this)} OVER {name_text(alias.name)}"
    inside = " ".join(part for part in (name_text(alias.name) if alias is not None else "", body) if part)
    return f"{_t(node.this)} OVER ({inside})"


def _window_body(node: exp.Expr) -> str:
    parts = []
    if node.args.get("partition_by"):
        parts.append(f"PARTITION BY {_list(node.args['partition_by'])}")
    if node.args.get("order") is not None:
        parts.append(_order(node.args["order"]))
    spec = node.args.get("spec")
    if spec is not None:
        _only(spec, "kind", "start", "start_side", "end", "end_side")
        start, end = _bound(spec, "start"), _bound(spec, "end")
        frame = f"BETWEEN {start} AND {end}" if end else start
        parts.append(f"{spec.args['kind']} {frame}")
    return " ".join(parts)


def _bound(spec: exp.Expr, which: str) -> str:
    value, side = spec.args.get(which), spec.args.get(f"{which}_side")
    if value is None:
        return ""
    return " ".join(part for part in (value if isinstance(value, str) else _t(value), side) if part)


def _named_window(node: exp.Expr) -> str:
    return f"{name_text(node.name)} AS ({_window_body(node)})"


# ------------------------------------------------------------------ expressions


def _column(node: exp.Expr) -> str:
    _only(node, "this", "table", "db")
    parts = [node.text(key) for key in ("db", "table") if node.args.get(key)]
    last = "*" if isinstance(node.this, exp.Star) else name_text(node.name)
    return ".".join([*map(name_text, parts), last])


def _identifier(node: exp.Expr) -> str:
    return name_text(node.name)


def _literal(node: exp.Expr) -> str:
    return string_text(node.this) if node.args.get("is_string") else str(node.this)


def _call(node: exp.Expr) -> str:
    name = str(node.this)
    if MARK not in name:
        return f"{name}({_list(node.expressions)})"
    form = name.split(MARK, 1)[1]
    texts = iter([_argument(e, form) for e in node.expressions])
    return re.sub(HOLE, lambda _: next(texts), form)


_ATOMS: Final = (
    *(exp.Column, exp.Literal, exp.Anonymous, exp.Paren, exp.Subquery, exp.Placeholder, exp.Parameter),
    *(exp.Null, exp.Boolean, exp.Neg, exp.BitwiseNot, exp.Case, exp.HexString, exp.BitString, exp.Collate),
    *(exp.Count, exp.Sum, exp.Avg, exp.Min, exp.Max, exp.GroupConcat, exp.Exists),
)


def _argument(node: exp.Expr, form: str) -> str:
    """In parentheses where it is the operand of an operator that would take it apart."""
    text = _t(node)
    return f"({text})" if form.endswith(HOLE) and not isinstance(node, _ATOMS) else text


def _case(node: exp.Expr) -> str:
    subject, default = node.args.get("this"), node.args.get("default")
    text = "CASE" if subject is None else f"CASE {_t(subject)}"
    text += "".join(f" WHEN {_t(arm.this)} THEN {_t(arm.args['true'])}" for arm in node.args["ifs"])
    return f"{text}{f' ELSE {_t(default)}' if default is not None else ''} END"


def _not(node: exp.Expr) -> str:
    """`NOT a LIKE b` is `a NOT LIKE b`."""
    if isinstance(node.this, exp.In):
        return _in(node.this, "NOT IN")
    if isinstance(node.this, exp.Between):
        return _between(node.this, "NOT BETWEEN")
    if isinstance(node.this, exp.Is):
        return f"{_t(node.this.this)} IS NOT {_t(node.this.expression)}"
    if isinstance(node.this, exp.Like | exp.ILike):
        return f"{_t(node.this.this)} NOT {_OPERATORS[type(node.this)]} {_t(node.this.expression)}"
    if isinstance(node.this, exp.Escape) and isinstance(node.this.this, exp.Like):
        return f"{_not(exp.Not(this=node.this.this.copy()))} ESCAPE {_t(node.this.expression)}"
    return f"NOT {_t(node.this)}"


def _in(node: exp.Expr, word: str = "IN") -> str:
    _only(node, "this", "expressions", "query")
    query = node.args.get("query")
    if query is None:
        return f"{_t(node.this)} {word} ({_list(node.expressions)})"
    return f"{_t(node.this)} {word} {_in_parentheses(query)}"


def _between(node: exp.Expr, word: str = "BETWEEN") -> str:
    _only(node, "this", "low", "high")
    return f"{_t(node.this)} {word} {_t(node.args['low'])} AND {_t(node.args['high'])}"


def _in_parentheses(query: exp.Expr) -> str:
    while isinstance(query, exp.Paren):
        query = query.this
    return _t(query) if isinstance(query, exp.Subquery) else f"({_t(query)})"


def _like(node: exp.Expr) -> str:
    return f"{_t(node.this)} {'NOT ' if node.args.get('negate') else ''}LIKE {_t(node.expression)}"


def _aggregate(word: str) -> Callable[[Any], str]:
    def text(node: exp.Expr) -> str:
        _only(node, "this", "expressions", "big_int")
        argument = node.this
        if isinstance(argument, exp.Distinct):
            return f"{word}(DISTINCT {_list(argument.expressions)})"
        more = "".join(f", {_t(e)}" for e in node.expressions)
        return f"{word}({'*' if isinstance(argument, exp.Star) else _t(argument)}{more})"

    return text


def _group_concat(node: exp.Expr) -> str:
    _only(node, "this", "separator")
    argument, order = node.this, ""
    if isinstance(argument, exp.Order):
        order = " " + f"ORDER BY {_list(argument.expressions)}"
        argument = argument.this
    distinct = ""
    if isinstance(argument, exp.Distinct):
        distinct, parts = "DISTINCT ", list(argument.expressions)
    else:
        parts = [argument]
    if len(parts) == 1 and isinstance(parts[0], exp.Order):
        order = f" ORDER BY {_list(parts[0].expressions)}"
        parts = [parts[0].this]
    if len(parts) == 1 and isinstance(parts[0], exp.Concat):
        parts = list(parts[0].expressions)
    separator = node.args.get("separator")
    ending = f" SEPARATOR {_t(separator)}" if separator is not None else ""
    return f"GROUP_CONCAT({distinct}{_list(parts)}{order}{ending})"


_CASTS: Final = {
    Family.INT: "SIGNED",
    Family.FLOAT: "DOUBLE",
    Family.DATE: "DATE",
    Family.BLOB: "BINARY",
}


def _cast(node: exp.Expr) -> str:
    """Only of what the planner makes itself: a NULL, or a constant, of a declared type."""
    to = node.args["to"]
    declared = str(to.args.get("kind") or "") or to.sql(dialect="mysql")
    return f"CAST({_t(node.this)} AS {castable(declared)})"


def castable(declared: str) -> str:
    """What CAST calls a column's type; CHAR where it has no name for it."""
    found = read_type(declared, "mysql")
    if found is None:
        return "CHAR"
    arguments = f"({','.join(found.arguments)})" if found.arguments else ""
    match found.family:
        case Family.INT if found.unsigned:
            return "UNSIGNED"
        case Family.DECIMAL:
            return f"DECIMAL{arguments or '(10,0)'}"
        case Family.TIME:
            return f"TIME{arguments}"
        case Family.TIMESTAMP | Family.TIMESTAMPTZ:
            return f"DATETIME{arguments}"
    return _CASTS.get(found.family, "CHAR")


def _parameter(node: exp.Expr) -> str:
    return f":{node.name or node.this}"


_OPERATORS: dict[type, str] = {
    exp.And: "AND",
    exp.Or: "OR",
    exp.Xor: "XOR",
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
    exp.NullSafeEQ: "<=>",
    exp.Is: "IS",
    exp.ILike: "REGEXP",
    exp.Like: "LIKE",
    exp.Escape: "ESCAPE",
    exp.Add: "+",
    exp.Sub: "-",
    exp.Mul: "*",
    exp.Div: "/",
    exp.IntDiv: "DIV",
    exp.Mod: "%",
    exp.BitwiseAnd: "&",
    exp.BitwiseOr: "|",
    exp.BitwiseXor: "^",
    exp.BitwiseLeftShift: "<<",
    exp.BitwiseRightShift: ">>",
}

_PRINTERS: dict[type, Callable[[Any], str]] = {
    exp.Select: _select,
    exp.Union: _set_operation("UNION"),
    exp.Intersect: _set_operation("INTERSECT"),
    exp.Except: _set_operation("EXCEPT"),
    exp.Values: _values,
    exp.Table: _table,
    exp.Subquery: _subquery,
    exp.TableAlias: _table_alias,
    exp.Alias: lambda node: f"{_t(node.this)} AS {name_text(node.alias)}",
    exp.Star: lambda _: "*",
    exp.Distinct: lambda node: f"DISTINCT {_list(node.expressions)}",
    exp.Tuple: lambda node: f"({_list(node.expressions)})",
    exp.Column: _column,
    exp.Identifier: _identifier,
    exp.Literal: _literal,
    exp.National: lambda node: f"N{string_text(node.name)}",
    exp.BitString: lambda node: f"b'{node.name}'",
    exp.Null: lambda _: "NULL",
    exp.Boolean: lambda node: "TRUE" if node.this else "FALSE",
    exp.Var: lambda node: node.name,
    exp.Placeholder: _parameter,
    exp.Parameter: _parameter,
    exp.Paren: lambda node: f"({_t(node.this)})",
    exp.Not: _not,
    exp.Neg: lambda node: f"- {_t(node.this)}" if isinstance(node.this, exp.Neg) else f"-{_t(node.this)}",
    exp.BitwiseNot: lambda node: f"~{_t(node.this)}",
    exp.Collate: lambda node: f"{_t(node.this)} COLLATE {node.args['expression'].name}",
    exp.NullSafeNEQ: lambda node: f"NOT {_t(node.this)} <=> {_t(node.expression)}",
    exp.Between: _between,
    exp.Case: _case,
    exp.In: _in,
    exp.Like: _like,
    exp.Exists: lambda node: f"EXISTS {_in_parentheses(node.this)}",
    exp.Any: lambda node: f"ANY {_in_parentheses(node.this)}",
    exp.All: lambda node: f"ALL {_in_parentheses(node.this)}",
    exp.Anonymous: _call,
    exp.Cast: _cast,
    exp.Count: _aggregate("COUNT"),
    exp.Sum: _aggregate("SUM"),
    exp.Avg: _aggregate("AVG"),
    exp.Min: _aggregate("MIN"),
    exp.Max: _aggregate("MAX"),
    exp.RowNumber: lambda _: "ROW_NUMBER()",
    exp.Rank: lambda _: "RANK()",
    exp.DenseRank: lambda _: "DENSE_RANK()",
    exp.PercentRank: lambda _: "PERCENT_RANK()",
    exp.CumeDist: lambda _: "CUME_DIST()",
    exp.GroupConcat: _group_concat,
    exp.Order: _order,
    exp.Ordered: _ordered,
    exp.Window: _window,
}
