"""What finishes the work over the fragments' streams, and DuckDB, which is one of these.

An engine takes a `plan.Merge` and its streams, and gives rows; the others are in `sqlite/` and `served/`. Of
DuckDB each statement has an instance to itself (memory limit, spill directory): taken from a pool, for making
one takes 10 ms, and locked so that no SQL reads a file, loads an extension or changes a setting.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any, Protocol, runtime_checkable

import duckdb
import pyarrow as pa

from shardwise.executor import duck
from shardwise.executor.stream import Stream
from shardwise.executor.translate import translate
from shardwise.options import Options
from shardwise.plan.run import Merge

_IDLE_MAX = 4


class Merging(Protocol):
    """One statement being merged. Rows come once, as tuples or as Arrow; anyone may interrupt it.

    `is_typed`: a column's values are of one type, known before them. `is_direct`: nothing is merged.
    `merged_on` is the source on which it runs, None where that is this process.
    """

    is_typed: bool
    is_direct: bool
    merged_on: str | None

    @property
    def columns(self) -> duck.Columns:
        """Names and types of the rows."""

    def begin(self) -> None:
        """Does what has to be done whether rows are asked for as tuples or as Arrow."""

    def fetchmany(self, count: int) -> list[tuple[Any, ...]]: ...
    def reader(self, batch_rows: int) -> pa.RecordBatchReader: ...
    def interrupt(self) -> None: ...
    def close(self) -> None: ...


class MergeEngine(Protocol):
    """Where merges run."""

    def start(
        self,
        merge: Merge,
        streams: Mapping[str, tuple[Stream, duck.Columns]],
        locals: Mapping[str, Any],  # noqa: A002
        options: Options,
        wanted: duck.Columns | None,
    ) -> Merging:
        """Prepares a statement; nothing runs before rows are asked for.

        `streams` are by input name, with what the describer says of their columns. With `wanted`, rows are
        cast to those types.
        """

    def close(self) -> None: ...


@runtime_checkable
class Placed(Protocol):
    """A local table that is in an engine of its own: what reads it is merged there."""

    @property
    def engine(self) -> MergeEngine: ...

    @property
    def select(self) -> str:
        """A query of its rows, in its engine."""


class DuckDBMerge:
    """In this process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: dict[duck.Settings, list[Instance]] = {}
        self._is_closed = False

    def start(
        self,
        merge: Merge,
        streams: Mapping[str, tuple[Stream, duck.Columns]],
        locals: Mapping[str, Any],  # noqa: A002
        options: Options,
        wanted: duck.Columns | None,
    ) -> Merging:
        for name in merge.locals:
            if isinstance(locals[name], Placed):  # its rows are not moved, but what joins them
                engine: MergeEngine = locals[name].engine
                return engine.start(merge, streams, locals, options, wanted)
        instance = self._take(settings_of(options))
        return start_in(
            instance.con.cursor(), merge, streams, locals, wanted, done=lambda: self._give_back(instance)
        )

    def close(self) -> None:
        with self._lock:
            self._is_closed = True
            idle = [instance for instances in self._idle.values() for instance in instances]
            self._idle.clear()
        for instance in idle:
            instance.close()

    def _take(self, settings: duck.Settings) -> Instance:
        with self._lock:
            idle = self._idle.get(settings)
            if idle:
                return idle.pop()
        return Instance(settings)

    def _give_back(self, instance: Instance) -> None:
        with self._lock:
            keeps = not self._is_closed and sum(map(len, self._idle.values())) < _IDLE_MAX
            if keeps:
                self._idle.setdefault(instance.settings, []).append(instance)
        if not keeps:
            instance.close()


def start_in(
    con: duckdb.DuckDBPyConnection,
    merge: Merge,
    streams: Mapping[str, tuple[Stream, duck.Columns]],
    locals: Mapping[str, Any],  # noqa: A002
    wanted: duck.Columns | None,
    *,
    done: Callable[[], None],
) -> DuckDBMerging:
    """A merge on a connection of its own, which it closes; `done` is called then."""
    try:
        stores: list[str] = []
        for name, (stream, columns) in streams.items():
            stores += _register(con, name, stream, columns, store=name in merge.stored)
        for name in merge.locals:
            _register_local(con, name, locals[name])
        columns = duck.describe(con, merge.sql, merge.params)
        sql = merge.sql
        if wanted is not None and [t for _, t in columns] != [t for _, t in wanted]:
            sql = duck.cast_to(sql, wanted)
    except BaseException as error:
        con.close()
        done()
        if isinstance(error, duckdb.Error):
            raise translate(error) from error
        raise
    return DuckDBMerging(con, (*stores, sql), merge.params, wanted or columns, done)


def _register_local(con: duckdb.DuckDBPyConnection, name: str, data: Any) -> None:
    if isinstance(data, Placed):
        con.execute(f"CREATE TEMP VIEW {duck.identifier(name)} AS {data.select}")
    else:
        con.register(name, data)


def settings_of(options: Options) -> duck.Settings:
    """What an instance for statements with these options may use."""
    return duck.Settings(
        time_zone=options.time_zone,
        threads=options.threads,
        memory_bytes_max=options.memory_bytes_max,
        spill_directory=options.spill_directory,
        spill_bytes_max=options.spill_bytes_max,
    )


# DuckDB takes a stream for one row, and would join two by comparing every pair.
_STREAMS_ARE_LARGE = (
    "SET GLOBAL asof_loop_join_threshold = 0",
    "SET GLOBAL nested_loop_join_threshold = 0",
    "SET GLOBAL merge_join_threshold = 0",
)


class Instance:
    """A locked in-memory DuckDB, and its private spill directory, which goes with it."""

    def __init__(self, settings: duck.Settings) -> None:
        self.settings = settings
        parent = settings.spill_directory
        if parent is not None:
            Path(parent).mkdir(parents=True, exist_ok=True)
        self._directory = mkdtemp(prefix="shardwise-merge-", dir=parent)
        try:
            settings = replace(settings, spill_directory=self._directory)
            self.con = duck.connect(":memory:", settings, setup=_STREAMS_ARE_LARGE)
        except BaseException:
            rmtree(self._directory, ignore_errors=True)
            raise

    def close(self) -> None:
        self.con.close()
        rmtree(self._directory, ignore_errors=True)


def _register(
    con: duckdb.DuckDBPyConnection, name: str, stream: Stream, columns: duck.Columns, *, store: bool
) -> tuple[str, ...]:
    """A stream under its name; ENUM columns, which Arrow brings as text, are cast back.

    A stream to be stored is a view until then; the statements that store it are returned.
    """
    if not store and not any("ENUM(" in type_ for _, type_ in columns):
        con.register(name, stream)
        return ()
    raw = f"{name} as it comes"
    con.register(raw, stream)
    casts = (
        f"CAST({duck.identifier(c)} AS {t}) AS {duck.identifier(c)}" if "ENUM(" in t else duck.identifier(c)
        for c, t in columns
    )
    own = duck.identifier(name)
    select = f"SELECT {', '.join(casts)} FROM {duck.identifier(raw)}"
    con.execute(f"CREATE TEMP VIEW {own} AS {select}")
    return (f"DROP VIEW {own}", f"CREATE TEMP TABLE {own} AS {select}") if store else ()


class DuckDBMerging:
    """A statement on a connection of its own."""

    is_typed = True
    is_direct = False
    merged_on: str | None = None

    def __init__(
        self,
        con: duckdb.DuckDBPyConnection,
        statements: tuple[str, ...],
        params: Mapping[str, Any],
        columns: duck.Columns,
        done: Callable[[], None],
    ) -> None:
        self.columns = columns
        self._con = con
        *self._stores, self._sql = statements
        self._params = params
        self._is_begun = self._is_running = self._is_measured = False
        self._done: Callable[[], None] | None = done
        self.bytes_spilled: int | None = None

    def begin(self) -> None:
        """Stores the streams that are joined: only then the engine knows how large they are."""
        if not self._is_begun:
            self._is_begun = True
            for statement in self._stores:
                self._con.execute(statement)
                self.count_spilled()

    def measure(self) -> None:
        """Has what is spilled counted; `count_spilled` is for the end of the rows. DuckDB 1 does not tell."""
        if not duck.IS_V1:
            self._is_measured = True
            duck.measure(self._con)

    def count_spilled(self) -> None:
        if self._is_measured:
            self.bytes_spilled = (self.bytes_spilled or 0) + duck.bytes_spilled(self._con)

    def fetchmany(self, count: int) -> list[tuple[Any, ...]]:
        if not self._is_running:
            self.begin()
            self._is_running = True
            duck.execute(self._con, self._sql, self._params)
        return self._con.fetchmany(count)

    def reader(self, batch_rows: int) -> pa.RecordBatchReader:
        self.begin()
        return duck.arrow_reader(self._con, self._sql, self._params, batch_rows)

    def store(self, table: str, names: Sequence[str], *, with_rows: bool) -> int:
        """Makes a table of the rows, in this engine; gives their number."""
        columns = ", ".join(map(duck.identifier, names))
        data = "" if with_rows else " WITH NO DATA"
        if with_rows:
            self.begin()
        made = duck.execute(
            self._con, f"CREATE TABLE {table} ({columns}) AS ({self._sql}\n){data}", self._params
        ).fetchone()
        return int(made[0]) if made else 0

    def interrupt(self) -> None:
        if self._done is not None:
            with contextlib.suppress(duckdb.ConnectionException):  # closed meanwhile
                self._con.interrupt()

    def close(self) -> None:
        done, self._done = self._done, None
        if done is not None:
            with contextlib.suppress(duckdb.Error):
                self._con.close()
            done()
