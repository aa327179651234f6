"""ANALYZE [TABLE] [name, …] [FROM SOURCES] [WITHOUT VALUES]: statistics of tables, for estimates.

Without names all tables of the catalog are looked at. docs/statistics.md says what is collected and how.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from sqlglot import Token, TokenType

from shardwise.catalog.model import Table, View
from shardwise.dbapi.show import TableName, found
from shardwise.dbapi.statements.base import Answer, Parameters, Statement, rows_of
from shardwise.dbapi.statements.text import last_position, position_of, tokens_after
from shardwise.errors import NotSupportedError, Reason, SQLSyntaxError
from shardwise.executor.guard import Guard
from shardwise.options import Options
from shardwise.session.analyzing import Analyzed

if TYPE_CHECKING:
    from shardwise.dbapi.connection import Connection

COLUMNS: Final = (
    ("table", "VARCHAR"),
    ("rows", "BIGINT"),
    ("columns", "BIGINT"),
    ("source", "VARCHAR"),
    ("looked_at", "VARCHAR"),
    ("left_out", "VARCHAR"),
    ("kept_in", "VARCHAR"),
    ("seconds", "DOUBLE"),
)
_HOW: Final = "Write ANALYZE [table, …] [FROM SOURCES] [WITHOUT VALUES]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Analyze:
    """`tables` are (schema or None, name); none are all."""

    tables: tuple[TableName, ...] = ()
    from_sources: bool = False
    values: bool = True
    sql: str = field(default="VALUES (1)", init=False)

    def answer(self, connection: Connection, params: Parameters, options: Options, guard: Guard) -> Answer:
        if connection.scope.is_pinned:
            raise NotSupportedError(
                "ANALYZE is not answered on a pinned connection: statistics tell of rows out of its scope",
                hint="Run it on a connection that is not pinned, or by `shardwise catalog analyze`",
                reason=Reason.SCOPE,
            )
        tables = [_table(connection, name) for name in self.tables]
        done = connection.cluster.analyze(
            *tables, from_sources=self.from_sources, values=self.values, options=options, guard=guard
        )
        return rows_of(COLUMNS, (row_of(each) for each in done))


def row_of(done: Analyzed) -> tuple[object, ...]:
    """What the statement, and `shardwise catalog analyze`, say of a table."""
    statistics = done.statistics
    return (
        statistics.full_name,
        statistics.rows,
        sum(1 for name in statistics.columns if name not in done.left_out),
        statistics.source,
        done.looked_at,
        ", ".join(f"{name} ({kind})" for name, kind in done.left_out.items()) or None,
        done.kept_in,
        round(done.seconds, 3),
    )


def _table(connection: Connection, name: TableName) -> Table:
    full_name, relation = found(connection, name)
    if isinstance(relation, Table):
        return relation
    if isinstance(relation, View):
        raise NotSupportedError(
            f'"{full_name}" is a view, and statistics are of tables', hint="ANALYZE the tables that it reads"
        )
    raise NotSupportedError(f'"{full_name}" is a local table: how many rows it has is known')


def read(sql: str, end: int) -> Statement:
    """What follows ANALYZE."""
    tokens = tokens_after(sql, end)
    words = [_word(token) for token in tokens]
    values = words[-2:] != ["without", "values"]
    if not values:
        tokens, words = tokens[:-2], words[:-2]
    from_sources = words[-2:] == ["from", "sources"]
    if from_sources:
        tokens, words = tokens[:-2], words[:-2]
    if words[:1] == ["table"] and len(words) > 1:
        tokens = tokens[1:]
    return Analyze(tables=_names(sql, tokens), from_sources=from_sources, values=values)


def _word(token: Token) -> str:
    """A word that is not in quotes, in lower case."""
    return "" if token.token_type in (TokenType.IDENTIFIER, TokenType.STRING) else token.text.lower()


def _names(sql: str, tokens: list[Token]) -> tuple[TableName, ...]:
    names: list[TableName] = []
    at = 0
    while at < len(tokens):
        first = tokens[at]
        if not _is_name(first):
            raise _wrong(sql, first)
        at += 1
        if at + 1 < len(tokens) and tokens[at].text == "." and _is_name(tokens[at + 1]):
            names.append((first.text, tokens[at + 1].text))
            at += 2
        else:
            names.append((None, first.text))
        if at == len(tokens):
            return tuple(names)
        if tokens[at].text != "," or at + 1 == len(tokens):
            raise _wrong(sql, tokens[at])
        at += 1
    return tuple(names)


def _is_name(token: Token) -> bool:
    is_word = token.text[:1].isalpha() or token.text[:1] == "_"
    return token.token_type is TokenType.IDENTIFIER or (token.token_type is not TokenType.STRING and is_word)


def _wrong(sql: str, token: Token) -> SQLSyntaxError:
    at = position_of(sql, token) if token.text else last_position(sql)
    return SQLSyntaxError("ANALYZE does not read so", hint=_HOW, position=at)
