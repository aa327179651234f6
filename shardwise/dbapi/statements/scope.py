"""SET SCOPE, RESET SCOPE and SHOW SCOPE: which rows the connection's statements see.

SET SCOPE tenant = 'acme'                     a shard key's value, or a parameter
SET SCOPE tenant IN ('acme', 'zeta'), shard IN (s1, s2)
RESET SCOPE
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

from sqlglot import Token, TokenType

from shardwise.dbapi.results import Row
from shardwise.dbapi.statements.base import Answer, Parameters, Statement, rows_of
from shardwise.dbapi.statements.text import last_position, position_of, tokens_after
from shardwise.errors import ProgrammingError, Reason, SQLSyntaxError
from shardwise.executor.guard import Guard
from shardwise.options import Options
from shardwise.planner.scopes.scope import SHARD

if TYPE_CHECKING:
    from shardwise.dbapi.connection import Connection

_COLUMNS: Final = (("name", "VARCHAR"), ("value", "VARCHAR"), ("pinned", "BOOLEAN"))
_HINT: Final = (
    "Write SET SCOPE tenant = 'acme', SET SCOPE tenant IN ('acme', 'zeta'), SET SCOPE shard IN (s1, s2)"
)


@dataclass(frozen=True, slots=True)
class Placeholder:
    """A parameter: its position from 0, or its name."""

    key: int | str


@dataclass(frozen=True, slots=True)
class SetScope:
    """`items` are names, each with its values or placeholders, and whether it was written as a list."""

    items: tuple[tuple[str, tuple[Any, ...], bool], ...]

    @property
    def sql(self) -> str:
        found = [v.key for _, values, _ in self.items for v in values if isinstance(v, Placeholder)]
        texts = ["?" if isinstance(key, int) else f":{key}" for key in found]
        return f"VALUES ({', '.join(texts) or 1})"

    def answer(self, connection: Connection, params: Parameters, options: Options, guard: Guard) -> Answer:
        self._check_count(params)
        given = {}
        for name, values, is_list in self.items:
            found: list[Any] = []
            for value in values:
                bound = _value(value, params) if isinstance(value, Placeholder) else value
                found += bound if is_list and isinstance(bound, list | tuple | set | frozenset) else [bound]
            given[name] = found
        connection.set_scope(given)
        return Answer(None)

    def _check_count(self, params: Parameters) -> None:
        wanted = sum(
            isinstance(v, Placeholder) and isinstance(v.key, int)
            for _, values, _ in self.items
            for v in values
        )
        if not isinstance(params, Mapping) and len(params) != wanted:
            raise ProgrammingError(
                f"the statement takes {wanted} values for its parameters, {len(params)} were given",
                reason=Reason.PARAMETERS,
                hint="Pass one value for each ?",
                sqlstate="07001",
            )


def _value(placeholder: Placeholder, params: Parameters) -> Any:
    key = placeholder.key
    if isinstance(key, int) and not isinstance(params, Mapping):
        return params[key]
    if isinstance(key, str) and isinstance(params, Mapping) and key in params:
        return params[key]
    raise ProgrammingError(
        f'the statement\'s parameter "{"?" if isinstance(key, int) else ":" + key}" was given no value',
        reason=Reason.PARAMETERS,
        hint="Pass a sequence for ?, or a mapping for :name",
        sqlstate="07001",
    )


@dataclass(frozen=True, slots=True)
class ResetScope:
    """Back to all rows."""

    sql: str = "VALUES (1)"

    def answer(self, connection: Connection, params: Parameters, options: Options, guard: Guard) -> Answer:
        connection.reset_scope()
        return Answer(None)


@dataclass(frozen=True, slots=True)
class ShowScope:
    """A row per value of the connection's scope."""

    sql: str = "VALUES (1)"

    def answer(self, connection: Connection, params: Parameters, options: Options, guard: Guard) -> Answer:
        return rows_of(_COLUMNS, self._rows(connection))

    def _rows(self, connection: Connection) -> Iterator[Row]:
        scope = connection.scope
        for key in scope.keys:
            for value in key.values:
                yield key.name, str(value), scope.is_pinned
        for shard in scope.shards or ():
            yield SHARD, shard, scope.is_pinned


def read_set(sql: str, end: int) -> Statement:
    """What follows SET SCOPE."""
    tokens = tokens_after(sql, end)
    items: list[tuple[str, tuple[Any, ...], bool]] = []
    reader = _Reader(sql, tokens)
    while True:
        items.append(reader.item())
        if reader.is_done:
            return SetScope(tuple(items))
        reader.need(",")


def read_reset(sql: str, end: int) -> Statement:
    """What follows RESET SCOPE: nothing."""
    _no_more(sql, end)
    return ResetScope()


def read_show(sql: str, end: int) -> Statement:
    """What follows SHOW SCOPE: nothing."""
    _no_more(sql, end)
    return ShowScope()


def _no_more(sql: str, end: int) -> None:
    tokens = tokens_after(sql, end)
    if tokens:
        raise SQLSyntaxError("the statement ends at SCOPE", position=position_of(sql, tokens[0]))


class _Reader:
    """item := name ('=' value | IN '(' value {',' value} ')')."""

    def __init__(self, sql: str, tokens: list[Token]) -> None:
        self._sql = sql
        self._tokens = tokens
        self._at = 0
        self._placeholders = 0

    @property
    def is_done(self) -> bool:
        return self._at >= len(self._tokens)

    def item(self) -> tuple[str, tuple[Any, ...], bool]:
        token = self._take()
        is_name = token.token_type is TokenType.IDENTIFIER or token.text.isidentifier()
        if not is_name or token.token_type is TokenType.STRING:
            raise self._error(token)
        is_shard = token.text.casefold() == SHARD
        if self._accept("="):
            return token.text, (self._one(is_shard=is_shard),), False
        self.need("IN")
        if not self._is_next("("):
            return token.text, (self._one(is_shard=is_shard),), True
        self.need("(")
        values = [self._one(is_shard=is_shard)]
        while self._accept(","):
            values.append(self._one(is_shard=is_shard))
        self.need(")")
        return token.text, tuple(values), True

    def need(self, text: str) -> None:
        if not self._accept(text):
            raise self._error(None if self.is_done else self._tokens[self._at])

    def _one(self, *, is_shard: bool) -> Any:
        token = self._take()
        kind = token.token_type
        if kind is TokenType.STRING:
            return token.text
        if kind is TokenType.DASH and self._is_next(TokenType.NUMBER):
            return -_number(self._take().text)
        if kind is TokenType.NUMBER:
            return _number(token.text)
        if kind in (TokenType.TRUE, TokenType.FALSE):
            return kind is TokenType.TRUE
        if kind is TokenType.NULL:
            return None
        if kind is TokenType.PLACEHOLDER:
            self._placeholders += 1
            return Placeholder(self._placeholders - 1)
        if kind in (TokenType.COLON, TokenType.PARAMETER):
            return Placeholder(self._take().text)
        if is_shard and (kind is TokenType.IDENTIFIER or token.text.isidentifier()):
            return token.text
        raise self._error(token)

    def _take(self) -> Token:
        if self.is_done:
            raise self._error(None)
        self._at += 1
        return self._tokens[self._at - 1]

    def _is_next(self, what: str | TokenType) -> bool:
        token = None if self.is_done else self._tokens[self._at]
        if token is None or isinstance(what, TokenType):
            return token is not None and token.token_type is what
        quoted = (TokenType.STRING, TokenType.IDENTIFIER)
        return token.text.upper() == what and token.token_type not in quoted

    def _accept(self, what: str) -> bool:
        found = self._is_next(what)
        self._at += found
        return found

    def _error(self, token: Token | None) -> SQLSyntaxError:
        where = last_position(self._sql) if token is None else position_of(self._sql, token)
        return SQLSyntaxError("SET SCOPE does not read so", hint=_HINT, position=where)


def _number(text: str) -> int | Decimal:
    return int(text) if text.isdecimal() else Decimal(text)
