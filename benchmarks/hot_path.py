"""The hot path: one tenant's point SELECT by the cursor against bare sqlite3, and planning from the cache.

python -m benchmarks.hot_path prints the figures as JSON on one line.
"""

from __future__ import annotations

import itertools
import json
import os
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import sqlglot

import shardwise
from benchmarks.measure import paired
from shardwise.catalog import parse
from shardwise.planner import PlanCache, Planner

CATALOG = """\
CREATE CATALOG tenants DIALECT duckdb;
CREATE SOURCE file_{tenant} FOR EACH tenant URL 'sqlite:///{tenant}.db';
CREATE SHARDING by_file USING DIRECTORY AS tenant ON file_{tenant};
ATTACH TABLE users (id BIGINT, name VARCHAR, age INTEGER) SHARD BY by_file (tenant TEXT VIRTUAL);
"""
SHARDS = """\
CREATE CATALOG shop DIALECT duckdb;
CREATE SOURCE s{n} FOR n IN 0-3 URL 'duckdb:///s{n}.duckdb';
CREATE SHARDING by_id USING MOD 4 AS n ON s{n};
CREATE TABLE users (id BIGINT, name VARCHAR, age INTEGER) SHARD BY by_id (id);
"""
ROWS = 10_000
OURS = "SELECT name, age FROM users WHERE tenant = 'acme' AND id = ?"
THEIRS = "SELECT name, age FROM users WHERE id = ?"
LITERAL = "SELECT name, age FROM users WHERE id = {}"


def measure(*, rounds: int) -> dict[str, Any]:
    return {"cursor": cursor(rounds), "planning": planning(rounds)}


def cursor(rounds: int) -> dict[str, float]:
    """A row by its key, from execute() to fetchone(), each side with its own open connection."""
    with TemporaryDirectory() as folder:
        _make(Path(folder))
        keys = itertools.cycle(range(1, ROWS, 37))
        bare = sqlite3.connect(Path(folder) / "acme.db")
        with shardwise.connect(Path(folder) / "cluster.sql") as con:
            ours = con.cursor()
            for key in (1, 2, 3):
                assert ours.execute(OURS, [key]).fetchone() == bare.execute(THEIRS, [key]).fetchone()
            mine, theirs = _in_turn(
                lambda: ours.execute(OURS, [next(keys)]).fetchone(),
                lambda: bare.execute(THEIRS, [next(keys)]).fetchone(),
                rounds * 300,
            )
        bare.close()
    return {
        "ours_s": median(mine),
        "theirs_s": median(theirs),
        "added_s": median(a - b for a, b in zip(mine, theirs, strict=True)),
        "ratio": median(a / b for a, b in zip(mine, theirs, strict=True)),
    }


def planning(rounds: int) -> list[dict[str, Any]]:
    """A plan out of the cache against sqlglot.parse_one of the same text."""
    planner = Planner(parse(SHARDS), PlanCache())
    numbers = itertools.count(10_000)
    cases: dict[str, Callable[[], object]] = {
        "same text, other parameters": lambda: planner.prepare(THEIRS).plan([next(numbers)]),
        "other literals": lambda: planner.prepare(LITERAL.format(next(numbers))).plan(),
        "the very same": lambda: planner.prepare(LITERAL.format(7)).plan(),
    }
    found = []
    for name, plan in cases.items():
        plan()
        pair = paired(
            lambda plan=plan: _many(plan),  # type: ignore[misc]
            lambda: _many(lambda: sqlglot.parse_one(LITERAL.format(7), dialect="duckdb")),
            rounds=rounds * 5,
        )
        found.append(
            {"case": name, "ours_s": pair.ours_s / 20, "theirs_s": pair.theirs_s / 20, "ratio": pair.ratio}
        )
    return found


def _many(run: Callable[[], object]) -> None:
    for _ in range(20):
        run()


def _in_turn(
    ours: Callable[[], object], theirs: Callable[[], object], count: int
) -> tuple[list[float], list[float]]:
    mine, other = [], []
    for _ in range(count):
        start = perf_counter()
        ours()
        between = perf_counter()
        theirs()
        other.append(perf_counter() - between)
        mine.append(between - start)
    return mine, other


def _make(folder: Path) -> None:
    (folder / "cluster.sql").write_text(CATALOG)
    with sqlite3.connect(folder / "acme.db") as con:
        con.execute("CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT, age INTEGER)")
        con.executemany("INSERT INTO users VALUES (?, ?, ?)", _rows())


def _rows() -> Iterator[tuple[int, str, int]]:
    return ((number, f"user {number}", number % 90) for number in range(ROWS))


if __name__ == "__main__":
    print(json.dumps(measure(rounds=int(os.environ.get("ROUNDS", "9")))))
