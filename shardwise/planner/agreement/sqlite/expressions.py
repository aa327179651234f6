"""Expressions as SQLite computes them: how values look there, and LIKE by bytes.

s LIKE 'ab%'   =>   CASE WHEN s IS NULL THEN NULL ELSE … substr(CAST(s AS BLOB), 1, 2) = x'6162' END
"""

from __future__ import annotations

import math
from typing import Any, ClassVar, Final

from sqlglot import exp

from shardwise.plan.holes import Written
from shardwise.planner.agreement.constants import Canonical
from shardwise.planner.agreement.entries import ENTRIES
from shardwise.planner.agreement.forms import Form, NotAgreed
from shardwise.planner.agreement.make import NULL, integer, string
from shardwise.planner.agreement.sqlite import patterns
from shardwise.planner.agreement.sqlite.values import MIDNIGHT, value
from shardwise.planner.agreement.types import DIGITS_MAX, Family, Type
from shardwise.planner.agreement.writer import Writer

_WHY: Final[dict[type, str]] = {
    exp.Lower: "knows only the letters of ASCII",
    exp.Upper: "knows only the letters of ASCII",
    exp.Length: "ends a text at a NUL character",
    exp.Add: "overflows otherwise",
    exp.Sub: "overflows otherwise",
    exp.Mul: "overflows otherwise",
    exp.Div: "divides otherwise",
    exp.IntDiv: "divides otherwise",
}


class SQLiteWriter(Writer):
    """Decimals are whole numbers, days and moments texts, truths 0 and 1."""

    entries: ClassVar = ENTRIES
    why: ClassVar = _WHY

    def read(self, column: exp.Expr, form: Form) -> exp.Expr:
        assert form.type is not None
        return value(column, form.type, form.raw)

    def written(self, constant: Canonical, type_: Type | None = None) -> exp.Expr:
        if constant is None:
            return NULL()
        if isinstance(constant, str):
            return string(constant)
        if isinstance(constant, int):
            return integer(constant)
        literal = exp.Literal.number("9e999" if math.isinf(constant) else repr(abs(constant)))
        return exp.Neg(this=literal) if str(constant).startswith("-") else literal

    def is_alike(self, given: Any, type_: Type) -> bool:
        if not isinstance(given, Written):
            return False
        if type_.family is Family.TEXT:
            return given.is_string
        return type_.family is Family.INT and given.isdigit() and len(given) <= DIGITS_MAX

    def aligned(
        self, one: exp.Expr, of_one: Type, other: exp.Expr, of_other: Type, where: exp.Expr
    ) -> tuple[exp.Expr, exp.Expr]:
        """Decimals of one scale."""
        if of_one.family is of_other.family and of_one.scale == of_other.scale:
            return one, other
        if not (of_one.is_number and of_other.is_number):
            raise NotAgreed(where, f"compares a {of_one.name} with a {of_other.name} otherwise")
        scale = max(of_one.scale, of_other.scale)
        return _scaled(one, of_one, scale, where), _scaled(other, of_other, scale, where)

    def is_truth(self, truth: exp.Expr, wanted: bool) -> exp.Expr:
        return exp.Is(this=truth, expression=integer(int(wanted)))

    def like(self, text: exp.Expr, pattern: str, where: exp.Expr) -> exp.Expr:
        """SQLite's own LIKE takes 'A' for 'a'."""
        found = patterns.like(text, pattern)
        if found is None:
            raise NotAgreed(where, "has no like for a pattern with _")
        return found

    def at_midnight(self, day: exp.Expr) -> exp.Expr:
        return exp.DPipe(this=day, expression=string(MIDNIGHT))

    def as_double(self, number: exp.Expr) -> exp.Expr:
        return exp.Add(this=number, expression=exp.Literal.number("0.0"))


def _scaled(number: exp.Expr, type_: Type, scale: int, where: exp.Expr) -> exp.Expr:
    more = scale - type_.scale
    if type_.digits + more > DIGITS_MAX:
        raise NotAgreed(where, f"has no room for the digits of both {type_.name} and the other side")
    return exp.Mul(this=number, expression=integer(10**more)) if more else number
