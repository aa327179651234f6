"""What a connection may make for itself, and drop again:

    CREATE [OR REPLACE] TEMP TABLE [IF NOT EXISTS] name [(column, …)] AS query [WITH [NO] DATA]
    CREATE [OR REPLACE] TEMP VIEW [IF NOT EXISTS] name [(column, …)] AS query
    DROP TABLE | VIEW [IF EXISTS] name

The query keeps its place in the text, so that positions in errors are the user's own.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from sqlglot import Token, TokenType

from shardwise.catalog.model import View
from shardwise.dbapi.local_tables import check_hides_nothing, exists_already
from shardwise.dbapi.statements import refused
from shardwise.dbapi.statements.base import Answer, Parameters, Statement
from shardwise.dbapi.statements.text import (
    blanked,
    last_position,
    position_of,
    tokens_after,
    word_at,
)
from shardwise.errors import NotSupportedError, ProgrammingError, Reason, SQLSyntaxError
from shardwise.executor.guard import Guard
from shardwise.options import Options
from shardwise.planner.bind.scope import unique_names

if TYPE_CHECKING:
    from shardwise.dbapi.connection import Connection

Kind = Literal["table", "view"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Create:
    """`sql` is the query, what stands around it blanked."""

    kind: Kind
    name: str
    sql: str
    columns: tuple[str, ...] = ()
    replaces: bool = False
    if_not_exists: bool = False
    with_rows: bool = True

    def answer(self, connection: Connection, params: Parameters, options: Options, guard: Guard) -> Answer:
        catalog, tables = connection.cluster.catalog, connection.local_tables
        if catalog.dialect != "duckdb":
            raise NotSupportedError(
                f'local {self.kind}s are not there in the query dialect "{catalog.dialect}"',
                hint="Fetch the rows, and register them on the connection",
            )
        check_hides_nothing(catalog, options.schema, self.name)
        found = tables.find(self.name)
        if found is not None and not self.replaces:
            if self.if_not_exists:
                return Answer(None, rowcount=0)
            raise exists_already(*found)
        if found is not None:
            self._check_kind(*found)
        if self.kind == "view":
            return self._view(connection, params, options)
        return self._table(connection, params, options, guard)

    def _check_kind(self, name: str, found: object) -> None:
        if isinstance(found, View) != (self.kind == "view"):
            other = "view" if isinstance(found, View) else "table"
            raise ProgrammingError(
                f'"{name}" is a local {other}, and is not replaced by a {self.kind}',
                hint=f"DROP {other.upper()} {name} first",
            )

    def _table(self, connection: Connection, params: Parameters, options: Options, guard: Guard) -> Answer:
        tables = connection.local_tables
        store = tables.store(connection.options)
        result = connection.run(self.sql, params, options, guard, into=store)
        try:
            names = self._names(tuple(name for name, _ in result.columns))
        except BaseException:
            result.close()
            raise
        table = store.keep(result, names, with_rows=self.with_rows)
        tables.put(self.name, table, replaces=self.replaces)
        return Answer(None, rowcount=table.rows)

    def _names(self, found: tuple[str, ...]) -> tuple[str, ...]:
        if len(self.columns) > len(found):
            raise ProgrammingError(
                f'{len(self.columns)} columns are named, and the query of "{self.name}" has {len(found)}'
            )
        return unique_names((*self.columns, *found[len(self.columns) :]))

    def _view(self, connection: Connection, params: Parameters, options: Options) -> Answer:
        if params:
            raise ProgrammingError("a view has no parameters", reason=Reason.PARAMETERS)
        tables = connection.local_tables
        view = View(name=self.name, schema=options.schema, sql=self.sql.strip(), columns=self.columns)
        others = {n: r for n, r in tables.relations.items() if n.casefold() != self.name.casefold()}
        plan = connection.plan(self.sql, (), options, locals=others)
        if plan.columns:
            self._names(tuple(name for name, _ in plan.columns))
        tables.put(self.name, view, replaces=self.replaces)
        return Answer(None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Drop:
    """Of a local table or view."""

    kind: Kind
    name: str
    if_exists: bool = False
    sql: str = field(default="VALUES (1)", init=False)

    def answer(self, connection: Connection, params: Parameters, options: Options, guard: Guard) -> Answer:
        tables = connection.local_tables
        found = tables.find(self.name)
        if found is None:
            catalog = connection.cluster.catalog
            if (catalog.table(self.name, options.schema) or catalog.table(self.name)) is not None:
                raise NotSupportedError(
                    f'"{self.name}" is a {self.kind} of the catalog: a statement drops local ones only',
                    hint="Edit the catalog file",
                )
            if not self.if_exists:
                raise tables.unknown(self.name, self.kind)
            return Answer(None)
        is_view = isinstance(found[1], View)
        if is_view != (self.kind == "view"):
            other = "VIEW" if is_view else "TABLE"
            raise ProgrammingError(
                f'"{found[0]}" is a local {other.lower()}', hint=f"Write DROP {other} {found[0]}"
            )
        tables.remove(self.name)
        return Answer(None)


# -- the texts -------------------------------------------------------------------------------------


def read_create(sql: str, end: int) -> Statement:
    """What follows CREATE."""
    words = _Words(sql, tokens_after(sql, end))
    replaces = words.take("or", "replace")
    is_temporary = words.take("temp") or words.take("temporary")
    kind: Kind | None = "table" if words.take("table") else "view" if words.take("view") else None
    if kind is None or not is_temporary:
        raise _not_created(sql, kind)
    if_not_exists = words.take("if", "not", "exists")
    name = _local_name(words, kind)
    columns = _column_names(words) if words.take("(") else ()
    at = words.next
    if not words.take("as") or at is None:
        raise SQLSyntaxError(
            f"a local {kind} is made from a query: CREATE TEMP {kind.upper()} {name} AS SELECT …",
            position=position_of(sql, at) if at is not None else last_position(sql),
            hint="Data of your own goes in by register()" if kind == "table" else None,
        )
    query, with_rows = _query(sql, at.end + 1, words.rest, kind)
    return Create(
        kind=kind,
        name=name,
        sql=query,
        columns=columns,
        replaces=replaces,
        if_not_exists=if_not_exists,
        with_rows=with_rows,
    )


def read_drop(sql: str, end: int) -> Statement:
    """What follows DROP."""
    words = _Words(sql, tokens_after(sql, end))
    kind: Kind | None = "table" if words.take("table") else "view" if words.take("view") else None
    if kind is None:
        refused.check(sql, word_at(sql, 0))
    assert kind is not None
    if_exists = words.take("if", "exists")
    name = _local_name(words, kind)
    if not (words.take("cascade") or words.take("restrict")) and words.next is not None:
        raise SQLSyntaxError(
            f"DROP {kind.upper()} does not read so",
            position=position_of(sql, words.next),
            hint=f"Write DROP {kind.upper()} [IF EXISTS] name",
        )
    return Drop(kind=kind, name=name, if_exists=if_exists)


class _Words:
    """Tokens, taken from the front."""

    def __init__(self, sql: str, tokens: list[Token]) -> None:
        self.sql = sql
        self.rest = tokens

    @property
    def next(self) -> Token | None:
        return self.rest[0] if self.rest else None

    def take(self, *words: str) -> bool:
        """Whether these words, in lower case, come next; they are taken then."""
        found = [t.text.lower() for t in self.rest[: len(words)] if t.token_type is not TokenType.IDENTIFIER]
        if found != list(words):
            return False
        self.rest = self.rest[len(words) :]
        return True

    def name(self, what: str) -> str:
        token = self.next
        if token is None or token.text in ("(", ")", ",", ".", ";"):
            at = position_of(self.sql, token) if token is not None else last_position(self.sql)
            raise SQLSyntaxError(f"the name of a {what} is missing", position=at)
        self.rest = self.rest[1:]
        return token.text


def _local_name(words: _Words, kind: Kind) -> str:
    at = words.next
    name = words.name(kind)
    if words.take("."):
        if name.lower() != "temp" or at is None:
            raise NotSupportedError(
                f"a local {kind} is in no schema",
                hint="Leave the schema out",
                position=position_of(words.sql, at) if at is not None else None,
            )
        name = words.name(kind)
    return name


def _column_names(words: _Words) -> tuple[str, ...]:
    names = [words.name("column")]
    while words.take(","):
        names.append(words.name("column"))
    if not words.take(")"):
        at = words.next
        raise SQLSyntaxError(
            "columns are named without types: those are the query's",
            position=position_of(words.sql, at) if at is not None else last_position(words.sql),
            hint="Write CREATE TEMP TABLE t (a, b) AS SELECT …, with a CAST in the query for another type",
        )
    return tuple(names)


def _query(sql: str, start: int, tokens: list[Token], kind: Kind) -> tuple[str, bool]:
    """The query with all else blanked, and whether its rows are wanted: WITH [NO] DATA may follow it."""
    with_rows, end = True, len(sql)
    words = [t.text.lower() for t in tokens]
    for tail in (["with", "no", "data"], ["with", "data"]) if kind == "table" else ():
        if words[-len(tail) :] == tail:
            with_rows, end = len(tail) == 2, tokens[-len(tail)].start
            words = words[: -len(tail)]
            break
    if not words:
        raise SQLSyntaxError("a query is missing after AS", position=last_position(sql))
    refused.check(sql, word_at(sql, start))
    return blanked(sql[:end], start).rstrip().rstrip(";"), with_rows


def _not_created(sql: str, kind: Kind | None) -> NotSupportedError:
    hint = "Declare tables in the catalog file; `shardwise catalog import` reads their columns"
    if kind is not None:
        hint = f"Write CREATE TEMP {kind.upper()} … AS SELECT … for one of this connection. {hint}"
    return NotSupportedError(
        "CREATE is not supported: shardwise reads only: it does not define or change tables",
        hint=hint,
        position=position_of(sql, word_at(sql, 0)),
    )
