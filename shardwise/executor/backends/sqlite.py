"""SQLite files as sources: `sqlite:///path/to/file.db`, opened for reading, never made by opening.

By Python's sqlite3, and by nothing else: see `lite.py`.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping
from datetime import date, datetime
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa

from shardwise.errors import DataError, Error, InterfaceError, OperationalError, Reason, ShardUnavailable
from shardwise.executor import lite
from shardwise.executor.backends.base import Columns, Location, SourceOptions
from shardwise.executor.cells import Decoder, Misfit, MisfitError, kind_of

_T = TypeVar("_T")
_IDLE_MAX = 2
_COLUMNS = "SELECT name, type FROM pragma_table_xinfo(?, ?) WHERE hidden <> 1"


class SQLiteConnection:
    """One of the source's connections, for one request."""

    def __init__(self, source: SQLiteSource, con: sqlite3.Connection, time_zone: str) -> None:
        self._source = source
        self._con = con
        self._time_zone = time_zone
        self._lock = threading.Lock()
        self._is_closed = False
        self._cursor: sqlite3.Cursor | None = None
        self._begun: tuple[str, Mapping[str, Any]] | None = None
        self._decoder: Decoder | None = None
        self._misfit: MisfitError | None = None
        con.create_function("shardwise_value", 4, self._value, deterministic=True)

    def columns(self, table: str) -> Columns:
        schema, name = lite.unquoted(table)
        return tuple(self._con.execute(_COLUMNS, (name, schema)).fetchall())

    def describe(self, sql: str, params: Mapping[str, Any], wanted: Columns | None = None) -> Columns:
        """Starts the statement, which `execute` or `arrow` goes on with if it is asked for the same."""
        columns = self._start(sql, params, wanted)
        self._begun = (sql, params)
        return columns

    def execute(self, sql: str, params: Mapping[str, Any], wanted: Columns | None = None) -> Columns:
        begun, self._begun = self._begun, None
        if begun is not None and begun[0] == sql and begun[1] is params and self._decoder is not None:
            return wanted or ()
        return self._start(sql, params, wanted)

    def fetchmany(self, count: int) -> list[tuple[Any, ...]]:
        if self._cursor is None:
            return []
        rows = self._fetched(count)
        return rows if self._decoder is None else self._decoder.python(rows)

    def arrow(
        self, sql: str, params: Mapping[str, Any], batch_rows: int, wanted: Columns | None = None
    ) -> pa.RecordBatchReader:
        given = self.execute(sql, params, wanted)
        decoder = self._decoder
        if decoder is None:
            raise InterfaceError(
                f"a SQLite source has no types of its own: say which {len(given)} are wanted"
            )

        def batches() -> Iterator[pa.RecordBatch]:
            while rows := self._fetched(batch_rows):
                yield decoder.batch(rows)

        return pa.RecordBatchReader.from_batches(decoder.schema, batches())

    def interrupt(self) -> None:
        with self._lock:  # not once another request has the connection
            if not self._is_closed:
                lite.interrupt(self._con)

    def close(self) -> None:
        with self._lock:
            if self._is_closed:
                return
            self._is_closed = True
        cursor, self._cursor = self._cursor, None
        if cursor is not None:
            cursor.close()
        self._source.give_back(self._con)

    # -- inside -------------------------------------------------------------------------------

    def _start(self, sql: str, params: Mapping[str, Any], wanted: Columns | None) -> Columns:
        self._misfit = None
        self._cursor = self._asked(lambda: self._con.execute(sql, _bound(params)))
        names = [column[0] for column in self._cursor.description or ()]
        self._decoder = Decoder(wanted, names, self._time_zone) if wanted is not None else None
        return wanted if wanted is not None else tuple((name, "") for name in names)

    def _fetched(self, count: int) -> list[tuple[Any, ...]]:
        cursor = self._cursor
        return [] if cursor is None else self._asked(lambda: cursor.fetchmany(count))

    def _asked(self, ask: Callable[[], _T]) -> _T:
        """An error that a function of ours raised inside the statement is raised as it was."""
        try:
            return ask()
        except sqlite3.Error:
            misfit, self._misfit = self._misfit, None
            if misfit is not None:
                raise misfit from None
            raise

    def _value(self, table: str, column: str, type_: str, cell: Any) -> Any:
        """`shardwise_value` in SQL: the canonical form of a cell that is not in it already."""
        if cell is None:
            return None
        try:
            return kind_of(type_).canonical(cell)
        except Misfit as misfit:
            self._misfit = MisfitError(misfit, column, table=table)
            raise


def _bound(params: Mapping[str, Any]) -> Mapping[str, Any]:
    """Parameters as SQLite's values."""
    if _NATIVE.issuperset(map(type, params.values())):
        return params
    return {name: _canonical(value) for name, value in params.items()}


_NATIVE = frozenset((int, float, str, bytes, type(None)))


def _canonical(value: Any) -> Any:
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, datetime):
        return value.isoformat(" ", "microseconds")
    return value.isoformat() if isinstance(value, date) else value


class SQLiteSource:
    """A file that is open, with a few connections that wait for their next request."""

    def __init__(self, path: str, busy_ms: int) -> None:
        self._path = path
        self._busy_ms = busy_ms
        self._lock = threading.Lock()
        self._is_closed = False
        self._idle = [lite.open_file(path, busy_ms=busy_ms)]

    def connect(self, time_zone: str) -> SQLiteConnection:
        with self._lock:
            con = self._idle.pop() if self._idle else None
        return SQLiteConnection(self, con or lite.open_file(self._path, busy_ms=self._busy_ms), time_zone)

    def give_back(self, con: sqlite3.Connection) -> None:
        """A connection whose request is over."""
        with self._lock:
            keeps = not self._is_closed and len(self._idle) < _IDLE_MAX
            if keeps:
                self._idle.append(con)
        if not keeps:
            con.close()

    def close(self) -> None:
        with self._lock:
            self._is_closed = True
            idle, self._idle = self._idle, []
        for con in idle:
            con.close()


class SQLiteBackend:
    """`sqlite:///file`."""

    name = "sqlite"
    dialect = "sqlite"

    def open(self, location: Location, options: SourceOptions) -> SQLiteSource:
        path = Path(location.path)
        if not path.is_file():
            what = "is a directory" if path.is_dir() else "does not exist"
            raise ShardUnavailable(
                f'source "{location.source}": file "{path}" {what}',
                hint="Check the source's URL in the catalog; opening never makes a file",
            )
        return SQLiteSource(location.path, int(location.options.get("busy_timeout_ms", lite.BUSY_MS)))

    def suits(self, found: str, declared: str, normal: Callable[[str], str | None]) -> str | None:
        return None

    def translate_error(self, error: BaseException, location: Location) -> Error:
        return translate_error(error, location)

    def is_transient(self, error: Error) -> bool:
        return isinstance(error, ShardUnavailable) and "locked" in error.message


def translate_error(error: BaseException, location: Location) -> Error:
    """A sqlite3 error as ours."""
    if isinstance(error, Error):
        return error
    engine = lite.read(error)
    where = f'source "{location.source}"'
    file = f'{where}: file "{location.path}"'
    if engine.is_code("SQLITE_NOTADB"):
        return ShardUnavailable(
            f"{file} is not a SQLite database, or is encrypted",
            hint="Check the source's URL in the catalog",
        )
    if engine.is_code("SQLITE_BUSY", "SQLITE_LOCKED"):
        return ShardUnavailable(
            f"{file} is locked by another connection that writes to it",
            hint="Try again, let writers use WAL, or give the source a longer busy_timeout_ms",
        )
    if engine.is_code("SQLITE_CANTOPEN", "SQLITE_IOERR", "SQLITE_CORRUPT", "SQLITE_PERM", "SQLITE_READONLY"):
        return ShardUnavailable(f"{file} cannot be read: {engine.message}", hint="Check the file")
    if engine.message.startswith(("no such column", "no such table")):
        return OperationalError(
            f"{where} is not as the catalog says: {engine.message}",
            reason=Reason.SCHEMA_DRIFT,
            hint="Run `shardwise catalog check` to see all differences",
        )
    if isinstance(error, sqlite3.DataError) or engine.message in _DATA:
        return DataError(f"{where}: {engine.message}")
    return OperationalError(f"{where}: {engine.message}")


_DATA = frozenset(("integer overflow",))
