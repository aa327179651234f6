"""Expressions as a server computes them: values of the server's own types.

price > 10.005   =>   price > 10.005        exact: no parameter or literal becomes a binary fraction
seen >= $1       =>   seen >= CAST(:p1 AS DATETIME(6))
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, ClassVar, Final

from sqlglot import exp

from shardwise.plan.holes import Written
from shardwise.planner.agreement.constants import Canonical
from shardwise.planner.agreement.forms import Form, NotAgreed
from shardwise.planner.agreement.known import BOUND
from shardwise.planner.agreement.make import NULL, integer, string
from shardwise.planner.agreement.servers.exact_types import DIGITS_MAX, literal_type
from shardwise.planner.agreement.types import Family, Type
from shardwise.planner.agreement.writer import Writer, is_null_constant
from shardwise.planner.literals import Kind, Typed

_INFINITE: Final = "1" + "0" * 40
"""Beyond all whole numbers and decimals that are compared with it."""
_ESCAPES: Final = "|!~^#$&"


class ServerWriter(Writer):
    """Decimals, days and moments have types of their own; text is compared by its code points."""

    types: ClassVar[Mapping[Family, str]]
    """The types of CASTs."""
    why: ClassVar[Mapping[type, str]] = {
        exp.Lower: "may know other letters",
        exp.Upper: "may know other letters",
        exp.Div: "divides otherwise",
        exp.IntDiv: "divides otherwise",
    }

    @abstractmethod
    def text(self, column: exp.Expr) -> exp.Expr:
        """A text column's value, which compares, sorts and groups by its code points."""

    @abstractmethod
    def failing(self, number: exp.Expr, message: str) -> exp.Expr:
        """A number that is an error when it is asked for."""

    @abstractmethod
    def part(self, unit: str, moment: exp.Expr) -> exp.Expr:
        """The year, month or day of a date or a timestamp, as a whole number."""

    @abstractmethod
    def double(self, value: float) -> exp.Expr:
        """A floating-point number as a literal."""

    @abstractmethod
    def sum_of_doubles(self, value: exp.Expr) -> exp.Expr:
        """To the last bits as any order of the rows gives it."""

    @abstractmethod
    def extreme(self, kind: type[exp.AggFunc], value: exp.Expr, type_: Type) -> exp.Expr:
        """The least or the greatest."""

    @abstractmethod
    def may_equal(self, column: exp.Column, constants: Sequence[exp.Expr]) -> exp.Expr | None:
        """TRUE at least where a text column, as it is, equals one of the constants; None: nothing is gained
        by it."""

    @abstractmethod
    def may_be_like(self, column: exp.Column, pattern: str, where: exp.Expr) -> exp.Expr | None:
        """As `may_equal`, of a pattern."""

    def computed(self, expr: exp.Expr, value: exp.Expr, type_: Type) -> exp.Expr:
        """A value whose own form the result of a computation no longer shows."""
        return value

    def may_match(self, form: Form) -> bool:
        """Whether a column of numbers, which is read as an expression, is also to be compared as it is, for
        an index: that misses nothing that is equal, but may find more."""
        return False

    def read(self, column: exp.Expr, form: Form) -> exp.Expr:
        assert form.type is not None
        return self.text(column) if form.raw is not None and form.type.family is Family.TEXT else column

    def typed(self, value: exp.Expr, type_: Type) -> exp.Expr:
        """A constant as one of the type, where the server would not see that it is."""
        name = self.types.get(type_.family)
        return value if name is None else exp.Cast(this=value, to=exp.Var(this=name))

    # ------------------------------------------------------------------ constants

    def written(self, constant: Canonical, type_: Type) -> exp.Expr:
        if constant is None:
            return NULL()
        if isinstance(constant, str):
            return self.typed(string(constant), type_)
        if type_.is_number and isinstance(constant, float) and math.isinf(constant):
            return _infinite(constant, type_)
        if type_.family is Family.DECIMAL:
            return _decimal(constant, type_)
        if isinstance(constant, float):
            return self.double(constant)
        return integer(constant)

    def bound(self, name: str, constant: Canonical, type_: Type) -> exp.Expr:
        if constant is None or (isinstance(constant, float) and math.isinf(constant)):
            return self.written(constant, type_)
        value: object = constant
        if type_.family is Family.DECIMAL and not isinstance(constant, str):
            value = Decimal(str(constant)).scaleb(-type_.scale)
        placeholder = exp.Placeholder(this=self.known.name_for(name, value))
        placeholder.meta[BOUND] = value
        return placeholder if isinstance(constant, float) else self.typed(placeholder, type_)

    def given(self, name: str, type_: Type) -> exp.Expr:
        return self.typed(exp.Placeholder(this=name), type_)

    def is_alike(self, given: Any, type_: Type) -> bool:
        return (
            isinstance(given, Written) and type_.family is Family.INT and given.isdigit() and len(given) < 19
        )

    def constant_among(self, expr: exp.Expr, constant: Typed | exp.Placeholder, type_: Type) -> exp.Expr:
        """A whole number that the DECIMAL has room for does not change the type."""
        if type_.family is Family.DECIMAL and not is_null_constant(constant):
            fixed = self.fixed(expr)
            if fixed is None or fixed.kind is not Kind.INT or type(fixed.value) is not int:
                raise NotAgreed(expr, "is not known to find the DECIMAL that these values have in common")
            of_literal = literal_type(fixed)
            if of_literal is None or of_literal.digits > type_.digits - type_.scale:
                raise NotAgreed(expr, "is not known to find the DECIMAL that these values have in common")
            return integer(fixed.value)
        fixed = self.fixed(expr) if type_.family is Family.DATE else None
        if fixed is not None and fixed.kind is Kind.TIMESTAMP:
            raise NotAgreed(expr, "has a DATE beside a TIMESTAMP otherwise")
        return self.beside(expr, type_, "value")

    # ------------------------------------------------------------------ comparisons

    def aligned(
        self, one: exp.Expr, of_one: Type, other: exp.Expr, of_other: Type, where: exp.Expr
    ) -> tuple[exp.Expr, exp.Expr]:
        """Of numbers: exact ones of any scales, if DuckDB has a DECIMAL for both."""
        if of_one.family is of_other.family is not Family.DECIMAL:
            return one, other
        if not (of_one.is_number and of_other.is_number):
            raise NotAgreed(where, f"compares a {of_one.name} with a {of_other.name} otherwise")
        whole = max(of_one.digits - of_one.scale, of_other.digits - of_other.scale)
        if whole + max(of_one.scale, of_other.scale) > DIGITS_MAX:
            raise NotAgreed(where, f"compares a {of_one.name} with a {of_other.name} otherwise")
        return one, other

    def is_truth(self, truth: exp.Expr, wanted: bool) -> exp.Expr:
        return exp.Is(this=truth, expression=exp.Boolean(this=wanted))

    def like(self, text: exp.Expr, pattern: str, where: exp.Expr) -> exp.Expr:
        """DuckDB's LIKE has no escape unless one is given."""
        escape = next((each for each in _ESCAPES if each not in pattern), None)
        if escape is None or "\0" in pattern:
            raise NotAgreed(where)
        return exp.Like(this=text, expression=exp.Escape(this=string(pattern), expression=string(escape)))

    def at_midnight(self, day: exp.Expr) -> exp.Expr:
        return exp.Cast(this=day, to=exp.Var(this=self.types[Family.TIMESTAMP]))

    def as_double(self, number: exp.Expr) -> exp.Expr:
        return exp.Cast(this=number, to=exp.Var(this=self.types[Family.DOUBLE]))


def _infinite(constant: float, type_: Type) -> exp.Expr:
    """What stands for a number beyond 64 bits; a DECIMAL, or a sum, may be as large itself."""
    literal = exp.Literal.number(_INFINITE)
    if max(type_.high, -type_.low) >= 1 << 64:
        raise NotAgreed(literal, f"has it beside a {type_.name} otherwise")
    return literal if constant > 0 else exp.Neg(this=literal)


def _decimal(constant: float | int, type_: Type) -> exp.Expr:
    """Canonical is the value times 10 to the scale."""
    value = Decimal(str(constant)).scaleb(-type_.scale)
    literal = exp.Literal.number(format(abs(value), "f"))
    return exp.Neg(this=literal) if value < 0 else literal
