"""A query, which the planner reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from shardwise.dbapi.nullability import nullability
from shardwise.dbapi.results import PagedRows
from shardwise.dbapi.show import DESCRIBED
from shardwise.dbapi.statements.base import Answer, Parameters, rows_of
from shardwise.executor.guard import Guard
from shardwise.executor.result import Result
from shardwise.options import Options
from shardwise.planner.context import Seen

if TYPE_CHECKING:
    from shardwise.dbapi.connection import Connection


@dataclass(frozen=True, slots=True)
class Query:
    """Anything that the planner is to answer."""

    sql: str
    after: Seen | None = None

    def answer(self, connection: Connection, params: Parameters, options: Options, guard: Guard) -> Answer:
        result = connection.run(self.sql, params, options, guard, after=self.after)
        hidden = result.plan.hidden
        if hidden:
            return Answer(PagedRows(result, hidden), known_nullability(result)[:-hidden])
        return Answer(result, known_nullability(result))


def known_nullability(result: Result) -> tuple[bool | None, ...]:
    """For each column whether it may be NULL (None: not known, as of SQLite, whose keys may be)."""
    if not result.is_typed:
        return (None,) * len(result.columns)
    memo, count = result.plan.memo, len(result.columns)
    known: tuple[bool | None, ...] | None = memo.get("nullability")
    if known is None:
        known = memo["nullability"] = nullability(result.plan.root)
    return known if len(known) == count else (None,) * count


def described(connection: Connection, sql: str, params: Parameters, options: Options, guard: Guard) -> Answer:
    """A query's columns. It is started and stopped: rows are moved only as they are asked for."""
    with connection.run(sql, params, options, guard) as result:
        known = zip(result.columns, known_nullability(result), strict=True)
        rows = [
            (n, code, "NO" if null_ok is False else "YES", None, None, None) for (n, code), null_ok in known
        ]
    return rows_of(DESCRIBED, rows)
