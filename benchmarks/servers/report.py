"""The figures as a page that a person reads."""

from __future__ import annotations

from statistics import geometric_mean
from typing import Any

from benchmarks import deep_page
from benchmarks.servers import joins
from benchmarks.servers.faults import ROWS, SILENT_S, SLOW
from benchmarks.tables import table

NAMES = {"mysql": "MariaDB", "postgres": "PostgreSQL"}
HEAD = """\
# What it costs on MariaDB and PostgreSQL

Written by `make bench-servers`; do not edit. All on one machine: the servers, shardwise and its peers
share its cores. Times are medians; a ratio is the median of pairs of runs, one right after the other, in
alternating order.
{loaded}
Python {python}, duckdb {duckdb}, pyarrow {pyarrow}, PyMySQL {PyMySQL}, psycopg {psycopg}; {mysql};
{postgres}; {cores} cores; {date}.
"""
LOADED = """
**Other programs ran on the machine at the time (load {load:.1f}): times are too long, ratios rough.**
"""
BULK = """\
## {name}: large reads into Arrow

Eleven columns of lineitem, {rows:,} rows, from one server: shardwise through a catalog of one source, in
DuckDB's dialect; its peers into Arrow as their users would. The rows of all were compared.{aims}
"""
AIMS = {
    "mysql": " Aims: 8 times as fast as\nPyMySQL's SSCursor, and at least as fast as connectorx.",
    "postgres": "",
}
SHARDS = """\
All {rows:,} rows: {split:,.0f} rows/s from four shards at once, {whole:,.0f} rows/s from one database that
has them all.
"""
ALONE = """\
A process that reads so many rows and drops them as they come; connectorx gives all at once. They are
lineitem's, over and over. The peak is of all the process, its interpreter and libraries too.
"""
POINTS = """\
## {name}: a row by its key

From `execute()` to `fetchone()` on an open cursor, four shards, the plan cached; beside it the driver on the
server that has the row (aim: ratio ≤ 1.25). With eight threads: statements a second.
"""
TPCH = """\
## {name}: TPC-H at scale {scale:g}, on four databases

orders and lineitem are split by order, customer, part, partsupp and supplier by their own first key column;
nation and region are copied. An answer in {name}'s dialect was compared with that of one {name} that has all
rows, whose time is in the first column; one in DuckDB's dialect with that of one DuckDB. {peer} ran over the
same four databases. A run of more than 3 s was not repeated, one of more than 20 s (of {peer}: 10 s, of one
{name}: 60 s) was stopped. Milliseconds.
"""
MIXED = """\
## A mixed cluster: TPC-H at scale {scale:g}, in DuckDB's dialect

A shard each on MariaDB and PostgreSQL, in a SQLite file and in a DuckDB file. Each answer (names, types,
rows, order) was compared with that of one DuckDB that has all rows, in memory. Milliseconds.
"""
HAND = """\
By hand: the driver and pandas, shard after shard ({name}, milliseconds; shardwise in DuckDB's dialect).
"""
FAULTS = """\
## {name}: faults

Seconds until the error is there, in the {dialect} dialect. Cancel: of `{slow}`. The others, most of them:
`{rows}`. Silent and stopped servers: of sources with
read_timeout_s = connect_timeout_s = {silent}. {waits}
"""
WAITS = {
    "mysql": "A connection that is there is given the first, a new one the second: twice two seconds.",
    "postgres": "A connection that waits in the pool is given one of them, a new\n"
    "one another, where the statement is to be merged; then the shard is tried: three times two seconds.",
}


def page(results: dict[str, Any]) -> str:
    machine = results["machine"]
    load = machine["load"]
    loaded = LOADED.format(load=load) if load > 1.0 else ""
    parts = [HEAD.format(loaded=loaded, **machine)]
    for product, name in NAMES.items():
        measured = results.get(product, {})
        for part, write in (("bulk", bulk), ("points", points), ("tpch", tpch), ("faults", faults)):
            if part in measured:
                parts.append(write(product, name, measured))
        if "joins" in measured:
            parts.append(joins.page(name, measured["scale"], measured["joins"]))
        if "pages" in measured:
            parts.append(deep_page.page(measured["scale"], measured["pages"], name))
    if "mixed" in results:
        parts.append(mixed(results["mixed"]))
    return "\n".join(parts)


def bulk(product: str, name: str, measured: dict[str, Any]) -> str:
    found = measured["bulk"]
    rows = [
        [
            peer["peer"],
            f"{found['rows'] / peer['theirs_s']:,.0f}",
            f"{found['rows'] / peer['ours_s']:,.0f}",
            f"{1 / peer['ratio']:.1f}",
        ]
        for peer in found["peers"]
    ]
    text = BULK.format(name=name, rows=found["rows"], aims=AIMS[product])
    text += "\n" + table(["peer", "its rows/s", "shardwise rows/s", "times as fast"], rows)
    text += _missing(found["missing"])
    split = found["four_shards"]
    text += "\n" + SHARDS.format(
        rows=split["rows"], split=split["rows"] / split["ours_s"], whole=split["rows"] / split["theirs_s"]
    )
    alone = [
        [
            each["reader"],
            f"{each['rows']:,}",
            f"{each['rows'] / each['seconds']:,.0f}",
            f"{each['peak'] / 1e6:,.0f}",
        ]
        for each in measured["alone"]
    ]
    return f"{text}\n{ALONE}\n" + table(["reader", "rows", "rows/s", "peak MB"], alone)


def points(product: str, name: str, measured: dict[str, Any]) -> str:
    rows = [
        [
            each["dialect"],
            f"{each['ours_s'] * 1e6:,.0f}",
            f"{each['theirs_s'] * 1e6:,.0f}",
            f"{each['ratio']:.2f}",
            f"{each['threads_ours']:,.0f}",
            f"{each['threads_theirs']:,.0f}",
        ]
        for each in measured["points"]
    ]
    head = ["dialect", "shardwise µs", "driver µs", "ratio", "8 threads: shardwise/s", "driver/s"]
    return f"{POINTS.format(name=name)}\n{table(head, rows)}"


def tpch(product: str, name: str, measured: dict[str, Any]) -> str:
    found = measured["tpch"]
    columns = [product, "duckdb", found["peer"]]
    rows = []
    for query in found["queries"]:
        seconds, failed = query["seconds"], query["failed"]
        cells = [query["query"]]
        cells += [
            "failed" if each in failed else f"{seconds[each] * 1e3:,.0f}" if each in seconds else "–"
            for each in ("whole", *columns)
        ]
        rows.append(cells)
    head = ["query", f"one {name}", f"shardwise, {product}", "shardwise, duckdb", found["peer"]]
    text = TPCH.format(name=name, scale=measured["scale"], peer=found["peer"]) + "\n" + table(head, rows)
    text += "\n" + "".join(f"- {line}\n" for line in _summary(found, columns))
    text += "".join(
        f"- {query['query']}, {who}: {why}\n"
        for query in found["queries"]
        for who, why in query["failed"].items()
    )
    text += _missing(found["missing"])
    hand = [
        [
            each["query"],
            f"{each['theirs_s'] * 1e3:,.0f}",
            f"{each['ours_s'] * 1e3:,.0f}",
            f"{each['ratio']:.2f}",
        ]
        for each in found["by_hand"]
        if "error" not in each
    ]
    return f"{text}\n{HAND.format(name=name)}\n" + table(["query", "by hand", "shardwise", "ratio"], hand)


def _summary(found: dict[str, Any], columns: list[str]) -> list[str]:
    lines = []
    for each in columns[:2]:
        ratios = [
            query["seconds"][each] / query["seconds"]["whole"]
            for query in found["queries"]
            if all(one in query["seconds"] and one not in query["failed"] for one in (each, "whole"))
        ]
        right = sum(each not in query["failed"] for query in found["queries"])
        if ratios:
            lines.append(
                f"shardwise, {each}: {right} of {len(found['queries'])} right; geometric mean of time "
                f"against one database {geometric_mean(ratios):.2f}"
            )
        peer = columns[2]
        both = [
            (query["query"], query["seconds"][each], query["seconds"][peer])
            for query in found["queries"]
            if all(one in query["seconds"] and one not in query["failed"] for one in (each, peer))
        ]
        slower = [query for query, ours, theirs in both if ours > theirs]
        if both:
            slow = f"; slower in {', '.join(slower)}" if slower else ""
            lines.append(
                f"faster than {peer} in {len(both) - len(slower)} of the {len(both)} that both ran{slow}"
            )
    return lines


def mixed(measured: dict[str, Any]) -> str:
    found = measured["queries"]
    rows = [
        [q["query"], f"{q['theirs_s'] * 1e3:,.0f}", f"{q['ours_s'] * 1e3:,.0f}"]
        for q in found
        if "error" not in q
    ]
    text = MIXED.format(scale=measured["scale"]) + "\n" + table(["query", "one DuckDB", "shardwise"], rows)
    text += f"\n- {len(rows)} of {len(found)} right\n"
    return text + "".join(f"- {q['query']}: {q['error']}\n" for q in found if "error" in q)


def faults(product: str, name: str, measured: dict[str, Any]) -> str:
    rows = [
        [each["fault"], f"{each['seconds']:.2f}", (each["error"] or "answered").replace("|", "\\|")]
        for each in measured["faults"]
    ]
    text = FAULTS.format(
        name=name, dialect=product, slow=SLOW, rows=ROWS, silent=SILENT_S, waits=WAITS[product]
    )
    return f"{text}\n{table(['fault', 'seconds', 'error'], rows)}"


def _missing(found: dict[str, str]) -> str:
    return "".join(f"\n{name} was not measured: {why}.\n" for name, why in found.items())
