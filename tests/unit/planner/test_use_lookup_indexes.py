"""What a lookup index's keys do to a plan, and when it may not be asked."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from shardwise.catalog import parse
from shardwise.errors import Unplannable
from shardwise.options import Options
from shardwise.plan.reasons import OfIndex
from shardwise.plan.run import Bound, Plan
from shardwise.planner import Planner
from shardwise.planner.caching.cache import PlanCache
from tests.unit.planner.trees import with_valid_indexes

SOURCES = """
CREATE CATALOG c DIALECT {dialect};
CREATE SOURCE s{{n}} FOR n IN 0-3 URL '{url}s{{n}}';
CREATE SHARDING by_k USING MOD 4 ON s{{slot}};
CREATE SHARDING by_text USING HASH(crc32) SLOTS 8 ON s{{slot // 2}};
CREATE SHARDING by_pair USING MOD 4 AS n, HASH(crc32) SLOTS 2 AS m ON s{{n}};
"""
URLS = {"duckdb": "duckdb:///", "mysql": "mysql://h/", "postgres": "postgresql://h/", "sqlite": "sqlite:///"}
TRUST = Options(trust_indexes=True, verify_passes=True)


def planner(text: str, dialect: str = "duckdb") -> Planner:
    catalog = parse(SOURCES.format(dialect=dialect, url=URLS[dialect]) + text)
    return Planner(with_valid_indexes(catalog))


def planned(of: Planner, sql: str, rows: list[tuple[Any, ...]] | None, *types: str, params: Any = ()) -> Plan:
    """The plan once the index has given these rows (None: too many)."""
    first = of.prepare(sql).plan(params, options=TRUST)
    assert first.then is not None, [note.sentence for note in first.notes]
    (key,) = first.first
    return first.then({key.name: Bound(types, rows)})


def slugs(plan: Plan) -> list[str]:
    return [note.slug for note in plan.notes]


T = "CREATE TABLE t (k INT, x BIGINT, s VARCHAR(20), d DATE) SHARD BY by_k (k);"


def test_no_key_is_no_row() -> None:
    plan = planned(planner(T + "CREATE LOOKUP INDEX i ON t (x)"), "SELECT s FROM t WHERE x = 5", [], "INT")
    assert plan.shards == ()
    assert plan.columns == (("s", "VARCHAR(20)"),)
    counted = planned(
        planner(T + "CREATE LOOKUP INDEX i ON t (x)"), "SELECT count(*) FROM t WHERE x = 5", [], "INT"
    )
    assert counted.shards == ()


def test_several_keys_and_null() -> None:
    of = planner(T + "CREATE LOOKUP INDEX i ON t (x)")
    assert planned(of, "SELECT s FROM t WHERE x = 5", [(1,), (2,), (5,)], "INT").shards == ("s1", "s2")
    plan = planned(of, "SELECT s FROM t WHERE x = 5", [(None,), (2,)], "INT")
    assert plan.shards == ("s0", "s2")
    assert "OR t.k IS NULL" in plan.fragments[0].text("s0")
    assert planned(of, "SELECT s FROM t WHERE x = 5", [(None,)], "INT").shards == ("s0",)


def test_keys_on_all_shards_are_not_sent() -> None:
    of = planner(T + "CREATE LOOKUP INDEX i ON t (x)")
    plan = planned(of, "SELECT s FROM t WHERE x = 5", [(k,) for k in range(4)], "INT")
    assert len(plan.shards) == 4
    assert " IN (" not in plan.fragments[0].sql
    assert slugs(plan) == [OfIndex.NOT_CHEAPER]


def test_too_many_keys() -> None:
    of = planner(T + "CREATE LOOKUP INDEX i ON t (x)")
    plan = planned(of, "SELECT s FROM t WHERE x = 5", None, "INT")
    assert len(plan.shards) == 4
    assert slugs(plan) == [OfIndex.KEYS_UNKNOWN]


def test_values_are_constants_of_their_types() -> None:
    of = planner(T.replace("by_k (k)", "by_text (s)") + "CREATE LOOKUP INDEX i ON t (d)")
    plan = planned(of, "SELECT x FROM t WHERE d = ?", [("a",)], "VARCHAR", params=[date(2026, 1, 1)])
    assert len(plan.shards) == 1
    assert plan.fragments[0].params["keys_1_0_0"] == "a"


@pytest.mark.parametrize("dialect", ["mysql", "postgres", "sqlite"])
def test_in_other_dialects(dialect: str) -> None:
    texts = "s VARCHAR(20) COLLATE utf8mb4_nopad_bin" if dialect == "mysql" else "s VARCHAR(20)"
    of = planner(
        f"CREATE TABLE t (k BIGINT, x BIGINT, {texts}) SHARD BY by_k (k); CREATE LOOKUP INDEX i ON t (x);"
        f"CREATE TABLE u (k BIGINT, x BIGINT, {texts}) SHARD BY by_text (s);"
        "CREATE LOOKUP INDEX l ON u (k)",
        dialect,
    )
    assert planned(of, "SELECT s FROM t WHERE x = 5", [(6,), (2,)], "BIGINT").shards == ("s2",)
    assert len(planned(of, "SELECT s FROM u WHERE k = 5", [("a",)], "VARCHAR").shards) == 1


def test_a_composite_key() -> None:
    of = planner(
        "CREATE TABLE p (a INT, b VARCHAR, x INT) SHARD BY by_pair (a, b) NAMED 'p_{n}_{m}';"
        "CREATE LOOKUP INDEX i ON p (x)"
    )
    plan = planned(of, "SELECT 1 FROM p WHERE x = 5", [(1, "u"), (2, None), (1, "u")], "INT", "VARCHAR")
    assert plan.shards == ("s1", "s2")
    text = plan.fragments[0].sql
    assert "p.a = $keys_1_1_0 AND p.b IS NULL" in text
    many = planned(of, "SELECT 1 FROM p WHERE x = 5", [(4 * n, str(n)) for n in range(200)], "INT", "VARCHAR")
    assert many.shards == ("s0",)
    assert many.fragments[0].sql.count(" OR ") == 0


@pytest.mark.parametrize("others", [0, 200])
def test_moments_of_the_hour_that_clocks_repeat_are_two_keys(others: int) -> None:
    of = planner(
        "CREATE TABLE p (a INT, b TIMESTAMPTZ, x INT) SHARD BY by_pair (a, b) NAMED 'p_{n}_{m}';"
        "CREATE LOOKUP INDEX i ON p (x)"
    )
    summer = datetime(2024, 10, 27, 2, 30, tzinfo=ZoneInfo("Europe/Berlin"))
    rows = [(1, summer), (1, summer.replace(fold=1)), *((1, datetime(2000 + y, 1, 1)) for y in range(others))]
    plan = planned(of, "SELECT 1 FROM p WHERE x = 5", rows, "INT", "TIMESTAMPTZ")
    (request,) = plan.start().ready()
    moments = [v for v in request.params.values() if isinstance(v, datetime)]
    assert {m.isoformat() for m in moments} >= {"2024-10-27T02:30:00+02:00", "2024-10-27T02:30:00+01:00"}


def test_a_key_that_is_an_expression() -> None:
    of = planner(
        "CREATE TABLE p (id BIGINT, x INT) SHARD BY by_k ((id >> 2)); CREATE LOOKUP INDEX i ON p (x)"
    )
    assert planned(of, "SELECT * FROM p WHERE x = 5", [(8,)], "BIGINT").shards == ("s2",)


KEPT = T + "CREATE TABLE m (x BIGINT, k INT) ON s0; ATTACH LOOKUP INDEX i ON t (x) USING TABLE m (x, k);"


def test_a_table_that_the_application_keeps_may_lack_a_value() -> None:
    of = planner(KEPT)
    sql = "SELECT s FROM t WHERE x = 5"
    assert planned(of, sql, [(3, 5)], "INT", "BIGINT").shards == ("s3",)
    missed = planned(of, sql, [], "INT", "BIGINT")
    assert len(missed.shards) == 4
    assert slugs(missed) == [OfIndex.MISS]
    sql = "SELECT s FROM t WHERE x IN (5, 6)"
    assert planned(of, sql, [(3, 5), (3, 6), (1, 6)], "INT", "BIGINT").shards == ("s1", "s3")
    assert len(planned(of, sql, [(3, 5), (1, 5)], "INT", "BIGINT").shards) == 4
    assert len(planned(of, "SELECT s FROM t WHERE x IN (5, 5)", [(3, 5)], "INT", "BIGINT").shards) == 4


def test_values_that_may_be_spelled_otherwise_are_not_counted() -> None:
    of = planner(
        "CREATE TABLE t (k INT, x VARCHAR COLLATE NOCASE) SHARD BY by_k (k);"
        "CREATE TABLE m (x VARCHAR COLLATE NOCASE, k INT) ON s0;"
        "ATTACH LOOKUP INDEX i ON t (x) USING TABLE m (x, k);"
    )
    plan = planned(of, "SELECT k FROM t WHERE x IN ('a', 'b')", [(1, "A"), (1, "a")], "INT", "VARCHAR")
    assert len(plan.shards) == 4
    assert planned(of, "SELECT k FROM t WHERE x = 'a'", [(1, "A")], "INT", "VARCHAR").shards == ("s1",)


@pytest.mark.parametrize(
    ("text", "dialect"),
    [
        ("CREATE TABLE m (x INT, k INT) ON s0", "duckdb"),
        ("CREATE TABLE m (x VARCHAR(20) COLLATE NOCASE, k INT) ON s0", "duckdb"),
        ("CREATE TABLE m (x VARCHAR(20), k VARCHAR(20)) ON s0", "duckdb"),
        ("CREATE TABLE m (x CHAR(20), k INT) ON s0", "postgres"),
        ("CREATE TABLE m (x VARCHAR(20), k INT) ON s0", "mysql"),
    ],
)
def test_a_kept_table_that_compares_otherwise(text: str, dialect: str) -> None:
    base = "CREATE TABLE t (k INT, x VARCHAR(20)) SHARD BY by_k (k);"
    of = planner(f"{base} {text}; ATTACH LOOKUP INDEX i ON t (x) USING TABLE m (x, k)", dialect)
    plan = of.prepare("SELECT k FROM t WHERE x = 'a'").plan(options=TRUST)
    assert plan.then is None
    assert slugs(plan) == [OfIndex.OTHER_EQUALITY]


def test_a_text_whose_collation_is_not_known() -> None:
    base = "CREATE TABLE t (k INT, x VARCHAR(20){}, f FLOAT) SHARD BY by_k (k);"
    index = "CREATE LOOKUP INDEX i ON t (x); CREATE LOOKUP INDEX j ON t (f)"
    plan = (
        planner(base.format("") + index, "mysql").prepare("SELECT k FROM t WHERE x = 'a'").plan(options=TRUST)
    )
    assert slugs(plan) == [OfIndex.OTHER_EQUALITY]
    known = planner(base.format(" COLLATE utf8mb4_general_ci") + index, "mysql")
    assert known.prepare("SELECT k FROM t WHERE x = 'a'").plan(options=TRUST).then is not None
    assert known.prepare("SELECT k FROM t WHERE f = 1.5").plan(options=TRUST).then is None


@pytest.mark.parametrize(
    "where",
    [
        "x > 5",
        "x <> 5",
        "x IS NULL",
        "x IN (5, k)",
        "x = k",
        "NOT x = 5",
        "x = 5 OR x = 6",
        "x = random()",
        "x IN (SELECT k FROM t u WHERE u.s = t.s)",
        "s = 5",
        "x IS NOT DISTINCT FROM 5",
    ],
)
def test_what_fixes_nothing(where: str) -> None:
    of = planner(T + "CREATE LOOKUP INDEX i ON t (x); CREATE LOOKUP INDEX j ON t (s)")
    plan = of.prepare(f"SELECT k FROM t WHERE {where}").plan(options=TRUST)
    assert not any(first.name.startswith("keys") for first in plan.first)


def test_rows_of_values() -> None:
    of = planner(T + "CREATE LOOKUP INDEX i ON t (s, x)")
    for where in ("(x, s) = (1, 'a')", "(x, s) IN ((1, 'a'), (2, 'b'))", "s = 'a' AND x IN (1, 2)"):
        assert planned(of, f"SELECT d FROM t WHERE {where}", [(3,)], "INT").shards == ("s3",)


def test_a_unique_index_goes_first() -> None:
    of = planner(T + "CREATE LOOKUP INDEX i ON t (x, s); CREATE UNIQUE LOOKUP INDEX j ON t (d)")
    plan = of.prepare("SELECT k FROM t WHERE x = 1 AND s = 'a' AND d = '2026-01-01'").plan(options=TRUST)
    assert [first.plan.fragments[0].sql for first in plan.first] == [
        "SELECT j.k AS key1 FROM j WHERE j.d = '2026-01-01'"
    ]


def test_it_waits_for_what_runs_first() -> None:
    of = planner(T + "CREATE LOOKUP INDEX i ON t (x)")
    plan = of.prepare("SELECT k FROM t WHERE x = (SELECT max(x) FROM t)").plan(options=TRUST)
    assert [first.name for first in plan.first] == ["subquery_1"]
    assert plan.then is not None
    after = plan.then({"subquery_1": Bound(("BIGINT",), [(9,)])})
    assert [first.name for first in after.first] == ["keys_2"]
    assert after.then is not None
    assert after.then({"keys_2": Bound(("INT",), [(6,)])}).shards == ("s2",)


def test_plans_are_kept_apart_and_keys_are_not_kept() -> None:
    of = Planner(planner(T + "CREATE LOOKUP INDEX i ON t (x)").catalog, PlanCache())
    for value in (5, 6, 5):
        plan = of.prepare(f"SELECT s FROM t WHERE x = {value}").plan(options=TRUST)
        assert plan.then is not None
        assert plan.then({"keys_1": Bound(("INT",), [(value,)])}).shards == (f"s{value % 4}",)
        assert of.prepare(f"SELECT s FROM t WHERE x = {value}").plan().then is None


def test_scatter_may_be_refused() -> None:
    of = planner(T + "CREATE LOOKUP INDEX i ON t (x)")
    refuse = Options(trust_indexes=True, scatter="refuse")
    with pytest.raises(Unplannable):
        of.prepare("SELECT s FROM t WHERE x = 5").plan(options=Options(scatter="refuse"))
    plan = of.prepare("SELECT s FROM t WHERE x = 5").plan(options=refuse)
    assert plan.then is not None
    assert plan.then({"keys_1": Bound(("INT",), [(5,)])}).shards == ("s1",)


def test_statistics_say_that_an_index_spares_nothing() -> None:
    figures = "STATISTICS t ROWS {} FROM SCAN AT '2026-12-01T00:00:00Z' (x (DISTINCT {}, NULLS 0))"
    index = "CREATE LOOKUP INDEX i ON t (x); "
    few = planner(T + index + figures.format(1000, 900)).prepare("SELECT k FROM t WHERE x = 1")
    many = planner(T + index + figures.format(1000, 5)).prepare("SELECT k FROM t WHERE x = 1")
    assert few.plan(options=TRUST).then is not None
    assert slugs(many.plan(options=TRUST)) == [OfIndex.NOT_CHEAPER]


def test_rows_without_statistics_do_not_say_that_an_index_spares_nothing() -> None:
    """`catalog import` reads how many rows there are, and of no column how many values."""
    read = "LOCK TABLE t (k INT, x BIGINT, s VARCHAR, d DATE) ROWS 160000 READ AT '2026-12-01T00:00:00Z'"
    of = planner(T + "CREATE LOOKUP INDEX i ON t (x); " + read)
    assert planned(of, "SELECT s FROM t WHERE x = 5", [(1,)], "INT").shards == ("s1",)
