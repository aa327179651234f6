"""Aggregates that SQLite computes as DuckDB does.

    sum(total)   =>   '#' || sum(x >> 32) || ':' || sum(x & 4294967295)     x: the value times 10 to the scale

SQLite's own sum fails where it leaves 64 bits; a sum in two halves does not, and the reader puts them
together. Sums of numbers so small that no file could hold enough of them stay one number, and can be
compared.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from sqlglot import exp

from shardwise.planner.aggregate_sql import Call
from shardwise.planner.agreement.aggregates import by_table, one_value
from shardwise.planner.agreement.forms import NotAgreed
from shardwise.planner.agreement.make import both, call, case, integer, is_null, string
from shardwise.planner.agreement.sqlite.conditions import condition
from shardwise.planner.agreement.sqlite.values import FUNCTION
from shardwise.planner.agreement.types import BIGINT, BOOL, DOUBLE, Family, Type
from shardwise.planner.agreement.writer import Writer

_SMALL_DIGITS: Final = 10
"""Of so many digits it takes 900 million of the largest to leave 64 bits; then SQLite fails, and we do."""

Result = tuple[exp.Expr, Type | None]
"""The type is None of a sum in two halves: it leaves the fragment, and nothing is computed with it."""


def aggregate(writer: Writer, expr: exp.Expr) -> Result:
    """An aggregate call over canonical values."""
    return by_table(_TABLE, writer, expr)


def _filtered(writer: Writer, call: Call, made: exp.Expr) -> exp.Expr:
    if call.condition is None:
        return made
    return exp.Filter(this=made, expression=exp.Where(this=condition(writer, call.condition)))


def _count(writer: Writer, call: Call, expr: exp.Expr) -> Result:
    if not call.args or isinstance(call.args[0], exp.Star):
        if call.distinct:
            raise NotAgreed(expr)
        counted: exp.Expr = exp.Star()
    elif len(call.args) == 1:
        counted = writer.value(call.args[0])[0]
    else:
        raise NotAgreed(expr)
    if call.distinct:
        counted = exp.Distinct(expressions=[counted])
    return _filtered(writer, call, exp.Count(this=counted)), BIGINT


def _sum(writer: Writer, call: Call, expr: exp.Expr) -> Result:
    value, type_ = one_value(writer, call, expr)
    if type_ is DOUBLE and not call.distinct:
        return _sum_of_reals(writer, call, value), None
    if call.distinct or not type_.is_number:
        raise NotAgreed(expr, "adds these otherwise")
    if type_.digits <= _SMALL_DIGITS:
        wide = Type(type_.family, f"DECIMAL(38,{type_.scale})", BIGINT.low, BIGINT.high, type_.scale)
        of_sum = wide if type_.family is Family.DECIMAL else BIGINT
        return _filtered(writer, call, exp.Sum(this=value)), of_sum
    high = exp.Sum(this=exp.BitwiseRightShift(this=value, expression=integer(32)))
    low = exp.Sum(this=exp.BitwiseAnd(this=value.copy(), expression=integer((1 << 32) - 1)))
    text: exp.Expr = exp.DPipe(this=string("#"), expression=_filtered(writer, call, high))
    text = exp.DPipe(this=text, expression=string(":"))
    return exp.DPipe(this=text, expression=_filtered(writer, call, low)), None


def _sum_of_reals(writer: Writer, call: Call, value: exp.Expr) -> exp.Expr:
    """To the last bits as any order of the rows gives it. What is infinite is left out of SQLite's sum, whose
    versions treat it, and NaN, each in their own way."""

    def made(aggregate: type[exp.AggFunc]) -> exp.Expr:
        return _filtered(writer, call, aggregate(this=value.copy()))

    infinite = exp.Literal.number("9e999")
    has_most = exp.EQ(this=made(exp.Max), expression=infinite)
    has_least = exp.EQ(this=made(exp.Min), expression=exp.Neg(this=infinite.copy()))
    return case(
        (both(has_most, has_least), string("#nan")),
        (has_most.copy(), infinite.copy()),
        (has_least.copy(), exp.Neg(this=infinite.copy())),
        # SQLite 3.43 loses a sum that leaves the range.
        (both(is_null(made(exp.Sum)), exp.GT(this=made(exp.Count), expression=integer(0))), _lost()),
        default=made(exp.Sum),
    )


def _lost() -> exp.Expr:
    """The error of a value that does not fit."""
    return call(FUNCTION, string("sum"), string("sum"), string(DOUBLE.name), string("beyond 1.8e308"))


def _extreme(kind: type[exp.AggFunc]) -> Callable[[Writer, Call, exp.Expr], Result]:
    def made(writer: Writer, call: Call, expr: exp.Expr) -> Result:
        value, type_ = one_value(writer, call, expr)
        return _filtered(writer, call, kind(this=value)), type_

    return made


def _all_or_any(kind: type[exp.AggFunc]) -> Callable[[Writer, Call, exp.Expr], Result]:
    def made(writer: Writer, call: Call, expr: exp.Expr) -> Result:
        value, type_ = one_value(writer, call, expr)
        if type_ is not BOOL:
            raise NotAgreed(expr)
        return _filtered(writer, call, kind(this=value)), BOOL

    return made


_TABLE: Final[dict[str, Callable[[Writer, Call, exp.Expr], Result]]] = {
    "count": _count,
    "count_star": _count,
    "sum": _sum,
    "min": _extreme(exp.Min),
    "max": _extreme(exp.Max),
    "any_value": _extreme(exp.Min),
    "bool_and": _all_or_any(exp.Min),
    "bool_or": _all_or_any(exp.Max),
}
