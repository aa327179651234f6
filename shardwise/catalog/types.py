"""Column types: which names exist in which dialect, and the family each belongs to.

The written type is what is kept and printed; the family is what decisions rest on (may this
literal prune, do these columns link). Names come from the manuals of DuckDB 2.0, MySQL 8.4 and
MariaDB 11, PostgreSQL 17 and SQLite 3. An unknown name is an error in the catalog: sqlglot
would take BIGINTT for a type.
"""

from __future__ import annotations

import re
from difflib import get_close_matches
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple


class Family(StrEnum):
    """What a type is about, whatever its width."""

    INT = "int"
    DECIMAL = "decimal"
    FLOAT = "float"
    TEXT = "text"
    BLOB = "blob"
    BOOL = "bool"
    DATE = "date"
    TIME = "time"
    TIMESTAMP = "timestamp"
    TIMESTAMPTZ = "timestamptz"
    INTERVAL = "interval"
    UUID = "uuid"
    ENUM = "enum"
    JSON = "json"
    BIT = "bit"
    NESTED = "nested"
    OTHER = "other"


class ColumnType(NamedTuple):
    """A type taken apart: `name` in capitals without its arguments and signs."""

    name: str
    family: Family
    arguments: tuple[str, ...] = ()
    unsigned: bool = False


def type_family(type_text: str, dialect: str) -> Family:
    """The family of a type as written, OTHER if `dialect` has no such type.

    >>> type_family("BIGINT UNSIGNED", "mysql"), type_family("BIGINTT", "duckdb")
    (<Family.INT: 'int'>, <Family.OTHER: 'other'>)
    """
    found = read_type(type_text, dialect)
    return found.family if found else Family.OTHER


@lru_cache(maxsize=4096)
def read_type(type_text: str, dialect: str) -> ColumnType | None:
    """Take a written type apart; None if `dialect` has no such type or the text is none."""
    if dialect == "sqlite" and not type_text.strip():
        return ColumnType("", Family.OTHER)  # SQLite's columns need no type
    try:
        reader = _Reader(type_text, _names(dialect))
        found = reader.type()
    except _NoType:
        return None
    return found if reader.at == len(reader.tokens) else None


def similar_types(type_text: str, dialect: str) -> list[str]:
    """Names that the writer may have meant, best first."""
    words = re.match(r"\s*([A-Za-z_]\w*)", type_text)
    return get_close_matches(words[1].upper(), list(_names(dialect)), 3, 0.7) if words else []


# ------------------------------------------------------------------ the names


def _table(text: str) -> dict[str, Family]:
    rows = (line.split(":") for line in text.strip().splitlines())
    return {name.strip(): Family(family.strip()) for family, names in rows for name in names.split(",")}


_COMMON = _table("""
    int: SMALLINT, INT, INTEGER, BIGINT, INT2, INT4, INT8
    decimal: DECIMAL, NUMERIC, DEC
    float: FLOAT, REAL, DOUBLE, DOUBLE PRECISION, FLOAT4, FLOAT8
    text: TEXT, VARCHAR, CHAR, CHARACTER, CHARACTER VARYING, CHAR VARYING
    bool: BOOL, BOOLEAN
    date: DATE
    time: TIME, TIME WITHOUT TIME ZONE
    timestamp: TIMESTAMP WITHOUT TIME ZONE
    json: JSON
    bit: BIT
""")
_DUCKDB = _table("""
    int: TINYINT, INT1, SHORT, LONG, HUGEINT, INT128, INT16, INT32, INT64, SIGNED, INTEGRAL, OID
    int: UTINYINT, USMALLINT, UINTEGER, UBIGINT, UHUGEINT, UINT8, UINT16, UINT32, UINT64, UINT128
    int: BIGNUM, VARINT
    text: STRING, BPCHAR, NVARCHAR
    blob: BLOB, BYTEA, BINARY, VARBINARY
    bool: LOGICAL
    time: TIMETZ, TIME WITH TIME ZONE, TIME_NS
    timestamp: DATETIME, TIMESTAMP, TIMESTAMP_S, TIMESTAMP_MS, TIMESTAMP_US, TIMESTAMP_NS
    timestamptz: TIMESTAMPTZ, TIMESTAMP WITH TIME ZONE
    interval: INTERVAL
    uuid: UUID, GUID
    bit: BITSTRING
    nested: VARIANT
    other: GEOMETRY
""")
_MYSQL = _table("""
    int: TINYINT, MEDIUMINT, MIDDLEINT, INT1, INT3, YEAR, SERIAL
    decimal: FIXED
    text: TINYTEXT, MEDIUMTEXT, LONGTEXT, LONG, LONG VARCHAR, NCHAR, NVARCHAR
    text: NATIONAL CHAR, NATIONAL VARCHAR, NATIONAL CHARACTER, VARCHAR2, CLOB
    blob: BLOB, TINYBLOB, MEDIUMBLOB, LONGBLOB, BINARY, VARBINARY, LONG VARBINARY, CHAR BYTE
    timestamp: DATETIME
    timestamptz: TIMESTAMP
    uuid: UUID
    other: GEOMETRY, POINT, LINESTRING, POLYGON, MULTIPOINT, MULTILINESTRING, MULTIPOLYGON, GEOMETRYCOLLECTION
    other: GEOMCOLLECTION, INET4, INET6, VECTOR
""")
_POSTGRES = _table("""
    int: SMALLSERIAL, SERIAL, BIGSERIAL, SERIAL2, SERIAL4, SERIAL8, OID
    decimal: MONEY
    text: BPCHAR, NAME, CITEXT
    blob: BYTEA
    time: TIMETZ, TIME WITH TIME ZONE
    timestamp: TIMESTAMP
    timestamptz: TIMESTAMPTZ, TIMESTAMP WITH TIME ZONE
    interval: INTERVAL, INTERVAL YEAR, INTERVAL MONTH, INTERVAL DAY, INTERVAL HOUR, INTERVAL MINUTE
    interval: INTERVAL SECOND
    interval: INTERVAL YEAR TO MONTH, INTERVAL DAY TO HOUR, INTERVAL DAY TO MINUTE, INTERVAL DAY TO SECOND
    interval: INTERVAL HOUR TO MINUTE, INTERVAL HOUR TO SECOND, INTERVAL MINUTE TO SECOND
    uuid: UUID
    json: JSONB
    bit: BIT VARYING, VARBIT
    other: INET, CIDR, MACADDR, MACADDR8, XML, TSVECTOR, TSQUERY, PG_LSN, HSTORE, GEOMETRY, GEOGRAPHY, VECTOR
    other: POINT, LINE, LSEG, BOX, PATH, POLYGON, CIRCLE
    other: INT4RANGE, INT8RANGE, NUMRANGE, TSRANGE, TSTZRANGE, DATERANGE
    other: INT4MULTIRANGE, INT8MULTIRANGE, NUMMULTIRANGE, TSMULTIRANGE, TSTZMULTIRANGE, DATEMULTIRANGE
""")
# SQLite takes any name; these are the ones its manual and common tools write.
_SQLITE = _table("""
    int: TINYINT, MEDIUMINT, BIG INT, UNSIGNED BIG INT
    text: CLOB, NCHAR, NVARCHAR, VARYING CHARACTER, NATIVE CHARACTER, STRING
    blob: BLOB, BINARY, VARBINARY
    timestamp: DATETIME, TIMESTAMP
    timestamptz: TIMESTAMPTZ, TIMESTAMP WITH TIME ZONE
    uuid: UUID, GUID
    json: JSONB
    decimal: NUMBER, MONEY
    other: ANY
""")
_DIALECTS = {"duckdb": _DUCKDB, "mysql": _MYSQL, "postgres": _POSTGRES, "sqlite": _SQLITE}
DIALECTS = tuple(_DIALECTS)


@lru_cache(maxsize=8)
def _names(dialect: str) -> dict[str, Family]:
    names = _COMMON | _DIALECTS.get(dialect, {})
    if dialect == "mysql":
        names = names | {"BOOL": Family.INT, "BOOLEAN": Family.INT}  # TINYINT(1), and it holds 7
    return names


# ------------------------------------------------------------------ reading

_TOKEN = re.compile(
    r"""\s*([^\W\d][\w$]*|\d+|"(?:[^"]|"")*"|'(?:[^']|'')*'|`[^`]*`|[(),\[\]]|\S)""",
)
_SIGNS = frozenset({"UNSIGNED", "SIGNED", "ZEROFILL"})
_CHOICES = frozenset({"ENUM", "SET"})
_NESTED = frozenset({"STRUCT", "ROW", "UNION", "MAP", "LIST", "ARRAY"})


class _NoType(Exception):
    """The text is not a type of the dialect."""


class _Reader:
    """type := (nested | choice | words ['(' numbers ')'] words) { '[' [number] ']' }."""

    def __init__(self, text: str, names: dict[str, Family]) -> None:
        self.tokens: list[str] = _TOKEN.findall(text.rstrip())
        self.names = names
        self.at = 0

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self) -> str:
        word = self.peek()
        self.at += 1
        return word

    def accept(self, word: str) -> bool:
        if self.peek().upper() != word:
            return False
        self.at += 1
        return True

    def need(self, word: str) -> None:
        if not self.accept(word):
            raise _NoType

    def type(self) -> ColumnType:
        kind = self.peek().upper()
        if kind in _NESTED and self.tokens[self.at + 1 : self.at + 2] == ["("]:
            self.nested(self.take().upper())
            found = ColumnType(kind, Family.NESTED)
        elif kind in _CHOICES:
            self.take()
            found = ColumnType(kind, Family.ENUM, self.choices())
        else:
            found = self.scalar()
        while self.peek() == "[" or self.peek().upper() == "ARRAY":
            if self.take() == "[":
                if self.peek().isdigit():
                    self.take()
                self.need("]")
            found = ColumnType(found.name + "[]", Family.NESTED)
        return found

    def scalar(self) -> ColumnType:
        words: list[str] = []
        arguments: tuple[str, ...] = ()
        unsigned = False
        while True:
            word = self.peek()
            if word.upper() in _SIGNS and words:
                unsigned = unsigned or word.upper() != "SIGNED"
                self.take()
            elif word == "(" and words and not arguments:
                arguments = self.numbers()
            elif word and (word[0].isalpha() or word[0] == "_") and word.upper() != "ARRAY":
                words.append(self.take().upper())
            else:
                break
        name = " ".join(words)
        if name not in self.names:
            raise _NoType
        return ColumnType(name, self.names[name], arguments, unsigned)

    def numbers(self) -> tuple[str, ...]:
        self.need("(")
        found = []
        while True:
            word = self.take()
            if not word.isdigit() and word.upper() not in ("MAX", "POINT"):
                raise _NoType
            found.append(word)
            if self.accept(")"):
                break
            self.need(",")
        if len(found) > 2:
            raise _NoType
        return tuple(found)

    def choices(self) -> tuple[str, ...]:
        self.need("(")
        found = []
        while True:
            word = self.take()
            if not word.startswith("'"):
                raise _NoType
            found.append(word[1:-1].replace("''", "'"))
            if self.accept(")"):
                return tuple(found)
            self.need(",")

    def nested(self, kind: str) -> None:
        self.need("(")
        while True:
            if kind in ("STRUCT", "ROW", "UNION"):
                name = self.take()
                if not name or not (name[0].isalpha() or name[0] in '_"'):
                    raise _NoType
            self.type()
            if self.accept(")"):
                return
            self.need(",")
