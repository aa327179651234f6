"""A column as ANALYZE looks at it: what of its values is asked for, and how wide they are."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from shardwise.catalog.model import Catalog, Column, Sharded, Stored, Table
from shardwise.catalog.types import DIALECTS, ColumnType, Family, read_type

_ORDERED = {
    Family.INT: "number",
    Family.DECIMAL: "number",
    Family.FLOAT: "number",
    Family.DATE: "moment",
    Family.TIMESTAMP: "moment",
    Family.TIMESTAMPTZ: "moment",
}
_UNREAD = frozenset((Family.BLOB, Family.JSON, Family.NESTED, Family.BIT, Family.OTHER))
OFFSET_BYTES = 4
"""What Arrow takes for the length of a text, beside the text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedColumn:
    """One column. `order` is "number" or "moment" where it has bounds, else None.

    `is_unread`: its values are large or of no use, and only counted. `width` is that of its type, None where
    values differ. `folds`: texts that differ in letter case alone are one. `is_apart`: no two partitions have
    a value in common.
    """

    name: str
    family: Family
    type: str
    stored: Stored | None
    order: str | None
    is_unread: bool
    width: float | None
    folds: bool
    is_apart: bool

    @property
    def is_text(self) -> bool:
        """Whether its values may be long."""
        return self.family is Family.TEXT


def asked_columns(catalog: Catalog, table: Table) -> tuple[AskedColumn, ...]:
    """The columns that partitions have; not those that are VIRTUAL."""
    apart = apart_columns(table)
    return tuple(
        asked_column(column, catalog.dialect, is_apart=column.name.casefold() in apart)
        for column in table.columns or ()
        if not column.virtual
    )


def asked_column(column: Column, dialect: str, *, is_apart: bool = False) -> AskedColumn:
    """A column, by what the catalog says of it."""
    found = _type(column.type, dialect)
    family = found.family if found is not None else Family.OTHER
    if family is Family.OTHER and dialect == "sqlite":
        family = Family.TEXT  # SQLite's columns need no type, and each value is one of few kinds
    return AskedColumn(
        name=column.name,
        family=family,
        type=column.type,
        stored=column.stored,
        order=_ORDERED.get(family),
        is_unread=family in _UNREAD,
        width=_width(found, dialect) if found is not None else None,
        folds=family in (Family.TEXT, Family.ENUM) and _folds(column, dialect),
        is_apart=is_apart,
    )


def apart_columns(table: Table) -> frozenset[str]:
    """Columns, by folded name, of which equal values are always in one partition: distinct ones add up.

    That is the column of a shard key that is made of no other one.
    """
    placement = table.placement
    if not isinstance(placement, Sharded):
        return frozenset()
    found = set()
    for key in placement.keys:
        names = {column.name.casefold() for part in key.parts for column in part.find_all(exp.Column)}
        if len(names) == 1:
            found |= names
    return frozenset(found)


def _type(text: str, dialect: str) -> ColumnType | None:
    """A type of the catalog's dialect, or of a source's."""
    return next((found for each in (dialect, *DIALECTS) if (found := read_type(text, each))), None)


def _folds(column: Column, dialect: str) -> bool:
    collation = (column.collation or "").lower()
    if dialect == "mysql":
        return not collation.endswith(("_bin", "_cs", "binary"))
    return collation == "nocase"


_BYTES = {
    1: "TINYINT INT1 UTINYINT UINT8 BOOL BOOLEAN",
    2: "SMALLINT INT2 SHORT INT16 USMALLINT UINT16 YEAR SMALLSERIAL SERIAL2",
    4: "INT INTEGER INT4 SIGNED INT32 UINTEGER UINT32 MEDIUMINT MIDDLEINT INT3 SERIAL4 OID",
    16: "HUGEINT INT128 UHUGEINT UINT128",
}
_INTEGERS = {name: size for size, names in _BYTES.items() for name in names.split()}
_SIZES: dict[Family, float] = {
    Family.DECIMAL: 16,
    Family.FLOAT: 8,
    Family.BOOL: 0.125,
    Family.DATE: 4,
    Family.TIME: 8,
    Family.TIMESTAMP: 8,
    Family.TIMESTAMPTZ: 8,
    Family.INTERVAL: 16,
    Family.UUID: 36 + OFFSET_BYTES,
}


def _width(found: ColumnType, dialect: str) -> float | None:
    """Bytes of one value as Arrow has it."""
    if found.family is Family.INT:
        return _INTEGERS.get(found.name, 8) if dialect != "sqlite" else 8
    if found.family is Family.FLOAT and found.name in ("FLOAT", "FLOAT4", "REAL"):
        return 8 if dialect == "sqlite" or (dialect == "mysql" and found.name == "REAL") else 4
    return _SIZES.get(found.family)
