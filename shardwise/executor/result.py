"""A statement's rows as they come: as the engine's or the driver's Python values or as Arrow, once."""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol, Self

import pyarrow as pa

from shardwise.errors import Error, InterfaceError, InternalError
from shardwise.executor import duck
from shardwise.executor.direct import Direct
from shardwise.executor.guard import Guard
from shardwise.executor.merge import DuckDBMerging, Merging
from shardwise.executor.reading import Reader
from shardwise.executor.translate import translate
from shardwise.plan.run import Plan
from shardwise.plan.statistics import FirstStats, Statistics


class Parts(Protocol):
    """What a result stops, and asks for a merge where a shard's Arrow will not do."""

    @property
    def reader(self) -> Reader: ...
    def merged(self, columns: duck.Columns | None) -> Merging: ...
    def begin(self) -> None: ...
    def close(self) -> None: ...


class Result:
    """Rows of `columns` (name, DuckDB's type). One thread fetches; `cancel` and `stats` are for any.

    `plan` is the plan that ran, what depends on earlier subqueries filled in. The first error is the
    statement's: all fetches raise it. A result that is not read to its end must be closed. `owner` is kept
    alive with it.
    """

    def __init__(
        self,
        plan: Plan,
        merging: Merging,
        parts: Parts,
        guard: Guard,
        *,
        owns_guard: bool,
        first: tuple[FirstStats, ...],
        started: float,
    ) -> None:
        self.plan = plan
        self._guard = guard
        self._merging = merging
        self._parts = parts
        self._first = first
        self._started = started
        self._ended: float | None = None
        self._owns_guard = owns_guard
        self._merge_seconds = 0.0
        self._rows_out = 0
        self._is_arrow = False
        self._is_done = False
        self._closing = threading.Lock()
        self._is_closed = False
        # Weak, so that a result that nobody has any more is closed at once, not by the garbage collector.
        this = weakref.ref(self)
        self._forget = guard.on_stop(lambda: _interrupt(this()))
        self.owner: object = None
        self._when_closed: Callable[[], None] | None = None

    @property
    def columns(self) -> duck.Columns:
        """Names and DuckDB's types."""
        return self._merging.columns

    @property
    def stats(self) -> Statistics:
        """What was moved so far."""
        rows_sent, bytes_sent = self._parts.reader.sent()
        return Statistics(
            fragments=self._parts.reader.measured(),
            filled=self._parts.reader.filled(),
            merge_seconds=0.0 if self._merging.is_direct else self._merge_seconds,
            seconds=(self._ended or time.perf_counter()) - self._started,
            rows_out=self._rows_out,
            first=self._first,
            merged_on=self._merging.merged_on,
            bytes_spilled=self._merging.bytes_spilled if isinstance(self._merging, DuckDBMerging) else None,
            own_rows_sent=rows_sent,
            own_bytes_sent=bytes_sent,
        )

    def measure(self) -> None:
        """Has measured what takes time to measure, for EXPLAIN ANALYZE: what the merge spills to disk."""
        if isinstance(self._merging, DuckDBMerging):
            self._merging.measure()

    def begin(self) -> None:
        """Has the shards begin before rows are asked for, and raises what is wrong with any of them.

        Returns when each has answered that may be asked by now: with a part of its rows, as the queues hold
        it. Rows may then be had in either form.
        """
        self._check_open()
        started = time.perf_counter()
        try:
            self._parts.begin()
            self._merging.begin()
            self._guard.check()
        except BaseException as error:
            ours = self._failed(error)
            if ours is error:
                raise
            raise ours from error
        self._merge_seconds += time.perf_counter() - started

    def fetchmany(self, count: int) -> list[tuple[Any, ...]]:
        """The next rows, fewer than `count` only at the end."""
        if self._guard.error is not None:
            self.close()  # it was stopped since the last ones
        self._guard.check()
        if self._is_arrow:
            raise InterfaceError("the rows were already handed out as Arrow")
        if count <= 0 or self._is_done:
            return []
        self._check_open()
        started = time.perf_counter()
        try:
            rows = self._merging.fetchmany(count)
            self._guard.check()
        except BaseException as error:
            ours = self._failed(error)
            if ours is error:
                raise
            raise ours from error
        self._merge_seconds += time.perf_counter() - started
        self._rows_out += len(rows)
        if len(rows) < count:
            self._end()
        return rows

    def fetchall(self) -> list[tuple[Any, ...]]:
        """All rows that are left."""
        rows: list[tuple[Any, ...]] = []
        while more := self.fetchmany(65_536):
            rows += more
        return rows

    @property
    def is_typed(self) -> bool:
        """Whether a column's values are of one type, known before them: not so in the sqlite dialect."""
        return self._merging.is_typed

    def drain(self) -> None:
        """Has all rows made, and drops them."""
        if self.is_typed:
            for _ in self.arrow_reader():
                pass
        else:
            while self.fetchmany(65_536):
                pass

    def arrow_reader(self, batch_rows: int = 65_536) -> pa.RecordBatchReader:
        """All rows as batches of about `batch_rows` rows, of the types that DuckDB itself gives."""
        self._check_open()
        if self._is_arrow or self._rows_out or self._is_done:
            raise InterfaceError("rows were already handed out", hint="Execute the statement again")
        self._is_arrow = True
        started = time.perf_counter()
        try:
            if isinstance(self._merging, Direct) and not self._merging.is_plain:
                direct = self._merging
                self._merging = self._parts.merged(direct.columns)
                direct.close()
            reader = self._merging.reader(batch_rows)
        except BaseException as error:
            ours = self._failed(error)
            if ours is error:
                raise
            raise ours from error
        self._merge_seconds += time.perf_counter() - started
        names = [name for name, _ in self.columns]
        schema = pa.schema([f.with_name(n) for f, n in zip(reader.schema, names, strict=True)])
        return pa.RecordBatchReader.from_batches(schema, self._batches(reader, schema))

    def store(self, table: str, names: Sequence[str], *, with_rows: bool = True) -> int:
        """Makes a table of all rows in the engine that merges them, types kept; gives their number."""
        self._check_open()
        if self._is_arrow or self._rows_out or self._is_done:
            raise InterfaceError("rows were already handed out", hint="Execute the statement again")
        started = time.perf_counter()
        try:
            if isinstance(self._merging, Direct):
                direct = self._merging
                self._merging = self._parts.merged(direct.columns)
                direct.close()
            if not isinstance(self._merging, DuckDBMerging):
                raise InternalError(f"a {type(self._merging).__name__} stores no tables")
            if with_rows:
                self._parts.begin()
            count = self._merging.store(table, names, with_rows=with_rows)
            self._guard.check()
        except BaseException as error:
            ours = self._failed(error)
            if ours is error:
                raise
            raise ours from error
        self._merge_seconds += time.perf_counter() - started
        self._rows_out = count
        self._end()
        return count

    def _batches(self, reader: pa.RecordBatchReader, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        is_named = reader.schema.names == schema.names
        while True:
            started = time.perf_counter()
            try:
                self._check_open()
                batch = next(reader, None)
                self._guard.check()
            except BaseException as error:
                del reader
                ours = self._failed(error)
                if ours is error:
                    raise
                raise ours from error
            self._merge_seconds += time.perf_counter() - started
            if batch is None:
                del reader
                self._end()
                return
            self._rows_out += batch.num_rows
            yield batch if is_named else pa.RecordBatch.from_arrays(batch.columns, schema=schema)

    def cancel(self) -> None:
        """Stops what runs, from any thread; whoever fetches gets Cancelled."""
        self._guard.cancel()

    def close(self) -> None:
        """Stops the shards, then the merge, and gives everything back. A second call does nothing."""
        with self._closing:
            was_closed, self._is_closed = self._is_closed, True
        if was_closed:
            return
        self._forget()
        try:
            if not self._is_done:
                self._merging.interrupt()
            self._parts.close()
            self._merging.close()
        finally:
            if self._when_closed is not None:
                self._when_closed()
        self._ended = self._ended or time.perf_counter()
        if self._owns_guard:
            self._guard.done()

    def when_closed(self, what: Callable[[], None]) -> None:
        """Has `what` be called once all is given back; at once, if it is."""
        with self._closing:
            if not self._is_closed:
                self._when_closed = what
                return
        what()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if not getattr(self, "_is_closed", True):
            self.close()

    def _end(self) -> None:
        self._is_done = True
        if isinstance(self._merging, DuckDBMerging):
            self._merging.count_spilled()
        self._ended = time.perf_counter()
        self.close()

    def interrupt(self) -> None:
        """Stops what runs; whoever says so has told the guard why."""
        self._merging.interrupt()

    def _check_open(self) -> None:
        self._guard.check()
        if self._is_closed:
            raise InterfaceError("the result is closed")

    def _failed(self, error: BaseException) -> BaseException:
        """What to raise: what stopped the statement first, else ours for the engine's error."""
        ours = error if isinstance(error, Error) or not isinstance(error, Exception) else translate(error)
        is_ctrl_c = isinstance(error, RuntimeError) and str(error) == "Query interrupted"
        if is_ctrl_c and self._guard.error is None:
            ours = KeyboardInterrupt()  # DuckDB saw it before Python did
        self._guard.stop(ours)
        self.close()
        first = self._guard.error or ours
        if isinstance(first, Exception) and not isinstance(first, Error):
            return InternalError(f"{type(first).__name__}: {first}")
        return first


def _interrupt(result: Result | None) -> None:
    if result is not None:
        result.interrupt()
