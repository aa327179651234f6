"""Large results of a SQLite file, read by a worker process that has a faster reader.

Python's `sqlite3` makes a Python object of every value, which is most of the work of a large result. The ADBC
driver for SQLite writes Arrow at once, three times as fast, but brings a SQLite library of its own, which may
not touch a file in this process (see `lite.py`), and cannot be interrupted: both are no matter in a process
of its own. It is used if it is installed (`shardwise[bulk]`).

A result begins in this process. Once it has proved large, and before anything of it was handed on, it is
begun anew in a worker; if that has objections (another schema by now, values of other kinds than usual), it
goes on here. So small results cost nothing more, and errors are those of the ordinary way.
"""

from __future__ import annotations

import re
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from typing import Any, Protocol, runtime_checkable

import pyarrow as pa

from shardwise.errors import OperationalError, ShardUnavailable
from shardwise.executor.backends.base import Columns, SourceConnection
from shardwise.executor.cells import Misfit, MisfitError
from shardwise.executor.workers.bulk_job import BulkJob, BulkReply, EndBulk, NextBatch
from shardwise.executor.workers.processes import WorkerLost, WorkerProcess, WorkerProcesses

LARGE_ROWS = 32_768
_START_WITHIN_S = 1.0


class Batches(Protocol):
    """What is asked of a reader."""

    @property
    def schema(self) -> pa.Schema: ...
    def read_next_batch(self) -> pa.RecordBatch: ...
    def __iter__(self) -> Iterator[pa.RecordBatch]: ...


IS_INSTALLED = find_spec("adbc_driver_sqlite") is not None


@runtime_checkable
class OffersBulk(Protocol):
    """A source's connection that can have a worker process read a large result."""

    def bulk_job(self, sql: str, params: Mapping[str, Any], wanted: Columns) -> BulkJob | None:
        """What a worker process needs to read the statement's rows; None if it should not."""


def growing(
    here: Batches,
    connection: SourceConnection,
    sql: str,
    params: Mapping[str, Any],
    columns: Columns,
    processes: WorkerProcesses,
) -> Growing | None:
    """The statement's reader as one that goes on in a worker process; None if none could do it."""
    if not IS_INSTALLED or not processes.size or _ORDERED.search(sql):
        return None
    job = connection.bulk_job(sql, params, columns) if isinstance(connection, OffersBulk) else None
    return Growing(here, job, processes) if job is not None else None


_ORDERED = re.compile(r"\bORDER\s+BY\b", re.IGNORECASE)
"""The worker asks for the statement's rows as one arm of a UNION ALL, which keeps no order."""


class Growing:
    """A reader that goes on in a worker process once its result is large.

    One thread reads and closes it; any may interrupt it.
    """

    def __init__(self, here: Batches, job: BulkJob, processes: WorkerProcesses) -> None:
        self.schema = here.schema
        self._here: Batches | None = here
        self._job = job
        self._processes = processes
        self._held: deque[pa.RecordBatch] = deque()
        self._is_begun = self._is_stopped = False
        self._lock = threading.Lock()
        self._worker: WorkerProcess | None = None

    def read_next_batch(self) -> pa.RecordBatch:
        """The next batch; StopIteration at the end."""
        if not self._is_begun:
            self._is_begun = True
            self._begin()
        if self._held:
            return self._held.popleft()
        if self._here is not None:
            return self._here.read_next_batch()
        return self._of_worker(NextBatch())

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        while True:
            try:
                yield self.read_next_batch()
            except StopIteration:
                return

    def interrupt(self) -> None:
        """The worker's reader cannot be interrupted, so the process is ended."""
        with self._lock:
            self._is_stopped = True
            if self._worker is not None:
                self._worker.kill()

    def close(self) -> None:
        """Gives the worker back; called by the thread that reads."""
        worker = self._take_back()
        if worker is None:
            return
        try:
            worker.call(EndBulk())
        except WorkerLost:
            self._processes.discard(worker)
        else:
            self._processes.give_back(worker)

    def _begin(self) -> None:
        """Reads until the result has ended, or is large."""
        assert self._here is not None
        rows = 0
        while rows < LARGE_ROWS:
            try:
                batch = self._here.read_next_batch()
            except StopIteration:
                return
            self._held.append(batch)
            rows += batch.num_rows
        worker = self._ready_worker()
        if worker is None:
            return
        with self._lock:
            self._worker = None if self._is_stopped else worker
        if self._worker is None:  # what is read here was interrupted too, and says so
            self._processes.give_back(worker)
            return
        here, self._here = self._here, None
        held, self._held = self._held, deque()
        try:
            self._held.append(self._of_worker(self._job))
        except (_Refused, StopIteration):
            self.close()
            self._here, self._held = here, held

    def _ready_worker(self) -> WorkerProcess | None:
        """One that has started; a process takes some tenths of a second to start."""
        give_up = time.monotonic() + _START_WITHIN_S
        while True:
            worker = self._processes.take()
            if worker is not None or not self._processes.is_starting or self._is_stopped:
                return worker
            if time.monotonic() > give_up:
                return None
            time.sleep(0.005)

    def _of_worker(self, job: object) -> pa.RecordBatch:
        worker = self._worker
        if worker is None:
            raise StopIteration
        try:
            reply: BulkReply = worker.call(job)
        except WorkerLost as error:
            if self._take_back() is not None:
                self._processes.discard(worker)
            if job is self._job and not self._is_stopped:
                raise _Refused from error
            raise ShardUnavailable(
                "the worker process that read it has ended", hint="Execute the statement again"
            ) from error
        if reply.is_refused:
            raise _Refused
        if reply.misfit is not None:
            column, value, why, hint = reply.misfit
            raise MisfitError(Misfit(value, why, hint), column)
        if reply.failure is not None:
            raise OperationalError(f"a worker process could not read on: {reply.failure}")
        if reply.batch is None:
            self.close()
            raise StopIteration
        return reply.batch

    def _take_back(self) -> WorkerProcess | None:
        with self._lock:
            worker, self._worker = self._worker, None
        return worker


class _Refused(Exception):
    """The worker will not do it."""
