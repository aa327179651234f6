"""Known ways to be silently wrong, against one unsharded DuckDB: on 3 shards, and in turn on three other
sizes out of 1, 2, 3 and 7 shards at both grains.
"""

from __future__ import annotations

import pytest

from tests.oracle.cases import Case, read
from tests.oracle.cluster import Grain, sizes, turns
from tests.oracle.harness import Stage, run_case
from tests.oracle.worlds import LETTERS, MEMBERS

WORLDS = {world.name: world for world in (LETTERS, MEMBERS)}
CASES = [*read("members"), *read("forty")]


RUNS = [
    pytest.param(case, shards, grain, id=f"{case.id}-{shards}-{grain}")
    for number, case in enumerate(CASES)
    for shards, grain in turns(number, sizes(), 3)
]


@pytest.mark.parametrize(("case", "shards", "grain"), RUNS)
def test_answers_as_one_database_does(stage: Stage, case: Case, shards: int, grain: Grain) -> None:
    run_case(stage, WORLDS[case.world], case, shards, grain)
