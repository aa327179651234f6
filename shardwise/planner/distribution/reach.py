"""Where a tree may be asked besides the shards that its rows are on.

    a LEFT JOIN (SELECT b.k FROM b, one WHERE b.k = 2) y ON a.k = y.k      one is on s0 alone, as is b.k = 2

a's rows are on s0 and s1, and of y none is on s1: if y is asked there as well the join stays on the shards. A
scan that was pruned gives nothing on a shard where none of its slots is; but `one` is not there at all.
"""

from __future__ import annotations

from shardwise.plan.nodes import CteRef, Node, Raw, Scan
from shardwise.plan.tree import walk
from shardwise.planner.distribution.questions import Questions
from shardwise.planner.distribution.values import Merged, Shards, covers


def may_be_asked(tree: Node, shards: Shards, analysis: Questions) -> bool:
    """Whether all these shards have the tables that it reads."""
    where = analysis.of(tree)
    if not isinstance(where, Merged) and covers(where.shards, shards):
        return True
    return all(_is_there(node, shards, analysis) for node in walk(tree))


def _is_there(node: Node, shards: Shards, analysis: Questions) -> bool:
    if isinstance(node, Scan):
        catalog = analysis.catalog
        return catalog.open_sharding(node.table) is not None or covers(catalog.homes(node.table), shards)
    if isinstance(node, CteRef | Raw):
        where = analysis.of(node)
        return not isinstance(where, Merged) and covers(where.shards, shards)
    return True
