"""Constants of the duckdb dialect as SQLite's canonical values, where a comparison with one means the same.

    total > 10.005   (DECIMAL(12,2), the value times 100)   =>   total > 1000
    n = 2.5          (INTEGER)                              =>   n = 0.5, which no whole number is

What the constant is, and of which type, says `planner.literals`. Whatever is not certain is None: a text that
DuckDB would round on its way to the column's type, a NaN, a number that it would compare as DOUBLE.
"""

from __future__ import annotations

import math
import re
from calendar import monthrange
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Final, Literal

from sqlglot import exp

from shardwise.plan.tree import bare
from shardwise.planner.agreement.types import Family, Type
from shardwise.planner.literals import Kind, Typed, read

Canonical = int | float | str | None
Use = Literal["value", "=", "<", "<=", ">", ">="]
"""What a constant is needed for: to be the value, or to be compared with, on the right of the operator."""

_INT64: Final = 1 << 63
_EXACT: Final = 1 << 53
_DECIMAL_DIGITS: Final = 15
_NEVER: Final = 0.5
"""No canonical number: what `=` is given where nothing is equal."""


@dataclass(frozen=True, slots=True)
class Uncertain:
    """A constant of which is not certain what it means beside a column of the type."""


UNCERTAIN: Final = Uncertain()


def typed(expr: exp.Expr) -> Typed | None:
    """A constant expression (parameters put in) as DuckDB types it; None if it is none that is understood."""
    expr = bare(expr)
    if isinstance(expr, exp.Add | exp.Sub) and isinstance(expr.expression, exp.Interval):
        return _moved(expr)
    if isinstance(expr, exp.Add | exp.Sub | exp.Mul):
        return _computed(expr) or read(expr)
    return read(expr)


def _computed(expr: exp.Binary) -> Typed | None:
    """0.06 - 0.01: of few digits, one of them a DECIMAL, exact."""
    sides = [typed(expr.this), typed(expr.expression)]
    numbers = [Decimal(s.value) for s in sides if s is not None and type(s.value) in (int, Decimal)]  # type: ignore[arg-type]
    kinds = {s.kind for s in sides if s is not None}
    if len(numbers) != 2 or Kind.DECIMAL not in kinds or not all(map(_is_short, numbers)):
        return None
    one, other = numbers
    made = (
        one * other if isinstance(expr, exp.Mul) else one + (other if isinstance(expr, exp.Add) else -other)
    )
    return Typed(Kind.DECIMAL, made)


def canonical(constant: Typed, type_: Type, use: Use) -> Canonical | Uncertain:
    """The constant in the type's canonical form; with a use other than "value" what compares as it does."""
    if constant.kind is Kind.NULL:
        return None
    return _CONVERT[type_.family](constant, type_, use)


# ------------------------------------------------------------------ by the column's family


def _to_whole(constant: Typed, type_: Type, use: Use) -> Canonical | Uncertain:
    kind, value = constant
    if kind is Kind.STRING and isinstance(value, str):
        # DuckDB casts it to the column's type, which fails outside of that.
        number = int(value) if re.fullmatch(r"-?\d{1,19}", value, re.ASCII) else None
        return number if number is not None and type_.low <= number <= type_.high else UNCERTAIN
    if kind is Kind.INT and isinstance(value, int):
        return _within(value, use)
    if kind is Kind.DECIMAL and isinstance(value, Decimal) and _is_short(value):
        return _rounded(value, use)
    if kind is Kind.DOUBLE and isinstance(value, float) and use != "value":
        # Beside a DOUBLE the column is compared as one: exact up to 2**53.
        is_exact = type_.low >= -_EXACT and type_.high <= _EXACT and not math.isnan(value)
        return value if is_exact else UNCERTAIN
    return UNCERTAIN


def _to_decimal(constant: Typed, type_: Type, use: Use) -> Canonical | Uncertain:
    kind, value = constant
    if kind is Kind.STRING and isinstance(value, str):
        # DuckDB casts it to the column's type: what that would round, or has no room for, is left to it.
        fraction = rf"(\.\d{{1,{type_.scale}}})?" if type_.scale else ""
        if not re.fullmatch(rf"-?\d{{1,18}}{fraction}", value, re.ASCII):
            return UNCERTAIN
        scaled = int(Decimal(value).scaleb(type_.scale))
        return scaled if type_.low <= scaled <= type_.high else UNCERTAIN
    if kind is Kind.INT and isinstance(value, int):
        return _within(value * 10**type_.scale, use)
    if kind is Kind.DECIMAL and isinstance(value, Decimal) and use != "value" and _is_short(value):
        return _rounded(value.scaleb(type_.scale), use)
    return UNCERTAIN


def _to_double(constant: Typed, type_: Type, use: Use) -> Canonical | Uncertain:
    kind, value = constant
    if kind is Kind.STRING and isinstance(value, str):
        if not re.fullmatch(r"-?\d{1,10}(\.\d{1,5})?", value, re.ASCII):
            return UNCERTAIN
        return float(value)
    if kind is Kind.INT and isinstance(value, int) and abs(value) <= _EXACT:
        return float(value)
    if kind is Kind.DECIMAL and isinstance(value, Decimal) and _is_short(value):
        return float(value)
    if kind is Kind.DOUBLE and isinstance(value, float) and not math.isnan(value):
        return value
    return UNCERTAIN


def _to_text(constant: Typed, type_: Type, use: Use) -> Canonical | Uncertain:
    """Without a NUL, which is no part of a text to PostgreSQL, and the end of one to much of SQLite."""
    is_text = constant.kind in (Kind.STRING, Kind.TEXT) and isinstance(constant.value, str)
    return str(constant.value) if is_text and "\0" not in str(constant.value) else UNCERTAIN


def _to_day(constant: Typed, type_: Type, use: Use) -> Canonical | Uncertain:
    moment = _moment(constant)
    if moment is None or moment.time() != datetime.min.time():
        return UNCERTAIN
    return moment.date().isoformat()


def _to_moment(constant: Typed, type_: Type, use: Use) -> Canonical | Uncertain:
    moment = _moment(constant)
    return UNCERTAIN if moment is None else moment.isoformat(" ", "microseconds")


def _to_bool(constant: Typed, type_: Type, use: Use) -> Canonical | Uncertain:
    if constant.kind is Kind.BOOL:
        return int(bool(constant.value))
    if constant.kind is Kind.STRING and constant.value in ("true", "false"):
        return int(constant.value == "true")
    return UNCERTAIN


_CONVERT: Final[dict[Family, Callable[[Typed, Type, Use], Canonical | Uncertain]]] = {
    Family.INT: _to_whole,
    Family.DECIMAL: _to_decimal,
    Family.DOUBLE: _to_double,
    Family.TEXT: _to_text,
    Family.DATE: _to_day,
    Family.TIMESTAMP: _to_moment,
    Family.BOOL: _to_bool,
}


# ------------------------------------------------------------------ numbers


def _is_short(value: Decimal) -> bool:
    """Of so few digits that DuckDB compares it as the decimal it is."""
    _, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int)
    return len(digits) <= _DECIMAL_DIGITS and -_DECIMAL_DIGITS <= exponent <= 0


def _within(value: int, use: Use) -> Canonical | Uncertain:
    """A whole number; to be compared with, one beyond SQLite's INTEGERs is as good as infinite."""
    if -_INT64 <= value < _INT64:
        return value
    return UNCERTAIN if use == "value" else math.copysign(math.inf, value)


def _rounded(value: Decimal, use: Use) -> Canonical | Uncertain:
    """The whole number that whole numbers compare with alike."""
    whole = value.to_integral_value(ROUND_FLOOR)
    if whole == value:
        return _within(int(whole), use)
    if use == "value":
        return UNCERTAIN
    if use == "=":
        return _NEVER
    # n > 2.5 is n > 2, and n >= 2.5 is n >= 3.
    return _within(int(value.to_integral_value(ROUND_CEILING if use in ("<", ">=") else ROUND_FLOOR)), use)


# ------------------------------------------------------------------ days and moments

_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d([ T]\d\d:\d\d:\d\d(\.\d{1,6})?)?", re.ASCII)


def _moment(constant: Typed) -> datetime | None:
    kind, value = constant
    if kind is Kind.STRING and isinstance(value, str) and _MOMENT.fullmatch(value):
        try:
            return datetime.fromisoformat(value)
        except ValueError:
            return None
    if kind is Kind.TIMESTAMP and isinstance(value, datetime) and value.tzinfo is None:
        return value
    if kind is Kind.DATE and isinstance(value, date) and not isinstance(value, datetime):
        return datetime(value.year, value.month, value.day)  # noqa: DTZ001  it has no zone
    return None


def _moved(expr: exp.Add | exp.Sub) -> Typed | None:
    """DATE '1998-12-01' - INTERVAL 90 DAY, a TIMESTAMP."""
    start, interval = typed(expr.this), expr.expression
    moment = _moment(start) if start is not None and start.kind in (Kind.DATE, Kind.TIMESTAMP) else None
    amount, unit = interval.this, interval.text("unit").upper()
    if moment is None or not isinstance(amount, exp.Literal):
        return None
    if not re.fullmatch(r"\d{1,6}", amount.name, re.ASCII):
        return None
    count = int(amount.name) * (-1 if isinstance(expr, exp.Sub) else 1)
    try:
        if unit in ("DAY", "DAYS"):
            moment += timedelta(days=count)
        elif unit in ("MONTH", "MONTHS", "YEAR", "YEARS"):
            moment = _by_months(moment, count * (12 if unit.startswith("YEAR") else 1))
        else:
            return None
    except (ValueError, OverflowError):
        return None
    return Typed(Kind.TIMESTAMP, moment)


def _by_months(moment: datetime, count: int) -> datetime:
    """The same day of another month, or the last one there is."""
    years, month = divmod(moment.month - 1 + count, 12)
    year = moment.year + years
    return moment.replace(year=year, month=month + 1, day=min(moment.day, monthrange(year, month + 1)[1]))
