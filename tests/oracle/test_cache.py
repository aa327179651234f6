"""Plans out of the cache are those that planning anew gives, and answer as one database does."""

from __future__ import annotations

from typing import Any

import pytest

from shardwise.catalog import load
from shardwise.errors import Error
from tests.integration.planner.cached import Twins, with_other_literals
from tests.oracle.cases import Case, read
from tests.oracle.compare import difference
from tests.oracle.harness import Stage, report, run
from tests.oracle.worlds import SHOP

TOPICS = ("joins", "subqueries", "queries", "aggregates", "duckdb", "parameters")
CASES = [case for topic in TOPICS for case in read(topic) if case.refused is None]


@pytest.mark.parametrize("topic", TOPICS)
@pytest.mark.parametrize("shards", [1, 3, 7])
def test_plans_are_those_made_anew(stage: Stage, topic: str, shards: int) -> None:
    """On three shards all, on one and seven every third."""
    twins = Twins(load(stage.cluster(SHOP, shards, "slot").catalog_path))
    for number, case in enumerate(read(topic)):
        if shards != 3 and number % 3 != (0 if shards == 1 else 1):
            continue
        for sql in (case.sql, case.sql, *with_other_literals(case.sql, seed=number, count=2)):
            twins.check(sql, case.params)
        for params in _other(case.params):
            twins.check(case.sql, params)


def _other(params: Any) -> list[Any]:
    if isinstance(params, list):
        return [[_next(value) for value in params], [None for _ in params], params]
    if isinstance(params, dict):
        return [{name: _next(value) for name, value in params.items()}, params]
    return []


def _next(value: Any) -> Any:
    if isinstance(value, list):
        return [_next(each) for each in value]
    return value + 1 if isinstance(value, int | float) and not isinstance(value, bool) else value


@pytest.mark.parametrize("case", [c for c in CASES if not c.any and not c.raises], ids=lambda case: case.id)
def test_other_literals_answer_as_one_database_does(stage: Stage, case: Case) -> None:
    connection = stage.connection(SHOP, 3, "slot")
    run(connection, case.sql, case.params)
    for sql in with_other_literals(case.sql, seed=len(case.sql), count=2):
        right = stage.right(SHOP, sql, case.params)
        if isinstance(right, Exception) or "LIMIT" in sql.upper():
            continue  # ties that a LIMIT cuts are anyone's
        try:
            actual = run(connection, sql, case.params)
        except Error as error:
            with pytest.raises(type(error)):
                run(connection, sql, case.params)
            continue
        report(difference(actual, right), sql, 3, "slot", actual, right)
