"""What ANALYZE would tell of tables whose rows are known: without it no strategy is chosen, or forced."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any


def statistics(name: str, columns: str, rows: Sequence[Sequence[Any]]) -> str:
    """A STATISTICS statement; `columns` are those of a CREATE TABLE."""
    count = max(len(rows), 1)
    told = []
    for at, column in enumerate(_names(columns)):
        values = [row[at] for row in rows]
        distinct = len({repr(value) for value in values if value is not None})
        nulls = round(values.count(None) / count, 3)
        told.append(f"{column} (DISTINCT {distinct}, NULLS {nulls}, WIDTH 8)")
    return f"STATISTICS {name} ROWS {len(rows)} FROM SCAN AT '2026-01-01T00:00:00Z' ({', '.join(told)});"


def _names(columns: str) -> Iterator[str]:
    depth, start = 0, 0
    for at, letter in enumerate(f"{columns},"):
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            yield columns[start:at].split(maxsplit=1)[0]
            start = at + 1
