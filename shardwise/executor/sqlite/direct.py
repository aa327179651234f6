"""A statement of the sqlite dialect that one shard answers whole: sqlite3's own rows, untouched."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from shardwise.executor.backends.base import Columns, SourceConnection
from shardwise.executor.one_shard import OneShard
from shardwise.executor.pools import Lease
from shardwise.executor.reading import Located, Reader
from shardwise.executor.sqlite.arrow import table_of
from shardwise.executor.sqlite.rows import Row, RowBatch, size_of
from shardwise.plan.gaps import Gap
from shardwise.plan.run import Request


class SQLiteDirect(OneShard):
    """Stands where a merge would; `columns` are the result's names and declared types."""

    is_typed = False
    is_direct = True
    merged_on: str | None = None

    def __init__(self, reader: Reader, request: Request, columns: Columns) -> None:
        self.columns = columns
        super().__init__(reader, request)

    def begin(self) -> None:
        """Starts it: SQLite has then made its first row, or said what is wrong."""
        connection = self._connection
        if not self._is_started and connection is not None:
            self._is_started = True
            with Located(self):
                connection.execute(self.request.sql, self.request.params)

    def fetchmany(self, count: int) -> list[Row]:
        self.begin()
        connection = self._connection
        if connection is None or self._is_over:
            return []
        with Located(self):
            rows = connection.fetchmany(count)
        self._reader.feed(self.request, RowBatch(rows, size_of(rows)), self._elapsed())
        if len(rows) < count:
            self._finish()
        return rows

    def reader(self, batch_rows: int) -> pa.RecordBatchReader:
        """All rows are taken at once: what types they have is only then known."""
        rows: list[Any] = []
        while more := self.fetchmany(batch_rows):
            rows += more
        return table_of(self.columns, rows).to_reader(max_chunksize=batch_rows)

    def _is_known_good(self, lease: Lease, connection: SourceConnection) -> bool:
        return False

    def _gaps(self, lease: Lease, connection: SourceConnection) -> dict[str, Gap]:
        return lease.strict.check(connection, self.request)
