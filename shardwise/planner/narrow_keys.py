"""narrow_keys: each shard is sent only the keys that may be on it.

    u.id IN (1, 2, 3)    =>    s0: u.id IN (2)    s1: u.id IN (1, 3)

It is done while the texts are made, one shard at a time, for only there the shards differ; what may be
dropped says `narrow`. A fragment without an IN list on a shard key has one text for all its shards.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from shardwise.catalog.model import Catalog, Sharded
from shardwise.catalog.shardings import SlotSet
from shardwise.plan.nodes import ColumnId, Filter, Node, Scan
from shardwise.plan.tree import rewrite, walk
from shardwise.planner.caching.observed import Values
from shardwise.planner.narrow import Narrowing
from shardwise.planner.parameters import with_constants

PARAMETER = "shardwise.parameter"
"""Marks (in `meta`) a constant that stands for a parameter while keys are placed."""


def has_lists(fragment: Node) -> bool:
    """Whether the shards may be sent different keys."""
    filters = (node for node in walk(fragment) if isinstance(node, Filter))
    return any(_is_listed(node) for node in filters)


def narrowed(fragment: Node, catalog: Catalog, values: Values) -> Callable[[str], Node] | None:
    """From a shard to the fragment's tree for it; None where the tree is the same for all."""
    narrowings: dict[str, tuple[Narrowing, Callable[[str], SlotSet]]] = {}

    def find(node: Node) -> Node:
        if isinstance(node, Filter) and isinstance(node.input, Scan) and _is_listed(node):
            placement = node.input.table.placement
            assert isinstance(placement, Sharded)
            sharding = catalog.sharding(placement.sharding)
            known = tuple(with_constants(c, values, mark=PARAMETER) for c in node.conjuncts)
            narrowing = Narrowing(
                known,
                rel=node.input.rel,
                table=node.input.table,
                sharding=sharding,
                dialect=catalog.dialect,
            )
            narrowings[node.input.rel] = narrowing, sharding.slots_of
        return node

    rewrite(fragment, find)
    if not narrowings:
        return None

    def for_shard(shard: str) -> Node:
        def change(node: Node) -> Node:
            if isinstance(node, Filter) and isinstance(node.input, Scan) and node.input.rel in narrowings:
                narrowing, slots_of = narrowings[node.input.rel]
                return node.but(conjuncts=tuple(_unmarked(c) for c in narrowing.to(slots_of(shard))))
            return node

        return rewrite(fragment, change)

    return for_shard


def _is_listed(node: Filter) -> bool:
    """Whether an IN list is asked of a column of the scan itself: else it is not worth a look per shard."""
    if not isinstance(node.input, Scan) or not isinstance(node.input.table.placement, Sharded):
        return False
    mine = node.input.output_ids
    for conjunct in node.conjuncts:
        for test in conjunct.find_all(exp.In):
            columns = test.this.find_all(exp.Column) if len(test.expressions) > 1 else ()
            if any(ColumnId(c.table, c.name) in mine for c in columns):
                return True
    return False


def _unmarked(conjunct: exp.Expr) -> exp.Expr:
    if not any(PARAMETER in part.meta for part in conjunct.walk()):
        return conjunct

    def swap(part: exp.Expr) -> exp.Expr:
        return exp.Placeholder(this=part.meta[PARAMETER]) if PARAMETER in part.meta else part

    return conjunct.copy().transform(swap)
