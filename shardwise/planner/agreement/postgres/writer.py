"""Expressions as PostgreSQL computes them: text by the collation "C"."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import ClassVar, Final

from sqlglot import exp

from shardwise.plan.tree import bare
from shardwise.planner.agreement.constants import Canonical
from shardwise.planner.agreement.forms import Form
from shardwise.planner.agreement.known import BOUND
from shardwise.planner.agreement.make import both, call, case, collated, either, integer, string
from shardwise.planner.agreement.servers.entries import SERVER_ENTRIES
from shardwise.planner.agreement.servers.writer import ServerWriter
from shardwise.planner.agreement.types import BOOL, TEXT, Family, Type

TYPES: Final = {
    Family.BOOL: "boolean",
    Family.INT: "bigint",
    Family.DECIMAL: "numeric",
    Family.DOUBLE: "double precision",
    Family.TEXT: "text",
    Family.DATE: "date",
    Family.TIMESTAMP: "timestamp",
}
_HELD_WIDER: Final = ("TINYINT", "UTINYINT", "USMALLINT", "UINTEGER")


class PostgresWriter(ServerWriter):
    entries: ClassVar = SERVER_ENTRIES
    types: ClassVar[Mapping[Family, str]] = TYPES

    def text(self, column: exp.Expr) -> exp.Expr:
        return by_code_point(column)

    def read(self, column: exp.Expr, form: Form) -> exp.Expr:
        """A whole number of a type that PostgreSQL has not may be out of its range."""
        if form.raw is not None and form.type is not None and form.type.name in _HELD_WIDER:
            low, high = integer(form.type.low), integer(form.type.high)
            return self._checked(column, form, between(column, low, high))
        return super().read(unpadded(column) if is_padded(form) else column, form)

    def may_match(self, form: Form) -> bool:
        """Constants are in the range, or equal to nothing that is read."""
        return form.raw is not None and form.type is not None and form.type.name in _HELD_WIDER

    def computed(self, expr: exp.Expr, value: exp.Expr, type_: Type) -> exp.Expr:
        """A `numeric` may hold NaN, and one without a precision more digits."""
        form = self.form_of(expr) if isinstance(expr, exp.Column) else None
        if form is None or form.raw is None or type_.family is not Family.DECIMAL:
            return value
        limit = exp.Literal.number(format(Decimal(type_.high).scaleb(-type_.scale), "f"))
        has_digits = exp.LTE(this=call("scale", value.copy()), expression=integer(type_.scale))
        has_none = exp.EQ(this=call("round", value.copy(), integer(type_.scale)), expression=value.copy())
        fits = both(either(has_digits, has_none), between(value, exp.Neg(this=limit), limit.copy()))
        return self._checked(value, form, fits)

    def _checked(self, value: exp.Expr, form: Form, fits: exp.Expr) -> exp.Expr:
        assert form.raw is not None
        assert form.type is not None
        message = (
            f'column "{form.raw.column}" of table "{form.raw.table}" holds what is no {form.type.name}: '
        )
        failing = self.failing(value.copy(), message)
        if form.type.family is Family.INT:
            failing = exp.Cast(this=failing, to=exp.Var(this="integer"))
        wrong = exp.Not(this=fits)
        return case((wrong, failing), default=value.copy())

    def typed(self, value: exp.Expr, type_: Type) -> exp.Expr:
        found = super().typed(value, type_)
        return by_code_point(found) if type_.family is Family.TEXT else found

    def written(self, constant: Canonical, type_: Type) -> exp.Expr:
        if type_ is BOOL and constant is not None:
            return exp.Boolean(this=bool(constant))
        return super().written(constant, type_)

    def double(self, value: float) -> exp.Expr:
        text = repr(value) if math.isfinite(value) else f"{'-' if value < 0 else ''}Infinity"
        return exp.Cast(this=string(text), to=exp.Var(this=TYPES[Family.DOUBLE]))

    def bound(self, name: str, constant: Canonical, type_: Type) -> exp.Expr:
        found = super().bound(
            name, bool(constant) if type_ is BOOL and constant is not None else constant, type_
        )
        is_double = isinstance(found, exp.Placeholder) and isinstance(found.meta.get(BOUND), float)
        return exp.Cast(this=found, to=exp.Var(this=TYPES[Family.DOUBLE])) if is_double else found

    def as_whole(self, truth: exp.Expr) -> exp.Expr:
        return exp.Cast(this=truth, to=exp.Var(this="integer"))

    def failing(self, number: exp.Expr, message: str) -> exp.Expr:
        """A cast of what is no number, and is none before there is one."""
        text = call("concat", string(f"shardwise: {message}"), number)
        return exp.Cast(this=text, to=exp.Var(this="numeric"))

    def part(self, unit: str, moment: exp.Expr) -> exp.Expr:
        """Before the year 1 comes the year -1, which is 0 to DuckDB; an infinite date has none."""
        is_finite = call("isfinite", moment.copy())
        found = exp.Cast(
            this=call("date_part", string(unit.lower()), moment), to=exp.Var(this=TYPES[Family.INT])
        )
        if unit != "YEAR":
            return case((is_finite, found))
        later = exp.Add(this=found.copy(), expression=integer(1))
        counted = case((exp.LT(this=found, expression=integer(0)), later), default=found.copy())
        return case((is_finite, counted))

    def sum_of_doubles(self, value: exp.Expr) -> exp.Expr:
        return exp.Sum(this=value)

    def extreme(self, kind: type[exp.AggFunc], value: exp.Expr, type_: Type) -> exp.Expr:
        if type_ is BOOL:
            kind = exp.LogicalAnd if kind is exp.Min else exp.LogicalOr
        return kind(this=value)

    def may_equal(self, column: exp.Column, constants: Sequence[exp.Expr]) -> exp.Expr | None:
        """By the column's own collation, which is deterministic: just these."""
        found = [self._uncollated(each) for each in constants]
        return (
            exp.EQ(this=column, expression=found[0])
            if len(found) == 1
            else exp.In(this=column, expressions=found)
        )

    def _uncollated(self, constant: exp.Expr) -> exp.Expr:
        found = self.beside(constant, TEXT, "=")
        return found.this if isinstance(found, exp.Collate) else found

    def may_be_like(self, column: exp.Column, pattern: str, where: exp.Expr) -> exp.Expr | None:
        of = bare(where.this)
        form = self.form_of(of) if isinstance(of, exp.Column) else None
        if form is not None and is_padded(form):
            return None  # LIKE sees the blanks
        return self.like(column, pattern, where) if pattern[:1] not in ("", "%", "_") else None


def by_code_point(text: exp.Expr) -> exp.Expr:
    """A text that compares, sorts and groups by its code points."""
    return collated(text, '"C"')


def between(value: exp.Expr, low: exp.Expr, high: exp.Expr) -> exp.Expr:
    return both(exp.GTE(this=value.copy(), expression=low), exp.LTE(this=value.copy(), expression=high))


def is_padded(form: Form) -> bool:
    """Whether it may be a `character(n)`, whose blanks at the end mean nothing."""
    return form.raw is not None and form.raw.stored is not None


def unpadded(value: exp.Expr) -> exp.Expr:
    return exp.Cast(this=value, to=exp.Var(this="text"))
