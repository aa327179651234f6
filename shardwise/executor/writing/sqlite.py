"""Index tables in SQLite files, written by a second sqlite3 connection; readers' own can only read.

A batch is one transaction, begun with BEGIN IMMEDIATE: where another program holds the file's lock it is
waited for as long as readers wait (busy_timeout_ms).
"""

from __future__ import annotations

import math
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any, Final
from urllib.parse import quote
from uuid import UUID

from shardwise.catalog.model import Stored
from shardwise.errors import DataError, ShardUnavailable
from shardwise.executor import lite
from shardwise.executor.backends import backend_of
from shardwise.executor.backends.base import Location
from shardwise.executor.pools import SourcePool
from shardwise.executor.writing.base import Form, FormColumn, Rows, create_table, definition

_BUSY_MS: Final = 5_000
_quoted = lite.identifier


class SQLiteWriter:
    """`Writer` of a SQLite file."""

    def __init__(self, pool: SourcePool, location: Location) -> None:
        self._location = location
        busy_ms = int(location.options.get("busy_timeout_ms", _BUSY_MS))
        if not os.path.isfile(location.path):  # noqa: PTH113  nothing here opens the file itself
            raise ShardUnavailable(
                f'source "{location.source}": file "{location.path}" does not exist', is_missing=True
            )
        with self._translated():
            self._con = sqlite3.connect(
                f"file://{quote(os.fsencode(location.path))}?mode=rw",
                uri=True,
                timeout=busy_ms / 1000,
                isolation_level=None,
                check_same_thread=False,
            )
            self._con.execute("PRAGMA trusted_schema = 0")

    def change(self, form: Form, gone: Rows | None, new: Rows | None) -> None:
        names, table = [_quoted(name) for name in form.names], _quoted(form.table)
        places = f"VALUES ({', '.join('?' * len(names))})"
        with self._transaction():
            self._con.execute(_table(form))
            if gone is not None and len(gone):
                self._con.execute("DROP TABLE IF EXISTS temp.shardwise_gone")
                columns = ", ".join(map(_definition, form.columns))
                self._con.execute(f"CREATE TEMP TABLE shardwise_gone ({columns})")
                self._con.executemany(f"INSERT INTO temp.shardwise_gone {places}", _stored(form, gone))
                same = " AND ".join(_same(column, form) for column in form.columns)
                self._con.execute(
                    f"DELETE FROM main.{table} WHERE rowid IN (SELECT t.rowid FROM temp.shardwise_gone AS g"
                    f" CROSS JOIN main.{table} AS t WHERE {same})"
                )
                self._con.execute("DROP TABLE temp.shardwise_gone")
            if new is not None and len(new):
                self._con.executemany(
                    f"INSERT INTO main.{table} ({', '.join(names)}) {places}", _stored(form, new)
                )

    def finish(self, form: Form) -> int:
        table = _quoted(form.table)
        with self._translated():
            self._con.execute(_table(form))
            for name, columns in form.index_names():
                of = ", ".join(map(_quoted, columns))
                self._con.execute(f"CREATE INDEX IF NOT EXISTS {_quoted(name)} ON {table} ({of})")
            ((count,),) = self._con.execute(f"SELECT count(*) FROM {table}").fetchall()
        return int(count)

    def drop(self, table: str) -> None:
        with self._translated():
            self._con.execute(f"DROP TABLE IF EXISTS {_quoted(table)}")

    def interrupt(self) -> None:
        lite.interrupt(self._con)

    def close(self) -> None:
        self._con.close()

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with self._translated():
            self._con.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._con.execute("COMMIT")
            except BaseException:
                if self._con.in_transaction:
                    self._con.execute("ROLLBACK")
                raise

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            backend = backend_of(self._location.scheme, self._location.source)
            raise backend.translate_error(error, self._location) from error


def _table(form: Form) -> str:
    return create_table(form, _definition, _quoted)


def _definition(column: FormColumn) -> str:
    return definition(column, _quoted, _quoted(column.collation) if column.collation else None)


def _same(column: FormColumn, form: Form) -> str:
    """The same value byte for byte, and found by the search index where there is one."""
    mine, theirs = f"t.{_quoted(column.name)}", f"g.{_quoted(column.name)}"
    exact = f"{mine} IS {theirs} COLLATE BINARY AND typeof({mine}) = typeof({theirs})"
    return f"{mine} = {theirs} AND {exact}" if column.name in form.searched[0] else exact


# ------------------------------------------------------------------ values as a file holds them


def _stored(form: Form, rows: Rows) -> Iterator[tuple[Any, ...]]:
    """Rows as the file is to hold them: docs/sqlite.md says what it reads of each type."""
    ways = [_NUMBERS.get(column.stored) if column.stored else _plain for column in form.columns]
    for row in rows.tuples():
        yield tuple(
            value if value is None or way is None else way(value)
            for way, value in zip(ways, row, strict=True)
        )


def _plain(value: Any) -> Any:
    if isinstance(value, float) and math.isnan(value):
        raise DataError("a row has NaN in a column of the index, which SQLite would keep as NULL")
    write = _TEXTS.get(type(value))
    return value if write is None else write(value)


def _moment(value: datetime) -> str:
    if value.tzinfo is None:
        return value.isoformat(" ")
    return f"{value.astimezone(UTC).replace(tzinfo=None).isoformat(' ')}Z"


_TEXTS: Final[dict[type, Callable[[Any], Any]]] = {
    bool: int,
    Decimal: lambda value: format(value, "f"),
    date: date.isoformat,
    time: time.isoformat,
    datetime: _moment,
    UUID: str,
}


def _microseconds(value: date | datetime | int | float) -> int | float:
    """Since 1970 in UTC; a number is as the file had it."""
    if not isinstance(value, datetime):
        assert isinstance(value, date)
        value = datetime(value.year, value.month, value.day)  # noqa: DTZ001  UTC is said below
    if value.tzinfo is None:
        value = value.replace(tzinfo=UTC)
    passed = value - datetime(1970, 1, 1, tzinfo=UTC)
    return (passed.days * 86_400 + passed.seconds) * 1_000_000 + passed.microseconds


def _scaled(unit: int) -> Callable[[Any], Any]:
    def write(value: Any) -> Any:
        if isinstance(value, int | float):
            return value
        whole = _microseconds(value)
        return whole // unit if whole % unit == 0 else whole / unit

    return write


def _julian(value: Any) -> Any:
    return value if isinstance(value, int | float) else 2_440_587.5 + _microseconds(value) / 86_400_000_000


_NUMBERS: Final[dict[Stored, Callable[[Any], Any]]] = {
    Stored.SECONDS: _scaled(1_000_000),
    Stored.MILLISECONDS: _scaled(1_000),
    Stored.MICROSECONDS: _scaled(1),
    Stored.JULIAN: _julian,
}
