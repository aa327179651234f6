"""The Run protocol, step by step and without I/O."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import NamedTuple

import pytest

from shardwise.catalog import parse
from shardwise.errors import InternalError, ProgrammingError
from shardwise.plan.run import Bound, Fragment, Plan, Progress, Run
from shardwise.planner import Planner

CATALOG = """
CREATE CATALOG shop DIALECT duckdb;
CREATE SOURCE s{n} FOR n IN 0-3 URL 'duckdb:///s{n}.duckdb';
CREATE SHARDING by_id USING MOD 4 ON s{slot};
CREATE TABLE users (id BIGINT, name VARCHAR, age INTEGER) SHARD BY by_id (id);
CREATE TABLE orders (id BIGINT, user_id BIGINT, total BIGINT) SHARD BY by_id (user_id);
"""
PLANNER = Planner(parse(CATALOG))


class Rows(NamedTuple):
    """What `feed` counts of a batch."""

    num_rows: int
    nbytes: int


def planned(sql: str, params: object = None) -> Plan:
    return PLANNER.prepare(sql).plan(params)  # type: ignore[arg-type]


def started(sql: str) -> Run:
    return planned(sql).start()


def counting(plan: Plan) -> tuple[Plan, list[str]]:
    """The plan, and the shards whose texts were asked for, as they are asked for."""
    asked: list[str] = []

    def spied(fragment: Fragment) -> Fragment:
        def text(shard: str) -> str:
            asked.append(shard)
            return fragment.text(shard)

        return replace(fragment, make_text=lambda: text)

    return replace(plan, fragments=tuple(spied(f) for f in plan.fragments)), asked


# Requests


def test_requests_are_made_one_by_one() -> None:
    plan, asked = counting(planned("SELECT name FROM users"))
    ready = plan.start().ready()
    assert asked == []
    assert next(ready).shard == "s0"
    assert asked == ["s0"]
    assert [r.shard for r in ready] == ["s1", "s2", "s3"]


def test_ten_thousand_shards_cost_one_request() -> None:
    catalog = CATALOG.replace("0-3", "0-9999").replace("MOD 4", "MOD 10000")
    plan, asked = counting(
        Planner(parse(catalog)).prepare("SELECT name, count(*) FROM users GROUP BY name").plan()
    )
    run = plan.start()
    requests = list(islice(run.ready(), 2))
    assert [r.source for r in requests] == ["s0", "s1"]
    assert asked == ["s0", "s1"]
    assert run.progress["f1"].requests == 2
    assert len(plan.shards) == 10_000


def test_a_request_says_all_there_is_to_send() -> None:
    (request,) = started("SELECT name FROM users WHERE id = 5").ready()
    assert (request.fragment, request.shard, request.source) == ("f1", "s1", "s1")
    assert request.sql.startswith("SELECT")
    assert request.params == {}
    (request,) = planned("SELECT name FROM users WHERE id = ?", [6]).start().ready()
    assert (request.shard, request.params) == ("s2", {"p1": 6})
    assert "$p1" in request.sql


def test_one_fragment_can_be_asked_for_alone() -> None:
    run = started("SELECT u.name FROM users u JOIN orders o ON u.age = o.total")
    assert run.merge is not None
    assert run.merge.inputs == ("f1", "f2")
    assert {r.fragment for r in run.ready("f2")} == {"f2"}
    assert run.progress == {"f2": Progress(requests=4)}
    assert list(run.ready("f9")) == []


def test_a_stream_that_is_read_again_has_new_ids() -> None:
    run = started("SELECT name FROM users")
    one, two = list(run.ready("f1")), list(run.ready("f1"))
    assert [r.sql for r in one] == [r.sql for r in two]
    assert len({r.id for r in one + two}) == 8
    assert run.progress["f1"].requests == 8


def test_a_plan_may_be_started_any_number_of_times() -> None:
    plan = planned("SELECT name FROM users")
    one, two = plan.start(), plan.start()
    for request in one.ready():
        one.feed(request.id, Rows(3, 30))
    assert one.rows_moved == 12
    assert two.rows_moved == 0
    assert two.progress == {}


# What comes back


def test_progress_counts() -> None:
    run = started("SELECT name FROM users")
    first, second, *_ = run.ready()
    run.feed(first.id, Rows(10, 100))
    run.feed(first.id, Rows(5, 50))
    run.feed(second.id, Rows(1, 7))
    run.finish(first.id)
    assert run.progress["f1"] == Progress(requests=4, finished=1, rows=16, bytes=157)
    assert (run.rows_moved, run.bytes_moved) == (16, 157)


def test_a_finished_request_is_no_longer_fed() -> None:
    run = started("SELECT name FROM users")
    request = next(run.ready())
    run.finish(request.id)
    with pytest.raises(KeyError):
        run.feed(request.id, Rows(1, 1))
    with pytest.raises(KeyError):
        run.finish(request.id)


def test_the_first_failure_is_the_runs() -> None:
    run = started("SELECT name FROM users")
    one, two, *_ = run.ready()
    assert run.error is None
    lost, later = ConnectionError("lost"), TimeoutError("later")
    run.fail(two.id, lost)
    run.fail(one.id, later)
    assert run.error is lost
    assert run.progress["f1"].finished == 0


# Subqueries that run first

EARLY = "SELECT name FROM users WHERE id = (SELECT max(user_id) FROM orders)"


def test_nothing_is_ready_before_the_subqueries_have_run() -> None:
    run = started(EARLY)
    (early,) = run.first
    assert early.is_scalar
    assert not run.plan.is_single_shard
    with pytest.raises(ProgrammingError, match="not bound yet"):
        next(run.ready())


def test_binding_makes_the_plan_of_the_rest_and_prunes_it() -> None:
    run = started(EARLY)
    (early,) = run.first
    assert early.plan.shards == ("s0", "s1", "s2", "s3")
    run.bind(early.name, Bound(("BIGINT",), [(6,)]))
    assert run.first == ()
    (request,) = run.ready()
    assert request.shard == "s2"
    assert request.params == {early.name: 6}
    assert run.merge is None


@pytest.mark.parametrize(
    ("rows", "shards"),
    [([], ()), ([(1,), (5,)], ("s1",)), ([(1,), (2,)], ("s1", "s2"))],
)
def test_rows_of_an_in_subquery_prune(rows: list[tuple[int]], shards: tuple[str, ...]) -> None:
    run = started("SELECT name FROM users WHERE id IN (SELECT total FROM orders)")
    (early,) = run.first
    assert not early.is_scalar
    run.bind(early.name, Bound(("BIGINT",), rows))
    asked = tuple(dict.fromkeys(r.shard for r in run.ready()))
    assert asked == shards


def test_too_many_rows_are_not_sent_as_keys() -> None:
    run = started("SELECT name FROM users WHERE id IN (SELECT total FROM orders)")
    (early,) = run.first
    assert early.rows_max is not None
    run.bind(early.name, Bound(("BIGINT",), None))
    assert run.first == ()
    assert run.merge is not None
    assert run.merge.inputs == ("f1", "f2")


def test_several_subqueries_are_bound_one_after_the_other() -> None:
    run = started(
        "SELECT name FROM users WHERE id = (SELECT max(user_id) FROM orders)"
        " AND age > (SELECT avg(age) FROM users)"
    )
    one, two = run.first
    before = run.plan
    run.bind(two.name, Bound(("DOUBLE",), [(30.5,)]))
    assert run.first == (one,)
    assert run.plan is before
    run.bind(one.name, Bound(("BIGINT",), [(3,)]))
    (request,) = run.ready()
    assert request.shard == "s3"
    assert set(request.params.values()) == {3, 30.5}


def test_a_plan_that_waits_for_nothing_cannot_be_bound() -> None:
    run = started("SELECT name FROM users")
    with pytest.raises(InternalError, match="continuation"):
        run.bind("subquery_1", Bound(("BIGINT",), []))


def test_a_started_plan_is_not_changed_by_its_run() -> None:
    plan = planned(EARLY)
    run = plan.start()
    run.bind(run.first[0].name, Bound(("BIGINT",), [(6,)]))
    assert run.plan is not plan
    assert plan.start().first == plan.first


# The plan's own words


def test_single_shard() -> None:
    assert planned("SELECT * FROM users WHERE id = 3").is_single_shard
    assert planned("SELECT count(*) FROM users WHERE id = 3").is_single_shard
    assert not planned("SELECT * FROM users").is_single_shard
    assert not planned("SELECT 1").is_single_shard  # no shard at all: the merge answers


def test_columns_and_version() -> None:
    plan = planned("SELECT id, name AS n, age + 1 FROM users")
    assert plan.columns[:2] == (("id", "BIGINT"), ("n", "VARCHAR"))
    assert plan.columns[2][1] is None
    assert plan.catalog_version == PLANNER.catalog.version
