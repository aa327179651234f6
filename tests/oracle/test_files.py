"""The duckdb dialect over SQLite files, alone and mixed with DuckDB files, against one DuckDB."""

from __future__ import annotations

import pytest

from shardwise.planner import OPTIONAL
from tests.oracle.cases import Case, read
from tests.oracle.cluster import Files, Grain
from tests.oracle.harness import Stage, run_case
from tests.oracle.held import left_out, on_files
from tests.oracle.test_regressions import SCARS
from tests.oracle.worlds import LETTERS, MEMBERS, SHOP

WORLDS = {world.name: world for world in (MEMBERS, LETTERS, SHOP, SCARS)}
ON_FILES = {name: on_files(world) for name, world in WORLDS.items()}
TOPICS = (
    *("members", "forty", "regressions"),
    *("joins", "subqueries", "queries", "aggregates", "duckdb", "parameters"),
)
ALL = [case for topic in TOPICS for case in read(topic)]
CASES = [case for case in ALL if left_out(WORLDS[case.world], case.sql) is None]
# Of what was once wrong all, of the rest every second one.
ON_OTHERS = [case for n, case in enumerate(CASES) if n % 2 == 0 or case.id.startswith("regressions:")]
OTHERS: list[tuple[int, Grain, Files]] = [
    *((n, grain, "sqlite") for n in (1, 2, 7) for grain in ("shard", "slot")),
    *((n, grain, "mixed") for n in (2, 3, 7) for grain in ("shard", "slot")),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_on_three_files(stage: Stage, case: Case) -> None:
    run_case(stage, ON_FILES[case.world], case, 3, "shard", "sqlite")


@pytest.mark.parametrize(
    ("number", "case"), list(enumerate(ON_OTHERS)), ids=lambda item: getattr(item, "id", "")
)
def test_on_other_numbers_and_mixed(stage: Stage, number: int, case: Case) -> None:
    """Each on one of them, in turn, of every second one for each world, for to build them takes the most;
    every seventh without one of the optional passes."""
    others = OTHERS[list(WORLDS).index(case.world) % 2 :: 2]
    shards, grain, files = others[number % len(others)]
    without = (OPTIONAL[number // 7 % len(OPTIONAL)],) if number % 7 == 0 else ()
    run_case(stage, ON_FILES[case.world], case, shards, grain, files, without)


def test_few_cases_are_left_out() -> None:
    """What is, reads a table that no SQLite file can hold."""
    reasons = [left_out(WORLDS[case.world], case.sql) for case in ALL]
    assert sum(reason is not None for reason in reasons) < len(ALL) / 5
