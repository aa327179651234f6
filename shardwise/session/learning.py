"""Columns that neither the catalog nor its lock file lists, read off the first shard of each table.

Nothing is written. That the other shards are alike is checked when they answer (and by `catalog check`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from shardwise.catalog.model import Catalog, LockedTable, Table
from shardwise.errors import CatalogError, Error
from shardwise.inspection.physical import PhysicalTable
from shardwise.session.opened import OpenedSource


def learn(
    catalog: Catalog, open_source: Callable[[str], OpenedSource]
) -> tuple[Catalog, Mapping[str, Error]]:
    """The catalog with all columns that could be read, `*` expanded; and what failed, by table ("*")."""
    declared = [table for table in catalog.tables() if isinstance(table, Table)]
    unknown = [table for table in declared if table.columns is None]
    failed: dict[str, Error] = {}
    found: list[LockedTable] = []
    sources: dict[str, Mapping[str, PhysicalTable]] = {}
    taken = {table.full_name.casefold() for table in declared}
    if catalog.wildcards():
        taken |= {name.casefold() for table in declared for name in _on_first_shard(catalog, table)}
    for table in (*unknown, *catalog.wildcards()):
        try:
            there = _tables(catalog, table, open_source, sources)
            if table.is_wildcard:
                found += _expanded(catalog, table, there, taken)
            else:
                found.append(_read(catalog, table, there))
        except Error as error:
            failed[table.full_name.casefold()] = error
    return (replace(catalog.with_(*found), version=catalog.version) if found else catalog), failed


def _tables(
    catalog: Catalog,
    table: Table,
    open_source: Callable[[str], OpenedSource],
    known: dict[str, Mapping[str, PhysicalTable]],
) -> Mapping[str, PhysicalTable]:
    """The tables of the source that the first shard of `table` is on."""
    name = catalog.source_of(catalog.homes(table)[0])
    if name not in known:
        with open_source(name) as source:
            known[name] = source.tables(catalog.dialect)
    return known[name]


def _on_first_shard(catalog: Catalog, table: Table) -> tuple[str, ...]:
    homes = catalog.homes(table)
    return catalog.partitions(table, homes[0]) if homes else ()


def _read(catalog: Catalog, table: Table, there: Mapping[str, PhysicalTable]) -> LockedTable:
    name = _on_first_shard(catalog, table)[0]
    physical = there.get(name.casefold())
    if physical is None:
        raise CatalogError(
            f'table "{name}" is not on shard "{catalog.homes(table)[0]}", and the catalog does not list the '
            f'columns of "{table.full_name}"',
            hint="Correct its name or NAMED, or list its columns",
        )
    return _locked(catalog, table, physical)


def _expanded(
    catalog: Catalog, wildcard: Table, there: Mapping[str, PhysicalTable], taken: set[str]
) -> list[LockedTable]:
    """The tables that `*` stands for: all that no other declaration names."""
    found = []
    for key, physical in there.items():
        schema, _, name = physical.name.rpartition(".")
        table = catalog.wildcard(name, schema or None)
        if key not in taken and table is not None and table.placement == wildcard.placement:
            taken.add(key)
            found.append(_locked(catalog, table, physical))
    return found


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
