"""TPC-H on four shards beside one DuckDB with the same rows, kept in .cache between runs."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import shardwise
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


@contextmanager
def placed(cluster: Cluster) -> Iterator[tuple[Cluster, Cluster]]:
    """The cluster in a folder of its own with statistics of all tables, and in another without any."""
    with TemporaryDirectory() as one, TemporaryDirectory() as other:
        known, bare = (Cluster(Path(folder), cluster.shards, cluster.grain) for folder in (one, other))
        for copied in (known, bare):
            for file in cluster.folder.glob("*.duckdb"):
                (copied.folder / file.name).symlink_to(file)
            shutil.copy(cluster.catalog_path, copied.catalog_path)
        with shardwise.connect(str(known.catalog_path)) as connection:
            connection.execute("ANALYZE").fetchall()
        yield known, bare
