"""One TPC-H query in a process of its own, for its peak memory: once.py ours|theirs SCALE Qn."""

from __future__ import annotations

import json
import re
import resource
import sys
from pathlib import Path

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
    print(json.dumps({"peak": peak()}))


def peak() -> int:
    """This process's own peak, in bytes. On Linux ru_maxrss is no less than the parent's was at the fork."""
    status = Path("/proc/self/status")
    if status.exists():
        found = re.search(r"VmHWM:\s*(\d+) kB", status.read_text())
        assert found is not None
        return int(found[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # macOS: bytes


if __name__ == "__main__":
    main(*sys.argv[1:])
