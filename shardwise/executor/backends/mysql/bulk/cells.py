"""Where each value of a chunk's rows is: all rows at once, column after column.

A value is its length and then its bytes. The length is one byte, up to 250; 0xFB is NULL; after 0xFC, 0xFD
and 0xFE there are two, three and eight bytes of it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from shardwise.executor.backends.mysql.bulk.packets import Chunk

_Array = np.ndarray[Any, Any]
_NULL = 0xFB
_LONG = {0xFC: 2, 0xFD: 3, 0xFE: 8}
_OFFSET_MAX = (1 << 31) - 1


class Cells(NamedTuple):
    """A column's values: the bytes of the one in row i are `bytes[begins[i]:ends[i]]`."""

    bytes: _Array
    begins: _Array
    ends: _Array
    is_null: _Array | None

    def binary(self) -> pa.Array:
        """The values as bytes, in memory of their own.

        The chunk as it is makes an Arrow array: the bytes of a value, the bytes up to the next value, the
        next value, … Arrow's `take` picks every other one, and so copies in C.
        """
        count = len(self.begins)
        offsets = np.empty(2 * count, np.int32)
        offsets[0::2] = self.begins
        offsets[1::2] = self.ends
        buffers = [None, pa.py_buffer(offsets), pa.py_buffer(self.bytes)]
        found = pa.Array.from_buffers(pa.binary(), 2 * count - 1, buffers).take(_every_other(count))
        if self.is_null is None:
            return found
        valid = pa.py_buffer(np.packbits(~self.is_null, bitorder="little"))
        return pa.Array.from_buffers(pa.binary(), count, [valid, *found.buffers()[1:]])


@lru_cache(maxsize=8)
def _every_other(count: int) -> pa.Array:
    return pa.array(np.arange(0, 2 * count, 2, dtype=np.int32))


def cells_of(chunk: Chunk, count: int, broken: Callable[[str], Exception]) -> list[Cells]:
    """The chunk's values in `count` columns; raises `broken(why)` if the rows are none of so many."""
    if len(chunk.bytes) > _OFFSET_MAX:
        raise broken("a row has more than 2 GB")
    columns = []
    at = chunk.begins
    try:
        for _ in range(count):
            begins, ends, is_null = _column(chunk.bytes, at)
            columns.append(Cells(chunk.bytes, begins, ends, is_null))
            at = ends
    except IndexError:
        raise broken("a row ends amid a value") from None
    if (at != chunk.ends).any():
        raise broken("a row has more or fewer values than there are columns")
    return columns


def _column(data: _Array, at: _Array) -> tuple[_Array, _Array, _Array | None]:
    heads = data[at]
    begins = at + 1
    if heads.max() < _NULL:
        return begins, begins + heads, None
    lengths = heads.astype(np.int64)
    nulls = heads == _NULL
    lengths[nulls] = 0
    for head, size in _LONG.items():
        rows = np.flatnonzero(heads == head)
        if len(rows):
            lengths[rows] = _lengths(data, begins[rows], size)
            begins[rows] += size
    if heads.max() == 0xFF or lengths.max() > len(data):
        raise IndexError
    return begins, begins + lengths, nulls if nulls.any() else None


def _lengths(data: _Array, at: _Array, size: int) -> _Array:
    """Whole numbers of `size` bytes, the lowest first."""
    found = np.zeros(len(at), np.uint64)
    for index in range(size):
        found |= data[at + index].astype(np.uint64) << np.uint64(8 * index)
    return np.minimum(found, np.uint64(_OFFSET_MAX)).astype(np.int64)
