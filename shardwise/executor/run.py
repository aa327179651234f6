"""Executes a run: what runs first, then the fragments and the merge over them; or one shard, directly.

    result = execute(plan.start(), environment, Options(), columns=…)
    result.fetchmany(100)   or   result.arrow_reader(65_536)

Streaming only: rows are moved as they are asked for, and a slow consumer makes the shards wait.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from shardwise.errors import DataError, Error, InternalError, ShardUnavailable
from shardwise.executor import duck
from shardwise.executor.describing import AnyDescriber
from shardwise.executor.guard import Guard, PartGuard
from shardwise.executor.limits import Limits
from shardwise.executor.merge import MergeEngine, Merging
from shardwise.executor.pools import SourcePool
from shardwise.executor.reading import Empty, Reader
from shardwise.executor.result import Result
from shardwise.executor.stream import FeedBatches, Fetcher, SortedBatches, Stream
from shardwise.executor.threads import Workers
from shardwise.executor.workers.processes import WorkerProcesses
from shardwise.options import Options
from shardwise.plan.run import Bound, First, Fragment, Merge, Request, Run
from shardwise.plan.statistics import FirstStats, Statistics

MORE_THAN_ONE_ROW = (
    "More than one row returned by a subquery used as an expression - scalar subqueries can only return a "
    "single row."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """What the statements of a cluster share."""

    pool: SourcePool
    limits: Limits
    workers: Workers
    processes: WorkerProcesses
    merge: MergeEngine
    describer: AnyDescriber


def execute(
    run: Run,
    environment: Environment,
    options: Options,
    *,
    columns: duck.Columns | None = None,
    locals: Mapping[str, Any] | None = None,  # noqa: A002
    guard: Guard | None = None,
    outer: Guard | None = None,
) -> Result:
    """Starts a run. Subqueries that run first are run here; the rest when rows are asked for.

    `columns` are the result's names and types where they are known (they win), `locals` the registered local
    relations by name. The caller closes the result. `guard` is the statement's, made earlier so that it could
    be cancelled before there is a result, which then owns it; `outer` is that of the statement around.
    """
    started = time.perf_counter()
    owned = outer or guard or Guard(options)
    owned.check()
    try:
        statement, first = _proved(run, environment, options, locals or {}, owned)
        merging = statement.start(columns)
        result = Result(
            run.plan,
            merging,
            statement,
            owned,
            owns_guard=outer is None,
            first=first,
            started=started,
        )
    except BaseException as error:
        owned.stop(error)
        if outer is None:
            owned.done()
        if isinstance(owned.error, Error) and owned.error is not error:
            raise owned.error from error
        raise
    return result


class _Statement:
    """One run's parts: who reads from the shards, and what merges. Closed by its result."""

    def __init__(
        self,
        run: Run,
        environment: Environment,
        options: Options,
        locals: Mapping[str, Any],  # noqa: A002
        guard: Guard,
    ) -> None:
        self._run = run
        self._environment = environment
        self._options = options
        self._locals = locals
        self._guard = guard
        self.reader = Reader(
            run,
            guard,
            environment.pool,
            environment.limits,
            processes=environment.processes,
            normal_type=environment.describer.normal_type,
            empty=partial(_empty, run.plan.fragments, environment.describer),
            time_zone=options.time_zone,
        )
        self._fetcher: Fetcher | None = None
        self._streams: list[Stream] = []
        self._kept: dict[str, tuple[Stream, Any]] = {}

    def begin(self) -> None:
        """Has the shards of the merge's streams asked, and waits for their first answers."""
        for stream in self._streams:
            stream.begin()
        if self._fetcher is not None:
            self._fetcher.settle()

    def start(self, columns: duck.Columns | None) -> Merging:
        """The merge, or what stands for it."""
        merge = self._run.merge
        if merge is not None:
            return self._merging(merge, columns)
        fragments = self._run.plan.fragments
        if len(fragments) != 1:
            raise InternalError(f"a plan without merge has {len(fragments)} fragments")
        if len(fragments[0].route.shards) == 1:
            columns = columns or self._environment.describer.columns_of(fragments[0])
            (request,) = self._run.ready(fragments[0].name)
            return self._environment.describer.direct(self.reader, request, columns)
        return self.merged(columns)

    def merged(self, columns: duck.Columns | None) -> Merging:
        """The only fragment's rows, through the merge after all."""
        (fragment,) = self._run.plan.fragments
        merge = Merge(sql=f"SELECT * FROM {fragment.name}", params={}, inputs=(fragment.name,))
        return self._merging(merge, columns or self._environment.describer.columns_of(fragment))

    def close(self) -> None:
        """Stops the shards and waits until nothing runs."""
        for stream in self._streams:
            stream.close()
        if self._fetcher is not None:
            self._fetcher.close()
        self._locals = {}  # what nobody else has may be freed

    def _merging(self, merge: Merge, columns: duck.Columns | None) -> Merging:
        fragments = {fragment.name: fragment for fragment in self._run.plan.fragments}
        streams = self._kept or self._opened(merge)
        self._streams = [stream for stream, _ in streams.values()]
        if columns is None and merge.passes is not None:  # of a subquery that runs first nobody knew them
            columns = self._environment.describer.columns_of(fragments[merge.passes.input])
            if merge.passes.columns is not None:
                columns = tuple(columns[place] for place in merge.passes.columns)
        return self._environment.merge.start(merge, streams, self._locals, self._options, columns)

    def _opened(self, merge: Merge) -> dict[str, tuple[Stream, Any]]:
        """The merge's streams, of which nothing is asked yet."""
        fragments = {fragment.name: fragment for fragment in self._run.plan.fragments}
        passes = None if merge.passes is None else merge.passes.input
        self._fetcher = Fetcher(
            self.reader,
            self._guard,
            workers=self._environment.workers,
            limits=self._environment.limits,
            threads_max=self._options.requests_max,
            per_source=self._options.requests_per_source_max,
            processes=self._environment.processes,
        )
        return {
            name: self._stream(fragments[name], self._fetcher, passes=name == passes) for name in merge.inputs
        }

    def prove(self, merge: Merge) -> list[tuple[Any, ...]]:
        """Reads the fragments, and keeps their rows; gives those of `merge` over them."""
        for name, (stream, types) in self._opened(merge).items():
            batches = list(stream.batches())
            self._kept[name] = Stream(stream.schema, partial(iter, batches), stream.source), types
        merging = self._environment.merge.start(merge, self._kept, {}, self._options, None)
        forget = self._guard.on_stop(merging.interrupt)
        try:
            merging.begin()
            rows: list[tuple[Any, ...]] = []
            while more := merging.fetchmany(4096):
                rows += more
        finally:
            forget()
            merging.close()
        self._guard.check()
        return rows

    def _stream(self, fragment: Fragment, fetcher: Fetcher, *, passes: bool) -> tuple[Stream, Any]:
        describer = self._environment.describer
        types: Any
        try:
            schema, types = describer.stream(fragment, passes=passes)
        except (ShardUnavailable, DataError):  # where a server describes it, with the statement's values
            raise
        except Error as error:
            raise InternalError(f"fragment {fragment.name} cannot be described: {error.message}") from error

        def opened() -> Iterator[Any]:
            if fragment.order and fragment.route.shards:
                return SortedBatches(fetcher, fragment.name, schema, types, fragment.order)
            if fragment.route.shards:
                return FeedBatches(fetcher, fragment.name, schema, types)
            return iter(describer.batches(fragment.sql, fragment.params, types if schema is None else schema))

        first = fragment.source_of(fragment.route.shards[0]) if fragment.route.shards else None
        return Stream(schema, opened, first), types


def _empty(fragments: Sequence[Fragment], describer: AnyDescriber, request: Request) -> Empty:
    """What answers for a member of an open family that is not there."""
    fragment = next(each for each in fragments if each.name == request.fragment)
    return Empty(describer.connect(fragment.sql), fragment.sql, fragment.params)


# -- what must be proved first -----------------------------------------------------------------


def _proved(
    run: Run,
    environment: Environment,
    options: Options,
    locals: Mapping[str, Any],  # noqa: A002
    guard: Guard,
) -> tuple[_Statement, tuple[FirstStats, ...]]:
    """The statement whose rows may be merged, and what ran before it: subqueries, and rows that proved to be
    others than were looked for."""
    first = list(_run_first(run, environment, options, locals, guard))
    while True:
        started = time.perf_counter()
        plan = run.plan
        statement = _Statement(run, environment, options, locals, guard)
        if plan.proof is None:
            return statement, tuple(first)
        try:
            run.prove(statement.prove(plan.proof.merge))
        except BaseException:
            statement.close()
            raise
        if run.plan.fragments is plan.fragments:
            return statement, tuple(first)
        statement.close()
        tried = Statistics(
            fragments=statement.reader.measured(),
            filled=statement.reader.filled(),
            merge_seconds=0.0,
            seconds=time.perf_counter() - started,
            rows_out=0,
        )
        first += [FirstStats("page", plan, tried), *_run_first(run, environment, options, locals, guard)]


# -- subqueries that run first -----------------------------------------------------------------


def _run_first(
    run: Run,
    environment: Environment,
    options: Options,
    locals: Mapping[str, Any],  # noqa: A002
    guard: Guard,
) -> tuple[FirstStats, ...]:
    """Runs them side by side and binds their rows; again if the rest of the plan has others."""
    measured: list[FirstStats] = []
    while run.first:
        found: dict[str, _Ran] = {}

        def go(first: First, found: dict[str, _Ran] = found) -> None:
            try:
                found[first.name] = _ran(first, environment, options, locals, guard)
            except BaseException as error:  # noqa: BLE001  raised below, by the statement's thread
                guard.stop(error)

        here, *beside = run.first
        threads = [threading.Thread(target=go, args=(first,)) for first in beside]
        for thread in threads:
            thread.start()
        go(here)
        for thread in threads:
            thread.join()
        guard.check()
        for first in run.first:
            bound, statistics = found[first.name]
            run.bind(first.name, bound)
            if statistics is not None:
                measured.append(statistics)
    return tuple(measured)


class _Ran(NamedTuple):
    bound: Bound
    statistics: FirstStats | None


def _ran(
    first: First,
    environment: Environment,
    options: Options,
    locals: Mapping[str, Any],  # noqa: A002
    guard: Guard,
) -> _Ran:
    """One subquery's rows; None for them where they are too many, or their error may be nobody's."""
    own = PartGuard(guard) if first.is_lazy else guard
    bound, statistics = Bound((), None), None
    try:
        with execute(first.plan.start(), environment, options, locals=locals, outer=own) as result:
            try:
                bound = _bound(first, result)
            finally:
                statistics = FirstStats(first.name, result.plan, result.stats)
    except DataError:
        if not first.is_lazy:
            raise
        guard.check()  # the engine raises it again where a row asks for the value
    finally:
        if own is not guard:
            own.done()
    return _Ran(bound, statistics)


def _bound(first: First, result: Result) -> Bound:
    limit = 1 if first.is_scalar else first.rows_max
    types = first.types or tuple(type_ for _, type_ in result.columns)
    rows: list[tuple[Any, ...]] = []
    while limit is None or len(rows) <= limit:
        more = result.fetchmany(4096 if limit is None else min(4096, limit + 1 - len(rows)))
        rows += more
        if not more:
            break
    if first.is_scalar and len(rows) > 1:
        raise DataError(MORE_THAN_ONE_ROW, sqlstate="21000")
    return Bound(types, None if limit is not None and len(rows) > limit else rows)
