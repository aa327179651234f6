"""Plans made by hand, executed: what comes out, as tuples and as Arrow, and what was moved."""

from __future__ import annotations

import threading
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from shardwise.errors import DataError, InterfaceError
from shardwise.options import Options
from shardwise.plan.run import Bound, First, Merge
from tests.integration.executor.conftest import MakeLab
from tests.integration.executor.lab import NUMBERS, Lab, after, merged, whole

TYPES = """
    SELECT 1::TINYINT AS a, true AS b, 170141183460469231731687303715884105727::HUGEINT AS c,
      '7f8b1a3e-0000-4000-8000-000000000001'::UUID AS d, '{"x": 1}'::JSON AS e, '10110'::BIT AS f,
      '10:00:00+02'::TIMETZ AS g, TIMESTAMPTZ '2024-05-01 10:00:00+00' AS h, INTERVAL 3 MONTH AS i,
      12.50::DECIMAL(38, 10) AS j, 'm'::ENUM('s', 'm', 'l') AS k, [1, NULL]::HUGEINT[] AS l,
      {'q': 1::UINTEGER, 'r': ['x']} AS m, MAP {'k': 1.5} AS n, '\\x00\\xff'::BLOB AS o,
      DATE '0044-03-15' AS p, TIMESTAMP_NS '2024-05-01 10:00:00.123456789' AS q,
      3::UHUGEINT AS r, TIME '10:00' AS s, NULL AS t
"""


def test_partial_sums_are_merged(lab: Lab) -> None:
    fragment = lab.fragment("f1", "SELECT g, count(*) AS n, sum(id) AS s FROM t GROUP BY g")
    plan = merged(
        "SELECT g, sum(n)::BIGINT AS n, sum(s) AS s FROM f1 GROUP BY g ORDER BY g LIMIT 2", fragment
    )
    with lab.execute(plan) as result:
        assert result.fetchall() == [(0, 30, 4080), (1, 30, 4170)]
        assert result.columns == (("g", "INTEGER"), ("n", "BIGINT"), ("s", "HUGEINT"))
        assert result.stats.rows_moved == 30
        assert result.stats.rows_out == 2
        assert set(result.stats.fragments["f1"]) == {"s0", "s1", "s2"}
        assert result.stats.bytes_moved > 0


def test_one_shard_answers_directly_with_duckdbs_own_values(lab: Lab) -> None:
    with lab.execute(whole(lab.fragment("f1", TYPES, ["s1"]))) as result:
        direct = result.fetchall()
    merging = merged("SELECT * FROM f1", lab.fragment("f1", TYPES, ["s1"]))
    own = duckdb.connect()
    own.execute("SET TimeZone = 'UTC'")
    wanted = own.execute(TYPES).fetchall()
    assert direct == wanted
    assert lab.rows(merging) == wanted
    assert [list(map(type, row)) for row in direct] == [list(map(type, row)) for row in wanted]


@pytest.mark.parametrize("is_direct", [True, False])
def test_arrow_is_what_duckdb_itself_gives(lab: Lab, is_direct: bool) -> None:
    fragment = lab.fragment("f1", TYPES, ["s1"])
    plan = whole(fragment) if is_direct else merged("SELECT * FROM f1", fragment)
    with lab.execute(plan) as result:
        table = result.arrow_reader(100).read_all()
    own = duckdb.connect()
    own.execute("SET TimeZone = 'UTC'")
    wanted = own.sql(TYPES).to_arrow_table()
    assert table.schema.types == wanted.schema.types
    assert table.to_pylist() == wanted.to_pylist()


def test_names_and_types_that_are_given_win(lab: Lab) -> None:
    columns = (("count_star()", "BIGINT"), ("a", "DOUBLE"), ("a", "INTEGER"))
    plan = merged("SELECT sum(n), 1, 2 FROM f1", lab.fragment("f1", "SELECT count(*) AS n FROM t"))
    with lab.execute(plan, columns=columns) as result:
        assert result.columns == columns
        assert result.fetchall() == [(300, 1.0, 2)]
    with lab.execute(plan, columns=columns) as result:
        schema = result.arrow_reader(10).read_all().schema
    assert schema.names == ["count_star()", "a", "a"]
    assert schema.types == [pa.int64(), pa.float64(), pa.int32()]


def test_a_fragment_that_goes_to_no_shard_is_answered_on_empty_tables(lab: Lab) -> None:
    fragment = lab.fragment("f1", "SELECT count(*) AS n, max(s) AS m FROM t", [])
    assert lab.rows(merged("SELECT * FROM f1", fragment)) == [(0, None)]
    assert lab.rows(whole(fragment)) == [(0, None)]


def test_parameters_are_bound_on_shards_and_in_the_merge(lab: Lab) -> None:
    fragment = lab.fragment(
        "f1", "SELECT id FROM t WHERE id < $p1 AND s <> '$p2'", params={"p1": 7, "p3": "unused"}
    )
    plan = merged(
        "SELECT id FROM f1 WHERE id >= $p2 ORDER BY id LIMIT $p3", fragment, params={"p2": 2, "p3": 3}
    )
    assert lab.rows(plan) == [(2,), (3,), (4,)]


def test_a_stream_read_twice_is_requested_twice(lab: Lab) -> None:
    plan = merged(
        "SELECT (SELECT count(*) FROM f1), (SELECT sum(id) FROM f1)", lab.fragment("f1", "SELECT id FROM t")
    )
    with lab.execute(plan) as result:
        assert result.fetchall() == [(300, 299 * 300 // 2)]
        assert result.stats.rows_moved == 600


def test_nothing_is_asked_before_rows_are(lab: Lab) -> None:
    plan = merged("SELECT count(*) FROM f1", lab.fragment("f1", "SELECT id FROM t"))
    with lab.execute(plan) as result:
        assert lab.pool.open_count() == 0
        assert result.fetchmany(1) == [(300,)]
    assert lab.pool.open_count() == 3


def test_a_merge_without_fragments(lab: Lab) -> None:
    assert lab.rows(merged("SELECT 1 + 1, $x", params={"x": Decimal("1.50")})) == [(2, Decimal("1.50"))]


def test_subqueries_that_run_first_are_bound(lab: Lab) -> None:
    seen: list[Any] = []

    def then(bound: Any) -> Any:
        seen.append(bound)
        return whole(lab.fragment("f1", f"SELECT s FROM t WHERE id = {bound['q1'].rows[0][0]}", ["s0"]))

    firsts = [
        First(name="q1", plan=merged("SELECT max(id) AS m FROM f1", _max(lab)), is_scalar=True),
        First(name="q2", plan=merged("SELECT id FROM f1", _ids(lab)), is_scalar=False, rows_max=10),
        First(name="q3", plan=merged("SELECT id FROM f1", _ids(lab)), is_scalar=False, rows_max=9),
    ]
    with lab.execute(after(firsts, then)) as result:
        assert result.fetchall() == [("x9",)]
        assert {first.name for first in result.stats.first} == {"q1", "q2", "q3"}
    assert seen[0]["q1"] == Bound(("BIGINT",), [(27,)])
    assert len(seen[0]["q2"].rows) == 10
    assert seen[0]["q3"].rows is None


def _max(lab: Lab) -> Any:
    return lab.fragment("f1", "SELECT max(id) AS id FROM t WHERE id < 28", ["s0"])


def _ids(lab: Lab) -> Any:
    return lab.fragment("f1", "SELECT id FROM t WHERE id < 30", ["s0"])


def test_a_scalar_subquery_with_two_rows_is_duckdbs_error(lab: Lab) -> None:
    first = First(name="q", plan=merged("SELECT id FROM f1", _ids(lab)), is_scalar=True)
    with pytest.raises(DataError, match="More than one row returned by a subquery used as an expression"):
        lab.execute(after([first], lambda _: pytest.fail("the rest is not planned")))


def test_rows_are_handed_out_once(lab: Lab) -> None:
    plan = merged("SELECT id FROM f1", lab.fragment("f1", "SELECT id FROM t"))
    with lab.execute(plan) as result:
        assert len(result.fetchmany(10)) == 10
        with pytest.raises(InterfaceError, match="already handed out"):
            result.arrow_reader()
    with pytest.raises(InterfaceError, match="closed"):
        result.fetchmany(1)


def test_sources_and_merge_are_in_the_statements_time_zone(lab: Lab) -> None:
    sql = "SELECT CAST(TIMESTAMPTZ '2024-05-01 10:00:00+00' AS VARCHAR) AS z"
    options = Options(time_zone="Asia/Tokyo")
    direct = lab.rows(whole(lab.fragment("f1", sql, ["s0"])), options)
    through = lab.rows(merged(f"{sql} UNION ALL SELECT z FROM f1", lab.fragment("f1", sql, ["s0"])), options)
    assert direct == [("2024-05-01 19:00:00+09",)]
    assert through == direct * 2
    stamp = "SELECT TIMESTAMPTZ '2024-05-01 10:00:00+00' AS z"
    ((value,),) = lab.rows(whole(lab.fragment("f1", stamp, ["s0"])), options)
    assert isinstance(value, datetime)
    assert value.utcoffset().total_seconds() == 9 * 3600


@pytest.mark.slow
def test_many_shards_need_few_open_sources(make_lab: MakeLab) -> None:
    lab = make_lab(shards=16, open_max=5)
    lab.fill("CREATE TABLE t AS SELECT {shard}::BIGINT AS id, 1 AS g, 'x' AS s, true AS b")
    fragment = lab.fragment("f1", "SELECT id FROM t")
    before = set(threading.enumerate())
    assert lab.rows(merged("SELECT count(*), sum(id) FROM f1", fragment), Options(requests_max=3)) == [
        (16, 120)
    ]
    assert lab.pool.open_count() <= 5
    # Those that read, and as many that looked for what a limit allows now.
    fetching = {t for t in threading.enumerate() if t.name.startswith("shardwise-fetch")} - before
    assert len(fetching) <= 6


def test_statements_run_side_by_side(lab: Lab) -> None:
    plan = merged(
        "SELECT count(*) FROM f1 JOIN f2 USING (id)",
        *(lab.fragment(f, "SELECT id FROM t") for f in ("f1", "f2")),
    )
    found: list[Any] = []
    threads = [threading.Thread(target=lambda: found.append(lab.rows(plan))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [[(300,)]] * 8


def test_what_has_begun_is_asked_once(lab: Lab) -> None:
    twice = merged(
        "SELECT (SELECT count(*) FROM f1), (SELECT sum(id) FROM f1)", lab.fragment("f1", "SELECT id FROM t")
    )
    once = merged("SELECT count(*) FROM f1", lab.fragment("f1", "SELECT id FROM t"))
    for plan, moved in ((once, 300), (twice, 600)):
        with lab.execute(plan) as result:
            result.begin()
            assert lab.pool.open_count() == 3
            assert result.fetchall()[0][0] == 300
            assert result.stats.rows_moved == moved
        with lab.execute(plan) as result:
            result.begin()
            assert result.arrow_reader().read_all().num_rows == 1
            assert result.stats.rows_moved == moved
        with lab.execute(plan) as result:
            result.begin()


def test_streams_that_are_joined_are_stored_when_it_begins(lab: Lab) -> None:
    fragments = [lab.fragment(f, "SELECT id FROM t") for f in ("f1", "f2")]
    merge = Merge(
        sql="SELECT count(*) FROM f1 JOIN f2 USING (id)",
        params={},
        inputs=("f1", "f2"),
        stored=("f1", "f2"),
    )
    plan = replace(merged("", *fragments), merge=merge)
    for road in ("tuples", "arrow"):
        with lab.execute(plan) as result:
            result.begin()
            assert result.stats.rows_moved == 600
            found = result.fetchall() if road == "tuples" else result.arrow_reader().read_all()[0].to_pylist()
            assert found in ([(300,)], [300])
            assert result.stats.rows_moved == 600


def test_one_shard_is_asked_when_rows_are_though_it_has_begun(lab: Lab) -> None:
    plan = whole(lab.fragment("f1", "SELECT id FROM t ORDER BY id LIMIT 2", ["s1"]))
    for road in ("tuples", "arrow"):
        with lab.execute(plan) as result:
            result.begin()
            assert result.stats.rows_moved == 0
            found = result.fetchall() if road == "tuples" else result.arrow_reader().read_all()[0].to_pylist()
            assert found in ([(1,), (4,)], [1, 4])


@pytest.mark.slow
def test_beginning_does_not_wait_for_what_others_hold(make_lab: MakeLab) -> None:
    """Whoever holds all that the limits allow may be waiting for this very thread."""
    lab = make_lab(threads=4)
    lab.numbers(10)
    big = "SELECT range AS id, repeat('x', 100) AS s FROM range(3000000)"
    results = [
        lab.execute(
            merged(
                "SELECT id FROM f1 UNION ALL SELECT id FROM f2",
                *(lab.fragment(f, big) for f in ("f1", "f2")),
            )
        )
        for _ in range(4)
    ]
    for result in results:
        result.begin()
    for result in reversed(results):
        assert len(result.fetchmany(100)) == 100
    for result in results:
        result.close()


def test_a_limit_below_a_join_keeps_its_rows(lab: Lab) -> None:
    """DuckDB 1.5, left to itself, gives (1,) more often than not: see `duck.WRONG_ON_V1`."""
    join = "SELECT a.k FROM {} a JOIN (SELECT max(k) AS k FROM (VALUES (1)) v(k)) b ON a.k = b.k"
    lab.fill("CREATE TABLE u AS SELECT unnest([1, 2, 3, 4]) AS k", shards=["s0"])
    lab.declare(f"ATTACH TABLE {NUMBERS} SHARD BY by_id (id);", "ATTACH TABLE u (k INTEGER) ON s0;")
    on_shard = join.format("(SELECT k FROM u ORDER BY k DESC LIMIT 3)")
    plans = [
        whole(lab.fragment("f1", on_shard, ["s0"])),
        merged(
            join.format("(SELECT k FROM f1 ORDER BY k DESC LIMIT 3)"),
            lab.fragment("f1", "SELECT k FROM u", ["s0"]),
        ),
    ]
    for plan in plans * 30:
        assert lab.rows(plan) == []
