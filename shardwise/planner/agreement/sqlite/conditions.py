"""Conditions that only have to be TRUE for the same rows: WHERE, ON, FILTER. They can use an index.

    o.id > 5          =>   o.id > 5 AND CASE WHEN typeof(o.id) = 'integer' THEN 1 ELSE shardwise_value(…) …
    o.placed >= '…'   =>   o.placed >= '2026-01-05' AND (o.placed's value) >= '2026-01-05 10:00:00.000000'

The comparison is with the column as the file has it: it misses no value that means something. Then the rows
that pass are checked: what is no value of the type is an error there, as it is in a row that is output.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import date, timedelta
from typing import Final

from sqlglot import exp

from shardwise.plan.nodes import ColumnId
from shardwise.plan.tree import bare
from shardwise.planner.agreement.entries import (
    USES,
    in_plan,
    is_of_rows,
    keys_that_came,
    member,
    row_among,
    same_kinds,
)
from shardwise.planner.agreement.forms import Form, NotAgreed, Raw
from shardwise.planner.agreement.known import BOUND
from shardwise.planner.agreement.make import both, either, integer, string, whole_of
from shardwise.planner.agreement.sqlite import patterns
from shardwise.planner.agreement.sqlite.make import binary
from shardwise.planner.agreement.sqlite.values import check, value
from shardwise.planner.agreement.types import BIGINT, Family, Type
from shardwise.planner.agreement.writer import Writer, is_understood
from shardwise.planner.literals import Kind, Typed

_AS_HELD: Final = frozenset((Family.INT, Family.TEXT, Family.DATE, Family.DOUBLE))
"""Values of these compare as the file holds them, those that mean something."""

_OPERATORS: Final[dict[type, type[exp.Binary]]] = {
    exp.EQ: exp.EQ,
    exp.LT: exp.GT,
    exp.LTE: exp.GTE,
    exp.GT: exp.LT,
    exp.GTE: exp.LTE,
}
"""Each with the one that says the same with the sides exchanged."""


def condition(writer: Writer, expr: exp.Expr, kept: Collection[ColumnId] = ()) -> exp.Expr:
    """TRUE for the rows for which `expr` is.

    `kept` are columns of rows that are there even if it is not TRUE (the left side of a LEFT JOIN): what does
    not fit is an error there at once.
    """
    expr = bare(expr)
    if isinstance(expr, exp.And):
        return both(condition(writer, expr.this, kept), condition(writer, expr.args["expression"], kept))
    if isinstance(expr, exp.Or):
        return either(condition(writer, expr.this, kept), condition(writer, expr.args["expression"], kept))
    if isinstance(expr, exp.Boolean):
        return integer(int(bool(expr.this)))
    if is_of_rows(expr):
        return _row_among(writer, expr, kept)
    found = None
    if isinstance(expr, (*_OPERATORS, exp.Between, exp.In, exp.Like)) and not is_understood(expr):
        raise NotAgreed(expr)
    if type(expr) in _OPERATORS:
        found = _comparison(writer, expr, kept)
    elif isinstance(expr, exp.Between):
        found = _between(writer, expr, kept)
    elif isinstance(expr, exp.In):
        found = _in(writer, expr, kept)
    elif isinstance(expr, exp.Like):
        found = _like(writer, expr, kept)
    return found if found is not None else writer.truth(expr)


class _Column:
    """A column as the file holds it."""

    def __init__(self, writer: Writer, column: exp.Column, form: Form, raw: Raw, type_: Type) -> None:
        self.writer, self.raw, self.type = writer, raw, type_
        self.id = form.id
        self._column = writer.column(column)

    @property
    def bare(self) -> exp.Expr:
        column = self._column.copy()
        return binary(column) if self.type.family in (Family.TEXT, Family.DATE, Family.TIMESTAMP) else column

    @property
    def value(self) -> exp.Expr:
        return value(self._column.copy(), self.type, self.raw)

    @property
    def check(self) -> exp.Expr:
        return check(self._column.copy(), self.type, self.raw)


def _raw(writer: Writer, expr: exp.Expr, kept: Collection[ColumnId]) -> _Column | None:
    """The column that `expr` is, if it can be compared as it is."""
    expr = bare(expr)
    if not isinstance(expr, exp.Column) or ColumnId(expr.table, expr.name) in kept:
        return None
    form = writer.form_of(expr)
    if form is None or form.raw is None or form.type is None or form.raw.stored is not None:
        return None
    return _Column(writer, expr, form, form.raw, form.type)


def _comparison(writer: Writer, expr: exp.Expr, kept: Collection[ColumnId]) -> exp.Expr | None:
    left, right, operator = expr.this, expr.args["expression"], type(expr)
    if writer.constant(left) is not None:
        left, right, operator = right, left, _OPERATORS[operator]
    if writer.constant(right) is None:
        return _of_columns(writer, expr, kept) if operator is exp.EQ else None
    column = _raw(writer, left, kept)
    if column is None:
        return None
    constant = writer.beside(right, column.type, USES[operator])
    if operator is exp.EQ and _is_never(constant, column.type):
        return integer(0)
    if column.type.family in _AS_HELD:
        found = operator(this=column.bare, expression=_not_put_in(constant, column.type))
        is_checked = operator is not exp.EQ or column.type.family is Family.DOUBLE
        return both(found, column.check) if is_checked else found
    exact = operator(this=column.value, expression=constant)
    bounds = _bounds(column, operator, constant)
    return both(*bounds, exact)


def _of_columns(writer: Writer, expr: exp.Expr, kept: Collection[ColumnId]) -> exp.Expr | None:
    """`a.k = b.k`: each side may be found by the other's index. Both are checked: a number in a column
    without affinity equals the text that it would be."""
    one, other = _raw(writer, expr.this, kept), _raw(writer, expr.args["expression"], kept)
    sides = [side for side in (one, other) if side is not None]
    if not sides:
        return None
    left, of_left = writer.value(expr.this)
    right, of_right = writer.value(expr.args["expression"])
    if of_left.family is not of_right.family or of_left.family not in _AS_HELD:
        return None
    left = one.bare if one is not None else left
    right = other.bare if other is not None else right
    return both(exp.EQ(this=left, expression=right), *(side.check for side in sides))


def _bounds(column: _Column, operator: type, constant: exp.Expr) -> list[exp.Expr]:
    """Of a TIMESTAMP: what its text, which begins with its day, cannot be outside of."""
    moment = constant.meta.get(BOUND, constant.name)
    if column.type.family is not Family.TIMESTAMP or not isinstance(moment, str) or not moment:
        return []
    if isinstance(constant, exp.Placeholder) and BOUND not in constant.meta:
        return []
    day = moment[:10]
    bounds: list[exp.Expr] = []
    if operator in (exp.EQ, exp.GT, exp.GTE):
        bounds.append(exp.GTE(this=column.bare, expression=_like_given(column.writer, constant, day)))
    if operator in (exp.EQ, exp.LT, exp.LTE) and day < "9999":
        following = (date.fromisoformat(day) + timedelta(days=1)).isoformat()
        bounds.append(exp.LT(this=column.bare, expression=_like_given(column.writer, constant, following)))
    return bounds


def _like_given(writer: Writer, constant: exp.Expr, text: str) -> exp.Expr:
    """Bound, if the constant is: no parameter's value is written into a statement."""
    if not isinstance(constant, exp.Placeholder):
        return string(text)
    bound = exp.Placeholder(this=writer.known.name_for(constant.name, text))
    bound.meta[BOUND] = text
    return bound


def _between(writer: Writer, expr: exp.Expr, kept: Collection[ColumnId]) -> exp.Expr | None:
    low, high = expr.args["low"], expr.args["high"]
    if writer.constant(low) is None or writer.constant(high) is None or _raw(writer, expr.this, kept) is None:
        return None
    same_kinds(writer, [low, high], expr)
    above = _comparison(writer, exp.GTE(this=expr.this.copy(), expression=low.copy()), kept)
    below = _comparison(writer, exp.LTE(this=expr.this.copy(), expression=high.copy()), kept)
    assert above is not None
    assert below is not None
    return both(above, below)


def _in(writer: Writer, expr: exp.Expr, kept: Collection[ColumnId]) -> exp.Expr | None:
    column = _raw(writer, expr.this, kept)
    if column is None or column.type.family not in _AS_HELD:
        return None
    query = expr.args.get("query")
    if query is not None:
        keys = keys_that_came(writer, query, [column.type], expr)
        asked = keys if keys is not None else in_plan(writer, query, column.type, expr)
        return both(exp.In(this=column.bare, query=asked), column.check)
    same_kinds(writer, expr.expressions, expr)
    members = [member(writer, e, column.type, expr) for e in expr.expressions]
    found = [_not_put_in(each, column.type) for each in members if not _is_never(each, column.type)]
    return both(exp.In(this=column.bare, expressions=found), column.check) if found else integer(0)


def _row_among(writer: Writer, expr: exp.Expr, kept: Collection[ColumnId]) -> exp.Expr:
    """By the columns as the file holds them, of which an index may serve the first; those are checked."""
    found = row_among(writer, expr)
    checks = []
    for at, each in enumerate(expr.this.expressions):
        column = _raw(writer, each, kept)
        if column is not None and column.type.family in _AS_HELD:
            found.this.expressions[at].replace(column.bare)
            checks.append(column.check)
    return both(found, *checks)


def _is_never(constant: exp.Expr, type_: Type) -> bool:
    """Whether no value of the type equals it. SQLite puts a constant in the place of a column that must equal
    it, in the column's check too, and there it would be an error."""
    if isinstance(constant, exp.Null):
        return True
    if type_.family is not Family.INT or not _is_fixed(constant):
        return False
    bound = constant.meta[BOUND] if isinstance(constant, exp.Placeholder) else whole_of(constant)
    return type(bound) is not int or not type_.low <= bound <= type_.high


def _is_fixed(constant: exp.Expr) -> bool:
    """Whether it is known here which value it is, and that it is one."""
    if isinstance(constant, exp.Placeholder):
        return BOUND in constant.meta
    return constant.find(exp.Column, exp.Subquery, exp.Case, exp.Anonymous) is None


def _not_put_in(constant: exp.Expr, type_: Type) -> exp.Expr:
    """A parameter that may be out of the type's range, so that SQLite does not put it in a column's place."""
    is_open = isinstance(constant, exp.Placeholder) and not _is_fixed(constant)
    if is_open and type_.family is Family.INT and type_ != BIGINT:
        return exp.Subquery(this=exp.Select(expressions=[constant]))
    return constant


def _like(writer: Writer, expr: exp.Expr, kept: Collection[ColumnId]) -> exp.Expr | None:
    """The texts that begin alike are a range; if the pattern says more, the rest is asked of these."""
    column = _raw(writer, expr.this, kept) if not expr.args.get("negate") else None
    pattern = writer.constant(expr.args["expression"])
    if column is None or not isinstance(pattern, Typed) or not isinstance(pattern.value, str):
        return None
    start = patterns.prefix(pattern.value)
    end = patterns.after(start) if start else None
    if column.type.family is not Family.TEXT or pattern.kind is Kind.NULL or not start or end is None:
        return None
    inside = both(
        exp.GTE(this=column.bare, expression=string(start)), exp.LT(this=column.bare, expression=string(end))
    )
    rest = column.check if pattern.value == f"{start}%" else writer.truth(expr)
    return both(inside, rest)
