"""Filter (rules 4 and 8): rows stay where they are, and `key = outer column` says they are with that row."""

from __future__ import annotations

from dataclasses import replace

from shardwise.plan.nodes import Filter
from shardwise.plan.tree import free_columns
from shardwise.planner.distribution.keys import firmer
from shardwise.planner.distribution.questions import Questions
from shardwise.planner.distribution.subqueries import subqueries_stay, with_copied_subqueries
from shardwise.planner.distribution.values import MERGED, At, Copied, Distribution, Split


def of_filter(node: Filter, analysis: Questions) -> Distribution:
    """Rules 4 and 8. IS NOT NULL on a loose key makes it full.

    `key = outer column` pins the rows to the outer row's shard.
    """
    below = analysis.of(node.input)
    if not isinstance(below, Split | Copied):
        return below if isinstance(below, At) and subqueries_stay(node, below, analysis) else MERGED
    if not subqueries_stay(node, below, analysis):
        return MERGED
    if isinstance(below, Copied):
        return with_copied_subqueries(node, below, analysis)
    keys = tuple(firmer(key, node.conjuncts) for key in below.keys)
    pinned = _pinned(node, below, analysis) if free_columns(node) and not below.is_one else None
    return pinned or (below if keys == below.keys else replace(below, keys=keys))


def _pinned(node: Filter, below: Split, analysis: Questions) -> At | None:
    """`b.k = a.k` with a.k from outside: below the outer row, b's rows are on one shard.

    An orphaned key may be pinned too: what remembers it is `At.orphaned`.
    """
    mine = node.input.output_ids
    known = analysis.equal(node)
    for key in below.keys:
        outer = []
        for column in key.columns:
            candidates = [c for c in known.same_as(column) if c not in mine]
            if not candidates:
                break
            outer.append(min(candidates))
        else:
            return At(key.function, tuple(outer), below.shards, key.strength == "orphaned")
    return None
