"""When a join index that lacks columns narrows its tables by its keys, and by which."""

from __future__ import annotations

from dataclasses import replace

import pytest

from shardwise.options import Options
from shardwise.plan.reasons import OfIndex
from shardwise.plan.run import Bound, Plan
from shardwise.planner import Planner
from tests.unit.planner.test_use_join_indexes import INDEX, planner, slugs

TRUST = Options(trust_indexes=True, verify_passes=True)
FORCED = replace(TRUST, force=("join_back",))
SQL = "SELECT a.s, b.x FROM a JOIN b ON a.v = b.v WHERE a.w = 3 AND b.s = 'u'"
MEASURED = "".join(
    f"STATISTICS {table} ROWS {rows} FROM SCAN AT '2026-12-01T00:00:00Z' "
    f"(v (DISTINCT {rows // 10}, NULLS 0), w (DISTINCT {w}, NULLS 0), s (DISTINCT 2, NULLS 0));"
    for table, rows, w in (("a", 100_000, 1_000), ("b", 100_000, 1_000))
)


def planned(of: Planner, sql: str, options: Options = FORCED) -> Plan:
    return of.prepare(sql).plan(options=options)


def used(plan: Plan) -> bool:
    return "join_back" in {name for name, _ in plan.steps}


def keys_of(plan: Plan) -> list[str]:
    return [fragment.sql for first in plan.first for fragment in first.plan.fragments]


def test_both_tables_are_narrowed_by_the_index_under_what_it_knows() -> None:
    plan = planned(planner(), SQL)
    assert keys_of(plan) == ["SELECT DISTINCT i.a_v AS key FROM i WHERE i.a_w = 3"]
    assert [f.sql for f in plan.fragments] == [
        "SELECT a.v, a.s FROM a WHERE a.w = 3 AND a.v IN ($keys_1)",
        "SELECT b.x, b.v FROM b WHERE b.s = 'u' AND b.v IN ($keys_1)",
    ]
    assert slugs(plan) == [OfIndex.USED]
    assert plan.notes[0].sentence.endswith("; joined back by a.v, b.v")


def test_its_keys_are_asked_and_none_means_no_row() -> None:
    plan = planned(planner(), SQL)
    (first,) = plan.first
    then = plan.then({first.name: Bound(("INTEGER",), [(5,), (7,)])})
    assert used(then)
    assert not then.first
    assert all("UNNEST" in f.sql for f in then.fragments)
    none = plan.then({first.name: Bound(("INTEGER",), [])})
    assert all("FALSE" in f.sql for f in none.fragments)


def test_too_many_keys_narrow_nothing() -> None:
    plan = planned(planner(), SQL)
    then = plan.then({plan.first[0].name: Bound(("INTEGER",), None)})
    assert not used(then)
    assert slugs(then) == [OfIndex.LACKS_COLUMNS]


def test_a_null_among_keys_that_are_not_the_join_s_narrows_nothing() -> None:
    of = planner("CREATE TABLE d (k INT NOT NULL, v INT, s VARCHAR) SHARD BY by_x (k);" + _d_index())
    plan = planned(of, "SELECT a.s, d.s FROM a JOIN d ON a.v = d.v WHERE a.w = 1")
    by_key = {f.sql: first.name for first in plan.first for f in first.plan.fragments}
    (name,) = (n for sql, n in by_key.items() if "d_k" in sql)
    values = {n: Bound(("INTEGER",), [(1,), (2,)]) for n in by_key.values()}
    then = plan.then({**values, name: Bound(("INTEGER",), [(1,), (None,)])})
    fragments = [*then.fragments, *(f for first in then.first for f in first.plan.fragments)]
    assert not any("d.k" in f.sql for f in fragments)
    assert any("a.v IN (SELECT UNNEST(" in f.sql for f in fragments)
    assert then.notes[0].sentence.endswith("; joined back by a.v")


def _d_index() -> str:
    return "CREATE JOIN INDEX j ON a.v = d.v INCLUDE (a.w, d.k) SHARD BY by_k (a.k);"


def test_a_shard_key_that_is_never_null_goes_each_to_its_own_shard() -> None:
    of = planner("CREATE TABLE d (k INT NOT NULL, v INT, s VARCHAR) SHARD BY by_x (k);" + _d_index())
    plan = planned(of, "SELECT a.s, d.s FROM a JOIN d ON a.v = d.v WHERE a.w = 1")
    names = {f.sql: first.name for first in plan.first for f in first.plan.fragments}
    assert sorted(names) == [
        "SELECT DISTINCT j.a_v AS key FROM j WHERE j.a_w = 1",
        "SELECT DISTINCT j.d_k AS key FROM j WHERE j.a_w = 1",
    ]
    then = plan.then({name: Bound(("INTEGER",), [(5,), (9,)]) for name in names.values()})
    (of_d,) = (f for f in then.fragments if "FROM d " in f.sql)
    assert of_d.route.shards == ("s1",)


def test_a_column_that_may_be_null_gives_no_keys() -> None:
    of = planner("CREATE JOIN INDEX i ON a.v = b.v INCLUDE (a.k, b.k) SHARD BY by_k (a.k);")
    assert keys_of(planned(of, SQL)) == ["SELECT DISTINCT i.a_v AS key FROM i"]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT a.s FROM a LEFT JOIN b ON a.v = b.v",
        "SELECT a.s, b.s FROM a FULL JOIN b ON a.v = b.v",
        "SELECT a.s FROM a SEMI JOIN b ON a.v = b.v",
        "SELECT a.s FROM a ANTI JOIN b ON a.v = b.v",
        "SELECT a.s FROM a JOIN b ON a.w = b.v",
        "SELECT a.s FROM a JOIN b ON a.v = b.v + 0",
        "SELECT a.s FROM a JOIN b ON a.v IS NOT DISTINCT FROM b.v",
        "SELECT a.s FROM a JOIN (SELECT DISTINCT v, s FROM b) b ON a.v = b.v",
        "SELECT a.s FROM a JOIN b ON a.v = b.v WHERE a.k = 1 AND b.x = 1",
    ],
)
def test_other_joins_are_left(sql: str) -> None:
    assert not used(planned(planner(), sql))


@pytest.mark.parametrize("test", ["random() > a.w", "1 / a.w > b.w"])
def test_what_may_fail_or_is_volatile_is_not_asked_of_the_index(test: str) -> None:
    plan = planned(planner(), f"SELECT a.s FROM a JOIN b ON a.v = b.v WHERE {test}")
    assert keys_of(plan) == ["SELECT DISTINCT i.a_v AS key FROM i"]


def test_texts_give_keys_where_a_list_compares_as_the_columns_do() -> None:
    texts = "CREATE JOIN INDEX j ON a.s = b.s INCLUDE (a.w) SHARD BY by_k (a.k);"
    sql = "SELECT a.x, b.x FROM a JOIN b ON a.s = b.s WHERE a.w = 1"
    assert used(planned(planner(texts), sql))
    assert not used(planned(planner(texts, collate=" COLLATE NOCASE"), sql))
    assert used(planned(planner(texts, "mysql", " COLLATE utf8mb4_general_ci"), sql))
    assert not used(planned(planner(texts, "mysql", " COLLATE cp932_japanese_ci"), sql))


@pytest.mark.parametrize("dialect", ["mysql", "postgres", "sqlite"])
def test_other_dialects(dialect: str) -> None:
    plan = planned(planner(INDEX, dialect), "SELECT a.s, b.x FROM a JOIN b ON a.v = b.v WHERE a.w = 3")
    assert used(plan)


def test_only_if_less_moves_unless_forced() -> None:
    cheap = planner(INDEX + MEASURED, rows=5_000)
    assert used(planned(cheap, SQL, TRUST))
    # An index of all rows, and nothing that it could be asked: gathering moves no more than that.
    dear = planner(INDEX + MEASURED, rows=1_000_000)
    sql = "SELECT a.s, b.x FROM a JOIN b ON a.v = b.v"
    plan = planned(dear, sql, TRUST)
    assert not used(plan)
    assert slugs(plan) == [OfIndex.LACKS_COLUMNS]
    assert used(planned(dear, sql, FORCED))


def test_switched_off_or_not_trusted() -> None:
    off = replace(FORCED, disable_passes=("join_back",))
    assert slugs(planned(planner(), SQL, off)) == [OfIndex.LACKS_COLUMNS]
    assert slugs(planned(planner(), SQL, replace(FORCED, trust_indexes=False))) == [OfIndex.NOT_TRUSTED]
