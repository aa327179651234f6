"""A scan in the connection's scope: whatever reads a table, reads it through this.

    Scan orders           =>   Fence
                               └─ Filter orders.tenant = $scope_tenant
                                  └─ Scan orders on s1

    Scan items                 Fence                                          (SHARD WITH orders)
                          =>   └─ Semi join items.order_id = orders.id
                                  ├─ Scan items
                                  └─ Filter orders.tenant = $scope_tenant
                                     └─ Scan orders on s1

Sound: the one place that makes scans makes them so, under everything: no join, view or subquery meets a row
out of scope. Values are parameters, of names that the statement does not have, and of the column's own type,
so that a shard applies them while it reads. Shards that can have no such row are left out here and not by a
pass: no text that is made of the tree may name them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from sqlglot import exp

from shardwise.catalog.model import Column, Reference, Single, Table
from shardwise.catalog.shardings import SlotSet, full
from shardwise.errors import Position, Reason, Unplannable
from shardwise.plan.nodes import Empty, Fence, Filter, Item, Join, Node, Project, Scan
from shardwise.plan.route import Note, Route
from shardwise.plan.tree import column, subplan
from shardwise.planner.caching.observed import Scoped
from shardwise.planner.scopes.coverage import ByKey, ByParent, ByShard, Refused, coverage
from shardwise.planner.scopes.scope import ScopeKey
from shardwise.planner.scopes.slots import slots_in, visible_shards
from shardwise.planner.scopes.values import Value

if TYPE_CHECKING:
    from shardwise.planner.bind.query import Binder

MakeScan = Callable[[Table], Scan]


def scoped(binder: Binder, scan: Scan, position: Position | None, make_scan: MakeScan) -> Node:
    """The scan as the scope lets it be read; `make_scan` makes that of a parent."""
    scope, catalog = binder.context.scope, binder.catalog
    if not scope:
        return scan
    found = coverage(scope, catalog, scan.table)
    sharding = catalog.sharding_of(scan.table)
    # Values that only stand in predicates may be others; of what is looked at here they may not.
    is_only_compared = isinstance(found, ByKey) and sharding is not None and sharding.is_open
    observed = binder.parameters.observed
    observed.is_bound_to_scope |= bool(scope.keys) and not is_only_compared
    match found:
        case Refused(why=why, hint=hint):
            raise Unplannable(why, hint=hint, position=position, reason=Reason.SCOPE)
        case ByParent(parent=parent, column=name, parent_column=parent_name):
            above = make_scan(parent)
            right = scoped(binder, above, position, make_scan)
            right = right.input if isinstance(right, Fence) else right  # that of the child is around both
            left = _beside(scan, right, is_pinned=scope.is_pinned)
            if not isinstance(left, Scan):
                return left
            below = _with_parent(binder, left, right, _column(scan, name), _column(above, parent_name))
            return Fence(input=below, is_strict=_is_loose(binder, left))
        case ByShard(shards=shards):
            if not shards:
                return Empty(rel=scan.rel, columns=scan.columns)
            return _filtered(_on_shards(binder, scan, None), (*_on(binder, scan), _among(scan, shards)))
        case ByKey(columns=columns):
            tests = tuple(_test(binder, scan, key, of, values) for key, of, values in columns)
            if is_only_compared:  # another's rows are in other tables
                return _filtered(_on_shards(binder, scan, None), (*_on(binder, scan), *tests))
            below = _filtered(_on_shards(binder, scan, slots_in(found, catalog, scan.table)), tests)
            if not isinstance(below, Filter) or not isinstance(below.input, Scan):
                return below
            return Fence(input=below, is_strict=_is_loose(binder, below.input))
    return _filtered(_on_shards(binder, scan, None), _on(binder, scan))


def _with_parent(binder: Binder, child: Scan, parent: Node, mine: exp.Expr, theirs: exp.Expr) -> Node:
    """The child's rows that have a parent, as the dialect can say it: SQLite has no semi join."""
    if binder.dialect.has_semi_join:
        return Join(kind="semi", left=child, right=parent, on=(exp.EQ(this=mine, expression=theirs),))
    ids = Project(input=parent, rel=binder.names.fresh("parents"), items=(Item(theirs.name, theirs),))
    return Filter(input=child, conjuncts=(exp.In(this=mine, query=subplan(ids)),))


def _is_loose(binder: Binder, scan: Scan) -> bool:
    """Whether the rows are in a source whose values may be of any type, so that each comparison can fail."""
    dialects = {binder.catalog.dialect_of_shard(shard) for shard in scan.route.shards}
    return dialects != {binder.catalog.dialect}


def _filtered(node: Node, tests: tuple[exp.Expr, ...]) -> Node:
    return Filter(input=node, conjuncts=tests) if tests and isinstance(node, Scan) else node


def _on(binder: Binder, scan: Scan) -> tuple[exp.Expr, ...]:
    """The scope's shards as a predicate on a DIRECTORY's table, whose members are not known yet."""
    shards = binder.context.scope.shards
    is_copied = isinstance(scan.table.placement, Reference)
    if shards is None or is_copied or binder.catalog.open_sharding(scan.table) is None:
        return ()
    return (_among(scan, shards),)


def _among(scan: Scan, shards: tuple[str, ...]) -> exp.Expr:
    if scan.table.column("_shard") is not None:
        raise Unplannable(
            f'the scope cannot be applied to "{scan.table.full_name}": its column "_shard" hides the shard',
            hint="Rename the column",
            reason=Reason.SCOPE,
        )
    return exp.In(this=_column(scan, "_shard"), expressions=[exp.Literal.string(each) for each in shards])


def _on_shards(binder: Binder, scan: Scan, slots: SlotSet | None) -> Node:
    """The scan of `slots` (None: all), on the scope's shards; as it is where its shards are not known yet."""
    scope, catalog = binder.context.scope, binder.catalog
    if catalog.open_sharding(scan.table) is not None:
        return scan
    shards = scan.route.shards
    sharding = catalog.sharding_of(scan.table)
    why: tuple[Note, ...] = ()
    if sharding is not None and slots is not None and slots != full(sharding.function.size):
        owners = set(sharding.shards_of(slots))
        shards = tuple(shard for shard in shards if shard in owners)
        scan = scan.but(slots=slots)
    if isinstance(scan.table.placement, Reference):
        if scope.shards is not None or scope.is_pinned:
            seen = set(visible_shards(scope, catalog) or ())
            shards = tuple(shard for shard in shards if shard in seen) or shards
    elif scope.shards is not None and not isinstance(scan.table.placement, Single):
        shards = tuple(shard for shard in shards if shard in scope.shards)
        why = (Note("scope-shards", "the connection's scope names these shards"),)
    return _at(scan, shards, is_pinned=scope.is_pinned, why=why)


def _beside(scan: Scan, parent: Node, *, is_pinned: bool) -> Node:
    """A child's scan: equal values are on one shard, so that it is read where its scoped parent is."""
    while parent.inputs:
        parent = parent.inputs[0]
    found = set(parent.route.shards) if isinstance(parent, Scan) else set()
    return _at(scan, tuple(shard for shard in scan.route.shards if shard in found), is_pinned=is_pinned)


def _at(scan: Scan, shards: tuple[str, ...], *, is_pinned: bool, why: tuple[Note, ...] = ()) -> Node:
    if not shards:
        return Empty(rel=scan.rel, columns=scan.columns)
    if shards == scan.route.shards:
        return scan
    total = len(shards) if is_pinned else scan.route.total
    return scan.but(route=Route(shards=shards, total=total, why=why))


def _test(binder: Binder, scan: Scan, key: ScopeKey, of: Column, values: tuple[Value, ...]) -> exp.Expr:
    mine = _column(scan, of.name)
    name = "scope_" + re.sub(r"[^a-z0-9_]", "_", key.name.lower())
    names = [name] if len(values) == 1 else [f"{name}_{number}" for number in range(1, len(values) + 1)]
    number, table = binder.context.scope.keys.index(key), scan.table.full_name
    bound = [
        binder.scope_value(name, value, Scoped(number, index, of, table))
        for index, (name, value) in enumerate(zip(names, values, strict=True))
    ]
    return exp.EQ(this=mine, expression=bound[0]) if len(bound) == 1 else exp.In(this=mine, expressions=bound)


def _column(scan: Scan, name: str) -> exp.Expr:
    wanted = name.casefold()
    return column(next(o.id for o in scan.columns if o.id.name.casefold() == wanted))
