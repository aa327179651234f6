"""The planner as a whole: what is refused by choice, and what it cannot plan."""

from __future__ import annotations

import pytest

from shardwise.catalog import parse
from shardwise.errors import Reason, SQLSyntaxError, Unplannable
from shardwise.options import Options
from shardwise.plan.run import Bound
from shardwise.planner import Planner

CATALOG = parse("""
CREATE SOURCE s{n} FOR n IN 0-3 URL 'duckdb:///s{n}.duckdb';
CREATE SHARDING by_id USING MOD 4 ON s{slot};
CREATE TABLE t (id BIGINT PRIMARY KEY, v INTEGER) SHARD BY by_id (id);
CREATE TABLE settings (name VARCHAR, value INTEGER) ON s3;
""")
REFUSE = Options(scatter="refuse")


def test_one_shard_is_no_scatter() -> None:
    assert Planner(CATALOG).prepare("SELECT v FROM t WHERE id = 5").plan(options=REFUSE).shards == ("s1",)


@pytest.mark.parametrize("sql", ["SELECT v FROM t", "SELECT count(*) FROM t WHERE v = 1"])
def test_a_scatter_is_refused_with_the_reason(sql: str) -> None:
    with pytest.raises(
        Unplannable, match=r"4 shards, and scatter is refused: nothing compares t\.id"
    ) as caught:
        Planner(CATALOG).prepare(sql).plan(options=REFUSE)
    assert caught.value.reason is Reason.SCATTER_REFUSED


def test_whether_it_scatters_is_asked_once_the_first_subquery_is_known() -> None:
    sql = "SELECT v FROM t WHERE id = (SELECT max(value) FROM settings)"
    plan = Planner(CATALOG).prepare(sql).plan(options=REFUSE)
    assert plan.then is not None
    assert plan.then({plan.first[0].name: Bound(("INTEGER",), [(6,)])}).shards == ("s2",)


def test_a_first_subquery_that_scatters_is_refused() -> None:
    with pytest.raises(Unplannable, match="scatter is refused"):
        Planner(CATALOG).prepare("SELECT v FROM t WHERE id = (SELECT max(v) FROM t)").plan(options=REFUSE)


def test_long_chains_are_planned() -> None:
    """A chain is a tree as deep as it is long: hundreds of terms overran the stack."""
    terms = " OR ".join(f"(id = {i} AND v = {i})" for i in range(0, 2000, 4))
    assert Planner(CATALOG).prepare(f"SELECT v FROM t WHERE {terms}").plan().shards == ("s0",)
    arms = " UNION ALL ".join(f"SELECT {i} AS x" for i in range(700))
    assert Planner(CATALOG).prepare(arms).plan().shards == ()


@pytest.mark.parametrize(
    "sql", ["SELECT " + "(" * 3000 + "1" + ")" * 3000, "SELECT " + "abs(" * 400 + "v" + ")" * 400 + " FROM t"]
)
def test_what_is_nested_too_deeply_is_an_error_of_ours(sql: str) -> None:
    with pytest.raises((SQLSyntaxError, Unplannable), match="nested too deeply"):
        Planner(CATALOG).prepare(sql).plan()
