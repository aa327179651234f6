"""The passes in their order, and the runner: the only part that knows them by name.

A pass is a function `(plan, ctx) -> plan` in a file of its name. It returns the very same object when it had
nothing to do. The runner leaves out those that are switched off, checks what must hold after each, and
records steps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from shardwise.errors import InternalError
from shardwise.plan.nodes import Gather, Node
from shardwise.plan.verify import verify
from shardwise.planner.choose_strategies import choose_strategies
from shardwise.planner.drop_fences import drop_fences
from shardwise.planner.group_before_joins import group_before_joins
from shardwise.planner.group_on_shards import group_on_shards
from shardwise.planner.join_aggregates import join_aggregates
from shardwise.planner.join_back import join_back
from shardwise.planner.join_subqueries import join_subqueries
from shardwise.planner.look_up_keys import look_up_keys
from shardwise.planner.merge_sorted import merge_sorted
from shardwise.planner.narrow_columns import narrow_columns
from shardwise.planner.narrow_groups import narrow_groups
from shardwise.planner.note_reasons import note_reasons
from shardwise.planner.order_joins import order_joins
from shardwise.planner.pass_context import PlanContext
from shardwise.planner.place_gathers import place_gathers
from shardwise.planner.probe_groups_early import probe_groups_early
from shardwise.planner.prune_slots import prune_slots
from shardwise.planner.push_distinct import push_distinct
from shardwise.planner.push_filters import push_filters
from shardwise.planner.push_limit import push_limit
from shardwise.planner.route_keys import route_keys
from shardwise.planner.run_first import run_first
from shardwise.planner.seek_pages import seek_pages
from shardwise.planner.split_aggregates import split_aggregates
from shardwise.planner.use_indexes_in_semi_joins import use_indexes_in_semi_joins
from shardwise.planner.use_join_indexes import use_join_indexes
from shardwise.planner.use_lookup_indexes import use_lookup_indexes

Pass = Callable[[Node, PlanContext], Node]

PASSES: tuple[Pass, ...] = (
    drop_fences,
    push_filters,
    use_indexes_in_semi_joins,
    run_first,
    prune_slots,
    use_join_indexes,
    use_lookup_indexes,
    join_aggregates,
    join_subqueries,
    order_joins,
    join_back,
    group_on_shards,
    choose_strategies,
    narrow_groups,
    look_up_keys,
    route_keys,
    group_before_joins,
    place_gathers,
    split_aggregates,
    push_distinct,
    push_limit,
    seek_pages,
    merge_sorted,
    narrow_columns,
    note_reasons,
    probe_groups_early,
)
"""The order of the passes is this tuple."""

OPTIONAL = tuple(p.__name__ for p in PASSES if p not in (place_gathers, narrow_columns, note_reasons))
"""Passes that may be switched off by name: the answer is the same, more rows move."""


def run(
    plan: Node,
    passes: Iterable[Pass],
    ctx: PlanContext,
    *,
    disabled: Iterable[str] = (),
    verify_each: bool = False,
) -> tuple[Node, list[tuple[str, Node]]]:
    """The plan after all passes, and a step (pass, plan) for each that changed it.

    The plan is always verified at the end; with `verify_each` after every pass, which names the guilty one.
    """
    off = frozenset(disabled)
    steps: list[tuple[str, Node]] = []
    ctx.learn(plan)
    first, is_whole = plan, _is_whole(plan)
    for one in passes:
        name = one.__name__
        if name in off or (is_whole and one is not narrow_columns):
            continue
        after = one(plan, ctx)
        if after is plan:
            continue
        if verify_each:
            _check(after, plan, f"the pass {name}")
        steps.append((name, after))
        plan, is_whole = after, _is_whole(after)
    if not verify_each:
        _check(plan, first, " or ".join(name for name, _ in steps) or "the binder")
    return plan, steps


def _check(plan: Node, before: Node, guilty: str) -> None:
    problem = verify(plan, like=before)
    if problem is not None:
        raise InternalError(f"{guilty} broke the plan: {problem}")


def _is_whole(plan: Node) -> bool:
    """Whether one shard answers everything: nothing is left to move."""
    return isinstance(plan, Gather) and len(plan.shards) == 1
