"""SHOW: what the catalog says.

    SHOW TABLES | VIEWS | SCHEMAS | SOURCES | SHARDS | SHARDINGS [LIKE 'pattern' | WHERE condition]
    SHOW CACHE | CACHE STATEMENTS [LIKE 'pattern' | WHERE condition]
    SHOW COLUMNS FROM table [LIKE 'pattern' | WHERE condition]        also DESCRIBE table
    SHOW STATISTICS [FOR table] [LIKE 'pattern' | WHERE condition]
    SHOW CREATE TABLE | VIEW name
    SHOW ROUTE FOR table KEY (value, …)

LIKE is about the first column, letter case aside. WHERE is SQL over the columns shown.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from sqlglot import Token, TokenType, exp

from shardwise.catalog.model import Table
from shardwise.dbapi.show import (
    CREATED,
    LISTS,
    STATISTICS,
    columns_of,
    created,
    found,
    route_of,
    statistics_of,
)
from shardwise.dbapi.statements.base import Answer, Parameters, Statement, rows_of
from shardwise.dbapi.statements.query import described
from shardwise.dbapi.statements.text import last_position, position, position_of, tokens_after
from shardwise.errors import Reason, SQLSyntaxError
from shardwise.executor.duck import identifier
from shardwise.executor.guard import Guard
from shardwise.options import Options
from shardwise.planner.bind.information import INFORMATION

if TYPE_CHECKING:
    from shardwise.dbapi.connection import Connection

SHOW_FORMS: Final = (
    f"{', '.join(kind.upper() for kind in LISTS)}, COLUMNS FROM t, STATISTICS FOR t, CREATE TABLE t, "
    "ROUTE FOR t KEY (…)"
)
_SHOWN: Final = "shown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Show:
    """`kind` is "columns", "create", "route" or one of the lists.

    `table` is (schema or None, name); `key` the values' SQL, one text each. `like` is the SQL after LIKE;
    `where` a query of what is shown, in which the condition has its place.
    """

    kind: str
    table: tuple[str | None, str] | None = None
    key: tuple[str, ...] = field(default=())
    like: str | None = None
    where: str | None = None

    @property
    def sql(self) -> str:
        return self.where or f"VALUES ({self.like or ', '.join(self.key) or 1})"

    def answer(self, connection: Connection, params: Parameters, options: Options, guard: Guard) -> Answer:
        if self.kind == "route" and self.table is not None:
            return rows_of(*route_of(connection, self.table, self.key, params))
        if self.kind == "create" and self.table is not None:
            return rows_of(CREATED, created(connection, self.table))
        if self.like is None and self.where is None:
            return self._all(connection, (), options, guard)
        shown = self._all(connection, (), options, guard)
        assert shown.rows is not None
        table = shown.rows.arrow_reader(65_536).read_all()
        dialect, first = connection.cluster.catalog.dialect, table.column_names[0]
        sql = self.where or f"FROM {_SHOWN} WHERE {identifier(first)} ILIKE {self.like}"
        if dialect != "duckdb":
            name = exp.to_identifier(first, quoted=True).sql(dialect)
            condition = f"FROM {_SHOWN} WHERE LOWER({name}) LIKE LOWER({self.like})"
            sql = f"SELECT * {self.where or condition}"
        result = connection.run(sql, params, options, guard, locals={**connection.locals, _SHOWN: table})
        return Answer(result, (None,) * len(result.columns))

    def _all(self, connection: Connection, params: Parameters, options: Options, guard: Guard) -> Answer:
        if self.kind == "statistics" and self.table is not None:
            return rows_of(STATISTICS, statistics_of(connection, self.table))
        if self.table is None:
            columns, rows = LISTS[self.kind]
            return rows_of(columns, rows(connection))
        schema, name = self.table
        if schema is None or schema.lower() != INFORMATION:
            _, relation = found(connection, self.table)
            if isinstance(relation, Table):
                return rows_of(*columns_of(relation))
        query = f"SELECT * FROM {exp.table_(name, db=schema, quoted=True).sql('duckdb')}"
        return described(connection, query, params, options, guard)


def read(sql: str, end: int) -> Statement:
    """What follows SHOW."""
    tokens, like, where = _filter(sql, tokens_after(sql, end))
    words = [t.text.lower() for t in tokens]
    match words:
        case ["all", "tables"]:
            return Show(kind="tables", like=like, where=where)
        case ["cache", "statements"]:
            return Show(kind="cache statements", like=like, where=where)
        case [kind] if kind in LISTS:
            return Show(kind=kind, like=like, where=where)
        case ["columns", "from" | "in", *name]:
            table, rest = _name(sql, tokens[2:], name)
            if not rest:
                return Show(kind="columns", table=table, like=like, where=where)
        case ["statistics", "for", *name]:
            table, rest = _name(sql, tokens[2:], name)
            if not rest:
                return Show(kind="statistics", table=table, like=like, where=where)
        case ["create", "table" | "view", *name]:
            table, rest = _name(sql, tokens[2:], name)
            if not rest and like is None and where is None:
                return Show(kind="create", table=table)
        case ["route", "for", *name]:
            table, rest = _name(sql, tokens[2:], name)
            if rest and rest[0].text.lower() == "key":
                return Show(kind="route", table=table, key=_key(sql, rest[1:]))
    raise _no_such_show(sql, tokens)


def _filter(sql: str, tokens: list[Token]) -> tuple[list[Token], str | None, str | None]:
    """The tokens before LIKE or WHERE, and what follows: the SQL after LIKE, or a query with the condition.

    The query has the condition where the user wrote it, for errors to point there.
    """
    for n, token in enumerate(tokens):
        word = token.text.lower() if token.token_type is not TokenType.IDENTIFIER else ""
        if n == 0 or word not in ("like", "ilike", "where"):
            continue
        if n + 1 == len(tokens):
            raise SQLSyntaxError(f"{word.upper()} needs something after it", position=last_position(sql))
        rest = sql[: tokens[-1].end + 1]
        if word == "where":
            before = sql[: token.start]
            column = token.start - (before.rfind("\n") + 1)
            lines = before.count("\n")
            start = (
                f"FROM {_SHOWN}".ljust(0 if lines else column) + "\n" * lines + " " * (column if lines else 0)
            )
            return tokens[:n], None, start + rest[token.start :]
        if tokens[n + 1].token_type not in _PATTERNS or len(tokens) > n + 2 + _length(tokens[n + 1 :]):
            raise SQLSyntaxError(
                "LIKE is followed by a text or a parameter", position=position_of(sql, tokens[n + 1])
            )
        return tokens[:n], rest[tokens[n + 1].start :], None
    return tokens, None, None


_PATTERNS: Final = (TokenType.STRING, TokenType.PLACEHOLDER, TokenType.COLON, TokenType.PARAMETER)


def _length(tokens: list[Token]) -> int:
    """Tokens of a pattern beyond its first: `:name` and `$1` are two."""
    return 0 if tokens[0].token_type in (TokenType.STRING, TokenType.PLACEHOLDER) else 1


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
