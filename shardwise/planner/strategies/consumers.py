"""What leaves the shards of rows that are joined there: groups, or the rows of a page."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from math import inf

from shardwise.plan.nodes import Aggregate, Filter, Keep, Limit, Node, Project, Sort
from shardwise.plan.tree import plans_in
from shardwise.planner.aggregates import is_aggregate
from shardwise.planner.dialects import query_dialect
from shardwise.planner.functions import is_volatile
from shardwise.planner.pass_context import PlanContext
from shardwise.planner.strategies.programs import Consumer


def consumer_below(above: Iterable[Node], ctx: PlanContext) -> Consumer | None:
    """What becomes of the rows below these nodes, the highest first."""
    found: Consumer | None = None
    for node in above:
        found = consumer_of_input(node, found, ctx)
    return found


def consumer_of_input(node: Node, above: Consumer | None, ctx: PlanContext) -> Consumer | None:
    """What becomes of the node's input, if `above` is what becomes of the node: of groups, groups leave the
    shards; of a page, its rows."""
    if isinstance(node, Aggregate):
        return _of_groups(node, ctx)
    if isinstance(node, Limit):
        return _of_page(node, ctx)
    return above if isinstance(node, Project | Filter | Sort | Keep) else None


def _of_groups(node: Aggregate, ctx: PlanContext) -> Consumer:
    """Each shard gives its part of each group, if the aggregates have parts."""
    calls = [item.expr for item in node.calls if is_aggregate(item.expr)]
    everything = [*calls, *(key.expr for key in node.keys)]

    @cache
    def has_parts() -> bool:
        """Asked only where all may be joined on the shards."""
        if any(is_volatile(e) or any(True for _ in plans_in(e)) for e in everything):
            return False
        return query_dialect(ctx.catalog.dialect).combine(calls, ctx.type_of) is not None

    def leaving(rows: float, shards: int) -> tuple[float, float]:
        if not has_parts():
            return rows, inf
        return min(rows, ctx.estimates.rows(node) * shards), ctx.estimates.width(node)

    return leaving


def _of_page(node: Limit, ctx: PlanContext) -> Consumer | None:
    """Each shard gives the first rows."""
    bound = ctx.estimates.count(node.count), ctx.estimates.count(node.offset)
    if node.count is None or bound[0] is None or node.percent:
        return None
    most = bound[0] + (bound[1] or 0.0)
    return lambda rows, shards: (min(rows, most * shards), ctx.estimates.width(node))
