"""A statement of the sqlite dialect that one shard answers whole: sqlite3's own rows, untouched."""

from __future__ import annotations

import time
from typing import Any

import pyarrow as pa

from shardwise.executor.backends.base import Columns, MissingSource, SourceConnection
from shardwise.executor.pools import Lease
from shardwise.executor.reading import Located, Reader
from shardwise.executor.sqlite.arrow import table_of
from shardwise.executor.sqlite.rows import Row, RowBatch, size_of
from shardwise.plan.run import Request


class SQLiteDirect:
    """Stands where a merge would; `columns` are the result's names and declared types."""

    def __init__(self, reader: Reader, request: Request, columns: Columns) -> None:
        self.columns = columns
        self._reader = reader
        self.request = request
        self._last = time.perf_counter()
        self._is_started = self._is_over = False
        self.lease: Lease | None = None
        self._connection: SourceConnection | None = None
        with Located(self):
            try:
                self._open()
            except BaseException:
                self.close()
                raise

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

    def interrupt(self) -> None:
        connection = self._connection
        if connection is not None:
            connection.interrupt()

    def close(self) -> None:
        self._finish()
        connection, lease = self._connection, self.lease
        self._connection = self.lease = None
        if connection is not None:
            connection.close()
        if lease is not None:
            lease.release()

    def _open(self) -> None:
        reader, request = self._reader, self.request
        try:
            self.lease = reader.pool.lease(request.source)
        except MissingSource:
            empty = reader.empty(request)
            if empty is None:
                raise
            self._connection = empty.connection
            self.request = request._replace(sql=empty.sql, params=empty.params)
            return
        self._connection = self.lease.connect(reader.time_zone)
        gaps = self.lease.strict.check(self._connection, request)
        self.request = request._replace(sql=reader.text(request, gaps))

    def _finish(self) -> None:
        if not self._is_over:
            self._is_over = True
            self._reader.finish(self.request, self._elapsed())

    def _elapsed(self) -> float:
        last, self._last = self._last, time.perf_counter()
        return self._last - last
