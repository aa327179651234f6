"""join_subqueries: EXISTS, NOT EXISTS and IN of what is elsewhere become semi- and anti-joins.

    Filter NOT EXISTS (subquery)              Anti-join o.customer = c.id
    ├─ Scan c                           =>    ├─ Scan c
    └─ (Filter o.customer = c.id              └─ Scan o
        └─ Scan o)

Below a Filter all of `o` would go to the merge beside every row of `c`. Of a join keys may narrow either
side, or one be sent to the other (`choose_strategies`), and no key of the inner side need come twice
(`push_distinct`).

Sound: a row is kept if one of the inner rows fulfils all conditions (or none does), which is what a semi-join
(an anti-join) on these conditions says; how many do is not asked. Restrictions, each with its query:

- Only conjuncts of WHERE. SELECT x IN (SELECT y FROM b) may be NULL where a join says no; and NOT IN is no
  anti-join: x NOT IN (1, NULL) is never true.
- All that is correlated stands over the inner rows, in filters: not below groups, a LIMIT, or an outer join:
  EXISTS (SELECT count(*) FROM o WHERE o.c = c.id) is true of every row.
- Computing the inner rows once for all has to give the same, and must not fail where it is not asked: no
  random(), no 1 / o.x.
- One condition at least is `column = column` of one kind: else the join would compare each row with each. Of
  IN it is the comparison itself: of a text and a number IN and `=` need not mean the same.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlglot import exp

from shardwise.plan.nodes import Distinct, Filter, Join, JoinKind, Keep, Node, Project, Sort
from shardwise.plan.tree import (
    bare,
    column,
    columns_in,
    free_columns,
    names_read,
    parted,
    plan_of,
    plans_in,
    rewrite,
)
from shardwise.planner.determinism import is_deterministic
from shardwise.planner.distribution import Analysis, Merged, stays
from shardwise.planner.equivalence import Types, equalities
from shardwise.planner.pass_context import PlanContext
from shardwise.planner.push_filters import is_movable, push_filters
from shardwise.planner.strategies.keys import key_pairs

Conjuncts = tuple[exp.Expr, ...]
Linked = Callable[[Conjuncts, Types], object]


def join_subqueries(plan: Node, ctx: PlanContext) -> Node:
    if not plan.has_subqueries:
        return plan
    analysis = ctx.analysis()

    def change(node: Node) -> Node:
        if isinstance(node, Filter) and node.subplans and isinstance(analysis.of(node), Merged):
            return _joined(node, ctx, analysis)
        return node

    after = rewrite(plan, change)
    return plan if after is plan else push_filters(after, ctx)


def _joined(node: Filter, ctx: PlanContext, analysis: Analysis) -> Node:
    def is_linked(on: Conjuncts, types: Types) -> object:
        return equalities(on, types) or key_pairs(on, ctx)

    made = [(c, inner_of(c, node, ctx, analysis, is_linked)) for c in node.conjuncts]
    rest = tuple(conjunct for conjunct, inner in made if inner is None)
    if len(rest) == len(node.conjuncts):
        return node
    below: Node = node.but(conjuncts=rest) if rest else node.input
    for _, inner in made:
        if inner is not None:
            kind: JoinKind = "anti" if inner.is_anti else "semi"
            below = Join(kind=kind, left=below, right=inner.node, on=inner.on)
    return below


@dataclass(frozen=True, slots=True)
class Inner:
    """The inner side, and what it is joined on."""

    node: Node
    on: Conjuncts
    is_anti: bool


def inner_of(
    conjunct: exp.Expr, outer: Filter, ctx: PlanContext, analysis: Analysis, is_linked: Linked = equalities
) -> Inner | None:
    """What a conjunct of a Filter says of inner rows, as a join; None if it is none. `is_linked` says whether
    one of its conditions (of IN, the comparison) is a comparison of columns that a join may be done by."""
    test = bare(conjunct)
    is_anti = isinstance(test, exp.Not) and isinstance(bare(test.this), exp.Exists)
    test = bare(test.this) if is_anti else test
    query = test.this if isinstance(test, exp.Exists) else test.args.get("query")
    plan = plan_of(query) if isinstance(test, exp.Exists | exp.In) and query is not None else None
    if plan is None or sum(1 for _ in plans_in(conjunct)) != 1 or stays(outer, plan, analysis):
        return None
    if names_read(plan) or not is_movable(conjunct, ctx) or not is_deterministic(plan, ctx.type_of):
        return None
    rows = _rows(plan)
    own: Conjuncts = ()
    if isinstance(test, exp.In):
        if len(plan.outputs) != 1 or isinstance(bare(test.this), exp.Tuple) or test.args.get("negate"):
            return None
        is_computed = isinstance(rows, Project)
        value = rows.items[0].expr if isinstance(rows, Project) else column(rows.outputs[0].id)
        own = (exp.EQ(this=test.this.copy(), expression=value.copy()),)
        rows = rows.inputs[0] if is_computed else rows
    elif isinstance(rows, Project):
        rows = rows.input
    below, on = _lifted(rows)
    on = own + on
    known = outer.output_ids | below.output_ids
    if free_columns(below) or any(columns_in(c) - known or any(plans_in(c)) for c in on):
        return None
    links = (columns_in(c) & outer.output_ids and columns_in(c) & below.output_ids for c in on)
    return Inner(below, on, is_anti) if any(links) and is_linked(own or on, ctx.types) else None


def _rows(plan: Node) -> Node:
    """Without what does not say whether there is a row."""
    while isinstance(plan, Keep | Sort) or (isinstance(plan, Distinct) and plan.on is None):
        plan = plan.inputs[0]
    return plan


def _lifted(node: Node) -> tuple[Node, Conjuncts]:
    """The rows, and the conditions on outer rows that stood over them."""
    if not isinstance(node, Filter) or not free_columns(node):
        return node, ()
    mine, rest = parted(node.conjuncts, lambda c: bool(columns_in(c) - node.output_ids))
    below, on = _lifted(node.input)
    return (node.but(input=below, conjuncts=rest) if rest else below), on + mine
