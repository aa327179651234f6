"""probe_groups_early: MariaDB looks a row up in a subquery's groups before it joins the row, not after.

    Gather                                  Gather
    └─ Join                                 └─ Join
       ├─ Filter o.id IN (groups of l)  =>     ├─ Filter (o.id IN (groups of l)) IS TRUE
       │  └─ Scan o                            │  └─ Scan o
       └─ Scan l                               └─ Scan l

Of `o.id IN (SELECT l.id FROM l GROUP BY l.id HAVING sum(l.n) > 300)` MariaDB makes a semi-join. It expects
HAVING to leave every group, so that the semi-join drops nothing and may come last: all rows of o are joined
with l first. A condition that is a value is no semi-join, and is asked once its row of o is read.

Sound: a filter keeps the rows for which its condition is TRUE.

Not where there are fewer groups than rows of o: a semi-join may then begin with the groups, and find their
rows by an index, where WHERE o.customer IN (SELECT customer FROM o GROUP BY customer HAVING count(*) > 30)
would read all of o once more. How many they are has to be known by ANALYZE.
"""

from __future__ import annotations

from sqlglot import exp

from shardwise.plan.nodes import Aggregate, Filter, Gather, Join, Node, Project, Scan
from shardwise.plan.tree import bare, free_columns, map_inputs, plan_of, rewrite, walk
from shardwise.planner.pass_context import PlanContext


def probe_groups_early(plan: Node, ctx: PlanContext) -> Node:
    def change(node: Node) -> Node:
        if not isinstance(node, Gather) or not node.kinds >= {Join, Filter, Aggregate}:
            return node
        after = _probed(node.input, ctx)
        is_done = after is not node.input and ctx.analysis().allows(after, node.shards)
        return node.but(input=after) if is_done else node

    return rewrite(plan, change) if ctx.catalog.dialects == {"mysql"} else plan


def _probed(node: Node, ctx: PlanContext) -> Node:
    """Filters below joins."""
    node = map_inputs(node, lambda below: _probed(below, ctx))
    if isinstance(node, Join):
        return map_inputs(node, lambda side: _as_values(side, ctx) if isinstance(side, Filter) else side)
    return node


def _as_values(node: Filter, ctx: PlanContext) -> Node:
    conjuncts = tuple(_as_value(c) if _is_late(c, node, ctx) else c for c in node.conjuncts)
    return node if conjuncts == node.conjuncts else node.but(conjuncts=conjuncts)


def _as_value(condition: exp.Expr) -> exp.Expr:
    return exp.Is(this=exp.Paren(this=condition.copy()), expression=exp.true())


def _is_late(condition: exp.Expr, node: Filter, ctx: PlanContext) -> bool:
    """Whether it looks each row up in groups that are as many, or more, before HAVING drops most."""
    test = bare(condition)
    query = test.args.get("query") if isinstance(test, exp.In) else None
    groups = plan_of(query) if query is not None else None
    while isinstance(groups, Project):
        groups = groups.input
    if not isinstance(groups, Filter) or not isinstance(groups.input, Aggregate) or free_columns(groups):
        return False
    return "probe_groups_early" in ctx.forced or (
        _is_known(node, ctx) and ctx.estimates.rows(groups.input) >= ctx.estimates.rows(node.input)
    )


def _is_known(node: Node, ctx: PlanContext) -> bool:
    """Whether ANALYZE has seen all that it reads, and all that its subqueries read."""
    scans = (each for each in walk(node) if isinstance(each, Scan))
    return all(ctx.catalog.statistics_of(scan.table) is not None for scan in scans)
