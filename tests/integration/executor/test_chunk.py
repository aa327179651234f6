"""Scatters over many SQLite files: worker processes answer as this process would, and leave nothing."""

from __future__ import annotations

import os
import signal
import sqlite3
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

import shardwise
from shardwise.dbapi import Cluster
from shardwise.executor.workers import processes as module
from shardwise.executor.workers.processes import WorkerLost, WorkerProcess, WorkerProcesses

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name != "posix", reason="worker processes need inherited sockets"),
]

COUNT = 90
SQL = "SELECT city, qty FROM sales WHERE qty % 5 = 0"
CATALOG = f"""
CREATE CATALOG many DIALECT duckdb;
CREATE SOURCE f{{n:03}} FOR n IN 0-{COUNT - 1} URL 'sqlite:///f{{n:03}}.db' WITH (busy_timeout_ms = 50);
CREATE SHARDING by_shop USING MOD {COUNT} AS n ON f{{n:03}};
ATTACH TABLE sales (shop BIGINT, city VARCHAR, qty INTEGER) SHARD BY by_shop (shop);
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "cluster.sql").write_text(CATALOG, encoding="utf-8")
    for n in range(COUNT):
        with closing(sqlite3.connect(tmp_path / f"f{n:03}.db")) as db, db:
            db.execute("CREATE TABLE sales (shop INTEGER, city TEXT, qty INTEGER)")
            rows = [(n, f"city {i % 3}", n * i if i % 7 else None) for i in range(n % 20)]
            db.executemany("INSERT INTO sales VALUES (?, ?, ?)", rows)
    return tmp_path


@pytest.fixture
def cluster(folder: Path) -> Iterator[Cluster]:
    with shardwise.open(folder / "cluster.sql", processes_max=2) as cluster:
        _wait_until_ready(cluster)
        yield cluster


def _wait_until_ready(cluster: Cluster) -> None:
    """Workers start while others read; tests want them."""
    workers = []
    for _ in range(2):
        while (worker := cluster._resources.processes.take()) is None:
            time.sleep(0.01)
        workers.append(worker)
    for worker in workers:
        cluster._resources.processes.give_back(worker)


def _pids(cluster: Cluster) -> list[int]:
    return [worker.pid for worker in cluster._resources.processes._idle]


def _here(folder: Path, sql: str) -> list[tuple[object, ...]]:
    with shardwise.connect(folder / "cluster.sql", processes_max=0) as con:
        return con.execute(sql).fetchall()


def _open_files() -> int:
    """How many this process has open, where the system tells."""
    folder = Path("/proc/self/fd")
    return len(list(folder.iterdir())) if folder.exists() else 0


def _calls(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many requests each call to a worker asked for."""
    calls: list[int] = []
    ask = WorkerProcess.ask

    def counted(self: WorkerProcess, job: object) -> None:
        calls.append(len(job.tasks))  # type: ignore[attr-defined]
        ask(self, job)

    monkeypatch.setattr(WorkerProcess, "ask", counted)
    return calls


def test_the_same_rows_and_figures(folder: Path, cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = _calls(monkeypatch)
    cursor = cluster.connect().execute(SQL)
    rows = cursor.fetchall()
    assert sorted(map(repr, rows)) == sorted(map(repr, _here(folder, SQL)))
    assert sum(calls) == COUNT
    stats = cursor.stats
    assert all(len(shards) == COUNT for shards in stats.fragments.values())
    moved = next(iter(stats.fragments.values()))
    assert sum(shard.rows for shard in moved.values()) == stats.rows_moved
    assert moved["f000"].rows == 0


def test_few_requests_go_the_ordinary_way(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = _calls(monkeypatch)
    assert cluster.connect().execute("SELECT count(*) FROM sales WHERE shop IN (3, 4)").fetchall() == [(7,)]
    assert calls == []


def test_an_error_is_that_of_the_ordinary_way(folder: Path, cluster: Cluster) -> None:
    with closing(sqlite3.connect(folder / "f077.db")) as db, db:
        db.execute("UPDATE sales SET qty = 'many' WHERE rowid = 3")
    with (
        pytest.raises(shardwise.DataError, match="many") as here,
        shardwise.connect(folder / "cluster.sql", processes_max=0) as con,
    ):
        con.execute("SELECT qty FROM sales").fetchall()
    with pytest.raises(shardwise.DataError) as there:
        cluster.connect().execute("SELECT qty FROM sales").fetchall()
    assert str(there.value) == str(here.value)
    assert there.value.shard == "f077"


@pytest.mark.parametrize("what", ["missing", "garbage", "locked", "other"])
def test_a_file_that_cannot_be_read(what: str, folder: Path, cluster: Cluster) -> None:
    path = folder / "f050.db"
    locker = None
    if what == "missing":
        path.unlink()
    elif what == "garbage":
        path.write_bytes(b"this is no database " * 300)
    elif what == "locked":
        locker = sqlite3.connect(path)
        locker.execute("BEGIN EXCLUSIVE")
    else:
        with closing(sqlite3.connect(path)) as db:
            db.execute("ALTER TABLE sales RENAME COLUMN qty TO quantity")
    try:
        with pytest.raises(shardwise.OperationalError) as there:
            cluster.connect().execute("SELECT count(*), sum(qty) FROM sales").fetchall()
    finally:
        if locker is not None:
            locker.close()
    assert there.value.shard == "f050"
    assert _pids(cluster)


def test_a_killed_worker_costs_nothing_but_time(
    folder: Path, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    for pid in _pids(cluster):
        os.kill(pid, signal.SIGKILL)
    rows = cluster.connect().execute(SQL).fetchall()
    assert sorted(map(repr, rows)) == sorted(map(repr, _here(folder, SQL)))
    _wait_until_ready(cluster)  # others have taken their places
    calls = _calls(monkeypatch)
    assert len(cluster.connect().execute(SQL).fetchall()) == len(rows)
    assert calls


def test_cancel_reaches_the_workers(folder: Path, cluster: Cluster) -> None:
    """A statement that would take minutes in each file stops at once; the workers live on."""
    with closing(sqlite3.connect(folder / "f000.db")) as db:
        db.execute("DROP TABLE sales")
        db.execute(
            "CREATE VIEW sales AS "
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1e9) "
            "SELECT CAST(count(*) AS INTEGER) AS shop, 'x' AS city, 1 AS qty FROM n"
        )
    before = _pids(cluster)
    con = cluster.connect()
    timer = threading.Timer(0.3, con.interrupt)
    timer.start()
    started = time.perf_counter()
    with pytest.raises(shardwise.Cancelled):
        con.execute("SELECT city FROM sales").fetchall()
    assert time.perf_counter() - started < 15  # of minutes: other work on the machine may take its time
    assert sorted(_pids(cluster)) == sorted(before)


def test_a_budget_holds(cluster: Cluster) -> None:
    with pytest.raises(shardwise.BudgetExceeded):
        cluster.connect(rows_max=20).execute("SELECT city FROM sales").fetchall()


def test_nothing_is_left_behind(cluster: Cluster) -> None:
    con = cluster.connect()
    con.execute(SQL).fetchall()
    pids = _pids(cluster)
    before = _open_files()
    for _ in range(3):
        con.execute(SQL).fetchall()
    assert _open_files() == before
    assert len(pids) == 2
    cluster.close()
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_what_starts_is_ended_at_once(capfd: pytest.CaptureFixture[str]) -> None:
    """A short program ends while its workers start: it neither waits for them nor do they complain."""
    processes = WorkerProcesses(2)
    assert processes.take() is None
    workers = list(processes._starting)
    processes.close()
    assert len(workers) == 2
    assert [worker._process.returncode for worker in workers] == [-signal.SIGKILL] * 2
    assert capfd.readouterr() == ("", "")


def test_where_no_worker_can_start_none_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_START", "raise SystemExit({fd})")
    processes = WorkerProcesses(2)
    deadline = time.monotonic() + 30
    while processes.size and time.monotonic() < deadline:
        assert processes.take() is None
        time.sleep(0.01)
    assert not processes.size
    processes.close()


def test_a_frozen_program_is_not_started_once_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert WorkerProcesses(2).take() is None


class Foreign:
    """A worker process has no such class: it would have to import the program that runs."""

    __module__ = "__main__"


def test_a_job_that_a_worker_cannot_read_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["__main__"], "Foreign", Foreign, raising=False)
    worker = WorkerProcess()
    try:
        while not worker.is_ready():
            time.sleep(0.01)
        with pytest.raises(WorkerLost):
            worker.call(Foreign())
    finally:
        worker.close()
