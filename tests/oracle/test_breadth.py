"""A broad corpus of SELECTs over every kind of table, on 3 shards and, in turn, on 1, 2 and 7."""

from __future__ import annotations

import re

import pytest

from tests.oracle.cases import Case, read
from tests.oracle.cluster import Grain, sizes, turns
from tests.oracle.compare import difference
from tests.oracle.harness import Stage, report, run, run_case
from tests.oracle.worlds import SHOP

TOPICS = ("joins", "subqueries", "queries", "aggregates", "duckdb", "parameters")
CASES = [case for topic in TOPICS for case in read(topic)]
NAMED = [case for case in CASES if isinstance(case.params, dict)]


RUNS = [
    pytest.param(case, shards, grain, id=f"{case.id}-{shards}-{grain}")
    for number, case in enumerate(CASES)
    for shards, grain in turns(number, sizes(), 3)
]


@pytest.mark.parametrize(("case", "shards", "grain"), RUNS)
def test_answers_as_one_database_does(stage: Stage, case: Case, shards: int, grain: Grain) -> None:
    run_case(stage, SHOP, case, shards, grain)


@pytest.mark.parametrize("case", NAMED, ids=lambda case: case.id)
def test_parameters_by_name(stage: Stage, case: Case) -> None:
    """`:name` is ours, `$name` is DuckDB's."""
    expected = stage.right(SHOP, case.sql, case.params)
    assert not isinstance(expected, Exception)
    sql = re.sub(r"\$(\w+)", r":\1", case.sql)
    actual = run(stage.connection(SHOP, 3, "shard"), sql, case.params)
    report(difference(actual, expected), sql, 3, "shard", actual, expected)
