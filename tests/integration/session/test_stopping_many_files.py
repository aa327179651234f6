"""A cancel, a deadline and a budget over five thousand files: at once, and nothing left running or open."""

from __future__ import annotations

import shutil
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

import shardwise
from shardwise.dbapi import Cluster, Connection

pytestmark = pytest.mark.slow

FILES = 5_000
AT_ONCE_S = 0.2
CATALOG = """
CREATE CATALOG many DIALECT duckdb;
CREATE SOURCE file_{tenant} FOR EACH tenant URL 'sqlite:///files/{tenant}.db';
CREATE SHARDING by_file USING DIRECTORY AS tenant ON file_{tenant};
ATTACH TABLE notes (id BIGINT, city VARCHAR, stars BIGINT) SHARD BY by_file (tenant VARCHAR VIRTUAL);
"""
SCAN = "SELECT id, city FROM notes"
GROUPS = "SELECT city, count(*), sum(stars) FROM notes GROUP BY city"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("many")
    (folder / "cluster.sql").write_text(CATALOG, encoding="utf-8")
    files = folder / "files"
    files.mkdir()
    with closing(sqlite3.connect(folder / "one.db")) as db, db:
        db.execute("CREATE TABLE notes (id INTEGER PRIMARY KEY, city TEXT, stars INTEGER)")
        db.executemany("INSERT INTO notes VALUES (?, ?, ?)", [(i, f"c{i % 9}", i % 5) for i in range(50)])
    for number in range(FILES):
        shutil.copyfile(folder / "one.db", files / f"t{number:05}.db")
    return folder


@pytest.fixture(scope="module", params=[0, 2], ids=["here", "workers"])
def cluster(request: pytest.FixtureRequest, folder: Path) -> Iterator[Cluster]:
    """In this process alone, and with worker processes that have started."""
    with shardwise.open(folder / "cluster.sql", processes_max=request.param) as cluster:
        processes = cluster._resources.processes
        workers = []
        while len(workers) < processes.size:
            worker = processes.take()
            if worker is not None:
                workers.append(worker)
            time.sleep(0.01)
        for worker in workers:
            processes.give_back(worker)
        yield cluster


def _open_databases(folder: Path) -> list[str]:
    links = [link for link in Path("/proc/self/fd").glob("*") if link.is_symlink()]
    return [str(link.readlink()) for link in links if str(folder) in str(link.readlink())]


def _left(cluster: Cluster, folder: Path) -> None:
    """Open sources may be kept, idle and few; none is in use, and no worker is at work."""
    assert not any(entry.users for entry in cluster.pool._entries.values())
    assert cluster._resources.limits._all.held == 0
    assert (
        len(cluster._resources.processes._idle) + len(cluster._resources.processes._starting)
        == cluster._resources.processes.size
    )
    assert len(_open_databases(folder)) <= 300


def _after(connection: Connection, sql: str, wait_s: float) -> float:
    """Seconds from a cancel to the error."""
    cancelled = 0.0

    def cancel() -> None:
        nonlocal cancelled
        cancelled = time.perf_counter()
        connection.interrupt()

    timer = threading.Timer(wait_s, cancel)
    timer.start()
    try:
        with pytest.raises(shardwise.Cancelled):
            connection.execute(sql).fetchall()
        return time.perf_counter() - cancelled
    finally:
        timer.join()


@pytest.mark.parametrize("sql", [SCAN, GROUPS])
def test_a_cancel(cluster: Cluster, folder: Path, sql: str) -> None:
    """The best of ten, for the machine may be busy."""
    with cluster.connect() as connection:
        assert any(_after(connection, sql, 0.15) < AT_ONCE_S for _ in range(10))
    _left(cluster, folder)


@pytest.mark.parametrize("sql", [SCAN, GROUPS])
def test_a_deadline(cluster: Cluster, folder: Path, sql: str) -> None:
    seconds = []
    for _ in range(3):
        with cluster.connect(deadline_s=0.15) as connection:
            started = time.perf_counter()
            with pytest.raises(shardwise.DeadlineExceeded):
                connection.execute(sql).fetchall()
            seconds.append(time.perf_counter() - started - 0.15)
    assert min(seconds) < AT_ONCE_S
    _left(cluster, folder)


@pytest.mark.parametrize("sql", [SCAN, GROUPS])
def test_a_budget(cluster: Cluster, folder: Path, sql: str) -> None:
    with cluster.connect(rows_max=1_000) as connection:
        cursor = connection.cursor()
        with pytest.raises(shardwise.BudgetExceeded):
            cursor.execute(sql).fetchall()
    _left(cluster, folder)
    with cluster.connect() as connection:  # and the next statement is answered
        assert connection.execute("SELECT count(*) FROM notes WHERE tenant = 't00042'").fetchall() == [(50,)]
