"""Sorted streams of shards, merged: the rows of one database in its order, on every product."""

from __future__ import annotations

import pytest

from tests.oracle.cluster import Cluster
from tests.oracle.test_deep_pages import STATEMENTS, asked, cluster

__all__ = ["cluster"]

ORDERED = [sql for sql in STATEMENTS if "k + 1" not in sql and "upper" not in sql and " AS up" not in sql]


@pytest.mark.parametrize("requests_max", [1, 8])
def test_all_rows_in_order(cluster: Cluster, requests_max: int) -> None:
    merged = 0
    with cluster.connect(force=("merge_sorted",), requests_max=requests_max) as con:
        for sql in asked(ORDERED, cluster):
            everything = cluster.whole().execute(sql).fetchall()
            assert repr(con.execute(sql).fetchall()) == repr(everything), sql
            part = f"{sql} LIMIT 40 OFFSET 9"
            assert repr(con.execute(part).fetchall()) == repr(everything[9:49]), sql
            merged += any("in order of" in line for (line,) in con.execute(f"EXPLAIN {sql}").fetchall())
    assert merged > len(asked(ORDERED, cluster)) // 4
