"""The duckdb dialect over MariaDB and PostgreSQL, alone and mixed with files, against one DuckDB."""

from __future__ import annotations

import pytest

from shardwise.planner import OPTIONAL
from tests.oracle.cases import Case, read
from tests.oracle.cluster import Files, Grain
from tests.oracle.harness import Stage, run_case
from tests.oracle.servers_world import left_out, on_servers
from tests.oracle.test_regressions import SCARS
from tests.oracle.worlds import LETTERS, MEMBERS, SHOP

pytestmark = pytest.mark.slow

WORLDS = {world.name: world for world in (MEMBERS, LETTERS, SHOP, SCARS)}
ON_SERVERS = {name: on_servers(world) for name, world in WORLDS.items()}
NARROW = [case for topic in ("members", "forty", "regressions") for case in read(topic)]
BROAD = [
    case
    for topic in ("joins", "subqueries", "queries", "aggregates", "duckdb", "parameters")
    for case in read(topic)
]
ALL = NARROW + BROAD
CASES = [case for case in ALL if left_out(WORLDS[case.world], case.sql) is None]
# Of what was once wrong all, of the rest every second one.
ON_OTHERS = [case for n, case in enumerate(CASES) if n % 2 == 0 or case.id.startswith("regressions:")]
KINDS: tuple[Files, ...] = ("mariadb", "postgres", "servers")
SIZES: tuple[tuple[int, Grain], ...] = ((1, "shard"), (2, "slot"), (7, "shard"))
OTHERS = [(n, grain, files) for files in KINDS for n, grain in SIZES]


def _kinds(number: int, case: Case) -> list[Files]:
    count = 3 if case.id.startswith("regressions:") else 2 if case in NARROW else 1
    return [KINDS[(number + turn) % 3] for turn in range(count)]


ON_THREE = [
    pytest.param(case, files, id=f"{case.id}-{files}")
    for number, case in enumerate(CASES)
    for files in _kinds(number, case)
]


@pytest.mark.parametrize(("case", "files"), ON_THREE)
def test_on_three_databases(stage: Stage, case: Case, files: Files) -> None:
    """What was once wrong on each kind of cluster, pitfalls on two, the rest on one of them, in turn."""
    run_case(stage, ON_SERVERS[case.world], case, 3, "shard", files)


@pytest.mark.parametrize(
    ("number", "case"), list(enumerate(ON_OTHERS)), ids=lambda item: getattr(item, "id", "")
)
def test_on_other_numbers(stage: Stage, number: int, case: Case) -> None:
    """Each on one of them, in turn, of every second one for each world, for to build them takes the most;
    every seventh without one of the optional passes."""
    others = OTHERS[list(WORLDS).index(case.world) % 2 :: 2]
    shards, grain, files = others[number % len(others)]
    without = (OPTIONAL[number // 7 % len(OPTIONAL)],) if number % 7 == 0 else ()
    run_case(stage, ON_SERVERS[case.world], case, shards, grain, files, without)


SOUGHT = [case for case in CASES if "(*) IN (SELECT" in case.sql or "n NOT IN (SELECT" in case.sql]


@pytest.mark.parametrize("case", SOUGHT, ids=lambda case: case.id)
@pytest.mark.parametrize("size", [(3, "shard"), (2, "slot")])
def test_an_aggregate_is_found_in_a_list(stage: Stage, case: Case, size: tuple[int, Grain]) -> None:
    """MariaDB does not find it by HAVING, where it groups in a table of its own: seen at slot grain."""
    run_case(stage, ON_SERVERS[case.world], case, *size, "mariadb")


def test_few_cases_are_left_out() -> None:
    """What is, reads a table that no server can hold."""
    reasons = [left_out(WORLDS[case.world], case.sql) for case in ALL]
    assert sum(reason is not None for reason in reasons) < len(ALL) / 5
