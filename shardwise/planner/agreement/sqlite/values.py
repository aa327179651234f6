"""A column's value in its canonical form, of whatever the file holds for it.

    n (INTEGER)   =>   CASE WHEN typeof(n) = 'integer' AND n BETWEEN -2147483648 AND 2147483647 THEN n
                            WHEN n IS NULL THEN NULL ELSE shardwise_value('t', 'n', 'INTEGER', n) END

What SQLite can tell at once stays there. All else goes to `shardwise_value`, a function of the connection,
which gives the canonical form of what means a value of the type, and raises the error that names column and
value for what does not: by the code that also reads the rows that are output.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Final

from sqlglot import exp

from shardwise.plan.sql import sqlite
from shardwise.planner.agreement.forms import Raw
from shardwise.planner.agreement.make import (
    NULL,
    between,
    both,
    call,
    case,
    integer,
    is_not_null,
    is_null,
    string,
)
from shardwise.planner.agreement.sqlite.make import binary, is_storage
from shardwise.planner.agreement.types import Family, Type

FUNCTION: Final = "shardwise_value"
MIDNIGHT: Final = " 00:00:00.000000"
_EXACT: Final = 1 << 53
_REAL_DIGITS: Final = 15
"""A REAL is one decimal of so many digits, and no other."""


def value(column: exp.Expr, type_: Type, raw: Raw | None) -> exp.Expr:
    """The canonical value of a column."""
    if raw is None:
        return column
    return sqlite.over(column, _stored_text(raw) if raw.stored is not None else _value_text(type_, raw))


def check(column: exp.Expr, type_: Type, raw: Raw) -> exp.Expr:
    """TRUE, or the error, of a column's value that is not NULL."""
    return sqlite.over(column, _check_text(type_, raw))


def as_text(column: exp.Expr, raw: Raw) -> exp.Expr:
    """A date or time that is held as a number, as text."""
    return sqlite.over(column, _stored_text(raw))


# ------------------------------------------------------------------ as text, each once


@lru_cache(maxsize=4096)
def _value_text(type_: Type, raw: Raw) -> str:
    column = sqlite.HOLE
    slow = _slow(column, type_.name, raw)
    made = case(*_fast(column, type_), (is_null(column.copy()), NULL()), default=slow)
    return sqlite.sqlite_text(binary(made) if type_.family is Family.TEXT else made)


@lru_cache(maxsize=4096)
def _check_text(type_: Type, raw: Raw) -> str:
    column = sqlite.HOLE
    slow = is_not_null(_slow(column, type_.name, raw))
    made = case(*((condition, integer(1)) for condition, _ in _fast(column, type_)), default=slow)
    return sqlite.sqlite_text(made)


@lru_cache(maxsize=4096)
def _stored_text(raw: Raw) -> str:
    return sqlite.sqlite_text(_counted_value(sqlite.HOLE, raw))


def _counted_value(column: exp.Expr, raw: Raw) -> exp.Expr:
    """SQLite itself counts whole numbers of the years 1 to 9999."""
    assert raw.stored is not None
    slow = _slow(column, raw.stored, raw)
    of_type, _, unit = raw.stored.partition(" ")
    per_second = _PER_SECOND.get(unit)
    if per_second is None:
        return case((is_null(column.copy()), NULL()), default=slow)
    low, high = (second * per_second for second in _SECONDS)
    is_near = both(
        is_storage(column.copy(), "integer"),
        between(column.copy(), integer(low), integer(high + per_second - 1)),
    )
    # Of negative numbers % is negative, and / goes towards zero.
    rest: exp.Expr = exp.Mod(this=column.copy(), expression=integer(per_second))
    rest = exp.Mod(this=exp.Add(this=rest, expression=integer(per_second)), expression=integer(per_second))
    whole = exp.Div(this=exp.Sub(this=column.copy(), expression=rest), expression=integer(per_second))
    if of_type == "DATE":
        made = call("date", whole, string("unixepoch"))
    else:
        fraction = exp.Mul(this=rest.copy(), expression=integer(1_000_000 // per_second))
        seconds = call("datetime", whole, string("unixepoch"))
        made = exp.DPipe(this=seconds, expression=call("printf", string(".%06d"), fraction))
    return case((is_near, made), (is_null(column.copy()), NULL()), default=slow)


_PER_SECOND: Final = {"EPOCH SECONDS": 1, "EPOCH MILLISECONDS": 1_000, "EPOCH MICROSECONDS": 1_000_000}
_SECONDS: Final = (-62_135_596_800, 253_402_300_799)
"""The first second of the year 1 and the last of 9999, since 1970."""


def _slow(column: exp.Expr, type_name: str, raw: Raw) -> exp.Expr:
    return call(FUNCTION, string(raw.table), string(raw.column), string(type_name), column.copy())


Arm = tuple[exp.Expr, exp.Expr]


def _fast(column: exp.Expr, type_: Type) -> list[Arm]:
    """The forms that SQLite itself tells, and their canonical ones."""
    return _FAST[type_.family](column, type_)


def _whole(column: exp.Expr, type_: Type) -> list[Arm]:
    is_whole = is_storage(column.copy(), "integer")
    if (type_.low, type_.high) != (-(1 << 63), (1 << 63) - 1):
        is_whole = both(is_whole, between(column.copy(), integer(type_.low), integer(type_.high)))
    return [(is_whole, column.copy())]


def _real(column: exp.Expr, type_: Type) -> list[Arm]:
    is_exact = both(
        is_storage(column.copy(), "integer"), between(column.copy(), integer(-_EXACT), integer(_EXACT))
    )
    as_real = exp.Add(this=column.copy(), expression=exp.Literal.number("0.0"))
    return [(is_storage(column.copy(), "real"), column.copy()), (is_exact, as_real)]


def _text(column: exp.Expr, type_: Type) -> list[Arm]:
    return [(is_storage(column.copy(), "text"), column.copy())]


def _decimal(column: exp.Expr, type_: Type) -> list[Arm]:
    """A REAL is the nearest one of the scaled whole number, or goes the slow way."""
    unit = 10**type_.scale
    whole = both(
        is_storage(column.copy(), "integer"),
        between(column.copy(), integer(-(type_.high // unit)), integer(type_.high // unit)),
    )
    arms: list[Arm] = [(whole, exp.Mul(this=column.copy(), expression=integer(unit)))]
    if type_.digits <= _REAL_DIGITS:
        real_unit = exp.Literal.number(f"{unit}.0")
        moved = exp.Mul(this=column.copy(), expression=real_unit)
        scaled = exp.Cast(this=call("round", moved), to=exp.DataType.build("BIGINT"))
        is_near = exp.EQ(this=exp.Div(this=scaled, expression=real_unit.copy()), expression=column.copy())
        limit = exp.Literal.number(f"{10 ** (type_.digits - type_.scale)}.0")
        is_small = exp.LT(this=call("abs", column.copy()), expression=limit)
        arms.append((both(is_storage(column.copy(), "real"), is_small, is_near), scaled.copy()))
    return arms


def _day(column: exp.Expr, type_: Type) -> list[Arm]:
    """`date()` gives a date of the calendar as it is, and '2025-02-30' as another, once it has added to
    it."""
    is_day = exp.EQ(this=binary(_counted("date", column.copy())), expression=column.copy())
    return [(both(_is_dated(column), is_day), column.copy())]


def _moment(column: exp.Expr, type_: Type) -> list[Arm]:
    """Of seconds, with all six digits of a fraction, or a date alone; with a space between date and time."""
    head = call("substr", column.copy(), integer(1), integer(19))
    tail = call("substr", column.copy(), integer(20))
    is_second = both(
        _is_dated(column), exp.EQ(this=binary(_counted("datetime", column.copy())), expression=column.copy())
    )
    is_micro = both(
        _is_dated(column),
        exp.EQ(this=call("length", column.copy()), expression=integer(26)),
        exp.EQ(this=binary(_counted("datetime", head)), expression=head.copy()),
        call("glob", string("." + "[0-9]" * 6), tail),
        exp.EQ(this=call("instr", column.copy(), call("char", integer(0))), expression=integer(0)),
    )
    full = exp.DPipe(this=column.copy(), expression=string(".000000"))
    midnight = exp.DPipe(this=column.copy(), expression=string(MIDNIGHT))
    return [(is_second, full), (is_micro, column.copy()), (_day(column, type_)[0][0], midnight)]


def _counted(function: str, text: exp.Expr) -> exp.Expr:
    """SQLite before 3.42 gives a day that is none as it was written, unless it counted with it."""
    return call(function, text, string("+0 days"))


def _is_dated(column: exp.Expr) -> exp.Expr:
    """Text of the years 1 to 9999: SQLite also reads the years before."""
    return both(
        is_storage(column.copy(), "text"),
        exp.GTE(this=binary(column.copy()), expression=string("0001")),
    )


_FAST: dict[Family, Callable[[exp.Expr, Type], list[Arm]]] = {
    Family.BOOL: _whole,
    Family.INT: _whole,
    Family.DECIMAL: _decimal,
    Family.DOUBLE: _real,
    Family.TEXT: _text,
    Family.DATE: _day,
    Family.TIMESTAMP: _moment,
}


def encoded(column: exp.Expr, type_: Type) -> exp.Expr:
    """A canonical DECIMAL as the text that a fragment's column `#…` holds."""
    return exp.DPipe(this=string("#"), expression=column)
