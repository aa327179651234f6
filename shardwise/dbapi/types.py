"""PEP 249's type objects and constructors, over DuckDB's type names.

A cursor's description holds the type as DuckDB writes it ("DECIMAL(12,2)"). The type
objects compare equal to such a code, from either side:

    >>> "DECIMAL(12,2)" == NUMBER, "VARCHAR" == NUMBER
    (True, False)
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time
from typing import Final, NamedTuple


class TypeObject:
    """Equal to each type code of its family, and to itself. Not hashable, for it equals many codes."""

    def __init__(self, name: str, *families: str) -> None:
        self.name = name
        self.families = frozenset(families)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str):
            return family(other) in self.families
        return self is other

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"shardwise.{self.name}"


def family(code: str) -> str:
    """A type without its parameters: "DECIMAL(12,2)" gives DECIMAL, a list or struct NESTED."""
    text = code.strip().upper()
    if text.endswith("]"):
        return "NESTED"
    head = re.split(r"[(\s]", text, maxsplit=1)[0]
    return "NESTED" if head in ("STRUCT", "MAP", "UNION", "ROW") else head


STRING: Final = TypeObject("STRING", "VARCHAR", "TEXT", "CHAR", "BPCHAR", "STRING", "ENUM", "JSON", "UUID")
BINARY: Final = TypeObject("BINARY", "BLOB", "BYTEA", "VARBINARY", "BINARY", "BIT", "GEOMETRY")
NUMBER: Final = TypeObject(
    "NUMBER",
    *("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "BOOLEAN", "FLOAT", "DOUBLE", "DECIMAL"),
    *("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT", "BIGNUM", "INT", "REAL", "NUMERIC"),
)
DATETIME: Final = TypeObject(
    "DATETIME",
    *("DATE", "TIME", "TIMETZ", "TIME_NS", "TIMESTAMP", "TIMESTAMPTZ", "DATETIME", "INTERVAL"),
    *("TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"),
)
ROWID: Final = TypeObject("ROWID")
"""No column has this type: shardwise has no row ids."""

Date = date
Time = time
Timestamp = datetime
Binary = bytes


def DateFromTicks(ticks: float) -> date:  # noqa: N802  PEP 249 names it so
    """The date, in UTC, of a number of seconds since the epoch."""
    return datetime.fromtimestamp(ticks, UTC).date()


def TimeFromTicks(ticks: float) -> time:  # noqa: N802  PEP 249 names it so
    """The time of day, in UTC, of a number of seconds since the epoch."""
    return datetime.fromtimestamp(ticks, UTC).time()


def TimestampFromTicks(ticks: float) -> datetime:  # noqa: N802  PEP 249 names it so
    """The timestamp, in UTC and without a zone, of a number of seconds since the epoch."""
    return datetime.fromtimestamp(ticks, UTC).replace(tzinfo=None)


class ColumnDescription(NamedTuple):
    """One item of `Cursor.description`, as PEP 249 lays it out."""

    name: str
    type_code: str
    display_size: int | None = None
    internal_size: int | None = None
    precision: int | None = None
    scale: int | None = None
    null_ok: bool | None = None


_DECIMAL = re.compile(r"\s*(?:DECIMAL|NUMERIC)\s*\(\s*(\d+)\s*(?:,\s*(\d+)\s*)?\)\s*", re.IGNORECASE)


def describe(name: str, code: str, null_ok: bool | None) -> ColumnDescription:
    """Precision and scale are known for DECIMAL alone."""
    match = _DECIMAL.fullmatch(code)
    precision, scale = (int(match[1]), int(match[2] or 0)) if match else (None, None)
    return ColumnDescription(name, code, None, None, precision, scale, null_ok)
