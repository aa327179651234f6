"""Indexes over shards:

    CREATE [UNIQUE] LOOKUP INDEX name ON table (column, …)
    CREATE JOIN INDEX name ON a.x = b.y [INCLUDE (a.z, …)] SHARD BY sharding (a.k)
    CHECK LOOKUP | JOIN INDEX name [REPAIR]
    DROP LOOKUP | JOIN INDEX [IF EXISTS] name

CREATE builds the index, whether or not the catalog's file declares it. docs/indexes.md is for users.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from sqlglot import Token, TokenType

from shardwise.catalog.model import JoinIndex, LookupIndex
from shardwise.dbapi.statements import local
from shardwise.dbapi.statements.base import Answer, Parameters, Statement, rows_of
from shardwise.dbapi.statements.text import last_position, position_of, tokens_after, word_at
from shardwise.errors import NotSupportedError, ProgrammingError, Reason, SQLSyntaxError, UnknownName
from shardwise.executor.guard import Guard
from shardwise.options import Options
from shardwise.session.indexes import Asked, build, check, declare, drop, existing

if TYPE_CHECKING:
    from shardwise.dbapi.connection import Connection

Kind = type[LookupIndex] | type[JoinIndex]
_NO_PARAMETERS: Final = "VALUES (1)"

BUILT: Final = (("index", "VARCHAR"), ("rows", "BIGINT"), ("built_at", "VARCHAR"), ("note", "VARCHAR"))
FOUND: Final = (("shard", "VARCHAR"), ("found", "VARCHAR"), ("rows", "BIGINT"), ("repaired", "BOOLEAN"))


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateIndex:
    """`text` is the whole statement, in the catalog's language."""

    text: str
    sql: str = field(default=_NO_PARAMETERS, init=False)

    def answer(self, connection: Connection, params: Parameters, options: Options, guard: Guard) -> Answer:
        asked = _asked(connection, params, options, guard)
        made = build(connection.cluster, declare(connection.cluster, self.text), asked)
        note = f"put into the catalog's file: {made.declaration}" if made.declaration else None
        return rows_of(BUILT, [(made.name, made.rows, made.built_at, note)])


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckIndex:
    """A row for each shard and kind of difference; none where the index is as its base tables are."""

    kind: Kind
    name: str
    repair: bool = False
    sql: str = field(default=_NO_PARAMETERS, init=False)

    def answer(self, connection: Connection, params: Parameters, options: Options, guard: Guard) -> Answer:
        asked = _asked(connection, params, options, guard)
        index = existing(connection.cluster.catalog, self.name, self.kind)
        return rows_of(FOUND, check(connection.cluster, index, asked, repair=self.repair))


@dataclass(frozen=True, slots=True, kw_only=True)
class DropIndex:
    """Of the index tables; what the catalog's file declares stays declared."""

    kind: Kind
    name: str
    if_exists: bool = False
    sql: str = field(default=_NO_PARAMETERS, init=False)

    def answer(self, connection: Connection, params: Parameters, options: Options, guard: Guard) -> Answer:
        asked = _asked(connection, params, options, guard)
        try:
            index = existing(connection.cluster.catalog, self.name, self.kind)
        except UnknownName:
            if self.if_exists:
                return Answer(None)
            raise
        drop(connection.cluster, index, asked)
        return Answer(None)


def _asked(connection: Connection, params: Parameters, options: Options, guard: Guard) -> Asked:
    if params:
        raise ProgrammingError("a statement about an index has no parameters", reason=Reason.PARAMETERS)
    if connection.scope.is_pinned or connection.scope:
        raise ProgrammingError(
            "an index is of all rows, and the connection has a scope",
            hint="Use a connection without one, or RESET SCOPE",
            reason=Reason.SCOPE,
        )
    return Asked(options=options, guard=guard, watcher=connection.on_index_progress)


# -- the texts -------------------------------------------------------------------------------------


def read_create(sql: str, end: int) -> Statement:
    """What follows CREATE JOIN, CREATE LOOKUP or CREATE UNIQUE."""
    is_unique = word_at(sql, word_at(sql, 0).end).text == "unique"
    wanted = ["lookup", "index"] if is_unique else ["index"]
    if _words(tokens_after(sql, end), len(wanted)) == wanted:
        return CreateIndex(text=sql)
    if is_unique:
        return read_of_no_kind(sql, end)
    return local.read_create(sql, word_at(sql, 0).end)


def read_drop(sql: str, end: int) -> Statement:
    """What follows DROP JOIN or DROP LOOKUP."""
    kind, tokens = _of_kind(sql, end, "DROP")
    if_exists = _words(tokens, 2) == ["if", "exists"]
    name, rest = _name(sql, tokens[2:] if if_exists else tokens)
    _check_end(sql, rest, "DROP … INDEX [IF EXISTS] name")
    return DropIndex(kind=kind, name=name, if_exists=if_exists)


def read_check(sql: str, end: int) -> Statement:
    """What follows CHECK JOIN or CHECK LOOKUP."""
    kind, tokens = _of_kind(sql, end, "CHECK")
    name, rest = _name(sql, tokens)
    repair = _words(rest, 1) == ["repair"]
    _check_end(sql, rest[1:] if repair else rest, "CHECK … INDEX name [REPAIR]")
    return CheckIndex(kind=kind, name=name, repair=repair)


def read_of_no_kind(sql: str, end: int) -> Statement:
    """CREATE [UNIQUE], CHECK or DROP INDEX: an index over shards is of one of two kinds."""
    word = word_at(sql, 0)
    verb = word.text.upper()
    raise NotSupportedError(
        f"{verb} is not supported of an index without its kind",
        position=position_of(sql, word),
        hint=f"Write {verb} JOIN INDEX or {verb} LOOKUP INDEX for one over shards. "
        "Indexes within a source are made there, and need not be declared",
    )


def read_repair(sql: str, end: int) -> Statement:
    """REPAIR is a word at the end of CHECK."""
    raise SQLSyntaxError(
        "no statement begins with REPAIR",
        position=position_of(sql, word_at(sql, 0)),
        hint="Write CHECK JOIN INDEX name REPAIR or CHECK LOOKUP INDEX name REPAIR",
    )


def _of_kind(sql: str, end: int, verb: str) -> tuple[Kind, list[Token]]:
    tokens = tokens_after(sql, end)
    if _words(tokens, 1) != ["index"]:
        at = position_of(sql, tokens[0]) if tokens else last_position(sql)
        raise SQLSyntaxError(
            "INDEX is missing", position=at, hint=f"Write {verb} JOIN INDEX or {verb} LOOKUP INDEX"
        )
    word = word_at(sql, word_at(sql, 0).end).text
    return (JoinIndex if word == "join" else LookupIndex), tokens[1:]


def _name(sql: str, tokens: list[Token]) -> tuple[str, list[Token]]:
    if not tokens or tokens[0].text in ("(", ")", ",", ".", ";"):
        at = position_of(sql, tokens[0]) if tokens else last_position(sql)
        raise SQLSyntaxError("the name of an index is missing", position=at)
    return tokens[0].text, tokens[1:]


def _check_end(sql: str, rest: list[Token], form: str) -> None:
    if rest:
        raise SQLSyntaxError(
            "the statement does not read so", position=position_of(sql, rest[0]), hint=f"Write {form}"
        )


def _words(tokens: list[Token], count: int) -> list[str]:
    """The first words, in lower case; a quoted name is none."""
    return [t.text.lower() if t.token_type is not TokenType.IDENTIFIER else "" for t in tokens[:count]]
