"""prune_slots: a scan is read only where its predicates may hold.

    Filter u.id = 5                      Filter u.id = 5
    └─ Scan u on s0, s1, s2        =>    └─ Scan u on s2

Sound: only predicates that push_filters brought to the scan count, and `prune.slots_of` widens on whatever it
does not understand. A scan of no slot is Empty: it owes what an empty table owes. SELECT * FROM a LEFT JOIN b
ON a.k = b.k WHERE b.k IS NULL must not prune b to the NULLs: that predicate stays above.
"""

from __future__ import annotations

from sqlglot import exp

from shardwise.catalog.model import Sharded, Sharding
from shardwise.catalog.shardings import full
from shardwise.plan.nodes import Empty, Filter, Node, Scan
from shardwise.plan.route import Route
from shardwise.plan.tree import rewrite
from shardwise.planner.dialects import query_dialect
from shardwise.planner.pass_context import PlanContext
from shardwise.planner.prune import Pruned, slots_of

Conjuncts = tuple[exp.Expr, ...]


def prune_slots(plan: Node, ctx: PlanContext) -> Node:
    def change(node: Node) -> Node:
        if isinstance(node, Filter) and isinstance(node.input, Scan):
            scan = _pruned(node.input, node.conjuncts, ctx)
            return node if scan is node.input else node.but(input=scan)
        return node

    return rewrite(plan, change)


def _pruned(scan: Scan, conjuncts: Conjuncts, ctx: PlanContext) -> Node:
    pruned = asked(scan, conjuncts, ctx)
    if pruned is None:
        return scan
    sharding = ctx.catalog.sharding_of(scan.table)
    assert sharding is not None
    if pruned.slots == full(sharding.function.size) or pruned.slots == scan.slots:
        return scan
    found = set(sharding.shards_of(pruned.slots))
    shards = tuple(s for s in scan.route.shards if s in found)
    if not shards:
        return Empty(rel=scan.rel, columns=scan.columns)
    return scan.but(slots=pruned.slots, route=Route(shards=shards, total=scan.route.total))


def asked(
    scan: Scan, conjuncts: Conjuncts, ctx: PlanContext, sharding: Sharding | None = None
) -> Pruned | None:
    """The slots that the predicates leave, and why no fewer; None for a table that has no shard key.

    `sharding` stands for the catalog's own, of the same table.
    """
    placement = scan.table.placement
    if not isinstance(placement, Sharded):
        return None
    known = tuple(with_values(c, ctx) for c in conjuncts)
    sharding = sharding or ctx.catalog.sharding(placement.sharding)
    sources = {s: ctx.catalog.source_of(s) for s in scan.route.shards} if _names_source(known) else None
    return slots_of(
        known,
        rel=scan.rel,
        table=scan.table,
        sharding=sharding,
        dialect=ctx.catalog.dialect,
        sources=sources,
    )


def _names_source(conjuncts: Conjuncts) -> bool:
    return any(c.name == "_source" for e in conjuncts for c in e.find_all(exp.Column))


def with_values(conjunct: exp.Expr, ctx: PlanContext) -> exp.Expr:
    """For reasoning only: parameters as the constants they are. What is sent keeps the parameter."""
    if conjunct.find(exp.Placeholder) is None:
        return conjunct
    literal_of = query_dialect(ctx.catalog.dialect).literal_of

    def swap(part: exp.Expr) -> exp.Expr:
        if isinstance(part, exp.Placeholder) and part.name in ctx.parameters.values:
            return literal_of(ctx.parameters.values[part.name]) or part
        return part

    return conjunct.copy().transform(swap)
