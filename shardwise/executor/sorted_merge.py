"""Sorted streams merged into one, batch by batch: a few batches of each are held, and no more.

    s0   1 3 7 | 9 …         the first batch of each; the smallest of their last rows is 4
    s1   2 4 | 8 …      =>   all rows up to that one: 1 3 2 4, sorted: 1 2 3 4
                             whatever comes later is not before them

What a batch is, and how rows compare, is a `Form`'s: Arrow's here, SQLite's rows in `sqlite/sorted_rows.py`,
servers' texts in `served/sort_columns.py`. A batch's rows are sorted by Arrow, not compared one by one in
Python; where NULLs and NaNs go is a column of its own, for Arrow puts them last in either direction. A stream
is waited for only while it has nothing here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol, TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from shardwise.plan.run import Batch, OrderKey

B = TypeVar("B", bound=Batch)


class Form(Protocol[B]):
    """Batches of one kind, and the order they are in."""

    def place(self, batch: B, row: int) -> Place:
        """Where a row is in the order."""

    def sliced(self, batch: B, start: int, count: int) -> B:
        """Some of its rows."""

    def sorted(self, parts: Sequence[B]) -> Iterator[B]:
        """All rows of two batches or more, in order."""


def merged(streams: Sequence[Callable[[], B | None]], form: Form[B]) -> Iterator[B]:
    """All rows in order. Each stream is in order; NaN is the greatest number, and equal to itself."""
    heads: dict[int, B] = {}
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
        ends = {i: form.place(head, head.num_rows - 1) for i, head in heads.items()}
        until = min(ends.values())
        parts = []
        for i in sorted(heads):
            head = heads.pop(i)
            count = head.num_rows if ends[i] <= until else _count_until(head, until, form)
            if count:
                parts.append(form.sliced(head, 0, count))
            if count < head.num_rows:
                heads[i] = form.sliced(head, count, head.num_rows - count)
        if len(parts) == 1:
            yield parts[0]
        else:
            yield from form.sorted(parts)


class Placed:
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
        assert isinstance(other, Placed)
        return self.rank == other.rank and bool(self.value == other.value)

    def __lt__(self, other: Placed) -> bool:
        if self.rank != other.rank:
            return self.rank < other.rank
        return bool(other.value < self.value if self.is_descending else self.value < other.value)

    def __le__(self, other: Placed) -> bool:
        return not other < self

    __hash__ = None  # type: ignore[assignment]  # what is equal for the order may not be for a set


Place = list[Placed]


def _count_until(batch: B, until: Place, form: Form[B]) -> int:
    """How many rows are not after `until`: by halving, for they are in order."""
    low, high = 0, batch.num_rows
    while low < high:
        middle = (low + high) // 2
        if until < form.place(batch, middle):
            high = middle
        else:
            low = middle + 1
    return low


class ArrowForm:
    """Arrow batches whose sort columns are of types that Arrow compares as the order does."""

    def __init__(self, order: Sequence[OrderKey]) -> None:
        self._order = order

    def place(self, batch: pa.RecordBatch, row: int) -> Place:
        return [Placed(_comparable(batch.column(key.column)[row]), key) for key in self._order]

    def sliced(self, batch: pa.RecordBatch, start: int, count: int) -> pa.RecordBatch:
        return batch.slice(start, count)

    def sorted(self, parts: Sequence[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        table = pa.Table.from_batches(parts).combine_chunks()
        yield from table.take(self.indices(table)).to_batches()

    def indices(self, table: pa.Table | pa.RecordBatch) -> pa.Array:
        """The places of its rows, in order."""
        columns: list[pa.Array | pa.ChunkedArray] = []
        directions: list[str] = []
        for key in self._order:
            for column, is_descending in _sort_columns(_stored(table.column(key.column)), key):
                columns.append(column)
                directions.append("descending" if is_descending else "ascending")
        names = [str(i) for i in range(len(columns))]
        return pc.sort_indices(
            pa.table(columns, names=names), sort_keys=list(zip(names, directions, strict=True))
        )


def _stored(column: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """What Arrow can sort: not bool8, the extension type as which DuckDB gives a BOOLEAN."""
    return column.cast(column.type.storage_type) if isinstance(column.type, pa.BaseExtensionType) else column


def _comparable(cell: pa.Scalar) -> Any:
    """A cell's value; of days and moments Arrow's number: Python has no infinite ones, nor any after 9999."""
    return cell.value if pa.types.is_date(cell.type) or pa.types.is_timestamp(cell.type) else cell.as_py()


def _sort_columns(
    column: pa.Array | pa.ChunkedArray, key: OrderKey
) -> Iterator[tuple[pa.Array | pa.ChunkedArray, bool]]:
    """The columns by which Arrow sorts as the order has it, and whether descending."""
    if column.null_count:
        yield pc.is_null(column).cast(pa.int8()), key.nulls_first
    if pa.types.is_floating(column.type):
        is_nan = pc.fill_null(pc.is_nan(column), False)
        if pc.any(is_nan).as_py():
            yield is_nan.cast(pa.int8()), key.descending
            column = pc.if_else(is_nan, pa.scalar(0, column.type), column)
    yield column, key.descending
