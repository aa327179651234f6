"""ANALYZE: statistics collected over a cluster's sources, several at once, and stopped as a statement is."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar

from shardwise.catalog.hints import did_you_mean
from shardwise.catalog.model import Catalog, Table, TableStatistics
from shardwise.errors import Error, NotSupportedError, Reason, ShardUnavailable, UnknownName
from shardwise.executor.backends.base import Columns
from shardwise.executor.guard import Guard
from shardwise.executor.limits import Limits
from shardwise.executor.pools import SourcePool
from shardwise.inspection.analyzing import Part, Source, collect
from shardwise.options import Options
from shardwise.planner.dialects import refuse_other_sources
from shardwise.session.clock import now
from shardwise.session.opened import OpenedSource

_KEEP_EACH_S = 3.0
_TRIES = 2
_VALUE_BYTES = 8
_T = TypeVar("_T")


class Analyzed(NamedTuple):
    """What became of one table. `looked_at` says in words what was read, `left_out` has the columns whose
    values were not looked at, with their types, `kept_in` is the lock file, or None where the statistics are
    in this process alone."""

    statistics: TableStatistics
    looked_at: str
    left_out: Mapping[str, str]
    seconds: float
    kept_in: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalyzeOptions:
    """What is collected: with `from_sources` only what the sources know without reading rows; without
    `values` no value of a row (bounds, common values) is kept."""

    from_sources: bool = False
    values: bool = True


def tables_named(catalog: Catalog, wanted: Iterable[str | Table]) -> list[Table]:
    """The tables of these names ("schema.name"), all of the catalog if there are none."""
    found: list[Table] = []
    for each in wanted:
        table = catalog.relation(each) if isinstance(each, str) else each
        if table is None:
            known = [known.full_name for known in catalog.tables()]
            raise UnknownName(
                f'there is no table "{each}"',
                reason=Reason.UNKNOWN_TABLE,
                hint=did_you_mean(str(each), known),
            )
        if not isinstance(table, Table):
            raise NotSupportedError(
                f'"{table.full_name}" is a view, and statistics are of tables',
                hint="ANALYZE the tables that it reads",
            )
        found.append(table)
    return list(dict.fromkeys(found)) or [each for each in catalog.tables() if isinstance(each, Table)]


class Analyzing:
    """One ANALYZE: `analyze` is called for each of its tables."""

    def __init__(
        self,
        catalog: Catalog,
        pool: SourcePool,
        limits: Limits,
        members: Callable[[str], Sequence[str]],
        options: Options,
        guard: Guard,
    ) -> None:
        refuse_other_sources(catalog)
        self._catalog = catalog
        self._pool = pool
        self._limits = limits
        self._members = members
        self._listed: dict[str, Sequence[str]] = {}
        self._options = options
        self._guard = guard

    def analyze(self, table: Table, wanted: AnalyzeOptions) -> Analyzed:
        """The statistics of one table, as its sources are now."""
        started = time.perf_counter()
        asked = _Sources(self._pool, self._limits, self._options, self._guard, self._catalog, table.full_name)
        found = collect(
            self._catalog_of(table),
            table,
            asked.each,
            read_at=now(),
            from_sources=wanted.from_sources,
            with_values=wanted.values,
        )
        self._guard.check()
        return Analyzed(found.statistics, found.looked_at, found.left_out, time.perf_counter() - started)

    def _catalog_of(self, table: Table) -> Catalog:
        """The catalog, with the members of the DIRECTORY that the table is on; each is listed once."""
        sharding = self._catalog.open_sharding(table)
        if sharding is None:
            return self._catalog
        if sharding.name not in self._listed:
            self._listed[sharding.name] = self._members(sharding.name)
        return self._catalog.with_members({sharding.name: self._listed[sharding.name]})


class Keep(Protocol):
    """`Cluster.keep`."""

    def __call__(self, change: Callable[[Catalog], Catalog], *, needs_file: bool) -> Path | None: ...


def analyze(
    analyzing: Analyzing,
    tables: Sequence[Table],
    wanted: AnalyzeOptions,
    keep: Keep,
    on_table: Callable[[str], None],
) -> list[Analyzed]:
    """Analyzes tables, and keeps what is done every few seconds: also if a later table fails."""
    found: list[Analyzed] = []
    kept_at, kept = time.monotonic(), 0

    def keep_rest() -> None:
        nonlocal kept_at, kept
        rest = [each.statistics for each in found[kept:]]
        if rest:
            place = keep(lambda catalog: catalog.with_(*rest), needs_file=False)
            where = None if place is None else str(place)
            found[kept:] = [each._replace(kept_in=where) for each in found[kept:]]
        kept_at, kept = time.monotonic(), len(found)

    try:
        for table in tables:
            on_table(table.full_name)
            found.append(analyzing.analyze(table, wanted))
            if time.monotonic() - kept_at > _KEEP_EACH_S:
                keep_rest()
    finally:
        keep_rest()
    return found


@dataclass(frozen=True, slots=True)
class _Sources:
    """Asks the sources of partitions, within the limits that all statements share."""

    pool: SourcePool
    limits: Limits
    options: Options
    guard: Guard
    catalog: Catalog
    name: str

    def each(self, parts: Sequence[Part], work: Callable[[Source, Part], _T]) -> list[_T | None]:
        """The answers in the order of the partitions; None of a member that is not there."""
        found: list[_T | None] = [None] * len(parts)
        numbers = iter(range(len(parts)))
        lock = threading.Lock()

        def go() -> None:
            while self.guard.error is None:
                with lock:
                    number = next(numbers, None)
                if number is None:
                    return
                try:
                    found[number] = self._asked(parts[number], work)
                except BaseException as error:  # noqa: BLE001  raised below, by the statement's thread
                    self.guard.stop(error)

        threads = min(self.options.requests_max, len(parts))
        if threads <= 1:
            go()
        else:
            with ThreadPoolExecutor(threads, thread_name_prefix="shardwise-analyze") as executor:
                running = [executor.submit(go) for _ in range(threads)]
                try:
                    wait(running)
                except BaseException as error:  # an interrupt
                    self.guard.stop(error)
                    raise
        self.guard.check()
        return found

    def _asked(self, part: Part, work: Callable[[Source, Part], _T]) -> _T | None:
        name = self.catalog.source_of(part.shard)
        for tries_left in reversed(range(_TRIES)):
            try:
                with self._turn(name), self._opened(name) as source:
                    return work(source, part)
            except Error as error:
                if self.guard.error is not None and error is not self.guard.error:
                    raise self.guard.error from error
                if isinstance(error, ShardUnavailable) and error.is_missing and self._may_miss(name):
                    return None
                if not tries_left or not self.pool.is_transient(name, error):
                    error.shard = error.shard or part.shard
                    raise
        raise AssertionError("unreachable")

    def _may_miss(self, source: str) -> bool:
        return self.catalog.open_family_of(source) is not None

    @contextmanager
    def _turn(self, source: str) -> Iterator[None]:
        """While no more requests are out to the source's server, and in all, than may be."""
        family = self.pool.family_of(source)
        while True:
            may = threading.Event()
            if self.limits.take(
                source,
                may.set,
                per_source=self.options.requests_per_source_max,
                is_starving=False,
                family=family,
            ):
                break
            forget = self.guard.on_stop(may.set)
            may.wait()
            forget()
            self.guard.check()
        try:
            yield
        finally:
            self.limits.give_back(source)

    @contextmanager
    def _opened(self, name: str) -> Iterator[Source]:
        """A connection in UTC, which is stopped with the statement."""
        self.guard.check()
        lease = self.pool.lease(name)
        try:
            source = OpenedSource(lease, lease.connect("UTC"))
        except BaseException:
            lease.release()
            raise
        with source:
            forget = self.guard.on_stop(source.interrupt)
            try:
                self.guard.check()
                yield _Counted(source, self.guard, self.name)
            finally:
                forget()


class _Counted:
    """A source whose rows count against the statement's budgets."""

    def __init__(self, source: OpenedSource, guard: Guard, table: str) -> None:
        self._source = source
        self._guard = guard
        self._table = table
        self.dialect = source.dialect

    def rows(
        self, sql: str, params: Mapping[str, Any] | None = None, wanted: Columns | None = None
    ) -> list[tuple[Any, ...]]:
        self._guard.check()
        rows = self._source.rows(sql, params, wanted)
        self._guard.count(f"ANALYZE {self._table}", len(rows), sum(_bytes(row) for row in rows))
        return rows

    def physical_columns(self, table: str) -> Columns:
        self._guard.check()
        return self._source.physical_columns(table)

    def close(self) -> None:
        """Whoever opened the source closes it."""


def _bytes(row: tuple[Any, ...]) -> int:
    return sum(len(cell) if isinstance(cell, str | bytes) else _VALUE_BYTES for cell in row)
