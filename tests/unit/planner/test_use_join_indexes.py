"""When a join index stands for two tables, and what is kept of their conditions."""

from __future__ import annotations

import pytest

from shardwise.catalog import parse
from shardwise.catalog.model import IndexState
from shardwise.options import Options
from shardwise.plan.reasons import OfIndex
from shardwise.plan.run import Plan
from shardwise.planner import Planner
from tests.unit.planner.trees import with_valid_indexes

SOURCES = """
CREATE CATALOG c DIALECT {dialect};
CREATE SOURCE s{{n}} FOR n IN 0-3 URL '{url}s{{n}}';
CREATE SHARDING by_k USING MOD 4 ON s{{slot}};
CREATE SHARDING by_x USING MOD 4 ON s{{slot}};
"""
URLS = {"duckdb": "duckdb:///", "mysql": "mysql://h/", "postgres": "postgresql://h/", "sqlite": "sqlite:///"}
TABLES = """
CREATE TABLE a (k INT, x INT, v INT, w INT, s VARCHAR(9){collate}) SHARD BY by_k (k);
CREATE TABLE b (k INT, x INT, v INT, w INT, s VARCHAR(9){collate}) SHARD BY by_x (x);
CREATE TABLE c (k INT, v INT) SHARD BY by_k (k);
"""
INDEX = "CREATE JOIN INDEX i ON a.v = b.v INCLUDE (a.w, b.w, a.k) SHARD BY by_k (a.k);"
TRUST = Options(trust_indexes=True, verify_passes=True)


def planner(more: str = INDEX, dialect: str = "duckdb", collate: str = "", rows: int | None = 10) -> Planner:
    text = SOURCES.format(dialect=dialect, url=URLS[dialect]) + TABLES.format(collate=collate) + more
    catalog = with_valid_indexes(parse(text))
    states = [i for i in catalog.items if isinstance(i, IndexState)]
    return Planner(catalog.with_(*(_with_rows(state, rows) for state in states)))


def _with_rows(state: IndexState, rows: int | None) -> IndexState:
    return IndexState(
        name=state.name, state=state.state, built_at=state.built_at, rows=rows, fingerprint=state.fingerprint
    )


def planned(of: Planner, sql: str) -> Plan:
    return of.prepare(sql).plan(options=TRUST)


def used(plan: Plan) -> bool:
    return "use_join_indexes" in {name for name, _ in plan.steps}


def slugs(plan: Plan) -> list[str]:
    return [note.slug for note in plan.notes]


def test_the_equality_is_dropped_and_everything_else_kept() -> None:
    sql = "SELECT a.w FROM a JOIN b ON a.v = b.v AND a.w < b.w WHERE a.w = a.w AND b.w > 3"
    where = planned(planner(), sql).fragments[0].sql.partition(" WHERE ")[2]
    assert where == "i.a_w = i.a_w AND i.b_w > 3 AND i.a_w < i.b_w"


def test_another_index_s_equality_is_kept() -> None:
    other = "CREATE JOIN INDEX j ON a.w = b.w INCLUDE (a.k, b.k) SHARD BY by_k (a.k);"
    plan = planned(planner(INDEX + other), "SELECT a.k FROM a JOIN b ON a.v = b.v AND a.w = b.w")
    assert plan.fragments[0].sql.endswith("FROM i WHERE i.a_w = i.b_w")


def test_the_index_of_fewest_pairs_is_taken() -> None:
    wide = "CREATE JOIN INDEX h ON a.v = b.v INCLUDE (a.w, b.w, b.k) SHARD BY by_k (a.k);"
    plan = planned(planner(wide + INDEX), "SELECT a.w FROM a JOIN b ON a.v = b.v")
    assert "FROM i" in plan.fragments[0].sql
    assert slugs(plan) == [OfIndex.USED]


def test_sides_may_be_written_either_way() -> None:
    for text in ("b JOIN a ON b.v = a.v", "b, a WHERE a.v = b.v", "b CROSS JOIN a WHERE (b.v) = a.v"):
        assert used(planned(planner(), f"SELECT a.w, b.w FROM {text}"))


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT a.s FROM a JOIN b ON a.v = b.v",
        "SELECT * FROM a JOIN b ON a.v = b.v",
        "SELECT a.w FROM a JOIN b ON a.v = b.v WHERE b.k = 3",
        "SELECT a.w FROM a JOIN b ON a.v = b.v ORDER BY a._shard",
        "SELECT a.w FROM a JOIN b ON a.v = b.v WHERE EXISTS (SELECT 1 FROM c WHERE c.v = b.x)",
        "SELECT a.w, (SELECT max(c.v) FROM c WHERE c.k = b.k) FROM a JOIN b ON a.v = b.v",
    ],
)
def test_what_reads_another_column(sql: str) -> None:
    alone = Options(trust_indexes=True, verify_passes=True, disable_passes=("join_back",))
    plan = planner().prepare(sql).plan(options=alone)
    assert not used(plan)
    assert OfIndex.LACKS_COLUMNS in slugs(plan)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT a.w FROM a JOIN b ON a.v = b.v OR a.w = b.w",
        "SELECT a.w FROM a JOIN b ON a.v = b.v + 1",
        "SELECT a.w FROM a JOIN b ON a.v IS NOT DISTINCT FROM b.v",
        "SELECT a.w FROM a JOIN b ON a.v <= b.v",
        "SELECT a.w FROM a JOIN b ON a.w = b.v",
        "SELECT l.w FROM a l JOIN a r ON l.v = r.v",
        "SELECT a.w FROM a JOIN (SELECT max(v) AS v FROM b GROUP BY w) z ON a.v = z.v",
        "SELECT a.w FROM a JOIN (SELECT DISTINCT v FROM b) z ON a.v = z.v",
        "SELECT a.w FROM a JOIN (SELECT v FROM b LIMIT 9) z ON a.v = z.v",
        "SELECT a.w FROM a JOIN (SELECT v + 1 AS v FROM b) z ON a.v = z.v",
        "SELECT a.w FROM a JOIN (SELECT v FROM b UNION ALL SELECT v FROM b) z ON a.v = z.v",
        "SELECT a.w FROM a, LATERAL (SELECT w FROM b WHERE b.v = a.v) z",
    ],
)
def test_what_are_other_pairs(sql: str) -> None:
    assert not used(planned(planner(), sql))


def test_tables_that_are_together_are_left() -> None:
    together = "CREATE JOIN INDEX j ON a.k = c.k INCLUDE (c.v) SHARD BY by_k (a.k);"
    assert not used(planned(planner(together), "SELECT c.v FROM a JOIN c ON a.k = c.k"))
    assert not used(planned(planner(), "SELECT a.w FROM a JOIN b ON a.v = b.v WHERE a.k = 1 AND b.x = 1"))


def test_both_tables_twice() -> None:
    sql = "SELECT p.w, s.w FROM a p JOIN b q ON p.v = q.v JOIN a r ON r.k = p.k JOIN b s ON s.v = r.v"
    plan = planned(planner(), sql)
    (fragment,) = plan.fragments
    assert "FROM i JOIN i AS i_2 ON i_2.a_k = i.a_k" in fragment.sql


def test_texts_of_an_unknown_collation() -> None:
    texts = "CREATE JOIN INDEX j ON a.s = b.s INCLUDE (a.k) SHARD BY by_k (a.k);"
    sql = "SELECT a.k FROM a JOIN b ON a.s = b.s"
    unknown = planned(planner(texts, "mysql"), sql)
    assert slugs(unknown) == [OfIndex.OTHER_EQUALITY]
    assert used(planned(planner(texts, "mysql", " COLLATE utf8mb4_general_ci"), sql))
    for dialect in ("postgres", "sqlite", "duckdb"):
        assert used(planned(planner(texts, dialect), sql))


STATISTICS = "".join(
    f"STATISTICS {table} ROWS 1000 FROM SCAN AT '2026-12-01T00:00:00Z' (v (DISTINCT 10, NULLS 0));"
    for table in "ab"
)


def test_more_pairs_than_rows_do_not_pay_unless_they_stay_on_the_shards() -> None:
    pairs = planner(INDEX + STATISTICS, rows=100_000)
    plan = planned(pairs, "SELECT a.w, b.w FROM a JOIN b ON a.v = b.v")
    assert not used(plan)
    assert slugs(plan) == [OfIndex.NOT_CHEAPER]
    assert used(planned(pairs, "SELECT a.v, count(*) FROM a JOIN b ON a.v = b.v GROUP BY a.v"))
    assert used(planned(pairs, "SELECT a.w, b.w FROM a JOIN b ON a.v = b.v ORDER BY 1, 2 LIMIT 5"))
    assert used(planned(planner(INDEX + STATISTICS, rows=900), "SELECT a.w, b.w FROM a JOIN b ON a.v = b.v"))
    assert used(planned(planner(INDEX + STATISTICS, rows=None), "SELECT a.w, b.w FROM a JOIN b ON a.v = b.v"))


def test_a_with_item_of_the_index_s_name() -> None:
    item = "WITH i AS MATERIALIZED (SELECT random() AS r, k FROM c)"
    plan = planned(planner(), f"{item} SELECT a.w FROM a JOIN b ON a.v = b.v, i, i j")
    assert not used(plan)
    assert OfIndex.NO_TABLE in slugs(plan)
