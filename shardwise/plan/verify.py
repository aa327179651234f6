"""What must hold of every plan, whatever made it. A broken one is our bug, never a wrong answer."""

from __future__ import annotations

from collections.abc import Iterable

from shardwise.plan.nodes import ColumnId, Gather, Join, Keep, Local, Node, SetOp
from shardwise.plan.tree import columns_read, free_columns, subplans


def verify(plan: Node, *, like: Node | None = None) -> str | None:
    """The first thing that is wrong, None if nothing is. `like`, the plan before, has the same output."""
    if like is not None and [o.id for o in plan.outputs] != [o.id for o in like.outputs]:
        return f"its output was {_names(like)}, and is {_names(plan)}"
    if free_columns(plan):
        return f"nothing makes the columns {_listed(free_columns(plan))}"
    return _check(plan, frozenset(), below_gather=False)


def _check(node: Node, outer: frozenset[ColumnId], *, below_gather: bool) -> str | None:
    visible = outer.union(*(n.output_ids for n in node.inputs))
    unknown = columns_read(node) - visible
    if unknown:
        return f"{type(node).__name__} reads {_listed(unknown)}, which it does not get"
    if len(node.output_ids) != len(node.outputs):
        return f"{type(node).__name__} gives a column twice: {_names(node)}"
    if isinstance(node, Keep) and not node.output_ids <= node.input.output_ids:
        return "Keep keeps a column that its input does not have"
    if isinstance(node, SetOp) and len({len(arm.outputs) for arm in node.arms}) != 1:
        return "a set operation's arms differ in width"
    if isinstance(node, Local) and below_gather:
        return f"a fragment reads {node.name}, which is registered here"
    if isinstance(node, Gather):
        if below_gather:
            return "a Gather is below a Gather"
        if free_columns(node.input):
            return "a fragment reads columns of the merge"
        if not node.shards:
            return "a Gather has no shard to read"
    inside = below_gather or isinstance(node, Gather)
    # A lateral join's right side reads the left side's columns, a subquery those of the row it is asked for.
    lateral = outer | node.left.output_ids if isinstance(node, Join) and node.lateral else outer
    seen = [(below, lateral) for below in node.inputs] + [(plan, visible) for plan in subplans(node)]
    problems = (_check(below, columns, below_gather=inside) for below, columns in seen)
    return next((problem for problem in problems if problem is not None), None)


def _names(node: Node) -> str:
    return ", ".join(".".join(o.id) for o in node.outputs)


def _listed(ids: Iterable[ColumnId]) -> str:
    return ", ".join(".".join(id) for id in sorted(ids))
