"""DESCRIBE query: the columns that a query would give. DESCRIBE table is SHOW COLUMNS."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import TokenType

from shardwise.dbapi.statements.base import Answer, Parameters, Statement
from shardwise.dbapi.statements.query import described
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
        return described(connection, self.sql, params, options, guard)


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
