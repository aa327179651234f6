"""Expressions as MariaDB computes them: text by its code points, errors by exp()."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import ClassVar, Final

from sqlglot import exp

from shardwise.plan.nodes import Aggregate, Keep, Limit, Node, Project, Sort, Window
from shardwise.plan.tree import bare, walk
from shardwise.planner.agreement.entries import ENTRIES
from shardwise.planner.agreement.forms import Form, NotAgreed
from shardwise.planner.agreement.known import ASCII
from shardwise.planner.agreement.make import call, case, collated, either, integer, is_null, string
from shardwise.planner.agreement.servers.entries import SERVER_ENTRIES
from shardwise.planner.agreement.servers.writer import ServerWriter
from shardwise.planner.agreement.types import BOOL, Family, Type
from shardwise.planner.agreement.writer import Value
from shardwise.planner.literals import Kind, Typed

BY_CODE_POINT: Final = "utf8mb4_nopad_bin"
_TYPES: Final = {
    Family.DATE: "DATE",
    Family.TIMESTAMP: "DATETIME(6)",
}
_MAY_BE_YEARS: Final = ("SMALLINT", "USMALLINT")
_SUMMED_MAX: Final = 1e290
"""Of numbers below it no table has so many that their sum leaves the range, where MariaDB's becomes 0."""


class MySQLWriter(ServerWriter):
    types: ClassVar[Mapping[Family, str]] = {**_TYPES, Family.DOUBLE: "DOUBLE"}

    def text(self, column: exp.Expr) -> exp.Expr:
        return collated(exp.Convert(this=column), BY_CODE_POINT)

    def read(self, column: exp.Expr, form: Form) -> exp.Expr:
        """A TINYINT(1) or BIT(1) may hold what is no truth. A YEAR, which the catalog has as a SMALLINT,
        would take 5 for 2005."""
        if self.may_match(form):
            return exp.Add(this=column, expression=integer(0))
        if form.raw is None or form.type is not BOOL:
            return super().read(column, form)
        message = f'column "{form.raw.column}" of table "{form.raw.table}" holds what is no BOOLEAN: '
        is_truth = exp.In(this=column, expressions=[integer(0), integer(1)])
        return case(
            (exp.Not(this=is_truth), self.failing(column.copy(), message)),
            default=exp.Add(this=column.copy(), expression=integer(0)),
        )

    def may_match(self, form: Form) -> bool:
        """No YEAR is one of the numbers that are taken for another."""
        return form.raw is not None and form.type is not None and form.type.name in _MAY_BE_YEARS

    def typed(self, value: exp.Expr, type_: Type) -> exp.Expr:
        if type_.family is Family.TEXT:
            return collated(value, BY_CODE_POINT)
        name = _TYPES.get(type_.family)
        return value if name is None else exp.Cast(this=value, to=exp.Var(this=name))

    def double(self, value: float) -> exp.Expr:
        literal = exp.Literal.number("1e400" if math.isinf(value) else f"{abs(value)!r}e0")
        if math.isinf(value):
            raise NotAgreed(literal, "has no infinite numbers")
        if "e" in repr(value):
            literal = exp.Literal.number(repr(abs(value)))
        return exp.Neg(this=literal) if str(value).startswith("-") else literal

    def failing(self, number: exp.Expr, message: str) -> exp.Expr:
        """exp() of more than 709 is an error, whose message has what is written in it. As a whole number it
        leaves the type of the whole as it is."""
        length = call("LENGTH", call("CONCAT", string(f"shardwise: {message}"), number))
        failing = call("EXP", exp.Add(this=integer(1000), expression=length))
        return exp.Cast(this=failing, to=exp.Var(this="SIGNED"))

    def part(self, unit: str, moment: exp.Expr) -> exp.Expr:
        return call({"YEAR": "YEAR", "MONTH": "MONTH", "DAY": "DAYOFMONTH"}[unit], moment)

    def sum_of_doubles(self, value: exp.Expr) -> exp.Expr:
        largest = exp.Max(this=call("ABS", value))
        too_large = exp.GT(this=largest, expression=self.double(_SUMMED_MAX))
        message = "a sum of numbers beyond 1e290: "
        return case((too_large, self.failing(largest.copy(), message)), default=exp.Sum(this=value.copy()))

    def extreme(self, kind: type[exp.AggFunc], value: exp.Expr, type_: Type) -> exp.Expr:
        return kind(this=value)

    def reads_in_plan(self, plan: Node, type_: Type) -> bool:
        """IN reads no subquery with a LIMIT. Whether a moment is among those of which one is NULL is FALSE to
        it, not NULL, where it asks HAVING: of what a subquery computes of groups."""
        if type_.family in _TYPES and any(map(_may_ask_having, walk(plan))):
            return False
        while isinstance(plan, Project | Keep | Sort):
            plan = plan.input
        return not isinstance(plan, Limit)

    # ------------------------------------------------------------------ found by an index

    def may_equal(self, column: exp.Column, constants: Sequence[exp.Expr]) -> exp.Expr | None:
        """A column of another character set takes no text beside it that this has not: only ASCII is in
        all."""
        found: list[exp.Expr] = []
        for each in constants:
            constant = self.constant(each)
            if isinstance(constant, exp.Placeholder):
                if len(constants) > 1:
                    return None
                return self._may_equal_given(column, constant)
            if constant is None or constant.kind is Kind.NULL or not str(constant.value).isascii():
                return None
            found.append(string(str(constant.value)))
        if len(found) == 1:
            return exp.EQ(this=column, expression=found[0])
        return exp.In(this=column, expressions=found)

    def _may_equal_given(self, column: exp.Column, given: exp.Placeholder) -> exp.Expr | None:
        fixed = self.known.values.get(given.name)
        if not isinstance(fixed, str):
            return None
        if type(fixed) is not str:  # a literal of the statement
            value = self.fixed(given)
            return (
                self.may_equal(column, [_literal(value)])
                if isinstance(value, Typed) and value.kind in (Kind.STRING, Kind.TEXT)
                else None
            )
        ascii_ = exp.Placeholder(this=self.known.name_for(given.name, ASCII))
        ascii_.meta[ASCII] = given.name
        return either(exp.EQ(this=column, expression=ascii_), is_null(ascii_.copy()))

    def may_be_like(self, column: exp.Column, pattern: str, where: exp.Expr) -> exp.Expr | None:
        is_prefix = pattern[:1] not in ("", "%", "_")
        return self.like(column, pattern, where) if is_prefix and pattern.isascii() else None


def _may_ask_having(node: Node) -> bool:
    return isinstance(node, Aggregate | Window) or (isinstance(node, Project) and bool(node.subplans))


def _literal(value: Typed) -> exp.Expr:
    return string(str(value.value))


def _is(writer: MySQLWriter, expr: exp.Expr) -> Value:
    """A date of zeros is NULL to IS where its column is NOT NULL."""
    inner = bare(expr.this)
    if isinstance(expr.args["expression"], exp.Null) and isinstance(inner, exp.Column):
        form = writer.form_of(inner)
        if form is not None and form.type is not None and form.type.family in _TYPES:
            return exp.NullSafeEQ(this=writer.column(inner), expression=exp.Null()), BOOL
    return ENTRIES[exp.Is](writer, expr)


MySQLWriter.entries = {**SERVER_ENTRIES, exp.Is: _is}
