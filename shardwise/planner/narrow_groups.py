"""narrow_groups: groups that are joined are made of the rows that the other side's keys name.

    Join g.part = p.id                          Join g.part = p.id
    ├─ Filter p.brand = 'x'                     ├─ Filter p.brand = 'x'
    │  └─ Scan p                                │  └─ Scan p
    └─ Aggregate by l.part: avg(l.q)      =>    └─ Aggregate by l.part: avg(l.q)
       └─ Scan l                                   └─ Filter l.part IN keys_1
                                                      └─ Scan l

As choose_strategies, which narrows a side that is on the shards: whole groups are only in the merge, but the
rows they are made of are on the shards.

Sound: what is filtered by a column that is grouped by loses whole groups; those that are lost meet no row,
for the keys are of at least all rows of the other side, and NULL meets nothing. So the groups' side has to be
one whose unmatched rows vanish. The keys may be those of any tree that the other side's column comes from:
joins, filters and groups make no new values but NULL. Not past a LIMIT or a window on the groups' side, which
would have other rows, nor by a column that is computed: GROUP BY l.part % 10.
"""

from __future__ import annotations

from sqlglot import exp

from shardwise.plan.nodes import Aggregate, ColumnId, Filter, Join, Keep, Node, Project, Rows, Scan
from shardwise.plan.tree import column_id, free_columns, rewrite, same
from shardwise.planner.distribution import Analysis, At, Merged
from shardwise.planner.equivalence import equalities
from shardwise.planner.estimates.defaults import ROW_BYTES
from shardwise.planner.firsts import KEYS_MAX
from shardwise.planner.pass_context import PlanContext
from shardwise.planner.quotients import gives_quotients
from shardwise.planner.strategies.keys import (
    condition_of,
    is_repeatable,
    key_pairs,
    may_be_asked,
    waits,
)
from shardwise.planner.strategies.programs import KEY_BYTES

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
            if not _pays(source, target, ctx, analysis):
                continue
            condition = condition_of(*source, key, ctx)
            if condition is not None and not _has(rows, condition):
                return node.but(right=_with(node.right, rows, condition))
    return node


def _pairs(node: Join, ctx: PlanContext) -> list[tuple[ColumnId, ColumnId]]:
    pairs = list(dict.fromkeys((*equalities(node.on, ctx.types), *key_pairs(node.on, ctx))))
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
    return analysis.spread(rows) > 1 and may_be_asked(rows, key, analysis)


def _pays(source: Place, target: Place, ctx: PlanContext, analysis: Analysis) -> bool:
    """Whether fewer bytes are moved and sent: keys come here and go to the shards, so many groups fewer
    come."""
    (giver, mine), (rows, key) = source, target
    estimates, shards = ctx.estimates, analysis.spread(rows)
    keys, values = estimates.distinct(giver, [mine]), estimates.distinct(rows, [key])
    if keys > KEYS_MAX:
        return False
    if "keys" in ctx.forced:
        return True
    groups = min(estimates.rows(rows), values * shards) * max(0.0, 1.0 - keys / max(values, 1.0))
    moved = 0.0 if isinstance(giver, Rows) else keys * (KEY_BYTES + ROW_BYTES)
    return moved + keys * KEY_BYTES * shards < groups * (KEY_BYTES + ROW_BYTES)


# The keys


def _sources(left: Node, mine: ColumnId, key: ColumnId, ctx: PlanContext, analysis: Analysis) -> list[Place]:
    """Trees on the shards that have every value of the column, or of one that is equal to it."""
    equal = (mine, *sorted(analysis.equal(left).same_as(mine) - {mine}))
    found = [place for id in equal if (place := _source(left, id, analysis)) is not None]
    return [
        (tree, id)
        for tree, id in found
        if ctx.early.keys_meet(id, key, ctx.types)
        and (isinstance(tree, Rows) or (is_repeatable(tree, ctx) and not waits(tree, ctx)))
        and not (ctx.dialect.reader.cuts_quotients and gives_quotients(tree, ctx.types))
    ]


def _source(node: Node, id: ColumnId, analysis: Analysis) -> Place | None:
    if id not in node.output_ids:
        return None
    if isinstance(node, Rows) or not isinstance(analysis.of(node), Merged | At):
        return node, id
    if isinstance(node, Project | Aggregate):
        below = _below(node, id)
        return _source(node.input, below, analysis) if below is not None else None
    if isinstance(node, Filter | Keep | Join):
        return next((p for n in node.inputs if (p := _source(n, id, analysis)) is not None), None)
    return None
