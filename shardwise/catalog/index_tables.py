"""Index tables: the table that a lookup index or a join index is, as one of the catalog's tables.

    CREATE LOOKUP INDEX invoices_no ON invoices (no)
        =>  invoices_no (no, customer_id): one row for each pair that some invoice has
    CREATE JOIN INDEX visits ON clicks.page = pages.url INCLUDE (pages.title)
      SHARD BY by_customer (clicks.customer_id)
        =>  visits (clicks_page, pages_url, clicks_customer_id, pages_title): one row for each pair of rows
            that join

The index table is on its shards under the index's name (with the shard's behind it where two shards are one
database). A statement cannot name it: it is none of `Catalog.tables()`, and `Catalog.table` does not find it.

Rows of a lookup index have no NULL in a searched column, for `=` finds none, and are distinct. Its key
columns are those that the base table's first key is made of: of an expression its columns, which say more.
NULLs stay in them. A join index has a row for each pair, twice if the pair is there twice.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from sqlglot import exp

from shardwise.catalog.index_places import placement
from shardwise.catalog.printing import print_item
from shardwise.catalog.tables import (
    Column,
    ColumnName,
    JoinIndex,
    LookupIndex,
    Sharded,
    ShardKey,
    Spelling,
    Table,
    View,
)
from shardwise.catalog.types import Family, type_family
from shardwise.errors import NotSupportedError

if TYPE_CHECKING:
    from shardwise.catalog.table_lookups import TableLookups

Index = LookupIndex | JoinIndex

NAME_MAX: Final = 60
"""No column of an index table has a longer name: PostgreSQL's may have 63 bytes, MySQL's 64 characters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexTable:
    """An index table, and what its columns are.

    `columns` gives the index table's column for a column of a base table, both as `of` makes them: of a join
    index for all that it has (two that are always the same value may share one), of a lookup index for the
    searched columns and the key's.
    `searched` are a lookup index's searched columns in the index table, in the order of
    `LookupIndex.columns`, `keys` what a row found says of the base table.
    """

    table: Table
    columns: Mapping[ColumnName, str]
    searched: tuple[str, ...] = ()
    keys: tuple[KeyColumn, ...] = ()

    def column_for(self, table: str, column: str) -> str | None:
        """The index table's column that holds `column` of a base table; letter case does not count."""
        return self.columns.get(of(table, column))


@dataclass(frozen=True, slots=True)
class KeyColumn:
    """A column of a lookup index that leads to rows: what `expr`, over the base table's columns, is there."""

    name: str
    expr: exp.Expr


def of(table: str, column: str) -> ColumnName:
    """A column of a base table as a key of `IndexTable.columns`."""
    return ColumnName(table=table.casefold(), column=column.casefold())


def index_table(catalog: TableLookups, index: Index) -> IndexTable:
    """The index table; NotSupportedError, with the reason, where there can be none."""
    problem = why_no_table(catalog, index)
    if problem is not None:
        raise NotSupportedError(f'index "{index.name}" has no index table: {problem}')
    if isinstance(index, JoinIndex):
        return _join_table(catalog, index)
    return _lookup_table(catalog, index) if index.index_table is None else _kept_table(catalog, index)


def why_no_table(catalog: TableLookups, index: Index) -> str | None:
    """Why an index that is declared cannot be built or used; None if it can."""
    names = (index.left.table, index.right.table) if isinstance(index, JoinIndex) else (index.table,)
    for name in names:
        base = catalog.relation(name)
        if not isinstance(base, Table) or base.columns is None:
            return f'the columns of table "{name}" are not known'
        sharding = catalog.sharding_of(base)
        if sharding is not None and sharding.is_open:
            return f'table "{base.full_name}" is split by a DIRECTORY, whose members come and go'
    if isinstance(index, JoinIndex):
        if index.left.table.casefold() == index.right.table.casefold():
            return "it joins a table with itself"
        if catalog.sharding(index.sharding).is_open:
            return f'its sharding "{index.sharding}" is a DIRECTORY, whose members come and go'
    elif index.index_table is not None:
        kept = catalog.relation(index.index_table)
        if not isinstance(kept, Table) or kept.columns is None:
            return f'the columns of table "{index.index_table}" are not known'
        return None
    if catalog.table(index.name) is not None:
        return f'a table or view is called "{index.name}" too'
    return None


def fingerprint(catalog: TableLookups, index: Index) -> str:
    """Of all that the index table's rows and their places rest on; with another one it must be built anew."""
    found = index_table(catalog, index)
    sharding = catalog.sharding_of(found.table)
    parts = [print_item(index, catalog.dialect), print_item(found.table, catalog.dialect)]
    parts += [print_item(sharding, catalog.dialect)] if sharding is not None else []
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


# ------------------------------------------------------------------ lookup indexes


def key_columns(base: Table) -> tuple[str, ...]:
    """The columns that a table's first shard key is made of, as declared, each once."""
    assert isinstance(base.placement, Sharded)
    parts = base.placement.keys[0].parts
    names = (column.name for part in parts for column in part.find_all(exp.Column))
    return tuple(dict.fromkeys(_declared(base, name).name for name in names))


def _lookup_table(catalog: TableLookups, index: LookupIndex) -> IndexTable:
    base = _base(catalog, index.table)
    searched = [_declared(base, name) for name in index.columns]
    taken = {column.name.casefold() for column in searched}
    keys = [_declared(base, name) for name in key_columns(base) if name.casefold() not in taken]
    columns = [_column(c, c.name, catalog, nullable=False) for c in searched]
    columns += [_column(c, c.name, catalog) for c in keys]
    assert isinstance(base.placement, Sharded)
    table = Table(
        name=index.name,
        columns=tuple(columns),
        placement=placement(index, searched, base.placement.sharding, catalog.dialect),
        unique=(tuple(column.name for column in searched),) if index.unique else (),
        exact=_exact(columns),
        created=True,
    )
    return IndexTable(
        table=_named(catalog, table),
        columns={of(index.table, column.name): column.name for column in columns},
        searched=tuple(column.name for column in searched),
        keys=tuple(KeyColumn(name, _plain(name)) for name in key_columns(base)),
    )


def _kept_table(catalog: TableLookups, index: LookupIndex) -> IndexTable:
    """The application's own: the searched columns, then a column for each part of the shard key."""
    base, kept = _base(catalog, index.table), _base(catalog, index.index_table or "")
    assert isinstance(base.placement, Sharded)
    names = tuple(_declared(kept, name).name for name in index.index_columns)
    searched, keys = names[: len(index.columns)], names[len(index.columns) :]
    parts = base.placement.keys[0].parts
    return IndexTable(
        table=kept,
        columns={of(index.table, name): own for name, own in zip(index.columns, searched, strict=True)},
        searched=searched,
        keys=tuple(KeyColumn(name, part) for name, part in zip(keys, parts, strict=True)),
    )


# ------------------------------------------------------------------ join indexes


def _join_table(catalog: TableLookups, index: JoinIndex) -> IndexTable:
    found: dict[ColumnName, str] = {}
    columns: list[Column] = []
    taken: set[str] = set()

    def add(name: ColumnName, *, nullable: bool | None = None) -> None:
        if of(name.table, name.column) in found:
            return
        declared = _declared(_base(catalog, name.table), name.column)
        own = _free(f"{name.table.rpartition('.')[2]}_{declared.name}", taken)
        taken.add(own.casefold())
        found[of(name.table, name.column)] = own
        columns.append(_column(declared, own, catalog, nullable=nullable))

    add(index.left, nullable=False)
    if _is_one_value(catalog, index):
        found[of(index.right.table, index.right.column)] = columns[0].name
    add(index.right, nullable=False)
    add(index.key)
    for name in index.include:
        add(name)
    table = Table(
        name=index.name,
        columns=tuple(columns),
        placement=Sharded(
            sharding=index.sharding,
            keys=(ShardKey.of(found[of(index.key.table, index.key.column)]),),
        ),
        exact=_exact(columns),
        created=True,
    )
    return IndexTable(table=_named(catalog, table), columns=found)


_OF_ONE_VALUE: Final = frozenset({Family.INT, Family.BOOL, Family.DATE, Family.UUID})


def _is_one_value(catalog: TableLookups, index: JoinIndex) -> bool:
    """Whether equal values of the join's two columns are the same value, written in the same way.

    Equal texts may differ in letter case, 1.0 equals 1, and a column of SQLite's may hold what it likes.
    """
    left, right = (_declared(_base(catalog, name.table), name.column) for name in (index.left, index.right))
    alike = (left.type.upper(), left.stored) == (right.type.upper(), right.stored)
    return alike and catalog.dialect != "sqlite" and _family(left, catalog) in _OF_ONE_VALUE


def _free(wanted: str, taken: Iterable[str]) -> str:
    """A name near `wanted` that is not taken: the same each time, for the order of the columns is."""
    if len(wanted) > NAME_MAX:
        wanted = f"{wanted[: NAME_MAX - 9]}_{zlib.crc32(wanted.encode()):08x}"
    found, number = wanted, 1
    while found.casefold() in taken:
        number += 1
        found = f"{wanted}_{number}"
    return found


# ------------------------------------------------------------------ small things


def _base(catalog: TableLookups, name: str) -> Table:
    found: Table | View | None = catalog.relation(name)
    assert isinstance(found, Table)
    return found


def _declared(table: Table, name: str) -> Column:
    found = table.column(name)
    if found is None:
        raise NotSupportedError(f'table "{table.full_name}" has no column "{name}"')
    return found


def _column(declared: Column, name: str, catalog: TableLookups, *, nullable: bool | None = None) -> Column:
    """A base table's column in the index table: the same values, which it is only told."""
    written = declared.type.upper()
    return replace(
        declared,
        name=name,
        type=_COUNTED.get(catalog.dialect, {}).get(written, declared.type),
        nullable=declared.nullable if nullable is None else nullable,
        default=None,
    )


_COUNTED: Final[Mapping[str, Mapping[str, str]]] = {
    "mysql": {"SERIAL": "BIGINT UNSIGNED"},
    "postgres": {
        "SMALLSERIAL": "SMALLINT",
        "SERIAL2": "SMALLINT",
        "SERIAL": "INTEGER",
        "SERIAL4": "INTEGER",
        "BIGSERIAL": "BIGINT",
        "SERIAL8": "BIGINT",
    },
}
"""Types that also number rows, and what they hold."""


def _exact(columns: Iterable[Column]) -> tuple[tuple[str, Spelling], ...]:
    return tuple((column.name, column.spelling) for column in columns if column.spelling is not None)


def _named(catalog: TableLookups, table: Table) -> Table:
    """The table with names that tell its shards apart, where two of them are one database."""
    urls = [catalog.source_url(catalog.source_of(shard)) for shard in catalog.homes(table)]
    known = [url for url in urls if url is not None]
    return replace(table, named="{table}_{shard}") if len(set(known)) < len(known) else table


def _plain(name: str) -> exp.Expr:
    return exp.column(exp.to_identifier(name))


def _family(column: Column, catalog: TableLookups) -> Family:
    return type_family(column.type, catalog.dialect)
