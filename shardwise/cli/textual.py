"""Rows as text, one by one, and the formats made of them.

Values are written as DuckDB writes them.
"""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from typing import Final

from shardwise.cli.terminal import one_line, padded, width_of
from shardwise.dbapi import BINARY, NUMBER, Cursor
from shardwise.dbapi.writers import computed, positions

_BATCH_ROWS: Final = 2048
Row = Sequence[str | None]


class Rows:
    """A cursor's rows as texts, None for NULL; read once."""

    def __init__(self, cursor: Cursor) -> None:
        self._cursor = cursor
        self._first: Sequence[Sequence[object]] = ()
        self._is_sqlite = cursor.connection.cluster.catalog.dialect == "sqlite"
        if self._is_sqlite:
            self._first = cursor.fetchmany(_BATCH_ROWS)
        description = cursor.description or ()
        self.names = [column.name for column in description]
        self.types = [column.type_code or self._type_of(i) for i, column in enumerate(description)]

    def __iter__(self) -> Iterator[Row]:
        if self._is_sqlite:  # a column's values need no one type
            found = self._first
            while found:
                yield from (tuple(map(_sqlite_text, row)) for row in found)
                found = self._cursor.fetchmany(_BATCH_ROWS)
            return
        reader = self._cursor.to_arrow_reader(_BATCH_ROWS)
        texts = [f"CAST({name} AS VARCHAR) AS {name}" for name in positions(reader.schema)]
        for table in computed(reader, self._cursor.connection.time_zone, ", ".join(texts)):
            yield from zip(*(column.to_pylist() for column in table.columns), strict=True)

    def _type_of(self, index: int) -> str:
        """Of a column that has no declared type: numbers, if its first values are."""
        values = [row[index] for row in self._first if row[index] is not None]
        return "NUMERIC" if values and all(isinstance(value, int | float) for value in values) else ""


def _sqlite_text(value: object) -> str | None:
    """A value as SQLite writes it; a blob as its literal."""
    if isinstance(value, bytes):
        return f"x'{value.hex()}'"
    return None if value is None else str(value)


def tsv(rows: Rows, *, headers: bool, null: str) -> Iterator[str]:
    r"""As PostgreSQL's COPY has it: `\t`, `\n`, `\\` for a tab, line end, backslash; `\N` for NULL."""
    if headers:
        yield "\t".join(name.translate(_TSV) for name in rows.names)
    for row in rows:
        yield "\t".join("\\N" if value is None else value.translate(_TSV) for value in row)


_TSV: Final = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})


def separated(rows: Rows, *, headers: bool, null: str) -> Iterator[str]:
    """Values between bars, as sqlite3's `.mode list`."""
    if headers:
        yield "|".join(one_line(name) for name in rows.names)
    for row in rows:
        yield "|".join(null if value is None else one_line(value) for value in row)


def records(rows: Rows, *, headers: bool, null: str) -> Iterator[str]:
    """A line per value, as psql's `\\x`."""
    names = [one_line(name) for name in rows.names]
    width = max(map(width_of, names), default=0)
    for number, row in enumerate(rows, 1):
        if headers:
            yield f"-[ RECORD {number} ]".ljust(width + 3, "-")
        for name, value in zip(names, row, strict=True):
            shown = null if value is None else one_line(value)
            yield f"{padded(name, width)} | {shown}".rstrip()


def markdown(rows: Rows, *, headers: bool, null: str) -> Iterator[str]:
    """A table of Markdown; its head cannot be left out."""

    def line(cells: Sequence[str]) -> str:
        return f"| {' | '.join(cells)} |"

    yield line([_markdown(name) for name in rows.names])
    yield line(["---:" if code == NUMBER else "---" for code in rows.types])
    for row in rows:
        yield line([null if value is None else _markdown(value) for value in row])


def _markdown(text: str) -> str:
    return one_line(text.replace("\\", "\\\\").replace("|", "\\|").replace("\n", "<br>"))


def html_table(rows: Rows, *, headers: bool, null: str) -> Iterator[str]:
    """A table of HTML."""
    yield "<table>"
    if headers:
        yield "<tr>" + "".join(f"<th>{html.escape(name)}</th>" for name in rows.names) + "</tr>"
    for row in rows:
        cells = (html.escape(null if value is None else value) for value in row)
        yield "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"
    yield "</table>"


def inserts(rows: Rows, *, headers: bool, null: str) -> Iterator[str]:
    """A statement per row, for a table that is called `result`."""
    columns = ", ".join('"' + name.replace('"', '""') + '"' for name in rows.names) if headers else ""
    into = f"INSERT INTO result ({columns})" if headers else "INSERT INTO result"
    for row in rows:
        values = ", ".join(_literal(value, code) for value, code in zip(row, rows.types, strict=True))
        yield f"{into} VALUES ({values});"


def _literal(value: str | None, code: str) -> str:
    if value is None:
        return "NULL"
    if code == NUMBER and value not in ("inf", "-inf", "nan"):
        return value
    quoted = "'" + value.replace("'", "''") + "'"
    return f"{quoted}::BLOB" if code == BINARY else quoted
