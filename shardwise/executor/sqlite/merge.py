"""The merge of the sqlite dialect: SQLite finishes the work over the fragments' rows.

So functions, `||`, comparisons, NULL order and integer division are SQLite's own. Each stream is stored in a
table first, with each column's affinity and collation as the shards have it:

    CREATE TABLE "f1 rows" (name TEXT COLLATE NOCASE, c2)
    CREATE VIEW f1 AS SELECT name, ifnull(c2, NULL) AS c2 FROM "f1 rows"

What was computed on the shards has no affinity, but a column without a type has one, BLOB: the view takes
it off. A statement that only puts the shards' rows one after another is not stored: they go through.

Each statement has a database of its own, which spills to a temporary file; nothing is committed. Once the
rows are in, the user's statement may read it, and nothing else.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import date, datetime
from itertools import chain, islice
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any

import pyarrow as pa

from shardwise.errors import Cancelled, DataError
from shardwise.executor import lite
from shardwise.executor.backends.base import Columns
from shardwise.executor.backends.sqlite.connection import bound
from shardwise.executor.sqlite.arrow import table_of
from shardwise.executor.sqlite.rows import Row
from shardwise.executor.sqlite.translate import translate
from shardwise.executor.stream import Stream
from shardwise.options import Options
from shardwise.plan.run import Merge, Passes, Shape

_STEPS = 50_000
"""Of SQLite's machine, between two looks whether to stop: a millisecond or less."""


class SQLiteMerge:
    """In this process, by Python's sqlite3."""

    def start(
        self,
        merge: Merge,
        streams: Mapping[str, tuple[Stream, Any]],
        locals: Mapping[str, Any],  # noqa: A002
        options: Options,
        wanted: Columns | None,
    ) -> SQLiteMerging:
        """`streams` are by input name, with their columns' (name, `Shape`)."""
        used = {name: locals[name] for name in merge.locals}
        return SQLiteMerging(merge, streams, used, options, wanted)

    def close(self) -> None:
        """Nothing outlives a statement."""


class SQLiteMerging:
    """One statement, in a database of its own."""

    is_typed = is_direct = False
    merged_on: str | None = None

    def __init__(
        self,
        merge: Merge,
        streams: Mapping[str, tuple[Stream, tuple[tuple[str, Shape], ...]]],
        locals: Mapping[str, Any],  # noqa: A002
        options: Options,
        wanted: Columns | None,
    ) -> None:
        self._merge = merge
        self._streams = streams
        self._locals = locals
        self._options = options
        self._wanted = wanted
        self._directory: str | None = None
        self._con: sqlite3.Connection | None = None
        self._cursor: sqlite3.Cursor | None = None
        self._passing: Iterator[Row] | None = None
        self._is_stopped = False

    @property
    def columns(self) -> Columns:
        """Names and declared types ("" where there is none) of the rows."""
        if self._wanted is None:
            self.begin()
            assert self._cursor is not None
            self._wanted = tuple((column[0], "") for column in self._cursor.description or ())
        return self._wanted

    def begin(self) -> None:
        """Stores the streams and starts the statement; a stream that just passes is left as it is."""
        if self._cursor is None and self._passing is None:
            with _translated():
                self._begin()

    def fetchmany(self, count: int) -> list[Row]:
        self.begin()
        if self._passing is not None:
            return list(islice(self._passing, count))
        assert self._cursor is not None
        with _translated():
            return self._cursor.fetchmany(count)

    def _begin(self) -> None:
        if self._merge.passes is not None and self._wanted is not None:
            stream, _ = self._streams[self._merge.passes.input]
            rows = chain.from_iterable(batch.rows for batch in stream.batches())
            self._passing = _passed(rows, self._merge.passes)
            return
        con = self._con = self._open()
        for name, (stream, shapes) in self._streams.items():
            _make(con, name, shapes)
            insert = _insert(name, len(shapes))
            for batch in stream.batches():
                self._check()
                con.executemany(insert, batch.rows)
        for name, data in self._locals.items():
            _register(con, name, data)
        con.set_authorizer(lite.authorize_reading)
        con.set_progress_handler(self._look, _STEPS)
        self._cursor = con.execute(self._merge.sql, bound(self._merge.params))

    def reader(self, batch_rows: int) -> pa.RecordBatchReader:
        """All rows are taken at once: what types they have is only then known."""
        rows: list[Row] = []
        while more := self.fetchmany(batch_rows):
            rows += more
        return table_of(self.columns, rows).to_reader(max_chunksize=batch_rows)

    def interrupt(self) -> None:
        self._is_stopped = True
        con = self._con
        if con is not None:
            lite.interrupt(con)

    def close(self) -> None:
        con, self._con, self._cursor, self._passing = self._con, None, None, None
        if con is not None:
            con.close()
        directory, self._directory = self._directory, None
        if directory is not None:
            rmtree(directory, ignore_errors=True)

    # -- inside -------------------------------------------------------------------------------

    def _open(self) -> sqlite3.Connection:
        """A database that lives as long as the statement; where it spills says the option."""
        path = ""  # a temporary file of SQLite's own, made when its cache is full
        parent = self._options.spill_directory
        if parent is not None:
            Path(parent).mkdir(parents=True, exist_ok=True)
            self._directory = mkdtemp(prefix="shardwise-merge-", dir=parent)
            path = str(Path(self._directory) / "merge.db")
        con = lite.open_private(path)
        try:
            con.execute("PRAGMA journal_mode = OFF")
            con.execute("PRAGMA synchronous = OFF")
            con.execute("PRAGMA trusted_schema = 0")
            con.execute(f"PRAGMA cache_size = -{max(self._options.memory_bytes_max // 1024, 1024)}")
            if self._options.spill_bytes_max is not None:
                ((size,),) = con.execute("PRAGMA page_size").fetchall()
                most = self._options.spill_bytes_max + self._options.memory_bytes_max
                con.execute(f"PRAGMA max_page_count = {max(most // size, 16)}")
            con.execute("BEGIN")
        except BaseException:
            con.close()
            raise
        return con

    def _look(self) -> int:
        return self._is_stopped

    def _check(self) -> None:
        if self._is_stopped:
            raise Cancelled("the statement was cancelled")


def _passed(rows: Iterator[Row], passes: Passes) -> Iterator[Row]:
    """Those of the answer, with its columns."""
    end = None if passes.count is None else passes.offset + passes.count
    wanted, columns = islice(rows, passes.offset, end), passes.columns
    return wanted if columns is None else (tuple([row[place] for place in columns]) for row in wanted)


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise translate(error) from error


def _make(con: sqlite3.Connection, name: str, shapes: tuple[tuple[str, Shape], ...]) -> None:
    stored = lite.identifier(f"{name} rows")
    columns = ", ".join(f"{lite.identifier(column)} {shape.declared}" for column, shape in shapes)
    con.execute(f"CREATE TABLE {stored} ({columns})")
    read = (
        f"{shape.read.format(lite.identifier(column))} AS {lite.identifier(column)}"
        for column, shape in shapes
    )
    con.execute(f"CREATE VIEW {lite.identifier(name)} AS SELECT {', '.join(read)} FROM {stored}")


def _insert(name: str, width: int) -> str:
    return f"INSERT INTO {lite.identifier(f'{name} rows')} VALUES ({', '.join('?' * width)})"


# ------------------------------------------------------------------ registered tables


def _register(con: sqlite3.Connection, name: str, table: pa.Table) -> None:
    """An Arrow table as a table of its own; its columns have the affinities of their types."""
    shapes = tuple((f.name, Shape(declared(f.type))) for f in table.schema)
    _make(con, name, shapes)
    insert = _insert(name, len(shapes))
    for batch in table.to_batches():
        columns = [
            [_value(f.name, cell) for cell in c.to_pylist()]
            for f, c in zip(table.schema, batch.columns, strict=True)
        ]
        con.executemany(insert, zip(*columns, strict=True))


def declared(type_: pa.DataType) -> str:
    """The type of a registered table's column, by which it has an affinity."""
    if pa.types.is_integer(type_) or pa.types.is_boolean(type_):
        return "INTEGER"
    if pa.types.is_floating(type_):
        return "REAL"
    return "BLOB" if pa.types.is_binary(type_) or pa.types.is_large_binary(type_) else "TEXT"


def _value(column: str, cell: Any) -> Any:
    """A cell as SQLite's value: dates and times as ISO text."""
    if cell is None or isinstance(cell, int | float | str | bytes):
        return cell
    if isinstance(cell, datetime):
        return cell.isoformat(" ")
    if isinstance(cell, date):
        return cell.isoformat()
    raise DataError(
        f'the registered column "{column}" holds {type(cell).__name__}, which is no value of SQLite',
        hint="Register it as numbers, texts or bytes",
    )
