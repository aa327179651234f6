"""Random statements of values that are hard to hold, over MariaDB, PostgreSQL and mixed clusters.

SHARDWISE_FUZZ=5000 draws more, SHARDWISE_FUZZ_SEED=… others.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

import pytest

import shardwise
from shardwise.planner import OPTIONAL
from tests.oracle.cluster import Files, Grain
from tests.oracle.compare import difference
from tests.oracle.generator import statement as general_statement
from tests.oracle.harness import Stage, report, run
from tests.oracle.held_generator import statement
from tests.oracle.servers_world import left_out, on_servers
from tests.oracle.test_fuzz import ROWS_MAX
from tests.oracle.worlds import HELD, LETTERS, SHOP, World

pytestmark = pytest.mark.slow

COUNT = int(os.environ.get("SHARDWISE_FUZZ", "300"))
FIRST = int(os.environ.get("SHARDWISE_FUZZ_SEED", "41000"))
CLUSTERS: tuple[tuple[int, Grain, Files], ...] = (
    (3, "shard", "mariadb"),
    (3, "shard", "postgres"),
    (7, "shard", "servers"),
    (2, "slot", "mariadb"),
    (2, "slot", "postgres"),
    (1, "shard", "mariadb"),
    (1, "shard", "postgres"),
)
FAILS = ("beyond 1e290", "NUL", "out of range")
"""What a server may say of values that DuckDB computes with, or of which it fails at another row."""


def _without_nul(world: World) -> World:
    """PostgreSQL's texts have no NUL."""
    tables = [
        replace(
            table,
            rows=[tuple(v.replace("\0", "") if isinstance(v, str) else v for v in row) for row in table.rows],
        )
        for table in world.tables
    ]
    return World(world.name, tables, world.shardings, world.views)


ON_SERVERS = _without_nul(on_servers(HELD))
SHOPS = {world.name: on_servers(world) for world in (LETTERS, SHOP)}


@pytest.mark.parametrize("seed", range(FIRST, FIRST + COUNT))
def test_random_statements_have_one_databases_answer(stage: Stage, seed: int) -> None:
    sql, params = statement(seed)
    compare(stage, ON_SERVERS, seed, sql, params, ordered=") z ORDER BY " in sql)


@pytest.mark.parametrize("seed", range(FIRST, FIRST + COUNT // 2))
def test_fuzz_of_a_shop(stage: Stage, seed: int) -> None:
    """Statements of every shape, over plainer values."""
    world = (LETTERS, SHOP)[seed % 2]
    sql = general_statement(seed, world.name)
    if (why := left_out(world, sql)) is not None:
        pytest.skip(why)
    ordered = " ORDER BY " in sql and sql.rpartition(") z ORDER BY ")[1] != ""
    compare(stage, SHOPS[world.name], seed // 2, sql, [], ordered=ordered)


def compare(stage: Stage, world: World, seed: int, sql: str, params: list[Any], *, ordered: bool) -> None:
    """Asks a cluster that the seed picks, and one database."""
    shards, grain, files = CLUSTERS[seed % len(CLUSTERS)]
    expected = stage.right(world, sql, params)
    if isinstance(expected, Exception) or len(expected.rows) > ROWS_MAX:
        pytest.skip("one database raises, or the answer is too long to compare")
    without = (OPTIONAL[seed // 7 % len(OPTIONAL)],) if seed % 5 == 0 else ()
    connection = stage.connection(world, shards, grain, without, files)
    note = f", {files}, seed {seed}, {params}" + "".join(f", without {name}" for name in without)
    try:
        actual = run(connection, sql, params or None)
    except shardwise.Error as error:
        if any(word in str(error) for word in FAILS):
            pytest.skip(f"an error, and no other answer: {error}")
        pytest.fail(
            f"{shards} shards, {grain} grain{note}\n{sql};\n{type(error).__name__}: {error}\n"
            f"  one database: {expected.rows[:20]}",
            pytrace=False,
        )
    report(difference(actual, expected, ordered=ordered), sql, shards, grain, actual, expected, note)
