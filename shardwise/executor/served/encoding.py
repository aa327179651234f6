"""Columns of texts as one text: JSON rows, or the elements of a PostgreSQL array. Not done per cell."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Sequence
from json import dumps

import pyarrow as pa
import pyarrow.compute as pc

_CONTROL = r"[\x00-\x1f]"
_LATIN = r"\x00-\x7f\xa0-\xff" + bytes(range(0x80, 0xA0)).decode("cp1252", "ignore")


def json_rows(columns: Sequence[pa.Array], is_plain: Sequence[bool]) -> str:
    """`[["1","x"],["2",null]]`; values of columns that are `is_plain` are written without quotes."""
    written = [_json(c, plain=plain) for c, plain in zip(columns, is_plain, strict=True)]
    rows = pc.binary_join_element_wise(*written, ",") if len(written) > 1 else written[0]
    return f"[[{joined(rows, '],[')}]]" if len(rows) else "[]"


def array_elements(column: pa.Array, *, plain: bool) -> str:
    """`{"x",NULL}`: an array literal of PostgreSQL's."""
    if not plain:
        column = quoted(column)
    return f"{{{joined(pc.coalesce(column, 'NULL'), ',')}}}"


def quoted(column: pa.Array) -> pa.Array:
    """`"…"`, with backslashes before quotes and backslashes."""
    column = pc.replace_substring(column, "\\", "\\\\")
    column = pc.replace_substring(column, '"', '\\"')
    return pc.binary_join_element_wise('"', column, '"', "")


def base64(column: pa.Array) -> pa.Array:
    """Bytes as texts."""
    return pa.array(
        [None if cell is None else b64encode(cell).decode() for cell in column.to_pylist()], pa.string()
    )


def ascii_json(column: pa.Array) -> pa.Array:
    """Texts as JSON has them in ASCII, with their quotes."""
    return pa.array([None if cell is None else dumps(cell) for cell in column.to_pylist()], pa.string())


def has_more_than_latin(column: pa.Array) -> bool:
    """Whether a text has a character that Windows-1252 does not, which MySQL calls Latin-1."""
    is_text = pa.types.is_string(column.type)
    return is_text and bool(pc.any(pc.match_substring_regex(column, f"[^{_LATIN}]")).as_py())


def latin(column: pa.Array) -> pa.Array:
    """Bytes as the characters of their numbers."""
    return pa.array(
        [None if cell is None else cell.decode("latin-1") for cell in column.to_pylist()], pa.string()
    )


def joined(texts: pa.Array, separator: str) -> str:
    """All texts, none of them NULL, as one."""
    whole = pa.ListArray.from_arrays(pa.array([0, len(texts)], pa.int32()), texts)
    text: str = pc.binary_join(whole, separator)[0].as_py()
    return text


def pieces(batches: Sequence[pa.RecordBatch], bytes_max: int) -> Iterator[pa.RecordBatch]:
    """The rows in pieces of about `bytes_max`, or of one row."""
    for batch in batches:
        if not batch.num_rows:
            continue
        rows = max(1, batch.num_rows * bytes_max // max(1, batch.nbytes))
        for at in range(0, batch.num_rows, rows):
            yield batch.slice(at, rows)


def _json(column: pa.Array, *, plain: bool) -> pa.Array:
    if not plain:
        column = _without_controls(quoted(column))
    return pc.coalesce(column, "null")


def _without_controls(column: pa.Array) -> pa.Array:
    if pc.any(pc.match_substring_regex(column, _CONTROL)).as_py():
        for code in range(32):
            column = pc.replace_substring(column, chr(code), f"\\u{code:04x}")
    return column
