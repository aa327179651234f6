"""run_first: a subquery that needs nothing of the outer rows runs before them, and its rows become values.

    Filter u.age > (subquery)          runs first: subquery_1 = SELECT avg(age) FROM u
    ├─ Scan u                    =>    Filter u.age > $subquery_1
    └─ (Aggregate avg over u)          └─ Scan u

Without it the Filter needs all rows of the subquery beside every row of u, and both go to the merge. With it
the predicate is one like any other: it goes to the shards, and prunes them if it is about the shard key.

Sound: an uncorrelated subquery has one value for the statement. A scalar one of two rows is the dialect's
error, of none NULL. IN's rows are sent as a list, NULLs too, if they are few; EXISTS asks for one row. What
already runs on the shards (copies, colocated IN) is left there. The order of discovery names the values, and
is the same in the planning before and after they are known. A quotient that has more digits than it shows
stays where it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlglot import exp

from shardwise.plan.nodes import Filter, Join, Limit, Local, Node, Project, Scan
from shardwise.plan.run import Bound
from shardwise.plan.tree import (
    free_columns,
    map_expressions,
    map_inputs,
    names_read,
    plan_of,
    subplans,
    walk,
)
from shardwise.planner.distribution import Analysis, Split, stays
from shardwise.planner.early_values import different
from shardwise.planner.firsts import LIST_MAX, Early, Use
from shardwise.planner.narrow_columns import narrow_columns
from shardwise.planner.pass_context import PlanContext
from shardwise.planner.quotients import gives_quotients
from shardwise.planner.shown_decimals import reads_counted_decimals


def run_first(plan: Node, ctx: PlanContext) -> Node:
    if not plan.has_subqueries:
        return plan
    analysis = ctx.analysis()

    def change(node: Node) -> Node:
        node = map_inputs(node, change)
        if isinstance(node, Filter | Join | Project) and subplans(node):
            waiting = [p for p in subplans(node) if _should_run_first(node, p, analysis, ctx)]
            if waiting:
                return map_expressions(node, lambda e: _with_values(e, waiting, ctx))
        return node

    return change(plan)


def _should_run_first(node: Node, plan: Node, analysis: Analysis, ctx: PlanContext) -> bool:
    below = [analysis.of(n) for n in node.inputs]
    spread = any(isinstance(d, Split) and not d.is_one for d in below)
    if (
        not spread
        or free_columns(plan)
        or names_read(plan)
        or not any(isinstance(n, Scan | Local) for n in walk(plan))
        or not (ctx.dialect.carries_collations or _is_binary(plan) or _is_binary(narrow_columns(plan, ctx)))
    ):
        return False
    return not stays(node, plan, analysis)


def _is_binary(plan: Node) -> bool:
    return all(o.collation is None for n in walk(plan) for o in n.outputs)


def _with_values(expr: exp.Expr, waiting: list[Node], ctx: PlanContext) -> exp.Expr:
    if expr.find(exp.Subquery) is None:
        return expr

    def swap(part: exp.Expr) -> exp.Expr:
        use, plan = _use(part)
        if plan is None or not any(plan is w for w in waiting):
            return part
        if use != "exists" and len(plan.outputs) != 1:
            return part  # a row
        if use != "exists" and ctx.dialect.reader.cuts_quotients and _shows_otherwise(plan, ctx):
            return part
        if use != "exists" and not ctx.early.value_may_travel(plan.outputs[0].type):
            return part
        early = ctx.firsts.add(use, _of_use(use, plan))
        bound = ctx.firsts.bound.get(early.name)
        if bound is None:
            return _placeholder(part, early)
        if bound.rows is None or (use != "exists" and not _travels(use, bound, ctx)):
            return part
        return _value(part, early, bound, ctx)

    # Outermost first, so that IN and EXISTS are seen before the subquery in them.
    before = len(ctx.firsts.found)
    after = expr.copy().transform(swap)
    return expr if len(ctx.firsts.found) == before else after


def _shows_otherwise(plan: Node, ctx: PlanContext) -> bool:
    """Whether its value as a constant could show other digits than computed in its place."""
    return gives_quotients(plan, ctx.types) or reads_counted_decimals(plan)


def _travels(use: Use, bound: Bound, ctx: PlanContext) -> bool:
    if use == "in" and not ctx.early.lists_compare_alike:
        return ctx.early.rows_travel(bound, (None,))
    return ctx.early.travels(bound)


def _use(part: exp.Expr) -> tuple[Use, Node | None]:
    if isinstance(part, exp.In):
        query = part.args.get("query")
        return "in", plan_of(query) if query is not None else None
    if isinstance(part, exp.Exists):
        return "exists", plan_of(part.this)
    if isinstance(part.parent, exp.Array) or (
        isinstance(part.parent, exp.In | exp.Exists | exp.Any | exp.All) and part.arg_key in ("query", "this")
    ):
        return "scalar", None
    return "scalar", plan_of(part)


def _of_use(use: Use, plan: Node) -> Node:
    """Of EXISTS one row tells; of IN no shard gives more than are of use, and one that tells there are
    more."""
    if use == "scalar":
        return plan
    return Limit(input=plan, count=exp.Literal.number(1 if use == "exists" else LIST_MAX + 1))


def _placeholder(part: exp.Expr, early: Early) -> exp.Expr:
    """How it reads while the value is not known: what EXPLAIN shows."""
    name = exp.Placeholder(this=early.name)
    return exp.In(this=part.this.copy(), expressions=[name]) if early.use == "in" else name


def _value(part: exp.Expr, early: Early, bound: Bound, ctx: PlanContext) -> exp.Expr:
    rows = bound.rows or ()
    if early.use == "exists":
        return exp.true() if rows else exp.false()
    if early.use == "scalar":
        return _constant(early.name, rows[0][0] if rows else None, bound.types[0], ctx)
    if not rows:
        return exp.false()
    values = [row[0] for row in rows]
    values = different(values) if _hashable(rows) else values
    if not ctx.early.lists_compare_alike:
        return _among(part.this, early.name, values, bound, ctx)
    members = [_constant(f"{early.name}_{i}", v, bound.types[0], ctx) for i, v in enumerate(values)]
    return exp.In(this=part.this.copy(), expressions=members)


def _among(value: exp.Expr, name: str, values: list[Any], bound: Bound, ctx: PlanContext) -> exp.Expr:
    def bind(suffix: str, given: Sequence[Any]) -> exp.Expr:
        return ctx.parameters.bind_list(f"{name}_{suffix}", given, name)

    return ctx.early.are_among([value.copy()], [(each,) for each in values], bound.types, bind)


def _hashable(rows: object) -> bool:
    return all(not isinstance(row[0], list | dict) for row in rows)  # type: ignore[attr-defined]


def _constant(name: str, value: object, type_text: str, ctx: PlanContext) -> exp.Expr:
    """The value as a parameter, of the type that the subquery gave it."""
    return ctx.early.value(ctx.parameters.bind_value(name, value), type_text)
