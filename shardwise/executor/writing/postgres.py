"""Index tables on PostgreSQL: a connection of their own, rows by COPY, a batch a transaction.

Rows to be deleted are first copied into a temporary table of the same columns, so that values are compared as
they are held.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final

import psycopg
from psycopg import sql

from shardwise.catalog.spoken import spoken
from shardwise.errors import Cancelled, DataError, Error
from shardwise.executor.backends import backend_of
from shardwise.executor.backends.base import Location
from shardwise.executor.backends.postgres.session import Session
from shardwise.executor.backends.postgres.settings import Settings
from shardwise.executor.pools import SourcePool
from shardwise.executor.writing.base import Form, FormColumn, Rows, create_table, definition

_GONE: Final = "shardwise_gone"
_quoted = spoken("postgres").quoted


class PostgresWriter:
    """`Writer` of a database of a server: in the first schema of its search path."""

    def __init__(self, _: SourcePool, location: Location) -> None:
        self._location = location
        self._is_stopped = False
        with self._translated():
            self._session = Session(Settings.of(location))
        self._con: psycopg.Connection[Any] = self._session.con
        try:
            with self._translated():
                self._con.execute("SET default_transaction_read_only = off")
                self._con.execute("SET TimeZone = 'UTC'")
        except BaseException:
            self.close()
            raise

    def change(self, form: Form, gone: Rows | None, new: Rows | None) -> None:
        table = _quoted(form.table)
        with self._translated(), self._con.transaction():
            self._con.execute(_text(_table(form)))
            if gone is not None and len(gone):
                columns = ", ".join(map(_definition, form.columns))
                self._con.execute(_text(f"CREATE TEMP TABLE {_GONE} ({columns}) ON COMMIT DROP"))
                self._copy(f"pg_temp.{_GONE}", form, gone)
                same = " AND ".join(_same(column, form) for column in form.columns)
                self._con.execute(_text(f"DELETE FROM {table} AS t USING pg_temp.{_GONE} AS g WHERE {same}"))
            if new is not None and len(new):
                self._copy(table, form, new)

    def finish(self, form: Form) -> int:
        self._run(_table(form))
        for name, columns in form.index_names():
            of = ", ".join(map(_quoted, columns))
            self._run(f"CREATE INDEX IF NOT EXISTS {_quoted(name)} ON {_quoted(form.table)} ({of})")
        self._run(f"ANALYZE {_quoted(form.table)}")
        with self._translated():
            ((count,),) = self._con.execute(_text(f"SELECT count(*) FROM {_quoted(form.table)}")).fetchall()
        return int(count)

    def drop(self, table: str) -> None:
        self._run(f"DROP TABLE IF EXISTS {_quoted(table)}")

    def interrupt(self) -> None:
        self._is_stopped = True
        with suppress(psycopg.Error):
            self._con.cancel()

    def close(self) -> None:
        self._session.close()

    # -- inside -------------------------------------------------------------------------------

    def _copy(self, table: str, form: Form, rows: Rows) -> None:
        names = ", ".join(map(_quoted, form.names))
        with self._con.cursor() as cursor, cursor.copy(_text(f"COPY {table} ({names}) FROM STDIN")) as copy:
            for row in rows.tuples():
                copy.write_row(row)

    def _run(self, text: str) -> None:
        with self._translated():
            self._con.execute(_text(text))

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except Error:
            raise
        except psycopg.Error as error:
            if self._is_stopped:
                raise Cancelled("the statement was cancelled") from error
            if isinstance(error, psycopg.DataError | psycopg.IntegrityError):
                raise DataError(
                    f'source "{self._location.source}": a row does not fit into the index table '
                    f"({error.sqlstate or type(error).__name__})",
                    hint="Compare the columns of the base tables on all shards: `shardwise catalog check`",
                ) from None  # what the server says has the value in it
            backend = backend_of(self._location.scheme, self._location.source)
            raise backend.translate_error(error, self._location) from error


def _text(text: str) -> sql.SQL:
    """A statement that was put together here, of quoted names."""
    return sql.SQL(text)


def _table(form: Form) -> str:
    return create_table(form, _definition, _quoted)


def _definition(column: FormColumn) -> str:
    return definition(column, _quoted, _quoted(column.collation) if column.collation else None)


def _same(column: FormColumn, form: Form) -> str:
    """The same value, found by the search index where there is one; json has no equality but as text."""
    mine, theirs = f"t.{_quoted(column.name)}", f"g.{_quoted(column.name)}"
    as_text = f'{mine}::text COLLATE "C" IS NOT DISTINCT FROM {theirs}::text COLLATE "C"'
    return f"{mine} = {theirs} AND {as_text}" if column.name in form.searched[0] else as_text
