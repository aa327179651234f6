"""All 22 TPC-H queries at scale 0.01 on 3 shards, in turn on 1, 2 and 7, and with every third pass off."""

from __future__ import annotations

from contextlib import closing

import pytest

from shardwise.planner import OPTIONAL
from tests.oracle.cases import Case, read
from tests.oracle.cluster import Files, Grain, sizes, turns
from tests.oracle.compare import difference
from tests.oracle.harness import Stage, report, run, run_case
from tests.oracle.tpch import world
from tests.oracle.worlds import World

FORCED = ("group_before_joins", "group_on_shards")
CASES = {case.title: case for case in read("tpch")}


@pytest.fixture(scope="session")
def tpch() -> World:
    return world(0.01)


def test_there_are_22() -> None:
    assert list(CASES) == [f"Q{n}" for n in range(1, 23)]


@pytest.mark.parametrize(
    ("query", "shards", "grain"),
    [
        (query, shards, grain)
        for number, query in enumerate(CASES)
        for shards, grain in turns(number, sizes(), 3)
    ],
)
def test_answers_as_one_database_does(
    stage: Stage, tpch: World, query: str, shards: int, grain: Grain
) -> None:
    run_case(stage, tpch, CASES[query], shards, grain)


@pytest.mark.parametrize(
    ("query", "without"),
    [(query, without) for number, query in enumerate(CASES) for without in OPTIONAL[number % 3 :: 3]],
)
def test_no_pass_is_needed_to_be_right(stage: Stage, tpch: World, query: str, without: str) -> None:
    case: Case = CASES[query]
    expected = stage.right(tpch, case.sql)
    assert not isinstance(expected, Exception)
    actual = run(stage.connection(tpch, 3, "shard", (without,)), case.sql)
    problem = difference(actual, expected, ordered=case.ordered, order_keys=case.order_keys)
    report(problem, case.sql, 3, "shard", actual, expected, f", without {without}")


@pytest.mark.parametrize("forced", FORCED)
@pytest.mark.parametrize("query", CASES)
def test_what_is_not_worth_it_is_right(stage: Stage, tpch: World, query: str, forced: str) -> None:
    case = CASES[query]
    expected = stage.right(tpch, case.sql)
    assert not isinstance(expected, Exception)
    with closing(stage.cluster(tpch, 3, "shard").connect(force=(forced,))) as connection:
        actual = run(connection, case.sql)
    problem = difference(actual, expected, ordered=case.ordered, order_keys=case.order_keys)
    report(problem, case.sql, 3, "shard", actual, expected, f", {forced} forced")


@pytest.mark.parametrize(("shards", "files"), [(3, "sqlite"), (2, "mixed")])
@pytest.mark.parametrize("query", CASES)
def test_on_files(stage: Stage, tpch: World, query: str, shards: int, files: Files) -> None:
    run_case(stage, tpch, CASES[query], shards, "shard", files)
