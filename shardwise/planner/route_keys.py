"""route_keys: keys that ran first, if it is known where they are, go each to its own shard.

    Filter o.id IN $keys_1  (7, 9, 12)            Filter o.id IN $keys_1
    └─ Scan o on s0, s1, s2, s3             =>    └─ Scan o on s0, s1

and s0 is sent 12 alone, s1 7 and 9. A shard that has none of the keys is not asked.

Sound: a row is on the slot of its key, and the predicate reached the scan by push_filters; a key that has no
place, or is spelled in more than one way, stays everywhere. Where they are not shard keys, look_up_keys may
have placed them. A list that is asked of another column as well is sent whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from shardwise.catalog.model import Catalog, Sharded, Sharding
from shardwise.catalog.shardings import SlotSet, canonical, full
from shardwise.errors import Error
from shardwise.plan.nodes import ColumnId, Filter, Node, Scan
from shardwise.plan.tree import bare, rewrite, walk
from shardwise.planner.key_lists import KeyLists, key_test
from shardwise.planner.parameters import Parameters
from shardwise.planner.pass_context import PlanContext
from shardwise.planner.prune_slots import on_slots
from shardwise.planner.shard_keys import KeyPart, ShardKeys


def route_keys(plan: Node, ctx: PlanContext) -> Node:
    if not ctx.parameters.key_lists:
        return plan

    def change(node: Node) -> Node:
        if not isinstance(node, Filter) or not isinstance(node.input, Scan):
            return node
        scan: Node = node.input
        for conjunct in node.conjuncts:
            use = _use(conjunct, node.input, ctx.catalog, ctx.parameters)
            if use is not None and isinstance(scan, Scan):
                scan = on_slots(scan, use.slots(scan), ctx.catalog)
        return node if scan is node.input else node.but(input=scan)

    return rewrite(plan, change)


def is_routed(id: ColumnId, tree: Node, catalog: Catalog) -> bool:
    """Whether keys of that column go each to its own shard: it is the whole shard key of one of the scans."""
    scans = (n for n in walk(tree) if isinstance(n, Scan) and n.rel == id.rel)
    return any(is_key(id, scan, catalog) for scan in scans)


def routed(fragment: Node, catalog: Catalog, parameters: Parameters) -> Callable[[str], KeyLists] | None:
    """From a shard to the lists that it is sent only a part of; None where all shards are sent the same."""
    lists = parameters.key_lists
    if not lists:
        return None
    uses: dict[str, list[_Use]] = {}
    others: set[str] = set()
    for node in walk(fragment):
        scan = node.input if isinstance(node, Filter) and isinstance(node.input, Scan) else None
        for expr in node.expressions:
            use = _use(expr, scan, catalog, parameters) if scan is not None else None
            if use is None:
                others.update(p.name for p in expr.find_all(exp.Placeholder))
            else:
                uses.setdefault(use.name, []).append(use)
    apart = {name: found for name, found in uses.items() if name not in others}
    if not apart:
        return None

    def of(shard: str) -> KeyLists:
        return {name: _kept(lists[name], found, shard) for name, found in apart.items()}

    return of


@dataclass(frozen=True, slots=True)
class _Use:
    """A list that is asked of a scan's column whose values have places. `by_slots` has the numbers of the
    keys that may be on each set of slots; none of those that are on none."""

    name: str
    sharding: Sharding
    by_slots: Mapping[SlotSet, Sequence[int]]

    def slots(self, scan: Scan) -> SlotSet:
        """What may hold one of the keys, of what the scan reads."""
        known = full(self.sharding.function.size) if scan.slots is None else scan.slots
        found = 0
        for slots in self.by_slots:
            found |= slots
        return known & found

    def on(self, shard: str) -> Iterator[int]:
        """The numbers of the keys that may be on the shard."""
        here = self.sharding.slots_of(shard)
        for slots, numbers in self.by_slots.items():
            if slots & here:
                yield from numbers


def _kept(keys: list[Any], uses: Sequence[_Use], shard: str) -> list[Any]:
    """The keys that one of the scans may have on the shard; one at least, for not every engine has a list of
    none."""
    kept = sorted({number for use in uses for number in use.on(shard)})
    return type(keys)([keys[number] for number in kept] or keys[:1])


def _use(conjunct: exp.Expr, scan: Scan, catalog: Catalog, parameters: Parameters) -> _Use | None:
    found = key_test(conjunct, parameters.key_lists)
    placement = scan.table.placement
    if found is None or found.column not in scan.output_ids or not isinstance(placement, Sharded):
        return None
    keys, sharding = parameters.key_lists[found.name], catalog.sharding(placement.sharding)
    part = _part(found.column, scan, catalog)
    places: Iterable[SlotSet] | None = parameters.places.get(found)
    if part is not None:
        places = _by_value(keys, part, sharding)
    if places is None:
        return None
    by_slots: dict[SlotSet, list[int]] = {}
    for number, slots in enumerate(places):
        if slots:
            by_slots.setdefault(slots, []).append(number)
    return _Use(found.name, sharding, by_slots)


def _by_value(keys: Sequence[Any], part: KeyPart, sharding: Sharding) -> Iterator[SlotSet]:
    """The slots of each key, of the shard key itself."""
    everywhere = full(sharding.function.size)
    lifted: dict[int, SlotSet] = {}
    for key in keys:
        slot = _slot(part, key)
        if slot is None:
            yield everywhere
            continue
        if slot not in lifted:
            lifted[slot] = part.place.lift(1 << slot)
        yield lifted[slot]


def is_key(id: ColumnId, scan: Scan, catalog: Catalog) -> bool:
    """Whether the column's values say themselves where they are: it is the scan's whole shard key."""
    return _part(id, scan, catalog) is not None


def _part(id: ColumnId, scan: Scan, catalog: Catalog) -> KeyPart | None:
    """The shard key, if it is that column and no more, and compared as it is placed."""
    placement = scan.table.placement
    if not isinstance(placement, Sharded) or id not in scan.output_ids or not _is_key(id.name, placement):
        return None
    sharding = catalog.sharding(placement.sharding)
    if not sharding.is_known:
        return None
    keys = ShardKeys(scan.rel, scan.table, sharding, catalog.dialect, {})
    target = id.name.lower()
    parts = (p for key in keys.keys if len(key.parts) == 1 for p in key.parts)
    usable = target in keys.families and target not in keys.exact
    return next((p for p in parts if usable and p.target == target and p.expr is None), None)


def _is_key(name: str, placement: Sharded) -> bool:
    """Whether a column alone is one of the shard keys as they are declared."""
    alone = (bare(key.parts[0]) for key in placement.keys if len(key.parts) == 1)
    return any(type(part) is exp.Column and part.name.lower() == name.lower() for part in alone)


def _slot(part: KeyPart, key: Any) -> int | None:
    try:
        return part.place.function.slot((canonical(key, part.family),))
    except Error:
        return None
