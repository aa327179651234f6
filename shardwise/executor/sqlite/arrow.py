"""SQLite's values as Arrow: by the declared type where all values fit, else by what the values are.

    INTEGER → int64    REAL → float64    TEXT → string    BLOB → binary    other, or none: as the values are

A column of whole numbers and reals is float64 if no number changes by it. Any other mixture has no Arrow
type: the error names the column.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import pyarrow as pa

from shardwise.catalog.sqlite_types import affinity
from shardwise.errors import DataError
from shardwise.executor.sqlite.rows import Row

_TYPES: Final = {
    "INTEGER": (pa.int64(), int),
    "REAL": (pa.float64(), float),
    "TEXT": (pa.string(), str),
    "BLOB": (pa.binary(), bytes),
}
_OF_VALUES: Final = {int: pa.int64(), float: pa.float64(), str: pa.string(), bytes: pa.binary()}
_EXACT: Final = 1 << 53


def table_of(columns: Sequence[tuple[str, str]], rows: list[Row]) -> pa.Table:
    """`columns` are names and declared types ("" where there is none). Raises DataError."""
    arrays, fields = [], []
    for at, (name, declared) in enumerate(columns):
        cells = [row[at] for row in rows]
        type_ = _type(name, declared, cells)
        arrays.append(pa.array(_floats(cells) if _is_widened(type_, cells) else cells, type_))
        fields.append(pa.field(name, type_))
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields)) if fields else pa.table({})


def _type(name: str, declared: str, cells: list[Any]) -> pa.DataType:
    kinds = {type(cell) for cell in cells} - {type(None)}
    wanted = _TYPES.get(affinity(declared)) if declared else None
    if wanted is not None and kinds <= {wanted[1]}:
        return wanted[0]
    if len(kinds) == 1:
        return _OF_VALUES[kinds.pop()]
    if not kinds:
        return pa.null()
    if kinds == {int, float} and all(abs(cell) <= _EXACT for cell in cells if type(cell) is int):
        return pa.float64()
    found = ", ".join(sorted(_CLASSES[kind] for kind in kinds))
    raise DataError(
        f'column "{name}" holds {found}: such a mixture has no Arrow type',
        hint=f'Write CAST("{name}" AS TEXT), or another type, or fetch the rows as tuples',
    )


_CLASSES: Final = {int: "whole numbers", float: "reals", str: "texts", bytes: "blobs"}


def _is_widened(type_: pa.DataType, cells: list[Any]) -> bool:
    return type_ == pa.float64() and any(type(cell) is int for cell in cells)


def _floats(cells: list[Any]) -> list[Any]:
    return [None if cell is None else float(cell) for cell in cells]
