"""JSON and Arrow, batch by batch: a result of any size passes in the same memory.

CSV and Parquet are written as `Cursor.write_csv` and `write_parquet` do.
"""

from __future__ import annotations

import json
from typing import BinaryIO

import pyarrow as pa

from shardwise.dbapi import Cursor
from shardwise.dbapi.types import family
from shardwise.dbapi.writers import computed, joined, literal, positions


def write_arrow(cursor: Cursor, sink: BinaryIO) -> int:
    """An IPC stream."""
    reader = cursor.to_arrow_reader()
    count = 0
    with pa.ipc.new_stream(sink, reader.schema) as writer:
        for batch in reader:
            writer.write_batch(batch)
            count += batch.num_rows
    return count


def write_json(cursor: Cursor, sink: BinaryIO, *, as_array: bool) -> int:
    """One object per row, one to a line; with `as_array` they are the items of one array."""
    reader = cursor.to_arrow_reader()
    members = [
        literal(json.dumps(c.name, ensure_ascii=False) + ": ")
        + f" || coalesce({_json_value(name, code, field.type)}, 'null')"
        for name, c, code, field in zip(
            positions(reader.schema),
            cursor.description or (),
            types_of(cursor, reader.schema),
            reader.schema,
            strict=True,
        )
    ]
    separated = " || ', ' || ".join(members)
    separator = ",\n " if as_array else "\n"
    count = 0
    sink.write(b"[" if as_array else b"")
    for table in computed(reader, cursor.connection.time_zone, f"'{{' || {separated} || '}}'"):
        sink.write((separator if count else "").encode())
        sink.write(joined(table, separator))
        count += table.num_rows
    sink.write(b"]\n" if as_array else b"\n" if count else b"")
    return count


def types_of(cursor: Cursor, schema: pa.Schema) -> list[str]:
    """The columns' types; of those that the sqlite dialect gives none, after the values that came."""
    codes = [column.type_code for column in cursor.description or ()]
    return [code or _named(field.type) for code, field in zip(codes, schema, strict=True)]


def _named(type_: pa.DataType) -> str:
    if pa.types.is_integer(type_):
        return "INTEGER"
    if pa.types.is_floating(type_):
        return "DOUBLE"
    return "BLOB" if pa.types.is_binary(type_) else ""


def _json_value(name: str, code: str, type_: pa.DataType) -> str:
    """JSON has no infinity and no NaN: those are written as text. A decimal keeps all its digits, whatever a
    dialect calls it, and so do the numbers in a JSON document, which is not read anew."""
    text = f"CAST({name} AS VARCHAR)"
    if pa.types.is_floating(type_):
        return f"CASE WHEN isfinite({name}) THEN {text} ELSE '\"' || {text} || '\"' END"
    if pa.types.is_decimal(type_):
        return text
    if family(code) in ("JSON", "JSONB"):
        on_one_line = f"translate({text}, chr(9) || chr(10) || chr(13), '   ')"
        return f"CASE WHEN json_valid({text}) THEN {on_one_line} ELSE CAST(to_json({text}) AS VARCHAR) END"
    return f"CAST(to_json({name}) AS VARCHAR)"
