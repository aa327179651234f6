"""A text of PostgreSQL's as the Python value that psycopg makes of it, and as Arrow."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC
from functools import cache
from typing import Any
from zoneinfo import ZoneInfo

import psycopg
import pyarrow as pa
import pyarrow.compute as pc
from psycopg.adapt import Transformer
from psycopg.pq import Format

from shardwise.errors import DataError

_DIGITS_MAX = 38


def as_python(cells: pa.Array, base: str, time_zone: str) -> Sequence[Any]:
    """`base` is the type's name without arguments; a type that psycopg does not know is a text to it."""
    values: list[Any] = cells.to_pylist()
    if pa.types.is_binary(cells.type):
        return values
    load = _loader(base)
    if load is None:
        return values
    try:
        made = [None if value is None else load(value.encode()) for value in values]
    except psycopg.DataError as error:  # a moment that Python has no object for
        raise DataError(str(error), hint="Cast it to text", sqlstate="22008") from error
    if base in ("timestamptz", "timestamp with time zone"):
        zone = UTC if time_zone == "UTC" else ZoneInfo(time_zone)  # as psycopg has them
        made = [None if value is None else value.astimezone(zone) for value in made]
    return made


def as_arrow(cells: pa.Array, type_: pa.DataType) -> pa.Array:
    if pa.types.is_boolean(type_):
        return pc.equal(cells, "t")
    if pa.types.is_time(type_):  # which Arrow reads of a moment only
        of_a_day = pc.binary_join_element_wise("1970-01-01", cells, " ")
        return of_a_day.cast(pa.timestamp("us")).cast(type_)
    return cells.cast(type_)


def closed(cells: Sequence[pa.Array]) -> str | None:
    """A numeric type that holds all these numbers; None where one is none, infinite, or they are too long."""
    whole = decimals = 1
    for column in cells:
        if pc.any(pc.match_substring_regex(column, "[^-0-9.]")).as_py():
            return None
        parts = pc.split_pattern(pc.replace_substring(column, "-", ""), ".").drop_null()
        counts = pc.list_value_length(parts)
        if len(parts):
            whole = max(whole, pc.max(pc.utf8_length(pc.list_element(parts, 0))).as_py())
            fractions = parts.filter(pc.equal(counts, 2))
            if len(fractions):
                decimals = max(decimals, pc.max(pc.utf8_length(pc.list_element(fractions, 1))).as_py())
    return f"numeric({whole + decimals},{decimals})" if whole + decimals <= _DIGITS_MAX else None


def hexadecimal(cells: pa.Array) -> pa.Array:
    """Bytes as bytea reads them."""
    return pa.array([None if cell is None else f"\\x{cell.hex()}" for cell in cells.to_pylist()], pa.string())


@cache
def _loader(base: str) -> Callable[[bytes], Any] | None:
    oid = psycopg.adapters.types.get_oid(base) if base in _known() else None
    return None if oid is None else Transformer().get_loader(oid, Format.TEXT).load


def _known() -> frozenset[str]:
    names = set()
    for info in psycopg.adapters.types:
        names |= {info.name, info.regtype, f"{info.name}[]", f"{info.regtype}[]"}
    return frozenset(names)
