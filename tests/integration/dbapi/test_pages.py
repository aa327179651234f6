"""Deep pages and merged streams where something goes wrong: one error, and the next statement runs."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

import shardwise
from shardwise.planner import paging

SHARDS, ROWS = 3, 3_000
PAGE = "SELECT id, v FROM t ORDER BY v DESC, id LIMIT 10 OFFSET 7000"
STREAM = "SELECT * FROM t ORDER BY id"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(paging, "samples_for", lambda offset, shards: 16)
    for n in range(SHARDS):
        with duckdb.connect(str(tmp_path / f"s{n}.duckdb")) as con:
            con.execute("CREATE TABLE t (id BIGINT, v INTEGER, s VARCHAR)")
            row = f"i * {SHARDS} + {n}, hash(i) % 1000, 'text ' || i"
            con.execute(f"INSERT INTO t SELECT {row} FROM range({ROWS}) r(i)")
    (tmp_path / "c.sql").write_text(
        f"""CREATE CATALOG c DIALECT duckdb;
        CREATE SOURCE s{{n}} FOR n IN 0-{SHARDS - 1} URL 'duckdb:///s{{n}}.duckdb';
        CREATE SHARDING by_id USING MOD {SHARDS} ON s{{slot}};
        CREATE TABLE t (id BIGINT PRIMARY KEY, v INTEGER, s VARCHAR) SHARD BY by_id (id);"""
    )
    return tmp_path


@pytest.fixture
def con(folder: Path) -> Iterator[shardwise.Connection]:
    with shardwise.connect(str(folder / "c.sql")) as con:
        yield con


@pytest.mark.parametrize("sql", [PAGE, STREAM])
def test_a_shard_that_is_not_there(folder: Path, con: shardwise.Connection, sql: str) -> None:
    (folder / "s1.duckdb").unlink()
    with pytest.raises(shardwise.ShardUnavailable) as error:
        con.execute(sql).fetchall()
    assert error.value.shard == "s1"


@pytest.mark.parametrize("sql", [PAGE, STREAM])
def test_a_deadline(con: shardwise.Connection, sql: str) -> None:
    with pytest.raises(shardwise.DeadlineExceeded):
        con.execute(sql, deadline_s=1e-6).fetchall()
    assert len(con.execute(sql).fetchall()) == (10 if sql == PAGE else SHARDS * ROWS)


def test_rounds_count_for_the_budget(con: shardwise.Connection) -> None:
    moved = con.execute(PAGE).stats.rows_moved  # type: ignore[union-attr]
    assert moved < 400
    with pytest.raises(shardwise.BudgetExceeded):
        con.execute(PAGE, rows_max=moved - 1).fetchall()
    assert len(con.execute(PAGE, rows_max=moved).fetchall()) == 10


def test_a_merged_stream_that_is_cancelled_or_left(con: shardwise.Connection) -> None:
    with con.cursor() as cur:
        cur.execute(STREAM)
        assert [row[0] for row in cur.fetchmany(3)] == [0, 1, 2]
        threading.Timer(0.01, cur.cancel).start()
        time.sleep(0.05)
        with pytest.raises(shardwise.Cancelled):
            cur.fetchall()
    reader = con.cursor().execute(STREAM).to_arrow_reader(100)
    assert next(reader).num_rows
    del reader
    assert [r[0] for r in con.execute(f"{STREAM} LIMIT 20000").fetchall()] == list(range(SHARDS * ROWS))


@pytest.mark.parametrize("requests_max", [1, 2, 8])
def test_one_thread_reads_all_streams(con: shardwise.Connection, requests_max: int) -> None:
    rows = con.execute(STREAM, requests_max=requests_max, requests_per_source_max=1).fetchall()
    assert [row[0] for row in rows] == list(range(SHARDS * ROWS))


def test_a_page_in_a_subquery_or_beside_other_rows_is_moved(con: shardwise.Connection) -> None:
    count = con.execute(f"SELECT count(*) FROM ({PAGE}) q").fetchone()
    assert count == (10,)


def test_an_error_of_the_merging_itself_is_ours(
    con: shardwise.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DuckDB would pass on its text alone, with a traceback, as an error of the data."""

    def broken(*_: object) -> object:
        raise ZeroDivisionError
        yield

    monkeypatch.setattr("shardwise.executor.stream.merged", broken)
    with pytest.raises(shardwise.InternalError, match=r"^sorted streams could not be merged"):
        con.execute(STREAM).fetchall()
