"""Three queries of TPC-H as one would do them by hand: the driver and pandas, shard after shard."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pandas as pd

from benchmarks.servers.places import SHARDS, Placed

Frames = Callable[[str], pd.DataFrame]


def reader(place: Placed) -> tuple[Frames, Callable[[], None]]:
    """What reads a statement's rows from all shards into a frame; and what closes the connections."""
    drivers = [place.connect(shard) for shard in range(SHARDS)]

    def frame(sql: str) -> pd.DataFrame:
        parts = []
        for con in drivers:
            with con.cursor() as cursor:
                cursor.execute(sql)
                names = [column[0] for column in cursor.description]
                parts.append(pd.DataFrame(list(cursor.fetchall()), columns=names))
        return pd.concat(parts, ignore_index=True)

    def close() -> None:
        for con in drivers:
            con.close()

    return frame, close


def q1(frame: Frames) -> Sequence[Any]:
    rows = frame(
        """SELECT l_returnflag, l_linestatus, l_quantity, l_extendedprice, l_discount, l_tax
        FROM lineitem WHERE l_shipdate <= DATE '1998-09-02'"""
    )
    rows["disc_price"] = rows.l_extendedprice * (1 - rows.l_discount)
    rows["charge"] = rows.disc_price * (1 + rows.l_tax)
    groups = rows.groupby(["l_returnflag", "l_linestatus"])
    return list(groups[["l_quantity", "l_extendedprice", "disc_price", "charge"]].sum().itertuples())


def q3(frame: Frames) -> Sequence[Any]:
    customers = frame("SELECT c_custkey FROM customer WHERE c_mktsegment = 'BUILDING'")
    lines = frame(
        """SELECT l_orderkey, l_extendedprice * (1 - l_discount) AS revenue, o_custkey, o_orderdate,
        o_shippriority FROM orders JOIN lineitem ON l_orderkey = o_orderkey
        WHERE o_orderdate < DATE '1995-03-15' AND l_shipdate > DATE '1995-03-15'"""
    )
    joined = lines.merge(customers, left_on="o_custkey", right_on="c_custkey")
    found = joined.groupby(["l_orderkey", "o_orderdate", "o_shippriority"]).revenue.sum().reset_index()
    return list(found.sort_values(["revenue", "o_orderdate"], ascending=[False, True]).head(10).itertuples())


def q18(frame: Frames) -> Sequence[Any]:
    large = frame(
        """SELECT o_custkey, o_orderkey, o_orderdate, o_totalprice, sum(l_quantity) AS quantity
        FROM orders JOIN lineitem ON l_orderkey = o_orderkey
        GROUP BY o_custkey, o_orderkey, o_orderdate, o_totalprice HAVING sum(l_quantity) > 300"""
    )
    customers = frame("SELECT c_custkey, c_name FROM customer")
    found = large.merge(customers, left_on="o_custkey", right_on="c_custkey")
    return list(
        found.sort_values(["o_totalprice", "o_orderdate"], ascending=[False, True]).head(100).itertuples()
    )


QUERIES = {"Q1": q1, "Q3": q3, "Q18": q18}
