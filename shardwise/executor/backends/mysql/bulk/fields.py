"""What the server says of a result's columns."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, auto
from typing import NamedTuple, Protocol

from pymysql.charset import charset_by_id
from pymysql.constants import FIELD_TYPE, FLAG

_BINARY = 63  # the character set of what is no text
_ENUM, _SET = 247, 248  # never sent as such: a flag says it
_BYTES_PER_CHARACTER: Mapping[str, int] = {"utf8mb4": 4, "utf8mb3": 3, "utf8": 3}


class Family(Enum):
    """How a value is written in a row."""

    NULL = auto()
    WHOLE = auto()
    DECIMAL = auto()
    REAL = auto()
    DATE = auto()
    TIME = auto()
    MOMENT = auto()
    TEXT = auto()
    BYTES = auto()
    BITS = auto()

    @property
    def is_binary(self) -> bool:
        return self in (Family.BYTES, Family.BITS)


class Definition(Protocol):
    """A column definition packet, as PyMySQL reads it."""

    name: str
    type_code: int
    charsetnr: int
    length: int
    flags: int
    scale: int


class Field(NamedTuple):
    """A column: its name, the family of its values, its type as SQL text as far as the protocol tells it.

    The protocol does not tell the members of ENUM and SET, MariaDB's own types (JSON is LONGTEXT, UUID and
    INET6 are CHAR), and collations other than the connection's.
    """

    name: str
    family: Family
    type: str
    is_nullable: bool


_WHOLE: Mapping[int, str] = {
    FIELD_TYPE.TINY: "TINYINT",
    FIELD_TYPE.SHORT: "SMALLINT",
    FIELD_TYPE.INT24: "MEDIUMINT",
    FIELD_TYPE.LONG: "INT",
    FIELD_TYPE.LONGLONG: "BIGINT",
}
_REAL: Mapping[int, str] = {FIELD_TYPE.FLOAT: "FLOAT", FIELD_TYPE.DOUBLE: "DOUBLE"}
_MOMENTS: Mapping[int, tuple[Family, str, int]] = {  # and the length without a fraction
    FIELD_TYPE.TIME: (Family.TIME, "TIME", 10),
    FIELD_TYPE.DATETIME: (Family.MOMENT, "DATETIME", 19),
    FIELD_TYPE.TIMESTAMP: (Family.MOMENT, "TIMESTAMP", 19),
}
_BLOBS = frozenset((FIELD_TYPE.BLOB, FIELD_TYPE.TINY_BLOB, FIELD_TYPE.MEDIUM_BLOB, FIELD_TYPE.LONG_BLOB))


def field_of(definition: Definition) -> Field:
    """What a column definition says."""
    family, type_ = _kind(definition)
    return Field(definition.name, family, type_, not definition.flags & FLAG.NOT_NULL)


def _kind(column: Definition) -> tuple[Family, str]:
    code = column.type_code
    if code in _WHOLE:
        size = "(1)" if code == FIELD_TYPE.TINY and column.length == 1 else ""
        return Family.WHOLE, f"{_WHOLE[code]}{size}{_unsigned(column)}"
    if code in _REAL:
        return Family.REAL, f"{_REAL[code]}{_unsigned(column)}"
    if code in (FIELD_TYPE.DECIMAL, FIELD_TYPE.NEWDECIMAL):
        digits = column.length - (column.scale > 0) - (not column.flags & FLAG.UNSIGNED)
        return Family.DECIMAL, f"DECIMAL({digits},{column.scale}){_unsigned(column)}"
    if code in _MOMENTS:
        family, name, _ = _MOMENTS[code]
        return family, f"{name}({column.scale})" if 0 < column.scale <= 6 else name
    if code in (FIELD_TYPE.DATE, FIELD_TYPE.NEWDATE):
        return Family.DATE, "DATE"
    if code == FIELD_TYPE.YEAR:
        return Family.WHOLE, "YEAR"
    if code == FIELD_TYPE.BIT:
        return Family.BITS, f"BIT({column.length})"
    if code == FIELD_TYPE.NULL:
        return Family.NULL, "NULL"
    return _text(column)


def _unsigned(column: Definition) -> str:
    return " UNSIGNED" if column.flags & FLAG.UNSIGNED else ""


def _text(column: Definition) -> tuple[Family, str]:
    code = column.type_code
    if code == FIELD_TYPE.JSON:
        return Family.TEXT, "JSON"
    if code == FIELD_TYPE.GEOMETRY:
        return Family.BYTES, "GEOMETRY"
    if column.flags & FLAG.ENUM or code == _ENUM:
        return Family.TEXT, "ENUM"
    if column.flags & FLAG.SET or code == _SET:
        return Family.TEXT, "SET"
    is_binary = column.charsetnr == _BINARY
    family = Family.BYTES if is_binary else Family.TEXT
    if code in _BLOBS:
        return family, _blob(column.length if is_binary else column.length // _width(column), is_binary)
    fixed = code == FIELD_TYPE.STRING
    if is_binary:
        return family, f"{'BINARY' if fixed else 'VARBINARY'}({column.length})"
    return family, f"{'CHAR' if fixed else 'VARCHAR'}({column.length // _width(column)})"


def _width(column: Definition) -> int:
    """The bytes that a character may have."""
    try:
        return _BYTES_PER_CHARACTER.get(charset_by_id(column.charsetnr).name, 1)
    except KeyError:  # a collation that this PyMySQL does not know: those of utf8mb4 are the ones that grow
        return 4


def _blob(length: int, is_binary: bool) -> str:
    name = "BLOB" if is_binary else "TEXT"
    if length <= 255:
        return f"TINY{name}"
    if length <= 65_535:
        return name
    return f"MEDIUM{name}" if length < 1 << 24 else f"LONG{name}"
