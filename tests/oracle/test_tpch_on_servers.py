"""TPC-H at scale 0.01 over MariaDB, PostgreSQL, and both mixed with SQLite and DuckDB files: each query on
every second of the clusters, by turns."""

from __future__ import annotations

import pytest

from tests.oracle.cases import read
from tests.oracle.cluster import Files
from tests.oracle.harness import Stage, run_case
from tests.oracle.tpch import world
from tests.oracle.worlds import World

pytestmark = pytest.mark.slow

CASES = {case.title: case for case in read("tpch")}
CLUSTERS: tuple[tuple[int, Files], ...] = (
    *((3, files) for files in ("mariadb", "postgres")),
    (4, "servers"),
    (1, "mariadb"),
    (2, "postgres"),
    (7, "servers"),
)


@pytest.fixture(scope="session")
def tpch() -> World:
    return world(0.01)


@pytest.mark.parametrize(
    ("query", "shards", "files"),
    [(query, *cluster) for number, query in enumerate(CASES) for cluster in CLUSTERS[number % 2 :: 2]],
)
def test_on_servers(stage: Stage, tpch: World, query: str, shards: int, files: Files) -> None:
    run_case(stage, tpch, CASES[query], shards, "shard", files)
