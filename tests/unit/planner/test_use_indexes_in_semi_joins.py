"""When a join index answers EXISTS, IN and semi-joins, beside the outer table or alone, and why not."""

from __future__ import annotations

import re

import pytest

from shardwise.catalog import parse
from shardwise.catalog.model import IndexState
from shardwise.options import Options
from shardwise.plan.reasons import OfIndex
from shardwise.plan.run import Plan
from shardwise.planner import Planner
from tests.unit.planner.trees import with_valid_indexes

CATALOG = """
CREATE CATALOG c DIALECT {dialect};
CREATE SOURCE s{{n}} FOR n IN 0-3 URL '{url}s{{n}}';
CREATE SHARDING by_k USING MOD 4 ON s{{slot}};
CREATE SHARDING by_x USING MOD 4 ON s{{slot}};
CREATE TABLE a (k INT{key}, x INT, v INT, s VARCHAR(9){collate}, j JSON) SHARD BY by_k (k);
CREATE TABLE b (k INT, x INT, v INT, s VARCHAR(9){collate}) SHARD BY by_x (x);
CREATE TABLE c (k INT, v INT) SHARD BY by_k (k);
"""
URLS = {"duckdb": "duckdb:///", "mysql": "mysql://h/", "postgres": "postgresql://h/", "sqlite": "sqlite:///"}
OF_A = "CREATE JOIN INDEX i ON a.v = b.v INCLUDE (a.x, b.x) SHARD BY by_k (a.k);"
OF_B = "CREATE JOIN INDEX i ON a.v = b.v INCLUDE (a.k, a.x, b.s) SHARD BY by_x (b.x);"
EXISTS = "SELECT a.s FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.v = a.v)"
COVERED = "SELECT a.x FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.v = a.v)"
TRUST = Options(trust_indexes=True, verify_passes=True, disable_passes=("join_back",))


def planner(
    more: str, *, key: str = " PRIMARY KEY", dialect: str = "duckdb", collate: str = "", rows: int = 10
) -> Planner:
    text = CATALOG.format(dialect=dialect, url=URLS[dialect], key=key, collate=collate)
    catalog = with_valid_indexes(parse(text + more))
    states = [i for i in catalog.items if isinstance(i, IndexState)]
    return Planner(
        catalog.with_(
            *(
                IndexState(
                    name=s.name, state=s.state, built_at=s.built_at, rows=rows, fingerprint=s.fingerprint
                )
                for s in states
            )
        )
    )


def planned(of: Planner, sql: str) -> Plan:
    return of.prepare(sql).plan(options=TRUST)


def sent(of: Planner, sql: str) -> list[str]:
    return [fragment.sql for fragment in planned(of, sql).fragments]


def slugs(of: Planner, sql: str) -> list[str]:
    return [note.slug for note in planned(of, sql).notes]


def test_beside_the_outer_table_by_its_shard_key() -> None:
    assert sent(planner(OF_A), EXISTS) == ["SELECT a.s FROM a SEMI JOIN i ON i.a_v = a.v AND a.k = i.a_k"]
    (with_nulls,) = sent(planner(OF_A, key=""), EXISTS)
    assert with_nulls.endswith("a.k IS NOT DISTINCT FROM i.a_k")


def test_alone_by_a_key_of_the_outer_table() -> None:
    assert sent(planner(OF_B), COVERED) == ["SELECT DISTINCT i.a_x AS x, i.a_k AS k FROM i"]
    assert slugs(planner(OF_B), COVERED) == [OfIndex.USED]


def test_as_low_as_it_may_stand() -> None:
    sql = "SELECT a.s FROM c JOIN a ON a.x = c.v WHERE a.v IN (SELECT v FROM b)"
    assert "SELECT a.x, a.s FROM a SEMI JOIN i ON a.v = i.a_v AND a.k = i.a_k" in sent(planner(OF_A), sql)


@pytest.mark.parametrize("dialect", list(URLS))
def test_in_every_dialect(dialect: str) -> None:
    (text,) = sent(planner(OF_A, dialect=dialect), EXISTS.replace("a.s", "a.x"))
    assert re.search(r"\bi\b", text)
    assert not re.search(r"\bb\b", text)


@pytest.mark.parametrize(
    ("index", "sql", "key", "why"),
    [
        (OF_B, EXISTS, " PRIMARY KEY", OfIndex.LACKS_COLUMNS),
        (OF_A, EXISTS[:-1] + " AND b.s = 'x')", " PRIMARY KEY", OfIndex.LACKS_COLUMNS),
        (OF_B, COVERED, "", OfIndex.NO_KEY),
        (OF_B, COVERED, " UNIQUE", OfIndex.NO_KEY),
        (OF_B.replace("a.x", "a.x, a.j"), COVERED.replace("a.x", "a.j"), " PRIMARY KEY", OfIndex.NO_KEY),
        (OF_A, EXISTS.replace("WHERE EX", "WHERE NOT EX"), " PRIMARY KEY", OfIndex.JOIN_KIND),
        (OF_A, "SELECT a.s FROM a ANTI JOIN b ON b.v = a.v", " PRIMARY KEY", OfIndex.JOIN_KIND),
        (OF_A, "SELECT a.s FROM a LEFT JOIN b ON b.v = a.v", " PRIMARY KEY", OfIndex.JOIN_KIND),
    ],
)
def test_why_not(index: str, sql: str, key: str, why: OfIndex) -> None:
    assert slugs(planner(index, key=key), sql) == [why]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT s FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.v > a.v)",
        "SELECT s FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.v = a.v + 1)",
        "SELECT s FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.x = a.x)",
        "SELECT s FROM a WHERE EXISTS (SELECT max(v) FROM b WHERE b.v = a.v)",
        "SELECT s FROM a WHERE v IN (SELECT v FROM b LIMIT 3)",
        "SELECT s FROM a WHERE v NOT IN (SELECT v FROM b)",
        "SELECT s, v IN (SELECT v FROM b) FROM a",
        "SELECT s FROM a SEMI JOIN (SELECT v FROM b WHERE random() < 0.5) z ON a.v = z.v",
        "SELECT s FROM a SEMI JOIN b ON a.v = b.v AND random() < 0.5",
        "SELECT s FROM (SELECT v, s, row_number() OVER (ORDER BY v) AS n FROM a) z SEMI JOIN b ON z.v = b.v",
    ],
)
def test_what_is_another_question(sql: str) -> None:
    assert OfIndex.USED not in slugs(planner(OF_A), sql)


def test_texts_of_an_unknown_collation() -> None:
    index = "CREATE JOIN INDEX i ON a.v = b.v INCLUDE (a.x, b.s) SHARD BY by_k (a.k);"
    sql = EXISTS.replace("a.s", "a.x")[:-1] + " AND b.s = 'x')"
    assert slugs(planner(index, dialect="mysql"), sql) == [OfIndex.OTHER_EQUALITY]
    assert slugs(planner(index, dialect="mysql", collate=CI), sql) == [OfIndex.USED]


def test_texts_that_a_collation_compares() -> None:
    index = "CREATE JOIN INDEX i ON a.s = b.s SHARD BY by_k (a.k);"
    for sql in ("a.s IN (SELECT s FROM b)", "EXISTS (SELECT 1 FROM b WHERE b.s = a.s)"):
        statement = f"SELECT a.x FROM a WHERE {sql}"
        assert slugs(planner(index, dialect="mysql", collate=CI), statement) == [OfIndex.USED]


CI = " COLLATE utf8mb4_general_ci"
STATISTICS = "".join(
    f"STATISTICS {table} ROWS 1000 FROM SCAN AT '2026-12-01T00:00:00Z' (v (DISTINCT 10, NULLS 0));"
    for table in "ab"
)


def test_alone_only_if_it_has_less_to_move() -> None:
    assert slugs(planner(OF_B + STATISTICS, rows=100_000), COVERED) == [OfIndex.NOT_CHEAPER]
    assert slugs(planner(OF_B + STATISTICS, rows=300), COVERED) == [OfIndex.USED]
    assert slugs(planner(OF_A + STATISTICS, rows=100_000), COVERED) == [OfIndex.USED]  # beside: its own rows


def test_what_a_derived_table_computes_is_computed_below_an_outer_join() -> None:
    inner = "SELECT k, COALESCE(x, 7) AS y, v FROM a"
    for join in ("SEMI JOIN", "JOIN"):
        rows = f"SELECT q.* FROM ({inner}) q {join} b ON q.v = b.v"
        sql = f"SELECT c.v, z.y FROM c LEFT JOIN ({rows}) z USING (k)"
        (text,) = sent(planner(OF_B.replace("by_x (b.x)", "by_k (a.k)")), sql)
        where = text.index("LEFT JOIN")
        assert "COALESCE" in text[where:]
        assert "COALESCE" not in text[:where]
