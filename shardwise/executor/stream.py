"""A fragment as one stream: a bounded queue of Arrow batches, fed by all its shards, read by the merge.

A `Stream` is registered with the merge engine. Nothing is asked of a shard before the engine opens it; each
opening is a `Feed` of its own, for which the fragment is requested anew. A `Fetcher` has a few threads read
from the shards for all feeds of a statement.

No thread waits for room in a queue: a request whose feed is full is parked, with its connection, and the
thread does other work. A feed that the merge waits for goes first. So any number of feeds may be drained one
after another by a single thread.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

import pyarrow as pa

from shardwise.errors import Cancelled, Error, InterfaceError, InternalError
from shardwise.executor.backends.base import Columns
from shardwise.executor.guard import Guard
from shardwise.executor.limits import Limits
from shardwise.executor.reading import Reader, Reading
from shardwise.executor.served.form import TextForm
from shardwise.executor.served.sort_columns import SortedTexts
from shardwise.executor.sorted_merge import ArrowForm, Form, merged
from shardwise.executor.sqlite.sorted_rows import RowForm
from shardwise.executor.threads import Workers
from shardwise.executor.workers.chunk import Chunk, ChunkReading, chunks
from shardwise.executor.workers.processes import WorkerProcesses
from shardwise.plan.run import Batch, OrderKey, Request

QUEUE_BATCHES_MAX = 32
QUEUE_BYTES_MAX = 32 << 20
_INTERRUPT_AGAIN_S = 0.05
_MANY = 64
_SIDE_BY_SIDE_MAX = 2

AnyReading = Reading | ChunkReading


@dataclass(eq=False)
class Feed:
    """One opening of a stream. All fields are guarded by the fetcher's lock.

    `is_waiting`: the merge waits for a batch. `is_starting`: a thread makes the next request.
    `is_blocked`: the next request must wait until a limit allows it.
    """

    schema: pa.Schema | None
    columns: Columns | TextForm
    requests: Iterator[Request | Chunk]
    arrived: threading.Condition
    queue: deque[Batch] = field(default_factory=deque)
    bytes: int = 0
    readings: set[AnyReading] = field(default_factory=set)
    parked: deque[AnyReading] = field(default_factory=deque)
    pending: Request | Chunk | None = None
    is_waiting: bool = False
    is_starting: bool = False
    is_blocked: bool = False
    is_exhausted: bool = False
    is_closed: bool = False
    batches_max: int = QUEUE_BATCHES_MAX

    @property
    def is_full(self) -> bool:
        return len(self.queue) >= self.batches_max or self.bytes >= QUEUE_BYTES_MAX

    @property
    def is_done(self) -> bool:
        return self.is_exhausted and not self.readings and not self.queue

    @property
    def is_settled(self) -> bool:
        """Whether each shard that can be asked now has answered: with rows, with none, or not in vain."""
        if self.is_closed or self.is_full:
            return True
        if self.is_starting or not (self.is_exhausted or self.is_blocked):
            return False
        return all(reading.has_rows for reading in self.readings)

    @property
    def has_work(self) -> bool:
        """Whether a thread could do something for it."""
        if self.is_closed or self.is_full:
            return False
        return bool(self.parked) or not (self.is_exhausted or self.is_starting or self.is_blocked)


class Fetcher:
    """Reads the requests of one statement's feeds, with at most `threads_max` threads of `workers`."""

    def __init__(
        self,
        reader: Reader,
        guard: Guard,
        *,
        workers: Workers,
        limits: Limits,
        threads_max: int,
        per_source: int,
        processes: WorkerProcesses,
    ) -> None:
        self._reader = reader
        self._processes = processes
        self._guard = guard
        self._workers = workers
        self._limits = limits
        self._threads_max = threads_max
        self._per_source = per_source
        self._lock = threading.Lock()
        self._ended = threading.Condition(self._lock)
        self._settled = threading.Condition(self._lock)
        self._feeds: list[Feed] = []
        self._threads = 0
        self._is_stopped = False
        self._forget = guard.on_stop(self.stop)

    def fail(self, error: Error) -> None:
        """The statement's error, if it has none yet."""
        self._guard.stop(error)

    # -- for the merge ------------------------------------------------------------------------

    def open(self, fragment: str, schema: pa.Schema | None, columns: Columns | TextForm) -> Feed:
        """A new feed of the fragment; threads begin to fill it."""
        requests = self._reader.requests(fragment) if schema is None else self._requests(fragment)
        feed = Feed(schema, columns, requests, threading.Condition(self._lock))
        with self._for_the_merge():
            self._feeds.append(feed)
            self._kick()
        return feed

    def open_each(self, fragment: str, schema: pa.Schema | None, columns: Columns | TextForm) -> list[Feed]:
        """A feed for each shard of the fragment, with little room: they are read side by side."""
        requests = list(self._reader.requests(fragment))
        feeds = [
            Feed(schema, columns, iter((r,)), threading.Condition(self._lock), batches_max=_SIDE_BY_SIDE_MAX)
            for r in requests
        ]
        with self._for_the_merge():
            self._feeds += feeds
            for _ in feeds:
                self._kick()
        return feeds

    def next(self, feed: Feed) -> Batch | None:
        """The feed's next batch, None at its end. Waits; raises what stopped the statement."""
        with self._for_the_merge():
            while not feed.queue:
                self._guard.check()
                if self._is_stopped:
                    raise Cancelled("the statement was closed")
                if feed.is_done or feed.is_closed:
                    return None
                feed.is_waiting, feed.is_blocked = True, False
                self._kick()
                feed.arrived.wait()
                feed.is_waiting = False
            batch = feed.queue.popleft()
            feed.bytes -= batch.nbytes
            self._kick()
            return batch

    @contextmanager
    def _for_the_merge(self) -> Iterator[None]:
        """Holds the lock. What is raised is the statement's error: through an engine comes its text alone."""
        try:
            with self._lock:
                yield
        except Error as error:
            if not self._is_stopped:
                self._guard.stop(error)
            raise

    def settle(self) -> None:
        """Waits until each shard that can be asked now has answered; raises what stopped the statement."""
        with self._lock:
            while not (self._is_stopped or all(feed.is_settled for feed in self._feeds)):
                self._settled.wait()
        self._guard.check()

    def close_feed(self, feed: Feed) -> None:
        """Nobody reads the feed any more: its requests are stopped."""
        with self._lock:
            if feed.is_closed:
                return
            feed.is_closed = True
            feed.queue.clear()
            parked = self._take_parked(feed)
            running = list(feed.readings)
            self._drop(feed)
            feed.arrived.notify_all()
        for reading in running:
            reading.interrupt()
        _close_parked(parked)

    def stop(self) -> None:
        """Stops the shards; whoever waits for a batch is told. Threads end soon after: see `close`."""
        with self._lock:
            self._is_stopped = True
            running = [reading for feed in self._feeds for reading in feed.readings]
            self._settled.notify_all()
            for feed in self._feeds:
                feed.arrived.notify_all()
        for reading in running:
            reading.interrupt()

    def close(self) -> None:
        """Stops the shards and waits until nothing of this statement runs."""
        self.stop()
        with self._lock:
            parked = [reading for feed in self._feeds for reading in self._take_parked(feed)]
        _close_parked(parked)
        with self._lock:
            while self._threads:
                if not self._ended.wait(_INTERRUPT_AGAIN_S):
                    # An interrupt that comes just before a statement starts is lost.
                    for feed in self._feeds:
                        for reading in feed.readings:
                            reading.interrupt()
            self._feeds.clear()
        self._forget()

    # -- threads ------------------------------------------------------------------------------

    def _kick(self) -> None:
        """As `_has_kicked`; raises InterfaceError once the cluster is closed."""
        if not self._has_kicked():
            raise InterfaceError("the cluster is closed")

    def _has_kicked(self) -> bool:
        """Has one more thread look for work, if there is some and a thread may be had. Holds the lock.

        False once the cluster is closed, when there are no more threads: one that works already goes on with
        what it has, and ends as it would have.
        """
        if self._is_stopped or self._threads >= self._threads_max:
            return True
        if not any(feed.has_work for feed in self._feeds):
            return True
        if not self._workers.resubmit(self._work):
            return False
        self._threads += 1
        return True

    def _work(self) -> None:
        """A thread's life: works while there is some, and never waits for any."""
        while True:
            with self._lock:
                job = None if self._is_stopped else self._take()
                if job is None:
                    self._threads -= 1
                    self._ended.notify_all()
                    return
                self._has_kicked()
            feed, reading = job
            try:
                if reading is None:
                    reading = self._start(feed)
                else:
                    reading.resume()
                if reading is not None:
                    self._read(feed, reading)
            except BaseException as error:  # noqa: BLE001  it is the statement's, whoever reads it raises it
                self._guard.stop(error)
            with self._lock:
                if self._workers.is_crowded and not self._is_stopped and self._workers.resubmit(self._work):
                    return

    def _take(self) -> tuple[Feed, AnyReading | None] | None:
        """A parked request to go on with, or a feed to make the next request of. Holds the lock."""
        for feed in sorted(self._feeds, key=lambda each: not each.is_waiting):
            if feed.has_work:
                if feed.parked:
                    return feed, feed.parked.popleft()
                feed.is_starting = True
                return feed, None
        return None

    def _start(self, feed: Feed) -> AnyReading | None:
        """The feed's next request, if there is one and the limits allow it now."""
        request = feed.pending or next(feed.requests, None)
        with self._lock:
            feed.pending = request
            feed.is_exhausted = request is None
            feed.is_starting = request is not None
            feed.is_blocked = request is not None
            is_starving = feed.is_waiting and not feed.readings
            self._settled.notify_all()
            if feed.is_done:
                feed.arrived.notify_all()
        if request is None:
            return None
        taken = self._limits.take(
            request.source,
            lambda: self._unblock(feed),
            per_source=request.at_once if isinstance(request, Chunk) else self._per_source,
            is_starving=is_starving,
            family=None if isinstance(request, Chunk) else self._reader.pool.family_of(request.source),
        )
        with self._lock:
            feed.is_starting = False
            self._settled.notify_all()
            if not taken:
                if feed.is_waiting and not feed.readings and not is_starving:
                    feed.is_blocked = False
                return None
            feed.is_blocked = False
            feed.pending = None
            reading = self._reading(request, feed)
            feed.readings.add(reading)
            self._has_kicked()
        return reading

    def _requests(self, fragment: str) -> Iterator[Request | Chunk]:
        """One by one; where there are many, those that worker processes may read in chunks."""
        requests = self._reader.requests(fragment)
        count = self._reader.count(fragment)
        if count < _MANY or not self._processes.size:
            return requests
        return chunks(requests, count, self._processes.size, self._reader.is_light)

    def _reading(self, request: Request | Chunk, feed: Feed) -> AnyReading:
        if isinstance(request, Chunk) and feed.schema is not None and not isinstance(feed.columns, TextForm):
            return ChunkReading(self._reader, self._processes, request, feed.schema, feed.columns)
        assert not isinstance(request, Chunk)
        return Reading(self._reader, request, feed.schema, feed.columns)

    def _unblock(self, feed: Feed) -> None:
        """A limit may allow the feed's next request now. Called under anyone's lock: a thread does it."""
        self._workers.resubmit(lambda: self._unblocked(feed))

    def _unblocked(self, feed: Feed) -> None:
        with self._lock:
            feed.is_blocked = False
            self._has_kicked()

    def _read(self, feed: Feed, reading: AnyReading) -> None:
        """Reads until the request's end, or until it must be parked."""
        is_parked = False
        try:
            while not is_parked:
                batch = reading.next()
                with self._lock:
                    if batch is None or feed.is_closed or self._is_stopped:
                        return
                    if batch.num_rows:
                        feed.queue.append(batch)
                        feed.bytes += batch.nbytes
                        feed.arrived.notify()
                        self._settled.notify_all()
                    is_parked = feed.is_full or self._is_wanted_elsewhere(feed)
                    if is_parked:
                        reading.park()
                        feed.parked.append(reading)
        finally:
            if not is_parked:
                reading.close()
                with self._lock:
                    feed.readings.discard(reading)
                    self._settled.notify_all()
                    self._drop(feed)
                    if feed.is_done:
                        feed.arrived.notify_all()

    def _drop(self, feed: Feed) -> None:
        """Forgets a closed feed once nothing of it runs. Holds the lock."""
        if feed.is_closed and not feed.readings and feed in self._feeds:
            self._feeds.remove(feed)

    def _is_wanted_elsewhere(self, feed: Feed) -> bool:
        """Whether this thread should leave its request: others wait for a thread. Holds the lock."""
        if self._workers.is_crowded:
            return True
        if self._threads < self._threads_max:
            return False
        return any(each.is_waiting and each is not feed and each.has_work for each in self._feeds)

    @staticmethod
    def _take_parked(feed: Feed) -> list[AnyReading]:
        parked = list(feed.parked)
        feed.parked.clear()
        feed.readings.difference_update(parked)
        return parked


def _close_parked(readings: list[AnyReading]) -> None:
    for reading in readings:
        reading.close(is_parked=True)


class ArrowStream(Protocol):
    """What a merge engine registers: the Arrow PyCapsule interface."""

    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


class Stream:
    """A fragment as the merge engine sees it: late-bound, and read anew each time it is opened.

    It has a schema where it carries Arrow; else `RowBatch`es, or texts, which `batches` gives. `source` is
    the first that is asked, if any is.
    """

    def __init__(
        self, schema: pa.Schema | None, opened: Callable[[], Iterator[Any]], source: str | None = None
    ) -> None:
        self.schema = schema
        self.source = source
        self._opened = opened
        self._begun: Iterator[Any] | None = None

    def begin(self) -> None:
        """Has the shards asked now, for whoever opens the stream first."""
        self._begun = self._opened()

    def batches(self) -> Iterator[Any]:
        """Its batches, as they come: those of what was begun, else of a new opening."""
        begun, self._begun = self._begun, None
        return begun or self._opened()

    def close(self) -> None:
        """Forgets what was begun and never opened."""
        self._begun = None

    def __arrow_c_schema__(self) -> object:
        assert self.schema is not None
        return self.schema.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        reader = pa.RecordBatchReader.from_batches(self.schema, self.batches())
        return reader.__arrow_c_stream__(requested_schema)


class FeedBatches:
    """A feed's batches; dropping the iterator closes the feed."""

    def __init__(
        self, fetcher: Fetcher, fragment: str, schema: pa.Schema | None, columns: Columns | TextForm
    ) -> None:
        self._fetcher = fetcher
        self._feed = fetcher.open(fragment, schema, columns)

    def __iter__(self) -> Iterator[Batch]:
        return self

    def __next__(self) -> Batch:
        batch = self._fetcher.next(self._feed)
        if batch is None:
            self._fetcher.close_feed(self._feed)
            raise StopIteration
        return batch

    def __del__(self) -> None:
        if hasattr(self, "_feed"):
            self._fetcher.close_feed(self._feed)


class SortedBatches:
    """The batches of a fragment whose shards' rows are in order, merged; dropping the iterator closes all."""

    def __init__(
        self,
        fetcher: Fetcher,
        fragment: str,
        schema: pa.Schema | None,
        columns: Columns | TextForm,
        order: Sequence[OrderKey],
    ) -> None:
        self._fetcher = fetcher
        self._feeds = fetcher.open_each(fragment, schema, columns)
        form: Form[Any]
        if isinstance(columns, TextForm):
            form = SortedTexts(order)
        else:
            form = RowForm(order) if schema is None else ArrowForm(order)
        self._merged = merged([partial(fetcher.next, feed) for feed in self._feeds], form)

    def __iter__(self) -> Iterator[Batch]:
        return self

    def __next__(self) -> Batch:
        try:
            batch: Batch | None = next(self._merged, None)
        except Error:
            raise
        except Exception as error:
            # The engine that reads this would pass on a text alone.
            failure = InternalError(f"sorted streams could not be merged: {type(error).__name__}")
            self._fetcher.fail(failure)
            raise failure from error
        if batch is None:
            self._close()
            raise StopIteration
        return batch

    def _close(self) -> None:
        for feed in self._feeds:
            self._fetcher.close_feed(feed)

    def __del__(self) -> None:
        if hasattr(self, "_feeds"):
            self._close()
