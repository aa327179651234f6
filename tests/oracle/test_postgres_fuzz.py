"""Random statements in the postgres dialect against one PostgreSQL; `SHARDWISE_FUZZ=20000` runs more."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from shardwise.planner.passes import OPTIONAL
from tests.oracle.compare import matching
from tests.oracle.postgres_generator import Statements
from tests.oracle.postgres_world import PostgresWorld, rows

COUNT = int(os.environ.get("SHARDWISE_FUZZ", "120"))
SHARDS = (3, 2, 7)
_CHUNK = 20


@pytest.fixture(scope="module")
def worlds() -> Iterator[list[PostgresWorld]]:
    made = [PostgresWorld(n, rows(seed)) for seed, n in enumerate(SHARDS)]
    for world in made:
        world.one.execute("SET statement_timeout = 2000")
    yield made
    for world in made:
        world.close()


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, COUNT, _CHUNK))
def test_random_statements(worlds: list[PostgresWorld], first: int) -> None:
    compared = 0
    for seed in range(first, first + _CHUNK):
        world = worlds[seed % len(worlds)]
        sql = Statements(seed).statement()
        expected = _rows(world.one, sql)
        if expected is None:
            continue
        off = () if seed % 3 else (OPTIONAL[seed // 3 % len(OPTIONAL)],)
        with world.cluster.connect(disable_passes=off) as con:
            found = con.execute(sql).fetchall()
        assert matching(found, expected) == ([], []), (seed, sql)
        compared += 1
    assert compared >= _CHUNK / 2, "PostgreSQL refuses most of what is drawn"


def _rows(con: psycopg.Connection[Any], sql: str) -> list[tuple[Any, ...]] | None:
    """None where PostgreSQL refuses it, or takes too long."""
    try:
        return con.execute(sql).fetchall()  # type: ignore[call-overload, no-any-return]
    except psycopg.Error:
        return None
