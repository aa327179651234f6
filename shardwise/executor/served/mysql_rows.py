"""Rows as the JSON text that JSON_TABLE reads: what it is told of each column, and how cells are written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shardwise.executor.served.encoding import ascii_json, base64, json_rows, latin
from shardwise.executor.served.mysql_types import CAST_BACK, DECIMALS, REALS, WHOLE, taken_apart
from shardwise.executor.served.product import StreamColumn

_VARCHAR_MAX: Final = 16_383
_ROW_BYTES_MAX: Final = 60_000
_EXACT_MAX: Final = 2.0**50
"""Below it a DOUBLE has more digits than these."""
_NOISE: Final = 2.0**-40


def with_nulls_of(schema: pa.Schema, batch: pa.RecordBatch) -> pa.RecordBatch:
    """A column of nothing but NULL is text, or bytes where its server has sorted it."""
    for at, field in enumerate(schema):
        cells = batch.column(at)
        if cells.type != field.type and cells.null_count == len(cells):
            batch = batch.set_column(at, field, pa.nulls(len(cells), field.type))
    return batch


def is_bytes(column: StreamColumn) -> bool:
    """Whether values are shipped as bytes: those of BIT as they are, others in base64."""
    type_ = taken_apart(column.type)
    if type_.name in ("BIT", "GEOMETRY"):
        return True
    is_text = type_.is_text and type_.name != "NULL" and type_.name not in CAST_BACK
    is_binary = is_text and column.collation == "binary"
    return type_.is_bytes or is_binary


def type_in_json(column: StreamColumn) -> str:
    """The type of what is neither text nor bytes."""
    type_ = taken_apart(column.type)
    if type_.name != "BIT" and (is_bytes(column) or type_.name in CAST_BACK):
        return "LONGTEXT"
    arguments = f"({type_.arguments})" if type_.arguments else ""
    if type_.name in DECIMALS and type_.arguments:
        digits, _, scale = type_.arguments.partition(",")
        arguments = f"({min(int(digits), 65)},{scale or 0})"
    filled = " UNSIGNED ZEROFILL" if "ZEROFILL" in type_.rest else ""
    unsigned = " UNSIGNED" if "UNSIGNED" in type_.rest and type_.name not in REALS else ""
    return f"{type_.name}{arguments}{filled or unsigned}"


def read_back(column: StreamColumn, cell: str) -> str:
    """The value that a cell of JSON_TABLE's stands for."""
    type_ = taken_apart(column.type)
    if type_.name != "BIT" and is_bytes(column):
        return f"CAST(FROM_BASE64({cell}) AS BINARY)"
    if type_.name in CAST_BACK:
        return f"CAST({cell} AS {type_.name})"
    return cell


def is_kept(column: StreamColumn, cells: Sequence[pa.Array]) -> bool:
    """Whether each value stays as it is in a column that has this count of decimals, which rounds it.

    A table's own are rounded already, and a sum of them is but for what adding up makes of its last digits.
    What else is computed of them need not be, and is shown as it is.
    """
    type_ = taken_apart(column.type)
    if type_.name not in REALS or "," not in type_.arguments:
        return True
    digits, decimals = (int(part) for part in type_.arguments.split(","))
    return all(_is_rounded(given, digits, decimals, is_float=type_.name == "FLOAT") for given in cells)


def with_any_decimals(column: StreamColumn) -> StreamColumn:
    return column._replace(type=taken_apart(column.type).name)


def _is_rounded(cells: pa.Array, digits: int, decimals: int, *, is_float: bool) -> bool:
    """As the server rounds what it stores: the part after the point, to the nearest."""
    values = cells.drop_null().cast(pa.float64()).to_numpy(zero_copy_only=False)
    whole, unit = np.floor(values), 10.0**decimals
    stored = whole + np.rint((values - whole) * unit) / unit
    if is_float:
        stored = stored.astype(np.float32).astype(np.float64)
    is_same = (stored == values) & (np.signbit(stored) == np.signbit(values))
    if not is_float and np.all(np.abs(values) * unit < _EXACT_MAX):
        is_same |= np.abs(stored - values) <= np.abs(values) * _NOISE
    is_small = np.abs(values) <= 10.0 ** (digits - decimals) - 1 / unit
    return bool(np.all(is_small & is_same))


def _is_plain(type_text: str) -> bool:
    """Whether its texts are JSON's numbers: 00007 is none."""
    type_ = taken_apart(type_text)
    return type_.name in WHOLE - {"YEAR"} and "ZEROFILL" not in type_.rest


def text_types(columns: Sequence[StreamColumn], widths: Mapping[str, int]) -> dict[int, str]:
    """The types of texts: VARCHARs while a row of them is small enough, the longest of them LONGTEXTs."""
    sizes = {}
    for at, column in enumerate(columns):
        type_ = taken_apart(column.type)
        if not type_.is_text or is_bytes(column) or type_.name in CAST_BACK:
            continue
        size = max(type_.size, widths.get(column.name, 0))
        is_short = type_.name in ("CHAR", "VARCHAR", "ENUM", "SET", "NULL") and size <= _VARCHAR_MAX
        sizes[at] = max(size, 1) if is_short else 0
    left = _ROW_BYTES_MAX
    found = {}
    for at, size in sorted(sizes.items(), key=lambda item: item[1]):
        is_short = 0 < size * 4 <= left
        left -= size * 4 if is_short else 0
        found[at] = (f"VARCHAR({size})" if is_short else "LONGTEXT") + _collated(columns[at].collation)
    return found


def in_its_collation(text: str, collation: str | None) -> str:
    """A text of utf8mb4 in its column's character set and collation."""
    if not collation or collation == "binary":
        return text
    if collation.startswith("utf8mb4"):
        return f"{text} COLLATE {collation}"
    return f"CONVERT({text} USING {collation.partition('_')[0]}) COLLATE {collation}"


def _collated(collation: str | None) -> str:
    if not collation or collation == "binary":
        return ""
    return f" CHARACTER SET {collation.partition('_')[0]} COLLATE {collation}"


def text_widths(columns: Sequence[StreamColumn], batches: Sequence[pa.RecordBatch]) -> dict[str, int]:
    """How many characters the longest text of each column has."""
    found: dict[str, int] = {}
    for batch in batches:
        for column, cells in zip(columns, batch.columns, strict=True):
            if taken_apart(column.type).is_text and pa.types.is_string(cells.type) and len(cells):
                longest = pc.max(pc.utf8_length(cells)).as_py() or 0
                found[column.name] = max(found.get(column.name, 0), longest)
    return found


def json_document(
    batch: pa.RecordBatch,
    columns: Sequence[StreamColumn],
    *,
    is_latin: bool = False,
    wide: Set[int] = frozenset(),
) -> str:
    """The rows as one JSON text; texts of the columns `wide` in base64."""
    cells, written = [], []
    for at, (column, given) in enumerate(zip(columns, batch.columns, strict=True)):
        type_ = taken_apart(column.type)
        if type_.name == "BIT":
            cells.append(latin(given))
        elif pa.types.is_binary(given.type):
            cells.append(base64(given))
        elif at in wide:
            cells.append(base64(given.cast(pa.binary())))
        elif is_latin and type_.is_text:
            cells.append(ascii_json(given))
            written.append(at)
        else:
            cells.append(given)
    plain = [_is_plain(column.type) for column in columns]
    return json_rows(cells, [is_plain or at in written for at, is_plain in enumerate(plain)])
