"""A statement's text to its plan: in which context, by which planner, over which relations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from shardwise.catalog.hints import did_you_mean
from shardwise.catalog.model import Catalog, View
from shardwise.errors import NotSupportedError, Reason, UnknownName
from shardwise.executor.describing import AnyDescriber
from shardwise.executor.locals import StoredTable
from shardwise.options import Options
from shardwise.plan.nodes import ColumnId, Output
from shardwise.plan.run import Plan
from shardwise.planner import Context, MembersNeeded, PlanCache, Planner, Scope, Statement
from shardwise.session.parameters import Parameters

LocalColumns = Mapping[str, "tuple[Output, ...] | View"]
"""What the planner is told of relations on no shard: their columns, or a view's text."""


class Planning:
    """The planner and the context that were last used: most statements want the same again."""

    def __init__(self, plan_cache: PlanCache) -> None:
        self._plan_cache = plan_cache
        self._planner: Planner | None = None
        self._last: tuple[Options, Scope, Context] | None = None

    def context(self, catalog: Catalog, options: Options, scope: Scope) -> Context:
        """What a plan depends on besides text, values and catalog, now."""
        if options.schema is not None:
            check_schema(catalog, options.schema)
        last, now = self._last, datetime.now(UTC)
        if last is not None and last[0] is options and last[1] is scope:
            return last[2].at(now)
        made = Context(
            now=now,
            time_zone=options.time_zone,
            schema=options.schema,
            database=catalog.name,
            scope=scope,
        )
        self._last = options, scope, made
        return made

    def prepared(self, catalog: Catalog, sql: str, options: Options, locals: LocalColumns) -> Statement:  # noqa: A002
        """The statement, read; it is kept for the next time unless it names what only a connection has."""
        if locals:
            return Planner(catalog).prepare(sql, locals=locals)
        if not options.plan_cache:
            return Planner(catalog).prepare(sql)
        planner = self._planner
        if planner is None or planner.catalog is not catalog:
            planner = self._planner = Planner(catalog, self._plan_cache)
        return planner.prepare(sql)


def planned(
    statement: Statement,
    params: Parameters,
    context: Context,
    options: Options,
    members: Callable[[str], tuple[str, ...]],
) -> Plan:
    """The statement's plan; what it needs of open families' `members` is listed, once for the statement."""
    while True:
        try:
            return statement.plan(params or None, context=context, options=options)
        except MembersNeeded as needed:
            listed = {needed.sharding: members(needed.sharding)}
            context = replace(context, members={**context.members, **listed})


def local_columns(relations: Mapping[str, Any], describer: Callable[[], AnyDescriber]) -> LocalColumns:
    """What the planner is told of these relations."""
    return {name: _local(name, data, describer) for name, data in relations.items()}


def _local(name: str, data: Any, describer: Callable[[], AnyDescriber]) -> tuple[Output, ...] | View:
    if isinstance(data, View):
        return data
    columns = data.columns if isinstance(data, StoredTable) else describer().local(name, data)
    return tuple(Output(ColumnId(name, column), type_) for column, type_ in columns)


def check_schema(catalog: Catalog, name: str) -> None:
    """Raises if there is no schema of that name in the catalog."""
    schemas = catalog.schemas()
    if catalog.dialect != "duckdb":
        raise NotSupportedError(
            f'there is no current schema in the query dialect "{catalog.dialect}"',
            hint="Write the schema before a name",
        )
    if name.casefold() not in map(str.casefold, schemas):
        raise UnknownName(
            f'there is no schema "{name}"',
            reason=Reason.CATALOG,
            sqlstate="3F000",
            hint=did_you_mean(name, schemas) or f"Schemas are {', '.join(schemas)}",
        )
