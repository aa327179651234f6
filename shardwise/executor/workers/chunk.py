"""Many small requests to files, read as one: by a worker process, what it refuses in this one.

A scatter over thousands of SQLite files costs a tenth of a millisecond a file in SQLite and more than that in
this process's objects and locks for one request. In a chunk a request costs a row in a list.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import pyarrow as pa

from shardwise.executor.backends.base import Columns
from shardwise.executor.backends.sqlite.connection import bound
from shardwise.executor.conform import Reads
from shardwise.executor.limits import WORKERS
from shardwise.executor.reading import Reader, Reading
from shardwise.executor.workers.offload import Answered, Job, Reply, Task
from shardwise.executor.workers.processes import WorkerLost, WorkerProcess, WorkerProcesses
from shardwise.plan.run import Batch, Request

CHUNK_MIN, CHUNK_MAX = 16, 128


class Sized(NamedTuple):
    """A request's part of a batch."""

    num_rows: int
    nbytes: int


@dataclass(frozen=True, slots=True)
class Chunk:
    """Requests that are read together; `at_once` chunks may be out at a time."""

    requests: tuple[Request, ...]
    at_once: int
    source: ClassVar[str] = WORKERS


def chunks(
    requests: Iterator[Request], count: int, processes: int, is_light: Callable[[Request], bool]
) -> Iterator[Request | Chunk]:
    """About `count` requests, the light ones in chunks: enough to keep all processes busy to the end."""
    size = max(CHUNK_MIN, min(CHUNK_MAX, count // (4 * processes)))
    light: list[Request] = []
    for request in requests:
        if not is_light(request):
            yield request
            continue
        light.append(request)
        if len(light) == size:
            yield Chunk(tuple(light), processes)
            light = []
    if light:
        yield Chunk(tuple(light), processes)


class ChunkReading:
    """Requests that are being read; as `Reading`, one thread at a time, but anyone may interrupt it."""

    def __init__(
        self,
        reader: Reader,
        processes: WorkerProcesses,
        chunk: Chunk,
        schema: pa.Schema,
        columns: Columns,
    ) -> None:
        self.has_rows = False
        self._reader = reader
        self._processes = processes
        self._schema = schema
        self._columns = columns
        self._lock = threading.Lock()
        self._left = deque(chunk.requests)
        self._refused: deque[Request] = deque()
        self._worker: WorkerProcess | None = None
        self._reading: Reading | None = None
        self._is_abandoned = False

    def next(self) -> Batch | None:
        """The next batch, of the stream's schema; None at the end. Raises ours, naming the shard."""
        while not self._is_abandoned:
            batch: Batch | None = self._of_one() if self._reading or self._refused else self._of_many()
            if batch is not None:
                self.has_rows = True
                return batch
            if not (self._reading or self._refused or self._left):
                return None
        return None

    def interrupt(self) -> None:
        """What runs, in either process, is to end at once."""
        with self._lock:
            self._is_abandoned = True
            worker, reading = self._worker, self._reading
            if worker is not None:
                worker.cancel()
        if reading is not None:
            reading.interrupt()

    def park(self) -> None:
        """The thread does other work; the requests stay."""
        self._reader.limits.park(WORKERS)

    def resume(self) -> None:
        self._reader.limits.resume(WORKERS)

    def close(self, *, is_parked: bool = False) -> None:
        """Stops it if it runs, and gives back what it holds; called by the thread that has it."""
        try:
            reading, self._reading = self._reading, None
            if reading is not None:
                reading.end()
        finally:
            self._reader.limits.give_back(WORKERS, is_parked=is_parked)

    # -- in a worker process ------------------------------------------------------------------

    def _of_many(self) -> pa.RecordBatch | None:
        """What a worker makes of the requests that are left; it may leave some, or refuse some."""
        worker = self._processes.take()
        if worker is None:
            self._refused.append(self._left.popleft())
            return None
        asked = tuple(self._left)
        job = self._job(asked)
        try:
            with self._lock:  # so that who interrupts finds a job to cancel, or none is begun
                if not self._is_abandoned:
                    worker.ask(job)
                    self._worker = worker
            if self._worker is None:
                self._processes.give_back(worker)
                return None
            reply: Reply = worker.answer()
        except WorkerLost:
            with self._lock:
                self._worker = None
            self._processes.discard(worker)
            self._refused.append(self._left.popleft())
            return None
        with self._lock:
            self._worker = None
        self._processes.give_back(worker)
        return self._taken(asked, reply)

    def _taken(self, asked: Sequence[Request], reply: Reply) -> pa.RecordBatch | None:
        done = {answered.task for answered in reply.answered}.union(reply.refused)
        self._refused.extend(asked[index] for index in reply.refused)
        self._left = deque(request for index, request in enumerate(asked) if index not in done)
        batch = reply.batch
        share = batch.nbytes / batch.num_rows if batch is not None and batch.num_rows else 0.0
        for answered in reply.answered:
            self._count(asked[answered.task], answered, share)
        return batch if batch is None else pa.RecordBatch.from_arrays(batch.columns, schema=self._schema)

    def _count(self, request: Request, answered: Answered, bytes_per_row: float) -> None:
        size = Sized(answered.rows, int(answered.rows * bytes_per_row))
        self._reader.feed(request, size, answered.seconds)
        self._reader.finish(request, 0.0)

    def _job(self, requests: Sequence[Request]) -> Job:
        reader = self._reader
        tasks, types = [], {}
        for request in requests:
            # Light tuples and texts: a worker knows no plan.
            tables = tuple(
                Reads(each.table, tuple((c.name, c.type, c.stored and str(c.stored)) for c in each.columns))
                for each in request.expects
            )
            for table in tables:
                for _, declared, _ in table.columns:
                    if declared not in types:
                        types[declared] = reader.normal_type(declared)
            location = reader.location(request)
            tasks.append(Task(location, request.sql, bound(request.params), tables, request.shard))
        return Job(tasks=tuple(tasks), columns=self._columns, types=types, time_zone=reader.time_zone)

    # -- in this process ----------------------------------------------------------------------

    def _of_one(self) -> Batch | None:
        """The next batch of a request that no worker has answered."""
        if self._reading is None:
            reading = Reading(self._reader, self._refused.popleft(), self._schema, self._columns)
            with self._lock:
                self._reading = reading
                if self._is_abandoned:
                    reading.interrupt()
        assert self._reading is not None
        batch = self._reading.next()
        if batch is None:
            self._reading.end()
            self._reading = None
        return batch
