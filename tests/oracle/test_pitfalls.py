"""Known ways to be silently wrong, on 1, 2, 3 and 7 shards at both grains, against one unsharded DuckDB."""

from __future__ import annotations

import pytest

from tests.oracle.cases import Case, read
from tests.oracle.cluster import Grain, sizes
from tests.oracle.harness import Stage, run_case
from tests.oracle.worlds import LETTERS, MEMBERS

WORLDS = {world.name: world for world in (LETTERS, MEMBERS)}
CASES = [*read("members"), *read("forty")]


@pytest.mark.parametrize(("shards", "grain"), sizes(), ids=str)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_answers_as_one_database_does(stage: Stage, case: Case, shards: int, grain: Grain) -> None:
    run_case(stage, WORLDS[case.world], case, shards, grain)
