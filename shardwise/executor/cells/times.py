"""Dates and times, which a file holds as ISO text.

    DATE         2026-01-05
    TIME         10:30   10:30:00   10:30:00.25
    TIMESTAMP    2026-01-05   and a time after a space or T; no offset
    TIMESTAMPTZ  the same, and Z or an offset (+08, +08:00, +0800); without one it is UTC

Fractions have up to 6 digits that are not zero, up to 9 in the types of nanoseconds.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.compute as pc

from shardwise.executor.cells.base import Kind, Misfit, kinds_of

_DIGITS = {"s": 0, "ms": 3, "us": 6, "ns": 9}
_EPOCH = date(1970, 1, 1).toordinal()


class Date(Kind):
    """DATE."""

    def one(self, cell: Any) -> date:
        if type(cell) is str and len(cell) == 10 and cell[4] == "-" == cell[7]:
            try:
                return date.fromisoformat(cell)
            except ValueError:
                pass
        raise self.misfit(cell, "A DATE is written 2026-01-05, or its column says EPOCH or JULIAN")

    def canonical(self, cell: Any) -> str:
        return self.one(cell).isoformat()

    def array(self, cells: Sequence[Any]) -> pa.Array:
        fast = _cast(cells, self.arrow, _DATE_LENGTHS)
        return super().array(cells) if fast is None else fast

    def of_arrow(self, column: pa.Array) -> pa.Array:
        fast = _cast_texts(column, self.arrow, _DATE_LENGTHS)
        return super().of_arrow(column) if fast is None else fast


_DATE_LENGTHS = frozenset((10,))
_TIME = r"(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?"


class Time(Kind):
    """TIME and TIME_NS."""

    def __init__(self, name: str, unit: str) -> None:
        super().__init__(name, pa.time64(unit))
        self._digits = _DIGITS[unit]

    def one(self, cell: Any) -> time:
        return self._parts(cell)[0]

    def canonical(self, cell: Any) -> str:
        return self.one(cell).isoformat("microseconds")

    def array(self, cells: Sequence[Any]) -> pa.Array:
        counts = [None if cell is None else self._count(cell) for cell in cells]
        return pa.array(counts, pa.int64()).cast(self.arrow)

    def _count(self, cell: Any) -> int:
        clock, nanoseconds = self._parts(cell)
        seconds = (clock.hour * 60 + clock.minute) * 60 + clock.second
        return int(seconds * 10**self._digits + nanoseconds // 10 ** (9 - self._digits))

    def _parts(self, cell: Any) -> tuple[time, int]:
        """The time, and its nanoseconds of the second."""
        found = _CLOCK.fullmatch(cell) if type(cell) is str else None
        if found is None:
            raise self.misfit(cell, "A TIME is written 10:30, 10:30:00 or 10:30:00.25")
        hour, minute, second, fraction = found.groups()
        nanoseconds = _nanoseconds(self, cell, fraction, self._digits)
        try:
            return time(int(hour), int(minute), int(second or 0), nanoseconds // 1000), nanoseconds
        except ValueError:
            raise self.misfit(cell) from None


_CLOCK = re.compile(_TIME, re.ASCII)


class Timestamp(Kind):
    """TIMESTAMP in one of its units; with a `zone`, TIMESTAMP WITH TIME ZONE shown in it."""

    def __init__(self, name: str, unit: str, zone: str | None = None) -> None:
        super().__init__(name, pa.timestamp(unit, zone))
        self._unit = unit
        self._digits = _DIGITS[unit]
        self._zone: tzinfo | None = ZoneInfo(zone) if zone is not None else None

    def one(self, cell: Any) -> datetime:
        # The most usual forms at once: 2026-01-05 10:30:00 and its like of six decimals.
        if type(cell) is str and len(cell) in (19, 26) and self._zone is None:
            marks = cell[4] + cell[7] + cell[10] + cell[13] + cell[16] + cell[19:20]
            if marks in _USUAL and (len(cell) == 19 or self._unit in ("us", "ns")):
                try:
                    return datetime.fromisoformat(cell)
                except ValueError:
                    raise self.misfit(cell) from None
        moment, _ = self._parts(cell)
        return moment if self._zone is None else moment.replace(tzinfo=UTC).astimezone(self._zone)

    def canonical(self, cell: Any) -> str:
        return self._parts(cell)[0].isoformat(" ", "microseconds")

    def array(self, cells: Sequence[Any]) -> pa.Array:
        fast = _cast(cells, self.arrow, _WITH_OFFSET if self._zone else _MOMENT_LENGTHS)
        if fast is not None:
            return fast
        counts = [None if cell is None else self._count(cell) for cell in cells]
        return pa.array(counts, pa.int64()).cast(self.arrow)

    def of_arrow(self, column: pa.Array) -> pa.Array:
        fast = _cast_texts(column, self.arrow, _WITH_OFFSET if self._zone else _MOMENT_LENGTHS)
        return super().of_arrow(column) if fast is None else fast

    def _count(self, cell: Any) -> int:
        """The units since 1970."""
        moment, nanoseconds = self._parts(cell)
        days = moment.toordinal() - _EPOCH
        seconds = ((days * 24 + moment.hour) * 60 + moment.minute) * 60 + moment.second
        count = seconds * 10**self._digits + nanoseconds // 10 ** (9 - self._digits)
        if not -(1 << 63) < count < 1 << 63:
            raise Misfit(cell, f"is out of the range of {self.name}")
        return int(count)

    def _parts(self, cell: Any) -> tuple[datetime, int]:
        """The moment, in UTC if there is a zone, and its nanoseconds of the second."""
        found = _MOMENT.fullmatch(cell) if type(cell) is str else None
        if found is None:
            raise self.misfit(cell, f"A {self.name} is ISO text, or its column says EPOCH or JULIAN")
        year, month, day, hour, minute, second, fraction, offset = found.groups()
        if offset and self._zone is None:
            raise Misfit(
                cell,
                f"has an offset, which {self.name} has not",
                "Declare the column TIMESTAMPTZ in the catalog",
            )
        nanoseconds = _nanoseconds(self, cell, fraction, self._digits)
        try:
            moment = datetime(  # noqa: DTZ001  as written; the offset is taken off below
                int(year),
                int(month),
                int(day),
                int(hour or 0),
                int(minute or 0),
                int(second or 0),
                nanoseconds // 1000,
            )
            return moment - _offset(offset), nanoseconds
        except (ValueError, OverflowError):
            raise self.misfit(cell) from None


_USUAL = frozenset(f"--{mark}::{dot}" for mark in " T" for dot in ("", "."))
_MOMENT = re.compile(rf"(\d{{4}})-(\d\d)-(\d\d)(?:[ T]{_TIME})? ?(Z|[+-]\d\d(?::?\d\d)?)?", re.ASCII)
_MOMENT_LENGTHS = frozenset((10, 16, 19, *range(21, 30)))
_WITH_OFFSET = frozenset((20, 25, *range(22, 36)))


def _nanoseconds(kind: Kind, cell: str, fraction: str | None, digits: int) -> int:
    if fraction is None:
        return 0
    if fraction[digits:].strip("0"):
        raise Misfit(cell, f"has more decimals than {kind.name}")
    return int(fraction.ljust(9, "0"))


def _offset(text: str | None) -> timedelta:
    if text is None or text == "Z":
        return timedelta()
    hours, minutes = int(text[1:3]), int(text[3:].lstrip(":") or 0)
    if minutes > 59 or hours > 15:
        raise ValueError(text)
    offset = timedelta(hours=hours, minutes=minutes)
    return -offset if text[0] == "-" else offset


def _cast(cells: Sequence[Any], arrow: pa.DataType, lengths: frozenset[int]) -> pa.Array | None:
    """Text as Arrow itself reads it; None if that would be less strict than we are, or fails."""
    return _cast_texts(pa.array(cells, pa.string()), arrow, lengths) if kinds_of(cells) <= {str} else None


def _cast_texts(texts: pa.Array, arrow: pa.DataType, lengths: frozenset[int]) -> pa.Array | None:
    found = set(pc.unique(pc.utf8_length(texts)).to_pylist()) - {None}
    if not found <= lengths:
        return None
    first = pc.min(texts).as_py()
    if first is not None and first < "0001":  # Python has no year 0
        return None
    try:
        return texts.cast(arrow)
    except pa.ArrowInvalid:
        return None
