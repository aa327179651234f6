"""Nodes that hand their input's columns on: Project, Keep, Fence (rules 4 and 7)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from sqlglot import exp

from shardwise.plan.nodes import ColumnId, Fence, Join, Keep, Project
from shardwise.plan.tree import column_id
from shardwise.planner.distribution.keys import renamed_keys
from shardwise.planner.distribution.questions import Questions
from shardwise.planner.distribution.subqueries import subqueries_stay, with_copied_subqueries
from shardwise.planner.distribution.values import MERGED, Copied, Distribution, Key, Split
from shardwise.planner.equivalence import renames
from shardwise.planner.quotients import is_stored


def of_project(node: Project, analysis: Questions) -> Distribution:
    """Rule 4: renames and copies pass; an expression is no key (SELECT k % 2 AS k … GROUP BY k).

    Nor does a computed value carry a collation, an ENUM's order or all digits to the merge: it is computed
    there. (Of a derived table that one server stores, it has no more digits there either.)
    """
    below = analysis.of(node.input)
    if not subqueries_stay(node, below, analysis):
        return MERGED
    if isinstance(below, Split):
        is_cut = not below.is_one and any(analysis.is_cut(i.expr) for i in node.items)
        if is_cut and not is_stored(node.input):
            return MERGED
        computed = [i.expr for i in node.items if type(i.expr) is not exp.Column]
        if not below.is_one and any(map(analysis.is_fragile, computed)):
            return MERGED
        keys = renamed_keys(below.keys, renames(node.rel, node.items), analysis.equal(node.input))
        return Split(below.shards, (*keys, *_coalesced_keys(node, analysis)))
    return with_copied_subqueries(node, below, analysis) if isinstance(below, Copied) else below


def _coalesced_keys(node: Project, analysis: Questions) -> Iterator[Key]:
    """Rule 7: coalesce(a.k, b.k) over a FULL JOIN of full keys linked by it is a full key again.

    Not of loose ones, whose NULLs are on every shard: with `(SELECT b.k FROM a LEFT JOIN b ON a.k = b.k) x`,
    SELECT coalesce(x.k, c.k) FROM x FULL JOIN c ON x.k = c.k GROUP BY 1 has a NULL group on each.
    """
    join = node.input
    if not isinstance(join, Join) or join.kind != "full":
        return
    left, right = analysis.of(join.left), analysis.of(join.right)
    if not isinstance(left, Split) or not isinstance(right, Split):
        return
    computed: dict[tuple[ColumnId | None, ...], ColumnId] = {}
    for item in node.items:
        if isinstance(item.expr, exp.Coalesce):
            both = tuple(column_id(e) for e in (item.expr.this, *item.expr.expressions))
            computed[both] = ColumnId(node.rel, item.name)
    for one, other in product(left.keys, right.keys):
        if one.function == other.function and one.strength == other.strength == "full":
            columns = [computed.get(pair) for pair in zip(one.columns, other.columns, strict=True)]
            found = tuple(c for c in columns if c is not None)
            if len(found) == len(columns) and _joined_by(join, one, other):
                yield Key(one.function, found)


def _joined_by(join: Join, one: Key, other: Key) -> bool:
    pairs = {frozenset((column_id(c.this), column_id(c.expression))) for c in join.on if type(c) is exp.EQ}
    return all(frozenset(pair) in pairs for pair in zip(one.columns, other.columns, strict=True))


def of_keep(node: Keep, analysis: Questions) -> Distribution:
    below = analysis.of(node.input)
    if not isinstance(below, Split):
        return below
    copies: dict[ColumnId, tuple[ColumnId, ...]] = {o.id: (o.id,) for o in node.columns}
    return Split(below.shards, renamed_keys(below.keys, copies, analysis.equal(node.input)))


def of_fence(node: Fence, analysis: Questions) -> Distribution:
    return analysis.of(node.input)
