"""Answers by way of an index, and what is built while another one is trusted."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

import shardwise
from tests.integration.session.indexed import INDEXES, VISITS, World

PRODUCTS = {
    "duckdb": (("duckdb",), "duckdb"),
    "mixed": (("duckdb", "sqlite"), "duckdb"),
    "sqlite dialect": (("sqlite",), "sqlite"),
}


def _world(folder: Path, shards: int = 3, products: str = "duckdb") -> World:
    made = World(folder, shards, *PRODUCTS[products])
    made.make()
    return made


QUERIES = (
    "SELECT * FROM invoices WHERE no = 17",
    "SELECT kind, no FROM invoices WHERE no IN (3, 4, 41, 99)",
    "SELECT i.no, c.page FROM invoices AS i JOIN clicks AS c ON c.customer_id = i.customer_id WHERE i.no = 8",
    "SELECT * FROM invoices WHERE kind = 'K1' AND no = 7",
    "SELECT p.title, count(*) FROM clicks AS c JOIN pages AS p ON c.page = p.url GROUP BY p.title",
    "SELECT customer_id, weight FROM clicks AS c JOIN pages AS p ON c.page = p.url WHERE customer_id = 5",
    "SELECT customer_id, title FROM pages AS p, clicks AS c WHERE c.page = p.url AND p.title = 'title 1'",
    "SELECT moment FROM clicks AS c WHERE EXISTS (SELECT 1 FROM pages AS p WHERE url = page AND weight > 1)",
    "SELECT customer_id, moment FROM clicks WHERE page IN (SELECT url FROM pages WHERE title IS NULL)",
    "SELECT moment FROM clicks WHERE NOT EXISTS (SELECT 1 FROM pages WHERE url = page)",
)


@pytest.mark.parametrize(
    ("shards", "products"), [(1, "duckdb"), (3, "mixed"), (2, "sqlite dialect"), (7, "sqlite dialect")]
)
def test_answers_by_way_of_an_index(tmp_path: Path, shards: int, products: str) -> None:
    world = _world(tmp_path, shards, products)
    with closing(world.connect()) as con:
        expected = [sorted(con.execute(sql).fetchall(), key=repr) for sql in QUERIES]
        for statement, _ in INDEXES.values():
            con.execute(statement)
        used = 0
        for sql, rows in zip(QUERIES, expected, strict=True):
            assert sorted(con.execute(sql, trust_indexes=True).fetchall(), key=repr) == rows
            used += "answers as of the build" in con.explain(sql, trust_indexes=True).text
        assert used >= 6 or shards == 1


def test_an_index_is_built_of_the_tables_whoever_trusts_others(tmp_path: Path) -> None:
    world = _world(tmp_path)
    with closing(world.connect()) as con:
        con.execute(VISITS)
    world.run(0, "INSERT INTO clicks_0 VALUES (6, 'p1', 5, 'new')")
    with closing(shardwise.connect(tmp_path / "cluster.sql", trust_indexes=True)) as con:
        con.execute(VISITS.replace("visits", "again"))
        found = con.execute("CHECK JOIN INDEX visits").fetchall()
        assert [each[1:3] for each in found] == [("missing", 2)]
        assert con.execute("CHECK JOIN INDEX again").fetchall() == []
        con.execute("CHECK JOIN INDEX visits REPAIR")
        assert con.execute("CHECK JOIN INDEX visits").fetchall() == []
