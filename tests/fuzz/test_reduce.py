"""That a planted fault is found, told apart from others, and made small within bounded time."""

from __future__ import annotations

import time
from random import Random

import pytest

import shardwise.planner.planner
from shardwise.plan.nodes import Join, Node
from shardwise.plan.tree import rewrite
from shardwise.planner.pass_context import PlanContext
from shardwise.planner.passes import PASSES
from tests.fuzz.oracles import Variant
from tests.fuzz.reduce import smaller
from tests.fuzz.run import Fuzzer
from tests.fuzz.schema import Sharding, Table, World
from tests.fuzz.statements import Statements
from tests.fuzz.tlp import left_join


def forget_unmatched(plan: Node, ctx: PlanContext) -> Node:
    """A pass that is wrong: it takes a left join for an inner one."""

    def change(node: Node) -> Node:
        return node.but(kind="inner") if isinstance(node, Join) and node.kind == "left" else node

    return rewrite(plan, change)


@pytest.fixture
def is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shardwise.planner.planner, "PASSES", (forget_unmatched, *PASSES))


@pytest.mark.slow
@pytest.mark.usefixtures("is_broken")
def test_a_broken_pass_is_found_and_reduced() -> None:
    fuzzer = Fuzzer(reduce_s=20, failures_max=1)
    began = time.monotonic()
    fuzzer.run(9, ("duckdb",), seconds=60)
    assert time.monotonic() - began < 120
    (found,) = fuzzer.failures
    assert "LEFT JOIN" in found
    assert len(found.splitlines()) <= 10, found
    assert len(found.splitlines()[-1]) < 200, found


@pytest.mark.usefixtures("is_broken")
def test_the_partition_of_a_left_join_needs_no_other_database() -> None:
    world = World(
        2,
        (Sharding("h0", "MOD 2"),),
        (
            Table("t0", "k BIGINT, a BIGINT", "SHARD BY h0 (k)", rows=((1, 1), (2, 2), (3, None))),
            Table("t1", "k BIGINT, b BIGINT", "SHARD BY h0 (k)", rows=((1, 5), (7, 8))),
        ),
    )
    fuzzer = Fuzzer()
    said = [fuzzer.alone(world, left_join(Statements(Random(seed), world)), Variant()) for seed in range(8)]
    assert any(said)


def test_a_limit_keeps_its_order() -> None:
    sql = "SELECT * FROM (SELECT q.a AS c, q.b AS d FROM t0 AS q WHERE q.a > 1) AS z ORDER BY 1, 2 LIMIT 3"
    made = smaller(sql, "duckdb")
    assert "SELECT * FROM (SELECT q.a AS c FROM t0 AS q WHERE q.a > 1) AS z ORDER BY 1 LIMIT 3" in made
    assert "SELECT q.a AS c, q.b AS d FROM t0 AS q WHERE q.a > 1 ORDER BY 1, 2 LIMIT 3" in made
    assert "SELECT * FROM (SELECT q.a AS c, q.b AS d FROM t0 AS q) AS z ORDER BY 1, 2 LIMIT 3" in made
    assert all("ORDER BY" in text for text in made if "LIMIT" in text)
