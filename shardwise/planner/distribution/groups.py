"""Nodes that need rows of a group together: Aggregate, Window, Distinct (rule 9)."""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp

from shardwise.plan.nodes import Aggregate, Distinct, Item, Window
from shardwise.planner.distribution.keys import bare_columns, holds, renamed_keys
from shardwise.planner.distribution.questions import Questions
from shardwise.planner.distribution.subqueries import subqueries_stay, with_copied_subqueries
from shardwise.planner.distribution.values import MERGED, Copied, Distribution, Split
from shardwise.planner.equivalence import renames


def of_aggregate(node: Aggregate, analysis: Questions) -> Distribution:
    """Rule 9: whole groups are on one shard if the columns of all grouping sets hold a full key.

    Columns of all sets, not one of each: a.k and b.k are equal, and NULL where the set is the other's.

    A loose one will not do: its NULL group is on every shard.
    SELECT b.k, count(*) FROM a LEFT JOIN b ON a.k = b.k GROUP BY b.k
    """
    below = analysis.of(node.input)
    if not subqueries_stay(node, below, analysis):
        return MERGED
    if not isinstance(below, Split):
        return with_copied_subqueries(node, below, analysis) if isinstance(below, Copied) else MERGED
    if not below.is_one and _makes_fragile(node.calls, analysis):
        return MERGED
    known = analysis.equal(node.input)
    in_all = set(range(len(node.keys))).intersection(*(node.sets or ()))
    members = [node.keys[i] for i in sorted(in_all)]
    columns = bare_columns(item.expr for item in members)
    held = tuple(key for key in below.keys if holds(columns, key, known))
    if not held:
        return Split(below.shards) if below.is_one else MERGED
    return Split(below.shards, renamed_keys(held, renames(node.rel, members), known))


def _makes_fragile(items: Iterable[Item], analysis: Questions) -> bool:
    """Whether a value would leave the shards without its collation or ENUM: max(s), first_value(s)."""
    calls = (item.expr.this if isinstance(item.expr, exp.Window) else item.expr for item in items)
    return any(not isinstance(call, exp.Count) and analysis.is_fragile(call) for call in calls)


def of_window(node: Window, analysis: Questions) -> Distribution:
    """Rule 9: as Aggregate, for every PARTITION BY."""
    below = analysis.of(node.input)
    if not subqueries_stay(node, below, analysis):
        return MERGED
    if not isinstance(below, Split):
        return with_copied_subqueries(node, below, analysis) if isinstance(below, Copied) else MERGED
    if not below.is_one and _makes_fragile(node.items, analysis):
        return MERGED
    known = analysis.equal(node.input)
    for item in node.items:
        columns = bare_columns(item.expr.args.get("partition_by") or ())
        if not any(holds(columns, key, known) for key in below.keys):
            return below if below.is_one else MERGED
    return below


def of_distinct(node: Distinct, analysis: Questions) -> Distribution:
    """Rule 9: duplicates are on one shard if the output (or the ON list) holds a full key."""
    below = analysis.of(node.input)
    if not isinstance(below, Split):
        return below if isinstance(below, Copied) else MERGED
    if below.is_one:
        return below
    columns = node.output_ids if node.on is None else bare_columns(node.on)
    known = analysis.equal(node.input)
    return below if any(holds(columns, key, known) for key in below.keys) else MERGED
