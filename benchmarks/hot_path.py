"""The hot path: one tenant's point SELECT by the cursor against bare sqlite3, and planning from the cache.

python -m benchmarks.hot_path prints the figures as JSON on one line.
"""

from __future__ import annotations

import itertools
import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
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
CREATE SOURCE s{n} FOR n IN 0-3 URL 'sqlite:///s{n}.db';
CREATE SHARDING by_id USING MOD 4 AS n ON s{n};
CREATE TABLE users (id BIGINT, name VARCHAR, age INTEGER) SHARD BY by_id (id);
"""
ROWS = 10_000
TENANTS = tuple(f"t{number}" for number in range(50))
OURS = "SELECT name, age FROM users WHERE tenant = ? AND id = ?"
THEIRS = "SELECT name, age FROM users WHERE id = ?"
LITERAL = "SELECT name, age FROM users WHERE id = {}"


def measure(*, rounds: int) -> dict[str, Any]:
    return {
        "cursor": cursor(rounds),
        "planning": {"compiled": planning(rounds), "uncompiled": _uncompiled(rounds)},
    }


def cursor(rounds: int) -> list[dict[str, Any]]:
    """A row by its key, from execute() to fetchone(), each side with its own open connection."""
    found = []
    with TemporaryDirectory() as folder:
        _make(Path(folder))
        keys, tenants = itertools.cycle(range(1, ROWS, 37)), itertools.cycle(TENANTS)
        bare = sqlite3.connect(Path(folder) / "acme.db")
        with (
            shardwise.connect(Path(folder) / "tenants.sql") as by_tenant,
            shardwise.connect(Path(folder) / "shop.sql") as by_id,
        ):
            ours, sharded = by_tenant.cursor(), by_id.cursor()
            cases: dict[str, Callable[[], object]] = {
                "one tenant's file": lambda: ours.execute(OURS, ["acme", next(keys)]).fetchone(),
                "another tenant's each time": lambda: ours.execute(OURS, [next(tenants), 7]).fetchone(),
                "four files, MOD of the key": lambda: sharded.execute(THEIRS, [next(keys)]).fetchone(),
            }
            for name, mine in cases.items():
                for _ in range(2 * len(TENANTS)):
                    mine()
                times = _in_turn(mine, lambda: bare.execute(THEIRS, [next(keys)]).fetchone(), rounds * 300)
                found.append({"case": name, **_compared(*times)})
        bare.close()
    return found


def _compared(mine: list[float], theirs: list[float]) -> dict[str, float]:
    return {
        "ours_s": median(mine),
        "theirs_s": median(theirs),
        "added_s": median(a - b for a, b in zip(mine, theirs, strict=True)),
        "ratio": median(a / b for a, b in zip(mine, theirs, strict=True)),
    }


def _uncompiled(rounds: int) -> list[dict[str, Any]]:
    """`planning` in a process whose sqlglot is a copy without its compiled modules."""
    package = Path(sqlglot.__file__).parent
    with TemporaryDirectory() as folder:
        shutil.copytree(package, Path(folder) / "sqlglot", ignore=shutil.ignore_patterns("*.so", "*.pyd"))
        path = os.pathsep.join([folder, str(Path(__file__).parents[1])])
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.hot_path", "planning"],
            env={**os.environ, "PYTHONPATH": path, "ROUNDS": str(rounds)},
            check=True,
            capture_output=True,
            text=True,
        )
    found: list[dict[str, Any]] = json.loads(done.stdout.splitlines()[-1])
    return found


def planning(rounds: int) -> list[dict[str, Any]]:
    """A plan out of the cache against sqlglot.parse_one of the same text."""
    planner = Planner(parse(SHARDS.replace("'sqlite:", "'duckdb:")), PlanCache())
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
    (folder / "tenants.sql").write_text(CATALOG)
    (folder / "shop.sql").write_text(SHARDS)
    for name in ("acme", *TENANTS):
        _file(folder / f"{name}.db", range(ROWS if name == "acme" else 100))
    for number in range(4):
        _file(folder / f"s{number}.db", range(number, ROWS, 4))


def _file(path: Path, numbers: range) -> None:
    with closing(sqlite3.connect(path)) as con, con:
        con.execute("CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT, age INTEGER)")
        con.executemany("INSERT INTO users VALUES (?, ?, ?)", ((n, f"user {n}", n % 90) for n in numbers))


if __name__ == "__main__":
    asked = planning if sys.argv[1:] == ["planning"] else measure
    print(json.dumps(asked(rounds=int(os.environ.get("ROUNDS", "9")))))
