"""`execute()` starts the statement: what a file says is wrong with it comes from there, not from a fetch."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import duckdb
import pytest

from shardwise.catalog.language import parse
from shardwise.dbapi import Cursor
from shardwise.errors import DatabaseError, DataError
from shardwise.session import Cluster
from shardwise.session import open as open_cluster

TABLE = "CREATE TABLE t (id BIGINT, k INTEGER, word VARCHAR)"
ROWS = "INSERT INTO t VALUES (1, 1, '1'), (3, 1, '3'), (5, 1, 'five'), (2, 0, '2'), (4, 0, '4')"
ROWS += ", (9223372036854775807, 3, '1'), (7, 3, '7')"
NUMBERS = {
    "duckdb": "SELECT CAST(word AS INTEGER) FROM t",
    "sqlite": "SELECT sum(id) FROM t",
}
"""Of the keys 1 a text is no number in DuckDB; of the keys 3 a sum is too large in SQLite."""


@pytest.fixture(params=["duckdb", "sqlite", "sqlite/duckdb"])
def cluster(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Cluster]:
    product, _, dialect = request.param.partition("/")
    for k in (0, 1):
        con = (duckdb if product == "duckdb" else sqlite3).connect(str(tmp_path / f"s{k}.db"))
        con.execute(TABLE)
        con.execute(ROWS)
        con.execute(f"DELETE FROM t WHERE k % 2 <> {k}")
        con.commit()
        con.close()
    columns = (
        "id INTEGER, k INTEGER, word TEXT"
        if dialect == product == "sqlite"
        else "id BIGINT, k INTEGER, word VARCHAR"
    )
    text = f"""CREATE CATALOG c DIALECT {dialect or product};
        CREATE SOURCE s0 URL '{product}:///{tmp_path}/s0.db'; CREATE SOURCE s1 URL '{product}:///{tmp_path}/s1.db';
        CREATE SHARDING by_k USING MOD 2 AS m ON s{{m}}; CREATE TABLE t ({columns}) SHARD BY by_k (k);"""
    with open_cluster(parse(text)) as found:
        yield found


@pytest.fixture
def cursor(cluster: Cluster) -> Iterator[Cursor]:
    with closing(cluster.connect()) as connection, closing(connection.cursor()) as found:
        yield found


@pytest.mark.parametrize("where", [" WHERE k = {}", " WHERE k <> 0 AND k = {} OR k = 0"])
def test_a_value_that_cannot_be_had(cluster: Cluster, cursor: Cursor, where: str) -> None:
    """The first time, and when the plan is known."""
    dialect = cluster.catalog.dialect
    if dialect == "duckdb" and cluster.catalog.dialect_of("s0") == "sqlite":
        pytest.skip("DuckDB, not the file, makes numbers of texts")
    sql = NUMBERS[dialect] + where.format(1 if dialect == "duckdb" else 3)
    for _ in range(3):
        with pytest.raises((DataError, DatabaseError), match=r"five|overflow"):
            cursor.execute(sql)


@pytest.mark.parametrize("where", [" WHERE k = 1", ""])
def test_a_column_that_is_gone(cluster: Cluster, cursor: Cursor, tmp_path: Path, where: str) -> None:
    """Plan and tables are known. (A DuckDB file that is open cannot be changed.)"""
    if cluster.catalog.dialect_of("s0") == "duckdb":
        pytest.skip("nobody else can write to an open file")
    for _ in range(3):
        cursor.execute(f"SELECT word FROM t{where}").fetchall()
    for k in (0, 1):
        with closing(sqlite3.connect(tmp_path / f"s{k}.db")) as con:
            con.execute("ALTER TABLE t DROP COLUMN word")
    with pytest.raises(DatabaseError, match="word"):
        cursor.execute(f"SELECT word FROM t{where}")


@pytest.mark.parametrize("where", [" WHERE k = 1 AND id < 4", " WHERE id < 4"])
def test_rows_in_every_form(cursor: Cursor, where: str) -> None:
    sql = f"SELECT id, word FROM t{where}"
    expected = [(1, "1"), (3, "3")] + ([] if "k" in where else [(2, "2")])
    for _ in range(3):
        assert sorted(cursor.execute(sql).fetchall()) == sorted(expected)
        assert sorted(cursor.execute(sql)) == sorted(expected)
        assert sorted(iter(cursor.execute(sql).fetchone, None)) == sorted(expected)
        table = cursor.execute(sql).to_arrow_table()
        assert sorted(zip(*table.to_pydict().values(), strict=True)) == sorted(expected)
