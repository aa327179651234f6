"""PostgreSQL's types: told from one another, and as Arrow's."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

import pyarrow as pa

from shardwise.errors import NotSupportedError

_MEMBER = re.compile(r"'(?:[^']|'')*'")
ARGUMENTS = re.compile(r"\s*\(([^)]*)\)")
_FIELDS = re.compile(r"^interval [a-z ]+")
TEXTS: Final = frozenset(
    {"text", "character varying", "varchar", "character", "char", "bpchar", "name", "citext"}
)


@lru_cache(maxsize=4096)
def kind_of(type_text: str) -> str:
    """`Product.kind`."""
    written, _, collation = type_text.partition(" COLLATE ")
    suffix = f" COLLATE {collation}" if collation else ""
    if written[:5].upper() == "ENUM(":
        return f"ENUM({', '.join(_MEMBER.findall(written))})"
    base, dimensions = re.sub(r"(\[\])+$", "", base_of(written)), "[]" * written.count("[]")
    base = _SYNONYMS.get(base, base)
    found = ARGUMENTS.search(written)
    arguments = re.sub(r"\s+", "", found[1]) if found else ""
    if base == "numeric" and arguments and "," not in arguments:
        arguments += ",0"
    if base == "character":
        arguments = arguments or "1"
    if base in ("character varying", "text"):
        base, arguments = "text", ""
    return f"{base}{f'({arguments})' if arguments else ''}{dimensions}{suffix}"


def base_of(type_text: str) -> str:
    """A type's name without its arguments: `numeric` of NUMERIC(10, 2), `interval[]` of interval hour[]."""
    return _FIELDS.sub("interval", " ".join(ARGUMENTS.sub("", type_text).lower().split()))


ARROW: Final = {
    **dict.fromkeys(("smallint", "int2"), pa.int16()),
    **dict.fromkeys(("integer", "int4", "int"), pa.int32()),
    **dict.fromkeys(("bigint", "int8"), pa.int64()),
    "oid": pa.uint32(),
    **dict.fromkeys(("real", "float4"), pa.float32()),
    **dict.fromkeys(("double precision", "float8"), pa.float64()),
    **dict.fromkeys(("boolean", "bool"), pa.bool_()),
    "date": pa.date32(),
    **dict.fromkeys(("time", "time without time zone"), pa.time64("us")),
    **dict.fromkeys(("timestamp", "timestamp without time zone"), pa.timestamp("us")),
    **dict.fromkeys(("timestamptz", "timestamp with time zone"), pa.timestamp("us", "UTC")),
    "bytea": pa.binary(),
}
_TYPES_OF_ARROW: Final = {
    pa.int8(): "smallint",
    pa.uint8(): "smallint",
    pa.int16(): "smallint",
    pa.uint16(): "integer",
    pa.int32(): "integer",
    pa.uint32(): "bigint",
    pa.int64(): "bigint",
    pa.uint64(): "numeric(20,0)",
    pa.float32(): "real",
    pa.float64(): "double precision",
    pa.bool_(): "boolean",
    pa.date32(): "date",
}


def type_of_arrow(field: pa.Field) -> str:
    """What a column of a registered table is to be."""
    type_ = field.type
    if type_ in _TYPES_OF_ARROW:
        return _TYPES_OF_ARROW[type_]
    if pa.types.is_decimal(type_):
        return f"numeric({type_.precision},{max(type_.scale, 0)})"
    if pa.types.is_timestamp(type_):
        return "timestamp" if type_.tz is None else "timestamptz"
    if pa.types.is_time(type_):
        return "time"
    if pa.types.is_string(type_) or pa.types.is_large_string(type_):
        return "text"
    if pa.types.is_binary(type_) or pa.types.is_large_binary(type_):
        return "bytea"
    raise NotSupportedError(
        f'the registered column "{field.name}" is {type_}, which PostgreSQL has no type for here',
        hint="Register it as numbers, texts, dates or bytes",
    )


_SYNONYMS: Final = {
    **dict.fromkeys(("int", "int4", "serial", "serial4"), "integer"),
    **dict.fromkeys(("int8", "bigserial", "serial8"), "bigint"),
    **dict.fromkeys(("int2", "smallserial", "serial2"), "smallint"),
    **dict.fromkeys(("decimal", "dec"), "numeric"),
    **dict.fromkeys(("varchar", "char varying"), "character varying"),
    **dict.fromkeys(("char", "bpchar"), "character"),
    **dict.fromkeys(("float8", "float"), "double precision"),
    "float4": "real",
    "bool": "boolean",
    "timestamp": "timestamp without time zone",
    "timestamptz": "timestamp with time zone",
    "time": "time without time zone",
    "timetz": "time with time zone",
    "varbit": "bit varying",
}
_SERIALS: Final = {
    **dict.fromkeys(("smallserial", "serial2"), "smallint"),
    **dict.fromkeys(("serial", "serial4"), "integer"),
    **dict.fromkeys(("bigserial", "serial8"), "bigint"),
}


def as_declared(type_text: str) -> str:
    """A type that the catalog declares, as the server would say it of a result."""
    if type_text[:5].upper() == "ENUM(":
        return "text"
    return _SERIALS.get(type_text.strip().lower(), type_text)
