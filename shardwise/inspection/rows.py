"""Are rows where their keys belong, and are keys unique that should be?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import duckdb
import pyarrow as pa
from sqlglot import exp

from shardwise.catalog.keys import evaluate, family_of
from shardwise.catalog.model import Catalog, Column, Sharded, ShardedWith, Sharding, ShardKey, Table
from shardwise.catalog.shardings import SlotSet, canonical, members
from shardwise.catalog.spoken import spoken
from shardwise.catalog.types import Family, type_family
from shardwise.errors import DataError
from shardwise.executor.backends.base import Columns
from shardwise.inspection.drift import normal_type
from shardwise.inspection.findings import Finding, Kind
from shardwise.inspection.importing import Partition
from shardwise.inspection.physical import SourceReader
from shardwise.inspection.reading import quoted, quoted_table


class _Wrong(NamedTuple):
    """Rows of other slots, rows looked at, and one key of the former."""

    wrong: int
    seen: int
    example: str


def misplaced(
    catalog: Catalog,
    reader: SourceReader,
    table: Table,
    partition: Partition,
    *,
    columns: Sequence[Column],
    sample_rows: int | None,
) -> Iterator[Finding]:
    """Rows of a physical table whose key belongs to another one: at most one finding per key of the table."""
    limit = "" if sample_rows is None else f" LIMIT {sample_rows}"
    rows = f"(SELECT * FROM {quoted_table(partition.name, reader.dialect)}{limit}) AS r"
    if isinstance(table.placement, ShardedWith):
        yield from _orphans(catalog, reader, table, partition, rows, columns)
    if not isinstance(table.placement, Sharded):
        return
    sharding = catalog.sharding(table.placement.sharding)
    if not sharding.is_known or table.placement.virtual:
        return
    own = own_slots(catalog, table, sharding, partition)
    types = {column.name.lower(): column.type for column in columns}
    for key in table.placement.keys:
        source = _TableSource(reader, catalog.dialect, types, {c.name.lower(): c.name for c in columns})
        wrong, seen, example = _wrong_rows(source, sharding, key, own, rows=rows)
        if wrong:
            parts = ", ".join(part.sql(dialect=catalog.dialect) for part in key.parts)
            yield Finding(
                kind=Kind.WRONG_SHARD,
                table=table.full_name,
                shard=partition.shard,
                column=parts,
                expected=f"slots {slots_text(own)} of {sharding.name}",
                found=f"{wrong:,} of {seen:,} rows elsewhere, such as {parts} = {example}",
            )


def own_slots(catalog: Catalog, table: Table, sharding: Sharding, partition: Partition) -> SlotSet:
    """The slots whose rows belong into this physical table."""
    slots = sharding.slots_of(partition.shard)
    if not catalog.is_slot_grain(table):
        return slots
    own = 0
    for slot in members(slots):
        if partition.name in catalog.partitions(table, partition.shard, 1 << slot):
            own |= 1 << slot
    return own


def slots_text(slots: SlotSet) -> str:
    """A set of slots as runs: "0-15, 20"."""
    runs: list[list[int]] = []
    for slot in members(slots):
        if runs and runs[-1][1] == slot - 1:
            runs[-1][1] = slot
        else:
            runs.append([slot, slot])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in runs) or "none"


class _TableSource(NamedTuple):
    """A source, the catalog's dialect, and the types and names of a table's columns by name in lower case."""

    reader: SourceReader
    dialect: str
    types: Mapping[str, str]
    names: Mapping[str, str]

    def quoted(self, name: str) -> str:
        """A column by the name that the source has it under: PostgreSQL tells letter case apart."""
        return quoted(self.names.get(name.lower(), name), self.reader.dialect)

    def wanted(self, *columns: str) -> Columns | None:
        """What columns are to be read as: a server of the catalog's dialect has their types."""
        if self.reader.dialect == self.dialect and spoken(self.dialect).is_server:
            return None
        return (*((name, normal_type(self.types[name.lower()])) for name in columns), ("count", "BIGINT"))

    def grouped(self, columns: Sequence[str], rows: str) -> Sequence[tuple[Any, ...]]:
        """Each different key, byte for byte, with the number of its rows."""
        names = [self.quoted(name) for name in columns]
        apart = names
        if self.reader.dialect == "mysql":  # whose collations make one of several
            names = [f"MIN({name})" for name in names]
            apart = [f"BINARY {name}" for name in apart]
        elif self.reader.dialect == "postgres":
            kinds = [type_family(self.types[name.lower()], self.dialect) for name in columns]
            collated = zip(names, kinds, strict=True)
            names = apart = [
                f'{name} COLLATE "C"' if kind is Family.TEXT else name for name, kind in collated
            ]
        sql = f"SELECT {', '.join(names)}, count(*) FROM {rows} GROUP BY {', '.join(apart)}"
        return self.reader.rows(sql, None, self.wanted(*columns))


def _wrong_rows(
    source: _TableSource, sharding: Sharding, key: ShardKey, own: SlotSet, *, rows: str
) -> _Wrong:
    """The source computes the slot where it is right; else its distinct keys are read and placed here."""
    families = {name: type_family(type_, source.dialect) for name, type_ in source.types.items()}
    kinds = [family_of(part, families, source.dialect) for part in key.parts]
    is_plain = all(
        isinstance(part, exp.Column) and kind is Family.INT
        for part, kind in zip(key.parts, kinds, strict=True)
    )
    text = sharding.function.sql(source.reader.dialect) if is_plain and not key.by_slot else None
    if text is not None:
        return _wrong_by_source(source, text, key, own, rows)
    columns = sorted({c.name for part in key.parts for c in part.find_all(exp.Column)})
    wrong = seen = 0
    example = ""
    for *values, count in source.grouped(columns, rows):
        seen += count
        row = {name.lower(): value for name, value in zip(columns, values, strict=True)}
        if not own & _slots_of(sharding, key, kinds, row, source.dialect):
            wrong += count
            example = ", ".join(str(row[name.lower()]) for name in columns)
    return _Wrong(wrong, seen, example)


def _wrong_by_source(source: _TableSource, text: str, key: ShardKey, own: SlotSet, rows: str) -> _Wrong:
    reader = source.reader
    parts = [source.quoted(part.name) for part in key.parts]
    numbers = ", ".join(map(str, members(own))) or "-1"
    shown = ", ".join(f"CAST({part} AS {spoken(reader.dialect).text_type})" for part in parts)
    ((wrong, seen, example),) = reader.rows(
        "SELECT count(CASE WHEN is_wrong THEN 1 END), count(*), max(CASE WHEN is_wrong THEN shown END) FROM ("
        f"SELECT concat_ws(', ', {shown}) AS shown, coalesce({text.format(*parts)}, -1) NOT IN ({numbers}) "
        f"AS is_wrong FROM {rows}) AS q"
    )
    return _Wrong(int(wrong), int(seen), str(example))


def _slots_of(
    sharding: Sharding, key: ShardKey, kinds: list[Family], row: Mapping[str, Any], dialect: str
) -> SlotSet:
    try:
        values = [evaluate(part, row, dialect) for part in key.parts]
        if key.by_slot:
            return 1 << value if isinstance(value := values[0], int) and value >= 0 else 0
        return 1 << sharding.function.slot(
            [canonical(v, kind) for v, kind in zip(values, kinds, strict=True)]
        )
    except DataError:
        return 0  # no slot takes it, so it is nowhere at home


def _orphans(
    catalog: Catalog,
    reader: SourceReader,
    table: Table,
    partition: Partition,
    rows: str,
    columns: Sequence[Column],
) -> Iterator[Finding]:
    """Children without their parent on the same shard."""
    placement = table.placement
    assert isinstance(placement, ShardedWith)
    parent = catalog.relation(placement.parent)
    if not isinstance(parent, Table):
        return
    dialect = reader.dialect
    own, theirs = (
        quoted({c.name.lower(): c.name for c in known or ()}.get(name.lower(), name), dialect)
        for name, known in ((placement.column, columns), (placement.parent_column, parent.columns))
    )
    homes = " UNION ALL ".join(
        f"SELECT {theirs} AS k FROM {quoted_table(physical, dialect)}"
        for physical in catalog.partitions(parent, partition.shard)
    )
    lost = f"r.{own} NOT IN (SELECT k FROM ({homes}) AS p WHERE k IS NOT NULL)"
    ((wrong, seen),) = reader.rows(f"SELECT count(CASE WHEN {lost} THEN 1 END), count(*) FROM {rows}")
    if wrong:
        yield Finding(
            kind=Kind.WRONG_SHARD,
            table=table.full_name,
            shard=partition.shard,
            column=placement.column,
            expected=f"a row of {placement.parent} with that {placement.parent_column} on the same shard",
            found=f"{wrong:,} of {seen:,} rows without",
        )


def duplicates(
    reader_of: Callable[[str], SourceReader], table: Table, good: list[Partition]
) -> Iterator[Finding]:
    """Keys declared UNIQUE ACROSS SHARDS that are on more than one row. Only keys are read off the shards."""
    for key in table.unique_across:
        wanted = tuple((name, "VARCHAR") for name in key)
        names = [f"k{i}" for i in range(len(key))]
        with duckdb.connect() as engine:
            engine.execute(f"CREATE TABLE keys ({', '.join(f'{name} VARCHAR' for name in names)})")
            for partition in good:
                reader = reader_of(partition.shard)
                kind = spoken(reader.dialect).text_type
                texts = ", ".join(f"CAST({quoted(name, reader.dialect)} AS {kind})" for name in key)
                place = quoted_table(partition.name, reader.dialect)
                rows = reader.rows(f"SELECT {texts} FROM {place}", None, wanted)
                batch = pa.table({name: [row[i] for row in rows] for i, name in enumerate(names)})
                engine.register("batch", batch)
                engine.execute("INSERT INTO keys FROM batch")
                engine.unregister("batch")
            grouped = (
                f"SELECT {', '.join(names)} FROM keys WHERE {' AND '.join(f'{n} IS NOT NULL' for n in names)}"
            )
            repeated = engine.execute(f"{grouped} GROUP BY ALL HAVING count(*) > 1").fetchall()
        if repeated:
            yield Finding(
                kind=Kind.DUPLICATE_KEY,
                table=table.full_name,
                column=", ".join(key),
                expected="unique across shards",
                found=f"{len(repeated):,} values more than once, such as {', '.join(repeated[0])}",
            )
