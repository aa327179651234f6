"""Columns that neither the catalog nor its lock file lists, read off the first shard of each table.

Of an open family a few members are asked, one after another, until one has the table. Nothing is written.
That the other shards are alike is checked when they answer (and by `catalog check`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from shardwise.catalog.model import Catalog, LockedTable, Table
from shardwise.errors import CatalogError, Error, ShardUnavailable
from shardwise.inspection.physical import PhysicalTable
from shardwise.inspection.wildcards import logical_table
from shardwise.session.opened import OpenedSource

MEMBERS_MAX = 8
"""So many members of an open family are opened at most, to learn its tables' columns."""

Tables = Mapping[str, PhysicalTable]


def learn(
    catalog: Catalog,
    open_source: Callable[[str], OpenedSource],
    members: Callable[[str], Sequence[str]],
    *,
    are_open: bool,
) -> tuple[Catalog, Mapping[str, Error]]:
    """The catalog with all columns that could be read, `*` expanded; and what failed, by table ("*").

    `members` lists those of a DIRECTORY sharding. That may take a query over other tables, so that the tables
    on members of DIRECTORYs (`are_open`) are learned after all others.
    """
    learning = _Learning(catalog, open_source, members)
    declared = [table for table in catalog.tables() if isinstance(table, Table)]
    unknown = [table for table in declared if table.columns is None]
    wanted = [
        table
        for table in (*unknown, *catalog.wildcards())
        if (catalog.open_sharding(table) is not None) is are_open
    ]
    failed: dict[str, Error] = {}
    found: list[LockedTable] = []
    taken = {table.full_name.casefold() for table in declared}
    for table in wanted:
        try:
            if table.is_wildcard:
                found += learning.expanded(table, taken)
            else:
                found.append(learning.read(table))
        except Error as error:
            failed[table.full_name.casefold()] = error
    return (replace(catalog.with_(*found), version=catalog.version) if found else catalog), failed


class _Learning:
    """What was read off the sources so far; each is opened once."""

    def __init__(
        self,
        catalog: Catalog,
        open_source: Callable[[str], OpenedSource],
        members: Callable[[str], Sequence[str]],
    ) -> None:
        self._catalog = catalog
        self._open_source = open_source
        self._members = members
        self._views: dict[str, Catalog] = {}
        self._sources: dict[str, Tables] = {}

    def read(self, table: Table) -> LockedTable:
        """A table's columns, of its first shard; of an open family the first member that has it."""
        catalog = self._catalog_of(table)
        for shard in catalog.homes(table):
            for name in catalog.partitions(table, shard):
                physical = self._tables(catalog, shard).get(name.casefold())
                if physical is not None:
                    return _locked(self._catalog, table, physical)
            if catalog is self._catalog:
                break
        where = f'shard "{catalog.homes(table)[0]}"' if catalog.homes(table) else "any member"
        names = catalog.partitions(table, catalog.homes(table)[0]) if catalog.homes(table) else (table.name,)
        raise CatalogError(
            f'table "{names[0]}" is not on {where}, and the catalog does not list the columns of '
            f'"{table.full_name}"',
            hint="Correct its name or NAMED, or list its columns",
        )

    def expanded(self, wildcard: Table, taken: set[str]) -> list[LockedTable]:
        """The tables that `*` stands for: all that no other declaration names."""
        catalog = self._catalog_of(wildcard)
        for shard in catalog.homes(wildcard):
            there = self._tables(catalog, shard)
            others = self._names_of_others(shard)
            found = []
            for key, physical in there.items():
                logical = logical_table(catalog, wildcard, shard, physical.name)
                if logical is None or key in others or logical.full_name.casefold() in taken:
                    continue
                taken.add(logical.full_name.casefold())
                found.append(_locked(catalog, logical, physical))
            if found or catalog is self._catalog:
                return found
        return []

    def _names_of_others(self, shard: str) -> set[str]:
        """The physical tables that declarations by name have on a shard."""
        names = set()
        for table in self._catalog.tables():
            if isinstance(table, Table):
                catalog = self._catalog_of(table)
                if shard in catalog.homes(table):
                    names |= {name.casefold() for name in catalog.partitions(table, shard)}
        return names

    def _catalog_of(self, table: Table) -> Catalog:
        """The catalog, with a few members of the open family that the table is on."""
        sharding = self._catalog.open_sharding(table)
        if sharding is None:
            return self._catalog
        if sharding.name not in self._views:
            some = self._members(sharding.name)
            some = some[:: max(1, -(-len(some) // MEMBERS_MAX))]
            self._views[sharding.name] = self._catalog.with_members({sharding.name: some})
        return self._views[sharding.name]

    def _tables(self, catalog: Catalog, shard: str) -> Tables:
        """The tables of the source that a shard is on; none of a member that has gone meanwhile."""
        name = catalog.source_of(shard)
        if name not in self._sources:
            try:
                with self._open_source(name) as source:
                    self._sources[name] = source.tables(catalog.dialect)
            except ShardUnavailable as error:
                if not error.is_missing or catalog is self._catalog:
                    raise
                self._sources[name] = {}
        return self._sources[name]


def _locked(catalog: Catalog, table: Table, physical: PhysicalTable) -> LockedTable:
    untold = [column.name for column in physical.columns if not column.type]
    if untold and catalog.dialect != "sqlite":
        declared = physical.declared.get(untold[0].lower())
        what = f"declared {declared}" if declared else "declared without a type"
        raise CatalogError(
            f'column "{untold[0]}" of table "{physical.name}" is {what}, which does not say what it holds',
            hint=f'List the columns of "{table.full_name}" in the catalog: ATTACH TABLE {table.name} (…)',
        )
    virtual = {column.name.casefold() for column in getattr(table.placement, "virtual", ())}
    return LockedTable(
        name=table.name,
        schema=table.schema,
        columns=tuple(c for c in physical.columns if c.name.casefold() not in virtual),
        primary_key=physical.primary_key,
        unique=physical.unique,
    )
