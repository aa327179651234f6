"""Views of the catalog, over tables and views: as one database has them, pruned and pushed like any query."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import duckdb
import pytest

import shardwise
from shardwise.catalog.language import parse
from shardwise.dbapi import Connection
from shardwise.errors import NotSupportedError, UnknownName
from tests.integration import tiny

VIEWS: Final = """\
CREATE VIEW low AS SELECT id, city FROM customers WHERE id < 100;
CREATE VIEW towns (x, town) AS SELECT id, city FROM low WHERE city IN (SELECT name FROM cities);
CREATE VIEW counts AS SELECT town, count(*) AS n FROM towns GROUP BY town;
CREATE VIEW everything AS SELECT * FROM customers;
CREATE VIEW hiding AS WITH customers AS (SELECT 1 AS id) SELECT id FROM customers;
CREATE VIEW constant (a) AS VALUES (1), (2);
CREATE VIEW sampled (a, b, c) AS SELECT * FROM customers USING SAMPLE 100%;
CREATE VIEW pivoted AS SELECT * FROM (PIVOT low ON city IN ('City 0', 'City 1') USING count(*) GROUP BY id);
CREATE VIEW over_pivoted AS SELECT sum("City 0") AS zero, max(id) AS id FROM pivoted;
CREATE VIEW over_low AS SELECT count(*) AS n FROM low TABLESAMPLE 100%;
"""


@pytest.fixture(scope="module")
def con(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    folder = tmp_path_factory.mktemp("views")
    tiny.make(folder)
    (folder / "cluster.sql").write_text(tiny.WITH_COLUMNS + VIEWS, encoding="utf-8")
    with shardwise.connect(folder / "cluster.sql") as con:
        yield con


@pytest.fixture(scope="module")
def one() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as db:
        db.execute(
            "CREATE TABLE customers AS SELECT i::INTEGER AS id, 'c' || i AS name, 'City ' || i % 3 AS city "
            "FROM range(300) t(i); CREATE TABLE cities AS FROM (VALUES ('City 0'), ('City 1')) t(name)"
        )
        db.execute(VIEWS)
        yield db


@pytest.mark.parametrize(
    "sql",
    [
        "FROM low",
        "SELECT * FROM towns WHERE x IN (16, 17, 18)",
        "SELECT t.x, low.id FROM towns t JOIN low ON low.id = t.x + 1",
        "SELECT * FROM counts c (a, b) WHERE a <> 'City 1'",
        "SELECT n FROM counts WHERE town = 'City 1'",
        "SELECT e.id, (SELECT n FROM counts WHERE town = e.city) FROM everything e WHERE e.id < 9",
        "WITH low AS (SELECT 5 AS x) SELECT low.x, counts.n FROM low, counts",
        "WITH customers AS (SELECT 5 AS x) SELECT count(*), max(x) FROM customers, everything",
        "SELECT hiding.id, e.id FROM hiding JOIN everything e USING (id)",
        "FROM constant",
        "SELECT count(*), min(a), max(c) FROM sampled",
        "SELECT count(*) FROM sampled s (k) JOIN everything e ON e.id = s.k AND s.b = e.name",
        "WITH customers AS (SELECT 5 AS x) SELECT count(*), max(x) FROM customers, sampled",
        "FROM pivoted WHERE id < 5",
        "FROM over_pivoted",
        "WITH low AS (SELECT 5 AS x), pivoted AS (SELECT 6 AS x) FROM over_pivoted, low, pivoted",
        "FROM over_low",
        "SELECT n, (SELECT count(*) FROM sampled) FROM over_low UNION ALL SELECT n, 0 FROM counts",
    ],
)
def test_as_one_database_answers(con: Connection, one: duckdb.DuckDBPyConnection, sql: str) -> None:
    cursor, wanted = con.execute(sql), one.execute(sql)
    assert [c[:2] for c in cursor.description or ()] == [(c[0], str(c[1])) for c in wanted.description or ()]
    assert sorted(cursor.fetchall(), key=repr) == sorted(wanted.fetchall(), key=repr)


def test_a_local_view_may_be_of_any_kind(con: Connection) -> None:
    con.execute("CREATE OR REPLACE TEMP TABLE kept AS SELECT id FROM customers WHERE id < 4")
    query = "SELECT k.id FROM kept k JOIN sampled s ON s.a = k.id FETCH FIRST 9 ROWS ONLY"
    con.execute(f"CREATE OR REPLACE TEMP VIEW mine AS {query}")
    sql = "WITH low AS (SELECT 1 AS x), sampled AS (SELECT 2 AS y) SELECT count(*) FROM mine, low, sampled"
    assert con.execute(sql).fetchall() == [(4,)]
    with pytest.raises(NotSupportedError, match='a WITH item has the name of the local table "kept"'):
        con.execute("WITH kept AS (SELECT 1 AS x) SELECT count(*) FROM mine, kept")


@pytest.mark.parametrize(
    ("sql", "moved", "shards"),
    [
        ("SELECT * FROM towns WHERE x = 16", 1, 1),
        ("SELECT a.id FROM everything a JOIN everything b USING (id) WHERE a.id = 7", 1, 1),
        ("FROM counts", 4, 2),
        ("SELECT n FROM counts WHERE town = 'City 1'", 2, 2),
    ],
)
def test_a_view_is_pruned_and_pushed_like_its_query(
    con: Connection, sql: str, moved: int, shards: int
) -> None:
    cursor = con.execute(sql)
    cursor.fetchall()
    assert cursor.stats is not None
    assert cursor.stats.rows_moved == moved
    assert len(con.execute(f"EXPLAIN (ROUTE) {sql}").fetchall()) == shards


def test_what_is_wrong_in_a_view_names_it() -> None:
    text = tiny.WITH_COLUMNS + "CREATE VIEW a AS SELECT * FROM gone; CREATE VIEW b AS SELECT * FROM a;"
    with shardwise.open(parse(text)) as cluster, cluster.connect() as con:
        for sql in ("FROM b", "SELECT * FROM b USING SAMPLE 3"):
            with pytest.raises(UnknownName, match='in the view "a": there is no table "gone"') as raised:
                con.execute(sql)
            assert raised.value.position is None
