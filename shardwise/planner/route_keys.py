"""route_keys: keys and rows that ran first, if it is known where they are, go each to its own shard.

    Filter o.id IN $keys_1  (7, 9, 12)            Filter o.id IN $keys_1
    └─ Scan o on s0, s1, s2, s3             =>    └─ Scan o on s0, s1

and s0 is sent 12 alone, s1 7 and 9. A shard that has none of the keys is not asked.

Sound: a row is on the slot of its key, and the predicate reached the scan by push_filters; a key that has no
place, or is spelled in more than one way, stays everywhere. Where they are not shard keys, look_up_keys may
have placed them. A list that is asked of another column as well is sent whole. Rows that are joined on the
shards by the shard key meet rows of their own shard alone.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, NamedTuple

from sqlglot import exp

from shardwise.catalog.model import Catalog, Sharded, Sharding
from shardwise.catalog.shardings import SlotSet, canonical, full
from shardwise.errors import Error
from shardwise.plan.nodes import ColumnId, Filter, Node, Scan
from shardwise.plan.sent import part_of
from shardwise.plan.tree import bare, rewrite, walk
from shardwise.planner.key_lists import Lists, key_test
from shardwise.planner.parameters import Parameters
from shardwise.planner.pass_context import PlanContext
from shardwise.planner.places import PlacedRows, Places
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
                known = full(use.places.sharding.function.size) if scan.slots is None else scan.slots
                scan = on_slots(scan, known & use.places.slots(), ctx.catalog)
        return node if scan is node.input else node.but(input=scan)

    return rewrite(plan, change)


def is_routed(id: ColumnId, tree: Node, catalog: Catalog) -> bool:
    """Whether keys of that column go each to its own shard: it is the whole shard key of one of the scans."""
    return _key(id, tree, catalog) is not None


def place(sent: exp.Expr, keys: Sequence[Any], id: ColumnId, tree: Node, ctx: PlanContext) -> None:
    """Notes of rows that are sent to the shards of `tree` where each may meet another: by its key, a value of
    that column, if it is a shard key. `sent` has the parameters that the rows are bound to."""
    key = _key(id, tree, ctx.catalog)
    if key is None:
        return
    placed = PlacedRows(id.rel, Places.of(key.sharding, _by_value(keys, key)))
    for parameter in sent.find_all(exp.Placeholder):
        ctx.parameters.placed_rows[parameter.name] = placed


def _key(id: ColumnId, tree: Node, catalog: Catalog) -> _Key | None:
    """The column as a shard key of one of the scans."""
    scans = (n for n in walk(tree) if isinstance(n, Scan) and n.rel == id.rel)
    return next((key for scan in scans if (key := _key_of(id, scan, catalog)) is not None), None)


def routed(
    fragment: Node, used: Collection[str], catalog: Catalog, parameters: Parameters
) -> Callable[[str], Lists] | None:
    """From a shard to what it is sent only a part of; None where all shards are sent the same. `used` are the
    parameters that the fragment has."""
    placed = {**_placed_keys(fragment, catalog, parameters), **_placed_rows(fragment, used, parameters)}
    if not placed:
        return None

    def of(shard: str) -> Lists:
        return {name: part_of(parameters.values[name], _numbers(p, shard)) for name, p in placed.items()}

    return of


def _placed_keys(fragment: Node, catalog: Catalog, parameters: Parameters) -> dict[str, list[Places]]:
    if not parameters.key_lists:
        return {}
    uses: dict[str, list[Places]] = {}
    others: set[str] = set()
    for node in walk(fragment):
        scan = node.input if isinstance(node, Filter) and isinstance(node.input, Scan) else None
        for expr in node.expressions:
            use = _use(expr, scan, catalog, parameters) if scan is not None else None
            if use is None:
                others.update(p.name for p in expr.find_all(exp.Placeholder))
            else:
                uses.setdefault(use.name, []).append(use.places)
    return {name: found for name, found in uses.items() if name not in others}


def _placed_rows(fragment: Node, used: Collection[str], parameters: Parameters) -> dict[str, list[Places]]:
    if not parameters.placed_rows:
        return {}
    rels = {node.rel for node in walk(fragment) if isinstance(node, Scan)}
    found = ((name, rows) for name, rows in parameters.placed_rows.items() if name in used)
    return {name: [rows.places] for name, rows in found if rows.rel in rels}


def _numbers(places: Sequence[Places], shard: str) -> list[int]:
    """Of the values that one of the scans may have on the shard."""
    return sorted({number for each in places for number in each.on(shard)})


class _Use(NamedTuple):
    """A list that is asked of a scan's column whose values have places."""

    name: str
    places: Places


def _use(conjunct: exp.Expr, scan: Scan, catalog: Catalog, parameters: Parameters) -> _Use | None:
    found = key_test(conjunct, parameters.key_lists)
    placement = scan.table.placement
    if found is None or found.column not in scan.output_ids or not isinstance(placement, Sharded):
        return None
    keys, sharding = parameters.key_lists[found.name], catalog.sharding(placement.sharding)
    key = _key_of(found.column, scan, catalog)
    places = parameters.places.get(found) if key is None else _by_value(keys, key)
    return None if places is None else _Use(found.name, Places.of(sharding, places))


class _Key(NamedTuple):
    """A column that is a shard key by itself."""

    part: KeyPart
    sharding: Sharding


def _by_value(values: Sequence[Any], key: _Key) -> Iterator[SlotSet]:
    """The slots of each value of the shard key; NULL meets nothing."""
    everywhere = full(key.sharding.function.size)
    lifted: dict[int, SlotSet] = {}
    for value in values:
        if value is None:
            yield 0
            continue
        slot = _slot(key.part, value)
        if slot is None:
            yield everywhere
            continue
        if slot not in lifted:
            lifted[slot] = key.part.place.lift(1 << slot)
        yield lifted[slot]


def is_key(id: ColumnId, scan: Scan, catalog: Catalog) -> bool:
    """Whether the column's values say themselves where they are: it is the scan's whole shard key."""
    return _key_of(id, scan, catalog) is not None


def _key_of(id: ColumnId, scan: Scan, catalog: Catalog) -> _Key | None:
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
    found = (p for p in parts if usable and p.target == target and p.expr is None)
    return next((_Key(part, sharding) for part in found), None)


def _is_key(name: str, placement: Sharded) -> bool:
    """Whether a column alone is one of the shard keys as they are declared."""
    alone = (bare(key.parts[0]) for key in placement.keys if len(key.parts) == 1)
    return any(type(part) is exp.Column and part.name.lower() == name.lower() for part in alone)


def _slot(part: KeyPart, key: Any) -> int | None:
    try:
        return part.place.function.slot((canonical(key, part.family),))
    except Error:
        return None
