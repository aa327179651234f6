"""Index tables in DuckDB files.

One process cannot hold a file open for reading and for writing at once. So each step has the readers'
instance closed, once nobody uses it, opens the file for writing, and closes it again; who wants to read
meanwhile waits (`SourcePool.alone`).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import duckdb

from shardwise.errors import Cancelled, DataError, ShardUnavailable
from shardwise.executor import duck
from shardwise.executor.backends import backend_of
from shardwise.executor.backends.base import Location
from shardwise.executor.backends.duckdb import settings
from shardwise.executor.pools import SourcePool
from shardwise.executor.writing.base import Form, FormColumn, Rows, create_table, definition

_quoted = duck.identifier
_T = TypeVar("_T")


class DuckDBWriter:
    """`Writer` of a DuckDB file."""

    def __init__(self, pool: SourcePool, location: Location) -> None:
        self._pool = pool
        self._location = location
        self._lock = threading.Lock()
        self._con: duckdb.DuckDBPyConnection | None = None
        self._is_stopped = False

    def change(self, form: Form, gone: Rows | None, new: Rows | None) -> None:
        table, names = _quoted(form.table), ", ".join(map(_quoted, form.names))
        casts = ", ".join(
            f"CAST(#{number} AS {column.type}) AS {_quoted(column.name)}"
            for number, column in enumerate(form.columns, 1)
        )

        def write(con: duckdb.DuckDBPyConnection) -> None:
            con.execute("BEGIN")
            con.execute(_table(form))
            if gone is not None and len(gone):
                con.register("shardwise_gone", gone.batch)
                same = " AND ".join(_same(column, form) for column in form.columns)
                con.execute(
                    f"DELETE FROM {table} AS t USING (SELECT {casts} FROM shardwise_gone) AS g WHERE {same}"
                )
                con.unregister("shardwise_gone")
            if new is not None and len(new):
                con.register("shardwise_new", new.batch)
                con.execute(f"INSERT INTO {table} ({names}) SELECT {casts} FROM shardwise_new")
                con.unregister("shardwise_new")
            con.execute("COMMIT")

        self._written(write)

    def finish(self, form: Form) -> int:
        table = _quoted(form.table)

        def finish(con: duckdb.DuckDBPyConnection) -> int:
            con.execute(_table(form))
            for name, columns in form.index_names():
                of = ", ".join(map(_quoted, columns))
                con.execute(f"CREATE INDEX IF NOT EXISTS {_quoted(name)} ON {table} ({of})")
            ((count,),) = con.execute(f"SELECT count(*) FROM {table}").fetchall()
            return int(count)

        return self._written(finish)

    def drop(self, table: str) -> None:
        self._written(lambda con: con.execute(f"DROP TABLE IF EXISTS {_quoted(table)}"))

    def interrupt(self) -> None:
        with self._lock:
            self._is_stopped = True
            if self._con is not None:
                self._con.interrupt()

    def close(self) -> None:
        """Nothing is open between two steps."""

    # -- inside -------------------------------------------------------------------------------

    def _written(self, step: Callable[[duckdb.DuckDBPyConnection], _T]) -> _T:
        with self._pool.alone(self._location.source), self._translated():
            con = self._opened()
            try:
                return step(con)
            finally:
                with self._lock:
                    self._con = None
                con.close()

    def _opened(self) -> duckdb.DuckDBPyConnection:
        path = Path(self._location.path)
        if not path.is_file():
            raise ShardUnavailable(
                f'source "{self._location.source}": file "{path}" does not exist', is_missing=True
            )
        con = duck.connect(str(path), settings(self._location, self._pool.options))
        with self._lock:
            self._con = con
            if self._is_stopped:
                con.interrupt()
        return con

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except duckdb.InterruptException as error:
            raise Cancelled("the statement was cancelled") from error
        except (duckdb.DataError, duckdb.IntegrityError):
            raise DataError(
                f'source "{self._location.source}": a row does not fit into the index table',
                hint="Compare the columns of the base tables on all shards: `shardwise catalog check`",
            ) from None  # what the engine says has the value in it
        except duckdb.Error as error:
            backend = backend_of(self._location.scheme, self._location.source)
            raise backend.translate_error(error, self._location) from error


def _table(form: Form) -> str:
    return create_table(form, _definition, _quoted)


def _definition(column: FormColumn) -> str:
    return definition(column, _quoted, column.collation)


def _same(column: FormColumn, form: Form) -> str:
    """The same value. Under a collation two texts are if they are so as bytes."""
    mine, theirs = f"t.{_quoted(column.name)}", f"g.{_quoted(column.name)}"
    word = "=" if column.name in form.searched[0] else "IS NOT DISTINCT FROM"
    plain = f"{mine} {word} {theirs}"
    if not column.collation:
        return plain
    return f"{plain} AND encode({mine}) IS NOT DISTINCT FROM encode({theirs})"
