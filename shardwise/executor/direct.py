"""A statement that one shard answers whole: the driver's rows go straight to the cursor, no merge."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa

from shardwise.executor import duck
from shardwise.executor.backends.base import SourceConnection
from shardwise.executor.conform import Conform, drift, widens
from shardwise.executor.one_shard import OneShard
from shardwise.executor.pools import Lease
from shardwise.executor.reading import BATCH_ROWS, Located, Reader
from shardwise.executor.workers.bulk import Growing, growing
from shardwise.plan.gaps import Gap
from shardwise.plan.run import Request


class Direct(OneShard):
    """A `Merging` without merge. The source is opened at once, `begin` starts the statement.

    `arrow_type` tells DuckDB types' Arrow types. `columns` are the wanted ones; a shard whose types are
    narrower is asked again with casts, before anything is handed on.
    """

    is_typed = True
    is_direct = True
    merged_on: str | None = None

    def __init__(
        self,
        reader: Reader,
        request: Request,
        columns: duck.Columns,
        arrow_type: Callable[[str], pa.DataType | None],
    ) -> None:
        self.columns = columns
        self._arrow_type = arrow_type
        self._texts = [i for i, (_, type_) in enumerate(columns) if type_ in ("VARCHAR", "BLOB", "JSON")]
        self._growing: Growing | None = None
        super().__init__(reader, request)

    @property
    def is_plain(self) -> bool:
        """Whether the shard's Arrow is what the user is to get: no type that only we would understand."""
        types = [self._arrow_type(type_) for _, type_ in self.columns]
        return all(type_ is not None and _is_plain(type_) for type_ in types)

    def begin(self) -> None:
        """Starts it: the shard has then begun to answer, or said what is wrong."""
        connection = self._connection
        if self._is_started or connection is None:
            return
        self._is_started = True
        with Located(self):
            if self._is_narrower(self._asked(lambda: self._execute(connection))):
                self.request = self.request._replace(sql=duck.cast_to(self.request.sql, self.columns))
                self._asked(lambda: self._execute(connection))

    def fetchmany(self, count: int) -> list[tuple[Any, ...]]:
        self.begin()
        with Located(self):
            return self._fetchmany(count)

    def reader(self, batch_rows: int) -> pa.RecordBatchReader:
        with Located(self):
            return self._batches(batch_rows)

    def interrupt(self) -> None:
        if self._growing is not None:
            self._growing.interrupt()
        super().interrupt()

    def close(self) -> None:
        grown, self._growing = self._growing, None
        if grown is not None:
            grown.close()
        super().close()

    # -- inside -------------------------------------------------------------------------------

    def _is_known_good(self, lease: Lease, connection: SourceConnection) -> bool:
        return lease.tables.is_known_good(connection, self.request)

    def _gaps(self, lease: Lease, connection: SourceConnection) -> dict[str, Gap]:
        return lease.tables.check(connection, self.request, self._reader.normal_type)

    def _execute(self, connection: SourceConnection) -> duck.Columns:
        return connection.execute(self.request.sql, self.request.params, self.columns)

    def _fetchmany(self, count: int) -> list[tuple[Any, ...]]:
        connection = self._connection
        if connection is None:
            return []
        rows = connection.fetchmany(count)
        self._arrived(len(rows), self._size(rows), is_last=len(rows) < count)
        return rows

    def _is_narrower(self, given: duck.Columns) -> bool:
        """Whether the shard's types must be cast; raises if they are others."""
        if given is self.columns or [type_ for _, type_ in given] == [type_ for _, type_ in self.columns]:
            return False
        if len(given) != len(self.columns):
            schema = pa.schema([(name, pa.null()) for name, _ in given])
            wanted = pa.schema([(name, pa.null()) for name, _ in self.columns])
            Conform(schema, wanted, shard=self.request.shard, fragment=self.request.fragment)
        for (_, theirs), (name, ours) in zip(given, self.columns, strict=True):
            low, high = self._arrow_type(theirs), self._arrow_type(ours)
            if theirs != ours and (low is None or high is None or not widens(low, high)):
                raise drift(self.request.shard, name, theirs, ours)
        return True

    def _batches(self, batch_rows: int) -> pa.RecordBatchReader:
        connection = self._connection
        assert connection is not None
        self._is_started = True
        rows = min(batch_rows, BATCH_ROWS)
        here = self._asked(
            lambda: connection.arrow(self.request.sql, self.request.params, rows, self.columns)
        )
        sql, params, processes = self.request.sql, self.request.params, self._reader.processes
        self._growing = growing(here, connection, sql, params, self.columns, processes)
        given = self._growing or here
        types = [self._arrow_type(type_) for _, type_ in self.columns]
        fields = [
            (theirs if theirs.type == ours else pa.field(name, ours)).with_name(name)
            for theirs, ours, (name, _) in zip(given.schema, types, self.columns, strict=False)
        ]
        wanted = pa.schema(fields)
        conform = Conform(given.schema, wanted, shard=self.request.shard, fragment=self.request.fragment)

        def batches() -> Iterator[pa.RecordBatch]:
            while True:
                with Located(self):
                    try:
                        batch = given.read_next_batch()
                    except StopIteration:
                        self._finish()
                        return
                self._arrived(batch.num_rows, batch.nbytes, is_last=False)
                yield conform(batch)

        return pa.RecordBatchReader.from_batches(wanted, batches())

    def _size(self, rows: list[tuple[Any, ...]]) -> int:
        """About what the rows would take as Arrow."""
        size = 8 * len(rows) * len(self.columns)
        for i in self._texts:
            size += sum(len(value) for row in rows if (value := row[i]) is not None)
        return size


def _is_plain(type_: pa.DataType) -> bool:
    if isinstance(type_, pa.BaseExtensionType):
        return False
    return all(_is_plain(type_.field(i).type) for i in range(type_.num_fields))
