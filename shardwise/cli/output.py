"""Rows to text and files, batch by batch: a result of any size passes in the same memory.

CSV and Parquet are written as `Cursor.write_csv` and `write_parquet` do; the other forms are here.
"""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

import pyarrow as pa
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from shardwise.dbapi import NUMBER, Cursor
from shardwise.dbapi.files import new_file
from shardwise.dbapi.types import family
from shardwise.dbapi.writers import computed, joined, literal, positions, write_csv, write_parquet


class Format(StrEnum):
    """What `--format` takes."""

    TABLE = "table"
    CSV = "csv"
    JSON = "json"
    JSONL = "jsonl"
    PARQUET = "parquet"
    ARROW = "arrow"


BINARY_FORMATS = frozenset({Format.PARQUET, Format.ARROW})
ROWS_ON_A_TERMINAL = 100
FORMAT_OF_SUFFIX: Final = {
    ".csv": Format.CSV,
    ".json": Format.JSON,
    ".jsonl": Format.JSONL,
    ".ndjson": Format.JSONL,
    ".parquet": Format.PARQUET,
    ".arrow": Format.ARROW,
    ".arrows": Format.ARROW,
}


def write(cursor: Cursor, form: Format, sink: BinaryIO) -> int:
    """Writes all rows in any form but `table`; gives their number."""
    reader = cursor.to_arrow_reader()
    match form:
        case Format.PARQUET:
            return write_parquet(reader, cursor.description or (), sink)
        case Format.ARROW:
            return _write_arrow(reader, sink)
        case Format.CSV:
            return write_csv(reader, cursor.description or (), sink, time_zone=_zone(cursor))
        case _:
            return _write_json(cursor, reader, sink, as_array=form is Format.JSON)


@contextmanager
def sink(path: Path | None) -> Iterator[BinaryIO]:
    """Where rows are written: standard output, or a file that gets its name only once it is whole."""
    if path is None:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    else:
        with new_file(path) as file:
            yield file


class Shown(NamedTuple):
    """Rows as text, ready to print; `is_cut` if there were more."""

    names: Sequence[str]
    is_number: Sequence[bool]
    rows: Sequence[Sequence[str | None]]
    is_cut: bool


def read_table(cursor: Cursor, rows_max: int | None) -> Shown:
    """Reads rows to show, no more than `rows_max`."""
    description = cursor.description or ()
    found = _text_rows(cursor, 2048)
    rows = list(itertools.islice(found, rows_max))
    is_cut = rows_max is not None and next(found, None) is not None
    return Shown([c.name for c in description], [c.type_code == NUMBER for c in description], rows, is_cut)


def show_table(shown: Shown, console: Console) -> None:
    """Prints rows as a table: drawn on a terminal, plain where the output goes on."""
    if console.is_terminal:
        table = Table(box=SIMPLE_HEAD, header_style="bold", pad_edge=False, show_edge=False)
        for name, is_number in zip(shown.names, shown.is_number, strict=True):
            table.add_column(Text(name), justify="right" if is_number else "left", overflow="fold")
        for row in shown.rows:
            table.add_row(*(Text("NULL", style="dim") if v is None else Text(v) for v in row))
        console.print(table)
    else:
        for line in _plain_lines(shown):
            console.out(line, highlight=False)
    count = len(shown.rows)
    if shown.is_cut:
        told = f"(the first {count:,} rows; --rows 0 shows all, --format csv writes all)"
    else:
        told = f"({count:,} row{'' if count == 1 else 's'})"
    console.print(Text(told, style="dim"))


def show_rows(names: Sequence[str], rows: Iterable[Sequence[object]], console: Console) -> None:
    """Prints rows that are here already; values as Python writes them."""
    texts = [[None if value is None else str(value) for value in row] for row in rows]
    show_table(Shown(names, [False] * len(names), texts, is_cut=False), console)


def _plain_lines(shown: Shown) -> Iterator[str]:
    """Columns side by side, as wide as they need to be: what a pipe gets."""
    cells = [["NULL" if v is None else v for v in row] for row in shown.rows]
    widths = [max(map(len, column)) for column in zip(shown.names, *cells, strict=True)]
    for row in [shown.names, ["-" * w for w in widths], *cells]:
        padded = [
            v.rjust(w) if is_number else v.ljust(w)
            for v, w, is_number in zip(row, widths, shown.is_number, strict=True)
        ]
        yield "  ".join(padded).rstrip()


def _write_arrow(reader: pa.RecordBatchReader, sink: BinaryIO) -> int:
    count = 0
    with pa.ipc.new_stream(sink, reader.schema) as writer:
        for batch in reader:
            writer.write_batch(batch)
            count += batch.num_rows
    return count


def _write_json(cursor: Cursor, reader: pa.RecordBatchReader, sink: BinaryIO, *, as_array: bool) -> int:
    """One object per row, one to a line; with `as_array` they are the items of one array."""
    members = [
        literal(json.dumps(c.name, ensure_ascii=False) + ": ")
        + f" || coalesce({_json_value(name, c.type_code)}, 'null')"
        for name, c in zip(positions(reader.schema), cursor.description or (), strict=True)
    ]
    separated = " || ', ' || ".join(members)
    separator = ",\n " if as_array else "\n"
    count = 0
    sink.write(b"[" if as_array else b"")
    for table in computed(reader, _zone(cursor), f"'{{' || {separated} || '}}'"):
        sink.write((separator if count else "").encode())
        sink.write(joined(table, separator))
        count += table.num_rows
    sink.write(b"]\n" if as_array else b"\n" if count else b"")
    return count


def _json_value(name: str, code: str) -> str:
    """JSON has no infinity and no NaN: those are written as text. DECIMAL keeps all its digits."""
    text = f"CAST({name} AS VARCHAR)"
    kind = family(code)
    if kind in ("FLOAT", "DOUBLE"):
        return f"CASE WHEN isfinite({name}) THEN {text} ELSE '\"' || {text} || '\"' END"
    if kind == "DECIMAL":
        return text
    if kind == "JSON":
        return f"CAST(json({name}) AS VARCHAR)"  # on one line
    return f"CAST(to_json({name}) AS VARCHAR)"


def _text_rows(cursor: Cursor, batch_rows: int) -> Iterator[Sequence[str | None]]:
    reader = cursor.to_arrow_reader(batch_rows)
    texts = [f"CAST({name} AS VARCHAR) AS {name}" for name in positions(reader.schema)]
    for table in computed(reader, _zone(cursor), ", ".join(texts)):
        yield from zip(*(column.to_pylist() for column in table.columns), strict=True)


def _zone(cursor: Cursor) -> str:
    return cursor.connection.options.time_zone
