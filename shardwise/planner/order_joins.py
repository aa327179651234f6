"""order_joins: inner joins are regrouped so that what may join on the shards does.

    Join b.k = c.k                          Join a.x = b.x
    ├─ Join a.x = b.x     (merge)           ├─ Scan a
    │  ├─ Scan a                      =>    └─ Join b.k = c.k     (on the shards)
    │  └─ Scan b                               ├─ Scan b
    └─ Scan c                                  └─ Scan c

Sound: see `strategies.groups`. Columns that are equal to a third one may join two tables as well:
lineitem.part = part.id AND partsupp.part = lineitem.part joins part and partsupp, which are together. Where
the whole group may run on the shards as written, it is left as written."""

from __future__ import annotations

from itertools import combinations

from shardwise.plan.nodes import Join, Node
from shardwise.plan.tree import map_expressions, map_inputs, map_plans
from shardwise.planner.distribution import Analysis, Merged, may_join
from shardwise.planner.pass_context import PlanContext
from shardwise.planner.strategies.groups import Conjuncts, Group, is_inner


def order_joins(plan: Node, ctx: PlanContext) -> Node:
    if Join not in plan.kinds:
        return plan
    analysis = ctx.analysis()

    def change(node: Node) -> Node:
        if is_inner(node) and isinstance(analysis.of(node), Merged):
            group = Group.of(node, analysis)
            if len(group.parts) > 2:
                ordered = _ordered(group, [change(p) for p in group.parts], analysis)
                return ordered if _differs(node, ordered) else node
        if node.subplans:
            node = map_expressions(node, lambda e: map_plans(e, change))
        return map_inputs(node, change)

    return change(plan)


def _ordered(group: Group, clusters: list[Node], analysis: Analysis) -> Node:
    rest = group.on
    while (found := _colocated(group, clusters, rest, analysis)) is not None:
        i, j, joined, rest = found
        clusters[i : i + 1], clusters[j : j + 1] = [joined], []
    return group.chained(clusters, rest)


def _colocated(
    group: Group, clusters: list[Node], on: Conjuncts, analysis: Analysis
) -> tuple[int, int, Join, Conjuncts] | None:
    """Two of the clusters that join on the shards: as written, if there are such."""
    placed = [analysis.of(cluster) for cluster in clusters]
    pairs = [
        (i, j)
        for i, j in combinations(range(len(clusters)), 2)
        if may_join(placed[i], placed[j], group.alike)
    ]
    for implied in (False, True):
        for i, j in pairs:
            joined, rest = group.link(clusters[i], clusters[j], on, implied=implied)
            if joined.on and not isinstance(analysis.of(joined), Merged):
                return i, j, joined, rest
    return None


def _differs(before: Node, after: Node) -> bool:
    """Whether anything was regrouped: the same parts in the same nesting are no change."""
    if isinstance(before, Join) and isinstance(after, Join) and is_inner(before) and is_inner(after):
        return _differs(before.left, after.left) or _differs(before.right, after.right)
    return before is not after
