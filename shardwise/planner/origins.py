"""Which table's column a node's column is, where it is one as it is."""

from __future__ import annotations

from typing import NamedTuple

from sqlglot import exp

from shardwise.catalog.model import Column
from shardwise.plan.nodes import Aggregate, ColumnId, Node, Project, Scan
from shardwise.plan.tree import bare


class Origin(NamedTuple):
    """A scan's column."""

    scan: Scan
    name: str

    @property
    def column(self) -> Column | None:
        """As the catalog declares it; None where it does not, or it is no column of the tables themselves."""
        declared = self.scan.table.columns or ()
        return next((c for c in declared if c.name == self.name and not c.virtual), None)


def origin(node: Node, id: ColumnId) -> Origin | None:
    """Where the column comes from; None where it is computed, or of a set operation."""
    if isinstance(node, Scan):
        return Origin(node, id.name)
    if isinstance(node, Project | Aggregate) and node.rel == id.rel:
        items = node.items if isinstance(node, Project) else node.keys
        expr = next((bare(item.expr) for item in items if item.name == id.name), None)
        if not isinstance(expr, exp.Column):
            return None
        id = ColumnId(expr.table, expr.name)
    below = next((each for each in node.inputs if id in each.output_ids), None)
    return None if below is None else origin(below, id)


def origin_of_extreme(node: Node, id: ColumnId) -> Origin | None:
    """Of which table's column it is the MIN or MAX of groups, by however many steps; None where it is not."""
    if isinstance(node, Project | Aggregate) and node.rel == id.rel:
        items = node.items if isinstance(node, Project) else node.keys + node.calls
        expr = next((bare(item.expr) for item in items if item.name == id.name), None)
        if isinstance(expr, exp.Min | exp.Max) and isinstance(node, Aggregate):
            inner = bare(expr.this)
            if not isinstance(inner, exp.Column):
                return None
            below = ColumnId(inner.table, inner.name)
            return origin(node.input, below) or origin_of_extreme(node.input, below)
        if not isinstance(expr, exp.Column):
            return None
        id = ColumnId(expr.table, expr.name)
    below_node = next((each for each in node.inputs if id in each.output_ids), None)
    return None if below_node is None else origin_of_extreme(below_node, id)
