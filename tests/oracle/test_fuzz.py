"""Random SELECTs against one database. SHARDWISE_FUZZ=5000 draws more, SHARDWISE_FUZZ_SEED=… others.

The seed is in the test's name: `make test PYTEST_ARGS="-n 0 -k 'fuzz and 17031'"` runs one again.
"""

from __future__ import annotations

import os

import pytest

from shardwise.planner import OPTIONAL
from tests.oracle.cluster import Files, sizes
from tests.oracle.generator import statement
from tests.oracle.harness import Stage, run_random
from tests.oracle.held_generator import statement as held_statement
from tests.oracle.worlds import HELD, LETTERS, SHOP

COUNT = int(os.environ.get("SHARDWISE_FUZZ", "200"))
FIRST = int(os.environ.get("SHARDWISE_FUZZ_SEED", "17000"))
WORLDS = (LETTERS, SHOP)
SIZES = [(shards, grain) for shards, grain in sizes() if shards > 1]


@pytest.mark.parametrize("seed", range(FIRST, FIRST + COUNT))
def test_random_statements_have_one_databases_answer(stage: Stage, seed: int) -> None:
    world = WORLDS[seed % 2]
    shards, grain = SIZES[seed // 2 % len(SIZES)]
    # Every fourth one does without one of the passes that may be switched off.
    without = (OPTIONAL[seed // 4 % len(OPTIONAL)],) if seed % 4 > 2 else ()
    run_random(stage, world, statement(seed, world.name), shards, grain, seed=seed, without=without)


@pytest.mark.parametrize("seed", range(FIRST, FIRST + COUNT))
def test_fuzz_of_files(stage: Stage, seed: int) -> None:
    """Statements of values that are hard to hold, over SQLite files and mixed ones."""
    sql, params = held_statement(seed)
    shards, grain = sizes()[seed % 8]
    files: Files = "mixed" if shards > 1 and seed // 8 % 3 == 0 else "sqlite"
    without = (OPTIONAL[seed // 4 % len(OPTIONAL)],) if seed % 5 == 0 else ()
    run_random(stage, HELD, sql, shards, grain, seed=seed, without=without, files=files, params=params)
