"""look_up_keys: keys that ran first are looked up in an index, and go each to the shards that have its rows.

    Filter o.no IN $keys_1                 once the keys are known, places_2 =
    └─ Scan o on s0, s1, s2, s3              SELECT DISTINCT no, customer FROM orders_no WHERE no IN $keys_1
                                    =>     Filter o.no IN $keys_1
                                           └─ Scan o on s0, s2

and s0 is sent only those of the keys that the index has on it. Keys that are shard keys need no index.

Sound, as of the index's build: it has a row for each pair of a value and a shard key that some row has, and
the list is compared there as in the table. A key that it does not have is on no shard; of a table that the
application keeps it may be anywhere, and goes to all. Which of the keys a found value is, is only known where
equal values are the same: of others ('ann' finds 'Ann') all keys go to all shards that have any.

It moves rows of its own, so it is done where it is expected to spare more: by a value that few rows have, on
many shards. The predicate reached the scan by push_filters, and stays.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from sqlglot import exp

from shardwise.catalog.index_tables import IndexTable
from shardwise.catalog.keys import evaluate
from shardwise.catalog.model import LookupIndex, Sharded, Sharding, Table
from shardwise.catalog.shardings import SlotSet, canonical, full
from shardwise.catalog.types import Family, type_family
from shardwise.errors import Error
from shardwise.plan.nodes import ColumnId, Distinct, Filter, Item, Node, Project, Scan
from shardwise.plan.reasons import OfIndex
from shardwise.plan.run import Bound
from shardwise.plan.tree import bare, column, column_id, replace_columns, walk
from shardwise.planner.early_values import told_apart
from shardwise.planner.equivalence import is_binary
from shardwise.planner.firsts import PLACES_MAX
from shardwise.planner.key_lists import KeyTest, key_test
from shardwise.planner.pass_context import PlanContext
from shardwise.planner.route_keys import is_key, route_keys
from shardwise.planner.shard_keys import Key, ShardKeys
from shardwise.planner.strategies.keys import at_most
from shardwise.planner.strategies.lookups import index_of, pays, places_of_a_key
from shardwise.planner.usable_indexes import scan_of_index, tell_used, usable
from shardwise.planner.use_lookup_indexes import compares, decline

_SAME: Final = frozenset({Family.INT, Family.DECIMAL, Family.DATE, Family.TEXT, Family.UUID})
"""Of these two values that are equal are one to Python, as to the index."""


def look_up_keys(plan: Node, ctx: PlanContext) -> Node:
    if not ctx.catalog.indexes() or not ctx.firsts.found:
        return plan

    for node in walk(plan):
        if isinstance(node, Filter) and isinstance(node.input, Scan):
            for conjunct in node.conjuncts:
                _look_up(conjunct, node.input, plan, ctx)
    return route_keys(plan, ctx) if ctx.parameters.places else plan


def _look_up(conjunct: exp.Expr, scan: Scan, plan: Node, ctx: PlanContext) -> None:
    """Places the keys that are asked of the scan, once they are known and looked up."""
    list_ = key_test(conjunct, ctx.parameters.key_lists)
    id = list_.column if list_ is not None else _will_be_asked(conjunct, ctx)
    if id is None or id not in scan.output_ids or is_key(id, scan, ctx.catalog):
        return
    index = index_of(id, scan, ctx.catalog)
    if index is None or not pays(places_of_a_key(index, id, scan, ctx), len(scan.route.shards), ctx):
        return
    found = usable(index, plan, ctx)
    if found is None or not compares(index, found, scan.table, ctx):
        return
    if list_ is not None:
        early = ctx.firsts.add("places", _query(list_, conjunct, index, found, ctx))
        bound = ctx.firsts.bound.get(early.name)
        if bound is not None:
            places = _places(list_, bound, index, found, scan, ctx)
            if places is None:
                decline(
                    index, OfIndex.KEYS_UNKNOWN, "what it tells of the keys is too much, or not certain", ctx
                )
                return
            ctx.parameters.places[list_] = places
    tell_used(index, ctx, f"; it says where keys of {scan.rel}.{id.name} are")


def _will_be_asked(conjunct: exp.Expr, ctx: PlanContext) -> ColumnId | None:
    """The column that keys will be asked of which have not run yet."""
    test = bare(conjunct)
    waiting = {e.name for e in ctx.firsts.found if e.use in ("keys", "rows")} - ctx.firsts.bound.keys()
    if type(test) is not exp.In or len(test.expressions) != 1:
        return None
    (member,) = test.expressions
    return column_id(test.this) if isinstance(member, exp.Placeholder) and member.name in waiting else None


# ------------------------------------------------------------------ the query


def _query(
    list_: KeyTest, conjunct: exp.Expr, index: LookupIndex, found: IndexTable, ctx: PlanContext
) -> Node:
    """The values among the keys, and the shard keys of their rows."""
    scan = scan_of_index(index, found, ctx)
    (searched,) = found.searched
    test = replace_columns(conjunct, {list_.column: column(ColumnId(scan.rel, searched))})
    names = (searched, *(key.name for key in found.keys))
    items = tuple(Item(f"c{n}", column(ColumnId(scan.rel, name))) for n, name in enumerate(names))
    rel = f"places of {list_.name} for {list_.column.rel}.{list_.column.name}"
    return at_most(
        Distinct(input=Project(input=Filter(input=scan, conjuncts=(test,)), rel=rel, items=items)), PLACES_MAX
    )


# ------------------------------------------------------------------ what it gave


def _places(
    list_: KeyTest, bound: Bound, index: LookupIndex, found: IndexTable, scan: Scan, ctx: PlanContext
) -> Sequence[SlotSet] | None:
    """Of each key, in the list's order, the slots that have its rows; None if that is not certain."""
    placement = scan.table.placement
    if bound.rows is None or not isinstance(placement, Sharded):
        return None
    sharding = ctx.catalog.sharding(placement.sharding)
    of_row = _Placed(scan, sharding, index, found, ctx)
    is_kept = index.index_table is not None
    by_value: dict[Any, SlotSet] = {}
    for value, *key in bound.rows:
        by_value[value] = by_value.get(value, 0) | of_row.slots(key)
    keys = ctx.parameters.key_lists[list_.name]
    if _is_same(list_.column, ctx):
        missed = full(sharding.function.size) if is_kept else 0
        return [by_value.get(key, missed) for key in keys]
    if is_kept:
        return None
    anywhere = 0
    for slots in by_value.values():
        anywhere |= slots
    return [anywhere] * len(keys)


def _is_same(id: ColumnId, ctx: PlanContext) -> bool:
    """Whether a found value is the very key that it was found by."""
    output = ctx.types[id]
    known = output.type is not None and type_family(output.type, ctx.catalog.dialect) in _SAME
    return known and is_binary(output.collation) and ctx.dialect.constants.keys_fit


class _Placed:
    """From what the index has of a row's shard key to the slots where the row may be."""

    def __init__(
        self, scan: Scan, sharding: Sharding, index: LookupIndex, found: IndexTable, ctx: PlanContext
    ) -> None:
        self._all = full(sharding.function.size)
        self._names = [key.name.lower() for key in found.keys]
        self._keys = ShardKeys(scan.rel, scan.table, sharding, ctx.catalog.dialect, {})
        self._is_kept = index.index_table is not None
        self._key = _first_key(scan.table, self._keys) if sharding.is_known else None
        self._known: dict[object, SlotSet] = {}

    def slots(self, key: Sequence[Any]) -> SlotSet:
        values = tuple(key)
        known = told_apart(values)
        if known not in self._known:
            self._known[known] = self._slots(values)
        return self._known[known]

    def _slots(self, values: tuple[Any, ...]) -> SlotSet:
        if self._key is None or self._key.function is None:
            return self._all
        try:
            parts = tuple(self._part_values(values))
            return 1 << self._key.function.slot(parts)
        except Error:
            return self._all

    def _part_values(self, values: tuple[Any, ...]) -> Iterator[Any]:
        """The values of the shard key's parts: a table that the application keeps has them as they are."""
        assert self._key is not None
        by_name: Mapping[str, Any] = dict(zip(self._names, values, strict=True))
        for number, part in enumerate(self._key.parts):
            if self._is_kept:
                yield canonical(values[number], part.family)
            elif part.expr is None:
                yield canonical(by_name[part.target], part.family)
            else:
                families = self._keys.families
                columns = {name: canonical(by_name[name], families[name]) for name in part.columns}
                yield canonical(evaluate(part.expr, columns, self._keys.dialect), part.family)


def _first_key(table: Table, keys: ShardKeys) -> Key | None:
    """The shard key that an index leads to, if each of its columns is placed as it is compared."""
    placement = table.placement
    assert isinstance(placement, Sharded)
    if placement.keys[0].by_slot or len(keys.keys) != len(placement.keys):
        return None
    columns = {name for part in keys.keys[0].parts for name in part.columns}
    is_told = columns <= keys.families.keys() and columns.isdisjoint(keys.exact)
    return keys.keys[0] if is_told else None
