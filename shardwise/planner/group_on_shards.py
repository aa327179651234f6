"""group_on_shards: groups that are whole on their shards are made before it is chosen how sides meet.

    Aggregate by o.id, c.name: sum(i.price)        Aggregate by g.id, c.name: sum(g.p0)
    └─ Join o.customer = c.id                      └─ Join g.customer = c.id
       ├─ Join i.order = o.id           =>            ├─ Aggregate g by o.id, o.customer: p0 = sum(i.price)
       │  ├─ Scan o                                   │  └─ Join i.order = o.id
       │  └─ Scan i                                   │     ├─ Scan o
       └─ Scan c                                      │     └─ Scan i
                                                      └─ Scan c

Orders and their items are on the same shards by the order's id, so that no two shards have rows of one group.
Then the side is its groups, whatever strategy is chosen: they come ahead in place of rows, give the keys, or
are joined where they are. (TPC-H Q18: five orders come ahead, not their 35 lines.)

Sound: as `group_before_joins`, of which this is a part: by the distribution of the groups themselves, which
are as much on the shards as their rows were. Groups that several shards have parts of are not made here: a
key that narrows the side, or rows that are sent to it, would have to pass what only the merge finishes. Nor
is one side alone grouped where another has aggregates: sum(i.price * g.n) is of two, and i could not be
grouped any more. Nor where something is computed of the groups' aggregates, as coalesce(sum(g.n), 0) is for
count(*): once a strategy has joined all of it on the shards, the whole Aggregate is split. Groups are half of
the rows at most, of tables that ANALYZE counted.
"""

from __future__ import annotations

from shardwise.plan.nodes import Node, Scan
from shardwise.plan.tree import walk
from shardwise.planner.group_before_joins import grouped
from shardwise.planner.pass_context import PlanContext

_NAME = "group_on_shards"


def group_on_shards(plan: Node, ctx: PlanContext) -> Node:
    if _NAME not in ctx.forced and not _is_any_counted(plan, ctx):
        return plan
    return grouped(plan, ctx, _NAME, only_whole=True)


def _is_any_counted(plan: Node, ctx: PlanContext) -> bool:
    scans = (node for node in walk(plan) if isinstance(node, Scan))
    return any(ctx.catalog.statistics_of(scan.table) is not None for scan in scans)
