"""What a server says of a table's columns, and whether that will do for the catalog's types."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from shardwise.executor.backends.base import ReadColumn

COLUMNS = (
    "SELECT COLUMN_NAME, COLUMN_TYPE, COLLATION_NAME FROM information_schema.COLUMNS"
    " WHERE TABLE_SCHEMA = {schema} AND TABLE_NAME = {table} ORDER BY ORDINAL_POSITION"
)
SCHEMA = "SELECT 1 FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = {schema}"
_NAME = re.compile(r'`((?:[^`]|``)*)`|"((?:[^"]|"")*)"|([^.`"]+)')


def parts_of(table: str) -> tuple[str | None, str]:
    """Schema, if it is said, and name of a table that is written as SQL."""
    names = [
        (back or "").replace("``", "`") or (double or "").replace('""', '"') or bare
        for back, double, bare in _NAME.findall(table)
    ]
    return (names[-2] if len(names) > 1 else None), names[-1]


def said(type_: str, collation: str | None) -> str:
    """A column's type as the server writes it, and its collation."""
    return f"{type_} COLLATE {collation}" if collation else type_


def suits(found: str, column: ReadColumn, normal: Callable[[str], str | None]) -> str | None:
    """`Backend.suits`."""
    _, declared, stored = column
    if stored is not None:
        return f"{found}, and a MySQL source has dates of their own"
    return _suits(found, declared, normal(declared))


@lru_cache(maxsize=4096)
def _suits(found: str, declared: str, normal: str | None) -> str | None:
    type_ = found.partition(" COLLATE ")[0]
    plain = _plain(type_)
    if normal is None or not _is_duckdbs(normal):
        return None if _plain(declared) == plain else found
    return None if _fits(type_, plain, normal) else found


def _is_duckdbs(type_: str) -> bool:
    return type_ in _WHOLE or type_ in _SUIT or type_.startswith(("BOOLEAN", "DECIMAL(", "ENUM("))


def _fits(type_: str, plain: str, wanted: str) -> bool:
    word = plain.partition("(")[0].split()[0]
    if wanted in _WHOLE and word in _BYTES:
        low, high = _range(_BYTES[word], is_signed="unsigned" not in plain)
        return _WHOLE[wanted][0] <= low and high <= _WHOLE[wanted][1]
    if wanted in ("SMALLINT", "USMALLINT") and word == "year":  # which is compared with care
        return True
    if wanted == "BOOLEAN":
        return type_.lower().startswith(("tinyint(1)", "bit(1)"))
    if (ours := _DECIMAL.fullmatch(wanted)) and (theirs := _DECIMAL.match(plain.upper())):
        return ours[2] == theirs[2] and int(theirs[1]) <= int(ours[1])
    if wanted.startswith("ENUM("):
        return word in ("enum", "char", "varchar") and (word != "enum" or _members(wanted) == _members(type_))
    return word in _SUIT.get(wanted, ())


def _plain(type_: str) -> str:
    """A type without what means nothing for its values: display widths, synonyms, collations."""
    text = " ".join(type_.lower().partition(" collate ")[0].split())
    text = re.sub(r"\b(tinyint|smallint|mediumint|int|bigint|year)\(\d+\)", r"\1", text)
    text = re.sub(r" (signed|zerofill)\b", "", text)
    text = re.sub(r"\s*([(,)])\s*", r"\1", text)
    word = text.partition("(")[0].split(" ")[0]
    return _SYNONYMS.get(word, word) + text[len(word) :]


_SYNONYMS = {
    "integer": "int",
    "int4": "int",
    "int8": "bigint",
    "int2": "smallint",
    "numeric": "decimal",
    "dec": "decimal",
    "fixed": "decimal",
    "bool": "tinyint",
    "boolean": "tinyint",
    "real": "double",
    "character": "char",
}
_BYTES = {"tinyint": 1, "smallint": 2, "mediumint": 3, "int": 4, "bigint": 8}


def _range(size: int, *, is_signed: bool) -> tuple[int, int]:
    bits = 8 * size
    return (-(1 << bits - 1), (1 << bits - 1) - 1) if is_signed else (0, (1 << bits) - 1)


_WHOLE = {
    name: _range(size, is_signed=not name.startswith("U"))
    for size, one in ((1, "TINYINT"), (2, "SMALLINT"), (4, "INTEGER"), (8, "BIGINT"), (16, "HUGEINT"))
    for name in (one, f"U{one}")
}
_DECIMAL = re.compile(r"DECIMAL\((\d+),(\d+)\)")
_TEXTS = (
    "char",
    "varchar",
    "tinytext",
    "text",
    "mediumtext",
    "longtext",
    "enum",
    "set",
    "json",
    "uuid",
    "inet6",
    "inet4",
)
_SUIT = {
    "DOUBLE": ("double",),
    "FLOAT": ("float",),
    "DATE": ("date",),
    "TIME": ("time",),
    "INTERVAL": ("time",),
    "TIMESTAMP": ("datetime", "timestamp"),
    "TIMESTAMP_S": ("datetime", "timestamp"),
    "TIMESTAMP_MS": ("datetime", "timestamp"),
    "TIMESTAMP_NS": ("datetime", "timestamp"),
    "TIMESTAMP WITH TIME ZONE": ("timestamp",),
    "VARCHAR": _TEXTS,
    "JSON": ("json", "longtext", "mediumtext", "text"),
    "UUID": ("uuid", "char", "varchar"),
    "BLOB": ("binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob"),
}


def _members(type_: str) -> list[str]:
    return [each.replace("''", "'") for each in re.findall(r"'((?:[^']|'')*)'", type_)]
