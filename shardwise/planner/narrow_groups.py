"""narrow_groups: groups that are joined are made of the rows that the other side's keys name.

    Join g.part = p.id                          Join g.part = p.id
    ├─ Filter p.brand = 'x'                     ├─ Filter p.brand = 'x'
    │  └─ Scan p                                │  └─ Scan p
    └─ Aggregate by l.part: avg(l.q)      =>    └─ Aggregate by l.part: avg(l.q)
       └─ Scan l                                   └─ Filter l.part IN keys_1
                                                      └─ Scan l

As keys_first, which narrows a side that is on the shards: whole groups are only in the merge, but the rows
they are made of are on the shards.

Sound: what is filtered by a column that is grouped by loses whole groups; those that are lost meet no row,
for the keys are of at least all rows of the other side, and NULL meets nothing. So the groups' side has to be
one whose unmatched rows vanish. The keys may be those of any tree that the other side's column comes from:
joins, filters and groups make no new values but NULL. Not past a LIMIT or a window on the groups' side, which
would have other rows, nor by a column that is computed: GROUP BY l.part % 10.
"""

from __future__ import annotations

from sqlglot import exp

from shardwise.plan.nodes import Aggregate, ColumnId, Filter, Join, Keep, Node, Project, Scan
from shardwise.plan.tree import column_id, free_columns, plan_of, plans_in, rewrite, same, walk
from shardwise.planner.distribution import Analysis, At, Merged, Split
from shardwise.planner.equivalence import equalities
from shardwise.planner.functions import is_constant
from shardwise.planner.keys_first import (
    SELECTIVE,
    are_declared_alike,
    asked_of_keys,
    condition_of,
    is_repeatable,
    strength,
    waits,
)
from shardwise.planner.pass_context import PlanContext
from shardwise.planner.quotients import gives_quotients

Place = tuple[Node, ColumnId]
"""A tree, and one of its columns."""


def narrow_groups(plan: Node, ctx: PlanContext) -> Node:
    if not {Join, Aggregate} <= plan.kinds:
        return plan
    analysis = ctx.analysis()

    def change(node: Node) -> Node:
        if isinstance(node, Join) and node.kind in ("inner", "left") and not node.lateral:
            return _narrowed(node, ctx, analysis)
        return node

    return rewrite(plan, change)


def _narrowed(node: Join, ctx: PlanContext, analysis: Analysis) -> Join:
    if not isinstance(analysis.of(node.right), Merged) or free_columns(node.right):
        return node
    for mine, theirs in _pairs(node, ctx):
        target = _origin(node.right, theirs)
        if target is None or not _may_narrow(*target, analysis):
            continue
        rows, key = target
        for source in _sources(node.left, mine, key, ctx, analysis):
            if _asked(source[0]) < SELECTIVE or _asked_itself(rows, ctx) >= SELECTIVE:
                continue
            condition = condition_of(*source, key, ctx)
            if condition is not None and not _has(rows, condition):
                return node.but(right=_with(node.right, rows, condition))
    return node


def _pairs(node: Join, ctx: PlanContext) -> list[tuple[ColumnId, ColumnId]]:
    pairs = equalities(node.on, ctx.types)
    pairs += [(other, one) for one, other in pairs]
    return [(a, b) for a, b in pairs if a in node.left.output_ids and b in node.right.output_ids]


def _has(rows: Node, condition: exp.Expr) -> bool:
    return isinstance(rows, Filter) and any(same(c, condition) for c in rows.conjuncts)


def _with(groups: Node, rows: Node, condition: exp.Expr) -> Node:
    """The groups made of those of the rows that fulfil the condition."""
    before = rows.conjuncts if isinstance(rows, Filter) else ()
    scan = rows.input if isinstance(rows, Filter) else rows
    narrowed = Filter(input=scan, conjuncts=(*before, condition))
    return rewrite(groups, lambda n: narrowed if n is rows else n)


# The groups


def _origin(node: Node, id: ColumnId, *, is_grouped: bool = False) -> Place | None:
    """The scan, with the filter over it, whose rows with one value in the column make the rows with it."""
    if isinstance(node, Scan) or (isinstance(node, Filter) and isinstance(node.input, Scan)):
        return (node, id) if is_grouped else None
    if isinstance(node, Filter | Keep):
        return _origin(node.input, id, is_grouped=is_grouped)
    if isinstance(node, Project) or (isinstance(node, Aggregate) and node.sets is None):
        below = _below(node, id)
        grouped = is_grouped or isinstance(node, Aggregate)
        return _origin(node.input, below, is_grouped=grouped) if below is not None else None
    if isinstance(node, Join) and not node.lateral and node.kind in ("inner", "cross", "semi", "left"):
        if id in node.left.output_ids:
            return _origin(node.left, id, is_grouped=is_grouped)
        return _origin(node.right, id, is_grouped=is_grouped) if node.kind in ("inner", "cross") else None
    return None


def _below(node: Project | Aggregate, id: ColumnId) -> ColumnId | None:
    """The input's column that it is, if it is no more than one."""
    items = node.items if isinstance(node, Project) else node.keys
    return next((column_id(i.expr) for i in items if ColumnId(node.rel, i.name) == id), None)


def _may_narrow(rows: Node, key: ColumnId, analysis: Analysis) -> bool:
    where = analysis.of(rows)
    if not isinstance(where, Split) or where.is_one:
        return False
    return not analysis.are_foreign(where.shards) or analysis.allows(asked_of_keys(rows, key), where.shards)


def _asked_itself(rows: Node, ctx: PlanContext) -> int:
    """How much is asked of the rows, but for keys that ran first."""
    firsts = {early.name for early in ctx.firsts.found}
    tests = rows.conjuncts if isinstance(rows, Filter) else ()
    own = (c for c in tests if firsts.isdisjoint(p.name for p in c.find_all(exp.Placeholder)))
    return max((strength(c) for c in own if not is_constant(c)), default=0)


# The keys


def _sources(left: Node, mine: ColumnId, key: ColumnId, ctx: PlanContext, analysis: Analysis) -> list[Place]:
    """Trees on the shards that have every value of the column, or of one that is equal to it."""
    equal = (mine, *sorted(analysis.equal(left).same_as(mine) - {mine}))
    found = [place for id in equal if (place := _source(left, id, analysis)) is not None]
    return [
        (tree, id)
        for tree, id in found
        if are_declared_alike(id, key, ctx)
        and is_repeatable(tree)
        and not waits(tree, ctx)
        and not (ctx.dialect.reader.cuts_quotients and gives_quotients(tree, ctx.types))
    ]


def _source(node: Node, id: ColumnId, analysis: Analysis) -> Place | None:
    if id not in node.output_ids:
        return None
    if not isinstance(analysis.of(node), Merged | At):
        return node, id
    if isinstance(node, Project | Aggregate):
        below = _below(node, id)
        return _source(node.input, below, analysis) if below is not None else None
    if isinstance(node, Filter | Keep | Join):
        return next((p for n in node.inputs if (p := _source(n, id, analysis)) is not None), None)
    return None


def _asked(tree: Node) -> int:
    """As keys_first asks it; an IN of a subquery asks as much as is asked in it."""
    tests = [c for n in walk(tree) if isinstance(n, Filter) for c in n.conjuncts if not is_constant(c)]
    lists = [c for c in tests if isinstance(c, exp.In) and plan_of(c.args.get("query") or exp.Null())]
    within = (_asked(plan) for c in lists for plan in plans_in(c))
    return max((*map(strength, tests), *within), default=0)
