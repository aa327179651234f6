"""Rows as a driver gives them: for sources whose values have types of their own, cell by cell (SQLite).

What flows from the shards to the merge is then no Arrow but these; budgets, statistics and queues count both
alike.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from shardwise.executor.backends.base import SourceConnection

Row = tuple[Any, ...]


class RowBatch(NamedTuple):
    """Some rows, and about what they take."""

    rows: list[Row]
    nbytes: int

    @property
    def num_rows(self) -> int:
        return len(self.rows)


def batches(
    connection: SourceConnection, sql: str, params: Mapping[str, Any], batch_rows: int
) -> Iterator[RowBatch]:
    """Starts a statement at once; its rows follow as they are asked for."""
    connection.execute(sql, params)

    def rest() -> Iterator[RowBatch]:
        while rows := connection.fetchmany(batch_rows):
            yield RowBatch(rows, size_of(rows))

    return rest()


def size_of(rows: list[Row]) -> int:
    """Eight bytes for each cell, and what texts and blobs are long."""
    if not rows:
        return 0
    size = 8 * len(rows) * len(rows[0])
    for row in rows:
        for cell in row:
            if type(cell) is str or type(cell) is bytes:
                size += len(cell)
    return size
