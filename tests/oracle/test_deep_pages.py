"""Pages deep in an order, found by seeks: the rows one database gives, in each dialect, on each product.

The worlds are small, so that rounds are asked for with few samples of each shard; `force` has pages sought
that are not worth it.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import shardwise
from shardwise.catalog import parse
from shardwise.planner import paging
from tests.oracle.cluster import By as SplitBy
from tests.oracle.cluster import Cluster, Files, Grain, Table, With, mod
from tests.oracle.mysql_world import MySQLWorld
from tests.oracle.postgres_world import PostgresWorld
from tests.oracle.sqlite_world import SQLiteWorld
from tests.servers import postgres as postgres_server

FORCED = ("seek_pages",)


@pytest.fixture(autouse=True)
def _few_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paging, "samples_for", lambda offset, shards: 8)


# -- the duckdb dialect ---------------------------------------------------------------------------


def _rows(seed: int, count: int) -> list[tuple[Any, ...]]:
    pick = random.Random(seed).choice
    return [
        (
            i,
            pick([None, 1, 2, 3, 3, 10, -7]),
            pick([None, "a", "B", "b", "", "é", "zz", "a b"]),
            pick([None, 0.5, -0.0, 0.0, math.nan, math.inf, 1e300, 0.1]),
            pick([None, "1.10", "-0.50", "1000.01", "2.25"]),
            pick([None, "2024-02-29", "2023-12-31", "1969-07-20"]),
            pick([None, "2024-02-29 23:59:59.123456", "2023-12-31 00:00:00"]),
        )
        for i in range(count)
    ]


COLUMNS = "id BIGINT PRIMARY KEY, k INTEGER, s VARCHAR, f DOUBLE, d DECIMAL(12,2), day DATE, ts TIMESTAMP"
TABLES = [
    Table("t", COLUMNS, SplitBy("by_id", "id"), _rows(1, 400)),
    Table(
        "c",
        "id BIGINT, t_id BIGINT, v INTEGER, PRIMARY KEY (t_id, id)",
        SplitBy("by_id", "t_id"),
        [(i % 7, i // 7 * 3, (i * 37) % 11) for i in range(900)],
    ),
    # On few shards, and with many of the same.
    Table(
        "few",
        "id BIGINT PRIMARY KEY, v INTEGER",
        SplitBy("by_id", "id"),
        [(i * 21, i % 3) for i in range(90)],
    ),
    # Numbered on each shard for itself.
    Table(
        "own",
        "id BIGINT PRIMARY KEY, t_id BIGINT, v INTEGER",
        With("t", "t_id", "id"),
        [(i, i, i % 5) for i in range(200)],
    ),
]
ORDERS = (
    "id",
    "k, id",
    "k DESC, s DESC, id DESC",
    "s NULLS FIRST, id",
    "f, id",
    "f DESC NULLS LAST, d, id",
    "d DESC NULLS FIRST, day NULLS FIRST, id",
    "ts DESC, s, k, id",
    "day, f DESC, id DESC",
    "k + 1 DESC, id",
    "upper(s), id",
)
STATEMENTS = [
    *(f"SELECT id, k, s, f, d, day, ts FROM t ORDER BY {order}" for order in ORDERS),
    "SELECT s, f AS g FROM t WHERE k > 1 OR s < 'b' ORDER BY d DESC, id",
    "SELECT * FROM t ORDER BY k, id",
    "SELECT t.s, c.* FROM t JOIN c ON c.t_id = t.id ORDER BY c.v, t.k, t.id, c.id",
    "SELECT t.id, c.v FROM t LEFT JOIN c ON c.t_id = t.id AND c.v > 3 ORDER BY c.v DESC, t.id, c.id",
    "SELECT t.id FROM t WHERE EXISTS (SELECT 1 FROM c WHERE c.t_id = t.id) ORDER BY t.s DESC, t.id DESC",
    "SELECT * FROM few ORDER BY v DESC, id",
    "SELECT x.id, x.up FROM (SELECT id, k * 2 AS up FROM t WHERE s IS NOT NULL) AS x ORDER BY x.up, x.id",
]
TIES = [
    ("SELECT k FROM t ORDER BY k", None),
    ("SELECT s, f FROM t ORDER BY s DESC", 0),
    ("SELECT v, id FROM few ORDER BY v", 0),
    ("SELECT v, id FROM own ORDER BY v DESC", 0),
]
CLUSTERS: list[tuple[int, Grain, Files]] = [
    (3, "slot", "duckdb"),
    (4, "shard", "servers"),
    (2, "shard", "duckdb"),
    (7, "shard", "duckdb"),
    (3, "shard", "sqlite"),
    (3, "shard", "mixed"),
    (2, "shard", "mariadb"),
    (2, "shard", "postgres"),
]
QUICK = 2
"""The first ones are asked every time, and all statements; the others every third, by turns."""
SHARDS = [3, *(pytest.param(n, marks=pytest.mark.slow) for n in (2, 7))]


@pytest.fixture(
    scope="module",
    params=[
        *CLUSTERS[:QUICK],
        *(pytest.param(each, marks=pytest.mark.slow) for each in CLUSTERS[QUICK:]),
    ],
    ids=lambda c: f"{c[0]}-{c[1]}-{c[2]}",
)
def cluster(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Cluster:
    shards, grain, files = request.param
    tables = TABLES if files == "duckdb" else [_finite(table) for table in TABLES]
    return Cluster.build(
        tmp_path_factory.mktemp("pages"), tables, [mod("by_id")], shards=shards, grain=grain, files=files
    )


def asked(statements: list[str], cluster: Cluster) -> list[str]:
    """Those of the statements that are asked of this cluster."""
    number = CLUSTERS.index((cluster.shards, cluster.grain, cluster.files))
    return statements if number < QUICK else statements[number % 3 :: 3]


_NOT_HELD = (math.inf, None)


def _finite(table: Table) -> Table:
    """Servers and SQLite have no NaN, and one zero."""
    rows = [
        tuple(
            None if v in _NOT_HELD or v != v else 0.0 if isinstance(v, float) and v == 0 else v for v in row
        )
        for row in table.rows
    ]
    return Table(table.name, table.columns, table.place, rows)


def _pages(rng: random.Random, rows: int) -> list[tuple[int, int]]:
    offsets = {rng.choice((1, rows, rows + 5)), rng.randrange(1, rows + 1)}
    return [(rng.choice((0, 1, 3, 10, 50)), offset) for offset in sorted(offsets)]


def test_pages(cluster: Cluster) -> None:
    rng = random.Random(5)
    rounds = 0
    with cluster.connect(force=FORCED) as con:
        for sql in asked(STATEMENTS, cluster):
            everything = cluster.whole().execute(sql).fetchall()
            for count, offset in _pages(rng, len(everything)):
                with con.execute(f"{sql} LIMIT {count} OFFSET {offset}") as cursor:
                    found = cursor.fetchall()
                    rounds += len(cursor.stats.first)
                wanted = everything[offset : offset + count]
                assert repr(list(map(tuple, found))) == repr(wanted), (sql, count, offset)
    assert rounds > len(asked(STATEMENTS, cluster))


def test_pages_of_an_order_with_ties(cluster: Cluster) -> None:
    """Which of the rows that are equal is for the server to say, but a page is the same each time, and pages
    do not overlap. Not so where it is not sought: of rows numbered by each partition."""
    with cluster.connect(force=FORCED) as con:
        for sql, key in TIES:
            everything = cluster.whole().execute(sql).fetchall()
            seen = []
            for offset in range(1, len(everything), 99):
                page = f"{sql} LIMIT 99 OFFSET {offset}"
                found = con.execute(page).fetchall()
                told = con.execute(f"EXPLAIN {page}").fetchall()
                if any(line.startswith("page ") for (line,) in told):
                    assert repr(con.execute(page).fetchall()) == repr(found)
                at = slice(offset, offset + 99)
                assert repr([r[key or 0] for r in found]) == repr([r[key or 0] for r in everything[at]])
                seen += found
            if "FROM few" in sql:
                assert len(set(seen)) == len(seen) == len(everything) - 1


def test_parameters(cluster: Cluster) -> None:
    sql = "SELECT id, d FROM t WHERE k < ? ORDER BY d, id LIMIT ? OFFSET ?"
    everything = cluster.whole().execute(sql.partition(" LIMIT")[0], [5]).fetchall()
    with cluster.connect(force=FORCED) as con:
        for offset in (10, 50, 110, 50):
            found = con.execute(sql, [5, 7, offset]).fetchall()
            assert found == everything[offset : offset + 7]


def test_a_deep_page_as_arrow(cluster: Cluster) -> None:
    sql = "SELECT id, s, d FROM t ORDER BY d DESC, id LIMIT 5 OFFSET 200"
    with cluster.connect(force=FORCED) as con:
        table = con.execute(sql).to_arrow_table()
    assert [tuple(row.values()) for row in table.to_pylist()] == cluster.whole().execute(sql).fetchall()


# -- the others ------------------------------------------------------------------------------------


def _compare(world: Any, columns: list[str], seed: int) -> int:
    """How many rounds there were."""
    rng = random.Random(seed)
    rounds = 0
    with world.cluster.connect(force=FORCED, verify_passes=True) as con:
        for _ in range(12):
            chosen = rng.sample(columns, rng.choice((1, 1, 2, 3)))
            order = ", ".join(
                [*(f"{c}{rng.choice(('', ' DESC'))}" for c in chosen), f"id{rng.choice(('', ' DESC'))}"]
            )
            where = rng.choice(("", " WHERE k > 1", " WHERE k IS NULL OR id > 10"))
            shown = ", ".join(rng.sample(columns, 2))
            page = f"LIMIT {rng.choice((1, 5, 20))} OFFSET {rng.randrange(1, 65)}"
            sql = f"SELECT id, {shown} FROM t{where} ORDER BY {order} {page}"
            with world.one.cursor() if hasattr(world.one, "cursor") else world.one as one:
                one.execute(sql)
                wanted = one.fetchall()
            with con.execute(sql) as cursor:
                found = cursor.fetchall()
                rounds += len(cursor.stats.first)
            assert repr(list(map(tuple, found))) == repr(list(map(tuple, wanted))), sql
    return rounds


@pytest.fixture(scope="module", params=SHARDS)
def mysql(request: pytest.FixtureRequest) -> Iterator[MySQLWorld]:
    world = MySQLWorld(request.param)
    yield world
    world.close()


def test_mysql(mysql: MySQLWorld) -> None:
    columns = ["k", "name", "acc", "bin", "price", "qty", "d", "at", "dur", "flag", "big", "note", "id"]
    assert _compare(mysql, columns, 7) > 5


@pytest.fixture(scope="module", params=SHARDS)
def postgres(request: pytest.FixtureRequest) -> Iterator[PostgresWorld]:
    world = PostgresWorld(request.param)
    yield world
    world.close()


def test_postgres(postgres: PostgresWorld) -> None:
    columns = [
        "k",
        "name",
        "title",
        "code",
        "price",
        "qty",
        "f",
        "r",
        "b",
        "d",
        "at",
        "tz",
        "u",
        "s",
        "big",
        "id",
    ]
    assert _compare(postgres, columns, 7) > 5


@pytest.mark.parametrize("type_", ["date", "timestamp"])
def test_a_page_that_cannot_be_sought_by_values_of_its_sort_key_is_read_without(type_: str) -> None:
    """The driver has no object for these: the sought page's error was the statement's."""
    moments = ["infinity", "-infinity", "4713-01-01 BC", "2024-02-29", None]
    rows = [(n, moments[n % 5]) for n in range(40)]
    server = postgres_server()
    names = [server.database(f"CREATE TABLE t (id integer PRIMARY KEY, at {type_})") for _ in range(3)]
    for n, name in enumerate(names):
        server.insert(name, "t", [row for row in rows if n == 2 or row[0] % 2 == n])
    text = "CREATE CATALOG c DIALECT postgres;\n"
    text += "".join(f"CREATE SOURCE s{n} URL '{server.url(names[n])}';\n" for n in range(2))
    text += "CREATE SHARDING by_id USING MOD 2 AS n ON s{n};\n"
    text += f"ATTACH TABLE t (id integer PRIMARY KEY, at {type_}) SHARD BY by_id (id);\n"
    try:
        with (
            shardwise.open(parse(text), secrets=lambda _: server.password) as cluster,
            cluster.connect(force=FORCED, verify_passes=True) as con,
            server.connect(names[2]) as one,
        ):
            for order in ("at, id", "at DESC, id", "at NULLS FIRST, id DESC"):
                for offset in (1, 9, 20, 33):
                    page = f"SELECT id FROM t ORDER BY {order} LIMIT 4 OFFSET {offset}"
                    assert con.execute(page).fetchall() == one.execute(page).fetchall(), page
    finally:
        for name in names:
            server.run(f'DROP DATABASE "{name}" WITH (FORCE)')


@pytest.mark.parametrize("shards", SHARDS)
def test_sqlite(shards: int, tmp_path: Path) -> None:
    world = SQLiteWorld(tmp_path, shards)
    try:
        columns = ["k", "name", "email", "price", "qty", "any_", "b", "d", "id"]
        rng = random.Random(3)
        rounds = 0
        with world.cluster.connect(force=FORCED, verify_passes=True) as con:
            for _ in range(40 if shards == 3 else 15):
                chosen = rng.sample(columns, rng.choice((1, 2, 3)))
                order = ", ".join([*(f"{c}{rng.choice(('', ' DESC', ' NULLS LAST'))}" for c in chosen), "id"])
                page = f"LIMIT {rng.choice((1, 5, 20))} OFFSET {rng.randrange(1, 65)}"
                sql = f"SELECT * FROM t ORDER BY {order} {page}"
                with con.execute(sql) as cursor:
                    found = cursor.fetchall()
                    rounds += len(cursor.stats.first)
                assert repr(list(map(tuple, found))) == repr(world.one.execute(sql).fetchall()), sql
        assert rounds > 5
    finally:
        world.close()
