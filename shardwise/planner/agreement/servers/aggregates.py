"""Aggregates that servers compute as DuckDB does.

sum(total) FILTER (WHERE paid)   =>   SUM(CASE WHEN paid THEN total END)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from sqlglot import exp

from shardwise.planner.aggregate_sql import Call
from shardwise.planner.agreement.aggregates import by_table, one_value
from shardwise.planner.agreement.forms import NotAgreed
from shardwise.planner.agreement.make import case, integer
from shardwise.planner.agreement.servers.conditions import condition
from shardwise.planner.agreement.servers.writer import ServerWriter
from shardwise.planner.agreement.types import BIGINT, BOOL, DOUBLE, Family, Type, decimal

Result = tuple[exp.Expr, Type]
_HUGE: Final = Type(Family.INT, "HUGEINT", -(10**38), 10**38)


def aggregate(writer: ServerWriter, expr: exp.Expr) -> Result:
    """An aggregate call over canonical values."""
    return by_table(_TABLE, writer, expr)


def _filtered(writer: ServerWriter, call: Call, value: exp.Expr) -> exp.Expr:
    """NULL, which every aggregate passes over, for the rows that FILTER leaves out."""
    if call.condition is None:
        return value
    return case((condition(writer, call.condition), value))


def _argument(writer: ServerWriter, call: Call, value: exp.Expr) -> exp.Expr:
    argument = _filtered(writer, call, value)
    return exp.Distinct(expressions=[argument]) if call.distinct else argument


def _count(writer: ServerWriter, call: Call, expr: exp.Expr) -> Result:
    if not call.args or isinstance(call.args[0], exp.Star):
        if call.distinct:
            raise NotAgreed(expr)
        counted = exp.Star() if call.condition is None else _filtered(writer, call, integer(1))
        return exp.Count(this=counted), BIGINT
    if len(call.args) != 1:
        raise NotAgreed(expr)
    return exp.Count(this=_argument(writer, call, writer.value(call.args[0])[0])), BIGINT


def _sum(writer: ServerWriter, call: Call, expr: exp.Expr) -> Result:
    value, type_ = one_value(writer, call, expr)
    if type_ is DOUBLE and not call.distinct:
        return writer.sum_of_doubles(_filtered(writer, call, value)), DOUBLE
    if not type_.is_number:
        raise NotAgreed(expr, "adds these otherwise")
    of_sum = decimal(38, type_.scale, 38) if type_.family is Family.DECIMAL else _HUGE
    assert of_sum is not None
    value = writer.computed(call.args[0], value, type_)
    return exp.Sum(this=_argument(writer, call, value)), of_sum


def _extreme(kind: type[exp.AggFunc]) -> Callable[[ServerWriter, Call, exp.Expr], Result]:
    def made(writer: ServerWriter, call: Call, expr: exp.Expr) -> Result:
        value, type_ = one_value(writer, call, expr)
        return writer.extreme(kind, _filtered(writer, call, value), type_), type_

    return made


def _all_or_any(kind: type[exp.AggFunc]) -> Callable[[ServerWriter, Call, exp.Expr], Result]:
    def made(writer: ServerWriter, call: Call, expr: exp.Expr) -> Result:
        value, type_ = one_value(writer, call, expr)
        if type_ is not BOOL:
            raise NotAgreed(expr)
        return writer.extreme(kind, _filtered(writer, call, value), BOOL), BOOL

    return made


_TABLE: Final[dict[str, Callable[[ServerWriter, Call, exp.Expr], Result]]] = {
    "count": _count,
    "count_star": _count,
    "sum": _sum,
    "min": _extreme(exp.Min),
    "max": _extreme(exp.Max),
    "any_value": _extreme(exp.Min),
    "bool_and": _all_or_any(exp.Min),
    "bool_or": _all_or_any(exp.Max),
}
