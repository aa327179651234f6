"""SHOW: what the catalog says.

SHOW TABLES | SOURCES | SHARDS | SHARDINGS
SHOW COLUMNS FROM table          also DESCRIBE table
SHOW ROUTE FOR table KEY (value, …)
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from sqlglot import Token, TokenType

from shardwise.dbapi.show import LISTS, columns_of, route_of
from shardwise.dbapi.statements.base import Answer, Parameters, Statement, rows_of
from shardwise.dbapi.statements.text import last_position, position, position_of, tokens_after
from shardwise.errors import Reason, SQLSyntaxError
from shardwise.executor.guard import Guard
from shardwise.options import Options

if TYPE_CHECKING:
    from shardwise.dbapi.connection import Connection

SHOW_FORMS: Final = f"{', '.join(kind.upper() for kind in LISTS)}, COLUMNS FROM t, ROUTE FOR t KEY (…)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Show:
    """`kind` is "columns", "route" or one of the lists.

    `table` is (schema or None, name); `key` the values' SQL, one text each.
    """

    kind: str
    table: tuple[str | None, str] | None = None
    key: tuple[str, ...] = field(default=())

    @property
    def sql(self) -> str:
        return f"VALUES ({', '.join(self.key) or 1})"

    def answer(self, connection: Connection, params: Parameters, options: Options, guard: Guard) -> Answer:
        if self.table is None:
            columns, rows = LISTS[self.kind]
            return rows_of(columns, rows(connection))
        if self.kind == "route":
            return rows_of(*route_of(connection, self.table, self.key, params))
        return rows_of(*columns_of(connection.cluster.catalog, self.table))


def read(sql: str, end: int) -> Statement:
    """What follows SHOW."""
    tokens = tokens_after(sql, end)
    words = [t.text.lower() for t in tokens]
    match words:
        case ["all", "tables"]:
            return Show(kind="tables")
        case [kind] if kind in LISTS:
            return Show(kind=kind)
        case ["columns", "from" | "in", *name]:
            table, rest = _name(sql, tokens[2:], name)
            if not rest:
                return Show(kind="columns", table=table)
        case ["route", "for", *name]:
            table, rest = _name(sql, tokens[2:], name)
            if rest and rest[0].text.lower() == "key":
                return Show(kind="route", table=table, key=_key(sql, rest[1:]))
    raise _no_such_show(sql, tokens)


def _no_such_show(sql: str, tokens: list[Token]) -> SQLSyntaxError:
    at = position_of(sql, tokens[0]) if tokens else position(sql, len(sql) - 1)
    return SQLSyntaxError("SHOW does not read so", hint=f"It shows: {SHOW_FORMS}", position=at)


def _name(sql: str, tokens: list[Token], words: list[str]) -> tuple[tuple[str | None, str], list[Token]]:
    """A table name (`t`, `schema.t`) at the start of `tokens`, and what follows."""
    if not tokens or words[0] in ("key", "("):
        raise SQLSyntaxError(
            "a table name is missing", hint=f"SHOW shows: {SHOW_FORMS}", position=last_position(sql)
        )
    if len(words) > 2 and words[1] == ".":
        return (tokens[0].text, tokens[2].text), tokens[3:]
    return (None, tokens[0].text), tokens[1:]


def _key(sql: str, tokens: list[Token]) -> tuple[str, ...]:
    """The texts between the commas of `(…)`."""
    if len(tokens) < 3 or tokens[0].text != "(" or tokens[-1].text != ")":
        raise SQLSyntaxError(
            "a key is written KEY (value, …)",
            position=last_position(sql),
            reason=Reason.SYNTAX,
            hint="One value per key column",
        )
    values, depth, start = [], 0, tokens[0].end + 1
    for token in tokens[1:]:
        if depth == 0 and token.token_type in (TokenType.COMMA, TokenType.R_PAREN):
            values.append(sql[start : token.start].strip())
            start = token.end + 1
        depth += (token.token_type is TokenType.L_PAREN) - (token.token_type is TokenType.R_PAREN)
    return tuple(values)
