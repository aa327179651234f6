"""Relations of one connection that stay in the merge: tables that were stored there, and views.

    store = LocalStore(settings)
    with store.merging(execute(…, into store)) …
    table = store.keep(result)             # CREATE TABLE … AS, inside the store's DuckDB
    merge.start(…, locals={"big": table})  # runs there too: the rows are not moved again

The store is a locked in-memory DuckDB, of the same limits as a statement's: what does not fit into its memory
goes to its spill directory. A table is there for as long as anyone has it: a statement that runs keeps those
it reads, whatever their names stand for meanwhile.
"""

from __future__ import annotations

import contextlib
import itertools
import threading
import weakref
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

import duckdb

from shardwise.errors import InterfaceError
from shardwise.executor import duck
from shardwise.executor.merge import DuckDBMerging, Instance, settings_of, start_in
from shardwise.executor.result import Result
from shardwise.executor.stream import Stream
from shardwise.options import Options
from shardwise.plan.run import Merge


class StoredTable:
    """Rows in a store, of `columns` (name, DuckDB's type). Freed some time after nobody has it any more."""

    def __init__(self, store: LocalStore, name: str, columns: duck.Columns, rows: int) -> None:
        self.store = store
        self.name = name
        self.columns = columns
        self.rows = rows
        weakref.finalize(self, store.unused.append, name)

    @property
    def engine(self) -> LocalStore:
        """Where a statement that reads it is merged."""
        return self.store

    @property
    def select(self) -> str:
        """A query of its rows, in its engine."""
        return f"SELECT * FROM memory.main.{duck.identifier(self.name)}"

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """For an engine that is not its store."""
        reader = duck.arrow_reader(self.store.cursor(), self.select, (), 65_536)
        return reader.__arrow_c_stream__(requested_schema)


class LocalStore:
    """A DuckDB that keeps tables, and merges the statements that read them. Threads may share it."""

    def __init__(self, options: Options) -> None:
        self._instance = Instance(settings_of(options))
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        self._is_closed = False
        self.unused: deque[str] = deque()
        """Tables that nobody has, dropped when the store is next used: not by the garbage collector."""
        self._finalizer = weakref.finalize(self, self._instance.close)

    def start(
        self,
        merge: Merge,
        streams: Mapping[str, tuple[Stream, duck.Columns]],
        locals: Mapping[str, Any],  # noqa: A002
        options: Options,
        wanted: duck.Columns | None,
    ) -> DuckDBMerging:
        """A merge in this DuckDB; of the statement's options the time zone counts, limits are the store's."""
        con = self.cursor(options.time_zone)
        return start_in(con, merge, streams, locals, wanted, done=self.sweep)

    def keep(self, result: Result, names: Sequence[str], *, with_rows: bool = True) -> StoredTable:
        """A result that is merged here (see `start`) as a table, under these names; closes the result."""
        table = f"t{next(self._numbers)}"
        try:
            with result:
                rows = result.store(f"memory.main.{duck.identifier(table)}", names, with_rows=with_rows)
            con = self.cursor()
            try:
                columns = duck.describe(con, f"FROM memory.main.{duck.identifier(table)}")
            finally:
                con.close()
        except BaseException:
            self.unused.append(table)
            raise
        return StoredTable(self, table, columns, rows)

    def cursor(self, time_zone: str | None = None) -> duckdb.DuckDBPyConnection:
        self.sweep()
        if self._is_closed:
            raise InterfaceError("the connection is closed")
        con = self._instance.con.cursor()
        if time_zone is not None and time_zone != self._instance.settings.time_zone:
            con.execute(f"SET TimeZone = {duck.literal(time_zone)}")
        return con

    def sweep(self) -> None:
        """Drops the tables that nobody has."""
        while self.unused and not self._is_closed:
            with self._lock, contextlib.suppress(IndexError, duckdb.ConnectionException):
                name = self.unused.popleft()
                self._instance.con.execute(f"DROP TABLE IF EXISTS memory.main.{duck.identifier(name)}")

    def close(self) -> None:
        """Frees everything; statements that are merged here are to be closed before."""
        with self._lock:
            self._is_closed = True
        self._finalizer()
