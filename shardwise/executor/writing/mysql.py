"""Index tables on MySQL and MariaDB: a session of their own, READ WRITE, its batches transactions of InnoDB.

Rows go as INSERT statements of many rows each, as long as the server's max_allowed_packet lets them be. Those
to be deleted are first put into a temporary table of the same columns, so that values are compared as they
are held, a FLOAT with a FLOAT, and not with how they are written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

from shardwise.catalog.spoken import spoken
from shardwise.errors import Cancelled, DataError, Error, OperationalError
from shardwise.executor.backends.base import Location
from shardwise.executor.backends.mysql.driver import pymysql
from shardwise.executor.backends.mysql.errors import code_of, translate_error
from shardwise.executor.backends.mysql.literals import literals
from shardwise.executor.backends.mysql.server import Server
from shardwise.executor.backends.mysql.session import Session
from shardwise.executor.backends.mysql.settings import settings_of
from shardwise.executor.pools import SourcePool
from shardwise.executor.writing.base import Form, FormColumn, Rows

_STATEMENT_BYTES: Final = 1 << 20
_GONE: Final = "shardwise_gone"
_PREFIX: Final = 190
"""So many characters of a long text are searched: InnoDB's indexes have 3,072 bytes."""
_MODE: Final = "STRICT_ALL_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION"
_VALUE_ERRORS: Final = frozenset((1048, 1062, 1264, 1265, 1292, 1366, 1367, 1406, 1411, 1586, 3140, 4025))
_quoted = spoken("mysql").quoted


class MySQLWriter:
    """`Writer` of a database of a server."""

    def __init__(self, _: SourcePool, location: Location) -> None:
        self._location = location
        self._made: set[str] = set()
        self._is_stopped = False
        with self._translated():
            self._settings = settings_of(location)
            self._server = Server(self._settings.address.server)
            self._session: Session = self._server.take(self._settings, fresh=True)
            try:
                self._run("SET SESSION TRANSACTION READ WRITE")
                self._run(f"SET SESSION sql_mode = '{_MODE}'")
                ((packet,),) = self._ask("SELECT @@max_allowed_packet")
            except BaseException:
                self.close()
                raise
        self._bytes_max = min(_STATEMENT_BYTES, int(str(packet)) // 2)
        self._write = literals("UTC")

    def _make(self, form: Form) -> None:
        """Before a transaction, which it would commit."""
        if form.table in self._made:
            return
        columns = ", ".join(map(_definition, form.columns))
        self._run(
            f"CREATE TABLE IF NOT EXISTS {_quoted(form.table)} ({columns})"
            " ENGINE = InnoDB DEFAULT CHARSET = utf8mb4"
        )
        self._made.add(form.table)

    def change(self, form: Form, gone: Rows | None, new: Rows | None) -> None:
        self._make(form)
        columns = ", ".join(map(_definition, form.columns))
        has_gone = gone is not None and len(gone) > 0
        if has_gone:
            searched = ", ".join(_searched(form, name) for name in form.searched[0])
            self._run(f"CREATE TEMPORARY TABLE {_quoted(_GONE)} ({columns}, KEY ({searched}))")
        try:
            self._run("START TRANSACTION")
            try:
                if has_gone and gone is not None:
                    self._insert(_GONE, form, gone)
                    same = " AND ".join(_same(column, form) for column in form.columns)
                    self._run(
                        f"DELETE t FROM {_quoted(form.table)} AS t JOIN {_quoted(_GONE)} AS g ON {same}"
                    )
                if new is not None and len(new):
                    self._insert(form.table, form, new)
                self._run("COMMIT")
            except BaseException:
                with suppress(Error, pymysql.MySQLError, OSError):
                    self._run("ROLLBACK")
                raise
        finally:
            if has_gone and self._session.wire.open:
                with suppress(Error):
                    self._run(f"DROP TEMPORARY TABLE IF EXISTS {_quoted(_GONE)}")

    def finish(self, form: Form) -> int:
        self._make(form)
        found = self._ask(
            "SELECT DISTINCT INDEX_NAME FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = DATABASE()"
            f" AND TABLE_NAME = {self._write(form.table)}"
        )
        there = {str(name).lower() for (name,) in found}
        for name, columns in form.index_names():
            if name.lower() not in there:
                of = ", ".join(_searched(form, column) for column in columns)
                self._run(f"CREATE INDEX {_quoted(name)} ON {_quoted(form.table)} ({of})")
        ((count,),) = self._ask(f"SELECT COUNT(*) FROM {_quoted(form.table)}")
        return int(str(count))

    def drop(self, table: str) -> None:
        self._made.discard(table)
        self._run(f"DROP TABLE IF EXISTS {_quoted(table)}")

    def interrupt(self) -> None:
        self._is_stopped = True
        if not self._server.kill(self._settings, self._session.id):
            self._session.cut(Cancelled("the statement was cancelled"))

    def close(self) -> None:
        self._session.drop()
        self._server.close_idle(self._settings)

    # -- inside -------------------------------------------------------------------------------

    def _insert(self, table: str, form: Form, rows: Rows) -> None:
        names = ", ".join(_quoted(name) for name in form.names)
        head = f"INSERT INTO {_quoted(table)} ({names}) VALUES "
        write, size = self._write, 0
        parts: list[str] = []
        for row in rows.tuples():
            text = f"({', '.join(map(write, row))})"
            if parts and size + len(text) > self._bytes_max:
                self._run(head + ", ".join(parts))
                parts, size = [], 0
            parts.append(text)
            size += len(text) + 2
        if parts:
            self._run(head + ", ".join(parts))

    def _run(self, sql: str) -> None:
        with self._translated(), self._session.waiting():
            self._session.wire.query(sql)

    def _ask(self, sql: str) -> list[tuple[object, ...]]:
        with self._translated(), self._session.waiting():
            return self._session.wire.ask(sql)

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except (pymysql.MySQLError, OSError) as error:
            if self._is_stopped:
                raise Cancelled("the statement was cancelled") from error
            if code_of(error) in _VALUE_ERRORS:
                raise DataError(
                    f'source "{self._location.source}": a row does not fit into the index table '
                    f"(error {code_of(error)})",
                    hint="Compare the columns of the base tables on all shards: `shardwise catalog check`",
                ) from None  # what the server says has the value in it
            raise translate_error(error, self._location) from error


def _definition(column: FormColumn) -> str:
    collation = f" COLLATE {_plain(column.collation)}" if column.collation else ""
    charset = f" CHARACTER SET {_charset(column.collation)}" if column.collation else ""
    # A TIMESTAMP that does not say NULL is NOT NULL, and has the moment of its writing as default.
    nullable = " NULL" if column.nullable else " NOT NULL"
    return f"{_quoted(column.name)} {column.type}{charset}{collation}{nullable}"


def _plain(name: str) -> str:
    if not re.fullmatch(r"\w+", name):
        raise OperationalError(f'"{name}" is no name of a collation')
    return name


def _charset(collation: str) -> str:
    """The character set that a collation's name begins with. MariaDB's newest (uca1400_…) are of several."""
    first = _plain(collation).partition("_")[0].lower()
    return "utf8mb4" if first == "uca1400" else first


def _same(column: FormColumn, form: Form) -> str:
    """The same value, found by the search index where there is one; of texts the same bytes."""
    mine, theirs = f"t.{_quoted(column.name)}", f"g.{_quoted(column.name)}"
    plain = f"{mine} = {theirs}" if column.name in form.searched[0] else f"{mine} <=> {theirs}"
    return f"{plain} AND BINARY {mine} <=> BINARY {theirs}" if column.collation else plain


def _searched(form: Form, name: str) -> str:
    """A column in an index: of a long text its beginning."""
    column = next(column for column in form.columns if column.name == name)
    head, _, rest = column.type.upper().partition("(")
    length = rest.partition(")")[0]
    is_long = head.strip().endswith(("TEXT", "BLOB", "JSON")) or (
        head.strip() in ("VARCHAR", "CHAR", "VARBINARY") and length.isdecimal() and int(length) > _PREFIX
    )
    return f"{_quoted(name)}({_PREFIX})" if is_long else _quoted(name)
