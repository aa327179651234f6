"""One request to one shard, read as Arrow: opened when its turn comes, checked, counted, tried again."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, Protocol

import pyarrow as pa

from shardwise.errors import Error, InternalError, OperationalError, ShardUnavailable
from shardwise.executor.backends.base import Columns, Location, SourceConnection
from shardwise.executor.cells import MisfitError
from shardwise.executor.conform import Conform
from shardwise.executor.guard import Guard
from shardwise.executor.limits import Limits
from shardwise.executor.pools import Lease, SourcePool
from shardwise.executor.served.form import TextForm
from shardwise.executor.sqlite import rows
from shardwise.executor.workers.bulk import Batches, Growing, growing
from shardwise.executor.workers.processes import WorkerProcesses
from shardwise.plan.gaps import Gaps
from shardwise.plan.run import Batch, Request, Run
from shardwise.plan.statistics import ShardStats

BATCH_ROWS = 16_384
LIGHT = frozenset(("sqlite",))
_TRIES = 2
_RETRY_AFTER_S = 0.1


class Empty(NamedTuple):
    """A connection to the catalog's tables, empty, and the request's statement in the query's own dialect."""

    connection: SourceConnection
    sql: str
    params: Mapping[str, Any]


class Reader:
    """Makes the readings of one run, and reports to it. Threads may call everything."""

    def __init__(
        self,
        run: Run,
        guard: Guard,
        pool: SourcePool,
        limits: Limits,
        *,
        processes: WorkerProcesses,
        normal_type: Callable[[str], str | None],
        empty: Callable[[Request], Empty] | None = None,
        time_zone: str = "UTC",
    ) -> None:
        self.guard = guard
        self.processes = processes
        self.normal_type = normal_type
        self._empty = empty
        self.pool = pool
        self.limits = limits
        self.time_zone = time_zone
        self._statistics: dict[str, dict[str, ShardStats]] = {}
        self._filled: dict[str, dict[str, Gaps]] = {}
        self._locations: dict[str, Location] = {}
        self._run = run
        self._lock = threading.Lock()

    def requests(self, fragment: str) -> Iterator[Request]:
        """The fragment's requests, asked of the run one by one."""
        ready = self._run.ready(fragment)
        while True:
            with self._lock:
                request = next(ready, None)
            if request is None:
                return
            yield request

    def count(self, fragment: str) -> int:
        """How many requests the fragment has in all."""
        return next(len(f.route.shards) for f in self._run.plan.fragments if f.name == fragment)

    def is_light(self, request: Request) -> bool:
        """Whether a worker process can do it: its source is a file that is opened and read in an instant."""
        location = self.pool.location(request.source)
        is_light = location.scheme in LIGHT
        if is_light:
            self._locations[request.source] = location
        return is_light

    def location(self, request: Request) -> Location:
        """Where a light request's source is; found once, in `is_light`, and asked for once in the end."""
        return self._locations.pop(request.source, None) or self.pool.location(request.source)

    def empty(self, request: Request) -> Empty | None:
        """What answers for a member that is missing; None where its source must be there."""
        return self._empty(request) if request.may_be_missing and self._empty is not None else None

    def text(self, request: Request, gaps: Gaps) -> str:
        """The request's statement, what its tables lack filled; EXPLAIN ANALYZE tells of it."""
        if not gaps:
            return request.sql
        if request.filled is None:
            raise InternalError("a request whose tables may have gaps has no text for them")
        with self._lock:
            self._filled.setdefault(request.fragment, {})[request.shard] = gaps
        return request.filled(gaps)

    def feed(self, request: Request, batch: Batch, seconds: float, *, is_last: bool = False) -> None:
        """Rows that arrived, `seconds` after whatever came before; raises over a budget.

        `is_last`: the request is finished with them.
        """
        rows, size = batch.num_rows, batch.nbytes
        with self._lock:
            self._run.feed(request.id, batch)
            if is_last:
                self._run.finish(request.id)
            self._measure(request, rows, size, seconds)
        self.guard.count(request.fragment, rows, size)

    def finish(self, request: Request, seconds: float) -> None:
        with self._lock:
            self._run.finish(request.id)
            self._measure(request, 0, 0, seconds)

    def fail(self, request: Request, error: BaseException) -> None:
        with self._lock:
            self._run.fail(request.id, error)

    def sent(self) -> tuple[int, int]:
        """Rows, and bytes, of what ran first that were sent to shards."""
        with self._lock:
            return self._run.rows_sent, self._run.bytes_sent

    def measured(self) -> dict[str, dict[str, ShardStats]]:
        """What was moved so far, by fragment and shard."""
        with self._lock:
            return {fragment: dict(shards) for fragment, shards in self._statistics.items()}

    def filled(self) -> dict[str, dict[str, Gaps]]:
        """What was filled so far, by fragment and shard."""
        with self._lock:
            return {fragment: dict(shards) for fragment, shards in self._filled.items()}

    def _measure(self, request: Request, rows: int, size: int, seconds: float) -> None:
        shards = self._statistics.setdefault(request.fragment, {})
        before = shards.get(request.shard)
        if before is not None:
            rows, size, seconds = before.rows + rows, before.bytes + size, before.seconds + seconds
        shards[request.shard] = ShardStats(rows, size, seconds)

    def pause(self) -> None:
        """Before another try: up to a tenth of a second, or until the statement is stopped."""
        stopped = threading.Event()
        forget = self.guard.on_stop(stopped.set)
        stopped.wait(random.uniform(0, _RETRY_AFTER_S))  # noqa: S311  jitter
        forget()


class Reading:
    """A request that is being read; one thread at a time, but anyone may interrupt it."""

    def __init__(
        self, reader: Reader, request: Request, schema: pa.Schema | None, columns: Columns | TextForm
    ) -> None:
        self.request = request
        self._reader = reader
        self._schema = schema
        self._columns = columns
        self._lease: Lease | None = None
        self._connection: SourceConnection | None = None
        self._batches: Iterator[Any] | None = None
        self._growing: Growing | None = None
        self._has_rows = False
        self._last = time.perf_counter()
        self._tries = 1
        self._is_over = self._is_abandoned = False

    def next(self) -> Batch | None:
        """The next batch, of the stream's schema; None at the end. Raises ours, naming the shard."""
        while True:
            try:
                return self._next()
            except Exception as error:  # noqa: BLE001  each driver has its own
                if self._is_abandoned:
                    return None
                ours = located(error, self._lease, self.request)
                if not self._may_retry(ours):
                    self._is_over = True
                    self._reader.fail(self.request, ours)
                    raise ours from (error if ours is not error else error.__cause__)
                self._tries += 1
                self._release()
                self._reader.pause()

    def _may_retry(self, error: Error) -> bool:
        """Only while nothing of it was handed on."""
        if self._has_rows or self._tries >= _TRIES or self._reader.guard.error is not None:
            return False
        return self._reader.pool.is_transient(self.request.source, error)

    def _next(self) -> Batch | None:
        if self._batches is None:
            connection, sql = self._connect()
            self._reader.guard.check()
            if self._is_abandoned:
                return None
            self._batches = self._opened(connection, sql)
        batch: Batch | None = next(self._batches, None)
        if batch is None:
            self._finish()
            return None
        self._has_rows = self._has_rows or batch.num_rows > 0
        self._reader.feed(self.request, batch, self._elapsed())
        return batch

    def _connect(self) -> tuple[SourceConnection, str]:
        """Opens what is to be read, and gives the text for it."""
        try:
            lease = self._lease = self._lease or self._reader.pool.lease(
                self.request.source, self._reader.guard
            )
        except ShardUnavailable as error:
            empty = self._reader.empty(self.request) if error.is_missing else None
            if empty is None:
                raise
            self._connection = empty.connection
            self.request = self.request._replace(params=empty.params)
            return empty.connection, empty.sql
        connection = self._connection = lease.connect(self._reader.time_zone)
        if isinstance(self._columns, TextForm):
            gaps = self._columns.alike.check(lease, connection, self.request)
        elif self._schema is None:
            gaps = lease.strict.check(connection, self.request)
        else:
            gaps = lease.tables.check(connection, self.request, self._reader.normal_type)
        return connection, self._reader.text(self.request, gaps)

    def _opened(self, connection: SourceConnection, sql: str) -> Iterator[Any]:
        params = self.request.params
        if isinstance(self._columns, TextForm):
            return self._columns.batches(connection, sql, params, BATCH_ROWS, self.request)
        if self._schema is None:
            return rows.batches(connection, sql, params, BATCH_ROWS)
        found: Batches = connection.arrow(sql, params, BATCH_ROWS, self._columns)
        self._growing = growing(found, connection, sql, params, self._columns, self._reader.processes)
        conform = Conform(
            found.schema, self._schema, shard=self.request.shard, fragment=self.request.fragment
        )
        return map(conform, self._growing or found)

    @property
    def has_rows(self) -> bool:
        """Whether the shard has answered with rows."""
        return self._has_rows

    def park(self) -> None:
        """The thread does other work; the request stays."""
        self._reader.limits.park(self.request.source)

    def resume(self) -> None:
        self._reader.limits.resume(self.request.source)

    def interrupt(self) -> None:
        self._is_abandoned = True
        connection = self._connection
        if self._growing is not None:
            self._growing.interrupt()
        if connection is not None:
            connection.interrupt()

    def close(self, *, is_parked: bool = False) -> None:
        """Ends it, and lets others ask the source; called by the thread that has it."""
        try:
            self.end()
        finally:
            self._reader.limits.give_back(self.request.source, is_parked=is_parked)

    def end(self) -> None:
        """Stops it if it runs, and gives back what it holds."""
        if not self._is_over:
            self._finish()
        self._release()

    def _finish(self) -> None:
        """Its rows are all here, or no more are wanted."""
        self._is_over = True
        self._reader.finish(self.request, self._elapsed())

    def _elapsed(self) -> float:
        """The seconds since it was asked last."""
        last, self._last = self._last, time.perf_counter()
        return self._last - last

    def _release(self) -> None:
        connection, lease, grown = self._connection, self._lease, self._growing
        self._batches = self._connection = self._lease = self._growing = None
        try:
            if grown is not None:
                grown.close()
            if connection is not None:
                connection.close()
        finally:
            if lease is not None:
                lease.release()


class _Located(Protocol):
    """What errors are of: a request, and the source that it has, if it has one by now."""

    lease: Lease | None
    request: Request


class Located:
    """Errors inside are ours, and name the shard."""

    __slots__ = ("_work",)

    def __init__(self, work: _Located) -> None:
        self._work = work

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, Exception):
            cause = error.__cause__ if isinstance(error, Error) else error
            raise located(error, self._work.lease, self._work.request) from cause


def located(error: BaseException, lease: Lease | None, request: Request) -> Error:
    """Ours for a source's error, with the shard's name in it."""
    ours = lease.translate(error) if lease is not None else error
    if not isinstance(ours, Error):
        ours = OperationalError(str(ours))
    if isinstance(ours, MisfitError):
        if (column := request.plain().get(ours.column)) is not None:
            ours.locate(*column)
        ours = ours.public()
    if ours.shard is None:
        ours.shard = request.shard
        where = f'shard "{request.shard}"'
        if request.shard == request.source:
            ours.message = ours.message.replace(f'source "{request.source}"', where)
        if where not in ours.message:
            ours.message = f"{where}: {ours.message}"
    return ours
