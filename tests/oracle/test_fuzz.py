"""Random SELECTs against one database. SHARDWISE_FUZZ=5000 draws more, SHARDWISE_FUZZ_SEED=… others.

The seed is in the test's name: `make test PYTEST_ARGS="-n 0 -k 'fuzz and 17031'"` runs one again.
"""

from __future__ import annotations

import os

import pytest

from shardwise.planner import OPTIONAL
from tests.oracle.cluster import Files, sizes
from tests.oracle.compare import difference
from tests.oracle.generator import statement
from tests.oracle.harness import Stage, report, run
from tests.oracle.held_generator import statement as held_statement
from tests.oracle.worlds import HELD, LETTERS, SHOP

COUNT = int(os.environ.get("SHARDWISE_FUZZ", "300"))
FIRST = int(os.environ.get("SHARDWISE_FUZZ_SEED", "17000"))
WORLDS = (LETTERS, SHOP)
ROWS_MAX = 20_000
SIZES = [(shards, grain) for shards, grain in sizes() if shards > 1]


@pytest.mark.parametrize("seed", range(FIRST, FIRST + COUNT))
def test_random_statements_have_one_databases_answer(stage: Stage, seed: int) -> None:
    world = WORLDS[seed % 2]
    sql = statement(seed, world.name)
    shards, grain = SIZES[seed // 2 % len(SIZES)]
    expected = stage.right(world, sql)
    if isinstance(expected, Exception) or len(expected.rows) > ROWS_MAX:
        pytest.skip("one database raises, or the answer is too long to compare")
    # Every fourth one does without one of the passes that may be switched off.
    without = (OPTIONAL[seed // 4 % len(OPTIONAL)],) if seed % 4 > 2 else ()
    connection = stage.connection(world, shards, grain, without)
    note = f", seed {seed}" + "".join(f", without {name}" for name in without)
    try:
        actual = run(connection, sql)
    except Exception as error:
        pytest.fail(
            f"{shards} shards, {grain} grain{note}\n{sql};\n{type(error).__name__}: {error}\n"
            f"  one database: {expected.rows[:20]}",
            pytrace=False,
        )
    ordered = " ORDER BY " in sql and sql.rpartition(") z ORDER BY ")[1] != ""
    report(
        difference(actual, expected, ordered=ordered), sql, shards, grain, actual, expected, f", seed {seed}"
    )


@pytest.mark.parametrize("seed", range(FIRST, FIRST + COUNT))
def test_fuzz_of_files(stage: Stage, seed: int) -> None:
    """Statements of values that are hard to hold, over SQLite files and mixed ones."""
    sql, params = held_statement(seed)
    shards, grain = sizes()[seed % 8]
    files: Files = "mixed" if shards > 1 and seed // 8 % 3 == 0 else "sqlite"
    expected = stage.right(HELD, sql, params)
    if isinstance(expected, Exception) or len(expected.rows) > ROWS_MAX:
        pytest.skip("one database raises, or the answer is too long to compare")
    without = (OPTIONAL[seed // 4 % len(OPTIONAL)],) if seed % 5 == 0 else ()
    connection = stage.connection(HELD, shards, grain, without, files)
    note = f", {files} files, seed {seed}, {params}" + "".join(f", without {name}" for name in without)
    try:
        actual = run(connection, sql, params or None)
    except Exception as error:
        pytest.fail(
            f"{shards} shards, {grain} grain{note}\n{sql};\n{type(error).__name__}: {error}\n"
            f"  one database: {expected.rows[:20]}",
            pytrace=False,
        )
    ordered = ") z ORDER BY " in sql
    report(difference(actual, expected, ordered=ordered), sql, shards, grain, actual, expected, note)
