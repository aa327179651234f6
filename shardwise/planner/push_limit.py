"""push_limit: each shard stops after `count + offset` rows.

    Limit 5 offset 2            Limit 5 offset 2
    └─ Sort v             =>    └─ Sort v
       └─ Gather                   └─ Gather
          └─ T                        └─ Limit 7
                                         └─ Sort v
                                            └─ T

Sound: among the first 7 rows of all, those of one shard are among its first 7. The outer Sort and Limit stay.
Where groups or duplicates span shards an Aggregate or Distinct stands between, and the pattern does not
match: SELECT g, count(*) FROM t GROUP BY g ORDER BY 2 DESC LIMIT 1 would lose a group. No bound is sent for a
percentage, nor where count + offset is not known or overflows: LIMIT 18446744073709551615 OFFSET 3.
"""

from __future__ import annotations

from sqlglot import exp

from shardwise.catalog.types import Family, type_family
from shardwise.plan.nodes import Aggregate, ColumnId, Gather, Limit, Node, Project, SetOp, Sort
from shardwise.plan.tree import column, column_id, columns_in, plans_in, replace_columns, rewrite
from shardwise.planner.distribution import Analysis
from shardwise.planner.functions import is_volatile
from shardwise.planner.pass_context import PlanContext

_MOST = 2**62


def push_limit(plan: Node, ctx: PlanContext) -> Node:
    def change(node: Node) -> Node:
        if not isinstance(node, Limit) or node.percent:
            return node
        bound = _bound(node, ctx)
        if bound is None:
            return node
        below = _bounded(node.input, bound, analysis)
        return node if below is node.input else node.but(input=below)

    analysis = ctx.analysis()
    return rewrite(plan, change) if Limit in plan.kinds else plan


def _bounded(node: Node, bound: int, analysis: Analysis, keys: Sort | None = None) -> Node:
    """`node`, of which only the first `bound` rows (in the order of `keys`) will be read."""
    if isinstance(node, Sort) and keys is None:
        if any(is_volatile(k.expr) or any(True for _ in plans_in(k.expr)) for k in node.keys):
            return node
        below = _bounded(node.input, bound, analysis, node)
        return node if below is node.input else node.but(input=below)
    if isinstance(node, Gather) and not isinstance(node.input, Limit):
        if len(node.shards) == 1 and not analysis.are_foreign(node.shards):
            return node
        if keys is not None and any(columns_in(k.expr) - node.output_ids for k in keys.keys):
            return node  # ordered by an outer row, which the shards do not see
        inner: Node = node.input if keys is None else keys.but(input=node.input)
        limit = Limit(input=inner, count=exp.Literal.number(bound))
        return node.but(input=limit) if analysis.allows(limit, node.shards) else node
    if isinstance(node, SetOp) and node.kind == "union" and node.all:
        if keys is not None and not _compared_alike(node, keys, analysis):
            return node
        arms = tuple(_bounded(arm, bound, analysis, _over(arm, node, keys)) for arm in node.arms)
        return node if all(a is b for a, b in zip(arms, node.arms, strict=True)) else node.but(arms=arms)
    if isinstance(node, Project) and not any(
        is_volatile(i.expr) or i.expr.find(exp.Subquery) for i in node.items
    ):
        order = _through(keys, {ColumnId(node.rel, i.name): i.expr for i in node.items})
        if keys is not None and order is None:
            return node
        below = _bounded(node.input, bound, analysis, order)
        return node if below is node.input else node.but(input=below)
    if isinstance(node, Aggregate) and keys is not None:
        return _groups(node, bound, analysis, keys)
    return node


def _through(keys: Sort | None, by: dict[ColumnId, exp.Expr]) -> Sort | None:
    """The order over what the columns are copies of; None if one is computed."""
    if keys is None or any(
        id in by and type(by[id]) is not exp.Column for k in keys.keys for id in columns_in(k.expr)
    ):
        return None
    return keys.but(keys=tuple(k._replace(expr=replace_columns(k.expr, by)) for k in keys.keys))


def _groups(node: Aggregate, bound: int, analysis: Analysis, keys: Sort) -> Node:
    """Parts of groups may be cut only by an order of all their columns: then a group is cut on every shard or
    on none.

    GROUP BY g1, g2 ORDER BY g1 LIMIT 1 would take one part of a group here and another there.
    """
    gather = node.input
    if not isinstance(gather, Gather) or node.sets is not None or not isinstance(gather.input, Aggregate):
        return node
    by = {ColumnId(node.rel, k.name): k.expr for k in node.keys}
    order = _through(keys, by)
    sorted_by = {column_id(k.expr) for k in keys.keys}
    if order is None or sorted_by != by.keys() or len(gather.input.keys) != len(node.keys):
        return node
    below = _bounded(gather, bound, analysis, order)
    return node if below is gather else node.but(input=below)


def _compared_alike(union: SetOp, keys: Sort, analysis: Analysis) -> bool:
    """Whether all arms declare the sort columns alike: 10 sorts after 9, '10' before '9'.

    Of two collations the result has one, or none. ENUMs sort by their members' places, and what MySQL's UNION
    makes of them by letters.
    """
    arms = zip(union.outputs, *(arm.outputs for arm in union.arms), strict=True)
    declared = {
        o.id
        for o, *each in arms
        if o.type is not None
        and type_family(o.type, analysis.catalog.dialect) is not Family.ENUM
        and len({a.collation for a in each}) == 1
    }
    return all(columns_in(k.expr) & union.output_ids <= declared for k in keys.keys)


def _over(arm: Node, union: SetOp, keys: Sort | None) -> Sort | None:
    """The order over the arm's own columns, which are the union's by position."""
    if keys is None:
        return None
    by = {o.id: column(a.id) for o, a in zip(union.outputs, arm.outputs, strict=True)}
    return keys.but(keys=tuple(k._replace(expr=replace_columns(k.expr, by)) for k in keys.keys))


def _bound(node: Limit, ctx: PlanContext) -> int | None:
    count = 0 if node.count is None else row_count(node.count, ctx)
    offset = 0 if node.offset is None else row_count(node.offset, ctx)
    if node.count is None or count is None or offset is None or not 0 <= count + offset < _MOST:
        return None
    return count + offset


def row_count(expr: exp.Expr, ctx: PlanContext) -> int | None:
    if isinstance(expr, exp.Literal) and not expr.is_string and expr.name.isdigit():
        return int(expr.name)
    if isinstance(expr, exp.Placeholder):
        value = ctx.parameters.exact(expr.name)
        return value if type(value) is int and value >= 0 else None
    return None
