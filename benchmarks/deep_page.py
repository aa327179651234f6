"""A page far down an order over four shards: rows moved and time, beside those of reading all before it.

`python -m benchmarks.deep_page` prints the table (SCALE=1, ROUNDS=3).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import shardwise
from benchmarks.cluster import placed, prepared
from benchmarks.measure import paired
from benchmarks.tables import table
from tests.oracle.cluster import Cluster
from tests.oracle.compare import answer_of, difference

SQL = "SELECT * FROM orders ORDER BY o_totalprice DESC, o_orderkey LIMIT 10 OFFSET {offset}"
OFFSETS = (0, 100, 1_000, 10_000, 100_000, 1_000_000)
NAIVE = ("seek_pages", "merge_sorted")
"""The passes that are off where all rows before the page are moved."""


def measure(scale: float, *, rounds: int) -> list[dict[str, Any]]:
    cluster = prepared(scale)
    whole = cluster.whole()

    def right(sql: str) -> Any:
        return answer_of(whole.execute(sql))

    with (
        placed(cluster) as (_, bare),
        shardwise.open(str(with_key(bare))) as opened,
        opened.connect() as seeking,
        opened.connect(disable_passes=NAIVE) as naive,
    ):
        return measured(seeking, naive, right, rounds=rounds, rows=int(1_500_000 * scale))


def with_key(cluster: Cluster) -> Path:
    """Its catalog, which now says that orders has a primary key: it tells rows of one price apart."""
    text = cluster.catalog_path.read_text()
    before, last = "o_comment VARCHAR)", "o_comment VARCHAR, PRIMARY KEY (o_orderkey))"
    assert before in text
    cluster.catalog_path.write_text(text.replace(before, last))
    return cluster.catalog_path


def measured(
    seeking: Any, naive: Any, right: Callable[[str], Any] | None, *, rounds: int, rows: int
) -> list[dict[str, Any]]:
    """Of each offset within the table; `right` says what one database answers."""
    results = []
    for offset in (o for o in OFFSETS if o + 10 <= rows):
        sql = SQL.format(offset=offset)
        figures = {}
        for name, connection in (("ours", seeking), ("naive", naive)):
            with connection.cursor() as cursor:
                answer = answer_of(cursor.execute(sql))
                stats = cursor.stats
            if right is not None:
                problem = difference(answer, right(sql), ordered=True)
                assert problem is None, f"{sql}: {problem}"
            assert stats is not None
            figures[f"{name}_rows"], figures[f"{name}_bytes"] = stats.rows_moved, stats.bytes_moved
        pair = paired(lambda sql=sql: _all(seeking, sql), lambda sql=sql: _all(naive, sql), rounds=rounds)
        results.append(
            {
                "offset": offset,
                **figures,
                "ours_s": pair.ours_s,
                "naive_s": pair.theirs_s,
                "ratio": pair.ratio,
            }
        )
        print(
            f"  offset {offset:,}: {figures['ours_rows']:,} rows moved, {pair.ratio:.2f} × naive", flush=True
        )
    return results


def _all(connection: Any, sql: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(sql).fetchall()


HEAD = """\
## A deep page at scale {scale} on {product}

`{sql}` over four shards.
Naively each shard sends all rows before the page's end. Ratio: time against the naive plan, in pairs. (Aims:
at most 2,000 rows at offset 100,000, and rows that grow slower than the offset.)
"""


def page(scale: float, measured: list[dict[str, Any]], product: str = "DuckDB") -> str:
    head = ["offset", "rows moved", "naively", "KB moved", "ms", "naively ms", "ratio"]
    rows = [
        [
            f"{each['offset']:,}",
            f"{each['ours_rows']:,}",
            f"{each['naive_rows']:,}",
            f"{each['ours_bytes'] / 1e3:,.1f}",
            f"{each['ours_s'] * 1e3:,.1f}",
            f"{each['naive_s'] * 1e3:,.1f}",
            f"{each['ratio']:.2f}",
        ]
        for each in measured
    ]
    text = HEAD.format(scale=f"{scale:g}", product=product, sql=SQL.format(offset="…"))
    return f"{text}\n{table(head, rows)}"


if __name__ == "__main__":
    SCALE, ROUNDS = float(os.environ.get("SCALE", "1")), int(os.environ.get("ROUNDS", "3"))
    print(page(SCALE, measure(SCALE, rounds=ROUNDS)))
