"""con.each("by_file"): one statement, answered by each tenant by itself."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shardwise.dbapi import statements
from shardwise.dbapi.cursor import Cursor
from shardwise.dbapi.statements.base import Answer, Parameters
from shardwise.dbapi.statements.query import Query
from shardwise.errors import NotSupportedError
from shardwise.executor.guard import Guard
from shardwise.options import Options

if TYPE_CHECKING:
    from shardwise.dbapi.connection import Connection


class Each:
    """Runs statements on each member of a sharding. Made by `Connection.each`."""

    def __init__(self, connection: Connection, by: str, members: Iterable[Any] | None) -> None:
        self.connection = connection
        self.by = by
        self.members = None if members is None else tuple(members)

    def execute(self, sql: str, params: Parameters | None = None, **options: Any) -> Cursor:
        """A new cursor over the members' own answers to a query, one after the other.

        The first column is the member, then come the statement's own. ORDER BY, LIMIT, aggregates and windows
        are each member's: `SELECT count(*) FROM notes` gives a row for each, also for those without notes.
        """
        with self.connection.reading(sql, params) as text:
            if not isinstance(statements.parse(text), Query):
                raise NotSupportedError(
                    "each() takes queries", hint="Execute other statements on the connection itself"
                )
            return self.connection.cursor().run(_EachQuery(self, text), params, options)


@dataclass(frozen=True, slots=True)
class _EachQuery:
    each: Each
    sql: str

    def answer(self, connection: Connection, params: Parameters, options: Options, guard: Guard) -> Answer:
        result = connection.cluster.each(
            self.each.by,
            self.sql,
            params,
            options,
            locals=connection.locals,
            scope=connection.scope,
            guard=guard,
            members=self.each.members,
        )
        return Answer(result, (False, *(None,) * (len(result.columns) - 1)))
