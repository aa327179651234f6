"""narrow_columns: a scan reads, and a fragment gives, only the columns that are used.

    Aggregate: max(t.v)             Aggregate: max(t.v)
    └─ Gather                 =>    └─ Gather
       └─ Filter t.x > 1               └─ Keep t.v
          └─ Scan t: k, v, x              └─ Filter t.x > 1
                                             └─ Scan t: k, v, x

Sound: a column is dropped only where no node above mentions it. What compares or passes whole rows (DISTINCT,
set operations, a statement kept whole) mentions all of them. Not optional: hidden columns must not show.
"""

from __future__ import annotations

from sqlglot import exp

from shardwise.plan.nodes import (
    Aggregate,
    ColumnId,
    Cte,
    Distinct,
    Gather,
    Item,
    Keep,
    Node,
    Project,
    Raw,
    Recursive,
    Rows,
    Scan,
    SetOp,
    Window,
)
from shardwise.plan.tree import (
    columns_in,
    columns_read,
    free_columns,
    map_expressions,
    map_inputs,
    plan_of,
    subplan,
)
from shardwise.planner.bind.sources import HIDDEN
from shardwise.planner.functions import is_volatile
from shardwise.planner.pass_context import PlanContext

Needed = frozenset[ColumnId]


def narrow_columns(plan: Node, ctx: PlanContext) -> Node:
    return _narrow(plan, plan.output_ids)


def _narrow(node: Node, needed: Needed) -> Node:
    if isinstance(node, Gather):
        return _gather(node, needed)
    if isinstance(node, Scan):
        kept = tuple(o for o in node.columns if o.id in needed) or node.columns[:1]
        return node if len(kept) == len(node.columns) else node.but(columns=kept)
    if isinstance(node, Rows):
        return _rows(node, needed)
    if isinstance(node, Raw):
        return map_inputs(node, lambda table: _narrow(table, _shown(table)))
    if isinstance(node, Keep):
        return _keep(node, needed)
    node = _only(node, needed)
    if node.subplans:
        node = map_expressions(node, _in_expression)
    if isinstance(node, SetOp | Cte | Recursive | Distinct):
        # The body of a Cte gives its outputs, all arms and the definition give all of theirs.
        return map_inputs(node, lambda n: _narrow(n, n.output_ids if n.output_ids - needed else needed))
    read = needed | columns_read(node)
    lateral = needed.union(*(free_columns(n) for n in node.inputs))
    return map_inputs(node, lambda n: _narrow(n, (read | lateral) & n.output_ids))


def _rows(node: Rows, needed: Needed) -> Rows:
    kept = [i for i, o in enumerate(node.columns) if o.id in needed] or [0]
    if len(kept) == len(node.columns):
        return node
    query = node.query
    if query is not None:
        items = query.expressions
        query = query.copy()
        query.set("expressions", [items[i].copy() for i in kept])
    return node.but(columns=tuple(node.columns[i] for i in kept), query=query)


def _shown(table: Node) -> Needed:
    return frozenset(id for id in table.output_ids if id.name not in HIDDEN)


def _gather(node: Gather, needed: Needed) -> Gather:
    needed = needed.union(*(columns_in(key.expr) for key in node.order))
    inner = _narrow(node.input, needed & node.output_ids or frozenset(o.id for o in node.outputs[:1]))
    kept = tuple(o for o in inner.outputs if o.id in needed) or inner.outputs[:1]
    if len(kept) < len(inner.outputs):
        inner = Keep(input=inner, columns=kept)
    return node if inner is node.input else node.but(input=inner)


def _keep(node: Keep, needed: Needed) -> Keep:
    kept = tuple(o for o in node.columns if o.id in needed) or node.columns[:1]
    node = node if len(kept) == len(node.columns) else node.but(columns=kept)
    return map_inputs(node, lambda n: _narrow(n, node.output_ids))


def _only(node: Node, needed: Needed) -> Node:
    """Computed columns that nothing reads are not computed."""
    if isinstance(node, Project):
        return _items(node, node.items, needed, "items", at_least_one=True)
    if isinstance(node, Aggregate):
        return _items(node, node.calls, needed, "calls", at_least_one=not node.keys)
    if isinstance(node, Window):
        return _items(node, node.items, needed, "items", at_least_one=True)
    return node


def _items(
    node: Project | Aggregate | Window,
    items: tuple[Item, ...],
    needed: Needed,
    field: str,
    *,
    at_least_one: bool,
) -> Node:
    kept = tuple(i for i in items if ColumnId(node.rel, i.name) in needed or is_volatile(i.expr))
    if not kept and at_least_one:
        kept = items[:1]
    return node if len(kept) == len(items) else node.but(**{field: kept})


def _in_expression(expr: exp.Expr) -> exp.Expr:
    """A subquery gives all its columns, but EXISTS reads none of them."""
    if expr.find(exp.Subquery) is None:
        return expr
    changed = False

    def swap(part: exp.Expr) -> exp.Expr:
        nonlocal changed
        plan = plan_of(part)
        if plan is None:
            return part
        exists = isinstance(part.parent, exp.Exists)
        after = _narrow(plan, frozenset(o.id for o in plan.outputs[:1]) if exists else plan.output_ids)
        changed = changed or after is not plan
        return part if after is plan else subplan(after)

    after = expr.transform(swap)
    return after if changed else expr
