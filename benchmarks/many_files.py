"""A GROUP BY over many SQLite files, one per tenant, against hand-written loops that push down the same.

`sqlite3` alone: for each file open, ask, close, and add up in a dict; in one thread, and in a pool of
processes that is made for the run, as a script would. Ours goes through the cursor: list the folder, plan,
ask each file, merge. Memory, open files and threads are the peaks of a process of its own.
"""

from __future__ import annotations

import json
import os
import random
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from pathlib import Path
from tempfile import gettempdir
from typing import Any

import shardwise
from benchmarks.measure import paired
from benchmarks.once import peak

ROWS = 100
SIZES = (100, 1_000, 5_000)
CATALOG = """
CREATE CATALOG tenants DIALECT duckdb;
CREATE SOURCE file_{tenant} FOR EACH tenant URL 'sqlite:///files/{tenant}.db';
CREATE SHARDING by_file USING DIRECTORY AS tenant ON file_{tenant};
ATTACH TABLE invoices (id BIGINT, city VARCHAR, quantity BIGINT, total DECIMAL(12,2))
  SHARD BY by_file (tenant VARCHAR VIRTUAL);
"""
OURS = "SELECT city, count(*), sum(quantity) FROM invoices GROUP BY city ORDER BY city"
THEIRS = "SELECT city, count(*), sum(quantity) FROM invoices GROUP BY city"

Groups = list[tuple[str, int, int]]


def folder(count: int) -> Path:
    """A cluster of `count` files of a hundred rows; made once, kept in the temporary directory."""
    root = Path(gettempdir()) / f"shardwise-bench-files-{count}"
    files = root / "files"
    if not (root / "cluster.sql").exists():
        files.mkdir(parents=True, exist_ok=True)
        chance = random.Random(1)
        for number in range(count):
            path = files / f"t{number:05}.db"
            path.unlink(missing_ok=True)
            with closing(sqlite3.connect(path)) as db, db:
                db.execute("PRAGMA synchronous = OFF")
                db.execute(
                    "CREATE TABLE invoices (id INTEGER PRIMARY KEY, city TEXT, quantity INTEGER, total TEXT)"
                )
                db.executemany(
                    "INSERT INTO invoices VALUES (?, ?, ?, ?)",
                    [
                        (row, f"city {chance.randrange(20)}", chance.randrange(100), f"{row}.50")
                        for row in range(ROWS)
                    ],
                )
        (root / "cluster.sql").write_text(CATALOG, encoding="utf-8")
    return root


def one(path: str) -> Groups:
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
        return db.execute(THEIRS).fetchall()


def added(answers: Iterable[Groups]) -> Groups:
    groups: dict[str, list[int]] = {}
    for answer in answers:
        for city, count, quantity in answer:
            group = groups.setdefault(city, [0, 0])
            group[0] += count
            group[1] += quantity
    return [(city, *groups[city]) for city in sorted(groups)]


def paths(root: Path) -> list[str]:
    return sorted(entry.path for entry in os.scandir(root / "files") if entry.name.endswith(".db"))


def loop(root: Path) -> Groups:
    return added(map(one, paths(root)))


def pool(root: Path) -> Groups:
    with ProcessPoolExecutor(os.cpu_count()) as processes:
        return added(processes.map(one, paths(root), chunksize=50))


def measure(*, rounds: int, sizes: Iterable[int] = SIZES) -> list[dict[str, Any]]:
    return [_measured(count, rounds) for count in sizes]


def _measured(count: int, rounds: int) -> dict[str, Any]:
    root = folder(count)
    with shardwise.open(root / "cluster.sql") as cluster, cluster.connect() as con:

        def ours() -> Groups:
            return con.execute(OURS).fetchall()

        started = time.perf_counter()
        answer = ours()
        cold_s = time.perf_counter() - started
        assert answer == loop(root) == pool(root)
        _until_workers_are_ready(ours)
        against_loop = paired(ours, lambda: loop(root), rounds=rounds, budget_s=60)
        against_pool = paired(ours, lambda: pool(root), rounds=rounds, budget_s=60)
    flat = json.loads(
        subprocess.run(
            [sys.executable, "-m", "benchmarks.many_files", str(count)], check=True, capture_output=True
        ).stdout.splitlines()[-1]
    )
    return {
        "files": count,
        "cold_s": cold_s,
        "ours_s": against_loop.ours_s,
        "loop_s": against_loop.theirs_s,
        "pool_s": against_pool.theirs_s,
        "ratio_to_loop": against_loop.ratio,
        "ratio_to_pool": against_pool.ratio,
        **flat,
    }


def _until_workers_are_ready(ours: Any) -> None:
    """They start beside the first statements."""
    for _ in range(5):
        ours()
        time.sleep(0.3)


def main(count: int) -> None:
    """Ours alone, watched: the most files that were open and threads that ran at once, and peak memory."""
    most = {"open_files": 0, "threads": 0}
    is_over = threading.Event()

    def watch() -> None:
        while not is_over.wait(0.002):
            most["open_files"] = max(most["open_files"], len(list(Path("/proc/self/fd").iterdir())))
            most["threads"] = max(most["threads"], threading.active_count() - 1)

    watcher = threading.Thread(target=watch)
    watcher.start()
    with shardwise.connect(folder(count) / "cluster.sql") as con:
        for _ in range(3):
            con.execute(OURS).fetchall()
    is_over.set()
    watcher.join()
    print(json.dumps({"peak_bytes": peak(), **most}))


if __name__ == "__main__":
    main(int(sys.argv[1]))
