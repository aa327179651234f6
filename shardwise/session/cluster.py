"""The cluster: made once per process, shared by threads."""

from __future__ import annotations

import os
import re
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import fields, replace
from datetime import UTC, datetime
from functools import partial
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from shardwise.catalog import Catalog, load
from shardwise.catalog.files import lock_path, may_save_lock, update_lock
from shardwise.catalog.hints import did_you_mean
from shardwise.catalog.model import Table, View
from shardwise.errors import (
    CatalogError,
    Error,
    InterfaceError,
    InternalError,
    NotSupportedError,
    OperationalError,
    Reason,
    ShardUnavailable,
    SQLSyntaxError,
    UnknownName,
)
from shardwise.executor import duck
from shardwise.executor.backends.base import SourceOptions
from shardwise.executor.describe import HIDDEN_COLUMNS, Describer
from shardwise.executor.describing import AnyDescriber
from shardwise.executor.guard import Guard
from shardwise.executor.locals import LocalStore, StoredTable
from shardwise.executor.pools import Limits, OwnZones, SourcePool, Workers
from shardwise.executor.result import Result
from shardwise.executor.run import Environment, execute
from shardwise.executor.workers.processes import WorkerProcesses
from shardwise.options import OWN_ZONE, Options
from shardwise.plan.nodes import ColumnId, Output
from shardwise.plan.run import Plan
from shardwise.planner import (
    EVERYTHING,
    Context,
    MembersNeeded,
    PlanCache,
    Planner,
    Scope,
    Statement,
    scope_of,
)
from shardwise.planner.bind.information import INFORMATION
from shardwise.planner.context import Seen
from shardwise.session import information
from shardwise.session.analyzing import Analyzed, AnalyzeOptions, Analyzing, analyze, tables_named
from shardwise.session.each import each
from shardwise.session.each_result import EachResult, Question
from shardwise.session.engines import engine_of
from shardwise.session.learning import learn
from shardwise.session.listing import Lister
from shardwise.session.local_names import mentioned
from shardwise.session.locating import Locator, Secrets
from shardwise.session.members_seen import members_seen
from shardwise.session.opened import OpenedSource
from shardwise.session.parameters import Parameters, first_of_lists

if TYPE_CHECKING:
    from shardwise.dbapi import Connection
    from shardwise.session.indexes.states import Work

_REQUESTS_MAX = 32
_SOURCE_THREADS = 2
_SOURCES_MAX = 128
_ASKED_MAX = 3
"""Sources that are asked in turn for what any can tell."""
# What each open source may use, its cache of blocks included: at least this, else a quarter of the merge's.
_SOURCE_BYTES_MIN = 128 << 20
_OPTIONS = frozenset(f.name for f in fields(Options))


_HIDDEN = re.compile("|".join(HIDDEN_COLUMNS), re.IGNORECASE)


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
        self.declared = self.given = catalog
        self.file = file
        self.index_work: dict[str, Work] = {}
        """Of the one statement that works on indexes, under "": nothing else is ever in it."""
        self._directory = directory
        self.options = _options(catalog, options)
        self._lock = threading.RLock()
        self._learned: Catalog | None = None
        self._known: Catalog | None = None
        self._views: tuple[Catalog, Sequence[str]] | None = None
        self._settled: tuple[Options, Options] | None = None
        self._not_learned: Mapping[str, Error] = {}
        self._describers: dict[str, AnyDescriber] = {}
        self._environments: dict[AnyDescriber, Environment] = {}
        self._planner: Planner | None = None
        self._last_context: tuple[Options, Scope, Context] | None = None
        self.plan_cache = PlanCache()
        self._own_zones = OwnZones()
        self._pool = SourcePool(
            Locator(catalog, directory, secrets).locate,
            SourceOptions(
                threads=min(_SOURCE_THREADS, self.options.threads),
                memory_bytes_max=max(_SOURCE_BYTES_MIN, self.options.memory_bytes_max // 4),
                spill_directory=self.options.spill_directory,
            ),
            open_max=_SOURCES_MAX,
            own_zones=self._own_zones if self.options.time_zone == OWN_ZONE else None,
        )
        self._limits = Limits(total=_REQUESTS_MAX, place_of=self._pool.place_of)
        self._workers = Workers(_REQUESTS_MAX)
        self._processes = WorkerProcesses(self.options.processes_max)
        self._engine = engine_of(catalog.dialect)
        self._merge = self._engine.merge(catalog, self._pool)
        self._is_closed = False
        self._pid = os.getpid()
        # Nothing that is closed may hold the cluster, or it would never be dropped.
        closing = (self._workers.close, self._processes.close, self._merge.close, self._pool.close)
        self._finalizer = weakref.finalize(self, _close_all, closing, self._describers)

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
        params = self._engine.values(params)
        try:
            context = self._context(options, scope)
            if members or after is not None:
                context = replace(context, members=members or {}, after=after)
            statement = self._prepare(sql, options, locals)
            self._check_known(statement, is_pinned=scope.is_pinned)
            return self._planned(statement, params, context, options)
        except (UnknownName, SQLSyntaxError) as error:
            if error.position is None and error.view is None:
                self.columns_of(sql, params, options, locals)
            raise

    def _planned(self, statement: Statement, params: Parameters, context: Context, options: Options) -> Plan:
        """The statement's plan; what it needs of open families' members is listed, once for the statement."""
        while True:
            try:
                return statement.plan(params or None, context=context, options=options)
            except MembersNeeded as needed:
                listed = {needed.sharding: members_seen(self, needed.sharding, context.scope)}
                context = replace(context, members={**context.members, **listed})

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
        locals = self._relations(sql, locals or {}, options, scope)  # noqa: A001
        plan = self._plan(sql, params, options, locals, scope, after=after)
        shown = plan if not plan.hidden else replace(plan, columns=plan.columns[: -plan.hidden])
        columns = self.columns_of_plan(shown, params, options, locals)
        if plan.hidden:
            columns = self._with_hidden(plan, columns, options, locals)
        return self.start(plan, options, locals, columns, guard=guard, into=into)

    def _with_hidden(
        self,
        plan: Plan,
        shown: duck.Columns | None,
        options: Options,
        locals: Mapping[str, Any],  # noqa: A002
    ) -> duck.Columns | None:
        """The columns of a page, its keys' too. Other engines than DuckDB give them the same types anyhow."""
        if shown is None or self.declared.dialect != "duckdb":
            return None
        keys = plan.columns[-plan.hidden :]
        known = tuple((name, type_) for name, type_ in keys if type_ is not None)
        if len(known) < len(keys):
            with self.start(plan, options, locals, None) as result:
                known = tuple(result.columns[-plan.hidden :])
        return (*shown, *known)

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
        environment = self._environment(self.describer(options.time_zone))
        if into is not None:
            environment = replace(environment, merge=into)
        result = execute(
            plan.start(), environment, options, columns=columns, locals=locals, guard=guard, outer=outer
        )
        result.owner = self
        return result

    def _environment(self, describer: AnyDescriber) -> Environment:
        """Made once for a describer: each statement asks for it."""
        known = self._environments.get(describer)
        if known is None:
            known = self._environments[describer] = Environment(
                pool=self._pool,
                limits=self._limits,
                workers=self._workers,
                processes=self._processes,
                merge=self._merge,
                describer=describer,
            )
        return known

    def settled(self, options: Options) -> Options:
        """The options with the servers' own time zone, where no other was said: one is asked, once."""
        if options.time_zone != OWN_ZONE:
            return options
        before = self._settled
        if before is not None and before[0] is options:
            return before[1]
        if self._own_zones.zone is None:
            own = (
                source.name
                for source in self.declared.sources()
                if source.url is not None and self.declared.dialect_of(source.name) == self.declared.dialect
            )
            failed: ShardUnavailable | None = None
            for name in islice(own, _ASKED_MAX):
                try:
                    self._pool.lease(name).release()
                    break
                except ShardUnavailable as error:
                    failed = failed or error
            else:
                if failed is not None:
                    raise failed
        settled = replace(options, time_zone=self._own_zones.zone or "UTC")
        if self._own_zones.zone is not None:
            self._settled = (options, settled)
        return settled

    def check_schema(self, name: str | None) -> None:
        """Raises if there is no schema of that name in the catalog."""
        schemas = self.catalog.schemas() if name is not None else ()
        if name is not None and self.declared.dialect != "duckdb":
            raise NotSupportedError(
                f'there is no current schema in the query dialect "{self.declared.dialect}"',
                hint="Write the schema before a name",
            )
        if name is not None and name.casefold() not in map(str.casefold, schemas):
            raise UnknownName(
                f'there is no schema "{name}"',
                reason=Reason.CATALOG,
                sqlstate="3F000",
                hint=did_you_mean(name, schemas) or f"Schemas are {', '.join(schemas)}",
            )

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
    def catalog(self) -> Catalog:
        """The catalog; columns that neither it nor its lock file knows are read off the sources, once."""
        known = self._known  # set once all is learned: nobody need wait for the lock then
        if known is not None:
            return known
        with self._lock:
            if self._learned is None:
                self._learn()
                self._known = self._learned
            assert self._learned is not None
            return self._learned

    def _learn(self) -> None:
        """Those of open families last: to list their members may be to query the others."""
        try:
            for are_open in (False, True):
                known = self._learned or self.declared
                found, failed = learn(known, self.open_source, self.members, are_open=are_open)
                if self._learned is not None and found is not self._learned:
                    self.plan_cache.clear()
                    for describer in self._describers.values():
                        describer.close()
                    self._describers.clear()
                    self._environments.clear()
                self._learned, self._not_learned = found, {**self._not_learned, **failed}
        except BaseException:
            self._learned = None
            raise

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
            catalog = self.catalog
            analyzing = Analyzing(catalog, self._pool, self._limits, self.members, options, own)
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
        kept: Path | None = None
        with self._lock:
            if self.file is not None and (needs_file or may_save_lock(self.file)):
                kept = lock_path(self.file)
                try:
                    update_lock(self.file, change)
                except OSError as error:
                    raise OperationalError(f'cannot write "{kept}": {error.strerror}') from error
            before = self.declared.indexes()
            self.declared = change(self.declared)
            self._learned = change(self._learned) if self._learned is not None else None
            self._known = self._learned if self._known is not None else None
            self.plan_cache.clear()
            if self.declared.indexes() != before:  # statements that run have theirs; others read its table
                self._describers.clear()
                self._environments.clear()
        return kept

    @contextmanager
    def beside(self, catalog: Catalog) -> Iterator[Cluster]:
        """This cluster with another catalog of the same sources, whose columns are known; for the block."""
        self._check_open()
        other = copy(self)
        other.declared = other._learned = other._known = catalog
        other.file, other._lock = None, threading.RLock()
        other._views, other._settled, other._not_learned = None, None, {}
        other._describers, other._environments = {}, {}
        other._planner, other._last_context, other.plan_cache = None, None, PlanCache()
        try:
            yield other
        finally:
            for describer in other._describers.values():
                describer.close()

    @property
    def pool(self) -> SourcePool:
        """The sources that are open."""
        return self._pool

    def describer(self, time_zone: str | None = None) -> AnyDescriber:
        """What tells names and types of columns."""
        zone = time_zone or self.settled(self.options).time_zone
        self._check_open()
        known = self._describers.get(zone)
        if known is not None:
            return known
        with self._lock:
            self._check_open()
            if zone not in self._describers:
                self._describers[zone] = self._engine.describer(self.catalog, self._pool, zone)
            return self._describers[zone]

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

    def open_source(self, name: str) -> OpenedSource:
        """A source, to look into: closed by the caller."""
        self._check_open()
        lease = self._pool.lease(name)
        try:
            zone = self.options.time_zone
            return OpenedSource(lease, lease.connect("UTC" if zone == OWN_ZONE else zone))
        except BaseException:
            lease.release()
            raise

    def close(self) -> None:
        """Closes sources, threads and the merge. A second call does nothing."""
        with self._lock:
            self._is_closed = True
        self._finalizer()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- inside -------------------------------------------------------------------------------

    def _relations(
        self,
        sql: str,
        locals: Mapping[str, Any],  # noqa: A002
        options: Options,
        scope: Scope,
    ) -> Mapping[str, Any]:
        """What a statement may read that is in the merge: the connection's own, and information_schema."""
        views = self._information_views
        if not locals and not views and INFORMATION not in sql.casefold():
            return locals
        if information.is_in(locals):
            return locals
        found = mentioned(sql, locals)
        texts = (sql, *(r.sql for r in found.values() if isinstance(r, View)), *views)
        names = information.wanted(texts)
        describer = self.describer(options.time_zone) if names else None
        if isinstance(describer, Describer):
            found |= information.relations(
                names, describer.information, locals, shows_texts=not scope.is_pinned
            )
        return found

    @property
    def _information_views(self) -> Sequence[str]:
        """The texts of the catalog's views that read information_schema."""
        catalog = self.catalog
        if self._views is None or self._views[0] is not catalog:
            self._views = (catalog, information.views_of(catalog))
        return self._views[1]

    def _context(self, options: Options, scope: Scope) -> Context:
        self.check_schema(options.schema)
        before, now = self._last_context, datetime.now(UTC)
        if before is not None and before[0] is options and before[1] is scope:
            return before[2].at(now)
        made = Context(
            now=now,
            time_zone=options.time_zone,
            schema=options.schema,
            database=self.declared.name,
            scope=scope,
        )
        self._last_context = options, scope, made
        return made

    def _prepare(self, sql: str, options: Options, locals: Mapping[str, Any] | None) -> Statement:  # noqa: A002
        if locals:
            described = {
                n: d if isinstance(d, View) else self._local(n, d, options) for n, d in locals.items()
            }
            return Planner(self.catalog).prepare(sql, locals=described)
        catalog, planner = self.catalog, self._planner
        if not options.plan_cache:
            return Planner(catalog).prepare(sql)
        if planner is None or planner.catalog is not catalog:
            planner = self._planner = Planner(catalog, self.plan_cache)
        return planner.prepare(sql)

    def _local(self, name: str, data: Any, options: Options) -> tuple[Output, ...] | View:
        if isinstance(data, View):
            return data
        if isinstance(data, StoredTable):
            columns = data.columns
        else:
            columns = self.describer(options.time_zone).local(name, data)
        return tuple(Output(ColumnId(name, column), type_) for column, type_ in columns)

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
        described = partial(self.describer(options.time_zone).describe, schema=options.schema, near=near)
        text, values = self._engine.text(sql, params)
        try:
            return described(text, values, locals)
        except Error:
            first = first_of_lists(values)
            if first is None:
                raise
            return described(text, first, locals)

    def columns_of_plan(
        self,
        plan: Plan,
        params: Parameters,
        options: Options,
        locals: Mapping[str, Any] | None,  # noqa: A002
    ) -> duck.Columns | None:
        """The result's names and types as one database would give them; None: the merge will tell."""
        if locals:
            return self._columns_anew(plan, params, options, locals)
        known = plan.memo.get("columns")
        if known is None:
            known = plan.memo["columns"] = (self._columns_anew(plan, params, options, locals),)
        columns: duck.Columns | None = known[0]
        return columns

    def _columns_anew(
        self,
        plan: Plan,
        params: Parameters,
        options: Options,
        locals: Mapping[str, Any] | None,  # noqa: A002
    ) -> duck.Columns | None:
        has_hidden = _HIDDEN.search(plan.sql) is not None
        if not plan.columns and "pivot" in plan.sql.lower():
            return None  # its columns depend on the rows, and without rows there may be none
        try:
            found = self.columns_of(plan.sql, params, options, locals, _first_source(plan))
        except Error as error:
            if not has_hidden or not isinstance(error, UnknownName):
                raise
            found = ()
        if not plan.columns:
            return found or None  # kept whole: only the engine knows its columns
        if len(found) == len(plan.columns):
            return found
        if has_hidden:
            # `*` does not show hidden columns, of which the engine knows nothing.
            return None
        raise InternalError(f"the plan has {len(plan.columns)} columns, the statement {len(found)}")

    def _check_known(self, statement: Statement, *, is_pinned: bool) -> None:
        """Raises what kept a table's columns from being read; the next statement tries to read them again.

        What went wrong was on the first shard, of which a pinned connection is told nothing.
        """
        for name in statement.tables if self._not_learned else ():
            relation = self.catalog.table(name)
            error = self._not_learned.get(name.casefold()) or self._not_learned.get("*")
            unknown = relation is None or (isinstance(relation, Table) and relation.columns is None)
            if error is not None and unknown:
                with self._lock:
                    self._learned, self._known, self._not_learned = None, None, {}
                    self.plan_cache.clear()
                    self._describers.clear()
                    self._environments.clear()
                if is_pinned:
                    raise CatalogError(
                        f'the columns of "{name}" could not be read',
                        hint="A connection that is not pinned is told why",
                    )
                raise error.with_traceback(None)

    def _check_open(self) -> None:
        if self._is_closed:
            raise InterfaceError("the cluster is closed")
        if os.getpid() != self._pid:
            raise InterfaceError(
                "the cluster was opened in another process; its threads and engines did not come along",
                hint="Open a cluster in each process, after the fork",
            )


def _first_source(plan: Plan) -> str | None:
    """The source of the first shard that is asked."""
    asked = (fragment for fragment in plan.fragments if fragment.route.shards)
    first = next(asked, None)
    return None if first is None else first.source_of(first.route.shards[0])


def _options(catalog: Catalog, given: Mapping[str, Any]) -> Options:
    """What the catalog's header says, overridden by what is given."""
    header: dict[str, Any] = {"time_zone": OWN_ZONE} if catalog.dialect in ("mysql", "postgres") else {}
    if "time_zone" in catalog.options:
        header["time_zone"] = catalog.options["time_zone"]
    if "connections_per_server" in catalog.options:
        header["requests_per_source_max"] = int(catalog.options["connections_per_server"])
    return Options(**{**header, **given})


def _close_all(closing: tuple[Callable[[], None], ...], describers: Mapping[str, AnyDescriber]) -> None:
    for close in closing:
        close()
    for describer in describers.values():
        describer.close()
