"""Which columns of a result may be NULL, as far as the plan shows.

A column is followed down to the scan it comes from. It cannot be NULL if the table says NOT NULL (or it is
of the primary key) and no outer join, grouping set or set operation on the way can make it so. Where the
plan does not show it, the answer is None: unknown.
"""

from __future__ import annotations

from sqlglot import exp

from shardwise.plan import nodes
from shardwise.plan.nodes import ColumnId, Node


def nullability(root: Node) -> tuple[bool | None, ...]:
    """One value per output of `root`, in order."""
    return tuple(_null_ok(root, output.id) for output in root.outputs)


def _null_ok(node: Node, column: ColumnId) -> bool | None:
    match node:
        case nodes.Scan():
            return _column_of_table(node, column)
        case nodes.Filter() | nodes.Sort() | nodes.Limit() | nodes.Distinct() | nodes.Gather():
            return _null_ok(node.input, column)
        case nodes.Window():
            return _null_ok(node.input, column) if column in node.input.output_ids else None
        case nodes.Cte():
            return _null_ok(node.body, column)
        case nodes.Project():
            return _item(node.items, node.input, column)
        case nodes.Aggregate() if node.sets is None:
            return _item(node.keys, node.input, column) if _is_key(node, column) else _call(node, column)
        case nodes.Join():
            return _join(node, column)
    return None


def _column_of_table(scan: nodes.Scan, column: ColumnId) -> bool | None:
    for declared in scan.table.columns or ():
        if declared.name.lower() == column.name.lower():
            is_key = column.name.lower() in (name.lower() for name in scan.table.primary_key)
            return declared.nullable and not is_key
    return None


def _item(items: tuple[nodes.Item, ...], source: Node, column: ColumnId) -> bool | None:
    for item in items:
        if item.name == column.name:
            if isinstance(item.expr, exp.Column):
                return _null_ok(source, ColumnId(item.expr.table, item.expr.name))
            return isinstance(item.expr, exp.Null) if isinstance(item.expr, exp.Literal | exp.Null) else None
    return None


def _is_key(node: nodes.Aggregate, column: ColumnId) -> bool:
    return any(key.name == column.name for key in node.keys)


def _call(node: nodes.Aggregate, column: ColumnId) -> bool | None:
    """COUNT is never NULL; a partial count is summed, so only a direct one is known."""
    for item in node.calls:
        if item.name == column.name:
            return False if isinstance(item.expr, exp.Count) else None
    return None


def _join(node: nodes.Join, column: ColumnId) -> bool | None:
    is_left = column in node.left.output_ids
    extended = {
        "left": not is_left,
        "right": is_left,
        "full": True,
        "asof_left": not is_left,
        "positional": True,
    }.get(node.kind, False)
    return True if extended else _null_ok(node.left if is_left else node.right, column)
