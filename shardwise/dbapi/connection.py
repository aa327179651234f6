"""PEP 249's connection: options, local tables and cursors over one cluster."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, Self

import pyarrow as pa

from shardwise import errors
from shardwise.dbapi.cursor import Cursor, Parameters
from shardwise.dbapi.each import Each
from shardwise.dbapi.explanation import Explanation
from shardwise.dbapi.local_tables import LocalTables, check_hides_nothing
from shardwise.dbapi.paramstyle import ParamStyle, Reading, checked, in_this_style
from shardwise.dbapi.statements import explain
from shardwise.errors import InterfaceError, ProgrammingError, Reason
from shardwise.options import OWN_ZONE, Options
from shardwise.planner import EVERYTHING, Scope
from shardwise.planner.context import Seen
from shardwise.session.indexes import Watcher

if TYPE_CHECKING:
    from shardwise.executor.guard import Guard
    from shardwise.executor.locals import LocalStore
    from shardwise.executor.result import Result
    from shardwise.plan.run import Plan
    from shardwise.session import Cluster

_OPTIONS = frozenset(f.name for f in fields(Options))


class Connection:
    """Cursors that share options and local tables. Made by `Cluster.connect()` or `shardwise.connect()`.

    Threads may share it (each with its own cursors); what is costly, pools and caches, is the cluster's.
    """

    Warning = errors.Warning
    Error = errors.Error
    InterfaceError = errors.InterfaceError
    DatabaseError = errors.DatabaseError
    DataError = errors.DataError
    OperationalError = errors.OperationalError
    IntegrityError = errors.IntegrityError
    InternalError = errors.InternalError
    ProgrammingError = errors.ProgrammingError
    NotSupportedError = errors.NotSupportedError

    def __init__(
        self,
        cluster: Cluster,
        options: Options,
        *,
        owns_cluster: bool = False,
        scope: Scope = EVERYTHING,
        paramstyle: str = "qmark",
    ) -> None:
        self.cluster = cluster
        self.options = options
        self.paramstyle: ParamStyle = checked(paramstyle)
        self._scope = scope
        self._owns_cluster = owns_cluster
        self._is_closed = False
        self._cursors: weakref.WeakSet[Cursor] = weakref.WeakSet()
        self.local_tables = LocalTables()
        self.on_index_progress: Watcher | None = None
        """Called as a statement of this connection builds an index, after each batch."""

    def reading(self, sql: str, params: object) -> Reading:
        """The text as the planner reads it, of the connection's paramstyle."""
        return Reading(self.paramstyle, sql, params, dialect=self.cluster.declared.dialect)

    def in_its_style(self, text: str) -> str:
        """A message about parameters, in the words of the connection's paramstyle."""
        return text if self.paramstyle in ("qmark", "named") else in_this_style(text)

    def cursor(self) -> Cursor:
        """A new cursor."""
        self.check_open()
        return Cursor(self)

    def execute(self, sql: str, params: Parameters | None = None, **options: Any) -> Cursor:
        """A new cursor on which the statement was executed; see `Cursor.execute`."""
        return self.cursor().execute(sql, params, **options)

    def explain(
        self, sql: str, params: Parameters | None = None, *, mode: str = "", **options: Any
    ) -> Explanation:
        """What a query would do, as text and as a notebook shows it.

        `mode` is empty or names what EXPLAIN takes in parentheses: "analyze", "route", "steps", "shards".
        """
        with self.reading(sql, params) as text:
            cursor = self.cursor().run(explain.of(text, mode), params, options)
        names = [column.name for column in cursor.description or ()]
        return Explanation(columns=tuple(names), rows=tuple(cursor.fetchall()))

    def register(self, name: str, data: object) -> None:
        """Makes `data` a table for this connection's statements, until it is unregistered.

        A pandas or polars DataFrame, an Arrow table, or any object with `__arrow_c_stream__`, which is read
        at once, for a stream gives its rows only once. The rows stay here: what joins them is gathered.
        """
        self.check_open()
        if not name or not isinstance(name, str):
            raise ProgrammingError("a local table needs a name")
        check_hides_nothing(self.cluster.catalog, self.options.schema, name)
        self.local_tables.put(name, _as_table(data), replaces=True)

    def unregister(self, name: str) -> None:
        """Forgets a local table; an unknown name is no error."""
        self.check_open()
        self.local_tables.remove(name)

    @property
    def locals(self) -> Mapping[str, Any]:
        """The local tables and views by name. Never changed in place, so a statement may keep it."""
        return self.local_tables.relations

    @property
    def scope(self) -> Scope:
        """The rows that its statements see."""
        return self._scope

    def scoped(self, **keys: Any) -> Connection:
        """A further connection to the same cluster; its scope has these keys set, each to a value or a list.

            with con.scoped(tenant="acme") as acme:
                acme.execute("SELECT count(*) FROM orders")

        It has this one's options, registered data and views. Closing it leaves this one as it is.
        """
        self.check_open()
        self._check_not_pinned()
        scope = self.cluster.scope_of(keys, before=self._scope)
        connection = Connection(self.cluster, self.options, scope=scope, paramstyle=self.paramstyle)
        connection.local_tables.inherit(self.local_tables)
        return connection

    def each(self, by: str, *, members: Iterable[Any] | None = None) -> Each:
        """Runs statements on each member of the sharding `by` by itself: of a DIRECTORY each of its members,
        or those of `members`; of another sharding each shard.

            con.each("by_file").execute("SELECT count(*) FROM notes")     # ('acme', 3), ('globex', 0), …
        """
        self.check_open()
        self._check_not_pinned()
        return Each(self, by, members)

    def set_scope(self, keys: Mapping[str, Any]) -> None:
        """Sets keys of its scope for the statements that follow, as SET SCOPE does."""
        self.check_open()
        self._check_not_pinned()
        self._scope = self.cluster.scope_of(keys, before=self._scope)

    def reset_scope(self) -> None:
        """Has the statements that follow see all rows, as RESET SCOPE does."""
        self.check_open()
        self._check_not_pinned()
        self._scope = EVERYTHING

    def _check_not_pinned(self) -> None:
        if self._scope.is_pinned:
            raise ProgrammingError(
                "the connection is pinned to its scope, which cannot be changed",
                hint="Make another connection for another scope: cluster.connect(scope=…)",
                reason=Reason.SCOPE,
            )

    def interrupt(self) -> None:
        """Stops all statements of this connection, from any thread; their fetches raise `Cancelled`."""
        for cursor in list(self._cursors):
            cursor.cancel()

    def commit(self) -> None:
        """Does nothing: statements only read."""
        self.check_open()

    def rollback(self) -> None:
        """Does nothing: statements only read."""
        self.check_open()

    def close(self) -> None:
        """Stops its statements and closes its cursors. A second call does nothing."""
        if self._is_closed:
            return
        for cursor in list(self._cursors):
            cursor.close()
        self._is_closed = True
        self.local_tables.close()
        if self._owns_cluster:
            self.cluster.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- for cursors ----------------------------------------------------------------------------

    def plan(
        self,
        sql: str,
        params: Parameters,
        options: Options,
        *,
        locals: Mapping[str, Any] | None = None,  # noqa: A002
    ) -> Plan:
        """What a query would do, in the connection's scope, with its local tables or `locals`."""
        relations = self.locals if locals is None else locals
        return self.cluster.plan(sql, params, options, locals=relations, scope=self._scope)

    def run(
        self,
        sql: str,
        params: Parameters,
        options: Options,
        guard: Guard,
        *,
        locals: Mapping[str, Any] | None = None,  # noqa: A002
        into: LocalStore | None = None,
        after: Seen | None = None,
    ) -> Result:
        """Runs a query so; the caller closes the result, whose rows can be kept in the store `into`."""
        relations = self.locals if locals is None else locals
        return self.cluster.run(
            sql, params, options, locals=relations, guard=guard, scope=self._scope, into=into, after=after
        )

    def options_with(self, changes: Mapping[str, Any]) -> Options:
        """The connection's options with a statement's own."""
        if not changes:
            return self.options
        unknown = sorted(set(changes) - _OPTIONS)
        if unknown:
            raise TypeError(f"unknown option {unknown[0]!r}; options are {', '.join(sorted(_OPTIONS))}")
        return replace(self.options, **changes)

    @property
    def time_zone(self) -> str:
        """The name of the session's time zone."""
        zone = self.options.time_zone
        return zone if zone != OWN_ZONE else self.cluster.settled(self.options).time_zone

    def opened(self, cursor: Cursor) -> None:
        """A cursor whose statements `interrupt` and `close` must reach."""
        self._cursors.add(cursor)

    def check_open(self) -> None:
        """Raises if the connection is closed."""
        if self._is_closed:
            raise InterfaceError("the connection is closed")


def _as_table(data: object) -> object:
    """What the merge can scan again and again: pandas' frames as they are, all else as an Arrow table."""
    if isinstance(data, pa.Table) or type(data).__module__.split(".")[0] == "pandas":
        return data
    if hasattr(data, "__arrow_c_stream__"):
        return pa.RecordBatchReader.from_stream(data).read_all()
    raise ProgrammingError(
        f"an object of type {type(data).__name__} cannot be read as a table",
        hint="Give a pandas or polars DataFrame, an Arrow table, or anything with __arrow_c_stream__",
    )
