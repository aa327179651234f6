"""The figures as a page that a person reads."""

from __future__ import annotations

from statistics import geometric_mean
from typing import Any

from benchmarks import deep_page, spilling, strategies
from benchmarks.many_files import ROWS
from benchmarks.tables import table

HEAD = """\
# What it costs

Written by `make bench`; do not edit. Rows and bytes moved off the shards come first, for no machine
changes them. Times are medians of pairs of runs, one right after the other, in alternating order; the ratio
is the median of the pairs' ratios, against one DuckDB of the same version that holds all rows in one file.

Python {python}, duckdb {duckdb}, sqlglot {sqlglot}, pyarrow {pyarrow}; {cores} cores; {date}.
"""

TPCH = """\
## TPC-H at scale {scale}, on four shards

orders and lineitem are split by order, customer, part, partsupp and supplier by their own first key column;
nation and region are copied. Rows scanned counts each table reference of the query in full.

- {moved:,} of {scanned:,} rows scanned were moved ({share:.1%}).
- Time against one DuckDB: geometric mean {mean:.2f} (aim: ≤ 1.5), worst {worst:.2f} in {worst_query}
  (aim: ≤ 8).
"""

PLANNING = """\
## Planning

Cold: nothing is remembered from an earlier statement. Beside it, `sqlglot.parse_one` of the same text with
the compiled build (aim: ≤ 10 times it for a point SELECT).
"""

STATISTICS = """\
With statistics of all tables (ANALYZE), beside the same catalog without: geometric mean {mean:.2f}
(aim: ≤ 1.5).
"""

TEN = """\
A join of ten tables, each split by its own key (aim: ≤ 50 times `parse_one`).
"""

WIDE = """\
- A scatter over 10,000 shards plans in {many:.2f} ms, over 10 in {few:.2f} ms: {ratio:.2f} times (aim: ≤ 3).
"""

LOAD = """\
- A catalog of 10,000 sources, declared as a family, loads in {many:.2f} ms; one of 10 in {few:.2f} ms.
"""


HOT = """\
## A row by its key

From `execute()` to `fetchone()`, on an open cursor with the plan cached, against bare `sqlite3` on an open
connection (aim: ≤ 60 µs added at the median).
"""

CACHED = """\
A plan out of the cache, against `sqlglot.parse_one` of the same text: with sqlglot's compiled modules, and in
a process that has none (aims, compiled: ≤ 0.1 for the same text with other parameters, ≤ 0.5 for other
literals).
"""

FILES = """\
## A GROUP BY over many SQLite files, one per tenant

Each file has {rows} rows. By hand: `sqlite3` opens, asks with the same GROUP BY, closes, and adds up in a
dict; in one thread, and in a pool of a process per core, made for the run (aim: faster than both). Peaks are
those of a process of its own, its worker processes left out; the first statement pays for starting them.
"""

BULK = """\
## A large read from SQLite into Arrow

{rows:,} rows of six columns, against `fetchall`, `pyarrow.array` and the casts (aim: twice as fast).

- With worker processes (the extra `bulk`): {workers[ours_s]:.2f} s, by hand {workers[theirs_s]:.2f} s:
  {workers_speed:.2f} times as fast.
- In this process: {in_process[ours_s]:.2f} s, by hand {in_process[theirs_s]:.2f} s:
  {in_process_speed:.2f} times as fast.
"""


def page(results: dict[str, Any]) -> str:
    parts = [HEAD.format(**results["machine"])]
    parts += [tpch(scale, queries) for scale, queries in results["tpch"].items()]
    parts += [strategies.page(0.1, results["strategies"])]
    parts += [deep_page.page(float(scale), pages) for scale, pages in results["pages"].items()]
    parts += [spilling.page(results["spilling"])]
    parts += [hot(results["hot"]), files(results["files"]), bulk(results["bulk"])]
    return "\n".join([*parts, planning(results["planning"])])


def hot(measured: dict[str, Any]) -> str:
    cursor = [
        [
            each["case"],
            *(f"{each[key] * 1e6:.0f}" for key in ("ours_s", "theirs_s", "added_s")),
            f"{each['ratio']:.1f}",
        ]
        for each in measured["cursor"]
    ]
    planning = [
        [
            f"{each['case']}, {build}",
            *(f"{each[key] * 1e6:.1f}" for key in ("ours_s", "theirs_s")),
            f"{each['ratio']:.2f}",
        ]
        for build, cases in measured["planning"].items()
        for each in cases
    ]
    rows = table(["case", "shardwise µs", "sqlite3 µs", "added µs", "ratio"], cursor)
    plans = table(["case", "from the cache µs", "parse_one µs", "ratio"], planning)
    return f"{HOT}\n{rows}\n{CACHED}\n{plans}"


def files(measured: list[dict[str, Any]]) -> str:
    head = ["files", "one thread ms", "processes ms", "shardwise ms", "to one thread", "to processes"]
    head += ["first ms", "peak MB", "open files", "threads"]
    rows = [
        [
            f"{each['files']:,}",
            *(f"{each[key] * 1e3:,.0f}" for key in ("loop_s", "pool_s", "ours_s")),
            f"{each['ratio_to_loop']:.2f}",
            f"{each['ratio_to_pool']:.2f}",
            f"{each['cold_s'] * 1e3:,.0f}",
            f"{each['peak_bytes'] / 1e6:,.0f}",
            str(each["open_files"]),
            str(each["threads"]),
        ]
        for each in measured
    ]
    return f"{FILES.format(rows=ROWS)}\n{table(head, rows)}"


def bulk(measured: dict[str, Any]) -> str:
    speeds = {f"{kind}_speed": 1 / measured[kind]["ratio"] for kind in ("workers", "in_process")}
    return BULK.format(**measured, **speeds)


def tpch(scale: str, measured: list[dict[str, Any]]) -> str:
    queries = [query for query in measured if "error" not in query]
    failed = "".join(
        f"\n{query['query']} failed: {query['error']}\n" for query in measured if "error" in query
    )
    worst = max(queries, key=lambda query: query["ratio"])
    moved, scanned = (sum(query[key] for query in queries) for key in ("rows_moved", "rows_scanned"))
    text = TPCH.format(
        scale=scale,
        moved=moved,
        scanned=scanned,
        share=moved / scanned,
        mean=geometric_mean([query["ratio"] for query in queries]),
        worst=worst["ratio"],
        worst_query=worst["query"],
    )
    head = [
        "query",
        "rows scanned",
        "rows moved",
        "share",
        "MB moved",
        "one DuckDB ms",
        "shardwise ms",
        "ratio",
    ]
    memory = "ours_peak_bytes" in queries[0]
    if memory:
        head += ["one DuckDB peak MB", "shardwise peak MB"]
    return f"{text}\n{table(head, [row(query, memory=memory) for query in queries])}{failed}"


def row(query: dict[str, Any], *, memory: bool) -> list[str]:
    cells = [
        query["query"],
        f"{query['rows_scanned']:,}",
        f"{query['rows_moved']:,}",
        f"{query['rows_moved'] / query['rows_scanned']:.2%}",
        f"{query['bytes_moved'] / 1e6:,.2f}",
        f"{query['theirs_s'] * 1e3:,.1f}",
        f"{query['ours_s'] * 1e3:,.1f}",
        f"{query['ratio']:.2f}",
    ]
    if memory:
        cells += [f"{query[key] / 1e6:,.0f}" for key in ("theirs_peak_bytes", "ours_peak_bytes")]
    return cells


def planning(results: dict[str, Any]) -> str:
    rows = [
        [
            cold["statement"],
            f"{cold['theirs_s'] * 1e3:.2f}",
            f"{cold['ours_s'] * 1e3:.2f}",
            f"{cold['ratio']:.1f}",
        ]
        for cold in results["cold"]
    ]
    cold = table(["statement", "parse_one ms", "plan ms", "ratio"], rows)
    known, joins = statistics(results["statistics"]), ten_joins(results["joins"])
    wide, load = (
        text.format(
            many=results[key]["ten_thousand_s"] * 1e3,
            few=results[key]["ten_s"] * 1e3,
            ratio=results[key]["ratio"],
        )
        for key, text in (("shards", WIDE), ("load", LOAD))
    )
    return f"{PLANNING}\n{cold}\n{known}\n{joins}\n{wide}{load}"


def statistics(measured: list[dict[str, Any]]) -> str:
    rows = [
        [
            each["statement"],
            *(f"{each[key] * 1e3:.2f}" for key in ("without_s", "with_s")),
            f"{each['ratio']:.2f}",
        ]
        for each in measured
    ]
    mean = geometric_mean([each["ratio"] for each in measured])
    made = table(["statement", "without ms", "with ms", "ratio"], rows)
    return f"{STATISTICS.format(mean=mean)}\n{made}"


def ten_joins(measured: list[dict[str, Any]]) -> str:
    rows = [
        [
            each["statement"],
            *(f"{each[key] * 1e3:.2f}" for key in ("theirs_s", "ours_s")),
            f"{each['ratio']:.1f}",
        ]
        for each in measured
    ]
    return f"{TEN}\n{table(['joined as', 'parse_one ms', 'plan ms', 'ratio'], rows)}"


def _ratio(each: dict[str, Any], *keys: str) -> list[str]:
    return [each["statement"], *(f"{each[key] * 1e3:.2f}" for key in keys), f"{each['ratio']:.2f}"]
