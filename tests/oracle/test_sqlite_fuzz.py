"""Random statements in the sqlite dialect against one SQLite; `SHARDWISE_FUZZ=20000` runs more of them."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from typing import Any

import pytest

from tests.oracle.compare import matching
from tests.oracle.sqlite_generator import Statements
from tests.oracle.sqlite_world import SQLiteWorld, rows

COUNT = int(os.environ.get("SHARDWISE_FUZZ", "240"))
SHARDS = (3, 2, 7)
_CHUNK = 20
_STEPS = 20_000_000


@pytest.fixture(scope="module")
def worlds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[SQLiteWorld]]:
    folder = tmp_path_factory.mktemp("fuzz")
    made = [SQLiteWorld(folder / str(n), n, rows(seed)) for seed, n in enumerate(SHARDS)]
    yield made
    for world in made:
        world.close()


@pytest.mark.parametrize("first", range(0, COUNT, _CHUNK))
def test_random_statements(worlds: list[SQLiteWorld], first: int) -> None:
    for seed in range(first, first + _CHUNK):
        world = worlds[seed % len(worlds)]
        sql = Statements(seed).statement()
        expected = _rows(world.one, sql)
        if expected is None:
            continue
        with world.cluster.connect() as con:
            found = con.execute(sql).fetchall()
        ours, theirs = matching(map(_comparable, found), map(_comparable, expected))
        assert (ours, theirs) == ([], []), (seed, sql)


def _rows(con: sqlite3.Connection, sql: str) -> list[tuple[Any, ...]] | None:
    """None where SQLite refuses it, or takes too long."""
    con.set_progress_handler(lambda: True, _STEPS)
    try:
        return con.execute(sql).fetchall()
    except sqlite3.Error:
        return None
    finally:
        con.set_progress_handler(None, 0)


def _comparable(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """1 and 1.0 are one value to GROUP BY; which of them is shown is for the order of rows to say."""
    return tuple(float(f"{v:.12g}") if isinstance(v, int | float) else v for v in row)
