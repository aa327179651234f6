"""Rows as SQLite gives them, in its order: NULL, numbers, texts by a collation, blobs.

A value says itself what it is, whatever its column's type; so the order of any column may be trusted whose
collation is one of SQLite's own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final

from shardwise.executor.sorted_merge import Place, Placed
from shardwise.executor.sqlite.rows import Row, RowBatch
from shardwise.plan.run import OrderKey

_NULL_LOW, _NUMBER, _TEXT, _BLOB, _NULL_HIGH = range(5)
Value = tuple[int, Any]
"""The class of a value, and what it is compared by within it."""


class RowForm:
    """Batches of rows in this order. (A `sorted_merge.Form`.)"""

    def __init__(self, order: Sequence[OrderKey]) -> None:
        self._order = order

    def place(self, batch: RowBatch, row: int) -> Place:
        cells = batch.rows[row]
        return [
            Placed(None if cells[key.column] is None else comparable(cells[key.column], key), key)
            for key in self._order
        ]

    def sliced(self, batch: RowBatch, start: int, count: int) -> RowBatch:
        size = batch.nbytes * count // batch.num_rows
        return RowBatch(batch.rows[start : start + count], size)

    def sorted(self, parts: Sequence[RowBatch]) -> Iterator[RowBatch]:
        """By the last column first: of rows that are equal by a column the order stays."""
        rows = [row for part in parts for row in part.rows]
        for key in reversed(self._order):
            rows.sort(key=partial(_sort_value, key), reverse=key.descending)
        yield RowBatch(rows, sum(part.nbytes for part in parts))


def _sort_value(key: OrderKey, row: Row) -> Value:
    cell = row[key.column]
    if cell is None:
        return (_NULL_LOW if key.nulls_first is not key.descending else _NULL_HIGH), 0
    return comparable(cell, key)


def comparable(cell: Any, key: OrderKey) -> Value:
    """Whole numbers and reals compare exactly, in SQLite as in Python; texts here by code points, which is
    by their bytes in UTF-8."""
    if isinstance(cell, str):
        return _TEXT, _TEXTS[key.compared.how](cell)
    return (_BLOB if isinstance(cell, bytes) else _NUMBER), cell


def _nocase(text: str) -> tuple[bytes, int]:
    """The 26 letters of ASCII are alike; after a NUL only lengths are compared."""
    folded = text.encode("utf-8").lower()
    return folded.partition(b"\0")[0], len(folded)


_TEXTS: Final[Mapping[str, Callable[[str], Any]]] = {
    "cell": str,
    "nocase": _nocase,
    "rtrim": lambda text: text.rstrip(" "),
}
