"""One statement, answered by each member by itself, and the answers one after the other.

    tenant      the statement's own columns
    'acme'      …                           all of acme's answer, in its own order
    'globex'    …                           then all of globex's

A member is one of a DIRECTORY's, or a shard. The statement is answered in its scope: as by a database with
that member's rows only. Where one shard answers it whole, and nothing of the answer depends on which shard
that is, it is planned once and sent to all; else it is planned for each.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from shardwise.errors import Error, InterfaceError
from shardwise.executor import duck
from shardwise.executor.guard import Guard, PartGuard
from shardwise.executor.lanes import Lanes
from shardwise.executor.result import Result
from shardwise.options import Options
from shardwise.plan.run import Plan
from shardwise.plan.statistics import ShardStats, Statistics
from shardwise.planner import Scope
from shardwise.session.shared_plan import SharedPlan

if TYPE_CHECKING:
    from shardwise.session.cluster import Cluster

Row = tuple[Any, ...]
_ROWS = 2048


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What each member is asked. `column` is the first column's name and DuckDB type.

    `members` are those of a DIRECTORY, by its name, as they were listed.
    """

    cluster: Cluster
    sql: str
    params: Any
    options: Options
    locals: Mapping[str, Any]
    column: tuple[str, str] = ("", "VARCHAR")
    members: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def plan(self, scope: Scope) -> Plan:
        """The statement's plan in a scope."""
        return self.cluster.plan(self.sql, self.params, self.options, self.locals, scope, self.members)


@dataclass(frozen=True, slots=True)
class Member:
    """`value` is what the first column says of it; its rows are those of `scope`."""

    value: Any
    scope: Scope
    shard: str | None = None
    """Where all of its rows are, alone; None if they are with others'."""
    alone: Scope | None = None
    """The scope of that shard."""


class EachResult:
    """The answers of all members, as tuples or as Arrow, once. One thread reads; `cancel` is for any.

    An error is the statement's, and names its member. Deadline and budgets are those of the whole.
    """

    def __init__(
        self, question: Question, members: Sequence[Member], shared: SharedPlan | None, guard: Guard
    ) -> None:
        self._guard = guard
        self._threads = question.options.requests_max
        self._tally = _Tally()
        self._answers = [_MemberAnswer(question, member, shared, guard, self._tally) for member in members]
        self._lanes: Lanes[Any] | None = None
        self._items: Iterator[Any] | None = None
        self._ahead: list[Row] = []
        self._is_arrow = self._is_closed = False
        self._describer = question.cluster.describer(question.options.time_zone)
        self.plan: Plan | None = shared.whole if shared is not None else None
        if members:
            own = self._answers[0].open().columns
        else:
            own = question.cluster.columns_of(
                question.sql, question.params, question.options, question.locals
            )
        self.columns: duck.Columns = (question.column, *own)

    @property
    def stats(self) -> Statistics:
        """What was moved for the members that have answered."""
        return self._tally.statistics()

    def begin(self) -> None:
        """Has the first member begin; the others follow when rows are asked for."""
        if self._answers:
            with self._answers[0].naming():
                self._answers[0].open().begin()

    def fetchmany(self, count: int) -> list[Row]:
        """The next rows, fewer than `count` only at the end."""
        if self._is_arrow:
            raise InterfaceError("the rows were already handed out as Arrow")
        try:
            self._guard.check()
            if self._items is None:
                self._items = self._started(_MemberAnswer.rows)
            while len(self._ahead) < count and (more := next(self._items, None)) is not None:
                self._ahead += more
        except BaseException:
            self.close()
            raise
        rows, self._ahead = self._ahead[:count], self._ahead[count:]
        if len(rows) < count:
            self.close()
        return rows

    def arrow_reader(self, batch_rows: int) -> pa.RecordBatchReader:
        """All rows as batches of at most `batch_rows` rows, each of one member."""
        if self._is_arrow or self._items is not None:
            raise InterfaceError("rows were already handed out", hint="Execute the statement again")
        self._is_arrow = True
        types = [self._describer.arrow_type(type_) for _, type_ in self.columns]
        if self._answers:
            with self._answers[0].naming():
                types[1:] = self._answers[0].reader(batch_rows).schema.types
        schema = pa.schema([pa.field(n, t) for (n, _), t in zip(self.columns, types, strict=True)])
        items = self._started(partial(_MemberAnswer.batches, batch_rows=batch_rows, schema=schema))
        return pa.RecordBatchReader.from_batches(schema, self._to_the_end(items))

    def cancel(self) -> None:
        """Stops what runs, from any thread."""
        self._guard.cancel()

    def close(self) -> None:
        """Stops what runs and waits for it. A second call does nothing."""
        if self._is_closed:
            return
        self._is_closed = True
        if self._tally.answered < len(self._answers):
            self._guard.stop(InterfaceError("the result is closed"))
        if self._lanes is not None:
            self._lanes.close()
        for first in self._answers[:1]:
            first.close()
        self._guard.done()

    def __del__(self) -> None:
        if not getattr(self, "_is_closed", True):
            self.close()

    def _started(self, answer: Any) -> Iterator[Any]:
        if self._is_closed:
            self._guard.check()
            raise InterfaceError("the result is closed")
        self._lanes = Lanes([partial(answer, each) for each in self._answers], threads=self._threads)
        return iter(self._lanes)

    def _to_the_end(self, items: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        try:
            yield from items
        finally:
            self.close()


class _MemberAnswer:
    """One member's answer. Used by one thread at a time."""

    def __init__(
        self, question: Question, member: Member, shared: SharedPlan | None, guard: Guard, tally: _Tally
    ) -> None:
        self._question = question
        self._member = member
        self._shared = shared
        self._whole = guard
        self._tally = tally
        self._part: PartGuard | None = None
        self._result: Result | None = None
        self._reader: pa.RecordBatchReader | None = None

    def open(self) -> Result:
        """Its result, begun to be run."""
        if self._result is None:
            with self.naming():
                self._result = self._start()
        return self._result

    def reader(self, batch_rows: int) -> pa.RecordBatchReader:
        """Its rows as Arrow."""
        if self._reader is None:
            self._reader = self.open().arrow_reader(batch_rows)
        return self._reader

    def rows(self) -> Iterator[list[Row]]:
        value = self._member.value
        with self._answering() as result:
            while found := result.fetchmany(_ROWS):
                yield [(value, *row) for row in found]

    def batches(self, batch_rows: int, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        value = pa.scalar(self._member.value, schema.types[0])
        with self._answering():
            for batch in self.reader(batch_rows):
                columns = [pa.repeat(value, batch.num_rows), *batch.columns]
                yield pa.RecordBatch.from_arrays(columns, schema=schema)

    def close(self) -> None:
        self._reader = None
        if self._result is not None:
            self._result.close()
        if self._part is not None:
            self._part.done()

    @contextmanager
    def naming(self) -> Iterator[None]:
        """An error of this member names it, and stops the whole statement."""
        try:
            yield
        except Error as error:
            if error is not self._whole.error:
                where = f'{self._question.column[0]} "{self._member.value}"'
                if not error.message.startswith(where):
                    error.message = f"{where}: {error.message}"
                self._whole.stop(error)
            raise

    @contextmanager
    def _answering(self) -> Iterator[Result]:
        result = self.open()
        try:
            with self.naming():
                yield result
            self._tally.add(result.stats)
        finally:
            self.close()

    def _start(self) -> Result:
        self._whole.check()
        question, cluster = self._question, self._question.cluster
        self._part = PartGuard(self._whole)
        try:
            if self._shared is not None and self._member.shard is not None:
                plan, columns = self._shared.at(self._member.shard), self._shared.columns
            else:
                plan = question.plan(self._member.scope)
                columns = cluster.columns_of_plan(plan, question.params, question.options, question.locals)
            return cluster.start(plan, question.options, question.locals, columns, outer=self._part)
        except BaseException:
            self._part.done()
            raise


class _Tally:
    """What was moved for the members that have answered. Threads may add."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._fragments: dict[str, dict[str, ShardStats]] = {}
        self._merge_seconds = self._seconds = 0.0
        self._rows_out = 0
        self.answered = 0

    def add(self, stats: Statistics) -> None:
        with self._lock:
            self.answered += 1
            self._merge_seconds += stats.merge_seconds
            self._seconds = max(self._seconds, stats.seconds)
            self._rows_out += stats.rows_out
            for fragment, shards in stats.fragments.items():
                mine = self._fragments.setdefault(fragment, {})
                for shard, found in shards.items():
                    had = mine.get(shard, ShardStats(0, 0, 0.0))
                    mine[shard] = ShardStats(
                        had.rows + found.rows, had.bytes + found.bytes, had.seconds + found.seconds
                    )

    def statistics(self) -> Statistics:
        with self._lock:
            return Statistics(
                fragments={fragment: dict(shards) for fragment, shards in self._fragments.items()},
                merge_seconds=self._merge_seconds,
                seconds=self._seconds,
                rows_out=self._rows_out,
            )
