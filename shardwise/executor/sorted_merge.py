"""Sorted streams merged into one, batch by batch: a few batches of each are held, and no more.

    s0   1 3 7 | 9 …         the first batch of each; the smallest of their last rows is 4
    s1   2 4 | 8 …      =>   all rows up to that one: 1 3 2 4, sorted: 1 2 3 4
                             whatever comes later is not before them

A batch's rows are sorted by Arrow, not compared one by one in Python; where NULLs and NaNs go is a column of
its own, for Arrow puts them last in either direction. A stream is waited for only while it has nothing here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from shardwise.plan.run import OrderKey

Next = Callable[[], pa.RecordBatch | None]


def merged(streams: Sequence[Next], order: Sequence[OrderKey]) -> Iterator[pa.RecordBatch]:
    """All rows in order. Each stream is in order; NaN is the greatest number, and equal to itself."""
    heads: dict[int, pa.RecordBatch] = {}
    waiting = dict(enumerate(streams))
    while True:
        for i, take in list(waiting.items()):
            while i not in heads and i in waiting:
                batch = take()
                if batch is None:
                    del waiting[i]
                elif batch.num_rows:
                    heads[i] = batch
        if not heads:
            return
        ends = {i: _place(head, head.num_rows - 1, order) for i, head in heads.items()}
        until = min(ends.values())
        parts = []
        for i in sorted(heads):
            head = heads.pop(i)
            count = head.num_rows if ends[i] <= until else _count_until(head, until, order)
            if count:
                parts.append(head.slice(0, count))
            if count < head.num_rows:
                heads[i] = head.slice(count)
        yield from _sorted(parts, order)


class _Value:
    """A key's value that compares as the order has it."""

    __slots__ = ("is_descending", "rank", "value")

    def __init__(self, value: Any, key: OrderKey) -> None:
        self.is_descending = key.descending
        if value is None:
            self.rank, self.value = (-1 if key.nulls_first else 2), 0
        elif isinstance(value, float) and math.isnan(value):
            self.rank, self.value = (0 if key.descending else 1), 0
        else:
            self.rank, self.value = (1 if key.descending else 0), value

    def __eq__(self, other: object) -> bool:
        assert isinstance(other, _Value)
        return self.rank == other.rank and bool(self.value == other.value)

    def __lt__(self, other: _Value) -> bool:
        if self.rank != other.rank:
            return self.rank < other.rank
        return bool(other.value < self.value if self.is_descending else self.value < other.value)

    def __le__(self, other: _Value) -> bool:
        return not other < self

    __hash__ = None  # type: ignore[assignment]  # what is equal for the order may not be for a set


Place = list[_Value]


def _place(batch: pa.RecordBatch, row: int, order: Sequence[OrderKey]) -> Place:
    return [_Value(_comparable(batch.column(key.column)[row]), key) for key in order]


def _comparable(cell: pa.Scalar) -> Any:
    """A cell's value; of days and moments Arrow's number: Python has no infinite ones, nor any after 9999."""
    return cell.value if pa.types.is_date(cell.type) or pa.types.is_timestamp(cell.type) else cell.as_py()


def _count_until(batch: pa.RecordBatch, until: Place, order: Sequence[OrderKey]) -> int:
    """How many rows are not after `until`: by halving, for they are in order."""
    low, high = 0, batch.num_rows
    while low < high:
        middle = (low + high) // 2
        if until < _place(batch, middle, order):
            high = middle
        else:
            low = middle + 1
    return low


def _sorted(parts: Sequence[pa.RecordBatch], order: Sequence[OrderKey]) -> Iterator[pa.RecordBatch]:
    if len(parts) == 1:
        yield parts[0]
        return
    table = pa.Table.from_batches(parts).combine_chunks()
    columns: list[pa.ChunkedArray] = []
    directions: list[str] = []
    for key in order:
        for column, is_descending in _sort_columns(table.column(key.column), key):
            columns.append(column)
            directions.append("descending" if is_descending else "ascending")
    names = [str(i) for i in range(len(columns))]
    indices = pc.sort_indices(
        pa.table(columns, names=names), sort_keys=list(zip(names, directions, strict=True))
    )
    yield from table.take(indices).to_batches()


def _sort_columns(column: pa.ChunkedArray, key: OrderKey) -> Iterator[tuple[pa.ChunkedArray, bool]]:
    """The columns by which Arrow sorts as the order has it, and whether descending."""
    if column.null_count:
        yield pc.is_null(column).cast(pa.int8()), key.nulls_first
    if pa.types.is_floating(column.type):
        is_nan = pc.fill_null(pc.is_nan(column), False)
        if pc.any(is_nan).as_py():
            yield is_nan.cast(pa.int8()), key.descending
            column = pc.if_else(is_nan, pa.scalar(0, column.type), column)
    yield column, key.descending
