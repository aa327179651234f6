"""Texts that differ only after what MariaDB sorts by, 1,024 bytes by default: where it groups, takes once,
numbers or orders by sorting, the answer must not be wrong for it."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

import shardwise
from shardwise.catalog import parse
from tests.servers import mariadb, postgres
from tests.servers.mariadb_server import private_mariadb

PASSWORD = "SHARDWISE_TEST_LONG_TEXTS_PASSWORD"
COLUMNS = {
    "duckdb": "k BIGINT, txt VARCHAR, wide VARCHAR, g INTEGER",
    "sqlite": "k INTEGER, txt TEXT, wide TEXT, g INTEGER",
    "postgres": "k bigint, txt text, wide varchar(700), g integer",
    "mariadb": "k BIGINT, txt LONGTEXT COLLATE utf8mb4_nopad_bin, "
    "wide VARCHAR(700) COLLATE utf8mb4_nopad_bin, g INT",
}
GROUPED = (
    "SELECT {c}, count(*) AS n FROM t GROUP BY {c}",
    "SELECT {c}, count(DISTINCT g) AS n FROM t GROUP BY {c}",
    "SELECT {c}, g, count(DISTINCT k) AS n FROM t GROUP BY {c}, g",
    "SELECT {c}, min(k), max(g), count(DISTINCT k) FROM t GROUP BY {c}",
    "SELECT n, count(*) FROM (SELECT {c}, count(DISTINCT g) AS n FROM t GROUP BY {c}) AS q GROUP BY n",
    "SELECT n FROM (SELECT {c}, count(DISTINCT k) AS n FROM t GROUP BY {c}) AS q WHERE n > 1",
    "SELECT DISTINCT {c} FROM t",
    "SELECT DISTINCT {c}, g FROM t WHERE g > 0",
    "SELECT DISTINCT max({c}), count(DISTINCT g) FROM t GROUP BY k",
    "SELECT count(DISTINCT {c}) FROM t",
    "SELECT g, count(DISTINCT {c}), count(DISTINCT k), min({c}), max({c}) FROM t GROUP BY g",
    "SELECT {c} FROM t WHERE g = 1 UNION SELECT {c} FROM t WHERE g = 2",
    "SELECT {c} FROM t WHERE g = 1 INTERSECT SELECT {c} FROM t WHERE g = 2",
    "SELECT {c} FROM t WHERE g > 0 EXCEPT SELECT {c} FROM t WHERE k < 16",
    "SELECT k FROM t WHERE {c} IN (SELECT {c} FROM t WHERE k IN (7, 8))",
    "SELECT k FROM t WHERE {c} IN (SELECT max({c}) FROM t GROUP BY g)",
    "SELECT p.k FROM t p JOIN t q ON p.{c} = q.{c} WHERE q.k < 2",
    "SELECT p.k, (SELECT count(*) FROM t q WHERE q.{c} = p.{c}) FROM t p WHERE p.k < 9",
    "SELECT p.{c}, count(DISTINCT q.k) FROM t p JOIN t q ON p.k = q.k GROUP BY p.{c}",
)
ORDERED = (
    "SELECT k, {c} FROM t ORDER BY {c}, k LIMIT 15",
    "SELECT k, {c} FROM t ORDER BY {c} DESC, k LIMIT 9 OFFSET 3",
    "SELECT k, row_number() OVER (ORDER BY {c}, k) FROM t",
    "SELECT k, row_number() OVER (PARTITION BY {c} ORDER BY k) FROM t",
    "SELECT k, rank() OVER (ORDER BY {c}), count(*) OVER (PARTITION BY {c}) FROM t",
    "SELECT {c}, count(*) FROM t GROUP BY {c} ORDER BY {c} LIMIT 13",
    "SELECT DISTINCT {c} FROM t ORDER BY {c} LIMIT 13",
)


def rows() -> list[tuple[Any, ...]]:
    """Of characters of one to four bytes eight texts each with one beginning, in several rows and on all
    shards; and short ones."""
    made: list[tuple[Any, ...]] = []
    for k in range(160):
        unit, end = "xé漢😀"[k // 40], (k * 5 + k // 8) % 8
        made.append((k, f"{unit * 1100}{end}", f"{unit * 600}{end}", k % 3))
    return [
        *made,
        (160, "", None, 0),
        (161, None, "", 1),
        (162, "x" * 1100, "x" * 600, 2),
        (163, "x", "x", 0),
    ]


def rows_of(shard: int, shards: int) -> list[tuple[Any, ...]]:
    return [row for row in rows() if row[0] % shards == shard]


def database_with(server: Any, held: list[tuple[Any, ...]]) -> str:
    database: str = server.database(
        f"CREATE TABLE t ({COLUMNS[server.product]})",
        f"CREATE INDEX wide ON t ({'wide' if server.product == 'mariadb' else 'left(wide, 99)'})",
    )
    server.insert(database, "t", held)
    return database


def opened(dialect: str, columns: str, sources: list[str]) -> shardwise.Cluster:
    listed = "".join(f"CREATE SOURCE s{n} {source};" for n, source in enumerate(sources))
    return shardwise.open(
        parse(
            f"CREATE CATALOG c DIALECT {dialect};{listed}"
            f"CREATE SHARDING by_k USING MOD {len(sources)} AS m ON s{{m}};"
            f"ATTACH TABLE t ({columns}) SHARD BY by_k (k);"
        )
    )


def on_server(server: Any, shards: int) -> list[str]:
    os.environ[PASSWORD] = server.password
    databases = [database_with(server, rows_of(shard, shards)) for shard in range(shards)]
    return [f"URL '{server.url(database)}' PASSWORD ENV '{PASSWORD}'" for database in databases]


def in_files(folder: Path, shards: int) -> list[str]:
    made = []
    for shard in range(shards):
        path = folder / f"{shard}.sqlite"
        with sqlite3.connect(path) as con:
            con.execute(f"CREATE TABLE t ({COLUMNS['sqlite']})")
            con.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", rows_of(shard, shards))
        con.close()
        made.append(f"URL 'sqlite:///{path}'")
    return made


@pytest.fixture(scope="module")
def duck() -> Iterator[Any]:
    with duckdb.connect() as con:
        con.execute(f"CREATE TABLE t ({COLUMNS['duckdb']})")
        con.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", [list(row) for row in rows()])
        yield con


@pytest.fixture(scope="module", params=["mariadb", "postgres", "sqlite"])
def ours(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Two shards of a product, in the duckdb dialect."""
    if request.param == "sqlite":
        sources = in_files(tmp_path_factory.mktemp("long"), 2)
    else:
        sources = on_server(mariadb(0) if request.param == "mariadb" else postgres(), 2)
    with opened("duckdb", COLUMNS["duckdb"], sources) as cluster, cluster.connect() as con:
        yield con


def alike(ours: Any, theirs: Any, sql: str) -> None:
    found, wanted = (list(map(repr, map(tuple, rows))) for rows in (ours, theirs))
    assert sorted(found) == sorted(wanted), sql


@pytest.mark.parametrize("sql", [*GROUPED, *ORDERED])
def test_the_duckdb_dialect_is_duckdbs(ours: Any, duck: Any, sql: str) -> None:
    for column in ("txt", "wide"):
        asked = sql.format(c=column)
        alike(ours.execute(asked).fetchall(), duck.execute(asked).fetchall(), asked)


@pytest.fixture(scope="module", params=[1, 3])
def of_mysql(request: pytest.FixtureRequest) -> Iterator[Any]:
    """In the mysql dialect."""
    sources = on_server(mariadb(0), request.param)
    with opened("mysql", COLUMNS["mariadb"], sources) as cluster, cluster.connect() as con:
        yield con


@pytest.fixture(scope="module")
def one_server() -> Iterator[Any]:
    """One MariaDB server that sorts by all of a text."""
    server = mariadb(0)
    with server.connect(database_with(server, rows())) as con, con.cursor() as cursor:
        cursor.execute("SET SESSION max_sort_length = 65535")
        yield cursor


@pytest.mark.parametrize("sql", [*GROUPED, *ORDERED])
def test_the_mysql_dialect_sorts_whole_what_an_index_holds(of_mysql: Any, one_server: Any, sql: str) -> None:
    """A server with an index groups by it, and the merge that has none by sorting."""
    asked = sql.format(c="wide")
    one_server.execute(asked)
    alike(of_mysql.execute(asked).fetchall(), one_server.fetchall(), asked)


def test_a_server_that_sorts_by_less() -> None:
    """It may be configured to as few bytes as 64: texts of 101 characters would be one group."""
    server = private_mariadb("sorts-by-less", "--max-sort-length=64")
    os.environ[PASSWORD] = server.password
    database = server.database(f"CREATE TABLE t ({COLUMNS['mariadb']})")
    server.insert(database, "t", [(k, None, f"{'x' * 100}{k * 5 % 8}", k % 3) for k in range(40)])
    source = f"URL '{server.url(database)}' PASSWORD ENV '{PASSWORD}'"
    with opened("duckdb", COLUMNS["duckdb"], [source]) as cluster, cluster.connect() as con:
        found = con.execute("SELECT wide, count(DISTINCT g) FROM t GROUP BY wide").fetchall()
    assert sorted(found) == [(f"{'x' * 100}{n}", 3) for n in range(8)]
