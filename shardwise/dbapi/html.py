"""What notebooks show: plain tables, everything escaped, no style of our own but alignment."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

import pyarrow as pa

from shardwise.dbapi.types import NUMBER, ColumnDescription

__all__ = ["columns", "escape", "grid", "preformatted", "table"]

ROWS_SHOWN = 20


def preformatted(text: str) -> str:
    """Text in a fixed font, its lines as they are."""
    return f'<pre style="line-height: 1.25; white-space: pre">{escape(text)}</pre>'


def grid(names: Sequence[str], rows: Iterable[Sequence[Any]], right: Sequence[bool] = ()) -> str:
    """A table; `right` says which columns are aligned to the right."""
    aligned = [' style="text-align: right"' if i < len(right) and right[i] else "" for i in range(len(names))]
    head = "".join(f"<th{a}>{escape(name)}</th>" for name, a in zip(names, aligned, strict=True))
    body = "".join(
        "<tr>" + "".join(f"<td{a}>{_cell(v)}</td>" for v, a in zip(row, aligned, strict=True)) + "</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def table(description: Sequence[ColumnDescription], first: pa.RecordBatch | None) -> str:
    """The first rows of a result, of which `first` is the first Arrow batch (None: there are no rows)."""
    rows = (
        []
        if first is None
        else list(zip(*(c.to_pylist() for c in first.slice(0, ROWS_SHOWN).columns), strict=True))
    )
    shown = grid([c.name for c in description], rows, [c.type_code == NUMBER for c in description])
    if first is not None and first.num_rows > ROWS_SHOWN:
        return f"{shown}<p>The first {ROWS_SHOWN} rows; fetch them all with .df(), .pl() or .fetchall().</p>"
    return shown


def columns(description: Sequence[ColumnDescription]) -> str:
    """The columns of a result whose rows are being fetched already."""
    return grid(["column", "type"], [(c.name, c.type_code) for c in description])


def _cell(value: Any) -> str:
    return "<i>NULL</i>" if value is None else escape(str(value))
