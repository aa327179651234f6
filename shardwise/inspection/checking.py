"""catalog check: do the sources still look as the catalog says, and is every row where its key belongs?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

from shardwise.catalog.model import Catalog, Column, Reference, Table, View
from shardwise.catalog.spoken import spoken
from shardwise.errors import Error, ShardUnavailable
from shardwise.inspection.beyond import Beyond
from shardwise.inspection.drift import differences, normal_type
from shardwise.inspection.findings import Finding, Kind
from shardwise.inspection.importing import Opener, Partition, Sources, partitions
from shardwise.inspection.physical import PhysicalTable, SourceReader
from shardwise.inspection.reading import quoted, quoted_table
from shardwise.inspection.rows import duplicates, misplaced
from shardwise.inspection.spelled import Spellings
from shardwise.planner.dialects import refuse_other_sources

SAMPLE_ROWS = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Extent:
    """How much is looked at: `sample_rows` rows of each physical table (None: all); with `keys` also whether
    keys that are unique across shards are so, and whether reference tables are the same everywhere."""

    sample_rows: int | None = SAMPLE_ROWS
    keys: bool = False


def check(
    catalog: Catalog,
    opener: Opener,
    extent: Extent,
    *,
    only: Sequence[str] = (),
    on_table: Callable[[str], None] = lambda _: None,
) -> Iterator[Finding]:
    """Yields what differs, table by table, as it is found. A shard that cannot be reached is a finding."""
    wanted = {name.lower() for name in only}
    refuse_other_sources(catalog)
    sources = Sources(catalog, opener)
    spellings = Spellings(catalog)
    beyond = Beyond(catalog, sources)
    try:
        unreachable = set[str]()
        for table in catalog.tables():
            if isinstance(table, View):
                continue
            if wanted and table.name.lower() not in wanted and table.full_name.lower() not in wanted:
                continue
            on_table(table.full_name)
            yield from _check_table(catalog, sources, table, extent, unreachable, spellings)
            yield from beyond.look(table, unreachable)
    finally:
        sources.close()


def _check_table(
    catalog: Catalog,
    sources: Sources,
    table: Table,
    extent: Extent,
    unreachable: set[str],
    spellings: Spellings,
) -> Iterator[Finding]:
    good: list[Partition] = []
    expected = _declared(table)
    for partition in partitions(catalog, table):
        if partition.shard in unreachable:
            continue
        try:
            if sources.is_missing(partition.shard):
                continue
            there = sources.tables(partition.shard).get(partition.name.lower())
        except ShardUnavailable as error:
            unreachable.add(partition.shard)
            yield Finding(
                kind=Kind.SHARD_UNAVAILABLE, table=table.full_name, shard=partition.shard, found=error.message
            )
            continue
        if there is None:
            yield Finding(
                kind=Kind.MISSING_TABLE,
                table=table.full_name,
                shard=partition.shard,
                expected=f'"{partition.name}"',
            )
            continue
        expected = _with_collations(expected, there) if expected else there
        found = list(
            differences(
                table.full_name, partition.shard, expected, there, fills_missing=table.drift == "FILL"
            )
        )
        yield from found
        if not any(f.is_error and f.kind in (Kind.MISSING_COLUMN, Kind.COLUMN_TYPE) for f in found):
            good.append(partition)
    yield from _rows_of(catalog, sources, table, good, extent, spellings)


def _rows_of(
    catalog: Catalog,
    sources: Sources,
    table: Table,
    good: list[Partition],
    extent: Extent,
    spellings: Spellings,
) -> Iterator[Finding]:
    """Rows can be looked at only where the columns are right."""
    for partition in good:
        there = sources.tables(partition.shard)[partition.name.lower()].columns
        columns = table.columns or there
        reader = sources.reader(partition.shard)
        try:
            yield from misplaced(
                catalog, reader, table, partition, columns=columns, sample_rows=extent.sample_rows
            )
            yield from spellings.look(reader, table, partition, columns=there, sample_rows=extent.sample_rows)
        except Error as error:
            yield Finding(
                kind=Kind.WRONG_SHARD,
                table=table.full_name,
                shard=partition.shard,
                found=f"no answer: {error.message}",
            )
    yield from spellings.proposals(table)
    if extent.keys and isinstance(table.placement, Reference):
        yield from _reference(sources, table, good, catalog.dialect)
    if extent.keys:
        yield from duplicates(sources.reader, table, good)


def _with_collations(expected: PhysicalTable, there: PhysicalTable) -> PhysicalTable:
    """What the catalog does not say of collations, the first shard does."""
    theirs = {column.name.lower(): column.collation for column in there.columns}
    if not spoken(there.product).is_server or not any(theirs.values()):
        return expected
    columns = (replace(c, collation=c.collation or theirs.get(c.name.lower())) for c in expected.columns)
    return replace(expected, columns=tuple(columns))


def _declared(table: Table) -> PhysicalTable | None:
    """What the catalog says; None where it does not list columns: then the first shard is the measure."""
    if table.columns is None:
        return None
    return PhysicalTable(
        name=table.name,
        columns=tuple(c for c in table.columns if not c.virtual),
        primary_key=table.primary_key,
        unique=table.unique,
    )


def _reference(sources: Sources, table: Table, good: list[Partition], dialect: str) -> Iterator[Finding]:
    """The same rows on each shard: as many, and the same sum of their hashes."""
    if not good:
        return
    columns = table.columns or sources.tables(good[0].shard)[good[0].name.lower()].columns
    can_hash = all(sources.reader(partition.shard).dialect == "duckdb" for partition in good)
    first: tuple[int, object] | None = None
    for partition in good:
        digest_of = _digest_by_source if can_hash else _digest_here
        count, digest = digest_of(sources.reader(partition.shard), partition.name, columns, dialect)
        first = first or (count, digest)
        if (count, digest) != first:
            found = f"{count} rows" if count != first[0] else "other values in as many rows"
            yield Finding(
                kind=Kind.REFERENCE_DIFFERS,
                table=table.full_name,
                shard=partition.shard,
                expected=f"the {first[0]} rows of shard {good[0].shard}",
                found=found,
            )


def _digest_by_source(
    reader: SourceReader, table: str, columns: Sequence[Column], dialect: str
) -> tuple[int, object]:
    names = ", ".join(sorted(quoted(column.name, dialect) for column in columns))
    place = quoted_table(table, reader.dialect)
    ((count, digest),) = reader.rows(f"SELECT count(*), sum(CAST(hash({names}) AS HUGEINT)) FROM {place}")
    return count, digest


def _digest_here(
    reader: SourceReader, table: str, columns: Sequence[Column], dialect: str
) -> tuple[int, object]:
    """The same of values, whichever product holds them. Columns that are stored as numbers are left out."""
    is_own = reader.dialect == dialect and spoken(dialect).is_server
    wanted = sorted((c.name, normal_type(c.type)) for c in columns if c.stored is None)
    names = ", ".join(quoted(name, reader.dialect) for name, _ in wanted)
    sql = f"SELECT {names} FROM {quoted_table(table, reader.dialect)}"
    rows = reader.rows(sql, None, None if is_own else tuple(wanted))
    digests = (sha256(repr(row).encode(errors="surrogatepass")).digest() for row in rows)
    return len(rows), sum(int.from_bytes(digest[:8], "big") for digest in digests)
