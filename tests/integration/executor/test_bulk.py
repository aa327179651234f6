"""Large results of SQLite files: begun here, gone on with in a worker process, the same rows and errors."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from shardwise.errors import DataError, ShardUnavailable
from shardwise.executor.backends.base import Location, SourceOptions
from shardwise.executor.backends.sqlite import SQLiteBackend, SQLiteSource
from shardwise.executor.backends.sqlite import file as sqlite_file
from shardwise.executor.workers import bulk
from shardwise.executor.workers.processes import WorkerProcesses

pytest.importorskip("adbc_driver_sqlite")

ROWS = 1_000
COLUMNS = (
    ("id", "BIGINT", "INTEGER", "i"),
    ("small", "TINYINT", "INTEGER", "i % 100"),
    ("word", "VARCHAR", "TEXT", "'wörd ' || i"),
    ("x", "DOUBLE", "REAL", "i / 3.0"),
    ("day", "DATE", "TEXT", "date('2026-01-01', '+' || i || ' days')"),
    ("at", "TIMESTAMP", "TEXT", "datetime('2026-01-01', '+' || i || ' hours')"),
    ("zoned", "TIMESTAMP WITH TIME ZONE", "TEXT", "datetime('2026-01-01', '+' || i || ' hours') || 'Z'"),
    ("price", "DECIMAL(12,2)", "TEXT", "i || '.5'"),
    ("is_on", "BOOLEAN", "INTEGER", "i % 2"),
    ("raw", "BLOB", "BLOB", "x'00ff'"),
    ("json", "JSON", "TEXT", "'[' || i || ']'"),
    ("id2", "UUID", "TEXT", "printf('00000000-0000-0000-0000-%012d', i)"),
    ("big", "HUGEINT", "INTEGER", "i"),
    ("clock", "TIME", "TEXT", "'10:30'"),
    ("nil", "VARCHAR", "TEXT", "NULL"),
)
WANTED = tuple((name, type_) for name, type_, _, _ in COLUMNS)
ALL = f"SELECT {', '.join(name for name, _ in WANTED)} FROM t"


@pytest.fixture(scope="module")
def processes() -> Iterator[WorkerProcesses]:
    processes = WorkerProcesses(1)
    until = time.monotonic() + 60
    while (worker := processes.take()) is None and time.monotonic() < until:
        time.sleep(0.01)
    assert worker is not None
    processes.give_back(worker)
    yield processes
    processes.close()


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(bulk, "LARGE_ROWS", 100)
    monkeypatch.setattr(bulk, "_START_WITHIN_S", 60)
    monkeypatch.setattr(sqlite_file, "_BULK_BYTES_MIN", 0)
    path = tmp_path / "a b%.db"
    with closing(sqlite3.connect(path)) as con:
        con.execute(f"CREATE TABLE t ({', '.join(f'{name} {type_}' for name, _, type_, _ in COLUMNS)})")
        values = ", ".join(value for *_, value in COLUMNS)
        con.execute(
            f"WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < {ROWS - 1}) "
            f"INSERT INTO t SELECT {values} FROM n"
        )
        con.execute("UPDATE t SET word = NULL, x = NULL, price = NULL WHERE id % 7 = 0")
        con.commit()
    return path


class Read:
    """One statement on the file, read as a request of the executor is."""

    def __init__(self, path: Path, processes: WorkerProcesses, sql: str, params: Any = None) -> None:
        location = Location(source="one", url=f"sqlite:///{path}")
        self.source: SQLiteSource = SQLiteBackend().open(location, SourceOptions())
        self.connection = self.source.connect("Asia/Tokyo")
        names = [name.strip() for name in sql.split("FROM", maxsplit=1)[0].removeprefix("SELECT").split(",")]
        columns = tuple((name, dict(WANTED)[name]) for name in names)
        params = params or {}
        self.here = self.connection.arrow(sql, params, 50, columns)
        found = bulk.growing(self.here, self.connection, sql, params, columns, processes)
        assert found is not None
        self.growing = found

    def all(self) -> pa.Table:
        return pa.Table.from_batches(list(self), schema=self.growing.schema)

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        return iter(self.growing)

    @property
    def is_elsewhere(self) -> bool:
        return self.growing._here is None

    def close(self) -> None:
        self.growing.close()
        self.connection.close()
        self.source.close()


def here(path: Path, processes: WorkerProcesses, sql: str, params: Any = None) -> pa.Table:
    with closing(Read(path, processes, sql, params)) as read:
        return read.here.read_all()


def test_the_rows_are_the_same(path: Path, processes: WorkerProcesses) -> None:
    with closing(Read(path, processes, ALL)) as read:
        found = read.all()
        assert read.is_elsewhere
    assert found.num_rows == ROWS
    found.validate(full=True)
    assert found.equals(here(path, processes, ALL))


def test_parameters(path: Path, processes: WorkerProcesses) -> None:
    sql = "SELECT id, word FROM t WHERE id < :high AND id >= $low AND id <> :high AND word <> ':none'"
    params = {"low": 100, "high": 900, "more": 1}
    with closing(Read(path, processes, sql, params)) as read:
        found = read.all()
        assert read.is_elsewhere
    assert found.equals(here(path, processes, sql, params))
    assert found.num_rows > 600


def test_an_order_is_kept(path: Path, processes: WorkerProcesses) -> None:
    location = Location(source="one", url=f"sqlite:///{path}")
    with closing(SQLiteBackend().open(location, SourceOptions())) as source:
        connection = source.connect("UTC")
        for sql, grows in (("SELECT id FROM t order  by id DESC", False), ("SELECT id FROM t", True)):
            here = connection.arrow(sql, {}, 50, (("id", "BIGINT"),))
            grown = bulk.growing(here, connection, sql, {}, (("id", "BIGINT"),), processes)
            assert (grown is not None) == grows
        connection.close()


def test_a_small_result_stays_here(path: Path, processes: WorkerProcesses) -> None:
    with closing(Read(path, processes, "SELECT id FROM t WHERE id < 99")) as read:
        assert read.all().num_rows == 99
        assert not read.is_elsewhere


@pytest.mark.parametrize(
    ("change", "sql"),
    [
        ("UPDATE t SET id = 7.0 WHERE id = 900", "SELECT id FROM t"),  # a REAL, and a whole number
        ("UPDATE t SET at = '2026-01-01T10:00' WHERE id = 900", "SELECT at FROM t"),
        ("UPDATE t SET price = 5 WHERE id = 900", "SELECT price FROM t"),
    ],
)
def test_values_of_other_forms(path: Path, processes: WorkerProcesses, change: str, sql: str) -> None:
    with closing(sqlite3.connect(path)) as con:
        con.execute("CREATE TABLE u AS SELECT * FROM t")  # columns that convert nothing
        con.execute(change.replace("UPDATE t", "UPDATE u"))
        con.commit()
    sql = sql.replace("FROM t", "FROM u")
    with closing(Read(path, processes, sql)) as read:
        assert read.all().equals(here(path, processes, sql))


@pytest.mark.parametrize(
    ("column", "value", "says"),
    [
        ("small", "128", "holds 128, which is out of the range of TINYINT"),
        ("small", "'x'", "holds 'x', which is no TINYINT"),
        ("day", "'soon'", "holds 'soon', which is no DATE"),
        ("price", "'1.555'", "more decimals"),
        ("word", "CAST(x'61ff' AS TEXT)", "is no UTF-8"),
        ("word", "x'61'", "no VARCHAR"),
    ],
)
def test_a_value_that_does_not_fit(
    path: Path, processes: WorkerProcesses, column: str, value: str, says: str
) -> None:
    with closing(sqlite3.connect(path)) as con:
        con.execute(f"UPDATE t SET {column} = {value} WHERE id = 900")
        con.commit()
    with (
        closing(Read(path, processes, f"SELECT {column} FROM t")) as read,
        pytest.raises(DataError, match=f'column "{column}" holds') as caught,
    ):
        read.all()
    assert says in caught.value.message


def test_another_schema_by_now(path: Path, processes: WorkerProcesses) -> None:
    """The worker sees another state of the file: the rows are read here, of the state that was looked at."""
    with closing(sqlite3.connect(path)) as con:
        con.execute("PRAGMA journal_mode = wal")
        with closing(Read(path, processes, "SELECT id FROM t")) as read:
            con.execute("DELETE FROM t")
            con.execute("CREATE TABLE more (a)")
            con.commit()
            assert read.all().num_rows == ROWS
            assert not read.is_elsewhere


def test_nothing_stays_locked(path: Path, processes: WorkerProcesses) -> None:
    """Neither at the end, nor after a close amid the rows."""
    for is_whole in (True, False):
        with closing(Read(path, processes, "SELECT id FROM t")) as read:
            rows = iter(read)
            next(rows)
            assert read.is_elsewhere
            if is_whole:
                list(rows)
        with closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as con:
            con.execute("BEGIN EXCLUSIVE")
            con.execute("ROLLBACK")


def test_a_worker_that_is_killed(path: Path, processes: WorkerProcesses) -> None:
    """Amid the rows it is an error; before any was handed on they are read here."""
    with closing(Read(path, processes, "SELECT id FROM t")) as read:
        rows = iter(read)
        next(rows)
        worker = read.growing._worker
        assert worker is not None
        worker.kill()
        worker._process.wait()
        with pytest.raises(ShardUnavailable, match="worker process that read it has ended"):
            list(rows)
    with closing(Read(path, processes, "SELECT id FROM t")) as read:
        lost = _taken(processes)
        lost.kill()
        lost._process.wait()
        processes.give_back(lost)
        assert read.all().num_rows == ROWS


def test_interrupt_ends_the_worker(path: Path, processes: WorkerProcesses) -> None:
    slow = "SELECT id FROM t WHERE id < 200 OR (SELECT max(a.id + b.id + c.id) FROM t a, t b, t c)"
    with closing(Read(path, processes, slow)) as read:
        _taken(processes, gives_back=True)
        timer = threading.Timer(0.3, read.growing.interrupt)
        timer.start()
        started = time.perf_counter()
        with pytest.raises(Exception):  # noqa: B017, PT011  whoever interrupts says why
            read.all()
        assert time.perf_counter() - started < 10
        timer.join()


def _taken(processes: WorkerProcesses, *, gives_back: bool = False) -> Any:
    until = time.monotonic() + 60
    while (worker := processes.take()) is None and time.monotonic() < until:
        time.sleep(0.01)
    assert worker is not None
    if gives_back:
        processes.give_back(worker)
    return worker
