"""SQLite files as sources: what opening and reading them does to them, and what is said of bad ones."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from shardwise.errors import (
    Cancelled,
    CatalogError,
    DataError,
    Error,
    NotSupportedError,
    OperationalError,
    Reason,
    ShardUnavailable,
)
from shardwise.executor import lite
from shardwise.session import Cluster
from shardwise.session import open as open_cluster

TABLES = (
    "CREATE TABLE orders (id INTEGER PRIMARY KEY, user_id INT, total TEXT, placed DATE, note VARCHAR(20))",
    "INSERT INTO orders VALUES (1, 5, '1.50', '2026-01-05', 'a'), (2, 5, '2.25', NULL, NULL)",
)
DECLARED = "id BIGINT, user_id INTEGER, total DECIMAL(9, 2), placed DATE, note VARCHAR"
ALL = "SELECT id, total FROM orders ORDER BY id"


def catalog(folder: Path, url: str, options: str = "", declared: str = DECLARED) -> Path:
    file = folder / "cluster.sql"
    quoted = url.replace("'", "''")
    file.write_text(f"CREATE SOURCE one URL '{quoted}' {options};\nATTACH TABLE orders ({declared}) ON one;")
    return file


def make(path: Path, *statements: str, mode: str = "delete") -> None:
    with closing(sqlite3.connect(path)) as con:
        con.execute(f"PRAGMA journal_mode = {mode}")
        for statement in statements or TABLES:
            con.execute(statement)
        con.commit()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "data" / "one.db"
    path.parent.mkdir()
    make(path)
    return path


@pytest.fixture
def cluster(tmp_path: Path, file: Path) -> Iterator[Cluster]:
    with open_cluster(catalog(tmp_path, "sqlite:///data/one.db")) as cluster:
        yield cluster


def rows(cluster: Cluster, sql: str = ALL) -> list[tuple[Any, ...]]:
    with cluster.run(sql) as result:
        return result.fetchall()


def both(cluster: Cluster, sql: str) -> Iterator[Callable[[], object]]:
    """The two ways of reading: the shard's rows as they are, and a stream into the merge."""
    yield lambda: rows(cluster, sql)
    yield lambda: rows(cluster, f"SELECT * FROM ({sql}) AS t, (SELECT random() AS r) AS u")


def refused(folder: Path, url: str, kind: type[Error] = ShardUnavailable, options: str = "") -> Error:
    with open_cluster(catalog(folder, url, options)) as cluster, pytest.raises(kind) as caught:
        rows(cluster)
    assert 'shard "one"' in caught.value.message or isinstance(caught.value, CatalogError)
    assert caught.value.hint
    return caught.value


# -- what is no database, or cannot be read -----------------------------------------------------


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "does not exist"),
        (b"abc", "is not a SQLite database, or is encrypted"),
        (bytes(range(256)) * 64, "is not a SQLite database, or is encrypted"),
    ],
)
def test_what_is_no_database(tmp_path: Path, content: bytes | None, says: str) -> None:
    path = tmp_path / "one.db"
    if content is not None:
        path.write_bytes(content)
    before = sorted(tmp_path.iterdir())
    assert says in refused(tmp_path, "sqlite:///one.db").message
    assert sorted(tmp_path.iterdir()) == sorted({*before, tmp_path / "cluster.sql"})
    assert content is None or path.read_bytes() == content


def test_a_directory_and_a_folder_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "one.db").mkdir()
    assert "is a directory" in refused(tmp_path, "sqlite:///one.db").message
    assert "does not exist" in refused(tmp_path, "sqlite:///nowhere/one.db").message
    assert "does not exist" in refused(tmp_path, "sqlite:///cluster.sql/one.db").message


def test_an_empty_file_is_a_database_without_tables(tmp_path: Path) -> None:
    (tmp_path / "one.db").touch()
    error = refused(tmp_path, "sqlite:///one.db", OperationalError)
    assert error.reason == Reason.SCHEMA_DRIFT
    assert "no such table: orders" in error.message
    assert (tmp_path / "one.db").stat().st_size == 0


def test_a_file_that_was_cut_off(tmp_path: Path, file: Path) -> None:
    make(file, *(f"INSERT INTO orders (note) VALUES ('{'x' * 900}')" for _ in range(100)))
    os.truncate(file, 8 * 4096)
    assert "is damaged" in refused(tmp_path, "sqlite:///data/one.db").message


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(tmp_path: Path, file: Path) -> None:
    file.chmod(0)
    assert "may not be read by this user" in refused(tmp_path, "sqlite:///data/one.db").message


def test_a_process_that_may_open_no_more_files(tmp_path: Path, file: Path) -> None:
    resource = pytest.importorskip("resource")
    with open_cluster(catalog(tmp_path, "sqlite:///data/one.db")) as cluster, cluster.connect() as con:
        con.execute("SELECT 1").fetchall()  # what the merge needs is open
        limits = resource.getrlimit(resource.RLIMIT_NOFILE)
        free = os.open(os.devnull, os.O_RDONLY)
        os.close(free)
        resource.setrlimit(resource.RLIMIT_NOFILE, (free, limits[1]))
        try:
            with pytest.raises(ShardUnavailable, match="this process may open no more files") as caught:
                con.execute(ALL).fetchall()
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, limits)
        assert "ulimit -n" in str(caught.value.hint)


def test_utf_16_sorts_otherwise(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "one.db")) as con:
        con.execute("PRAGMA encoding = 'UTF-16le'")
        for statement in TABLES:
            con.execute(statement)
        con.commit()
    error = refused(tmp_path, "sqlite:///one.db", NotSupportedError)
    assert "text is UTF-16le" in error.message


@pytest.mark.parametrize("name", ["100%", "a?b", "a#b", "a b", "ä’ü", "%41", "it's", "a&mode=rwc", "file:x"])
def test_any_name_may_be_a_files(tmp_path: Path, name: str) -> None:
    make(tmp_path / f"{name}.db")
    for url in (f"sqlite:///{name}.db", f"sqlite:///{tmp_path}/{name}.db"):
        with open_cluster(catalog(tmp_path, url)) as cluster:
            assert [row[0] for row in rows(cluster)] == [1, 2]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ("WITH (busy_timeout_ms = 'long')", "busy_timeout_ms is not a number of milliseconds"),
        ("WITH (busy_timeout_ms = '-1')", "busy_timeout_ms is not a number of milliseconds"),
        ("WITH (immutable = 'perhaps')", "immutable is not true or false"),
    ],
)
def test_options_that_are_none(tmp_path: Path, file: Path, options: str, says: str) -> None:
    assert says in refused(tmp_path, "sqlite:///data/one.db", CatalogError, options).message


# -- other writers ------------------------------------------------------------------------------

IS_LOCKED = """
import sqlite3, sys
con = sqlite3.connect(sys.argv[1], timeout=0)
try:
    con.execute("BEGIN IMMEDIATE")
except sqlite3.OperationalError as error:
    print(error.sqlite_errorname)
else:
    print("free", con.execute("SELECT count(*) FROM orders").fetchone()[0])
"""


def another_process_finds(path: Path) -> str:
    ran = subprocess.run(
        [sys.executable, "-c", IS_LOCKED, str(path)], capture_output=True, text=True, check=True
    )
    return ran.stdout.strip()


@pytest.mark.parametrize("mode", ["delete", "wal"])
def test_a_users_own_transaction_in_this_process_keeps_its_locks(tmp_path: Path, mode: str) -> None:
    """POSIX drops a process's locks on a file when any descriptor of it is closed."""
    path = tmp_path / "one.db"
    make(path, mode=mode)
    with closing(sqlite3.connect(path, isolation_level=None)) as user:
        user.execute("BEGIN IMMEDIATE")
        user.execute("INSERT INTO orders (id, total) VALUES (3, '3.00')")
        for _ in range(2):
            with open_cluster(catalog(tmp_path, "sqlite:///one.db")) as cluster:
                for read in both(cluster, "SELECT id FROM orders"):
                    assert len(read()) == 2  # type: ignore[arg-type]
            assert another_process_finds(path) == "SQLITE_BUSY"
        user.execute("COMMIT")
        assert another_process_finds(path) == "free 3"
        with open_cluster(catalog(tmp_path, "sqlite:///one.db")) as cluster:
            assert len(rows(cluster)) == 3


def test_a_lock_is_waited_for(tmp_path: Path, file: Path) -> None:
    with (
        closing(sqlite3.connect(file, isolation_level=None, check_same_thread=False)) as writer,
        open_cluster(catalog(tmp_path, "sqlite:///data/one.db")) as cluster,
    ):
        writer.execute("BEGIN EXCLUSIVE")
        timer = threading.Timer(0.1, lambda: writer.execute("COMMIT"))
        timer.start()
        assert len(rows(cluster)) == 2
        timer.join()


def test_a_lock_that_stays(tmp_path: Path, file: Path) -> None:
    with closing(sqlite3.connect(file, isolation_level=None)) as writer:
        writer.execute("BEGIN EXCLUSIVE")
        started = time.perf_counter()
        error = refused(tmp_path, "sqlite:///data/one.db", options="WITH (busy_timeout_ms = 30)")
        assert time.perf_counter() - started < 5  # seconds, which it would wait without the option
        assert "is locked by a program that writes to it" in error.message


@pytest.mark.parametrize("dialect", ["duckdb", "sqlite"])
def test_waiting_for_a_lock_can_be_cancelled(tmp_path: Path, file: Path, dialect: str) -> None:
    text = catalog(tmp_path, "sqlite:///data/one.db", "WITH (busy_timeout_ms = 60000)")
    text.write_text(f"CREATE CATALOG c DIALECT {dialect};\n{text.read_text()}")
    with (
        closing(sqlite3.connect(file, isolation_level=None)) as writer,
        open_cluster(text) as cluster,
    ):
        writer.execute("BEGIN EXCLUSIVE")
        for sql in (ALL, "SELECT * FROM orders, (SELECT random() AS r) AS u"):
            connection = cluster.connect()
            timer = threading.Timer(0.1, connection.interrupt)
            timer.start()
            started = time.perf_counter()
            with pytest.raises(Cancelled):
                connection.execute(sql).fetchall()
            assert time.perf_counter() - started < 5  # seconds; it would wait for a minute
            timer.join()


def test_a_transaction_that_a_crash_left(tmp_path: Path, file: Path) -> None:
    """Its journal must be rolled back, and that is to write."""
    with closing(sqlite3.connect(file, isolation_level=None)) as writer:
        writer.execute("PRAGMA cache_size = 1")
        writer.execute("BEGIN")
        writer.executemany("INSERT INTO orders (note) VALUES (?)", [("x" * 900,)] * 100)
        shutil.copy(file, tmp_path / "left.db")
        shutil.copy(f"{file}-journal", tmp_path / "left.db-journal")
    before = (tmp_path / "left.db").read_bytes()
    assert "was left amid a transaction" in refused(tmp_path, "sqlite:///left.db").message
    assert (tmp_path / "left.db").read_bytes() == before


def test_rows_that_are_only_in_the_wal(tmp_path: Path) -> None:
    path = tmp_path / "one.db"
    make(path, mode="wal")
    with closing(sqlite3.connect(path)) as writer:
        writer.execute("PRAGMA wal_autocheckpoint = 0")
        writer.execute("INSERT INTO orders (id, total) VALUES (3, '3.00')")
        writer.commit()
        with open_cluster(catalog(tmp_path, "sqlite:///one.db")) as cluster:
            assert len(rows(cluster)) == 3


def test_the_file_itself_is_never_written_to(tmp_path: Path) -> None:
    """A WAL that another program left is read, and left."""
    path = tmp_path / "one.db"
    make(path, mode="wal")
    with closing(sqlite3.connect(path)) as writer:
        writer.execute("INSERT INTO orders (id, total) VALUES (3, '3.00')")
        writer.commit()
        for suffix in ("", "-wal"):
            shutil.copy(f"{path}{suffix}", tmp_path / f"left.db{suffix}")
    before = [(tmp_path / f"left.db{suffix}").read_bytes() for suffix in ("", "-wal")]
    with open_cluster(catalog(tmp_path, "sqlite:///left.db")) as cluster:
        assert len(rows(cluster)) == 3
    assert [(tmp_path / f"left.db{suffix}").read_bytes() for suffix in ("", "-wal")] == before


def test_an_immutable_file_gets_no_files_beside_it(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    make(tmp_path / "data" / "one.db", mode="wal")
    with open_cluster(catalog(tmp_path, "sqlite:///data/one.db", "WITH (immutable = true)")) as cluster:
        assert len(rows(cluster)) == 2
        assert [each.name for each in (tmp_path / "data").iterdir()] == ["one.db"]


# -- while it is open ---------------------------------------------------------------------------


def test_a_file_that_is_replaced(tmp_path: Path, file: Path, cluster: Cluster) -> None:
    assert len(rows(cluster)) == 2
    make(tmp_path / "new.db", TABLES[0], "INSERT INTO orders (id) VALUES (7)")
    (tmp_path / "new.db").replace(file)
    assert rows(cluster) == [(7, None)]
    make(tmp_path / "new.db", "CREATE TABLE orders (id INTEGER PRIMARY KEY)")
    (tmp_path / "new.db").replace(file)
    with pytest.raises(OperationalError, match='column "total" of table "orders" is missing on shard "one"'):
        rows(cluster)
    file.unlink()
    with pytest.raises(ShardUnavailable, match="does not exist"):
        rows(cluster)


def test_a_table_that_is_altered(file: Path, cluster: Cluster) -> None:
    """SQLite takes the quoted name of a column that it has not for a text."""
    assert len(rows(cluster)) == 2
    make(file, "ALTER TABLE orders RENAME total TO sum")
    with pytest.raises(OperationalError, match='column "total" of table "orders" is missing') as caught:
        rows(cluster)
    assert caught.value.reason == Reason.SCHEMA_DRIFT
    make(file, "ALTER TABLE orders RENAME sum TO total", "ALTER TABLE orders ADD more TEXT")
    assert len(rows(cluster)) == 2


def test_nothing_stays_open(file: Path, cluster: Cluster) -> None:
    def opened() -> list[str]:
        links = (f"/proc/self/fd/{each}" for each in os.listdir("/proc/self/fd"))  # noqa: PTH208
        return [target for link in links if (target := _target(link)).startswith(str(file))]

    for read in both(cluster, "SELECT id FROM orders"):
        read()
    result = cluster.run(ALL)
    result.fetchmany(1)
    result.close()
    assert opened()
    cluster.close()
    assert opened() == []


def _target(link: str) -> str:
    try:
        return os.readlink(link)  # noqa: PTH115
    except FileNotFoundError:  # the listing's own
        return ""


# -- values and columns that do not fit ---------------------------------------------------------


@pytest.mark.parametrize(
    ("column", "value", "says"),
    [
        ("user_id", "'abc'", "holds 'abc', which is no INTEGER"),
        ("user_id", "3000000000", "holds 3000000000, which is out of the range of INTEGER"),
        ("total", "'1.555'", "holds '1.555', which has more decimals than DECIMAL(9,2)"),
        ("placed", "'05.01.2026'", "holds '05.01.2026', which is no DATE"),
        ("note", "CAST(x'61ff' AS TEXT)", "which is no UTF-8"),
        ("note", "x'61'", "holds b'a', which is no VARCHAR"),
    ],
)
def test_a_value_that_does_not_fit(file: Path, cluster: Cluster, column: str, value: str, says: str) -> None:
    make(file, f"INSERT INTO orders (id, {column}) VALUES (3, {value})")
    for read in both(cluster, f"SELECT id, {column} FROM orders"):
        with pytest.raises(DataError) as caught:
            read()
        assert says in caught.value.message
        assert f'shard "one": column "{column}" of table "orders" holds ' in caught.value.message
        assert caught.value.shard == "one"
    assert len(rows(cluster, "SELECT id FROM orders")) == 3  # what is not read is not looked at


@pytest.mark.parametrize(
    ("type_", "declared", "says"),
    [
        ("TEXT", "INTEGER", "is declared TEXT (affinity TEXT; a type of affinity INTEGER would do)"),
        ("STRING", "VARCHAR", "is declared STRING (affinity NUMERIC; a type of affinity TEXT would do)"),
        ("REAL", "BIGINT", "affinity REAL"),
        ("INTEGER", "VARCHAR", "affinity INTEGER"),
        ("TEXT", "DOUBLE", "affinity TEXT; a type of affinity REAL would do"),
        ("REAL", "DATE", "affinity REAL; a type of affinity TEXT would do"),
        ("TEXT", "BLOB", "affinity TEXT"),
        ("TEXT", "TIMESTAMP EPOCH", "affinity TEXT; a type of affinity INTEGER would do"),
        ("TEXT", "DATE JULIAN", "affinity TEXT; a type of affinity REAL would do"),
        ("TEXT", "INTERVAL", "and a SQLite file has no values of INTERVAL"),
        ("TEXT", "INTEGER[]", "and a SQLite file has no values of INTEGER[]"),
    ],
)
def test_a_column_of_the_wrong_affinity(tmp_path: Path, type_: str, declared: str, says: str) -> None:
    make(tmp_path / "one.db", f"CREATE TABLE orders (id INTEGER, x {type_})")
    with open_cluster(catalog(tmp_path, "sqlite:///one.db", declared=f"id BIGINT, x {declared}")) as cluster:
        with pytest.raises(OperationalError) as caught:
            rows(cluster, "SELECT x FROM orders")
        assert caught.value.reason == Reason.SCHEMA_DRIFT
        assert 'column "x" of table "orders" is declared' in caught.value.message
        assert says in caught.value.message
        assert rows(cluster, "SELECT id FROM orders") == []


def test_columns_without_a_type_and_of_views(tmp_path: Path) -> None:
    make(
        tmp_path / "one.db",
        "CREATE TABLE base (ID, x, y AS (x || '!'))",
        "INSERT INTO base VALUES (1, 'a'), (2.0, NULL)",
        "CREATE VIEW orders AS SELECT id, x, y, id + 1 AS n FROM base",
    )
    declared = "id BIGINT, x VARCHAR, y VARCHAR, n INTEGER"
    with open_cluster(catalog(tmp_path, "sqlite:///one.db", declared=declared)) as cluster:
        for read in both(cluster, "SELECT id, x, y, n FROM orders"):
            found = sorted(row[:4] for row in read())  # type: ignore[attr-defined]
            assert found == [(1, "a", "a!", 2), (2, None, None, 3)]


@pytest.mark.skipif(lite.VERSION < (3, 37), reason="SQLite has STRICT tables since 3.37")
def test_any_has_no_affinity_in_a_strict_table_and_is_numeric_elsewhere(tmp_path: Path) -> None:
    for n, strict in enumerate(("STRICT", "")):
        make(tmp_path / f"{n}.db", f"CREATE TABLE orders (id ANY, x ANY) {strict}")
        make(tmp_path / f"{n}.db", "INSERT INTO orders VALUES (1, '05')")
    with open_cluster(catalog(tmp_path, "sqlite:///0.db", declared="id BIGINT, x VARCHAR")) as cluster:
        for read in both(cluster, "SELECT id, x FROM orders WHERE x = '05' AND id < 2"):
            assert read()[0][:2] == (1, "05")  # type: ignore[index]
    with (
        open_cluster(catalog(tmp_path, "sqlite:///1.db", declared="id BIGINT, x VARCHAR")) as cluster,
        pytest.raises(OperationalError, match=r"declared ANY \(affinity NUMERIC"),
    ):
        rows(cluster, "SELECT x FROM orders")


def test_a_view_can_reach_nothing_but_its_file(tmp_path: Path) -> None:
    make(tmp_path / "one.db", "CREATE VIEW orders AS SELECT load_extension('x') AS id")
    with (
        open_cluster(catalog(tmp_path, "sqlite:///one.db", declared="id BIGINT")) as cluster,
        pytest.raises(OperationalError, match="load_extension"),
    ):
        rows(cluster, "SELECT id FROM orders")
