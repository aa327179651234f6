"""ENUM, SET and JSON in a merge, where their columns are texts.

    SELECT f1.e FROM f1 ORDER BY f1.e      e ENUM('small','large'): sorts by place, and the merge by letters
    =>  … ORDER BY CASE WHEN f1.e IS NULL THEN NULL ELSE FIELD(f1.e, 'small', 'large') END

A SET sorts by the sum of its members' bits. MIN and MAX compare texts, but what they give is an ENUM or SET
again, and sorts by its place. All else that takes such a column for a number (`e + 0`, `e > 2`,
`sum(e)`) is right on the shards, and refused in the merge, where it would be 0. So is a JSON column that is
put into another JSON (`json_object('j', j)`): it would be a text in quotes there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from sqlglot import exp

from shardwise.errors import Unplannable
from shardwise.plan.tree import bare
from shardwise.planner.dialects.mysql_widths import check_widths
from shardwise.planner.families import words

Streams = Mapping[str, Mapping[str, str]]
"""The declared types of streams' columns, by the stream's name and the column's."""

_MEMBER = re.compile(r"'((?:[^']|'')*)'")
_KIND = re.compile(r"\s*(ENUM|SET)\b", re.IGNORECASE)
_JSON = re.compile(r"\s*JSON\b", re.IGNORECASE)
_INTO_JSON: Final = words(
    """
    json_array json_object json_arrayagg json_objectagg json_array_append json_array_insert json_insert
    json_replace json_set
    """
)
_NUMBERS = re.compile(
    r"\s*(TINYINT|SMALLINT|MEDIUMINT|INT|INTEGER|BIGINT|DEC|FIXED|NUMERIC|FLOAT|DOUBLE|REAL|BIT|YEAR|BOOL)",
    re.IGNORECASE,
)
_AS_TEXT: Final = frozenset(
    (
        *("concat", "concat_ws", "upper", "ucase", "lower", "lcase", "length", "char_length", "octet_length"),
        *("character_length", "coalesce", "ifnull", "if", "nullif", "field", "find_in_set", "replace", "elt"),
        *("substring", "substr", "mid", "left", "right", "trim", "ltrim", "rtrim", "lpad", "rpad", "reverse"),
        *("hex", "md5", "sha1", "sha2", "locate", "instr", "position", "substring_index", "quote"),
        *("json_array", "json_object", "json_quote", "to_base64"),
    )
)
_HARMLESS: Final = (
    *(exp.Alias, exp.Select, exp.Group, exp.Distinct, exp.Count, exp.Min, exp.Max, exp.GroupConcat),
    *(exp.Order, exp.Case, exp.If, exp.Is, exp.Like, exp.Window, exp.Tuple),
)
_EQUALITIES: Final = (exp.EQ, exp.NEQ, exp.NullSafeEQ, exp.NullSafeNEQ, exp.In)
_INEQUALITIES: Final = (exp.GT, exp.GTE, exp.LT, exp.LTE)


def as_texts(query: exp.Query, declared: Callable[[], Streams]) -> exp.Query:
    """The merge's query, edited in place. Raises Unplannable."""
    streams = declared()
    types = [type_ for columns in streams.values() for type_ in columns.values()]
    scopes = _Scopes(streams)
    check_widths(query, lambda arm: [scopes.type_of(_unaliased(item), arm) for item in arm.expressions])
    if any(map(_JSON.match, types)):
        _check_json(query, scopes)
    if not any(map(_KIND.match, types)):
        return query
    for key in list(query.find_all(exp.Ordered)):
        select = key.find_ancestor(exp.Select, exp.SetOperation)
        if isinstance(select, exp.Select):
            column = _meant(key, select)
            type_ = scopes.type_of(column, select)
            if type_ is not None and _KIND.match(type_):
                key.set("this", _place(column.copy(), type_))
    for value in list(query.find_all(exp.Column, exp.Min, exp.Max)):
        select = value.find_ancestor(exp.Select)
        type_ = scopes.type_of(value, select) if select is not None else None
        if type_ is not None and _KIND.match(type_) and not _is_text(value, scopes, select):
            raise _not_here(value, type_.strip()[:4].upper().rstrip("("))
    return query


def _not_here(value: exp.Expr, kind: str) -> Unplannable:
    is_column = isinstance(value, exp.Column)
    named = f'the {kind} column "{value.name}"' if is_column else f"the {value.key.upper()} of an {kind}"
    column = value.name if is_column else "column"
    return Unplannable(
        f"{named} is taken for a number, or compared by its order, where rows of several shards meet: there "
        "it is a text",
        hint=f"Compute it in a subquery of its table alone: (SELECT {column} + 0 AS n FROM …)",
    )


def _check_json(query: exp.Query, scopes: _Scopes) -> None:
    for call in query.find_all(exp.Anonymous):
        if call.name.partition("\ue001")[0].lower() not in _INTO_JSON:
            continue
        for column in call.find_all(exp.Column):
            holder = column.find_ancestor(exp.Anonymous, exp.Query, exp.Case)
            type_ = scopes.type_of(column, column.find_ancestor(exp.Select))
            if holder is call and type_ is not None and _JSON.match(type_):
                raise Unplannable(
                    f'the JSON column "{column.name}" is put into another JSON where rows of several shards '
                    "meet: there it is a text",
                    hint=f"Say that it is JSON: json_extract({column.name}, '$')",
                )


def _meant(key: exp.Ordered, select: exp.Select) -> exp.Expr:
    """What a select's ORDER BY means: an item by its position or its name, else the expression itself."""
    expr = bare(key.this)
    if not isinstance(key.parent, exp.Order) or key.parent is not select.args.get("order"):
        return expr
    if isinstance(expr, exp.Literal) and not expr.is_string and expr.this.isdigit():
        at = int(expr.this) - 1
        items = select.expressions
        return _unaliased(items[at]) if 0 <= at < len(items) else expr
    if isinstance(expr, exp.Column) and not expr.table:
        for item in select.expressions:
            if isinstance(item, exp.Alias) and item.alias.lower() == expr.name.lower():
                return _unaliased(item)
    return expr


def _unaliased(item: exp.Expr) -> exp.Expr:
    return bare(item.this if isinstance(item, exp.Alias) else item)


class _Scopes:
    """Which stream's column a name is."""

    def __init__(self, streams: Streams) -> None:
        self._streams = {name.lower(): columns for name, columns in streams.items()}

    def type_of(self, expr: exp.Expr, select: exp.Select | None) -> str | None:
        """The declared type of a column that is a stream's as it is, or of the least or largest of an ENUM or
        SET."""
        if isinstance(expr, exp.Min | exp.Max) and not isinstance(expr.parent, exp.Window):
            type_ = self.type_of(bare(expr.this), select)
            return type_ if type_ is not None and _KIND.match(type_) else None
        if not isinstance(expr, exp.Column) or isinstance(expr.this, exp.Star):
            return None
        while select is not None:
            for alias, source in _sources(select):
                if not expr.table or alias.lower() == expr.table.lower():
                    found = self._in_source(source, expr.name, select)
                    if found is not None:
                        return found
            select = _around(select)
        return None

    def _in_source(self, source: exp.Expr, name: str, around: exp.Select) -> str | None:
        if isinstance(source, exp.Subquery):
            return self._in_query(source.this, name)
        if not isinstance(source, exp.Table):
            return None
        cte = _cte(source.name, around)
        if cte is not None:
            return self._in_query(cte.this, name)
        columns = self._streams.get(source.name.lower(), {})
        return next((type_ for column, type_ in columns.items() if column.lower() == name.lower()), None)

    def _in_query(self, query: exp.Expr, name: str) -> str | None:
        while isinstance(query, exp.Subquery):
            query = query.this
        if not isinstance(query, exp.Select):
            return None
        for item in query.expressions:
            star = isinstance(item, exp.Star) or (
                isinstance(item, exp.Column) and isinstance(item.this, exp.Star)
            )
            if star:
                found = self.type_of(exp.column(name, getattr(item, "table", "") or None), query)
                if found is not None:
                    return found
            elif item.alias_or_name.lower() == name.lower():
                return self.type_of(_unaliased(item), query)
        return None


def _around(select: exp.Select) -> exp.Select | None:
    """The select whose rows are seen in this one: a derived table and a WITH item see none."""
    part: exp.Expr = select
    while part.parent is not None:
        part, key = part.parent, part.arg_key
        if isinstance(part, exp.Select):
            return part
        if isinstance(part, exp.From | exp.CTE) or (isinstance(part, exp.Join) and key == "this"):
            return None
    return None


def _sources(select: exp.Select) -> Iterator[tuple[str, exp.Expr]]:
    from_ = select.args.get("from_")
    items = [from_.this] if from_ is not None else []
    items += [join.this for join in select.args.get("joins") or ()]
    for item in items:
        yield item.alias_or_name, item
        for join in item.args.get("joins") or ():
            yield join.this.alias_or_name, join.this


def _cte(name: str, around: exp.Expr) -> exp.CTE | None:
    at: exp.Expr | None = around
    while at is not None:
        with_ = at.args.get("with_")
        for cte in with_.expressions if with_ is not None else ():
            if cte.alias.lower() == name.lower():
                return cte if isinstance(cte, exp.CTE) else None
        at = at.parent
    return None


def _is_text(value: exp.Expr, scopes: _Scopes, select: exp.Select | None) -> bool:
    """Whether all that is done with it here is what would be done with its text."""
    parent = value.parent
    while isinstance(parent, exp.Paren):
        parent = parent.parent
    if isinstance(parent, exp.Anonymous):
        return parent.name.partition("\ue001")[0].lower() in _AS_TEXT
    if isinstance(parent, _EQUALITIES):
        others = [bare(operand) for operand in parent.iter_expressions()]
        return all(_may_be_text(other, scopes, select) for other in others if other is not value)
    if isinstance(parent, _INEQUALITIES):
        others = [bare(operand) for operand in parent.iter_expressions()]
        return all(isinstance(o, exp.Literal) and o.is_string for o in others if o is not value)
    return isinstance(parent, _HARMLESS)


def _may_be_text(expr: exp.Expr, scopes: _Scopes, select: exp.Select | None) -> bool:
    if isinstance(expr, exp.Literal):
        return bool(expr.is_string)
    if isinstance(expr, exp.Column | exp.Min | exp.Max):
        type_ = scopes.type_of(expr, select)
        return type_ is None or not _NUMBERS.match(type_)
    return isinstance(expr, exp.Placeholder | exp.Parameter | exp.Null | exp.Anonymous | exp.Query)


def _place(column: exp.Expr, type_text: str) -> exp.Expr:
    """By what a value of the type sorts."""
    members = [exp.Literal.string(each.replace("''", "'")) for each in _MEMBER.findall(type_text)]
    is_none = exp.Is(this=column.copy(), expression=exp.Null())
    if type_text.strip()[:4].upper() == "ENUM":
        place: exp.Expr = exp.Anonymous(this="FIELD", expressions=[column, *members])
    else:
        bits = [
            exp.Case(
                ifs=[
                    exp.If(
                        this=exp.GT(
                            this=exp.Anonymous(this="FIND_IN_SET", expressions=[member, column.copy()]),
                            expression=exp.Literal.number(0),
                        ),
                        true=exp.Literal.number(1 << at),
                    )
                ],
                default=exp.Literal.number(0),
            )
            for at, member in enumerate(members)
        ]
        place = bits[0]
        for bit in bits[1:]:
            place = exp.Add(this=place, expression=bit)
    return exp.Case(ifs=[exp.If(this=is_none, true=exp.Null())], default=place)
