"""join_back: a join index that lacks columns says by its keys which rows of its two tables meet any.

    Join c.page = p.url                 runs first: keys_1 = DISTINCT clicks_page FROM reading WHERE …
    ├─ Scan c                                       keys_2 = DISTINCT pages_id FROM reading WHERE …
    └─ Filter p.topic = 'x'       =>    Join c.page = p.url
       └─ Scan p                        ├─ Filter c.page IN keys_1 (Scan c)
                                        └─ Filter p.topic = 'x' AND p.id IN keys_2 (Scan p)

The index reads the conditions that are on its own columns; of each table one of its columns is chosen whose
values are few, and best go each to its own shard. The join is then done as any other.

Sound: the index has a row for each pair that its equality joins, as of its build, with both rows' values.
What the statement asks of the two rows is true of that pair too, so each row that meets one has its key among
those found. The join's own columns are no NULL there; another one may be, and then its keys are not used: IN
finds no NULL. Conditions that may fail, are volatile or have a subquery are not asked of the index. A column
is asked of it only if it compares there as in its table, and gives keys only if a list of these does.
Inner and semi-joins: an outer one, and an anti-join, keeps rows that are in no index.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from sqlglot import exp

from shardwise.catalog.index_tables import IndexTable
from shardwise.catalog.model import JoinIndex, Table
from shardwise.catalog.types import Family, type_family
from shardwise.plan.nodes import (
    ColumnId,
    Distinct,
    Filter,
    Item,
    Join,
    JoinKind,
    Node,
    Project,
    Scan,
)
from shardwise.plan.reasons import OfIndex
from shardwise.plan.run import Bound
from shardwise.plan.tree import column, columns_in, replace_columns, rewrite, walk
from shardwise.planner.distribution import Analysis, Merged
from shardwise.planner.estimates.defaults import ROW_BYTES
from shardwise.planner.estimates.moved import unmeasured
from shardwise.planner.firsts import KEYS_MAX
from shardwise.planner.narrow_columns import narrow_columns
from shardwise.planner.pass_context import PlanContext
from shardwise.planner.push_filters import is_movable, push_filters
from shardwise.planner.route_keys import is_routed
from shardwise.planner.strategies.choosing import Choosing
from shardwise.planner.strategies.consumers import consumer_below
from shardwise.planner.strategies.groups import Group, is_inner
from shardwise.planner.strategies.keys import (
    among,
    at_most,
    in_keys,
    may_be_asked,
    waits,
)
from shardwise.planner.strategies.programs import KEY_BYTES, Side, programs
from shardwise.planner.usable_indexes import (
    compares_alike_anywhere,
    forget,
    scan_of_index,
    tell_used,
    usable,
)
from shardwise.planner.use_join_indexes import Leaf, TablePair, groups, leaves_of, with_above

NAME: Final = "join_back"
_SURE: Final = 0.5
"""Of what was not measured it has to promise so much."""
_NO_KEYS: Final = frozenset({Family.ENUM, Family.JSON, Family.BIT, Family.NESTED, Family.OTHER})

Done = set[tuple[str, str, str]]


def join_back(plan: Node, ctx: PlanContext) -> Node:
    if not ctx.trusts_indexes or not ctx.catalog.join_indexes() or Join not in plan.kinds:
        return plan
    done: Done = set()
    after: Node | None = plan
    while after is not None:
        plan = after
        after = _narrowed(plan, done, ctx)
    return plan


def _narrowed(plan: Node, done: Done, ctx: PlanContext) -> Node | None:
    """The plan with one more pair of tables narrowed; None if there is none. `done` has what was tried."""
    analysis = ctx.analysis()
    for top, above in (*groups(plan), *_semi_joins(plan)):
        if not isinstance(analysis.of(top), Merged):
            continue
        group = _group(top, analysis)
        for pair in _pairs(plan, top, above, group, ctx, analysis):
            for index in ctx.catalog.join_indexes():
                known = (index.name, pair.left.scan.rel, pair.right.scan.rel)
                if known in done or not pair.matches(index) or pair.are_together():
                    continue
                done.add(known)
                found = usable(index, plan, ctx)
                narrowing = None if found is None else _Narrowing.of(pair, index, found)
                parts = narrowing.parts() if narrowing is not None else {}
                if parts:
                    return rewrite(plan, lambda n: parts.get(id(n), n))  # noqa: B023
    return None


def _semi_joins(plan: Node) -> Iterator[tuple[Node, tuple[Node, ...]]]:
    tops = ((n, above) for n, above in with_above(plan) if isinstance(n, Join))
    return ((n, above) for n, above in tops if n.kind == "semi" and not n.lateral)


def _kind(node: Node) -> JoinKind:
    assert isinstance(node, Join)
    return "inner" if is_inner(node) else node.kind


def _group(top: Node, analysis: Analysis) -> Group:
    """What meets: the parts of inner joins, the two of a semi-join."""
    if is_inner(top):
        return Group.of(top, analysis, keeps_colocated=True)
    assert isinstance(top, Join)
    return Group.of_two(top, analysis)


def _pairs(
    plan: Node, top: Node, above: tuple[Node, ...], group: Group, ctx: PlanContext, analysis: Analysis
) -> Iterator[TablePair]:
    """Two tables of different parts, in either order."""
    leaves = [(i, leaf) for i, part in enumerate(group.parts) for leaf in leaves_of(part)]
    for i, left in leaves:
        for j, right in leaves:
            if i != j:
                yield TablePair(plan, top, above, group, (i, j), left, right, ctx, analysis)


class _Key(NamedTuple):
    """A column of part `at`, and the index's that has its values; `keys` and `rows` (of the part, then) are
    expected."""

    at: int
    id: ColumnId
    own: str
    keys: float
    rows: float
    cost: float


@dataclass(frozen=True)
class _Narrowing:
    """What an index says of two tables: `scan` is its own, `rows` the same under their conditions."""

    pair: TablePair
    index: JoinIndex
    found: IndexTable
    scan: Scan
    rows: Node

    @classmethod
    def of(cls, pair: TablePair, index: JoinIndex, found: IndexTable) -> _Narrowing | None:
        """None where a condition waits for what runs first: it is looked at again when that is known."""
        ctx = pair.ctx
        scan = scan_of_index(index, found, ctx)
        by: dict[ColumnId, exp.Expr] = {}
        for leaf in (pair.left, pair.right):
            for id, own in leaf.ids.items():
                name = _column_of(leaf, own, found, ctx)
                if name is not None:
                    by[id] = column(ColumnId(scan.rel, name))
        everything = (*pair.left.tests, *pair.right.tests, *pair.between(index))
        tests = tuple(
            replace_columns(c, by)
            for c in everything
            if columns_in(c)
            and columns_in(c) <= by.keys()
            and not c.find(exp.Subquery)
            and is_movable(c, ctx)
        )
        rows: Node = Filter(input=scan, conjuncts=tests) if tests else scan
        return None if waits(rows, ctx) else cls(pair, index, found, scan, rows)

    # -- the parts, narrowed ----------------------------------------------------------------------

    def parts(self) -> dict[int, Node]:
        """The parts that are narrowed, by the identity of what they were; none if it does not pay."""
        keys = [key for key in (self._key(*each) for each in self._sides()) if key is not None]
        if not keys or not self._is_taken(keys):
            return {}
        ctx, found, told = self.pair.ctx, {}, []
        for key in keys:
            part = self.pair.group.parts[key.at]
            condition = self._condition(key)
            if condition is not None:
                found[id(part)] = push_filters(Filter(input=part, conjuncts=(condition,)), ctx)
                told.append(f"{key.id.rel}.{key.id.name}")
        if found:
            forget(self.index, (OfIndex.LACKS_COLUMNS, OfIndex.OTHER_EQUALITY, OfIndex.NOT_CHEAPER), ctx)
            tell_used(self.index, ctx, joined=f"; joined back by {', '.join(told)}")
        return found

    def _sides(self) -> Iterator[tuple[int, Leaf, str]]:
        (i, j), index = self.pair.at, self.index
        yield i, self.pair.left, index.left.column
        yield j, self.pair.right, index.right.column

    def _key(self, at: int, leaf: Leaf, joined: str) -> _Key | None:
        """The column of a table that narrows it best."""
        part = self.pair.group.parts[at]
        able = [self._asked(at, leaf, id) for id in leaf.ids if self._may_give(part, leaf, id, joined)]
        return min((k for k in able if k.keys <= KEYS_MAX), key=lambda k: (k.cost, k.id), default=None)

    def _may_give(self, part: Node, leaf: Leaf, id: ColumnId, joined: str) -> bool:
        """Whether the index has the column's values, none of them NULL, and they may be asked of the part."""
        ctx, own = self.pair.ctx, leaf.ids[id]
        name, declared = _column_of(leaf, own, self.found, ctx), leaf.scan.table.column(own.name)
        if name is None or declared is None or id not in part.output_ids:
            return False
        if declared.nullable and own.name.casefold() != joined.casefold():
            return False
        theirs = ColumnId(self.scan.rel, name)
        if type_family(declared.type, ctx.catalog.dialect) in _NO_KEYS:
            return False
        if not ctx.early.keys_meet(theirs, id, ctx.types):
            return False
        return may_be_asked(part, id, self.pair.analysis)

    def _asked(self, at: int, leaf: Leaf, id: ColumnId) -> _Key:
        ctx, part = self.pair.ctx, self.pair.group.parts[at]
        name = self.found.column_for(leaf.scan.table.full_name, leaf.ids[id].name)
        assert name is not None
        theirs, expected = ColumnId(self.scan.rel, name), ctx.estimates.of(self.rows)
        is_guess = expected.column(theirs).is_guess
        keys = expected.rows if is_guess else expected.distinct([theirs])
        share = min(1.0, keys / max(ctx.estimates.distinct(part, [id]), 1.0))
        rows = ctx.estimates.rows(part) * share
        targets = 1 if is_routed(id, part, ctx.catalog) else self.pair.analysis.spread(part)
        cost = keys * (ROW_BYTES + KEY_BYTES + KEY_BYTES * targets)
        return _Key(at, id, name, keys, rows, cost + rows * ctx.estimates.width(part))

    # -- keys that run first ----------------------------------------------------------------------

    def _name(self, key: _Key) -> ColumnId:
        """What its keys are known by, in each planning: both tables may be asked the same ones."""
        rels = f"{self.pair.left.scan.rel}, {self.pair.right.scan.rel}"
        return ColumnId(f"keys of {self.index.name}.{key.own} for {rels}", "key")

    def _came(self, key: _Key) -> Bound | None:
        firsts = self.pair.ctx.firsts
        name = firsts.names.get(self._name(key))
        return None if name is None else firsts.bound.get(name)

    def _condition(self, key: _Key) -> exp.Expr | None:
        """What the keys say of the part; None, if they turned out too many, or not to travel."""
        ctx = self.pair.ctx
        rel = self._name(key).rel
        item = Item("key", column(ColumnId(self.scan.rel, key.own)))
        query = at_most(Distinct(input=Project(input=self.rows, rel=rel, items=(item,))), KEYS_MAX)
        same = (
            e for e in ctx.firsts.found if e.use == "keys" and e.plan.outputs[0].id == query.outputs[0].id
        )
        early = next(same, None) or ctx.firsts.add("keys", query)
        bound = ctx.firsts.bound.get(early.name)
        if bound is None:
            return in_keys(key.id, early.name)
        if (
            bound.rows is None
            or not ctx.early.keys_travel(bound, 0)
            or any(row[0] is None for row in bound.rows)
        ):
            return None
        return among(key.id, early.name, bound, 0, ctx)

    # -- does it pay ------------------------------------------------------------------------------

    def _is_taken(self, keys: list[_Key]) -> bool:
        """Once its keys came they are of use; before, they have to promise that less moves."""
        if NAME in self.pair.ctx.forced or any(self._came(key) is not None for key in keys):
            return True
        pair, ctx = self.pair, self.pair.ctx
        needed = frozenset(_read(narrow_columns(pair.plan, ctx)))
        group, consumer = pair.group, consumer_below(pair.above, ctx)
        kind = _kind(pair.node)
        choosing = Choosing(group.parts, kind, group.on, group.equal, needed, consumer, ctx, pair.analysis)
        without = min(p.cost for p in choosing.programs.values())
        sides = list(choosing.sides)
        asked = {key.own: 0.0 for key in keys}
        for key in keys:
            side = sides[key.at]
            targets = 1 if is_routed(key.id, group.parts[key.at], ctx.catalog) else side.shards
            asked[key.own] = max(asked[key.own], key.keys * (ROW_BYTES + KEY_BYTES))
            asked[f"to {key.at}"] = key.keys * KEY_BYTES * targets
            sides[key.at] = _fewer(side, key, choosing.columns[key.at])
        after = programs(
            sides,
            narrows=choosing.narrows,
            sends=choosing.sends,
            kind=kind,
            consumer=consumer,
            keys_max=KEYS_MAX,
        )
        cost = min(p.cost for p in after.values()) + sum(asked.values())
        tables = [t for part in (*group.parts, self.scan) for t in unmeasured(part, ctx.estimates)]
        return cost < without * (_SURE if tables else 1.0)


def _column_of(leaf: Leaf, own: ColumnId, found: IndexTable, ctx: PlanContext) -> str | None:
    """The index's column for a table's, if it compares there as in the table."""
    table: Table = leaf.scan.table
    declared = table.column(own.name)
    if declared is None or not compares_alike_anywhere(declared, ctx):
        return None
    return found.column_for(table.full_name, own.name)


def _fewer(side: Side, key: _Key, columns: dict[int, ColumnId]) -> Side:
    """A side that is narrowed by so many keys."""
    rows = min(side.rows, key.rows)
    values = {
        number: min(value, rows, key.keys if columns[number] == key.id else rows)
        for number, value in side.values.items()
    }
    return replace(side, rows=rows, values=values)


def _read(plan: Node) -> Iterator[ColumnId]:
    """All columns that the plan has."""
    for node in walk(plan):
        yield from node.output_ids
        for part in node.expressions:
            yield from columns_in(part)
