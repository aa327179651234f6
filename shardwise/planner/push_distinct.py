"""push_distinct: duplicates go before they are moved.

    Distinct            Distinct
    └─ Gather     =>    └─ Gather
       └─ X                └─ Distinct
                              └─ X

The outer one stays: a row may be on several shards. Likewise for the arms of UNION, INTERSECT and EXCEPT,
which treat equal rows as one, and for DISTINCT ON, in the same order on both sides: the first row of all is
the first of its shard.
"""

from __future__ import annotations

from shardwise.plan.nodes import Distinct, Gather, Node, SetOp
from shardwise.plan.tree import rewrite
from shardwise.planner.distribution import Analysis, mixes_collations
from shardwise.planner.pass_context import PlanContext


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
        return node

    analysis = ctx.analysis()
    return rewrite(plan, change) if plan.kinds & {Distinct, SetOp} else plan


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
