"""TPC-H's joins across shards: rows and bytes moved by each strategy, beside those of the chosen plan.

`python -m benchmarks.strategies` prints the table (SCALE=0.1). No figure here depends on the machine.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import duckdb

import shardwise
from benchmarks.cluster import placed, prepared
from benchmarks.tables import table
from shardwise.catalog import Catalog, parse
from shardwise.plan.nodes import Filter, Node, Scan
from shardwise.plan.tree import columns_in, plans_in, walk
from shardwise.planner import OPTIONAL, Planner
from shardwise.planner.passes import PASSES
from tests.oracle.cases import Case, read
from tests.oracle.compare import answer_of, difference

FORCED = ("keys", "broadcast", "group_before_joins", "push_distinct")
"""What may be forced beside the passes that may be off (`Options.force`)."""
_TRIED = (
    *({"force": (name,)} for name in FORCED),
    {"force": ("keys", "group_before_joins")},
    {"force": ("broadcast", "group_before_joins")},
    {"force": ("keys", "push_distinct", "group_before_joins")},
    *(
        {"disable_passes": (name,)}
        for name in OPTIONAL
        if name not in ("push_filters", "prune_slots", "drop_fences", "split_aggregates", "push_limit")
    ),
    {"disable_passes": ("choose_strategies", "narrow_groups")},
    {"disable_passes": ("choose_strategies",), "force": ("group_before_joins", "push_distinct")},
)
"""Strategies, as options of a connection. Each is tried with statistics and without."""


@dataclass(frozen=True)
class Moved:
    """Rows and bytes off the shards, and those of keys and small sides that were sent to them."""

    rows: int
    bytes: int
    sent_rows: int
    sent_bytes: int

    @property
    def traffic(self) -> int:
        return self.bytes + self.sent_bytes


def measure(scale: float) -> list[dict[str, Any]]:
    """For each query: everything gathered, the plans chosen with statistics and without, the best of all."""
    cluster = prepared(scale)
    whole = cluster.whole()
    with placed(cluster) as (known, bare):
        with_statistics = shardwise.open(str(known.catalog_path))
        without = shardwise.open(str(bare.catalog_path))
        catalog = parse(cluster.catalog_path.read_text())
        results = []
        for case in read("tpch"):
            chosen, estimated = _run(with_statistics, case, whole)
            guessed, _ = _run(without, case, whole)
            tried = {"chosen": chosen, "chosen without statistics": guessed}
            for options in _TRIED:
                for on, opened in (("", with_statistics), (" without statistics", without)):
                    tried[_named(options) + on] = _run(opened, case, whole, **options)[0]
            best = min(tried, key=lambda name: (tried[name].rows, tried[name].traffic))
            least = min(tried, key=lambda name: tried[name].traffic)
            rows, size = gathered(case, catalog, whole)
            results.append(
                {
                    "query": case.title,
                    "gathered_rows": rows,
                    "gathered_bytes": size,
                    "chosen": asdict(chosen),
                    "without_statistics": asdict(guessed),
                    "best": {"strategy": best, **asdict(tried[best])},
                    "least_traffic": {"strategy": least, **asdict(tried[least])},
                    "estimated_rows": estimated,
                }
            )
            print(
                f"  {case.title}: {rows:,} gathered, {chosen.rows:,} moved, best {tried[best].rows:,}",
                flush=True,
            )
        with_statistics.close()
        without.close()
    return results


def _named(options: Mapping[str, Any]) -> str:
    words = [
        f"{'forced' if key == 'force' else 'without'} {', '.join(names)}" for key, names in options.items()
    ]
    return "; ".join(words)


def _run(
    opened: shardwise.Cluster, case: Case, whole: duckdb.DuckDBPyConnection, **options: Any
) -> tuple[Moved, float]:
    """What one run moved; its answer is compared. And the rows that were expected to be moved."""
    with opened.connect(**options) as connection, connection.cursor() as cursor:
        ours = answer_of(cursor.execute(case.sql))
        stats = cursor.stats
        assert stats is not None
        explained = cursor.execute(f"EXPLAIN (FORMAT json) {case.sql}").fetchall()
    problem = difference(
        ours, answer_of(whole.execute(case.sql)), ordered=case.ordered, order_keys=case.order_keys
    )
    assert problem is None, f"{case.title}, {options}: {problem}"
    moved = Moved(stats.rows_moved, stats.bytes_moved, stats.rows_sent, stats.bytes_sent)
    return moved, sum(_expected(json.loads("\n".join(line for (line,) in explained))))


def _expected(plan: Any) -> Iterator[float]:
    """The rows that each fragment is expected to move, before anything ran, those of what runs first too."""
    if isinstance(plan, dict):
        foreseen = plan.get("expected")
        yield float(foreseen["rows"]) if foreseen else 0.0
        plan = list(plan.values())
    if isinstance(plan, list):
        for part in plan:
            yield from _expected(part)


# Everything gathered


def gathered(case: Case, catalog: Catalog, whole: duckdb.DuckDBPyConnection) -> tuple[int, int]:
    """Rows and bytes, if each table's needed columns and filtered rows were moved: no colocation."""
    before = ("drop_fences", "push_filters")
    off = tuple(p.__name__ for p in PASSES if p.__name__ in OPTIONAL and p.__name__ not in before)
    plan = Planner(catalog).prepare(case.sql).plan((), options=shardwise.Options(disable_passes=off))
    tree = next((t for name, t in reversed(plan.steps) if name in before), plan.steps[-1][1])
    read_somewhere = frozenset(o.id for o in tree.outputs).union(
        *(columns_in(e) for node in walk(tree) for e in node.expressions)
    )
    rows = size = 0
    for scan, filters in _scans(tree, ()):
        columns = [o.id.name for o in scan.outputs if o.id in read_somewhere] or [scan.outputs[0].id.name]
        tests = [f"({c.sql('duckdb')})" for c in filters]
        where = f" WHERE {' AND '.join(tests)}" if tests else ""
        found = whole.sql(f'SELECT {", ".join(columns)} FROM {scan.table.name} AS "{scan.rel}"{where}')
        answer = found.to_arrow_table()
        rows, size = rows + answer.num_rows, size + answer.nbytes
    return rows, size


def _scans(node: Node, filters: tuple[Any, ...]) -> Iterator[tuple[Scan, tuple[Any, ...]]]:
    """Each scan, with the conditions that its table alone is asked."""
    if isinstance(node, Scan):
        yield node, filters
        return
    if isinstance(node, Filter):
        mine = node.input.output_ids
        filters = tuple(c for c in node.conjuncts if columns_in(c) <= mine and not any(plans_in(c)))
        yield from _scans(node.input, filters)
    else:
        for below in node.inputs:
            yield from _scans(below, ())
    for plan in node.subplans:
        yield from _scans(plan, ())


# The page

HEAD = """\
## Joins across shards: rows moved by TPC-H at scale {scale}

Gathered: each table's needed columns and filtered rows, as if nothing could be done on the shards. Moved: by
the plan that is chosen after ANALYZE, and without. Sent: keys and rows of small sides, once for each shard
that they went to. Estimated: what EXPLAIN expects of all fragments before anything has run. Best: the fewest
rows that any of {tried} strategies moved: each pass off in turn, key lists, broadcasts and groups below joins
forced, with statistics and without. Every run's answer was compared with that of one DuckDB.

- {moved:,} of {gathered:,} rows were moved: {share:.1%} (aim: ≤ 10 %); without statistics {bare:,}:
  {bare_share:.1%}.
- Q3 moved {q3:,} rows (aim: ≤ 10,000).
- More than twice the best (aim: none) in rows moved: {rows_worse}; in bytes moved and sent: {bytes_worse}.
"""


def page(scale: float, measured: list[dict[str, Any]]) -> str:
    total = sum(each["gathered_rows"] for each in measured)
    moved = sum(each["chosen"]["rows"] for each in measured)
    bare = sum(each["without_statistics"]["rows"] for each in measured)
    rows_worse = [e["query"] for e in measured if e["chosen"]["rows"] > 2 * e["best"]["rows"]]
    bytes_worse = [e["query"] for e in measured if _traffic(e["chosen"]) > 2 * _traffic(e["least_traffic"])]
    text = HEAD.format(
        scale=f"{scale:g}",
        tried=2 * len(_TRIED) + 2,
        moved=moved,
        gathered=total,
        share=moved / total,
        bare=bare,
        bare_share=bare / total,
        q3=next(e["chosen"]["rows"] for e in measured if e["query"] == "Q3"),
        rows_worse=", ".join(rows_worse) or "none",
        bytes_worse=", ".join(bytes_worse) or "none",
    )
    head = ["query", "gathered", "moved", "MB", "sent", "MB sent", "best", "estimated / moved"]
    head += ["best by", "least MB moved and sent", "without statistics: moved", "MB", "sent", "MB sent"]
    return f"{text}\n{table(head, [_row(each) for each in measured])}"


def _traffic(moved: dict[str, Any]) -> int:
    return int(moved["bytes"] + moved["sent_bytes"])


def _row(each: dict[str, Any]) -> list[str]:
    chosen, bare, best = each["chosen"], each["without_statistics"], each["best"]
    error = f"{each['estimated_rows'] / max(chosen['rows'], 1):.2f}"
    return [
        each["query"],
        f"{each['gathered_rows']:,}",
        *_figures(chosen),
        f"{best['rows']:,}",
        error,
        "the chosen plan" if best["rows"] == chosen["rows"] else best["strategy"],
        f"{_traffic(each['least_traffic']) / 1e6:.2f}",
        *_figures(bare),
    ]


def _figures(moved: dict[str, Any]) -> list[str]:
    rows, sent = f"{moved['rows']:,}", f"{moved['sent_rows']:,}"
    return [rows, f"{moved['bytes'] / 1e6:.2f}", sent, f"{moved['sent_bytes'] / 1e6:.2f}"]


if __name__ == "__main__":
    SCALE = float(os.environ.get("SCALE", "0.1"))
    print(page(SCALE, measure(SCALE)))
