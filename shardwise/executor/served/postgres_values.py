"""A text of PostgreSQL's as the Python value that psycopg makes of it, and as Arrow."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any
from zoneinfo import ZoneInfo

import psycopg
import pyarrow as pa
import pyarrow.compute as pc
from psycopg.adapt import Transformer
from psycopg.pq import Format


def as_python(cells: pa.Array, base: str, time_zone: str) -> Sequence[Any]:
    """`base` is the type's name without arguments; a type that psycopg does not know is a text to it."""
    values: list[Any] = cells.to_pylist()
    if pa.types.is_binary(cells.type):
        return values
    load = _loader(base)
    if load is None:
        return values
    made = [None if value is None else load(value.encode()) for value in values]
    if base in ("timestamptz", "timestamp with time zone"):
        zone = ZoneInfo(time_zone)
        made = [None if value is None else value.astimezone(zone) for value in made]
    return made


def as_arrow(cells: pa.Array, type_: pa.DataType) -> pa.Array:
    if pa.types.is_boolean(type_):
        return pc.equal(cells, "t")
    return cells.cast(type_)


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
