"""order_joins: inner joins are regrouped so that what may join on the shards does.

    Join b.k = c.k                          Join a.x = b.x
    ├─ Join a.x = b.x     (merge)           ├─ Scan a
    │  ├─ Scan a                      =>    └─ Join b.k = c.k     (on the shards)
    │  └─ Scan b                               ├─ Scan b
    └─ Scan c                                  └─ Scan c

Sound: inner joins are associative and commutative, and every conjunct is kept, at the lowest join that has
its columns. Nothing is moved out of or into an outer join, nor past a LATERAL side. Where the whole group may
run on the shards as written, it is left as written.
"""

from __future__ import annotations

from sqlglot import exp

from shardwise.plan.nodes import ColumnId, Join, Node
from shardwise.plan.tree import columns_in, map_expressions, map_inputs, map_plans, parted
from shardwise.planner.distribution import Analysis, Merged
from shardwise.planner.pass_context import PlanContext

Conjuncts = tuple[exp.Expr, ...]


def order_joins(plan: Node, ctx: PlanContext) -> Node:
    if Join not in plan.kinds:
        return plan
    analysis = ctx.analysis()

    def change(node: Node) -> Node:
        if _is_inner(node) and isinstance(analysis.of(node), Merged):
            parts, on = _group(node)
            if len(parts) > 2:
                ordered = _ordered([change(p) for p in parts], on, analysis)
                return ordered if _differs(node, ordered) else node
        if node.subplans:
            node = map_expressions(node, lambda e: map_plans(e, change))
        return map_inputs(node, change)

    return change(plan)


def _is_inner(node: Node) -> bool:
    return isinstance(node, Join) and node.kind in ("inner", "cross") and not node.lateral


def _group(node: Node) -> tuple[list[Node], Conjuncts]:
    """The parts of a tree of inner joins, left to right, and all its conjuncts."""
    if not isinstance(node, Join) or not _is_inner(node):
        return [node], ()
    left, on_left = _group(node.left)
    right, on_right = _group(node.right)
    return left + right, on_left + on_right + node.on


def _ordered(parts: list[Node], on: Conjuncts, analysis: Analysis) -> Node:
    clusters = list(parts)
    rest = on
    found = True
    while found and len(clusters) > 1:
        found = False
        for i in range(len(clusters)):
            for j in range(i + 1, len(clusters)):
                joined, left_over = _join(clusters[i], clusters[j], rest)
                if joined.on and not isinstance(analysis.of(joined), Merged):
                    clusters[i : i + 1], clusters[j : j + 1] = [joined], []
                    rest, found = left_over, True
                    break
            if found:
                break
    while len(clusters) > 1:
        chosen = next((j for j in range(1, len(clusters)) if _join(clusters[0], clusters[j], rest)[0].on), 1)
        joined, rest = _join(clusters[0], clusters.pop(chosen), rest)
        clusters[0] = joined
    return clusters[0] if not rest else _on_top(clusters[0], rest)


def _join(left: Node, right: Node, on: Conjuncts) -> tuple[Join, Conjuncts]:
    """The two, joined by the conjuncts that read both and nothing else; and the other conjuncts."""
    mine, rest = parted(on, lambda c: _belongs(columns_in(c), left, right))
    return Join(kind="inner" if mine else "cross", left=left, right=right, on=mine), rest


def _belongs(read: frozenset[ColumnId], left: Node, right: Node) -> bool:
    """Whether both sides are read and nothing else: an outer query's columns, or a later part's, wait."""
    mine, theirs = left.output_ids, right.output_ids
    return bool(read & mine) and bool(read & theirs) and read <= mine | theirs


def _on_top(node: Node, rest: Conjuncts) -> Node:
    assert isinstance(node, Join)
    return node.but(kind="inner", on=node.on + rest)


def _differs(before: Node, after: Node) -> bool:
    """Whether anything was regrouped: the same parts in the same nesting are no change."""
    if isinstance(before, Join) and isinstance(after, Join) and _is_inner(before) and _is_inner(after):
        return _differs(before.left, after.left) or _differs(before.right, after.right)
    return before is not after
