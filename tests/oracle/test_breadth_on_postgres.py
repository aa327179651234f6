"""The statements of the duckdb dialect that PostgreSQL reads too, and TPC-H, against one PostgreSQL.

All on 3 shards; known pitfalls by turns on 1, 2 and 7, TPC-H every second on 7.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from shardwise.errors import NotSupportedError
from shardwise.planner.dialects import query_dialect
from shardwise.planner.passes import OPTIONAL
from tests.oracle.cases import Case, read
from tests.oracle.cluster import Grain
from tests.oracle.compare import Answer, difference
from tests.oracle.harness import Stage
from tests.oracle.postgres_copies import PostgresCopy
from tests.oracle.tpch import world as tpch_world
from tests.oracle.worlds import LETTERS, MEMBERS, SHOP, World

WORLDS = {world.name: world for world in (LETTERS, MEMBERS, SHOP)}
CASES = [c for f in ("members", "forty", "joins", "subqueries", "queries", "aggregates") for c in read(f)]
PITFALLS = [case for case in CASES if case.id.startswith("forty:")]
OTHERS: tuple[tuple[int, Grain], ...] = ((1, "shard"), (2, "slot"), (7, "shard"))
RUNS = [
    *((case, 3, "shard") for case in CASES),
    *(
        pytest.param(case, shards, grain, marks=pytest.mark.slow)
        for number, case in enumerate(PITFALLS)
        for shards, grain in (OTHERS[number % 3],)
    ),
]
REFUSED = ("SELECT a FROM a WHERE k = 2",)  # a row as a value
PASSES = [name for name in OPTIONAL if name not in query_dialect("postgres").off]
Copies = dict[tuple[str, int, Grain], PostgresCopy]


@pytest.fixture(scope="module")
def copies() -> Iterator[Copies]:
    made: Copies = {}
    yield made
    for copy in made.values():
        copy.close()


def copy_of(copies: Copies, stage: Stage, world: World, shards: int, grain: Grain) -> PostgresCopy:
    key = (world.name, shards, grain)
    if key not in copies:
        copies[key] = PostgresCopy(world, stage.cluster(world, shards, grain), shards, grain)
    return copies[key]


def compare(copy: PostgresCopy, case: Case, **options: Any) -> None:
    if case.params:
        pytest.skip("parameters are tested in the dialect's own style")
    try:
        expected = _answer(copy.one.execute(case.sql))  # type: ignore[call-overload]
    except psycopg.Error as error:
        pytest.skip(f"PostgreSQL does not read it: {error}")
    if case.sql in REFUSED:
        with pytest.raises(NotSupportedError):
            copy.cluster.connect(**options).execute(case.sql)
        return
    with copy.cluster.connect(**options).execute(case.sql) as ours:
        actual = _answer(ours)
    if case.any:
        assert len(actual.rows) == len(expected.rows)
        return
    problem = difference(actual, expected, ordered=case.ordered, order_keys=case.order_keys)
    assert problem is None, problem


def _answer(cursor: Any) -> Answer:
    names = tuple(column[0] for column in cursor.description)
    return Answer(names, ("",) * len(names), [tuple(row) for row in cursor.fetchall()])


@pytest.mark.parametrize(("case", "shards", "grain"), RUNS, ids=lambda value: getattr(value, "id", value))
def test_answers_as_one_postgres_does(
    copies: Copies, stage: Stage, case: Case, shards: int, grain: Grain
) -> None:
    compare(copy_of(copies, stage, WORLDS[case.world], shards, grain), case)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("case", "without"),
    [
        pytest.param(case, without, id=f"{case.id}-{without}")
        for number, case in enumerate(read("members"))
        for without in PASSES[number % 3 :: 3]
    ],
)
def test_no_pass_is_needed_to_be_right(copies: Copies, stage: Stage, case: Case, without: str) -> None:
    """Each case without every third pass, by turns."""
    compare(copy_of(copies, stage, WORLDS[case.world], 3, "shard"), case, disable_passes=(without,))


# -- TPC-H ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def tpch() -> World:
    return tpch_world(0.001)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("case", "shards"),
    [
        pytest.param(case, shards, id=f"{case.title}-{shards}")
        for number, case in enumerate(read("tpch"))
        for shards in ((3, 7) if number % 2 else (3,))
    ],
)
def test_tpch(copies: Copies, stage: Stage, tpch: World, case: Case, shards: int) -> None:
    compare(copy_of(copies, stage, tpch, shards, "shard"), case)
