"""Constants as numbers on one line, to say which part of a column's values lies before one.

Numbers are themselves, dates and timestamps seconds. What has no place on a line (texts, by collations) is
None.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any, Final

from sqlglot import exp

from shardwise.catalog.types import Family
from shardwise.plan.holes import Written
from shardwise.plan.tree import bare

Peek = Callable[[str], Any]
"""A parameter's value by its name, for estimates alone."""

_SECONDS: Final = {
    "SECOND": 1.0,
    "MINUTE": 60.0,
    "HOUR": 3600.0,
    "DAY": 86_400.0,
    "WEEK": 604_800.0,
    "MONTH": 2_629_800.0,
    "QUARTER": 7_889_400.0,
    "YEAR": 31_557_600.0,
}
_NUMBERS: Final = frozenset({Family.INT, Family.DECIMAL, Family.FLOAT, Family.BOOL})
_LARGEST: Final = 1e100
"""On the line: what is computed of a column's values has their squares."""
_MOMENTS: Final = frozenset({Family.DATE, Family.TIMESTAMP, Family.TIMESTAMPTZ})


def scalar_of_text(text: str, family: Family) -> float | None:
    """
    >>> scalar_of_text("1.5", Family.DECIMAL), scalar_of_text("1970-01-02", Family.DATE)
    (1.5, 86400.0)
    """
    if family is Family.BOOL and text in ("true", "false"):
        return float(text == "true")
    if family in _NUMBERS:
        return _number(text)
    return _moment(text) if family in _MOMENTS else None


def value_of_text(text: str, family: Family) -> str | float:
    """What a value is known by, however it was written: its place on the line, or its text.

    >>> value_of_text("1.50", Family.DECIMAL), value_of_text("1.5", Family.TEXT)
    (1.5, '1.5')
    """
    scalar = scalar_of_text(text.lower() if family is Family.BOOL else text, family)
    return text if scalar is None else scalar


def scalar_of_value(value: object, family: Family) -> float | None:
    """A Python value that is compared with a column of that family."""
    if isinstance(value, Written):
        return scalar_of(value.literal(), family, lambda _: None)
    if isinstance(value, str):
        return scalar_of_text(value, family)
    if isinstance(value, bool | int | float | Decimal) and family in _NUMBERS:
        return _number(value)
    if isinstance(value, datetime):
        return _seconds(value)
    return _moment(value.isoformat()) if isinstance(value, date) else None


def scalar_of(expr: exp.Expr, family: Family, peek: Peek) -> float | None:
    """A constant that is compared with a column of that family; None if it is none, or not to be told."""
    expr = bare(expr)
    if isinstance(expr, exp.Cast | exp.TryCast):
        return scalar_of(expr.this, family, peek)
    if isinstance(expr, exp.Literal):
        return scalar_of_text(expr.name, family)
    if isinstance(expr, exp.Boolean):
        return float(bool(expr.this))
    if isinstance(expr, exp.Placeholder):
        return scalar_of_value(peek(expr.name), family)
    if isinstance(expr, exp.Neg):
        inner = scalar_of(expr.this, family, peek)
        return None if inner is None else -inner
    if isinstance(expr, exp.Add | exp.Sub):
        left, right = (_term(side, family, peek) for side in (expr.left, expr.right))
        if left is None or right is None:
            return None
        return left + right if isinstance(expr, exp.Add) else left - right
    return None


def _term(expr: exp.Expr, family: Family, peek: Peek) -> float | None:
    expr = bare(expr)
    if not isinstance(expr, exp.Interval):
        return scalar_of(expr, family, peek)
    amount = scalar_of(expr.this, Family.INT, peek) if expr.this is not None else None
    unit = str(expr.args.get("unit") or "").upper().rstrip("S")
    return amount * _SECONDS[unit] if amount is not None and unit in _SECONDS else None


def _number(value: str | float | Decimal) -> float | None:
    """None also of what is no number, or too large for the line."""
    try:
        found = float(value)
    except (ValueError, OverflowError):
        return None
    return found if abs(found) <= _LARGEST else None


def _moment(text: str) -> float | None:
    try:
        return _seconds(datetime.fromisoformat(text.strip()))
    except ValueError:
        return None


def _seconds(moment: datetime) -> float:
    zone = moment.tzinfo or UTC
    return (moment.replace(tzinfo=zone) - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds()
