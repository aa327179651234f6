"""Whether a tree's answer is the rows of its one stream as they come, so that no merge need run.

    Project k        k is the first of f1's columns      =>   Passes("f1", columns=(0,), offset=5, count=10)
    └─ Limit 10 offset 5
       └─ Gather f1 in order of v, k

A server's merge, and SQLite's, put rows where they lose their order; what passes keeps it.
"""

from __future__ import annotations

from typing import Final

from shardwise.plan.nodes import ColumnId, Gather, Keep, Limit, Node, Project
from shardwise.plan.run import Passes
from shardwise.plan.tree import column_id
from shardwise.planner.pass_context import PlanContext
from shardwise.planner.push_limit import row_count

_MOST: Final = 2**62


def passing(root: Node, ctx: PlanContext) -> Passes | None:
    """How the rows pass; None where something is computed of them, or they are more than one stream's."""
    if isinstance(root, Gather):
        return Passes(root.fragment)
    wanted = [output.id for output in root.outputs]
    node, offset, count, is_limited = root, 0, None, False
    while not isinstance(node, Gather):
        if isinstance(node, Project):
            copies = _copies(node, wanted)
            if copies is None:
                return None
            wanted = copies
        elif isinstance(node, Limit) and not is_limited:
            found = _bounds(node, ctx)
            if found is None:
                return None
            offset, count = found
            is_limited = True
        elif not isinstance(node, Keep):
            return None
        (node,) = node.inputs
    if not node.order:
        return None
    places = {output.id: place for place, output in enumerate(node.outputs)}
    return Passes(node.fragment, tuple(places[id] for id in wanted), offset, count)


def _copies(node: Project, wanted: list[ColumnId]) -> list[ColumnId] | None:
    """What the columns are copies of."""
    by = {ColumnId(node.rel, item.name): column_id(item.expr) for item in node.items}
    found = [by.get(id) for id in wanted]
    return [id for id in found if id is not None] if None not in found else None


def _bounds(limit: Limit, ctx: PlanContext) -> tuple[int, int | None] | None:
    """The offset, and the count unless it is one that says that there is none."""
    if limit.percent or limit.count is None:
        return None
    count = row_count(limit.count, ctx)
    offset = 0 if limit.offset is None else row_count(limit.offset, ctx)
    if count is None or offset is None or offset > _MOST:
        return None
    return offset, count if count <= _MOST else None
