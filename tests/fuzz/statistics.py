"""Lock files that claim something of tables, rightly or not: estimates must never change an answer."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

from tests.fuzz.schema import Table, World

_NOW = "2026-01-01T00:00:00Z"


def made_up(world: World, seed: int) -> str:
    """Statistics of most tables: what is so where the seed is even, else anything."""
    random = Random(seed)
    told = [table for table in world.tables if random.random() < 0.9]
    lines = [_true(table) if seed % 2 == 0 else _false(table, random) for table in told]
    return "\n".join(lines) + "\n"


def _true(table: Table) -> str:
    columns = [_figures(name, [row[at] for row in table.rows]) for at, name in enumerate(table.names)]
    return _statement(table, len(table.rows), columns)


def _figures(name: str, values: list[Any]) -> str:
    known = [value for value in values if value is not None]
    nulls = 1 - len(known) / len(values) if values else 0
    figures = [f"DISTINCT {len(set(known))}", f"NULLS {nulls:.6f}", "WIDTH 8"]
    if known and all(isinstance(value, int) and not isinstance(value, bool) for value in known):
        ends = sorted(known)
        bounds = (ends[0], ends[len(ends) // 2], ends[-1])
        figures.append(f"BOUNDS ({', '.join(map(_text, bounds))})")
    common = [(value, n) for value, n in Counter(known).most_common(3) if n > 1]
    if common:
        figures.append(f"COMMON ({', '.join(f'{_text(v)} {n / len(values):.6f}' for v, n in common)})")
    return f"{name} ({', '.join(figures)})"


def _false(table: Table, random: Random) -> str:
    rows = random.choice((0, 1, 10, 1000, 10_000_000))
    columns = [
        f"{name} (DISTINCT {random.choice((0, 1, 3, 1000, 10_000_000))}, NULLS {random.choice((0, 0.5, 1))}, "
        f"WIDTH {random.choice((1, 8, 200))})"
        for name in table.names
        if random.random() < 0.8
    ]
    return _statement(table, rows, columns)


def _statement(table: Table, rows: int, columns: list[str]) -> str:
    listed = f" ({', '.join(columns)})" if columns else ""
    return f"STATISTICS {table.name} ROWS {rows} FROM SCAN AT '{_NOW}'{listed};"


def _text(value: Any) -> str:
    return "'" + str(value).replace("'", "''") + "'"
