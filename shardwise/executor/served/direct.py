"""A statement that one shard answers whole: the driver's own rows, or Arrow by the server's types."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from shardwise.executor.backends.base import Columns, SourceConnection
from shardwise.executor.one_shard import OneShard
from shardwise.executor.pools import Lease
from shardwise.executor.reading import Located, Reader
from shardwise.executor.served.arrow import Row, typed_reader
from shardwise.executor.served.product import Product
from shardwise.executor.served.strict import AlikeTables
from shardwise.plan.gaps import Gap
from shardwise.plan.run import Request


class ServedDirect(OneShard):
    """Stands where a merge would; `columns` are the result's names and the server's types."""

    is_typed = True
    is_direct = True
    merged_on: str | None = None

    def __init__(
        self, reader: Reader, request: Request, columns: Columns, product: Product, alike: AlikeTables
    ) -> None:
        self.columns = columns
        self._alike = alike
        self._product = product
        super().__init__(reader, request)

    def begin(self) -> None:
        """Starts it: the server has then begun to answer, or said what is wrong."""
        connection = self._connection
        if not self._is_started and connection is not None:
            self._is_started = True
            with Located(self):
                self._asked(lambda: connection.execute(self.request.sql, self.request.params))

    def fetchmany(self, count: int) -> list[Row]:
        self.begin()
        connection = self._connection
        if connection is None or self._is_over:
            return []
        with Located(self):
            rows = connection.fetchmany(count)
        self._arrived(len(rows), _size(rows), is_last=len(rows) < count)
        return rows

    def reader(self, batch_rows: int) -> pa.RecordBatchReader:
        connection = self._connection
        assert connection is not None
        self._is_started = True
        with Located(self):
            found = self._asked(lambda: connection.arrow(self.request.sql, self.request.params, batch_rows))

        def batches() -> Iterator[pa.RecordBatch]:
            while True:
                with Located(self):
                    batch = next(found, None)
                if batch is None:
                    self._finish()
                    return
                self._reader.feed(self.request, batch, self._elapsed())
                yield batch

        return typed_reader(self._product, self.columns, batches())

    def _is_known_good(self, lease: Lease, connection: SourceConnection) -> bool:
        return self._alike.is_known_good(lease, connection, self.request)

    def _gaps(self, lease: Lease, connection: SourceConnection) -> dict[str, Gap]:
        return self._alike.check(lease, connection, self.request)


def _size(rows: list[Any]) -> int:
    """About what they would take as Arrow."""
    size = 8 * len(rows) * len(rows[0]) if rows else 0
    for row in rows:
        for cell in row:
            if type(cell) is str or type(cell) is bytes:
                size += len(cell)
    return size
