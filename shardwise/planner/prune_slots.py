"""prune_slots: a scan is read only where its predicates may hold.

    Filter u.id = 5                      Filter u.id = 5
    └─ Scan u on s0, s1, s2        =>    └─ Scan u on s2

Sound: only predicates that push_filters brought to the scan count, and `prune.slots_of` widens on whatever it
does not understand. A scan of no slot is Empty: it owes what an empty table owes. SELECT * FROM a LEFT JOIN b
ON a.k = b.k WHERE b.k IS NULL must not prune b to the NULLs: that predicate stays above.
"""

from __future__ import annotations

from typing import Final

from sqlglot import exp

from shardwise.catalog.model import Catalog, Sharded, Sharding
from shardwise.catalog.shardings import SlotSet, full
from shardwise.plan.nodes import Empty, Filter, Node, Scan
from shardwise.plan.route import Route
from shardwise.plan.tree import rewrite
from shardwise.planner.caching.observed import Pruning
from shardwise.planner.dialects import query_dialect
from shardwise.planner.pass_context import PlanContext
from shardwise.planner.prune import Pruned, slots_of
from shardwise.planner.shard_keys import HIDDEN

Conjuncts = tuple[exp.Expr, ...]


def prune_slots(plan: Node, ctx: PlanContext) -> Node:
    def change(node: Node) -> Node:
        if isinstance(node, Filter) and isinstance(node.input, Scan):
            scan = pruned_scan(node.input, node.conjuncts, ctx)
            return node if scan is node.input else node.but(input=scan)
        return node

    return rewrite(plan, change)


def pruned_scan(scan: Scan, conjuncts: Conjuncts, ctx: PlanContext) -> Node:
    """The scan on the slots that predicates which reached it leave."""
    pruned = asked(scan, conjuncts, ctx)
    if pruned is None:
        return scan
    if any(conjunct.find(exp.Placeholder) for conjunct in conjuncts):
        ctx.parameters.observed.prunings.append(Pruning(scan, conjuncts, pruned.slots))
    return on_slots(scan, pruned.slots, ctx.catalog)


def filtered_scan(scan: Scan, conjuncts: Conjuncts, ctx: PlanContext) -> Node:
    """The scan under predicates, on the slots that they leave."""
    return Filter(input=pruned_scan(scan, conjuncts, ctx), conjuncts=conjuncts) if conjuncts else scan


def on_slots(scan: Scan, slots: SlotSet, catalog: Catalog) -> Node:
    """What is left of a scan, of whose table only these slots may hold a match."""
    sharding = catalog.sharding_of(scan.table)
    assert sharding is not None
    if slots == full(sharding.function.size) or slots == scan.slots:
        return scan
    found = set(sharding.shards_of(slots))
    shards = tuple(s for s in scan.route.shards if s in found)
    if not shards and query_dialect(catalog.dialect).carries_collations:
        # A NULL of a column's type has not its collation, by which others are compared: one shard is asked.
        return scan.but(route=Route(shards=scan.route.shards[:1], total=scan.route.total))
    if not shards:
        return Empty(rel=scan.rel, columns=scan.columns)
    return scan.but(slots=slots, route=Route(shards=shards, total=scan.route.total))


def asked(scan: Scan, conjuncts: Conjuncts, ctx: PlanContext) -> Pruned | None:
    """The slots that the predicates leave, and why no fewer; None for a table that has no shard key."""
    literal_of = query_dialect(ctx.catalog.dialect).literal_of
    known = tuple(ctx.parameters.as_constants(c, literal_of) for c in conjuncts)
    return slots_left(scan, known, ctx.catalog)


def slots_left(
    scan: Scan, conjuncts: Conjuncts, catalog: Catalog, sharding: Sharding | None = None
) -> Pruned | None:
    """The same of predicates that have no parameters any more; `sharding` stands for the catalog's own."""
    placement = scan.table.placement
    if not isinstance(placement, Sharded):
        return None
    sharding = sharding or catalog.sharding(placement.sharding)
    sources = {s: catalog.source_of(s) for s in scan.route.shards} if _names_source(conjuncts) else None
    return slots_of(
        conjuncts,
        rel=scan.rel,
        table=scan.table,
        sharding=sharding,
        dialect=catalog.dialect,
        sources=sources,
    )


def _names_source(conjuncts: Conjuncts) -> bool:
    return any(c.name == "_source" for e in conjuncts for c in e.find_all(exp.Column))


def key_names(scan: Scan) -> frozenset[str]:
    """The names that may be compared so that it prunes."""
    placement = scan.table.placement
    assert isinstance(placement, Sharded)
    columns = (c for key in placement.keys for part in key.parts for c in part.find_all(exp.Column))
    return frozenset((*HIDDEN, *(column.name.lower() for column in columns)))


def telling(scan: Scan, conjuncts: Conjuncts) -> Conjuncts:
    """Those that may say something of the scan's shard key."""
    keys = key_names(scan)
    return tuple(conjunct for conjunct in conjuncts if not is_silent(conjunct, scan.rel, keys))


def is_silent(conjunct: exp.Expr, rel: str, keys: frozenset[str]) -> bool:
    """Whether it is a plain comparison of another column: whatever the value is, it prunes nothing."""
    if type(conjunct) not in _COMPARISONS or type(conjunct.this) is not exp.Column:
        return False
    columns = list(conjunct.find_all(exp.Column, exp.Subquery))
    return len(columns) == 1 and (conjunct.this.table != rel or conjunct.this.name.lower() not in keys)


_COMPARISONS: Final = (
    *(exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.NullSafeEQ, exp.NullSafeNEQ),
    *(exp.Between, exp.In, exp.Like),
)
