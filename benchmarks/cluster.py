"""TPC-H on four shards beside one DuckDB with the same rows, kept in .cache between runs."""

from __future__ import annotations

import shutil

from tests.oracle.cluster import Cluster
from tests.oracle.tpch import CACHE, world

SHARDS = 4


def prepared(scale: float) -> Cluster:
    """The cluster of a scale, built on first use."""
    folder = CACHE / f"bench sf{scale:g} on {SHARDS}"
    if not (folder / "done").exists():
        shutil.rmtree(folder, ignore_errors=True)
        tpch = world(scale)
        Cluster.build(folder, tpch.tables, tpch.shardings, shards=SHARDS)
        (folder / "done").touch()
    return Cluster(folder, SHARDS, "shard")
