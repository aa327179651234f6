"""A join of 10 million rows with 1 million in a merge of 512 MB, in a process of its own.

`python -m benchmarks.spilling` prints what it took (ROWS=10000000). The tables are made once, in .cache.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from time import perf_counter
from typing import Any

import duckdb

import shardwise
from benchmarks.measure import once
from benchmarks.once import peak

SHARDS = 4
BUDGET = 512 << 20
FOLDER = Path(__file__).parents[1] / ".cache" / "spilling"
SQL = (
    "SELECT s.grp, count(*) AS n, sum(b.v) AS v, max(s.pad) AS pad FROM big b JOIN small s ON s.id = b.k "
    "GROUP BY s.grp ORDER BY s.grp"
)
GATHERED = ("choose_strategies", "group_before_joins", "narrow_groups")
"""Passes that would make less of it."""
_TABLES = {
    "big": (
        "id BIGINT, k BIGINT, v BIGINT",
        "range AS id, (range * 7919) % {small} AS k, range % 1000 AS v",
    ),
    "small": (
        "id BIGINT, grp BIGINT, pad VARCHAR",
        "range AS id, range % 100 AS grp, repeat(md5(range::VARCHAR), 16) AS pad",
    ),
}


def prepared(rows: int) -> Path:
    """The catalog over four files, with `rows` of the large table and a tenth of these of the small one."""
    folder = FOLDER / f"{rows}"
    if (folder / "done").exists():
        return folder / "cluster.sql"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    counts = {"big": rows, "small": rows // 10}
    for shard in range(SHARDS):
        with duckdb.connect(str(folder / f"s{shard}.duckdb")) as con:
            for name, (_, items) in _TABLES.items():
                select = items.format(small=counts["small"])
                con.execute(
                    f"CREATE TABLE {name} AS SELECT {select} FROM range({counts[name]}) t(range) "
                    f"WHERE range % {SHARDS} = {shard}"
                )
    tables = "".join(
        f"CREATE TABLE {name} ({columns}) SHARD BY by_id (id);\n" for name, (columns, _) in _TABLES.items()
    )
    (folder / "cluster.sql").write_text(
        f"CREATE CATALOG spilling DIALECT duckdb;\n"
        f"CREATE SOURCE s{{n}} FOR n IN 0-{SHARDS - 1} URL 'duckdb:///s{{n}}.duckdb';\n"
        f"CREATE SHARDING by_id USING MOD {SHARDS} ON s{{slot}};\n{tables}"
    )
    (folder / "done").touch()
    return folder / "cluster.sql"


def measure(rows: int) -> dict[str, Any]:
    """The run under the budget, and one that has as much memory as it takes: the same answer."""
    prepared(rows)
    kept = once("benchmarks.spilling", "run", str(rows), str(BUDGET))
    free = once("benchmarks.spilling", "run", str(rows), str(8 << 30))
    assert kept.pop("answer") == free.pop("answer")
    return {"rows": rows, "budget": BUDGET, "kept": kept, "free": free}


def run(rows: int, budget: int) -> dict[str, Any]:
    with shardwise.connect(
        str(prepared(rows)), memory_bytes_max=budget, disable_passes=GATHERED, threads=2
    ) as connection:
        start = perf_counter()
        cursor = connection.execute(SQL)
        answer = cursor.fetchall()
        seconds = perf_counter() - start
        stats, peak_bytes = cursor.stats, peak()
        assert stats is not None
        explained = connection.execute(f"EXPLAIN (ANALYZE, FORMAT json) {SQL}").fetchall()
        figures = json.loads("\n".join(line for (line,) in explained))["statistics"]
        return {
            "seconds": seconds,
            "peak": peak_bytes,
            "rows_moved": stats.rows_moved,
            "bytes_moved": stats.bytes_moved,
            "spilled": figures["bytes_spilled"],
            "answer": [str(row)[:60] for row in answer],
        }


PAGE = """\
## A join in a merge of {budget:.0f} MB

{rows:,} rows with {small:,}, of which each has 512 bytes of text, all moved to the merge: {moved:,} rows,
{bytes:,.0f} MB. `{sql}`

- With a budget of {budget:.0f} MB: {kept[seconds]:.1f} s, {kept_peak:,.0f} MB at the peak of the whole
  process{spilled}.
- With as much memory as it takes: {free[seconds]:.1f} s, {free_peak:,.0f} MB.
"""


def page(measured: dict[str, Any]) -> str:
    kept, free = measured["kept"], measured["free"]
    spilled = f", {kept['spilled'] / 1e6:,.0f} MB spilled, as EXPLAIN ANALYZE says" if kept["spilled"] else ""
    return PAGE.format(
        rows=measured["rows"],
        small=measured["rows"] // 10,
        moved=kept["rows_moved"],
        bytes=kept["bytes_moved"] / 1e6,
        budget=measured["budget"] / (1 << 20),
        sql=SQL,
        kept=kept,
        free=free,
        kept_peak=kept["peak"] / 1e6,
        free_peak=free["peak"] / 1e6,
        spilled=spilled,
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["run"]:
        print(json.dumps(run(int(sys.argv[2]), int(sys.argv[3]))))
    else:
        print(page(measure(int(os.environ.get("ROWS", "10000000")))))
