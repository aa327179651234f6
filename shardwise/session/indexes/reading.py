"""Rows of an index as Arrow, each with the number of the shard that it belongs on.

In the sqlite dialect a column's values are of any type: each goes as bytes that say which, and comes out of
them as it was.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa

from shardwise.catalog.model import Catalog, LookupIndex, Sharded
from shardwise.catalog.shardings import canonical
from shardwise.catalog.types import Family, type_family
from shardwise.errors import DataError
from shardwise.executor.result import Result
from shardwise.session.indexes.shapes import Shape

BATCH_ROWS = 65_536


def is_loose(catalog: Catalog) -> bool:
    """Whether a column's values are of any type."""
    return catalog.dialect == "sqlite"


def batches_of(result: Result, names: Sequence[str], *, loose: bool) -> Iterator[pa.RecordBatch]:
    """All rows of a result; at least one batch, so that the columns' types are known."""
    if not loose:
        reader = result.arrow_reader(BATCH_ROWS)
        schema = pa.schema([field.with_name(name) for field, name in zip(reader.schema, names, strict=True)])
        yield pa.RecordBatch.from_pylist([], schema=schema)
        for batch in reader:
            yield pa.RecordBatch.from_arrays(batch.columns, schema=schema)
        return
    yield _encoded((), names)
    while rows := result.fetchmany(BATCH_ROWS):
        yield _encoded(rows, names)


@dataclass
class Placing:
    """Replaces the columns that place a row by its shard's number in `shards`."""

    shape: Shape
    catalog: Catalog
    shards: Sequence[str]

    def __post_init__(self) -> None:
        self._numbers: Mapping[str, int] = {shard: n for n, shard in enumerate(self.shards)}
        self._known: dict[tuple[Any, ...], int] = {}
        placement = self.shape.table.placement
        self._sharding = self.catalog.sharding(placement.sharding) if isinstance(placement, Sharded) else None
        self._families = [type_family(c.type, self.catalog.dialect) for c in self.shape.places]

    def wanted(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Rows of the base tables."""
        return self._placed(batch, self._by_name if self.shape.is_placed_by_base else self._by_key)

    def there(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Rows of the index table."""
        return self._placed(batch, self._by_name)

    def _placed(self, batch: pa.RecordBatch, place: Callable[[tuple[Any, ...]], int]) -> pa.RecordBatch:
        width = len(self.shape.columns)
        read = _loose_values if is_loose(self.catalog) else _values
        keys = zip(*(read(column) for column in batch.columns[width:]), strict=True)
        shards = pa.array([place(key) for key in keys], pa.int32())
        names = ["shard", *batch.schema.names[:width]]
        return pa.RecordBatch.from_arrays([shards, *batch.columns[:width]], names=names)

    def _by_name(self, key: tuple[Any, ...]) -> int:
        return self._numbers[key[0]]

    def _by_key(self, key: tuple[Any, ...]) -> int:
        found = self._known.get(key)
        if found is None:
            if len(self._known) > 100_000:
                self._known.clear()
            found = self._known[key] = self._numbers[self._shard_of(key)]
        return found

    def _shard_of(self, key: tuple[Any, ...]) -> str:
        sharding = self._sharding
        assert sharding is not None
        try:
            values = [self._canonical(v, f) for v, f in zip(key, self._families, strict=True)]
            return sharding.shard_of(sharding.function.slot(values))
        except DataError as error:
            names = ", ".join(column.name for column in self.shape.places)
            raise DataError(
                f'a row of index "{self.shape.index.name}" has a value in {names} that sharding '
                f'"{sharding.name}" has no slot for',
                hint="Give the sharding a slot for it (DEFAULT, MAXVALUE), or shard by another column",
            ) from error

    def _canonical(self, value: Any, family: Family) -> Any:
        """What a value is placed by. One that is not of its column's type, as SQLite allows, is where NULL is
        in a lookup index, which has a sharding of its own: whoever looks for such a value asks all shards. A
        join index is together with tables, which nobody has put there."""
        try:
            return canonical(_aware(value, family), family)
        except DataError:
            if not is_loose(self.catalog) or not isinstance(self.shape.index, LookupIndex):
                raise
            return None


def _aware(value: Any, family: Family) -> Any:
    """A moment without a zone is in UTC, in which all is read."""
    is_naive = family is Family.TIMESTAMPTZ and isinstance(value, datetime) and value.tzinfo is None
    return value.replace(tzinfo=UTC) if is_naive else value


# ------------------------------------------------------------------ values of any type


def _encoded(rows: Sequence[tuple[Any, ...]], names: Sequence[str]) -> pa.RecordBatch:
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(names)
    arrays = [pa.array([encode(v) for v in column], pa.binary()) for column in columns]
    return pa.RecordBatch.from_arrays(arrays, names=list(names))


def _values(column: pa.Array) -> list[Any]:
    values: list[Any] = column.to_pylist()
    return values


def _loose_values(column: pa.Array) -> list[Any]:
    return [decode(each) for each in column.to_pylist()]


def encode(value: Any) -> bytes | None:
    """A value as SQLite has it, told apart from those of other types.

    >>> [decode(encode(v)) for v in (None, 7, 7.5, "7", b"7")]
    [None, 7, 7.5, '7', b'7']
    """
    match value:
        case None:
            return None
        case int():
            return b"i%d" % value
        case float():
            return b"r" + struct.pack(">d", value)
        case str():
            return b"t" + value.encode(errors="surrogatepass")
    return b"b" + bytes(value)


def decode(data: bytes | None) -> Any:
    """What `encode` was given."""
    if data is None:
        return None
    kind, rest = data[:1], data[1:]
    if kind == b"i":
        return int(rest)
    if kind == b"r":
        return struct.unpack(">d", rest)[0]
    return rest.decode(errors="surrogatepass") if kind == b"t" else rest


@dataclass(frozen=True)
class TypedRows:
    """`writing.Rows` of Arrow."""

    batch: pa.RecordBatch

    def __len__(self) -> int:
        return int(self.batch.num_rows)

    def tuples(self) -> Sequence[tuple[Any, ...]]:
        return list(zip(*(_values(column) for column in self.batch.columns), strict=True))


@dataclass(frozen=True)
class LooseRows(TypedRows):
    """The same of values that were encoded."""

    def tuples(self) -> Sequence[tuple[Any, ...]]:
        return list(zip(*map(_loose_values, self.batch.columns), strict=True))
