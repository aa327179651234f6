"""The current schema, where names without a schema are looked for before the default one:

USE schema
SET schema | search_path = schema [, main]
RESET schema | search_path
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from sqlglot import TokenType

from shardwise.catalog.model import MAIN
from shardwise.dbapi.statements.base import Answer, Parameters, Statement
from shardwise.dbapi.statements.text import last_position, position_of, tokens_after
from shardwise.errors import NotSupportedError, SQLSyntaxError
from shardwise.executor.guard import Guard
from shardwise.options import Options

if TYPE_CHECKING:
    from shardwise.dbapi.connection import Connection


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """Of the connection, from the next statement on. None is the default schema."""

    schema: str | None
    sql: str = field(default="VALUES (1)", init=False)

    def answer(self, connection: Connection, params: Parameters, options: Options, guard: Guard) -> Answer:
        connection.cluster.check_schema(self.schema)
        connection.options = replace(connection.options, schema=self.schema)
        return Answer(None)


def read(sql: str, end: int) -> Statement:
    """What follows USE, SET SCHEMA or SET SEARCH_PATH."""
    tokens = tokens_after(sql, end)
    if tokens and tokens[0].text.lower() in ("=", "to"):
        tokens = tokens[1:]
    path = sql[tokens[0].start : tokens[-1].end + 1] if tokens else ""
    names = [t.text for t in tokens[::2]]
    if not names or any(t.text != "," for t in tokens[1::2]) or len(tokens) % 2 == 0:
        at = tokens[1] if len(tokens) > 1 else None
        raise SQLSyntaxError(
            "the name of a schema is missing" if not tokens else f'"{path}" is no name of a schema',
            position=position_of(sql, at) if at is not None else last_position(sql),
            hint="Write USE name; SHOW SCHEMAS lists them",
        )
    if len(names) == 1 and tokens[0].token_type is TokenType.STRING:  # SET search_path = 'crm,main'
        names = [name.strip() for name in names[0].split(",")]
    if len(names) > 2 or (len(names) == 2 and names[1].lower() != MAIN):
        raise NotSupportedError(
            "names are looked for in one schema, then in the default one",
            hint="Write the schema before a name of another: crm.contacts",
            position=position_of(sql, tokens[0]),
        )
    return Use(schema=None if names[0].lower() == MAIN else names[0])


def read_reset(sql: str, end: int) -> Statement:
    """What follows RESET SCHEMA or RESET SEARCH_PATH."""
    tokens = tokens_after(sql, end)
    if tokens:
        raise SQLSyntaxError("RESET does not read so", position=position_of(sql, tokens[0]))
    return Use(schema=None)
