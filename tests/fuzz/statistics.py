"""Lock files that claim something of tables, rightly or not: estimates must never change an answer."""

from __future__ import annotations

from random import Random

from tests.fuzz.schema import World


def made_up(world: World, seed: int) -> str:
    """How many rows each table has: rightly where the seed is even, else at random."""
    random, lines = Random(seed), []
    for table in world.tables:
        if "VIRTUAL" in table.place:
            continue
        rows = len(table.rows) if seed % 2 == 0 else random.choice((0, 1, 10, 1000, 10_000_000))
        lines.append(f"LOCK TABLE {table.name} ({table.columns}) ROWS {rows} READ AT '2026-01-01T00:00:00Z';")
    return "\n".join(lines) + "\n"
