"""Subqueries in expressions (rule 8): is all that each needs on the shard of the row it is asked for?"""

from __future__ import annotations

from sqlglot import exp

from shardwise.plan.nodes import Filter, Join, Node
from shardwise.plan.tree import column_id, plan_of, subplans
from shardwise.planner.distribution.questions import Questions
from shardwise.planner.distribution.reach import may_be_asked
from shardwise.planner.distribution.values import MERGED, At, Copied, Distribution, Split, covers, meet
from shardwise.planner.equivalence import Equivalence, linkable


def with_copied_subqueries(node: Node, below: Copied, analysis: Questions) -> Distribution:
    """A copy, on the shards that have copies of the subqueries' rows too."""
    shards = below.shards
    for plan in subplans(node):
        inner = analysis.of(plan)
        if not isinstance(inner, Copied):
            return MERGED
        shards = meet(shards, inner.shards)
        if shards == ():
            return MERGED
    return Copied(shards)


def subqueries_stay(node: Node, below: Distribution, analysis: Questions) -> bool:
    """Rule 8: whether each subquery has, on the shard of the row it is asked for, all rows it needs.

    NOT IN, ANY and ALL need all of them even if linked: `k IN (SELECT k FROM b)` as a value must be NULL, not
    FALSE, where another shard holds b's NULL; only as a conjunct, where both reject the row, may IN be split.
    """
    plans = subplans(node)
    if not plans:
        return True
    if isinstance(below, Copied):
        return all(isinstance(analysis.of(p), Copied) for p in plans)
    return all(_stays(node, plan, below, analysis) for plan in plans)


def stays(node: Node, plan: Node, analysis: Questions) -> bool:
    """Whether one subquery of `node` has what it needs on every shard of the rows it is asked for."""
    parts = [analysis.of(n) for n in node.inputs]
    if isinstance(node, Join):
        left, right = parts
        return _stays(node, plan, combined(left, right), analysis)
    return _stays(node, plan, parts[0], analysis)


def _stays(node: Node, plan: Node, below: Distribution, analysis: Questions) -> bool:
    inner = analysis.of(plan)
    shards = below.shards if isinstance(below, Split | At) else ()
    if isinstance(inner, Copied) and covers(inner.shards, shards):
        return True
    if isinstance(inner, At) and inner == below:
        return True
    if not isinstance(below, Split):
        return False
    if isinstance(inner, At):
        is_with = is_at(below, inner, analysis.equal(node))
    elif isinstance(inner, Split):
        is_with = (inner.is_one and inner.shards == below.shards) or _in_linked(
            node, plan, inner, below, analysis
        )
    else:
        return False
    return is_with and may_be_asked(plan, below.shards, analysis)


def combined(left: Distribution, right: Distribution) -> Distribution:
    """What subqueries in ON must be available on."""
    if isinstance(left, Split):
        return left
    return right if isinstance(right, Split) else left


def is_at(outer: Split, inner: At, known: Equivalence) -> bool:
    """Whether the rows an outer row needs are on that row's own shard."""
    for key in outer.keys:
        fits = key.function == inner.function and not (inner.orphaned and key.strength == "orphaned")
        if fits and all(known.equal(a, b) for a, b in zip(key.columns, inner.columns, strict=True)):
            return True
    return False


def _in_linked(node: Node, plan: Node, inner: Split, outer: Split, analysis: Questions) -> bool:
    """`a.k IN (SELECT b.k …)` as a conjunct of WHERE or of an inner ON: equal keys are on one shard."""
    if isinstance(node, Filter):
        conjuncts = node.conjuncts
    elif isinstance(node, Join) and node.kind in ("inner", "cross"):
        conjuncts = node.on
    else:
        return False
    known = analysis.equal(node)
    for conjunct in conjuncts:
        if type(conjunct) is not exp.In or plan_of(conjunct.args.get("query") or exp.Null()) is not plan:
            continue
        asked = conjunct.this.expressions if isinstance(conjunct.this, exp.Tuple) else [conjunct.this]
        while len(asked) == 1 and isinstance(asked[0], exp.Paren):
            asked = [asked[0].this]
        pairs = dict(zip((o.id for o in plan.outputs), (column_id(e) for e in asked), strict=False))
        for key in outer.keys:
            for other in inner.keys:
                if key.function != other.function or key.strength == other.strength == "orphaned":
                    continue
                if all(
                    (mine := pairs.get(theirs)) is not None
                    and known.equal(mine, column)
                    and linkable(mine, theirs, analysis.types)
                    for column, theirs in zip(key.columns, other.columns, strict=True)
                ):
                    return True
    return False
