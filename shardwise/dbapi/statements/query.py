"""A query, which the planner reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from shardwise.dbapi.nullability import nullability
from shardwise.dbapi.statements.base import Answer, Parameters
from shardwise.executor.guard import Guard
from shardwise.executor.result import Result
from shardwise.options import Options

if TYPE_CHECKING:
    from shardwise.dbapi.connection import Connection


@dataclass(frozen=True, slots=True)
class Query:
    """Anything that the planner is to answer."""

    sql: str

    def answer(self, connection: Connection, params: Parameters, options: Options, guard: Guard) -> Answer:
        result = connection.run(self.sql, params, options, guard)
        return Answer(result, known_nullability(result))


def known_nullability(result: Result) -> tuple[bool | None, ...]:
    """For each column whether it may be NULL."""
    known = nullability(result.plan.root)
    return known if len(known) == len(result.columns) else (None,) * len(result.columns)
