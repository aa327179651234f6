"""The types that DuckDB gives exact numbers."""

from __future__ import annotations

from decimal import Decimal
from typing import Final

from shardwise.planner.agreement.types import BIGINT, INTEGER, Type, decimal
from shardwise.planner.literals import Typed

DIGITS_MAX: Final = 38
"""Of DuckDB's DECIMALs; the servers have room for more."""
FAST_DIGITS: Final = 18
"""DuckDB computes with so many digits in 64 bits."""


def exact(digits: int, scale: int) -> Type:
    """A DECIMAL of so many digits, of which `scale` are behind the point."""
    found = decimal(digits, scale, DIGITS_MAX)
    assert found is not None
    return found


def literal_type(constant: Typed) -> Type | None:
    """The type of a constant number beside a DECIMAL; None where that is not certain."""
    value = constant.value
    if isinstance(value, Decimal):
        _, digits, exponent = value.as_tuple()
        is_short = isinstance(exponent, int) and -FAST_DIGITS <= exponent <= 0 and len(digits) <= FAST_DIGITS
        return exact(max(len(digits), 1 - int(exponent)), -int(exponent)) if is_short else None
    if type(value) is not int or not -(1 << 63) <= value < 1 << 63:
        return None
    return INTEGER if -(1 << 31) <= value < 1 << 31 else BIGINT
