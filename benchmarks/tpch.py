"""TPC-H: rows and bytes moved beside the rows scanned, time against one DuckDB, peak memory."""

from __future__ import annotations

from typing import Any

import sqlglot
from sqlglot import exp

import shardwise
from benchmarks.cluster import prepared
from benchmarks.measure import paired, peak_bytes
from tests.oracle.cases import read
from tests.oracle.compare import answer_of, difference
from tests.oracle.tpch import PLACES

DEADLINE_S = 120.0


def measure(scale: float, *, rounds: int, memory: bool) -> list[dict[str, Any]]:
    cluster = prepared(scale)
    whole = cluster.whole()
    sizes = {name: whole.execute(f"SELECT count(*) FROM {name}").fetchall()[0][0] for name in PLACES}
    results = []
    with cluster.connect(deadline_s=DEADLINE_S) as connection:
        for case in read("tpch"):
            cursor = connection.cursor()
            try:
                ours = answer_of(cursor.execute(case.sql))
            except shardwise.Error as error:
                results.append({"query": case.title, "error": str(error)})
                print(f"  sf{scale:g} {case.title}: {error}", flush=True)
                continue
            stats = cursor.stats
            rows, size = (stats.rows_moved, stats.bytes_moved) if stats is not None else (0, 0)
            cursor.close()
            theirs = answer_of(whole.execute(case.sql))
            problem = difference(ours, theirs, ordered=case.ordered, order_keys=case.order_keys)
            assert problem is None, f"{case.title}: {problem}"

            def run_ours(sql: str = case.sql) -> None:
                with connection.cursor() as cursor:
                    cursor.execute(sql).to_arrow_table()

            def run_theirs(sql: str = case.sql) -> None:
                whole.sql(sql).to_arrow_table()

            pair = paired(run_ours, run_theirs, rounds=rounds)
            result: dict[str, Any] = {
                "query": case.title,
                "rows_scanned": sum(
                    sizes[table.name]
                    for table in sqlglot.parse_one(case.sql, dialect="duckdb").find_all(exp.Table)
                    if table.name in sizes
                ),
                "rows_moved": rows,
                "bytes_moved": size,
                "ours_s": pair.ours_s,
                "theirs_s": pair.theirs_s,
                "ratio": pair.ratio,
                "rounds": pair.rounds,
            }
            if memory:
                arguments = (f"{scale:g}", case.title)
                result["ours_peak_bytes"] = peak_bytes("benchmarks.once", "ours", *arguments)
                result["theirs_peak_bytes"] = peak_bytes("benchmarks.once", "theirs", *arguments)
            results.append(result)
            print(
                f"  sf{scale:g} {case.title}: {rows:,} rows moved, {pair.ratio:.2f} × one DuckDB", flush=True
            )
    whole.close()
    return results
