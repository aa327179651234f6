"""The cluster: made once per process, shared by threads."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from dataclasses import fields, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from shardwise.catalog import Catalog, load
from shardwise.catalog.model import Table
from shardwise.errors import InterfaceError, SQLSyntaxError, UnknownName
from shardwise.executor import duck
from shardwise.executor.describing import AnyDescriber
from shardwise.executor.guard import Guard
from shardwise.executor.locals import LocalStore
from shardwise.executor.pools import SourcePool
from shardwise.executor.result import Result
from shardwise.executor.run import Environment, execute
from shardwise.options import OWN_ZONE, Options
from shardwise.plan.run import Plan
from shardwise.planner import EVERYTHING, PlanCache, Scope, scope_of
from shardwise.planner.context import Seen
from shardwise.session.analyzing import Analyzed, AnalyzeOptions, Analyzing, analyze, tables_named
from shardwise.session.each import each
from shardwise.session.each_result import EachResult, Question
from shardwise.session.environments import Environments
from shardwise.session.index_readers import IndexReaders, Reader
from shardwise.session.known import KnownCatalog
from shardwise.session.listing import Lister
from shardwise.session.local_names import mentioned
from shardwise.session.locating import Secrets
from shardwise.session.members_seen import members_seen
from shardwise.session.opened import OpenedSource
from shardwise.session.own_relations import OwnRelations
from shardwise.session.parameters import Parameters
from shardwise.session.planning import Planning, check_schema, local_columns, planned
from shardwise.session.resources import Resources
from shardwise.session.result_columns import columns_of_page, columns_of_plan, columns_of_text
from shardwise.session.time_zones import TimeZones

if TYPE_CHECKING:
    from shardwise.dbapi import Connection
    from shardwise.session.indexes.states import Work

_OPTIONS = frozenset(f.name for f in fields(Options))


def open(  # noqa: A001  the public name
    catalog: str | os.PathLike[str] | Catalog, *, secrets: Secrets | None = None, **options: Any
) -> Cluster:
    """The cluster of a catalog, or of a catalog's file (`cluster.sql`).

    `secrets` gives sources' passwords by source name, before what the catalog says; `options` are those of
    `shardwise.Options`, for all connections. No source is opened before a statement needs it.
    """
    unknown = sorted(set(options) - _OPTIONS)
    if unknown:
        raise TypeError(f"unknown option {unknown[0]!r}; options are {', '.join(sorted(_OPTIONS))}")
    if isinstance(catalog, Catalog):
        return Cluster(catalog, Path.cwd(), secrets, options)
    path = Path(catalog)
    return Cluster(load(path), path.resolve().parent, secrets, options, file=path.resolve())


class Cluster:
    """Catalog, open sources, fetching threads, merge engine. Threads may share it; made by `open`."""

    def __init__(
        self,
        catalog: Catalog,
        directory: Path,
        secrets: Secrets | None,
        options: Mapping[str, Any],
        *,
        file: Path | None = None,
    ) -> None:
        self.given = catalog
        self.index_work: dict[str, Work] = {}
        """Of the one statement that works on indexes, under "": nothing else is ever in it."""
        self.options = _options(catalog, options)
        self._directory = directory
        self._resources = Resources(catalog, directory, secrets, self.options)
        self._time_zones = TimeZones(self._resources.pool, self._resources.own_zones)
        self._known = KnownCatalog(catalog, file, Environments(self._resources))
        self.index_readers = IndexReaders(file)
        self._planning = Planning(self._known.plan_cache)
        self._own_relations = OwnRelations()
        self._is_closed = False
        self._pid = os.getpid()
        # Nothing that is closed may hold the cluster, or it would never be dropped.
        self._finalizer = weakref.finalize(self, _close, self._resources, self._known.environments)

    # -- statements ---------------------------------------------------------------------------

    def plan(
        self,
        sql: str,
        params: Parameters = (),
        options: Options | None = None,
        locals: Mapping[str, Any] | None = None,  # noqa: A002
        scope: Scope = EVERYTHING,
        members: Mapping[str, tuple[str, ...]] | None = None,
    ) -> Plan:
        """What the statement would do. `locals` are a connection's own relations, `scope` what it may see,
        `members` those of DIRECTORY shardings that were listed already.
        """
        self._check_open()
        options = self.settled(options or self.options)
        if options.trust_indexes:
            self.look_at_indexes()
        return self._plan(
            sql, params, options, self._relations(sql, locals or {}, options, scope), scope, members
        )

    def _plan(
        self,
        sql: str,
        params: Parameters,
        options: Options,
        locals: Mapping[str, Any],  # noqa: A002  all that the statement may read of the merge's
        scope: Scope,
        members: Mapping[str, tuple[str, ...]] | None = None,
        after: Seen | None = None,
    ) -> Plan:
        params = self._resources.engine.values(params)
        try:
            catalog = self.catalog
            context = self._planning.context(catalog, options, scope)
            if members or after is not None:
                context = replace(context, members=members or {}, after=after)
            described = local_columns(locals, partial(self.describer, options.time_zone)) if locals else {}
            statement = self._planning.prepared(catalog, sql, options, described)
            self._known.check_columns(catalog, statement, is_pinned=scope.is_pinned)
            listed = partial(members_seen, self, scope=context.scope)
            return planned(statement, params, context, options, listed)
        except (UnknownName, SQLSyntaxError) as error:
            if error.position is None and error.view is None:
                self.columns_of(sql, params, options, locals)
            raise

    def _relations(
        self,
        sql: str,
        locals: Mapping[str, Any],  # noqa: A002
        options: Options,
        scope: Scope,
    ) -> Mapping[str, Any]:
        """What a statement may read that is in the merge: the connection's own, and information_schema."""
        return self._own_relations.read_by(
            sql,
            self.catalog,
            locals,
            partial(self.describer, options.time_zone),
            shows_texts=not scope.is_pinned,
        )

    def run(
        self,
        sql: str,
        params: Parameters = (),
        options: Options | None = None,
        locals: Mapping[str, Any] | None = None,  # noqa: A002
        guard: Guard | None = None,
        scope: Scope = EVERYTHING,
        into: LocalStore | None = None,
        after: Seen | None = None,
    ) -> Result:
        """Runs the statement; the caller closes the result. `guard` lets it be cancelled before that.

        Its rows are merged in the store `into`, if one is given, so that they can be kept there. With
        `after`, it is the page after the one whose last row has these keys.
        """
        self._check_open()
        options = self.settled(options or self.options)
        reader = self.index_readers.reader()
        try:
            locals = self._relations(sql, locals or {}, options, scope)  # noqa: A001
            make_plan = partial(self._plan, sql, params, options, locals, scope, after=after)
            plan = self._held(make_plan, reader) if options.trust_indexes else make_plan()
            shown = plan if not plan.hidden else replace(plan, columns=plan.columns[: -plan.hidden])
            columns = self.columns_of_plan(shown, params, options, locals)
            if plan.hidden and columns is not None:
                # Other engines than DuckDB give keys the same types anyhow.
                probe = partial(self.start, plan, options, locals, None)
                columns = columns_of_page(plan, columns, probe) if self.declared.dialect == "duckdb" else None
            result = self.start(plan, options, locals, columns, guard=guard, into=into)
            if plan.indexes:
                result.when_closed(reader.leave)
        except BaseException:
            reader.leave()
            raise
        return result

    def _held(self, make_plan: Callable[[], Plan], reader: Reader) -> Plan:
        """A plan of a statement that trusts indexes: those that it reads are as it takes them to be, and are
        not written to until the reader leaves."""
        self.look_at_indexes()
        while True:
            plan = make_plan()
            if not plan.indexes:
                return plan
            reader.hold(state.name for state in plan.indexes)
            self.look_at_indexes()
            if plan.indexes <= self.catalog.index_states:
                return plan
            reader.leave()

    def look_at_indexes(self) -> None:
        """Takes the states of indexes from the lock file, where another process may have changed them."""
        self._known.look_at_states()

    def each(
        self,
        by: str,
        sql: str,
        params: Parameters,
        options: Options,
        *,
        locals: Mapping[str, Any],  # noqa: A002
        scope: Scope,
        guard: Guard,
        members: Iterable[Any] | None = None,
    ) -> EachResult:
        """The answers of each member of a DIRECTORY, each shard of another sharding. The caller closes it."""
        self._check_open()
        known, options = mentioned(sql, locals), self.settled(options)
        question = Question(cluster=self, sql=sql, params=params, options=options, locals=known)
        return each(question, by, members, scope, guard)

    def start(
        self,
        plan: Plan,
        options: Options,
        locals: Mapping[str, Any] | None,  # noqa: A002
        columns: duck.Columns | None,
        *,
        guard: Guard | None = None,
        outer: Guard | None = None,
        into: LocalStore | None = None,
    ) -> Result:
        """Runs a plan whose result has these columns; `guard` and `outer` are those of `executor.run`."""
        environment = self._environment(options.time_zone)
        if into is not None:
            environment = replace(environment, merge=into)
        result = execute(
            plan.start(), environment, options, columns=columns, locals=locals, guard=guard, outer=outer
        )
        result.owner = self
        return result

    def columns_of(
        self,
        sql: str,
        params: Parameters,
        options: Options,
        locals: Mapping[str, Any] | None,  # noqa: A002
        near: str | None = None,
    ) -> duck.Columns:
        """By the user's own text; a list for `IN (?)` stands for one value of it. `near` is a source that is
        asked anyhow."""
        describer = self.describer(options.time_zone)
        return columns_of_text(
            sql,
            params,
            self._resources.engine,
            describer,
            schema=options.schema,
            locals=locals,
            near=near,
        )

    def columns_of_plan(
        self,
        plan: Plan,
        params: Parameters,
        options: Options,
        locals: Mapping[str, Any] | None,  # noqa: A002
    ) -> duck.Columns | None:
        """The result's names and types as one database would give them; None: the merge will tell."""
        known: tuple[duck.Columns | None] | None = None if locals else plan.memo.get("columns")
        if known is not None:
            return known[0]
        columns = columns_of_plan(plan, partial(self.columns_of, plan.sql, params, options, locals))
        if not locals:
            plan.memo["columns"] = (columns,)
        return columns

    def settled(self, options: Options) -> Options:
        """The options with the servers' own time zone, where no other was said: one is asked, once."""
        return self._time_zones.settled(options, self._known.declared)

    def check_schema(self, name: str | None) -> None:
        """Raises if there is no schema of that name in the catalog."""
        if name is not None:
            check_schema(self.catalog, name)

    def connect(
        self,
        *,
        scope: Mapping[str, Any] | None = None,
        pinned: bool = False,
        also_read: Iterable[str] = (),
        paramstyle: str = "qmark",
        **options: Any,
    ) -> Connection:
        """A DB-API connection; `options` override the cluster's. `paramstyle` "format": parameters are `%s`.

        `scope` gives shard keys' values, by name, which all its statements are limited to. No statement can
        leave a `pinned` one; tables that it does not cover are refused, but for those of `also_read`.
        """
        self._check_open()
        # The DB-API is a layer above this one: not imported, but looked up.
        connection: Connection = import_module("shardwise.dbapi").Connection(
            self,
            self.options,
            scope=self.scope_of(scope or {}, pinned=pinned, also_read=also_read),
            paramstyle=paramstyle,
        )
        connection.options = connection.options_with(options)
        return connection

    def scope_of(
        self,
        given: Mapping[str, Any],
        *,
        before: Scope = EVERYTHING,
        pinned: bool = False,
        also_read: Iterable[str] = (),
    ) -> Scope:
        """The scope `before` with these names set anew; raises what is wrong with them."""
        if not given and not pinned and not also_read:
            return before
        return scope_of(self.catalog, given, before=before, pinned=pinned, also_read=also_read)

    # -- what it knows ------------------------------------------------------------------------

    @property
    def declared(self) -> Catalog:
        """The catalog as it was given, with what was kept of indexes and statistics."""
        return self._known.declared

    @property
    def catalog(self) -> Catalog:
        """The catalog; columns that neither it nor its lock file knows are read off the sources, once."""
        known = self._known.catalog
        return known if known is not None else self._known.learned(self.open_source, self.members)

    @property
    def file(self) -> Path | None:
        """The file that the catalog came from."""
        return self._known.file

    @property
    def plan_cache(self) -> PlanCache:
        """The plans that are kept."""
        return self._known.plan_cache

    def analyze(
        self,
        *tables: str | Table,
        from_sources: bool = False,
        values: bool = True,
        options: Options | None = None,
        guard: Guard | None = None,
        on_table: Callable[[str], None] = lambda _: None,
    ) -> list[Analyzed]:
        """Collects statistics of tables ("schema.name"; default: all), and keeps them.

        `from_sources` takes what the sources know without reading rows; without `values` no value of a row is
        kept. They go to the lock file, if the catalog came from a file and there may be written; statements
        that begin from now on are planned by them. `on_table` is told of each table before it is read.
        """
        self._check_open()
        options = options or self.options
        own = guard or Guard(options)
        wanted = AnalyzeOptions(from_sources=from_sources, values=values)
        try:
            catalog, shared = self.catalog, self._resources
            analyzing = Analyzing(catalog, shared.pool, shared.limits, self.members, options, own)
            return analyze(analyzing, tables_named(catalog, tables), wanted, self.keep, on_table)
        finally:
            if guard is None:
                own.done()

    def keep(self, change: Callable[[Catalog], Catalog], *, needs_file: bool = True) -> Path | None:
        """Changes what is known of the catalog: states of indexes, statistics. Tables stay as they are.

        It is written to the lock file, if the catalog came from a file, and seen by the statements that
        begin from now on. `change` is called for each catalog that is to be changed so. What does not
        need the file is kept in this process where it may not be written. Gives the file.
        """
        self._check_open()
        return self._known.keep(change, needs_file=needs_file)

    @contextmanager
    def beside(self, catalog: Catalog) -> Iterator[Cluster]:
        """This cluster with another catalog of the same sources, whose columns are known; for the block."""
        self._check_open()
        other = copy(self)
        other._known = KnownCatalog.whole(catalog, Environments(self._resources))
        other._planning, other._own_relations = Planning(other.plan_cache), OwnRelations()
        try:
            yield other
        finally:
            other._known.environments.close()

    def describer(self, time_zone: str | None = None) -> AnyDescriber:
        """What tells names and types of columns."""
        return self._environment(time_zone or self.settled(self.options).time_zone).describer

    def _environment(self, zone: str) -> Environment:
        self._check_open()
        known = self._known.environments.known(zone)
        if known is not None:
            return known
        with self._known.lock:
            self._check_open()
            return self._known.environments.made(zone, self.catalog)

    def members(self, sharding: str) -> tuple[str, ...]:
        """The members that a DIRECTORY sharding has now, as texts, in order: one listing."""
        self._check_open()
        return Lister(self.declared, self._directory, self.open_source, self._rows).members(sharding)

    def listed(self) -> Catalog:
        """The catalog as it is declared, with all members of its open families: a listing of each."""
        shardings = [sharding.name for sharding in self.declared.shardings() if sharding.is_open]
        return self.declared.with_members({name: self.members(name) for name in shardings})

    def _rows(self, sql: str) -> list[tuple[Any, ...]]:
        with self.run(sql) as result:
            return result.fetchall()

    # -- sources ------------------------------------------------------------------------------

    @property
    def pool(self) -> SourcePool:
        """The sources that are open."""
        return self._resources.pool

    def open_source(self, name: str) -> OpenedSource:
        """A source, to look into: closed by the caller."""
        self._check_open()
        lease = self._resources.pool.lease(name)
        try:
            zone = self.options.time_zone
            return OpenedSource(lease, lease.connect("UTC" if zone == OWN_ZONE else zone))
        except BaseException:
            lease.release()
            raise

    def explain_sources(self, plan: Plan) -> Mapping[tuple[str, str], str]:
        """Each source's own EXPLAIN of its fragment, by fragment and shard."""
        texts = {}
        for request in plan.start().ready():
            is_sqlite = self.catalog.dialect_of_shard(request.shard) == "sqlite"
            plan_words = "EXPLAIN QUERY PLAN" if is_sqlite else "EXPLAIN"  # SQLite's own EXPLAIN is byte code
            with self.open_source(request.source) as source:
                rows = source.rows(f"{plan_words} {request.sql}", request.params)
            texts[request.fragment, request.shard] = "\n".join(str(row[-1]).rstrip() for row in rows)
        return texts

    # -- its end ------------------------------------------------------------------------------

    def close(self) -> None:
        """Closes sources, threads and the merge. A second call does nothing."""
        with self._known.lock:
            self._is_closed = True
        self._finalizer()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _check_open(self) -> None:
        if self._is_closed:
            raise InterfaceError("the cluster is closed")
        if os.getpid() != self._pid:
            raise InterfaceError(
                "the cluster was opened in another process; its threads and engines did not come along",
                hint="Open a cluster in each process, after the fork",
            )


def _options(catalog: Catalog, given: Mapping[str, Any]) -> Options:
    """What the catalog's header says, overridden by what is given."""
    header: dict[str, Any] = {"time_zone": OWN_ZONE} if catalog.dialect in ("mysql", "postgres") else {}
    if "time_zone" in catalog.options:
        header["time_zone"] = catalog.options["time_zone"]
    if "connections_per_server" in catalog.options:
        header["requests_per_source_max"] = int(catalog.options["connections_per_server"])
    return Options(**{**header, **given})


def _close(resources: Resources, environments: Environments) -> None:
    resources.close()
    environments.close()
