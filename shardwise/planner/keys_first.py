"""keys_first: the selective side of a join runs first, and its keys narrow the other side.

    Join l.part = p.id                     runs first: keys_1 = SELECT DISTINCT id FROM p WHERE brand = 'x'
    ├─ Scan l                       =>     Join l.part = p.id
    └─ Filter p.brand = 'x'                ├─ Filter l.part IN keys_1
       └─ Scan p                           │  └─ Scan l
                                           └─ Filter p.brand = 'x' …

Both sides of a join that is not colocated move to the merge; but only rows that meet another are of use.
The selective side is the one that more is asked of. Its keys are moved once more, and sent to the other
side's shards; if they are too many, that side moves whole, as without this pass.

Sound: only a side whose unmatched rows vanish is narrowed: either side of an inner or semi join, the null
side of a left join, the inner side of an anti join. A NULL key meets nothing. The keys are those of the rows
that are joined later only if computing the side twice gives the same rows: a LIMIT below it does not.
"""

from __future__ import annotations

from sqlglot import exp

from shardwise.plan.nodes import (
    ColumnId,
    Distinct,
    Filter,
    Item,
    Join,
    Local,
    Node,
    Project,
    Scan,
    Values,
)
from shardwise.plan.tree import (
    bare,
    column,
    conjuncts,
    disjuncts,
    free_columns,
    map_expressions,
    map_inputs,
    map_plans,
    names_read,
    walk,
)
from shardwise.planner.determinism import is_deterministic
from shardwise.planner.distribution import Analysis, At, Distribution, Merged, Split
from shardwise.planner.equivalence import equalities
from shardwise.planner.firsts import Early
from shardwise.planner.functions import is_constant
from shardwise.planner.pass_context import PlanContext
from shardwise.planner.quotients import gives_quotients

SELECTIVE = 2
_UNKNOWN = "keys of the other side"
_HERE = 3
_INTEGERS = frozenset({"TINYINT", "SMALLINT", "INT", "INTEGER", "BIGINT"})


def keys_first(plan: Node, ctx: PlanContext) -> Node:
    if Join not in plan.kinds:
        return plan
    analysis = ctx.analysis()

    def change(node: Node) -> Node:
        narrowed = _narrowed(node, ctx, analysis) if isinstance(node, Join) else node
        if narrowed is not node:
            return narrowed
        node = map_inputs(node, change)
        return map_expressions(node, lambda e: map_plans(e, change)) if node.subplans else node

    return change(plan)


def _narrowed(node: Join, ctx: PlanContext, analysis: Analysis) -> Join:
    if node.lateral or not isinstance(analysis.of(node), Merged):
        return node
    left, right = analysis.of(node.left), analysis.of(node.right)
    asked_left, asked_right = _asked(node.left, left), _asked(node.right, right)
    if min(asked_left, asked_right) < 0 or max(asked_left, asked_right) < SELECTIVE:
        return node
    if asked_left > asked_right and node.kind in ("inner", "left", "semi", "anti"):
        few, many, where = node.left, node.right, right
    elif asked_right > asked_left and node.kind in ("inner", "right", "semi"):
        few, many, where = node.right, node.left, left
    else:
        return node
    if not isinstance(where, Split) or where.is_one or not is_repeatable(few) or free_columns(many):
        return node
    if waits(few, ctx):
        return node  # it will be asked again when what runs before it is known
    pair = _keys(node, few, many, ctx)
    if pair is None:
        return node
    if analysis.are_foreign(where.shards) and not analysis.allows(asked_of_keys(many, pair[1]), where.shards):
        return node
    condition = condition_of(few, *pair, ctx)
    if condition is None:
        return node
    side = Filter(input=many, conjuncts=(condition,))
    return node.but(left=side) if many is node.left else node.but(right=side)


def asked_of_keys(many: Node, key: ColumnId) -> Node:
    """The side as it would be narrowed, by keys that are not known yet."""
    return Filter(input=many, conjuncts=(_in_keys(key, _UNKNOWN),))


def _in_keys(key: ColumnId, name: str) -> exp.In:
    return exp.In(this=column(key), expressions=[exp.Placeholder(this=name)])


def _is_here(side: Node) -> bool:
    """Whether all of it is computed from the connection's own tables."""
    leaves = [n for n in walk(side) if not n.inputs]
    return any(isinstance(n, Local) for n in leaves) and all(isinstance(n, Local | Values) for n in leaves)


def is_repeatable(side: Node) -> bool:
    alone = not free_columns(side) and not names_read(side)
    return alone and any(isinstance(n, Scan | Local) for n in walk(side)) and is_deterministic(side)


def waits(side: Node, ctx: PlanContext) -> bool:
    unknown = {early.name for early in ctx.firsts.found} - ctx.firsts.bound.keys()
    read = (p.name for n in walk(side) for e in n.expressions for p in e.find_all(exp.Placeholder))
    return not unknown.isdisjoint(read)


def _asked(side: Node, where: Distribution) -> int:
    """How much is asked of a side's rows: 2 if a column is to be like a constant, 1 if it has a bound.

    More of a side that is in the merge already: its keys cost no row. Less than nothing of what is not
    gathered whole.
    """
    if _is_here(side):
        return _HERE
    if isinstance(where, Merged | At):
        return -1
    tests = (c for n in walk(side) if isinstance(n, Filter) for c in n.conjuncts if not is_constant(c))
    return max(map(strength, tests), default=0)


def strength(test: exp.Expr) -> int:
    if test.find(exp.Subquery) is not None:
        return 0
    arms = disjuncts(test)
    if len(arms) > 1:
        return min(max(map(strength, conjuncts(arm))) for arm in arms)
    return 2 if isinstance(bare(test), exp.EQ | exp.In | exp.Like) else 1


def _keys(node: Join, few: Node, many: Node, ctx: PlanContext) -> tuple[ColumnId, ColumnId] | None:
    """The first equality of a column of each side that are declared alike; integers are, of any width."""
    if ctx.dialect.reader.cuts_quotients and gives_quotients(few, ctx.types):
        return None
    for one, other in equalities(node.on, ctx.types):
        mine, theirs = (one, other) if one in few.output_ids else (other, one)
        if mine in few.output_ids and theirs in many.output_ids and are_declared_alike(mine, theirs, ctx):
            return mine, theirs
    return None


def are_declared_alike(one: ColumnId, other: ColumnId, ctx: PlanContext) -> bool:
    types = {ctx.types[one].type, ctx.types[other].type}
    return len(types) == 1 or all(t is not None and t.upper() in _INTEGERS for t in types)


def condition_of(few: Node, mine: ColumnId, theirs: ColumnId, ctx: PlanContext) -> exp.Expr | None:
    """`theirs` IN the keys; None if there are too many, or they do not travel."""
    rel = f"keys of {mine.rel}.{mine.name} for {theirs.rel}.{theirs.name}"
    plan = Distinct(input=Project(input=few, rel=rel, items=(Item("key", column(mine)),)))
    early = _same_keys(plan, ctx) or ctx.firsts.add("keys", plan)
    bound = ctx.firsts.bound.get(early.name)
    if bound is None:
        return _in_keys(theirs, early.name)
    if bound.rows is None or not ctx.early.travels(bound):
        return None
    keys = [row[0] for row in bound.rows if row[0] is not None]
    if not keys:
        return exp.false()
    parameter = ctx.parameters.bind_value(early.name, keys)
    return ctx.early.is_among(column(theirs), parameter, bound.types[0])


def _same_keys(plan: Distinct, ctx: PlanContext) -> Early | None:
    """The keys, if they are asked for already."""
    return next(
        (early for early in ctx.firsts.found if early.use == "keys" and _is_same(early.plan, plan)), None
    )


def _is_same(one: Node, other: Node) -> bool:
    """Whether both compute the same of the very same rows."""
    (mine,), (theirs,) = one.inputs, other.inputs
    same = isinstance(mine, Project) and isinstance(theirs, Project) and mine.items == theirs.items
    return same and mine.inputs[0] is theirs.inputs[0]
