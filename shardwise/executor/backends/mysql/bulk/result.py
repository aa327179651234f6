"""A statement's rows as Arrow, off the connection that PyMySQL opened."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Any, TypeVar

import pyarrow as pa

from shardwise.errors import InterfaceError, OperationalError, Reason
from shardwise.executor.backends.base import Columns
from shardwise.executor.backends.mysql.bulk.cells import cells_of
from shardwise.executor.backends.mysql.bulk.fields import Field, field_of
from shardwise.executor.backends.mysql.bulk.packets import CHUNK_BYTES, RowPackets
from shardwise.executor.backends.mysql.bulk.values import Convert, as_text, as_wanted, text_type
from shardwise.executor.backends.mysql.driver import pymysql

_TYPE = b"type"
_NOW_S = 0.02
_T = TypeVar("_T")
Ask = Callable[[Callable[[], Any]], Any]
"""Calls what waits for the server, and gives what it gives."""


def _call(ask: Callable[[], _T]) -> _T:
    return ask()


class BulkResult:
    """Reads what the columns of a statement's rows are; the rows themselves by `reader` or `batches`.

    The connection is the result's until its last row, an error, or `close`: nothing else may be sent on it
    meanwhile. Its session must have the character set utf8mb4, and UTC as its time zone where moments are
    wanted. Errors are PyMySQL's, but for values that do not fit, which are ours.
    """

    def __init__(
        self, connection: pymysql.Connection, sql: str | None = None, *, chunk_bytes: int = CHUNK_BYTES
    ) -> None:
        """Sends the statement; without one, takes over the rows of the one that was sent `unbuffered`."""
        if connection.encoding != "utf8":
            raise InterfaceError(
                "rows in bulk are read in utf8mb4", hint='pymysql.connect(charset="utf8mb4")'
            )
        if sql is not None:
            connection.query(sql, unbuffered=True)
        result = connection._result
        if result is None or not result.unbuffered_active:
            raise InterfaceError("the statement has no rows to be read in bulk")
        result.unbuffered_active = False  # PyMySQL would read to the end of what it has begun
        connection._result = None
        self.fields: tuple[Field, ...] = tuple(map(field_of, result.fields))
        self._connection = connection
        self._rows = RowPackets(connection, chunk_bytes)
        self._is_asked = False

    @property
    def columns(self) -> Columns:
        """Names, and the server's types."""
        return tuple((field.name, field.type) for field in self.fields)

    @property
    def is_over(self) -> bool:
        """Whether the connection is free again, or lost."""
        return self._rows.is_over

    def reader(
        self,
        rows: int,
        wanted: Columns | None = None,
        *,
        time_zone: str = "UTC",
        floats: Collection[int] = (),
        ask: Ask = _call,
    ) -> pa.RecordBatchReader:
        """The rows, once, in batches of at most so many.

        Without `wanted` each column is the server's own text (what is no text: bytes), and the schema's
        field has the server's type as its metadata `type`; the columns `floats` were FLOAT before the
        statement made them DOUBLE. Else they are the Arrow types of these DuckDB types; moments are shown in
        `time_zone`. `ask` calls what waits for the server.
        """
        if self._is_asked:
            raise InterfaceError("the rows of a result are read once")
        self._is_asked = True
        schema, convert = self._texts(floats) if wanted is None else self._values(wanted, time_zone)
        return pa.RecordBatchReader.from_batches(schema, self._batches(rows, schema, convert, ask))

    def batches(self, rows: int, wanted: Columns | None = None) -> Iterator[pa.RecordBatch]:
        """As `reader`."""
        return iter(self.reader(rows, wanted))

    def finish(self, bytes_max: int = 0, wait_s: float = _NOW_S) -> bool:
        """Passes over rows that are here, or come within so many bytes, each within so many seconds; tells
        whether that was all, so that the connection is free."""
        return self._rows.finish(bytes_max, wait_s)

    def close(self) -> None:
        """Ends it. If there are more rows than are here, the connection is closed."""
        if not self.finish():
            self._rows.is_over = True
            self._connection._force_close()

    # -- inside -------------------------------------------------------------------------------

    def _texts(self, floats: Collection[int]) -> tuple[pa.Schema, list[Convert]]:
        fields = [
            pa.field(f.name, text_type(f), metadata={_TYPE: b"FLOAT" if i in floats else f.type.encode()})
            for i, f in enumerate(self.fields)
        ]
        return pa.schema(fields), [as_text(field) for field in self.fields]

    def _values(self, wanted: Columns, time_zone: str) -> tuple[pa.Schema, list[Convert]]:
        if len(wanted) != len(self.fields):
            raise OperationalError(
                f"the source answered with {len(self.fields)} columns, not {len(wanted)}",
                reason=Reason.SCHEMA_DRIFT,
            )
        made = [
            as_wanted(field, name, type_, time_zone)
            for field, (name, type_) in zip(self.fields, wanted, strict=True)
        ]
        schema = pa.schema([(name, type_) for (name, _), (type_, _) in zip(wanted, made, strict=True)])
        return schema, [convert for _, convert in made]

    def _batches(
        self, rows: int, schema: pa.Schema, converts: list[Convert], ask: Ask
    ) -> Iterator[pa.RecordBatch]:
        while (chunk := ask(self._rows.next)) is not None:
            columns = cells_of(chunk, len(converts), self._rows.broken)
            arrays = [convert(cells.binary()) for convert, cells in zip(converts, columns, strict=True)]
            batch = pa.RecordBatch.from_arrays(arrays, schema=schema)
            for start in range(0, batch.num_rows, rows):
                yield batch.slice(start, rows)
