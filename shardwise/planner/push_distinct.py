"""push_distinct: duplicates go before they are moved.

    Distinct            Distinct
    └─ Gather     =>    └─ Gather
       └─ X                └─ Distinct
                              └─ X

The outer one stays: a row may be on several shards. Likewise for the arms of UNION, INTERSECT and EXCEPT,
which treat equal rows as one, and for DISTINCT ON, in the same order on both sides: the first row of all is
the first of its shard. Of the inner side of a semi- or anti-join nothing but the columns that are compared is
of use, and no row twice; not of values that are equal and not the same, for one would stand for all of them:
of texts, for the join may compare by another collation; of others, where anything but `=` asks for them:
EXISTS (SELECT 1 FROM b WHERE b.x = a.x AND CAST(b.f AS VARCHAR) = a.t) with 0.0 and -0.0.
"""

from __future__ import annotations

from sqlglot import exp

from shardwise.plan.nodes import ColumnId, Distinct, Gather, Join, Keep, Node, Output, SetOp
from shardwise.plan.tree import bare, column_id, columns_in, rewrite
from shardwise.planner.distribution import Analysis, mixes_collations
from shardwise.planner.equivalence import is_binary
from shardwise.planner.pass_context import PlanContext
from shardwise.planner.told_apart import is_told_apart


def push_distinct(plan: Node, ctx: PlanContext) -> Node:
    def change(node: Node) -> Node:
        if isinstance(node, Distinct) and isinstance(node.input, Gather):
            below = _distinct(node.input, node, analysis)
            return node if below is node.input else node.but(input=below)
        if isinstance(node, SetOp) and not node.all and _compare_alike(node, ctx):
            arms = tuple(
                _distinct(a, Distinct(input=a), analysis) if isinstance(a, Gather) else a for a in node.arms
            )
            return node if all(a is b for a, b in zip(arms, node.arms, strict=True)) else node.but(arms=arms)
        if isinstance(node, Join) and node.kind in ("semi", "anti") and isinstance(node.right, Gather):
            right = _inner(node, node.right, ctx, analysis)
            return node if right is node.right else node.but(right=right)
        return node

    analysis = ctx.analysis()
    return rewrite(plan, change) if plan.kinds & {Distinct, SetOp, Join} else plan


def _inner(node: Join, gather: Gather, ctx: PlanContext, analysis: Analysis) -> Gather:
    """The inner side's different keys, if they are estimated at no more than half of its rows."""
    read = frozenset[ColumnId]().union(*(columns_in(c) for c in node.on))
    kept = tuple(o for o in gather.outputs if o.id in read)
    if not kept or not all(_may_be_one(o, node, ctx) for o in kept):
        return gather
    keys = ctx.estimates.distinct(gather.input, [o.id for o in kept]) * len(gather.shards)
    if keys > ctx.estimates.rows(gather.input) / 2 and "push_distinct" not in ctx.forced:
        return gather
    inner = gather.input if len(kept) == len(gather.outputs) else Keep(input=gather.input, columns=kept)
    return _distinct(gather.but(input=inner), Distinct(input=inner), analysis)


def _may_be_one(output: Output, node: Join, ctx: PlanContext) -> bool:
    """Whether one of equal values may stand for all of them in the join's conditions."""
    if not is_binary(output.collation):
        return False
    tests = (c for c in node.on if output.id in columns_in(c))
    return is_told_apart(output, ctx) or all(_is_of_its_type(c, output, ctx) for c in tests)


def _is_of_its_type(test: exp.Expr, output: Output, ctx: PlanContext) -> bool:
    """`b.f = a.f`, both of one type: what is equal by it is what DISTINCT takes as equal."""
    test = bare(test)
    if type(test) is not exp.EQ or output.type is None:
        return False
    sides = [column_id(bare(side)) for side in (test.this, test.expression)]
    return all(side is not None and ctx.types[side].type == output.type for side in sides)


def _compare_alike(node: SetOp, ctx: PlanContext) -> bool:
    """Whether what is equal in an arm is equal in the whole, whose collation may be another arm's.

    SELECT name FROM a UNION SELECT code FROM b, of which one ignores case and the other does not, has both
    'ann' and 'ANN'.
    """
    if mixes_collations(node):
        return False
    return not ctx.dialect.carries_collations or all(o.type is not None for o in node.outputs)


def _distinct(gather: Gather, like: Distinct, analysis: Analysis) -> Gather:
    inner = gather.input
    distinct = like.but(input=inner)
    if isinstance(inner, Distinct) or not analysis.allows(distinct, gather.shards):
        return gather
    return gather.but(input=distinct)
