"""What leaves the shards of rows that are joined there: groups, or the rows of a page."""

from __future__ import annotations

from functools import cache
from math import inf

from shardwise.plan.nodes import Aggregate, Limit
from shardwise.plan.tree import plans_in
from shardwise.planner.aggregates import is_aggregate
from shardwise.planner.dialects import query_dialect
from shardwise.planner.functions import is_volatile
from shardwise.planner.pass_context import PlanContext
from shardwise.planner.strategies.programs import Consumer


def of_groups(node: Aggregate, ctx: PlanContext) -> Consumer:
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


def of_page(node: Limit, ctx: PlanContext) -> Consumer | None:
    """Each shard gives the first rows."""
    bound = ctx.estimates.count(node.count), ctx.estimates.count(node.offset)
    if node.count is None or bound[0] is None or node.percent:
        return None
    most = bound[0] + (bound[1] or 0.0)
    return lambda rows, shards: (min(rows, most * shards), ctx.estimates.width(node))
