"""Statements that trust lookup and join indexes have one database's answer, on all sizes of cluster."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest

from shardwise.planner import OPTIONAL
from tests.oracle.cases import Case, read
from tests.oracle.cluster import Grain, sizes, turns
from tests.oracle.compare import difference
from tests.oracle.generator import statement
from tests.oracle.harness import report, run, run_case
from tests.oracle.indexed import IndexedStage, explained
from tests.oracle.worlds import LETTERS, SHOP

WORLDS = {world.name: world for world in (LETTERS, SHOP)}
FILES = ("joins", "subqueries", "aggregates", "queries", "forty", "regressions", "duckdb", "parameters")
CASES = [case for name in FILES for case in read(name) if case.world in WORLDS and not case.refused]
COUNT = int(os.environ.get("SHARDWISE_FUZZ", "150"))
FIRST = int(os.environ.get("SHARDWISE_FUZZ_SEED", "41000"))


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[IndexedStage]:
    stage = IndexedStage(tmp_path_factory.mktemp("indexed"))
    yield stage
    stage.close()


def in_turn() -> list[Any]:
    return [
        pytest.param(
            case, *size, marks=[pytest.mark.slow] if number else [], id=f"{case.id}-{size[0]}-{size[1]}"
        )
        for at, case in enumerate(CASES)
        for number, size in enumerate(turns(at, sizes(), 1))
    ]


@pytest.mark.parametrize(("case", "shards", "grain"), in_turn())
def test_every_case_with_indexes(indexed: IndexedStage, case: Case, shards: int, grain: Grain) -> None:
    run_case(indexed, WORLDS[case.world], case, shards, grain)


@pytest.mark.parametrize("seed", range(FIRST, FIRST + COUNT))
def test_random_statements_with_indexes(indexed: IndexedStage, seed: int) -> None:
    world = (LETTERS, SHOP)[seed % 2]
    sql = statement(seed, world.name)
    shards, grain = sizes()[seed // 2 % 8]
    expected = indexed.right(world, sql)
    if isinstance(expected, Exception) or len(expected.rows) > 20_000:
        pytest.skip("one database raises, or the answer is too long to compare")
    without = (OPTIONAL[seed // 4 % len(OPTIONAL)],) if seed % 4 == 3 else ()
    connection = indexed.connection(world, shards, grain, without)
    try:
        actual = run(connection, sql)
    except Exception as error:
        pytest.fail(
            f"{shards} shards, {grain} grain, seed {seed}, without {without}\n{sql};\n"
            f"{type(error).__name__}: {error}\n{explained(connection, sql)}",
            pytrace=False,
        )
    ordered = " ORDER BY " in sql and sql.rpartition(") z ORDER BY ")[1] != ""
    report(
        difference(actual, expected, ordered=ordered), sql, shards, grain, actual, expected, f", seed {seed}"
    )
