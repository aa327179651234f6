"""A fragment's query, in logical names, as the text for one shard, in its physical names.

    SELECT o.id FROM orders AS o WHERE o.total > 9
    =>  SELECT o.id FROM orders_24 AS o WHERE o.total > 9                   one partition on the shard
    =>  SELECT o.id FROM (SELECT id, total FROM orders_00                   several
            UNION ALL SELECT id, total FROM orders_01) AS o WHERE o.total > 9

The text is generated once, with holes where tables are; filling them in is all that is done per shard, and
not even that where no table's name depends on the shard. Partitions may have their columns in any order, so
where they are put together the columns are listed.

How the source's dialect writes it is its `Syntax`; the query is in that dialect already.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from sqlglot import exp

from shardwise.caching import cached_property
from shardwise.catalog.model import Catalog, Column, SlotSet, Table
from shardwise.catalog.templates import Template
from shardwise.catalog.types import Family, type_family
from shardwise.errors import InternalError
from shardwise.plan.gaps import NO_GAPS, Gap, Gaps
from shardwise.plan.nodes import Node, Scan
from shardwise.plan.sql import own_mysql, sqlite
from shardwise.plan.sql.names import NO_COLUMNS, Names, identifier, name_text
from shardwise.plan.sql.servers import MYSQL, POSTGRES, Printer, postgres_type
from shardwise.plan.sql.sources import MARK, RAW
from shardwise.plan.sql.text import text_of
from shardwise.plan.tree import walk


@dataclass(frozen=True, slots=True, kw_only=True)
class Syntax:
    """How a dialect writes what is put together here; `null_of` is a NULL of a declared type, `member` the
    name of a DIRECTORY's member as a value of its virtual column's type, `default` a constant as one of a
    type.

    `unknown_is_text`: a quoted name that nothing has is a text there, so that a column must not stand alone.
    `lends_columns`: a table of which no partition is wanted reads as nothing of one that is there, for CAST
    has not all the types and collations that columns have.
    `fence` ends partitions that are put together where `is_fenced` says so of the query: the engine is not to
    take them apart and join each by itself.
    """

    text: Callable[[exp.Expr], str]
    name: Callable[[str], str]
    string: Callable[[str], str]
    null_of: Callable[[str], str]
    member: Callable[[str, str], str]
    default: Callable[[exp.Expr, str], str]
    never: str
    unknown_is_text: bool = False
    lends_columns: bool = False
    fence: str = ""
    is_fenced: Callable[[exp.Query], bool] = lambda query: False

    def column(self, table: str, column: str) -> str:
        """A column of a physical table."""
        name = self.name(column)
        return f"{self.table(table)}.{name}" if self.unknown_is_text and name.startswith('"') else name

    def table(self, name: str) -> str:
        """A physical name; a dot in it parts schema and table."""
        schema, _, table = name.rpartition(".")
        return f"{self.name(schema)}.{self.name(table)}" if schema else self.name(table)


def duckdb_string(text: str) -> str:
    """A text as a constant."""
    return "'" + text.replace("'", "''") + "'"


DUCKDB = Syntax(
    text=lambda tree: tree.sql(dialect="duckdb"),
    name=name_text,
    string=duckdb_string,
    null_of=lambda of_type: f"CAST(NULL AS {of_type})",
    member=lambda text, of_type: f"CAST({duckdb_string(text)} AS {of_type})",
    default=lambda constant, of_type: f"CAST({constant.sql(dialect='duckdb')} AS {of_type})",
    never="FALSE",
)


def sqlite_default(constant: exp.Expr) -> str:
    """A default as a cell of a file would hold it."""
    while isinstance(constant, (exp.Cast, exp.Paren)):
        constant = constant.this
    if isinstance(constant, exp.Boolean):
        return str(int(bool(constant.this)))
    if isinstance(constant, exp.Literal) and constant.is_string:
        return sqlite.string_text(constant.name)
    return constant.sql(dialect="sqlite")


def _is_whole(of_type: str) -> bool:
    return type_family(of_type, "duckdb") is Family.INT


SQLITE = Syntax(
    text=sqlite.sqlite_text,
    name=sqlite.name_text,
    string=sqlite.string_text,
    null_of=lambda of_type: "NULL",
    member=lambda text, of_type: text if _is_whole(of_type) else sqlite.string_text(text),
    default=lambda constant, of_type: sqlite_default(constant),
    never="0",
    unknown_is_text=True,
)


def server_default(constant: exp.Expr, of_type: str, printer: Printer) -> str:
    """A default as a value of the type, on a server."""
    while isinstance(constant, (exp.Cast, exp.Paren)):
        constant = constant.this
    is_text = isinstance(constant, exp.Literal) and constant.is_string
    text = printer.string(constant.name) if is_text else constant.sql(dialect="duckdb")
    return text if printer is MYSQL else f"CAST({text} AS {postgres_type(of_type)})"


SERVER_MYSQL = Syntax(
    text=MYSQL.text,
    name=MYSQL.name,
    string=MYSQL.string,
    null_of=MYSQL.null,
    member=lambda text, of_type: text if _is_whole(of_type) else MYSQL.string(text),
    default=lambda constant, of_type: server_default(constant, of_type, MYSQL),
    never="FALSE",
)
SERVER_POSTGRES = Syntax(
    text=POSTGRES.text,
    name=POSTGRES.name,
    string=lambda text: f"CAST({POSTGRES.string(text)} AS text)",
    null_of=POSTGRES.null,
    member=lambda text, of_type: f"CAST({POSTGRES.string(text)} AS {postgres_type(of_type)})",
    default=lambda constant, of_type: server_default(constant, of_type, POSTGRES),
    never="FALSE",
)
SYNTAXES: Mapping[str, Syntax] = {
    "duckdb": DUCKDB,
    "sqlite": SQLITE,
    "mysql": SERVER_MYSQL,
    "postgres": SERVER_POSTGRES,
}
"""By the dialect's name, as `Catalog.dialect_of` says it: what the query's dialect becomes there."""


def _kept(of_type: str) -> str:
    """A type of SQLite's that gives a member its affinity and leaves it as it is."""
    return "INTEGER" if _is_whole(of_type) else "TEXT"


def _of_server(dialect: str, printer: Printer) -> Syntax:
    """A server's own SQL, whose generator knows the types that its CAST has names for."""

    def cast(constant: exp.Expr, of_type: str) -> str:
        return exp.cast(constant, of_type, dialect=dialect).sql(dialect=dialect)

    return Syntax(
        text=lambda tree: text_of(tree, dialect),
        name=printer.name,
        string=printer.string,
        null_of=lambda of_type: cast(exp.Null(), of_type),
        member=lambda text, of_type: cast(exp.Literal.string(text), of_type),
        default=cast,
        never="FALSE LIMIT 0" if dialect == "postgres" else "FALSE",  # else it would compute with the NULLs
    )


OWN_MYSQL = Syntax(
    text=lambda tree: text_of(tree, "mysql"),
    name=own_mysql.name_text,
    string=own_mysql.string_text,
    null_of=lambda of_type: f"CAST(NULL AS {own_mysql.castable(of_type)})",
    member=lambda text, of_type: (
        text if _is_whole(of_type) else f"{own_mysql.string_text(text)} COLLATE utf8mb4_nopad_bin"
    ),
    default=lambda constant, of_type: (
        f"CAST({server_default(constant, of_type, MYSQL)} AS {own_mysql.castable(of_type)})"
    ),
    never="FALSE",
    lends_columns=True,
)
OWN: Mapping[str, Syntax] = {
    "duckdb": DUCKDB,
    "sqlite": replace(
        SQLITE,
        text=lambda tree: text_of(tree, "sqlite"),
        null_of=lambda of_type: f"CAST(NULL AS {of_type})" if of_type else "NULL",
        member=lambda text, of_type: f"CAST({SQLITE.member(text, of_type)} AS {_kept(of_type)})",
        fence=" LIMIT -1",
        is_fenced=sqlite.loses_order_of_joins,
    ),
    "postgres": _of_server("postgres", POSTGRES),
    "mysql": OWN_MYSQL,
}
"""Of a query that is in the source's own dialect."""

HIDDEN = ("_shard", "_source", "_table")
"""Columns that every table has and `*` does not show: where a row was read."""


def shard_text(query: exp.Query, catalog: Catalog, shard: str, slots: Mapping[str, SlotSet | None]) -> str:
    """The text for one shard; for more than one make a `ShardTexts` and keep it."""
    return ShardTexts(query, catalog, slots).text(shard)


def slots_of(node: Node) -> dict[str, SlotSet | None]:
    """What each scan of the tree wants, by rel: the `slots` of its texts."""
    return {below.rel: below.slots for below in walk(node) if isinstance(below, Scan)}


class ShardTexts:
    """The texts of one fragment for its shards.

    `query` is `plan.sql.to_query`'s, its tables still marked; `slots` say by scan's rel what of the table is
    wanted (None, or no entry: all). Immutable once made, so that threads may share it.
    """

    def __init__(
        self,
        query: exp.Query,
        catalog: Catalog,
        slots: Mapping[str, SlotSet | None],
        syntax: Syntax = DUCKDB,
    ) -> None:
        self._syntax = syntax
        self._query = query
        self._catalog = catalog
        self._slots = slots
        self._ctes = frozenset(cte.alias.casefold() for cte in query.find_all(exp.CTE))
        tree = query.copy()
        hole = _unused_mark(query)
        used = _Used(tree)
        fence = syntax.fence if syntax.is_fenced(query) else ""
        references = []
        for table in list(tree.find_all(exp.Table)):
            rel = table.meta.get(MARK)
            if rel is not None:
                references.append(_reference(table, rel, used, catalog, syntax, fence))
                table.set("this", exp.to_identifier(f"{hole}{len(references) - 1}{hole}", quoted=True))
                for key in ("db", "catalog", "alias"):
                    table.set(key, None)
        text = syntax.text(tree)
        opening, closing = map(re.escape, syntax.name(hole).split(hole))
        parts = re.split(f"{opening}{hole}(\\d+){hole}{closing}", text)
        self._parts: list[str | _Reference] = [
            references[int(part)] if i % 2 else part for i, part in enumerate(parts)
        ]
        self._same = None if any(r.varies for r in references) else self._fill("", NO_GAPS)

    def text(self, shard: str, gaps: Gaps = NO_GAPS) -> str:
        """The statement for `shard`, whose tables have these gaps."""
        return self._same if self._same is not None and not gaps else self._fill(shard, gaps)

    def _fill(self, shard: str, gaps: Gaps) -> str:
        filled = []
        for part in self._parts:
            if isinstance(part, str):
                filled.append(part)
                continue
            slots = self._slots.get(part.rel)
            names = self._catalog.partitions(part.table, shard, slots)
            lender = part.lender(shard, self._catalog) if not names else ()
            read = names or lender
            if not self._ctes.isdisjoint(name.casefold() for name in read):
                return self._without_clashes(read).text(shard, gaps)
            members = self._catalog.members_on(part.table, shard, slots) if part.virtual else ()
            arms = tuple(
                _Arm(name, member, gaps.get(self._syntax.table(name), _WHOLE))
                for name, member in zip(names, members or [""] * len(names), strict=True)
            )
            filled.append(part.text(arms, lender, shard, self._catalog))
        return "".join(filled)

    def _without_clashes(self, physical: tuple[str, ...]) -> ShardTexts:
        """The same with other names for CTEs, one of which hides a table: WITH orders_24 … FROM orders_24."""
        query = self._query.copy()
        taken = Names([*self._ctes, *physical])
        names = {name: taken.new(name) for name in sorted(self._ctes)}
        for cte in query.find_all(exp.CTE):
            cte.args["alias"].set("this", identifier(names[cte.alias.casefold()]))
        for table in query.find_all(exp.Table):
            old = table.name
            if MARK not in table.meta and not table.db and old.casefold() in names:
                table.set("this", identifier(names[old.casefold()]))
                if not table.alias:
                    table.set("alias", exp.TableAlias(this=identifier(old)))
        return ShardTexts(query, self._catalog, self._slots, self._syntax)


class _Arm(NamedTuple):
    """A physical table, the member that it is of ("" if none), and what it lacks."""

    name: str
    member: str
    gap: Gap


_WHOLE = Gap()


@dataclass(frozen=True)
class _Reference:
    """One logical table in the text. `columns` are those that it must give where it is put together.

    Hidden columns and the `virtual` ones among `columns` are in no physical table: there they are constants.
    """

    table: Table
    rel: str
    alias: str
    is_aliased: bool
    columns: tuple[Column, ...] | None
    hidden: tuple[str, ...]
    varies: bool
    syntax: Syntax
    fence: str

    @cached_property
    def virtual(self) -> tuple[Column, ...]:
        """Columns whose value is the partition's member."""
        return tuple(column for column in self.columns or () if column.virtual)

    def lender(self, shard: str, catalog: Catalog) -> tuple[str, ...]:
        """A physical table that says of what types the columns are of which no partition is wanted."""
        if not self.syntax.lends_columns or self.table.drift == "FILL":  # then it may lack some
            return ()
        return catalog.partitions(self.table, shard)[:1]

    def text(self, arms: tuple[_Arm, ...], lender: tuple[str, ...], shard: str, catalog: Catalog) -> str:
        """The item of FROM with its alias."""
        if len(arms) == 1 and not self.hidden and not self.virtual and arms[0].gap == _WHOLE:
            table = self.syntax.table(arms[0].name)
            is_called_so = not self.is_aliased and table.rpartition(".")[2] == self.alias
            return table if is_called_so else f"{table} AS {self.alias}"
        there = [self._arm(arm, shard, catalog) for arm in arms if not arm.gap.is_whole]
        fence = self.fence if len(there) > 1 else ""
        if not there:
            there = [self._nothing_of(name, shard, catalog) for name in lender] or [self._empty()]
        return f"({' UNION ALL '.join(there)}{fence}) AS {self.alias}"

    def _nothing_of(self, name: str, shard: str, catalog: Catalog) -> str:
        return f"{self._arm(_Arm(name, '', _WHOLE), shard, catalog)} WHERE {self.syntax.never}"

    def _arm(self, arm: _Arm, shard: str, catalog: Catalog) -> str:
        items = ["*"] if self.columns is None else [self._item(arm, each, catalog) for each in self.columns]
        if self.hidden:
            source = catalog.source_of(shard) if "_source" in self.hidden else ""
            values = {"_shard": shard, "_source": source, "_table": arm.name}
            items += [f"{self.syntax.string(values[hidden])} AS {hidden}" for hidden in self.hidden]
        return f"SELECT {', '.join(items) or f'1 AS {NO_COLUMNS}'} FROM {self.syntax.table(arm.name)}"

    def _item(self, arm: _Arm, column: Column, catalog: Catalog) -> str:
        """A column of a physical table; or the member, or the default, as one."""
        syntax, name = self.syntax, column.name.casefold()
        if column.virtual:
            return f"{syntax.member(arm.member, column.type)} AS {syntax.name(column.name)}"
        if name in arm.gap.missing:
            default = syntax.default(catalog.fills(self.table)[name], column.type)
            return f"{default} AS {syntax.name(column.name)}"
        text = syntax.column(arm.name, column.name)
        if name in arm.gap.narrower:
            return f"CAST({text} AS {column.type}) AS {syntax.name(column.name)}"
        return text

    def _empty(self) -> str:
        """No partition of the table is here: no rows, of the right types."""
        if self.columns is None:
            raise InternalError(f'the columns of "{self.table.name}" must be known where it has no partition')
        types = [(c.name, c.type) for c in self.columns] + [(hidden, "VARCHAR") for hidden in self.hidden]
        syntax = self.syntax
        items = ", ".join(f"{syntax.null_of(of_type)} AS {syntax.name(name)}" for name, of_type in types)
        return f"SELECT {items or f'1 AS {NO_COLUMNS}'} WHERE {syntax.never}"


def _reference(
    table: exp.Table, rel: str, used: _Used, catalog: Catalog, syntax: Syntax, fence: str
) -> _Reference:
    found = catalog.stored(table.name, table.db or None) or catalog.wildcard(table.name, table.db or None)
    if not isinstance(found, Table):
        raise InternalError(f'the fragment reads "{table.name}", which is no table of the catalog')
    alias = table.args.get("alias")
    name = table.alias_or_name
    if RAW in table.meta:
        columns, hidden = found.columns, used.hidden_anywhere()
    else:
        columns = None if found.columns is None else used.columns(name, found.columns)
        hidden = used.hidden(name)
    return _Reference(
        table=found,
        rel=rel,
        alias=syntax.text(alias) if alias is not None else syntax.name(name),
        is_aliased=alias is not None,
        columns=columns,
        hidden=hidden,
        varies=bool(hidden) or any(c.virtual for c in columns or ()) or _has_varying_name(found, catalog),
        syntax=syntax,
        fence=fence,
    )


def _has_varying_name(table: Table, catalog: Catalog) -> bool:
    """Whether the physical name depends on shard or slot."""
    if table.named is None:
        return table.schema is not None and catalog.may_lack_schemas
    return catalog.is_slot_grain(table) or "shard" in Template.parse(table.named).variables


class _Used:
    """The columns that a query reads, by table alias, all names folded."""

    def __init__(self, tree: exp.Query) -> None:
        self._tree = tree
        self._of: dict[str, set[str]] = {}
        self._is_open = False
        """Names without a table, or `*`: then any column may be read."""
        for part in tree.find_all(exp.Column, exp.Star):
            if not isinstance(part, exp.Column):
                self._is_open |= not isinstance(part.parent, (exp.Count, exp.Column))
                continue
            self._of.setdefault(part.table.casefold(), set()).add(part.name.casefold())
            is_unclear = not part.table and not _is_output_name(part)
            self._is_open |= is_unclear or isinstance(part.this, exp.Star)

    def columns(self, alias: str, all_of_them: tuple[Column, ...]) -> tuple[Column, ...]:
        """Those of a table's columns that are read under `alias`."""
        if self._is_open:
            return all_of_them
        used = self._of.get(alias.casefold(), ())
        return tuple(column for column in all_of_them if column.name.casefold() in used)

    def hidden(self, alias: str) -> tuple[str, ...]:
        """The hidden columns that are read under `alias`, or under none."""
        used = self._of.get(alias.casefold(), set()) | self._of.get("", set())
        return tuple(hidden for hidden in HIDDEN if hidden in used)

    def hidden_anywhere(self) -> tuple[str, ...]:
        """Those that a statement kept whole may mean, which names columns in more ways than by a column."""
        names = {identifier.name.casefold() for identifier in self._tree.find_all(exp.Identifier)}
        return tuple(hidden for hidden in HIDDEN if hidden in names)


def _is_output_name(column: exp.Column) -> bool:
    """`ORDER BY revenue`, as `to_query` writes the name of an output."""
    ordered = column.parent
    return isinstance(ordered, exp.Ordered) and isinstance(ordered.parent, exp.Order)


def _unused_mark(query: exp.Query) -> str:
    """Characters that no name or text of the query has (all of them one of Unicode's private ones)."""
    texts = [e.name for e in query.find_all(exp.Literal, exp.Identifier)]
    mark = "\ue000"
    while any(mark in text for text in texts):
        mark += "\ue000"
    return mark
