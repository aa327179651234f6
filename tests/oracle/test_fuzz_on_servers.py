"""Random statements of values that are hard to hold, over MariaDB, PostgreSQL and mixed clusters.

SHARDWISE_FUZZ=5000 draws more, SHARDWISE_FUZZ_SEED=… others.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

import pytest

from shardwise.planner import OPTIONAL
from tests.oracle.cluster import Files, Grain
from tests.oracle.generator import statement as general_statement
from tests.oracle.harness import Stage, run_random
from tests.oracle.held_generator import statement
from tests.oracle.servers_world import left_out, on_servers
from tests.oracle.worlds import HELD, LETTERS, SHOP, World

pytestmark = pytest.mark.slow

COUNT = int(os.environ.get("SHARDWISE_FUZZ", "160"))
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
    compare(stage, ON_SERVERS, seed, *statement(seed))


@pytest.mark.parametrize("seed", range(FIRST, FIRST + COUNT // 2))
def test_fuzz_of_a_shop(stage: Stage, seed: int) -> None:
    """Statements of every shape, over plainer values."""
    world = (LETTERS, SHOP)[seed % 2]
    sql = general_statement(seed, world.name)
    if (why := left_out(world, sql)) is not None:
        pytest.skip(why)
    compare(stage, SHOPS[world.name], seed // 2, sql, [])


def compare(stage: Stage, world: World, seed: int, sql: str, params: list[Any]) -> None:
    """Asks a cluster that the seed picks, and one database."""
    shards, grain, files = CLUSTERS[seed % len(CLUSTERS)]
    without = (OPTIONAL[seed // 7 % len(OPTIONAL)],) if seed % 5 == 0 else ()
    run_random(
        stage,
        world,
        sql,
        shards,
        grain,
        seed=seed,
        without=without,
        files=files,
        params=params,
        may_say=FAILS,
    )
