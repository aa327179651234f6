"""What a worker process does: many small requests to files of loose types, answered together.

It answers what it can. A request that fails here, whatever the reason, or that gives more rows than fit into
a reply, is `refused`: whoever asked does it anew in the ordinary way, which has the words for it. Requests
that were not begun because the reply was full, or the job was stopped, are in neither list.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pyarrow as pa

from shardwise.executor.backends.base import Columns, Location, SourceConnection, SourceOptions
from shardwise.executor.backends.sqlite import SQLiteBackend
from shardwise.executor.cells import Decoder
from shardwise.executor.conform import KnownTables, Reads
from shardwise.executor.presence import identity_of

REPLY_ROWS_MAX = 65_536
"""No task is begun after so many rows, and one that has more by itself is refused."""


class Task(NamedTuple):
    """One request: as `plan.run.Request`, without what a worker need not know."""

    location: Location
    sql: str
    params: Mapping[str, Any]
    expects: tuple[Reads, ...]
    shard: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """`columns` are the wanted ones, `types` each declared type as DuckDB writes it."""

    tasks: tuple[Task, ...]
    columns: Columns
    types: Mapping[str, str | None]
    time_zone: str


class Answered(NamedTuple):
    """A task whose rows are all in the reply."""

    task: int
    rows: int
    seconds: float


@dataclass(slots=True)
class Reply:
    """`batch` holds the rows of all that are `answered`, in that order; None if there are none."""

    batch: pa.RecordBatch | None = None
    answered: list[Answered] = field(default_factory=list)
    refused: list[int] = field(default_factory=list)


class Doing:
    """A job that is being done by one thread; any may `stop` it."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._backend = SQLiteBackend()
        self._connection: SourceConnection | None = None
        self._names: tuple[str, ...] = ()
        self._is_stopped = False

    def stop(self) -> None:
        """What runs is interrupted, the rest not begun."""
        self._is_stopped = True
        connection = self._connection
        if connection is not None:
            connection.interrupt()

    def run(self) -> Reply:
        reply = Reply()
        rows: list[tuple[Any, ...]] = []
        for index, task in enumerate(self._job.tasks):
            if self._is_stopped or len(rows) >= REPLY_ROWS_MAX:
                break
            started = time.perf_counter()
            found = self._rows(task)
            if found is None:
                reply.refused.append(index)
                continue
            rows += found
            reply.answered.append(Answered(index, len(found), time.perf_counter() - started))
        try:
            if rows:
                reply.batch = Decoder(self._job.columns, self._names, self._job.time_zone).batch(rows)
        except Exception:  # noqa: BLE001  a value that does not fit: one by one it is found whose it is
            reply.refused += [answered.task for answered in reply.answered]
            reply.answered.clear()
        return reply

    def _rows(self, task: Task) -> list[tuple[Any, ...]] | None:
        """The task's rows as the file has them, None if it is refused."""
        try:
            identity_of(task.location)  # raises where a member is not there, or is called otherwise
            source = self._backend.open(task.location, SourceOptions())
            try:
                connection = self._connection = source.connect(self._job.time_zone)
                if self._is_stopped:  # before there was a connection to interrupt
                    return None
                KnownTables(self._backend.suits).check(connection, task, self._job.types.get)
                names = tuple(name for name, _ in connection.execute(task.sql, task.params))
                self._names = self._names or names
                rows = connection.fetchmany(REPLY_ROWS_MAX + 1)
                return rows if len(rows) <= REPLY_ROWS_MAX and names == self._names else None
            finally:
                if self._connection is not None:
                    self._connection.close()
                    self._connection = None
                source.close()
        except Exception:  # noqa: BLE001  it is done anew, where errors have words
            return None
