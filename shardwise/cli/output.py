"""Rows to text and files, in the format that was asked for.

All formats but `table` stream: a result of any size passes in the same memory.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import BinaryIO, Final

from shardwise.cli import streams, textual
from shardwise.dbapi import Cursor, writers
from shardwise.dbapi.files import new_file


class Format(StrEnum):
    """What `--format` takes."""

    TABLE = "table"
    LINE = "line"
    CSV = "csv"
    TSV = "tsv"
    JSON = "json"
    JSONL = "jsonl"
    MARKDOWN = "markdown"
    LIST = "list"
    HTML = "html"
    INSERT = "insert"
    PARQUET = "parquet"
    ARROW = "arrow"


BINARY_FORMATS = frozenset({Format.PARQUET, Format.ARROW})
FORMAT_OF_SUFFIX: Final = {
    ".csv": Format.CSV,
    ".tsv": Format.TSV,
    ".json": Format.JSON,
    ".jsonl": Format.JSONL,
    ".ndjson": Format.JSONL,
    ".md": Format.MARKDOWN,
    ".html": Format.HTML,
    ".parquet": Format.PARQUET,
    ".arrow": Format.ARROW,
    ".arrows": Format.ARROW,
}
_BY_ROW: Final = {
    Format.LINE: textual.records,
    Format.TSV: textual.tsv,
    Format.MARKDOWN: textual.markdown,
    Format.LIST: textual.separated,
    Format.HTML: textual.html_table,
    Format.INSERT: textual.inserts,
}
_CHUNK_LINES: Final = 512


def write(cursor: Cursor, form: Format, sink: BinaryIO, *, headers: bool = True, null: str = "NULL") -> None:
    """Writes all rows in any form but `table`. `null` is what the forms for people show for NULL."""
    match form:
        case Format.PARQUET:
            writers.write_parquet(cursor.to_arrow_reader(), cursor.description or (), sink)
        case Format.ARROW:
            streams.write_arrow(cursor, sink)
        case Format.CSV:
            writers.write_csv(
                cursor.to_arrow_reader(),
                cursor.description or (),
                sink,
                header=headers,
                time_zone=cursor.connection.time_zone,
            )
        case Format.JSON | Format.JSONL:
            streams.write_json(cursor, sink, as_array=form is Format.JSON)
        case _:
            _write_lines(_BY_ROW[form](textual.Rows(cursor), headers=headers, null=null), sink)


def _write_lines(lines: Iterator[str], sink: BinaryIO) -> None:
    held: list[str] = []
    for line in lines:
        held.append(line + "\n")
        if len(held) >= _CHUNK_LINES:
            sink.write("".join(held).encode())
            held.clear()
    if held:
        sink.write("".join(held).encode())


@contextmanager
def sink(path: Path | None) -> Iterator[BinaryIO]:
    """Where rows are written: standard output, or a file that gets its name only once it is whole."""
    if path is None:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    else:
        with new_file(path) as file:
            yield file
