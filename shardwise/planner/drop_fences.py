"""drop_fences: where no predicate can fail, there is nothing to be kept from the rows out of scope.

    Filter o.total > 9                        Filter o.total > 9
    └─ Fence                            =>    └─ Filter o.tenant = $scope_tenant
       └─ Filter o.tenant = $scope_tenant        └─ Scan o
          └─ Scan o

Sound: engines evaluate a statement's predicates in an order of their own, and move them below joins. With
WHERE CAST(o.note AS INTEGER) > 9 that is an error if another tenant's note is a word, and tells the word.
So all fences stay if any predicate of the statement can fail, or if it is kept whole. What is no predicate is
evaluated for rows that have passed.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from shardwise.plan.nodes import Fence, Filter, Join, Node, Raw
from shardwise.plan.tree import map_expressions, map_inputs, map_plans
from shardwise.planner.pass_context import PlanContext
from shardwise.planner.push_filters import is_movable


def drop_fences(plan: Node, ctx: PlanContext) -> Node:
    if Fence not in plan.kinds or Raw in plan.kinds:
        return plan
    if any(not is_movable(ctx.parameters.as_typed(predicate), ctx) for predicate in _predicates(plan)):
        return plan
    return _without(plan)


def _predicates(node: Node) -> Iterator[exp.Expr]:
    """All but those of the scope itself, which are under the fences."""
    if isinstance(node, Fence):
        return
    if isinstance(node, Filter):
        yield from node.conjuncts
    elif isinstance(node, Join):
        yield from node.on
    for below in (*node.inputs, *node.subplans):
        yield from _predicates(below)


def _without(node: Node) -> Node:
    if isinstance(node, Fence) and not node.is_strict:
        return _without(node.input)
    if node.subplans:
        node = map_expressions(node, lambda e: map_plans(e, _without))
    return map_inputs(node, _without)
