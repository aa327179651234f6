"""A request's connection: its statement's rows as the wanted types."""

from __future__ import annotations

import json
import re
import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping
from datetime import date, datetime
from typing import Any, TypeVar

import pyarrow as pa

from shardwise.errors import InterfaceError
from shardwise.executor import lite
from shardwise.executor.backends.base import Columns
from shardwise.executor.backends.sqlite.file import FileConnection, Rows
from shardwise.executor.backends.sqlite.tables import columns_of
from shardwise.executor.cells import Decoder, Misfit, MisfitError, decoder
from shardwise.executor.workers.bulk_job import BulkJob
from shardwise.plan.kinds import KeyList

_T = TypeVar("_T")


class SQLiteConnection:
    """One request on a `FileConnection`, which goes back to `give_back` when it is closed."""

    def __init__(
        self, file: FileConnection, time_zone: str, give_back: Callable[[FileConnection], None]
    ) -> None:
        self._file = file
        self._time_zone = time_zone
        self._give_back = give_back
        self._lock = threading.Lock()
        self._is_closed = False
        self._cursor: sqlite3.Cursor | None = None
        self._begun: tuple[str, Mapping[str, Any], Columns | None] | None = None
        self._decoder: Decoder | None = None

    def version(self) -> object:
        return self._file.identity, self._file.begin()

    def assumes(self, version: object) -> bool:
        return False

    def columns(self, table: str) -> Columns:
        return columns_of(self._file, *lite.unquoted(table))

    def has_schema(self, name: str) -> bool:
        return name == "main"

    def execute(self, sql: str, params: Mapping[str, Any], wanted: Columns | None = None) -> Columns:
        columns = self._start(sql, params, wanted)
        self._begun = (sql, params, wanted)
        return columns

    def fetchmany(self, count: int) -> Rows:
        self._begun = None
        rows = self._fetched(count)
        return rows if self._decoder is None else self._decoder.python(rows)

    def arrow(
        self, sql: str, params: Mapping[str, Any], batch_rows: int, wanted: Columns | None = None
    ) -> pa.RecordBatchReader:
        if wanted is None:
            raise InterfaceError("a SQLite source has no types of its own: say which are wanted")
        begun, self._begun = self._begun, None
        if begun != (sql, params, wanted):
            self._start(sql, params, wanted)
        decoder = self._decoder
        assert decoder is not None

        def batches() -> Iterator[pa.RecordBatch]:
            while rows := self._fetched(batch_rows):
                yield decoder.batch(rows)

        return pa.RecordBatchReader.from_batches(decoder.schema, batches())

    def bulk_job(self, sql: str, params: Mapping[str, Any], wanted: Columns) -> BulkJob | None:
        return self._file.bulk_job(sql, bound(params), wanted, self._time_zone)

    def interrupt(self) -> None:
        with self._lock:  # not once another request has the file's connection
            if not self._is_closed:
                self._file.interrupt()

    def close(self) -> None:
        with self._lock:
            if self._is_closed:
                return
            self._is_closed = True
        cursor, self._cursor = self._cursor, None
        if cursor is not None:
            cursor.close()
        self._give_back(self._file)

    # -- inside -------------------------------------------------------------------------------

    def _start(self, sql: str, params: Mapping[str, Any], wanted: Columns | None) -> Columns:
        if self._cursor is not None:
            self._cursor.close()
        self._decoder = None
        self._cursor = self._read(lambda: self._file.execute(sql, bound(params)))
        if wanted is None:
            return self._columns()
        names = tuple([column[0] for column in self._cursor.description or ()])
        self._decoder = decoder(wanted, names, self._time_zone)
        return wanted

    def _columns(self) -> Columns:
        if self._decoder is not None:
            return self._decoder.wanted
        description = self._cursor.description if self._cursor is not None else None
        return tuple((column[0], "") for column in description or ())

    def _fetched(self, count: int) -> Rows:
        cursor = self._cursor
        if cursor is None:
            return []
        return self._read(lambda: self._file.asked(lambda: cursor.fetchmany(count)))

    @staticmethod
    def _read(read: Callable[[], _T]) -> _T:
        try:
            return read()
        except sqlite3.OperationalError as error:
            found = _NOT_UTF_8.fullmatch(str(error))
            if found is None:
                raise
            raise MisfitError(Misfit(found[2], "is no UTF-8"), found[1]) from None


_NOT_UTF_8 = re.compile("Could not decode to UTF-8 column '(.*)' with text '(.*)'", re.DOTALL)


def bound(params: Mapping[str, Any]) -> Mapping[str, Any]:
    """Parameters as SQLite's values."""
    if _NATIVE.issuperset(map(type, params.values())):
        return params
    return {name: _canonical(value) for name, value in params.items()}


_NATIVE = frozenset((int, float, str, bytes, type(None)))


def _canonical(value: Any) -> Any:
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, KeyList):
        return json.dumps(value)
    if isinstance(value, datetime):
        return value.isoformat(" ", "microseconds")
    return value.isoformat() if isinstance(value, date) else value
