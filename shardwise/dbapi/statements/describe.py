"""DESCRIBE query: the columns that a query would give. DESCRIBE table is SHOW COLUMNS."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import TokenType

from shardwise.dbapi.results import Row
from shardwise.dbapi.show import DESCRIBED
from shardwise.dbapi.statements.base import Answer, Parameters, Statement, rows_of
from shardwise.dbapi.statements.query import known_nullability
from shardwise.dbapi.statements.show import Show
from shardwise.dbapi.statements.text import blanked, last_position, tokens_after
from shardwise.errors import SQLSyntaxError
from shardwise.executor.guard import Guard
from shardwise.options import Options

if TYPE_CHECKING:
    from shardwise.dbapi.connection import Connection


@dataclass(frozen=True, slots=True)
class Describe:
    """`sql` is the query whose columns are asked for, what stands before it blanked."""

    sql: str

    def answer(self, connection: Connection, params: Parameters, options: Options, guard: Guard) -> Answer:
        """The query is started and stopped: rows are moved only as they are asked for."""
        return rows_of(DESCRIBED, self._columns(connection, params, options, guard))

    def _columns(
        self, connection: Connection, params: Parameters, options: Options, guard: Guard
    ) -> Iterator[Row]:
        with connection.run(self.sql, params, options, guard) as result:
            known = known_nullability(result)
            for (name, code), null_ok in zip(result.columns, known, strict=True):
                yield name, code, "NO" if null_ok is False else "YES", None, None, None


def read(sql: str, end: int) -> Statement:
    """What follows DESCRIBE."""
    tokens = tokens_after(sql, end)
    if tokens and tokens[0].text.lower() == "table":
        tokens = tokens[1:]
    names = [t for t in tokens if t.token_type in (TokenType.VAR, TokenType.IDENTIFIER)]
    if len(tokens) == 2 * len(names) - 1 and 1 <= len(names) <= 3:
        return Show(kind="columns", table=(names[-2].text if len(names) > 1 else None, names[-1].text))
    if not tokens:
        raise SQLSyntaxError("DESCRIBE needs a table or a query", position=last_position(sql))
    return Describe(blanked(sql, end))
