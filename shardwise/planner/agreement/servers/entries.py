"""The table of what servers compute as DuckDB does, beside what all products share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from sqlglot import exp

from shardwise.planner.agreement.entries import ENTRIES
from shardwise.planner.agreement.forms import NotAgreed
from shardwise.planner.agreement.make import call, integer
from shardwise.planner.agreement.servers.arithmetic import ARITHMETIC
from shardwise.planner.agreement.servers.writer import ServerWriter
from shardwise.planner.agreement.types import BIGINT, TEXT, Family
from shardwise.planner.agreement.writer import Value
from shardwise.planner.literals import Kind


def _part(unit: str) -> Any:
    def made(writer: ServerWriter, expr: exp.Expr) -> Value:
        return _part_of(writer, unit, expr.this, expr)

    return made


def _extract(writer: ServerWriter, expr: exp.Expr) -> Value:
    unit = expr.this.name.upper()
    if unit not in ("YEAR", "MONTH", "DAY"):
        raise NotAgreed(expr)
    return _part_of(writer, unit, expr.args["expression"], expr)


def _part_of(writer: ServerWriter, unit: str, moment: exp.Expr, where: exp.Expr) -> Value:
    value, type_ = writer.value(moment)
    if type_.family not in (Family.DATE, Family.TIMESTAMP):
        raise NotAgreed(where)
    return writer.part(unit, value), BIGINT


def _substring(writer: ServerWriter, expr: exp.Expr) -> Value:
    """By characters, from a position that is known and not before the first."""
    text, type_ = writer.value(expr.this)
    bounds = [writer.fixed(e) for e in (expr.args.get("start"), expr.args.get("length")) if e is not None]
    numbers = [b.value for b in bounds if b is not None and b.kind is Kind.INT and type(b.value) is int]
    if type_ is not TEXT or not numbers or len(numbers) != len(bounds):
        raise NotAgreed(expr)
    if numbers[0] < 1 or not all(0 <= number < 1 << 31 for number in numbers):
        raise NotAgreed(expr)
    return call("SUBSTRING", text, *map(integer, numbers)), TEXT


def _negated(writer: ServerWriter, expr: exp.Expr) -> Value:
    value, type_ = writer.value(expr.this)
    if type_.family is not Family.DECIMAL:
        raise NotAgreed(expr, "overflows otherwise")
    return exp.Neg(this=value), type_


SERVER_ENTRIES: Final[Mapping[type, Callable[[Any, Any], Value]]] = {
    **ENTRIES,
    **ARITHMETIC,
    exp.Neg: _negated,
    exp.Extract: _extract,
    exp.Year: _part("YEAR"),
    exp.Month: _part("MONTH"),
    exp.Day: _part("DAY"),
    exp.Substring: _substring,
}
