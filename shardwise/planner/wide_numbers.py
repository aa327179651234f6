"""Arithmetic of exact numbers that is never out of range, whatever the columns hold.

    l_price * (1 - l_discount)     =>     CAST(l_price AS DECIMAL(19, 2)) * (1 - l_discount)

DuckDB multiplies two DECIMALs of up to 18 digits as one of 18, and raises where that is too few; INT * INT
raises beyond 32 bits. What is computed for rows that a join drops must not. So one side of each such
operation is made wide first, as the query's dialect has it (`Dialect.wide`). The value is the same and so is
its scale; its type shows nowhere, for it stands in a SUM or a COUNT.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from sqlglot import exp

from shardwise.plan.tree import operand
from shardwise.planner.families import Kind, TypeOf, kind_of

Wide = Callable[[exp.Expr, Kind], exp.Expr | None]
"""The number as one with room; None where the dialect has none, or the number is not of its declared kind."""

_DIGITS_MAX = 38
_DIGITS_NARROW = 18
"""With no more, DuckDB computes DECIMALs in 64 bits."""
_DIGITS_WHOLE = 19
"""Those of a BIGINT. What has more was made wide."""
_DIGITS_WRITTEN = 10
"""Those of a whole number that is written down: it is an INTEGER, or longer."""


@dataclass(frozen=True, slots=True)
class Number:
    """An expression, how large its values may be, and the digits of the type that it is computed in."""

    expr: exp.Expr
    kind: Kind
    width: int


def widened(expr: exp.Expr, type_of: TypeOf, wide: Wide) -> Number | None:
    """The expression so that it cannot fail; None if it is more than arithmetic."""
    if isinstance(expr, exp.Column | exp.Literal):
        kind = kind_of(expr, type_of)
        if kind is None or kind.family not in ("integer", "decimal"):
            return None
        if kind.family == "integer" and kind.digits > _DIGITS_WHOLE:
            return None
        is_whole = isinstance(expr, exp.Literal) and kind.family == "integer"
        return Number(expr, kind, max(kind.digits, _DIGITS_WRITTEN) if is_whole else kind.digits)
    if isinstance(expr, exp.Paren):
        found = widened(expr.this, type_of, wide)
        return None if found is None else replace(found, expr=exp.Paren(this=found.expr.copy()))
    if isinstance(expr, exp.Add | exp.Sub | exp.Mul):
        left, right = widened(expr.left, type_of, wide), widened(expr.right, type_of, wide)
        return _computed(type(expr), left, right, wide) if left is not None and right is not None else None
    return None


def _computed(operation: type[exp.Binary], left: Number, right: Number, wide: Wide) -> Number | None:
    kind = _result(operation, left.kind, right.kind)
    width = max(left.width, right.width)
    is_whole = kind.family == "integer"
    if width <= (_DIGITS_WHOLE if is_whole else _DIGITS_NARROW) and (
        is_whole or _width(operation, left, right) > _DIGITS_NARROW
    ):
        chosen = left if left.kind.family == kind.family else right
        room = wide(chosen.expr, chosen.kind)
        if room is None:
            return None
        made = replace(chosen, expr=room, width=_DIGITS_WHOLE + is_whole)
        left, right = (made, right) if chosen is left else (left, made)
    width = _width(operation, left, right)
    if (kind.digits if is_whole else width) > _DIGITS_MAX:
        return None
    return Number(operation(this=operand(left.expr), expression=operand(right.expr)), kind, width)


def _width(operation: type[exp.Binary], left: Number, right: Number) -> int:
    one, other = (replace(side.kind, digits=side.width) for side in (left, right))
    return _result(operation, one, other).digits


def _result(operation: type[exp.Binary], one: Kind, other: Kind) -> Kind:
    family = "integer" if {one.family, other.family} == {"integer"} else "decimal"
    if operation is exp.Mul:
        return Kind(family, one.digits + other.digits, one.scale + other.scale)
    scale = max(one.scale, other.scale)
    return Kind(family, max(one.digits - one.scale, other.digits - other.scale) + scale + 1, scale)
