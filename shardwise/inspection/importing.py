"""catalog import: columns, keys, nullability, collations and row counts, read off the sources.

What was read goes to the lock file (`cluster.lock.sql`), never into the file that people edit.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from shardwise.catalog.model import Catalog, Column, LockedTable, Reference, Table
from shardwise.errors import ShardUnavailable
from shardwise.inspection.drift import differences, merged
from shardwise.inspection.findings import Finding, Kind
from shardwise.inspection.physical import PhysicalTable, SourceReader
from shardwise.inspection.reading import read_tables, row_count
from shardwise.inspection.wildcards import logical_table
from shardwise.planner.dialects import refuse_other_sources

OPEN_MAX = 32

Opener = Callable[[str], SourceReader]
"""Opens a source by its name."""


class Partition(NamedTuple):
    """One physical table: the shard it is on, and its name there."""

    shard: str
    name: str


@dataclass
class Sources:
    """What sources said of their tables; each is asked once. Few are open at a time: there may be
    thousands."""

    catalog: Catalog
    opener: Opener
    _readers: OrderedDict[str, SourceReader] = field(default_factory=OrderedDict)
    _tables: dict[str, Mapping[str, PhysicalTable]] = field(default_factory=dict)

    def reader(self, shard: str) -> SourceReader:
        """The open source of a shard."""
        name = self.catalog.source_of(shard)
        if name not in self._readers:
            self._readers[name] = self.opener(name)
            while len(self._readers) > OPEN_MAX:
                _, oldest = self._readers.popitem(last=False)
                oldest.close()
        self._readers.move_to_end(name)
        return self._readers[name]

    def tables(self, shard: str) -> Mapping[str, PhysicalTable]:
        """The tables on a shard's source, by name in lower case."""
        name = self.catalog.source_of(shard)
        if name not in self._tables:
            self._tables[name] = read_tables(self.reader(shard), self.catalog.dialect)
        return self._tables[name]

    def is_missing(self, shard: str) -> bool:
        """Whether the shard is a member of an open family that is not there: it owes nothing."""
        if self.catalog.open_family_of(self.catalog.source_of(shard)) is None:
            return False
        try:
            self.tables(shard)
        except ShardUnavailable as error:
            if not error.is_missing:
                raise
            return True
        return False

    def close(self) -> None:
        """Closes all sources that were opened."""
        for reader in self._readers.values():
            reader.close()
        self._readers.clear()


class Imported(NamedTuple):
    """What was read off, and the differences that were met; a table whose shards disagree is left out."""

    tables: tuple[LockedTable, ...]
    findings: tuple[Finding, ...]


def partitions(catalog: Catalog, table: Table) -> Iterator[Partition]:
    """All physical tables of a table."""
    for shard in catalog.homes(table):
        for name in catalog.partitions(table, shard):
            yield Partition(shard, name)


def import_tables(
    catalog: Catalog,
    opener: Opener,
    *,
    read_at: str | None = None,
    only: Sequence[str] = (),
    on_table: Callable[[str], None] = lambda _: None,
) -> Imported:
    """Reads the catalog's tables off their sources.

    `only` names the tables wanted (default: all), `read_at` is the ISO time to note, `on_table` is told of
    each table before it is read. An unreachable source raises `ShardUnavailable`.
    """
    wanted = {name.lower() for name in only}
    tables, findings = [], []
    refuse_other_sources(catalog)
    sources = Sources(catalog, opener)
    try:
        for table in _named_tables(catalog, sources):
            if wanted and table.name.lower() not in wanted and table.full_name.lower() not in wanted:
                continue
            on_table(table.full_name)
            found, differing = _import_table(catalog, sources, table, read_at)
            findings += differing
            if found is not None:
                tables.append(found)
    finally:
        sources.close()
    return Imported(tuple(tables), tuple(findings))


def untold_type(table: str, physical: PhysicalTable, column: Column) -> Finding:
    """A column whose declared type stands for none of the catalog's."""
    declared = physical.declared.get(column.name.lower())
    return Finding(
        kind=Kind.COLUMN_TYPE,
        table=table,
        column=column.name,
        expected="a type that says what it holds, or the columns listed in ATTACH TABLE",
        found=f"declared {declared}" if declared else "declared without a type",
    )


def _named_tables(catalog: Catalog, sources: Sources) -> Iterator[Table]:
    """The catalog's tables; for a `*`, each table of its sources that no other declaration names.

    Tables that only an earlier lock file names are looked for again: they may be gone.
    """
    declared = [i for i in catalog.items if isinstance(i, Table) and not i.is_wildcard]
    taken = {table.full_name.casefold() for table in declared}
    taken |= {p.name.casefold() for table in declared for p in partitions(catalog, table)}
    yield from declared
    for wildcard in catalog.wildcards():
        for shard in catalog.homes(wildcard):
            if sources.is_missing(shard):
                continue
            for key, found in sources.tables(shard).items():
                resolved = None if key in taken else logical_table(catalog, wildcard, shard, found.name)
                if resolved is not None and resolved.full_name.casefold() not in taken:
                    taken.add(resolved.full_name.casefold())
                    yield resolved


def _import_table(
    catalog: Catalog, sources: Sources, table: Table, read_at: str | None
) -> tuple[LockedTable | None, list[Finding]]:
    found: list[PhysicalTable] = []
    findings: list[Finding] = []
    rows = 0
    fills = table.drift == "FILL"
    is_reference = isinstance(table.placement, Reference)
    there_are = (each for each in partitions(catalog, table) if not sources.is_missing(each.shard))
    for i, partition in enumerate(there_are):
        there = sources.tables(partition.shard).get(partition.name.lower())
        if there is None:
            findings.append(
                Finding(
                    kind=Kind.MISSING_TABLE,
                    table=table.full_name,
                    shard=partition.shard,
                    expected=f'"{partition.name}"',
                )
            )
            continue
        if found:
            findings += differences(table.full_name, partition.shard, found[0], there, fills_missing=fills)
        found.append(there)
        if not is_reference or i == 0:
            rows += row_count(sources.reader(partition.shard), partition.name)
    if not found or any(finding.is_error and finding.kind is not Kind.NULLABILITY for finding in findings):
        return None, findings
    whole = merged(found, fills_missing=fills)
    untold = [untold_type(table.full_name, whole, column) for column in whole.columns if not column.type]
    if untold and catalog.dialect != "sqlite":
        return None, [*findings, *untold]
    virtual = {column.name.lower() for column in getattr(table.placement, "virtual", ())}
    locked = LockedTable(
        name=table.name,
        schema=table.schema,
        columns=tuple(column for column in whole.columns if column.name.lower() not in virtual),
        primary_key=whole.primary_key,
        unique=whole.unique,
        rows=rows,
        read_at=read_at,
    )
    return locked, findings
