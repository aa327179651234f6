"""Sort columns of batches in text form: values that Arrow compares as the server does.

    day           sort_1             the stream keeps its texts; beside them are numbers to sort by
    2024-02-29    8825
    infinity      9223372036854775807

A server's calendar is longer than Arrow's: days before Christ, after 9999 and infinite ones are counted here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from shardwise.executor.sorted_merge import ArrowForm, Place
from shardwise.plan.run import OrderKey

_INFINITE: Final = {"infinity": 2**63 - 1, "-infinity": -(2**63)}
_MOMENT: Final = re.compile(
    r"(\d+)-(\d\d)-(\d\d)(?: (\d\d):(\d\d):(\d\d)(?:\.(\d{1,6}))?)?"
    r"(?:([+-])(\d\d)(?::(\d\d))?(?::(\d\d))?)?( BC)?"
)
_FIRST_DAY: Final = date(2000, 1, 1).toordinal()
"""Of both counts: moments are counted in microseconds to the year 294276, as PostgreSQL does."""
_DAYS_FROM_EPOCH: Final = _FIRST_DAY - date(1970, 1, 1).toordinal()
_WIDEST: Final = 65_535
"""Characters of a VARCHAR."""
_DAY_US: Final = 86_400_000_000


class SortedTexts:
    """Batches in text form, in this order. (A `sorted_merge.Form`.)"""

    def __init__(self, order: Sequence[OrderKey]) -> None:
        self._order = order
        self._by = ArrowForm([key._replace(column=place) for place, key in enumerate(order)])

    def place(self, batch: pa.RecordBatch, row: int) -> Place:
        return self._by.place(self._keys(batch.slice(row, 1), _WIDEST), 0)

    def sliced(self, batch: pa.RecordBatch, start: int, count: int) -> pa.RecordBatch:
        return batch.slice(start, count)

    def sorted(self, parts: Sequence[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        (whole,) = pa.Table.from_batches(parts).combine_chunks().to_batches()
        yield whole.take(self._by.indices(self._keys(whole)))

    def _keys(self, batch: pa.RecordBatch, width: int = 0) -> pa.RecordBatch:
        columns = [sort_column(batch.column(key.column), key, width) for key in self._order]
        return pa.RecordBatch.from_arrays(columns, names=[f"sort_{i}" for i in range(len(columns))])


def sort_column(cells: pa.Array, key: OrderKey, width: int = 0) -> pa.Array:
    """The texts of a column as what its values are sorted by: alike for all that are padded to one `width`,
    which is that of the longest at least. (A column's may be longer than the catalog says.)"""
    how, argument = key.compared
    if how == "padded":
        longest = pc.max(pc.utf8_length(cells)).as_py() or 0
        return pc.utf8_rpad(cells, width=max(longest, width), padding=" ")
    if how == "decimal":
        return _decimals(cells, argument)
    convert = _CONVERT.get(how)
    return cells if convert is None else convert(cells)


def _decimals(cells: pa.Array, scale: int) -> pa.Array:
    """NaN is the greatest: a number that has a digit more than any other."""
    most = f"{'9' * (38 - scale)}{'.' if scale else ''}{'9' * scale}"
    return pc.if_else(pc.equal(cells, "NaN"), most, cells).cast(pa.decimal128(38, scale))


def _days(cells: pa.Array) -> pa.Array:
    try:
        days = cells.cast(pa.date32()).cast(pa.int32()).cast(pa.int64())
    except pa.ArrowInvalid:
        return pa.array([None if cell is None else _day(cell) for cell in cells.to_pylist()], pa.int64())
    return pc.subtract(days, _DAYS_FROM_EPOCH)


def _moments(cells: pa.Array) -> pa.Array:
    has_zone = pc.any(pc.match_substring_regex(cells, r":.*[+-]")).as_py()
    try:
        moments = cells.cast(pa.timestamp("us", "UTC" if has_zone else None)).cast(pa.int64())
    except pa.ArrowInvalid:
        return pa.array([None if cell is None else _moment(cell) for cell in cells.to_pylist()], pa.int64())
    return pc.subtract(moments, _DAYS_FROM_EPOCH * _DAY_US)


def _day(text: str) -> int:
    return _INFINITE[text] if text in _INFINITE else _days_of(_read(text))


def _moment(text: str) -> int:
    """Microseconds, in UTC where the text says its zone."""
    if text in _INFINITE:
        return _INFINITE[text]
    found = _read(text)
    hours, minutes, seconds = (int(part or 0) for part in found.group(4, 5, 6))
    micros = int((found[7] or "").ljust(6, "0"))
    ahead = sum(
        int(part or 0) * unit for part, unit in zip(found.group(9, 10, 11), (3600, 60, 1), strict=True)
    )
    second = hours * 3600 + minutes * 60 + seconds - (-ahead if found[8] == "-" else ahead)
    return _days_of(found) * _DAY_US + second * 1_000_000 + micros


def _read(text: str) -> re.Match[str]:
    found = _MOMENT.fullmatch(text)
    if found is None:
        raise ValueError("a day that is not written as PostgreSQL writes it")
    return found


def _days_of(found: re.Match[str]) -> int:
    """Of the Gregorian calendar, which is the same again after 400 years; 1 BC is the year 0."""
    year, month, day = (int(part) for part in found.group(1, 2, 3))
    if found[12]:
        year = 1 - year
    cycles, of_cycle = divmod(year - 2000, 400)
    return cycles * 146_097 + date(2000 + of_cycle, month, day).toordinal() - _FIRST_DAY


_CONVERT: Final[Mapping[str, Callable[[pa.Array], pa.Array]]] = {
    "whole": lambda cells: cells.cast(pa.int64()),
    "unsigned": lambda cells: cells.cast(pa.uint64()),
    "double": lambda cells: cells.cast(pa.float64()),
    "day": _days,
    "moment": _moments,
}
