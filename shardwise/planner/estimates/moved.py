"""Rows and bytes that a fragment is expected to move."""

from __future__ import annotations

from shardwise.catalog.model import Table
from shardwise.plan.choices import Foreseen
from shardwise.plan.nodes import Aggregate, Distinct, Gather, Keep, Limit, Node, Project, Scan, Sort
from shardwise.plan.tree import walk
from shardwise.planner.distribution import Analysis, Merged
from shardwise.planner.estimates.estimates import Estimates


def moved(gather: Gather, estimates: Estimates, analysis: Analysis) -> Foreseen:
    """What is left of groups and pages that are only in part on a shard counts once for each."""
    node = gather.input
    rows = _rows(node, len(gather.shards), estimates, analysis)
    return Foreseen(rows, rows * estimates.width(node), bool(unmeasured(node, estimates)))


def unmeasured(node: Node, estimates: Estimates) -> tuple[Table, ...]:
    """The tables that it reads and that have no statistics of their columns."""
    tables = dict.fromkeys(n.table for n in walk(node) if isinstance(n, Scan))
    return tuple(t for t in tables if not _is_measured(t, estimates))


def _is_measured(table: Table, estimates: Estimates) -> bool:
    known = estimates.catalog.statistics_of(table)
    return known is not None and bool(known.columns)


def _rows(node: Node, shards: int, estimates: Estimates, analysis: Analysis) -> float:
    if isinstance(node, Keep | Project | Sort):
        return _rows(node.input, shards, estimates, analysis)
    if isinstance(node, Limit):
        below = _rows(node.input, shards, estimates, analysis)
        count = estimates.count(node.count)
        return below if count is None or node.percent else min(below, count * shards)
    rows = estimates.rows(node)
    if isinstance(node, Aggregate | Distinct) and isinstance(analysis.of(node), Merged):
        return min(_rows(node.input, shards, estimates, analysis), rows * shards)
    return rows
