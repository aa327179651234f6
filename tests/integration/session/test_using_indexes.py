"""Indexes that were built by CREATE answer as their tables do, over files of all kinds."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

import shardwise
from shardwise.errors import ProgrammingError, UnknownName
from tests.integration.session.indexed import INVOICES_KIND, INVOICES_NO, VISITS, World

KINDS = {
    "duckdb": (("duckdb",), "duckdb"),
    "sqlite": (("sqlite",), "duckdb"),
    "sqlite dialect": (("sqlite",), "sqlite"),
    "mixed": (("duckdb", "sqlite"), "duckdb"),
}
STATEMENTS = """
SELECT customer_id, title FROM clicks JOIN pages ON page = url
SELECT customer_id, count(*), max(title) FROM clicks JOIN pages ON page = url GROUP BY customer_id
SELECT title, count(*) FROM pages, clicks WHERE url = page AND title <> 'again' GROUP BY title
SELECT page, title, customer_id FROM clicks JOIN pages ON page = url WHERE customer_id IN (3, 5)
SELECT p.title, i.no FROM clicks c JOIN pages p ON page = url JOIN invoices i ON i.customer_id = c.customer_id
SELECT c.page FROM clicks c JOIN pages p ON c.page = p.url ORDER BY c.customer_id, c.page LIMIT 5
SELECT customer_id, kind FROM invoices WHERE no = 17
SELECT customer_id FROM invoices WHERE kind = 'K1' AND no IN (1, 5, 99)
SELECT count(*) FROM invoices WHERE no = 1000
""".strip().splitlines()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shards", [1, 2, 3])
def test_built_indexes_answer_as_the_tables(tmp_path: Path, shards: int, kind: str) -> None:
    products, dialect = KINDS[kind]
    path = World(tmp_path, shards, products, dialect).make()
    with closing(shardwise.connect(path)) as con:
        con.execute("SELECT page FROM clicks GROUP BY page").fetchall()  # tables are known, and no index
        for statement in (VISITS, INVOICES_NO, INVOICES_KIND):
            con.execute(statement).fetchall()
        for sql in STATEMENTS:
            right = con.execute(sql).fetchall()
            found = con.execute(sql, trust_indexes=True).fetchall()
            assert (
                found == right if "ORDER BY" in sql else sorted(map(repr, found)) == sorted(map(repr, right))
            )
            told = "\n".join(r[0] for r in con.execute(f"EXPLAIN {sql}", trust_indexes=True).fetchall())
            assert ("answers as of the build" in told) is (shards > 1), told


def test_what_is_written_later_is_missed_until_it_is_repaired(tmp_path: Path) -> None:
    """The one way in which a trusted index answers otherwise; the tables themselves do not."""
    world = World(tmp_path, 2)
    path = world.make()
    sql = "SELECT count(*) FROM clicks JOIN pages ON page = url WHERE customer_id = 4"
    with closing(shardwise.connect(path, trust_indexes=True)) as con:
        con.execute(VISITS).fetchall()
        ((before,),) = con.execute(sql).fetchall()
    world.run(0, "INSERT INTO clicks_0 VALUES (4, 'p1', 0, NULL)")
    with closing(shardwise.connect(path, trust_indexes=True)) as con:
        assert con.execute(sql).fetchall() == [(before,)]
        assert con.execute(sql, trust_indexes=False).fetchall() == [(before + 2,)]
        con.execute("CHECK JOIN INDEX visits REPAIR").fetchall()
        assert con.execute(sql).fetchall() == [(before + 2,)]


def test_index_tables_are_none_of_the_user_s(tmp_path: Path) -> None:
    path = World(tmp_path, 2).make()
    with closing(shardwise.connect(path, trust_indexes=True)) as con:
        con.execute(VISITS).fetchall()
        con.execute("SELECT customer_id, title FROM clicks JOIN pages ON page = url").fetchall()
        for sql in (
            "SELECT * FROM visits",
            "SELECT count(*) FROM (FROM visits)",
            "SELECT * FROM main.visits",
        ):
            with pytest.raises((UnknownName, ProgrammingError), match="visits"):
                con.execute(sql).fetchall()
        listed = "SELECT table_name FROM information_schema.tables"
        assert ("visits",) not in con.execute(listed).fetchall()
        assert "visits" not in str(con.execute("SHOW TABLES").fetchall())


def test_a_scope_sees_nothing_of_an_index(tmp_path: Path) -> None:
    path = World(tmp_path, 2).make()
    with closing(shardwise.connect(path, trust_indexes=True)) as con:
        con.execute(VISITS).fetchall()
        con.execute(INVOICES_NO).fetchall()
        for pinned in (False, True):
            with closing(
                shardwise.connect(path, trust_indexes=True, scope={"by_customer": 4}, pinned=pinned)
            ) as own:
                assert own.execute("SELECT count(*) FROM invoices WHERE no = 5").fetchall() == [(0,)]
                told = str(own.execute("EXPLAIN ANALYZE SELECT kind FROM invoices WHERE no = 5").fetchall())
                assert "invoices_no is not used: the connection has a scope" in told or "lookup" not in told
                assert "Ran first" not in told


def test_the_option_is_true_or_false(tmp_path: Path) -> None:
    path = World(tmp_path, 1).make()
    with pytest.raises(ProgrammingError, match="trust_indexes"):
        shardwise.connect(path, trust_indexes="yes")
