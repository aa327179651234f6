"""One TPC-H query in a process of its own, for its peak memory: once.py ours|theirs SCALE Qn."""

from __future__ import annotations

import json
import resource
import sys

from benchmarks.cluster import prepared
from tests.oracle.cases import read


def main(side: str, scale: str, query: str) -> None:
    sql = next(case.sql for case in read("tpch") if case.title == query)
    cluster = prepared(float(scale))
    if side == "ours":
        with cluster.connect() as connection:
            connection.execute(sql).to_arrow_table()
    else:
        cluster.whole().sql(sql).to_arrow_table()
    unit = 1 if sys.platform == "darwin" else 1024
    print(json.dumps({"peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit}))


if __name__ == "__main__":
    main(*sys.argv[1:])
