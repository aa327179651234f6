"""Kinds of values as only PostgreSQL writes them: dates of any year, intervals, offsets, bits, arrays.

Each reads the server's own text (DateStyle ISO, IntervalStyle postgres) and gives DuckDB's value of it:

    0044-03-15 BC   infinity   20000-01-01 10:00:00+09:18:59   1 year -2 mons +3 days 04:05:06.5   {a,"b,c"}
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import date, datetime, time, timedelta, timezone
from functools import cache
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa

from shardwise.executor import duck
from shardwise.executor.cells import Kind, Misfit

_DAY_US = 86_400_000_000
_CLOCK = r"(\d\d):(\d\d):(\d\d)(?:\.(\d{1,6}))?"
_OFFSET = r"([+-])(\d\d)(?::(\d\d))?(?::(\d\d))?"
_DATE = re.compile(r"(\d{4,})-(\d\d)-(\d\d)( BC)?", re.ASCII)
_MOMENT = re.compile(rf"(\d{{4,}})-(\d\d)-(\d\d) {_CLOCK}(?:{_OFFSET})?( BC)?", re.ASCII)
_TIME_TZ = re.compile(rf"{_CLOCK}{_OFFSET}", re.ASCII)
_INTERVAL = re.compile(
    r"(?:([+-]?\d+) years? ?)?(?:([+-]?\d+) mons? ?)?(?:([+-]?\d+) days? ?)?"
    r"(?:([+-]?)(\d+):(\d\d):(\d\d)(?:\.(\d{1,6}))?)?",
    re.ASCII,
)


class Counted(Kind):
    """What Arrow holds as a number. Where Python has no such value, DuckDB makes its own of the number."""

    bits = 64

    def count(self, cell: str) -> int:
        """The number that Arrow holds."""
        raise NotImplementedError

    def array(self, cells: Sequence[Any]) -> pa.Array:
        counts = [None if cell is None else self.count(cell) for cell in cells]
        return pa.array(counts, pa.int32() if self.bits == 32 else pa.int64()).cast(self.arrow)

    def _checked(self, count: int, cell: str) -> int:
        if abs(count) >= (1 << self.bits - 1) - 1:  # these two are the infinite ones
            raise Misfit(cell, f"is out of the range of {self.name}")
        return count

    def _odd(self, cell: str) -> Any:
        """As DuckDB shows a value that Python's types cannot hold."""
        con = duck.connect(":memory:", duck.Settings(threads=1, memory_bytes_max=64 << 20))
        try:
            con.register("odd", pa.table({"value": self.array([cell])}))
            ((found,),) = con.execute("SELECT value FROM odd").fetchall()
        finally:
            con.close()
        return found

    def _infinite(self, cell: str) -> int | None:
        if cell not in ("infinity", "-infinity"):
            return None
        most = (1 << self.bits - 1) - 1
        return most if cell == "infinity" else -most


class Date(Counted):
    """DATE."""

    bits = 32

    def __init__(self) -> None:
        super().__init__("DATE", pa.date32())

    def one(self, cell: Any) -> Any:
        return date.fromisoformat(cell) if len(cell) == 10 and cell[0].isdecimal() else self._odd(cell)

    def count(self, cell: str) -> int:
        infinite = self._infinite(cell)
        if infinite is not None:
            return infinite
        found = _DATE.fullmatch(cell)
        if found is None:
            raise self.misfit(cell)
        year, month, day, is_bc = found.groups()
        return self._checked(_days(_astronomical(year, is_bc), int(month), int(day)), cell)


class Timestamp(Counted):
    """TIMESTAMP; with a `zone`, TIMESTAMP WITH TIME ZONE shown in it."""

    def __init__(self, zone: str | None = None) -> None:
        super().__init__("TIMESTAMPTZ" if zone else "TIMESTAMP", pa.timestamp("us", zone))
        self._zone = ZoneInfo(zone) if zone else None

    def one(self, cell: Any) -> Any:
        try:
            moment = datetime.fromisoformat(cell)
            return moment if self._zone is None else moment.astimezone(self._zone)
        except (ValueError, OverflowError):
            return self._odd(cell)

    def count(self, cell: str) -> int:
        infinite = self._infinite(cell)
        if infinite is not None:
            return infinite
        found = _MOMENT.fullmatch(cell)
        if found is None:
            raise self.misfit(cell)
        year, month, day, *clock, sign, hours, minutes, seconds, is_bc = found.groups()
        days = _days(_astronomical(year, is_bc), int(month), int(day))
        offset = _seconds(hours, minutes, seconds) * (-1 if sign == "-" else 1) if sign else 0
        return self._checked(days * _DAY_US + _microseconds(*clock) - offset * 1_000_000, cell)


class Single(Kind):
    """FLOAT of a real, every value of which it holds. Cells are floats."""

    def __init__(self) -> None:
        super().__init__("FLOAT", pa.float32())

    def one(self, cell: Any) -> float:
        return float(cell)


class TimeTz(Kind):
    """TIME WITH TIME ZONE, which Arrow carries as DuckDB has it: microseconds, and the offset."""

    def __init__(self) -> None:
        super().__init__("TIMETZ", pa.opaque(pa.binary(8), "time_tz", "DuckDB"))

    def one(self, cell: Any) -> time:
        microseconds, offset = self._parts(cell)
        seconds, microseconds = divmod(microseconds, 1_000_000)
        try:
            clock = time(seconds // 3600, seconds // 60 % 60, seconds % 60, microseconds)
        except ValueError:
            raise self.misfit(cell) from None
        return clock.replace(tzinfo=timezone(timedelta(seconds=offset)))

    def array(self, cells: Sequence[Any]) -> pa.Array:
        stored = [None if cell is None else self._stored(cell) for cell in cells]
        return pa.ExtensionArray.from_storage(self.arrow, pa.array(stored, pa.binary(8)))

    def _stored(self, cell: str) -> bytes:
        microseconds, offset = self._parts(cell)
        return ((microseconds << 24) + 57_599 - offset).to_bytes(8, "little")

    def _parts(self, cell: str) -> tuple[int, int]:
        found = _TIME_TZ.fullmatch(cell)
        if found is None:
            raise self.misfit(cell)
        *clock, sign, hours, minutes, seconds = found.groups()
        offset = _seconds(hours, minutes, seconds) * (-1 if sign == "-" else 1)
        return _microseconds(*clock), offset


class Interval(Kind):
    """INTERVAL: months, days and microseconds, each with its sign; for Python a month has 30 days."""

    def __init__(self) -> None:
        super().__init__("INTERVAL", pa.month_day_nano_interval())

    def one(self, cell: Any) -> timedelta:
        months, days, microseconds = self._parts(cell)
        try:
            return timedelta(days=30 * months + days, microseconds=microseconds)
        except OverflowError:
            raise Misfit(cell, "is out of the range of Python's timedelta", "Select it as text") from None

    def array(self, cells: Sequence[Any]) -> pa.Array:
        return pa.array([None if cell is None else self._stored(cell) for cell in cells], self.arrow)

    def _stored(self, cell: str) -> pa.MonthDayNano:
        months, days, microseconds = self._parts(cell)
        if abs(microseconds) >= (1 << 63) // 1000:
            raise Misfit(cell, "is out of the range of Arrow's intervals", "Select it as text")
        return pa.MonthDayNano([months, days, microseconds * 1000])

    def _parts(self, cell: str) -> tuple[int, int, int]:
        found = _INTERVAL.fullmatch(cell)
        if found is None or not cell:
            raise self.misfit(cell)
        years, months, days, sign, hours, *rest = found.groups()
        clock = _microseconds(hours, *rest) if hours is not None else 0
        return 12 * int(years or 0) + int(months or 0), int(days or 0), -clock if sign == "-" else clock


class Bits(Kind):
    """BIT: Arrow carries how many bits of the first byte are filling, which are ones, and the bytes."""

    def __init__(self) -> None:
        super().__init__("BIT", pa.opaque(pa.binary(), "bit", "DuckDB"))

    def one(self, cell: Any) -> str:
        if not cell:
            raise Misfit(cell, "has no bits, which DuckDB's BIT must have")
        return str(cell)

    def array(self, cells: Sequence[Any]) -> pa.Array:
        stored = [None if cell is None else self._stored(self.one(cell)) for cell in cells]
        return pa.ExtensionArray.from_storage(self.arrow, pa.array(stored, pa.binary()))

    @staticmethod
    def _stored(cell: str) -> bytes:
        filling = -len(cell) % 8
        return bytes([filling]) + int("1" * filling + cell, 2).to_bytes((len(cell) + 7) // 8, "big")


class Arrays(Kind):
    """LIST of `element`; `cell` makes of an element's text what that takes. Cells are the text of arrays."""

    def __init__(self, element: Kind, cell: Callable[[str], Any], depth: int) -> None:
        self._element, self._cell, self._depth = element, cell, depth
        arrow = element.arrow
        for _ in range(depth):
            arrow = pa.list_(pa.field("l", arrow))
        super().__init__(element.name + "[]" * depth, arrow)

    def one(self, cell: Any) -> list[Any]:
        return self._value(self._parsed(cell), self._depth)

    def array(self, cells: Sequence[Any]) -> pa.Array:
        return self._array([None if cell is None else self._parsed(cell) for cell in cells], self._depth)

    def _value(self, parsed: list[Any], depth: int) -> list[Any]:
        if depth > 1:
            return [None if each is None else self._value(each, depth - 1) for each in parsed]
        return list(self._element.python(self._cells(parsed)))

    def _array(self, lists: Sequence[Any], depth: int) -> pa.Array:
        if depth == 0:
            return self._element.array(self._cells(lists))
        offsets: list[int | None] = []
        flat: list[Any] = []
        for each in lists:
            offsets.append(None if each is None else len(flat))
            flat += each or ()
        made = pa.ListArray.from_arrays(
            pa.array([*offsets, len(flat)], pa.int32()), self._array(flat, depth - 1)
        )
        arrow = self._element.arrow
        for _ in range(depth):
            arrow = pa.list_(pa.field("l", arrow))
        return pa.ListArray.from_buffers(arrow, len(made), made.buffers()[:2], children=[made.values])

    def _cells(self, texts: Sequence[Any]) -> list[Any]:
        return [None if text is None else self._cell(text) for text in texts]

    def _parsed(self, cell: str) -> list[Any]:
        """Nested lists of texts, as deep as the type says."""
        if not cell.startswith("{"):
            raise Misfit(cell, "has bounds of its own, which a list has not")
        stack: list[list[Any]] = [[]]
        deepest = 0
        for opening, closing, quoted, plain in _TOKEN.findall(cell):
            if opening:
                stack.append([])
                deepest = max(deepest, len(stack) - 1)
            elif closing:
                done = stack.pop()
                stack[-1].append(done)
            elif quoted:
                stack[-1].append(_ESCAPED.sub(r"\1", quoted[1:-1]))
            elif plain:
                stack[-1].append(None if plain == "NULL" else plain)
        found: list[Any] = stack[0][0]
        if deepest != self._depth and found:
            raise Misfit(cell, f"has {deepest} dimensions, not {self._depth}")
        return found


_TOKEN = re.compile(r'(\{)|(\})|("(?:[^"\\]|\\.)*")|([^{},"]+)', re.DOTALL)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)


@cache
def kind_of(wanted: str, zone: str) -> Kind | None:
    """The kind of a type that PostgreSQL writes in a way of its own; None for others."""
    made: dict[str, Callable[[], Kind]] = {
        "FLOAT": Single,
        "DATE": Date,
        "TIMESTAMP": Timestamp,
        "TIMESTAMP WITH TIME ZONE": lambda: Timestamp(zone),
        "TIME WITH TIME ZONE": TimeTz,
        "INTERVAL": Interval,
        "BIT": Bits,
    }
    return made[wanted]() if wanted in made else None


def _astronomical(year: str, is_bc: str | None) -> int:
    return 1 - int(year) if is_bc else int(year)


def _days(year: int, month: int, day: int) -> int:
    """Days since 1970 in the Gregorian calendar of any year: by years that begin in March."""
    year -= month <= 2
    era, of_era = divmod(year, 400)
    of_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    return era * 146_097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719_468


def _seconds(hours: str, minutes: str | None, seconds: str | None) -> int:
    return (int(hours) * 60 + int(minutes or 0)) * 60 + int(seconds or 0)


def _microseconds(hours: str, minutes: str, seconds: str, fraction: str | None) -> int:
    return _seconds(hours, minutes, seconds) * 1_000_000 + int((fraction or "").ljust(6, "0"))
