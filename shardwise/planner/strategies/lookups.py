"""Where a lookup index says on which shards keys are: is there one, and what does asking it cost?"""

from __future__ import annotations

from shardwise.catalog.model import Catalog, LookupIndex
from shardwise.plan.nodes import ColumnId, Node, Scan
from shardwise.plan.tree import walk
from shardwise.planner.pass_context import PlanContext
from shardwise.planner.strategies.programs import KEY_BYTES, cost_of_a_key
from shardwise.planner.usable_indexes import objection

FORCED = "look_up_keys"


def index_of(id: ColumnId, scan: Scan, catalog: Catalog) -> LookupIndex | None:
    """An index of that column alone, a unique one before others."""
    wanted = (id.name.casefold(),)
    able = [i for i in catalog.lookup_indexes(scan.table) if tuple(map(str.casefold, i.columns)) == wanted]
    return min(able, key=lambda index: not index.unique, default=None)


def places_of_a_key(index: LookupIndex, id: ColumnId, scan: Scan, ctx: PlanContext) -> float:
    """How many different shard keys the rows with one value are expected to have."""
    if index.unique:
        return 1.0
    keys = {key.name.casefold() for key in ctx.catalog.index_tables[index.name.casefold()].keys}
    ids = [id, *(o.id for o in scan.columns if o.id.name.casefold() in keys)]
    return max(1.0, ctx.estimates.distinct(scan, ids) / max(ctx.estimates.distinct(scan, [id]), 1.0))


def pays(places: float, shards: int, ctx: PlanContext) -> bool:
    """Whether fewer bytes go about where a key is looked up than where it is sent to all shards."""
    if shards < 2:
        return False
    return FORCED in ctx.forced or cost_of_a_key(places) < KEY_BYTES * shards


def looked_up(id: ColumnId, part: Node, ctx: PlanContext) -> float | None:
    """How many places a key of a column has, if keys are to be looked up; None: they go to all shards."""
    if not ctx.trusts_indexes or not ctx.catalog.indexes():
        return None
    scan = next((n for n in walk(part) if isinstance(n, Scan) and id in n.output_ids), None)
    index = index_of(id, scan, ctx.catalog) if scan is not None else None
    if scan is None or index is None or objection(index, part, ctx) is not None:
        return None
    places = places_of_a_key(index, id, scan, ctx)
    return places if pays(places, len(scan.route.shards), ctx) else None
