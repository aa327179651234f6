"""An order in which no two rows are equal: the statement's own sort keys, then columns that tell rows apart.

    ORDER BY total, over orders JOIN customers        =>    total, orders' primary key, customers' primary key

What tells the rows of a table apart is its primary key, or another key of columns that are never NULL. One
that does not hold the shard key may come again on another shard, and in another partition of the same one:
there `_shard` and `_table`, which every row has, stand after it. Rows of a join are told apart by the keys
of both sides, groups by their own columns, distinct rows by all of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from sqlglot import exp

from shardwise.catalog.model import Sharded, ShardedWith
from shardwise.catalog.tables import Scattered
from shardwise.plan.nodes import (
    Aggregate,
    ColumnId,
    Distinct,
    Fence,
    Filter,
    Item,
    Join,
    Keep,
    Node,
    Project,
    Scan,
    Sort,
    SortKey,
)
from shardwise.plan.tree import column, column_id, replace_columns, same
from shardwise.planner.bind.sources import HIDDEN
from shardwise.planner.pass_context import PlanContext

_KINDS: Final = ("inner", "cross", "left", "right", "full", "semi", "anti")
_WORDS: Final = {"Aggregate": "a group", "Distinct": "DISTINCT", "SetOp": "a set operation"}


class NoOrder(Exception):
    """Why rows cannot be told apart."""


class TotalOrder(NamedTuple):
    """`node` gives the columns of `keys`. Not `is_total`: rows of a shard may be equal all the same."""

    node: Node
    keys: tuple[SortKey, ...]
    is_total: bool


def total_order(sort: Sort, shards: tuple[str, ...] | None, ctx: PlanContext) -> TotalOrder:
    """The sort's input, with the columns that tell its rows apart; and the order by them.

    With `shards` it is the rows of each of these that are told apart, plain rows of tables. Raises NoOrder.
    """
    telling = _Telling(shards, ctx)
    node, ids = telling.of(sort.input)
    last = sort.keys[-1]
    # In the direction of the last column an index that ends with the primary key is read either way.
    nulls_first = ctx.dialect.sort_keys.nulls_are_least is not last.descending
    more = tuple(SortKey(column(id), last.descending, nulls_first) for id in ids)
    return TotalOrder(node, _each_once(sort.keys + more), telling.is_total)


def _each_once(keys: tuple[SortKey, ...]) -> tuple[SortKey, ...]:
    """ORDER BY a, a DESC: by the second no two rows are told apart."""
    kept: list[SortKey] = []
    for key in keys:
        if not any(same(key.expr, other.expr) for other in kept):
            kept.append(key)
    return tuple(kept)


class _Telling:
    """Finds what tells the rows of nodes apart, and has the nodes give it."""

    def __init__(self, shards: tuple[str, ...] | None, ctx: PlanContext) -> None:
        self.shards = shards
        self.ctx = ctx
        self.is_total = True

    def of(self, node: Node) -> tuple[Node, tuple[ColumnId, ...]]:
        """The node, giving the columns, and which they are."""
        if isinstance(node, Scan):
            return node, tuple(self._of_table(node))
        if isinstance(node, Filter | Fence):
            below, ids = self.of(node.input)
            return node.but(input=below), ids
        if isinstance(node, Join) and not node.lateral and node.kind in _KINDS:
            left, ids = self.of(node.left)
            if node.kind in ("semi", "anti"):
                return node.but(left=left), ids
            right, more = self.of(node.right)
            return node.but(left=left, right=right), ids + more
        if isinstance(node, Project):
            return self._projected(node)
        if self.shards is None and isinstance(node, Aggregate) and node.sets is None:
            return node, tuple(ColumnId(node.rel, key.name) for key in node.keys)
        if self.shards is None and isinstance(node, Distinct) and node.on is None:
            return node, tuple(output.id for output in node.outputs)
        word = _WORDS.get(type(node).__name__, type(node).__name__)
        raise NoOrder(f"{word} has no primary key to go by")

    def _projected(self, node: Project) -> tuple[Node, tuple[ColumnId, ...]]:
        below, ids = self.of(node.input)
        copies = {column_id(item.expr): item.name for item in node.items}
        taken = {item.name.casefold() for item in node.items}
        items, found = list(node.items), []
        for id in ids:
            name = copies.get(id)
            if name is None:
                name = next(n for n in _names(id.name) if n.casefold() not in taken)
                taken.add(name.casefold())
                items.append(Item(name, column(id)))
            found.append(ColumnId(node.rel, name))
        return node.but(input=below, items=tuple(items)), tuple(found)

    def _of_table(self, scan: Scan) -> Iterator[ColumnId]:
        table = scan.table
        key = _key_of(scan)
        if key is None and self.shards is not None:
            self.is_total = False
            return
        if key is None:
            raise NoOrder(
                f"{table.full_name} has no primary key, by which rows equal in the ORDER BY are told apart"
            )
        by_name = {o.id.name.casefold(): o.id for o in scan.columns}
        names = [*key, *self._places(scan, key)]
        for name in names:
            id = by_name.get(name.casefold())
            if id is None:
                raise NoOrder(f"{table.full_name}.{name}, of the primary key, is not read")
            yield id

    def _places(self, scan: Scan, key: tuple[str, ...]) -> tuple[str, ...]:
        """The hidden columns that tell rows of the same key apart."""
        if _is_unique(scan, key):
            return ()
        if self.shards is None:
            return ("_shard", "_table")
        partitions = self.ctx.catalog.partitions
        is_one_each = all(len(tuple(partitions(scan.table, s, scan.slots))) < 2 for s in self.shards)
        return () if is_one_each else ("_table",)


def _names(wanted: str) -> Iterator[str]:
    yield f"_key_{wanted}"
    number = 2
    while True:
        yield f"_key_{wanted}_{number}"
        number += 1


def _key_of(scan: Scan) -> tuple[str, ...] | None:
    """The primary key, else another that holds no NULL: of two NULLs neither is told from the other."""
    table = scan.table
    if table.primary_key:
        return table.primary_key
    declared = {c.name.casefold(): c for c in table.columns or ()}
    for key in (*table.unique_across, *table.unique):
        if all(n.casefold() in declared and not declared[n.casefold()].nullable for n in key):
            return key
    return None


def keys_over_all_shards(scan: Scan, ctx: PlanContext) -> Iterator[tuple[ColumnId, ...]]:
    """The declared keys that hold no NULL and name one row among all shards, each once."""
    table, by_name = scan.table, {o.id.name.casefold(): o.id for o in scan.columns}
    filled = never_null(scan, ctx)
    for key in dict.fromkeys((table.primary_key, *table.unique_across, *table.unique)):
        ids = [by_name.get(name.casefold()) for name in key]
        found = tuple(id for id in ids if id in filled)
        if key and len(found) == len(key) and _is_unique(scan, key):
            yield found


def _is_unique(scan: Scan, key: tuple[str, ...]) -> bool:
    """Whether it names one row among all shards."""
    placement = scan.table.placement
    if key in scan.table.unique_across:
        return True
    if isinstance(placement, ShardedWith | Scattered):
        return False
    if not isinstance(placement, Sharded):
        return True
    names = {name.casefold() for name in key}
    parts = {c.name.casefold() for p in placement.keys[0].parts for c in p.find_all(exp.Column)}
    return parts <= names


def never_null(node: Node, ctx: PlanContext) -> set[ColumnId]:
    """The columns that are never NULL: declared so, and of no side that a join fills up."""
    if isinstance(node, Scan):
        key = {name.casefold() for name in node.table.primary_key}
        declared = {c.name: c for c in node.table.columns or ()}
        is_loose = "sqlite" in ctx.catalog.dialects  # which lets NULLs into a primary key
        found = {o.id for o in node.columns if o.id.name in HIDDEN and o.id.name not in declared}
        for output in node.columns:
            name = output.id.name
            if name in declared and (
                not declared[name].nullable or (name.casefold() in key and not is_loose)
            ):
                found.add(output.id)
        return found
    if isinstance(node, Join):
        left = never_null(node.left, ctx) if node.kind not in ("right", "full") else set()
        if node.kind in ("semi", "anti"):
            return left
        return left | (never_null(node.right, ctx) if node.kind not in ("left", "full") else set())
    if isinstance(node, Project):
        below = never_null(node.input, ctx)
        return {ColumnId(node.rel, i.name) for i in node.items if column_id(i.expr) in below}
    if isinstance(node, Filter | Fence | Keep):
        return never_null(node.inputs[0], ctx)
    return set()


def resolved(expr: exp.Expr, node: Node) -> exp.Expr:
    """The expression over what tables give."""
    if isinstance(node, Project):
        expr = replace_columns(expr, {ColumnId(node.rel, item.name): item.expr for item in node.items})
    for below in node.inputs:
        expr = resolved(expr, below)
    return expr
