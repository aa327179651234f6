"""Page after page by `cursor.next_page()`: all rows, each once, in the order, in each dialect."""

from __future__ import annotations

import random
import sqlite3
from pathlib import Path
from typing import Any

import duckdb
import pytest

import shardwise
from shardwise.catalog import parse
from tests.oracle.cluster import Cluster
from tests.oracle.mysql_world import MySQLWorld
from tests.oracle.postgres_world import PostgresWorld
from tests.oracle.sqlite_world import SQLiteWorld
from tests.oracle.test_deep_pages import ORDERS, asked, cluster, mysql, postgres
from tests.servers import postgres as postgres_server

__all__ = ["cluster", "mysql", "postgres"]

STATEMENTS = [
    *(f"SELECT id, k, s, f, d, day, ts FROM t ORDER BY {order}" for order in ORDERS),
    "SELECT s, f AS g FROM t WHERE k > 1 OR s < 'b' ORDER BY d DESC, id",
    "SELECT t.s, c.* FROM t JOIN c ON c.t_id = t.id ORDER BY c.v, t.k, t.id, c.id",
    "SELECT t.id, c.v FROM t LEFT JOIN c ON c.t_id = t.id AND c.v > 3 ORDER BY c.v DESC, t.id, c.id",
    "SELECT k, count(*) AS n FROM t GROUP BY k ORDER BY n, k",
    "SELECT DISTINCT s, k FROM t ORDER BY k, s",
    "SELECT id, s FROM t WHERE id = 7 ORDER BY s, id",
]
WITH_TIES = [
    "SELECT k FROM t ORDER BY k",
    "SELECT s, d FROM t ORDER BY s DESC",
    "SELECT v, id FROM own ORDER BY v DESC",
    "SELECT few.v, t.k FROM few JOIN t ON t.id = few.id ORDER BY t.k",
]


def read(con: Any, sql: str, params: Any = None, **options: Any) -> tuple[list[tuple[Any, ...]], list[int]]:
    """All rows page by page, and how many rows each page moved."""
    rows: list[tuple[Any, ...]] = []
    moved = []
    with con.cursor() as cur:
        cur.execute(sql, params, pages=True, **options)
        while page := cur.fetchall():
            rows += map(tuple, page)
            moved.append(cur.stats.rows_moved)
            assert len(moved) < 500, "the pages have no end"
            cur.next_page()
    return rows, moved


def test_pages(cluster: Cluster) -> None:
    rng = random.Random(2)
    with cluster.connect() as con:
        for sql in asked(STATEMENTS, cluster):
            everything = cluster.whole().execute(sql).fetchall()
            found, _ = read(con, f"{sql} LIMIT {rng.choice((1, 3)) * max(1, len(everything) // 9)}")
            assert repr(found) == repr(everything), sql


def test_rows_that_are_equal_come_once(cluster: Cluster) -> None:
    with cluster.connect() as con:
        for sql in WITH_TIES:
            everything = cluster.whole().execute(sql).fetchall()
            found, _ = read(con, f"{sql} LIMIT 29")
            assert sorted(map(repr, found)) == sorted(map(repr, everything)), sql


def test_a_page_moves_about_its_rows_of_each_shard(cluster: Cluster) -> None:
    with cluster.connect() as con:
        found, moved = read(con, "SELECT id, d FROM t WHERE k < ? ORDER BY id LIMIT 11", [5])
    assert len(found) == len(cluster.whole().execute("SELECT id FROM t WHERE k < 5").fetchall())
    assert max(moved) <= 11 * cluster.shards


def test_as_arrow_and_after_a_few_rows(cluster: Cluster) -> None:
    sql = "SELECT id, s, d, ts FROM t ORDER BY ts, d DESC, id"
    everything = cluster.whole().execute(sql).fetchall()
    with cluster.connect() as con, con.cursor() as cur:
        found = [
            tuple(r.values()) for r in cur.execute(f"{sql} LIMIT 90", pages=True).to_arrow_table().to_pylist()
        ]
        assert [c[0] for c in cur.description] == ["id", "s", "d", "ts"]
        found += [tuple(r.values()) for r in cur.next_page().to_arrow_table().to_pylist()]
        assert found == everything[:180]
        assert cur.next_page().fetchmany(3) == everything[180:183]
        assert cur.next_page().fetchone() == everything[270]


def test_an_offset_is_of_the_first_page(cluster: Cluster) -> None:
    sql = "SELECT id FROM t ORDER BY d, id"
    everything = cluster.whole().execute(sql).fetchall()
    with cluster.connect() as con:
        assert read(con, f"{sql} LIMIT 50 OFFSET 120", force=("seek_pages",))[0] == everything[120:]


@pytest.mark.parametrize(
    ("sql", "why"),
    [
        ("SELECT id FROM t LIMIT 3", "no ORDER BY … LIMIT n"),
        ("SELECT id FROM t ORDER BY id", "no ORDER BY … LIMIT n"),
        ("SELECT id FROM t UNION SELECT id FROM few ORDER BY id LIMIT 3", "read page by page"),
        ("SELECT id FROM t ORDER BY random() LIMIT 3", "not the same each time"),
    ],
)
def test_what_is_no_page(cluster: Cluster, sql: str, why: str) -> None:
    with cluster.connect() as con, pytest.raises(shardwise.NotSupportedError, match=why):
        con.execute(sql, pages=True)
    with cluster.connect() as con, con.cursor() as cur:
        cur.execute("SELECT id FROM t ORDER BY id LIMIT 3")
        with pytest.raises(shardwise.ProgrammingError, match="no page to go on from"):
            cur.next_page()


@pytest.mark.parametrize("type_", ["DATE", "TIMESTAMP"])
def test_no_page_goes_on_from_a_day_that_python_has_none_of(type_: str, tmp_path: Path) -> None:
    for shard in range(2):
        with duckdb.connect(str(tmp_path / f"s{shard}.duckdb")) as file:
            file.execute(f"CREATE TABLE t (id INTEGER PRIMARY KEY, day {type_})")
            file.execute(f"INSERT INTO t VALUES ({shard}, '2024-02-29'), ({shard + 2}, 'infinity')")
    (tmp_path / "cluster.sql").write_text(
        "CREATE SOURCE s{n} FOR n IN 0-1 URL 'duckdb:///s{n}.duckdb';"
        "CREATE SHARDING by_id USING MOD 2 ON s{slot}; ATTACH TABLE t SHARD BY by_id (id);"
    )
    with shardwise.connect(tmp_path / "cluster.sql") as con, con.cursor() as cur:
        for rows in ("fetchall", "to_arrow_table"):
            cur.execute("SELECT id FROM t ORDER BY day, id LIMIT 3", pages=True)
            assert len(getattr(cur, rows)()) == 3
            with pytest.raises(shardwise.NotSupportedError, match=r"is infinite, or .* Leave such rows out"):
                cur.next_page()


@pytest.mark.parametrize(
    ("where", "finite"), [("", 4), ("WHERE id IN (0, 2, 4)", 2)], ids=["two shards", "one shard"]
)
def test_no_page_of_postgres_goes_on_from_what_python_has_no_object_for(where: str, finite: int) -> None:
    server = postgres_server()
    names = [server.database("CREATE TABLE t (id int PRIMARY KEY, day date, n numeric(9, 2))") for _ in "ab"]
    for shard, name in enumerate(names):
        rows = [(shard, "2024-02-29", 1), (shard + 2, "infinity", "NaN"), (shard + 4, "2024-02-29", 2)]
        server.insert(name, "t", rows)
    text = "CREATE CATALOG c DIALECT postgres;\n"
    text += "".join(f"CREATE SOURCE s{n} URL '{server.url(name)}';\n" for n, name in enumerate(names))
    text += "CREATE SHARDING by_id USING MOD 2 AS n ON s{n};\n"
    text += "ATTACH TABLE t (id int PRIMARY KEY, day date, n numeric(9, 2)) SHARD BY by_id (id);\n"
    try:
        with (
            shardwise.open(parse(text), secrets=lambda _: server.password) as cluster,
            cluster.connect() as con,
            con.cursor() as cur,
        ):
            cur.execute(f"SELECT id FROM t {where} ORDER BY n, id LIMIT 6", pages=True)
            assert cur.fetchall()[-1] in ((2,), (3,))
            with pytest.raises(
                shardwise.NotSupportedError, match=r"is NaN or infinite\. Leave such rows out"
            ):
                cur.next_page()
            cur.execute(f"SELECT id FROM t {where} ORDER BY n DESC, id LIMIT 5", pages=True)
            assert cur.fetchall()[0] == (2,)
            cur.execute(f"SELECT id FROM t {where} ORDER BY day, id LIMIT {finite}", pages=True)
            assert len(cur.fetchall()) == finite
            with pytest.raises(shardwise.DataError, match=r"key of the ORDER BY.*leave such rows out"):
                cur.next_page().fetchall()
            with pytest.raises(shardwise.DataError, match=r"infinity'\. Cast it to text"):
                con.execute(f"SELECT day FROM t {where}").fetchall()
    finally:
        for name in names:
            server.run(f'DROP DATABASE "{name}" WITH (FORCE)')


# -- the others ------------------------------------------------------------------------------------


def _compare(world: Any, columns: list[str], one: Any) -> None:
    rng = random.Random(11)
    with world.cluster.connect() as con:
        for _ in range(12):
            chosen = rng.sample(columns, rng.choice((1, 1, 2)))
            order = ", ".join([*(f"{c}{rng.choice(('', ' DESC'))}" for c in chosen), "id"])
            sql = f"SELECT id, {rng.choice(columns)} FROM t ORDER BY {order}"
            one.execute(sql)
            everything = one.fetchall()
            found, _ = read(con, f"{sql} LIMIT {rng.choice((7, 13, 30))}")
            assert repr(found) == repr(list(map(tuple, everything))), sql


def test_mysql(mysql: MySQLWorld) -> None:
    columns = ["k", "name", "acc", "bin", "price", "qty", "d", "at", "flag", "big", "id"]
    with mysql.one.cursor() as one:
        _compare(mysql, columns, one)


def test_postgres(postgres: PostgresWorld) -> None:
    with postgres.one.cursor() as one:
        _compare(postgres, ["k", "name", "title", "code", "price", "d", "at", "s", "big", "id"], one)


@pytest.mark.parametrize("shards", [1, 3])
def test_sqlite(shards: int, tmp_path: Path) -> None:
    world = SQLiteWorld(tmp_path, shards)
    try:
        _compare(world, ["k", "name", "email", "price", "qty", "any_", "d", "id"], world.one.cursor())
    finally:
        world.close()


def test_rows_that_stay_come_once_whatever_is_written_meanwhile(tmp_path: Path) -> None:
    world = SQLiteWorld(tmp_path, 3)
    rng = random.Random(4)
    stayed = {row[0] for row in world.one.execute("SELECT id FROM t")}
    seen: list[int] = []
    next_id = 1000
    try:
        with world.cluster.connect() as con, con.cursor() as cur:
            cur.execute("SELECT id, price FROM t ORDER BY price DESC LIMIT 5", pages=True)
            while page := cur.fetchall():
                seen += [row[0] for row in page]
                for shard in range(3):
                    with sqlite3.connect(tmp_path / f"s{shard}.db") as file:
                        gone = rng.choice([i for i in range(1, 61) if i % 3 == shard])
                        file.execute("DELETE FROM t WHERE id = ?", [gone])
                        stayed.discard(gone)
                        row = [next_id * 3 + shard, rng.random()]
                        file.execute("INSERT INTO t (id, price) VALUES (?, ?)", row)
                        next_id += 1
                    file.close()
                assert len(seen) < 1000
                cur.next_page()
    finally:
        world.close()
    assert len(seen) == len(set(seen))
    assert stayed <= set(seen)
