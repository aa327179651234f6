"""`+`, `-` and `*` of DECIMALs: exact in both, of the digits that DuckDB gives the result.

    price * (1 - discount)   DECIMAL(15,2) * DECIMAL(16,2)   =>   DECIMAL(18,4), an error from 10^14 on

A product of two sides of up to 18 digits has no more than 18, and DuckDB fails where it would need them; so
does what is written here. Whole numbers alone are left to it: they overflow at the width of their type.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final

from sqlglot import exp

from shardwise.plan.tree import bare
from shardwise.planner.agreement.forms import NotAgreed
from shardwise.planner.agreement.make import call, case, integer
from shardwise.planner.agreement.servers.exact_types import DIGITS_MAX, FAST_DIGITS, exact, literal_type
from shardwise.planner.agreement.servers.writer import ServerWriter
from shardwise.planner.agreement.types import Family, Type
from shardwise.planner.literals import Kind

Operand = tuple[exp.Expr, Type]


def _whole(type_: Type) -> Type:
    """A column of whole numbers as DuckDB has it beside a DECIMAL."""
    return exact(type_.digits, 0)


def _operand(writer: ServerWriter, expr: exp.Expr) -> Operand:
    if writer.constant(expr) is not None:
        fixed = writer.fixed(expr)
        if fixed is None or fixed.kind not in (Kind.INT, Kind.DECIMAL):
            raise NotAgreed(expr)
        value, of_literal = fixed.value, literal_type(fixed)
        if of_literal is None:
            raise NotAgreed(expr, "computes with these otherwise")
        assert isinstance(value, int | Decimal)
        literal = exp.Literal.number(format(abs(value), "f"))
        return (exp.Neg(this=literal) if value < 0 else literal), of_literal
    found, type_ = writer.value(expr)
    if not type_.is_number:
        raise NotAgreed(expr, "computes with these otherwise")
    return writer.computed(bare(expr), found, type_), type_


def _computed(
    writer: ServerWriter, expr: exp.Expr, result: Callable[[Type, Type], tuple[int, int]]
) -> Operand:
    (one, of_one), (other, of_other) = (_operand(writer, e) for e in (expr.this, expr.args["expression"]))
    if Family.DECIMAL not in (of_one.family, of_other.family) or not _has_column(expr):
        raise NotAgreed(expr, "overflows otherwise")
    sides = [_whole(t) if t.family is Family.INT else t for t in (of_one, of_other)]
    digits, scale = result(sides[0], sides[1])
    made = type(expr)(this=one, expression=other)
    is_fast = max(sides[0].digits, sides[1].digits) <= FAST_DIGITS and scale < FAST_DIGITS
    if isinstance(expr, exp.Mul) and digits > FAST_DIGITS and is_fast:
        limit = integer(10 ** (FAST_DIGITS - scale))
        message = "Overflow in multiplication of DECIMAL(18): "
        large = exp.GTE(this=call("ABS", made), expression=limit)
        return case((large, writer.failing(made.copy(), message)), default=made.copy()), exact(
            FAST_DIGITS, scale
        )
    if digits > DIGITS_MAX:
        raise NotAgreed(expr, "overflows otherwise")
    return made, exact(digits, scale)


def _has_column(expr: exp.Expr) -> bool:
    return expr.find(exp.Column) is not None


def _of_sum(one: Type, other: Type) -> tuple[int, int]:
    scale = max(one.scale, other.scale)
    return max(one.digits - one.scale, other.digits - other.scale) + scale + 1, scale


def _of_product(one: Type, other: Type) -> tuple[int, int]:
    return one.digits + other.digits, one.scale + other.scale


ARITHMETIC: Final[dict[type, Callable[[Any, Any], Operand]]] = {
    exp.Add: lambda writer, expr: _computed(writer, expr, _of_sum),
    exp.Sub: lambda writer, expr: _computed(writer, expr, _of_sum),
    exp.Mul: lambda writer, expr: _computed(writer, expr, _of_product),
}
