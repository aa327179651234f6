"""How the columns of a fragment's rows are kept in a merge by SQLite, so that they compare as on the shards.

A column of a table has its affinity and its collation; CAST(… AS t) has t's affinity; a scalar subquery has
what its column has; any other expression has none.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from sqlglot import exp

from shardwise.catalog.sqlite_types import affinity
from shardwise.plan.nodes import (
    Aggregate,
    ColumnId,
    Cte,
    CteRef,
    Item,
    Node,
    Output,
    Project,
    Recursive,
    Rows,
    Scan,
    SetOp,
    Window,
)
from shardwise.plan.run import Shape
from shardwise.plan.tree import plan_of, walk
from shardwise.planner.early_values.sqlite_rows import NO_AFFINITY


class _Kept(NamedTuple):
    affinity: str
    shape: Shape


NONE: Final = _Kept(NO_AFFINITY, Shape("", "ifnull({}, NULL)"))


def shapes(fragment: Node) -> tuple[Shape, ...]:
    """One for each output; one that nobody reads for a fragment without."""
    return tuple(kept.shape for kept in _kept(fragment)) or (NONE.shape,)


def affinities(node: Node) -> tuple[str, ...]:
    """Those of its columns, `NO_AFFINITY` for none."""
    return tuple(kept.affinity for kept in _kept(node))


def _kept(node: Node) -> tuple[_Kept, ...]:
    definitions = {n.name: n.definition for n in walk(node) if isinstance(n, Cte)}
    return tuple(_of_column(node, output.id, definitions) for output in node.outputs)


def _of_output(output: Output) -> _Kept:
    """A table's own column."""
    kind = affinity(output.type or "")
    declared: str = "" if kind == "BLOB" else kind
    if output.collation:
        declared = f"{declared} COLLATE {output.collation}".strip()
    return _Kept(kind, Shape(declared))


def _of_column(node: Node, id: ColumnId, definitions: dict[str, Node]) -> _Kept:
    if isinstance(node, Scan):
        return next(_of_output(o) for o in node.columns if o.id == id)
    if isinstance(node, Rows):
        return _of_rows(node, id)
    if isinstance(node, Project | Aggregate | Window):
        items: tuple[Item, ...] = node.keys + node.calls if isinstance(node, Aggregate) else node.items
        for item in items:
            if ColumnId(node.rel, item.name) == id:
                return _of_expression(node.input, item.expr, definitions)
    if isinstance(node, SetOp):
        position = next(i for i, output in enumerate(node.outputs) if output.id == id)
        found = {_of_column(arm, arm.outputs[position].id, definitions) for arm in node.arms}
        return (
            found.pop() if len(found) == 1 else NONE
        )  # stored as the first arm's, another's would be converted
    if isinstance(node, CteRef) and node.name in definitions:
        position = next(i for i, output in enumerate(node.outputs) if output.id == id)
        definition = definitions[node.name]
        return _of_column(definition, definition.outputs[position].id, definitions)
    if isinstance(node, Recursive):
        position = next(i for i, output in enumerate(node.outputs) if output.id == id)
        return _of_column(node.base, node.base.outputs[position].id, definitions)
    for below in (node.body,) if isinstance(node, Cte) else node.inputs:
        if id in below.output_ids:
            return _of_column(below, id, definitions)
    return NONE


def _of_rows(node: Rows, id: ColumnId) -> _Kept:
    """What `early_values` gave a column: a subquery has that of json_each's values, any other its cast's."""
    if node.query is None:
        return NONE
    item = node.query.expressions[[o.id for o in node.columns].index(id)]
    return _Kept("BLOB", Shape()) if isinstance(item, exp.Subquery) else _of_expression(node, item, {})


def _of_expression(source: Node, expr: exp.Expr, definitions: dict[str, Node]) -> _Kept:
    while isinstance(expr, exp.Paren):
        expr = expr.this
    if type(expr) is exp.Column:
        return _of_column(source, ColumnId(expr.table, expr.name), definitions)
    if type(expr) is exp.Cast:
        to = expr.to.sql("sqlite")
        return _Kept(affinity(to), Shape("", f"CAST({{}} AS {to})"))
    plan = plan_of(expr)
    if plan is not None and plan.outputs:
        return _of_column(plan, plan.outputs[0].id, definitions)
    return NONE
