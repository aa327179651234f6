"""The kind of each DuckDB type."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache

import pyarrow as pa

from shardwise.errors import NotSupportedError
from shardwise.executor.cells.base import Kind
from shardwise.executor.cells.counted import Counted
from shardwise.executor.cells.numbers import Boolean, Exact, Huge, Real, Single, Whole
from shardwise.executor.cells.texts import Bytes, Json, Member, Text, Uuid
from shardwise.executor.cells.times import Date, Time, Timestamp


def _opaque(name: str) -> pa.DataType:
    return pa.opaque(pa.binary(16), name, "DuckDB")


_WHOLE: Mapping[str, tuple[pa.DataType, int]] = {
    "TINYINT": (pa.int8(), -8),
    "SMALLINT": (pa.int16(), -16),
    "INTEGER": (pa.int32(), -32),
    "BIGINT": (pa.int64(), -64),
    "HUGEINT": (_opaque("hugeint"), -128),
    "UTINYINT": (pa.uint8(), 8),
    "USMALLINT": (pa.uint16(), 16),
    "UINTEGER": (pa.uint32(), 32),
    "UBIGINT": (pa.uint64(), 64),
    "UHUGEINT": (_opaque("uhugeint"), 128),
}
_MADE: Mapping[str, Callable[[str], Kind]] = {
    "BOOLEAN": lambda _: Boolean("BOOLEAN", pa.bool8()),
    "DOUBLE": lambda _: Real("DOUBLE", pa.float64()),
    "FLOAT": lambda _: Single("FLOAT", pa.float32()),
    "VARCHAR": lambda _: Text("VARCHAR", pa.string()),
    "BLOB": lambda _: Bytes("BLOB", pa.binary()),
    "UUID": lambda _: Uuid("UUID", pa.uuid()),
    "JSON": lambda _: Json("JSON", pa.json_(pa.string())),
    "DATE": lambda _: Date("DATE", pa.date32()),
    "TIME": lambda _: Time("TIME", "us"),
    "TIME_NS": lambda _: Time("TIME_NS", "ns"),
    "TIMESTAMP": lambda _: Timestamp("TIMESTAMP", "us"),
    "TIMESTAMP_S": lambda _: Timestamp("TIMESTAMP_S", "s"),
    "TIMESTAMP_MS": lambda _: Timestamp("TIMESTAMP_MS", "ms"),
    "TIMESTAMP_NS": lambda _: Timestamp("TIMESTAMP_NS", "ns"),
    "TIMESTAMP WITH TIME ZONE": lambda zone: Timestamp("TIMESTAMPTZ", "us", zone),
}
_COUNTED = re.compile(r"(DATE|TIMESTAMP) (EPOCH (SECONDS|MILLISECONDS|MICROSECONDS)|JULIAN)")
_DECIMAL = re.compile(r"DECIMAL\((\d+),\s*(\d+)\)")
_ENUM = re.compile(r"ENUM\((.*)\)", re.DOTALL)
_MEMBER = re.compile(r"'((?:[^']|'')*)'")


@cache
def kind_of(type_: str, zone: str = "UTC") -> Kind:
    """The kind of a type, written as DuckDB writes it; `zone` is the session's time zone.

    Raises NotSupportedError for types that no SQLite file can hold.
    """
    made = _MADE.get(type_)
    if made is not None:
        return made(zone)
    if type_ in _WHOLE:
        arrow, bits = _WHOLE[type_]
        low, high = (-(1 << -bits - 1), (1 << -bits - 1) - 1) if bits < 0 else (0, (1 << bits) - 1)
        return (Huge if abs(bits) == 128 else Whole)(type_, arrow, low, high)
    if _COUNTED.fullmatch(type_):
        return Counted(type_)
    if found := _DECIMAL.fullmatch(type_):
        return Exact(int(found[1]), int(found[2]))
    if found := _ENUM.fullmatch(type_):
        return Member(type_, [each.replace("''", "'") for each in _MEMBER.findall(found[1])])
    raise NotSupportedError(
        f"a SQLite source has no values of type {type_}",
        hint="Declare the column VARCHAR, BLOB or JSON in the catalog, as the file holds it",
    )
