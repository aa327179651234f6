"""group_before_joins: rows are grouped on the shards before they are joined in the merge.

    Aggregate by c.city: sum(o.total)         Aggregate by c.city: sum(g.p0)
    └─ Join o.customer = c.id                 └─ Join g.customer = c.id
       ├─ Scan o                        =>       ├─ Aggregate g by o.customer: p0 = sum(o.total)
       └─ Scan c                                 │  └─ Scan o
                                                 └─ Scan c

Both sides of a join that is not colocated move to the merge. Of a side whose columns are only summed, counted
and compared, groups may move in place of rows: by all its columns that anything above it reads. More sides
than one may be grouped, at any depth of a tree of joins. `weighted_aggregates` says what the groups give, and
what finishes it; where they are made, `distribution` decides as of any Aggregate (`split_aggregates`).

Sound: rows that agree in all columns that the joins and filters above them read meet the same rows, and are
filled with NULL or dropped together. So a group goes the way of its rows, and stands for as many. A group has
a row, so that no row is made of none: which is why a side of which nothing is read but its number of rows
(SELECT min(a.v) FROM a, b: none, if b is empty) is left as it is. Nothing passes a LIMIT, DISTINCT, window or
set operation. Restrictions, each with the query that needs it:

- Values that are equal and not the same ('a' = 'A' by a collation, 0.0 and -0.0, 1.0 and 1.00) make one
  group: GROUP BY may choose one of them, but length(o.name) = c.n may not. So columns that are not told apart
  are only grouped by, or compared with one of the same type and collation.
- What is computed below a join is computed of rows that it drops: sum(1 / o.x) may raise. It is done only of
  what cannot fail, or can be computed wide enough (`wide_numbers`).
- Over an outer join, what fills a row is NULL, not a value computed of NULL, as count(coalesce(o.x, 0)) would
  have it.
- 0.1 + 0.1 + 0.1 is not 3 * 0.1: a sum of floating-point numbers is not multiplied.
- sum(o.v * c.w) is of two sides: neither is grouped. Nor is anything below grouping sets.

Done where the groups are estimated at half the rows at most. EXPLAIN shows them as a partial aggregate.
`group_on_shards` does it before strategies are chosen, where the groups are whole on their shards.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from sqlglot import exp

from shardwise.caching import cached_property
from shardwise.catalog.model import Sharded, ShardedWith
from shardwise.catalog.types import Family
from shardwise.plan.nodes import Aggregate, ColumnId, Filter, Item, Join, Keep, Node, Output, Project, Scan
from shardwise.plan.tree import (
    bare,
    column,
    column_id,
    columns_in,
    columns_read,
    free_columns,
    map_expressions,
    map_inputs,
    names_read,
    plans_in,
    replace_columns,
    rewrite,
    same,
    walk,
)
from shardwise.planner.aggregates import is_aggregate
from shardwise.planner.bind.scope import unique_names
from shardwise.planner.determinism import is_deterministic
from shardwise.planner.distribution import Analysis, Merged, Split
from shardwise.planner.functions import can_fail, is_constant, is_volatile
from shardwise.planner.pass_context import PlanContext
from shardwise.planner.quotients import has_quotient
from shardwise.planner.split_aggregates import may_split
from shardwise.planner.told_apart import is_told_apart
from shardwise.planner.weighted_aggregates import GroupableSide, Grouped, weighted

_FEWER = 0.5
"""The share of a side's rows that its groups may be: to group has its price too."""


def group_before_joins(plan: Node, ctx: PlanContext) -> Node:
    return grouped(plan, ctx, "group_before_joins")


def grouped(plan: Node, ctx: PlanContext, name: str, *, only_whole: bool = False) -> Node:
    """For the pass of that name. `only_whole`: only sides of which each group is on one shard, whole."""
    if not {Aggregate, Join} <= plan.kinds:
        return plan
    analysis = ctx.analysis()

    def change(node: Node) -> Node:
        if isinstance(node, Aggregate) and node.sets is None and isinstance(analysis.of(node.input), Merged):
            return _Grouping(node, ctx, analysis, name, only_whole=only_whole).done()
        return node

    return rewrite(plan, change)


@dataclass(frozen=True, slots=True)
class _Place:
    """A largest tree below the joins that is on the shards, and the columns that it gives."""

    node: Node
    side: GroupableSide
    where: Split


class _Grouping:
    """One Aggregate over joins."""

    def __init__(
        self, node: Aggregate, ctx: PlanContext, analysis: Analysis, name: str, *, only_whole: bool
    ) -> None:
        self.is_forced = name in ctx.forced
        self.only_whole = only_whole
        self.before = node
        self.ctx = ctx
        self.analysis = analysis
        self.node = _inlined(node, ctx)
        self.above = tuple(_above(self.node.input, analysis))

    def done(self) -> Node:
        """The Aggregate over groups; the node as it was where that is not right, or moves no less."""
        if not self.above:  # but for what it reads, which was inlined, it is on the shards itself
            return self.before
        places = self._places()
        if not places or any(is_volatile(e) for n in (self.node, *self.above) for e in n.expressions):
            return self.before
        chosen: list[_Place] = []
        after: Node = self.before
        for place in places:
            found = self._over([*chosen, place])
            if found is not None:
                chosen, after = [*chosen, place], found
        if self.only_whole and not (self._is_all_of(chosen) and _has_calls_alone(after)):
            return self.before
        for place in chosen:
            self.ctx.names.fresh(_name_of(place.node))
        return after

    def _is_all_of(self, places: list[_Place]) -> bool:
        """Whether no aggregate reads another side: with the groups' counts it would be of two."""
        grouped = frozenset[ColumnId]().union(*(place.side.columns for place in places))
        return all(columns_in(call.expr) <= grouped for call in self.node.calls)

    def _places(self) -> list[_Place]:
        """Those that may be grouped, and are worth it, the one that saves most first."""
        savings = []
        for place in self._places_below(self.node.input, is_nullable=False):
            saved = self._saved(place)
            if saved is not None:
                savings.append((saved, place))
        return [place for _, place in sorted(savings, key=lambda pair: -pair[0])]

    def _places_below(self, node: Node, *, is_nullable: bool) -> Iterator[_Place]:
        below = _below(node, self.analysis)
        for inner, fills in below:
            yield from self._places_below(inner, is_nullable=is_nullable or fills)
        where = self.analysis.of(node)
        is_alone = not below and not free_columns(node) and not names_read(node)
        if is_alone and isinstance(where, Split) and is_deterministic(node, self.ctx.type_of):
            yield _Place(node, GroupableSide(node.output_ids, is_nullable), where)

    def _saved(self, place: _Place) -> float | None:
        """How many rows fewer move; None if too few."""
        columns = self._grouped_by(place)
        if not columns:
            return None
        rows = self.ctx.estimates.rows(place.node)
        groups = self.ctx.estimates.distinct(place.node, columns)
        if groups > rows * _FEWER and not self.is_forced:
            return None
        is_whole = not isinstance(self.analysis.of(_by(place.node, columns, (), "g")), Merged)
        if self.only_whole and not is_whole:
            return None
        if self.is_forced:
            return 0.0
        if not is_whole:
            groups = min(rows, groups * len(place.where.shards))
        elif not self._is_counted(place):
            return None
        return rows - groups if groups <= rows * _FEWER else None

    def _is_counted(self, place: _Place) -> bool:
        """Whether ANALYZE counted the rows. If not, a shard key is taken for a key: a group for each row."""
        tables = [n.table for n in walk(place.node) if isinstance(n, Scan)]
        split = (t for t in tables if isinstance(t.placement, Sharded | ShardedWith))
        return all(self.ctx.catalog.statistics_of(table) is not None for table in split)

    def _grouped_by(self, place: _Place) -> tuple[ColumnId, ...]:
        """The columns that are read above the side: by joins, filters, and as groups."""
        read = self._read_by_joins.union(*(columns_in(k.expr) for k in self.node.keys))
        return tuple(o.id for o in place.node.outputs if o.id in read)

    @cached_property
    def _read_by_joins(self) -> frozenset[ColumnId]:
        return frozenset[ColumnId]().union(*map(columns_read, self.above))

    def _over(self, places: list[_Place]) -> Node | None:
        """The Aggregate over groups of these sides."""
        ctx = replace(self.ctx, names=self.ctx.names.copy())
        rels = [ctx.names.fresh(_name_of(place.node)) for place in places]
        found = weighted(self.node.calls, [place.side for place in places], rels, ctx)
        if found is None:
            return None
        given, calls = found
        by: dict[ColumnId, exp.Expr] = {}
        made: dict[int, Aggregate] = {}
        keys = self.node.keys
        for place, group in zip(places, given, strict=True):
            grouped = self._group(place, group, keys, by, ctx)
            if grouped is None:
                return None
            made[id(place.node)], keys = grouped
        below = _rebuilt(self.node.input, made, by, self.analysis)
        calls = tuple(item._replace(expr=replace_columns(item.expr, by)) for item in calls)
        keys = tuple(item._replace(expr=replace_columns(item.expr, by)) for item in keys)
        self.ctx.learn(below)
        return Aggregate(input=below, rel=self.node.rel, keys=keys, calls=calls)

    def _group(
        self,
        place: _Place,
        group: Grouped,
        keys: tuple[Item, ...],
        by: dict[ColumnId, exp.Expr],
        ctx: PlanContext,
    ) -> tuple[Aggregate, tuple[Item, ...]] | None:
        """The side's groups, and the keys read from them; `by` learns what its columns are called there."""
        own, keys = self._computed_keys(place, group, keys)
        read = self._read_by_joins.union(*(columns_in(k.expr) for k in keys))
        columns = [o.id for o in place.node.outputs if o.id in read]
        if not columns and not own:
            return None
        if not all(self._may_be_one(place.node, id, keys) for id in columns):
            return None
        taken = [*(item.name for item in (*own, *group.keys, *group.calls))]
        names = unique_names([*taken, *(id.name for id in columns)])[len(taken) :]
        items = tuple(Item(name, column(id)) for name, id in zip(names, columns, strict=True))
        aggregate = _by(place.node, (), group.calls, group.rel, (*items, *own, *group.keys))
        ctx.learn(aggregate)
        where = self.analysis.of(aggregate)
        if isinstance(where, Merged) and (
            self.only_whole or not may_split(aggregate, place.where.shards, ctx, self.analysis)
        ):
            return None
        by.update((id, column(ColumnId(group.rel, name))) for name, id in zip(names, columns, strict=True))
        return aggregate, keys

    def _computed_keys(
        self, place: _Place, group: Grouped, keys: tuple[Item, ...]
    ) -> tuple[tuple[Item, ...], tuple[Item, ...]]:
        """Of keys that are computed of the side's columns alone: grouped by as they are."""
        own: list[Item] = []
        after = []
        for key in keys:
            read = columns_in(key.expr)
            if (
                column_id(key.expr) is None
                and read
                and read <= place.side.columns
                and self._may_move(key.expr, place)
            ):
                known = next((item for item in own if same(item.expr, key.expr)), None)
                if known is None:
                    known = Item(f"e{len(own)}", key.expr)
                    own.append(known)
                after.append(key._replace(expr=column(ColumnId(group.rel, known.name))))
            else:
                after.append(key)
        return tuple(own), tuple(after)

    def _may_move(self, expr: exp.Expr, place: _Place) -> bool:
        """Whether it may be computed of the side's rows, those that are dropped too."""
        fails = can_fail(expr, self.ctx.type_of) and not self.ctx.dialect.never_fails(expr)
        arithmetic = expr.find(exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Subquery)
        is_value = not self.analysis.is_fragile(expr) and not self.analysis.is_cut(expr)
        return not fails and arithmetic is None and is_value and place.side.passes_null(expr)

    def _may_be_one(self, node: Node, id: ColumnId, keys: tuple[Item, ...]) -> bool:
        """Whether rows that agree in the column may be one, for all that is done with it."""
        output = next(o for o in node.outputs if o.id == id)
        if is_told_apart(output, self.ctx):
            return True
        used = [e for n in self.above for e in n.expressions if id in columns_in(e)]
        used += [k.expr for k in keys if column_id(k.expr) != id and id in columns_in(k.expr)]
        return all(self._compares_alike(e, output) for e in used)

    def _compares_alike(self, test: exp.Expr, output: Output) -> bool:
        """`o.name = c.name`, both of one type and collation."""
        test = bare(test)
        if type(test) is not exp.EQ:
            return False
        sides = (column_id(bare(test.this)), column_id(bare(test.expression)))
        others = [self.ctx.types.get(side) for side in sides if side is not None and side != output.id]
        if len(others) != 1 or others[0] is None or None in sides:
            return False
        other = others[0]
        family = self.ctx.dialect.family(output.type or "")
        return (other.type, other.collation) == (output.type, output.collation) and family in (
            Family.TEXT,
            Family.FLOAT,
        )


# The tree


def _inlined(node: Aggregate, ctx: PlanContext) -> Aggregate:
    """The Aggregate reading what a select list below it computes, where that is the same."""
    while isinstance(node.input, Project):
        project = node.input
        read = columns_read(node)
        by = {ColumnId(project.rel, i.name): i.expr for i in project.items if (project.rel, i.name) in read}
        cuts = ctx.dialect.reader.cuts_quotients
        for expr in by.values():
            if (
                is_constant(expr)
                or is_volatile(expr)
                or any(plans_in(expr))
                or (cuts and has_quotient(expr, ctx.types))
            ):
                return node
        if any(any(plans_in(e)) for e in node.expressions):
            return node
        node = node.but(
            input=project.input,
            keys=tuple(i._replace(expr=replace_columns(i.expr, by)) for i in node.keys),
            calls=tuple(i._replace(expr=replace_columns(i.expr, by)) for i in node.calls),
        )
    return node


def _below(node: Node, analysis: Analysis) -> tuple[tuple[Node, bool], ...]:
    """The inputs that a group may come from, and whether the node fills what they give with NULL."""
    if not isinstance(analysis.of(node), Merged):
        return ()
    if isinstance(node, Filter | Keep):
        return ((node.input, False),)
    if isinstance(node, Join) and not node.lateral:
        left, right = node.left, node.right
        match node.kind:
            case "inner" | "cross":
                return (left, False), (right, False)
            case "left":
                return (left, False), (right, True)
            case "right":
                return (left, True), (right, False)
            case "full":
                return (left, True), (right, True)
            case "semi" | "anti":
                return ((left, False),)
    return ()


def _above(node: Node, analysis: Analysis) -> Iterator[Node]:
    """The nodes that stand over the sides."""
    below = _below(node, analysis)
    if below:
        yield node
    for inner, _ in below:
        yield from _above(inner, analysis)


def _has_calls_alone(node: Node) -> bool:
    """Whether an Aggregate's calls are aggregates, and nothing is computed of them: so they may be split."""
    return isinstance(node, Aggregate) and all(is_aggregate(item.expr) for item in node.calls)


def _name_of(node: Node) -> str:
    return f"{node.outputs[0].id.rel}_groups"


def _by(
    node: Node,
    columns: Iterable[ColumnId],
    calls: tuple[Item, ...],
    rel: str,
    keys: tuple[Item, ...] = (),
) -> Aggregate:
    items = tuple(Item(f"{i}", column(id)) for i, id in enumerate(columns))
    return Aggregate(input=node, rel=rel, keys=items + keys, calls=calls)


def _rebuilt(
    node: Node, made: Mapping[int, Aggregate], by: Mapping[ColumnId, exp.Expr], analysis: Analysis
) -> Node:
    """The joins over the groups. What reads them names what it reads: a Keep has nothing to leave out."""
    if id(node) in made:
        return made[id(node)]
    below = {id(inner) for inner, _ in _below(node, analysis)}
    if not below:
        return node
    if isinstance(node, Keep):
        return _rebuilt(node.input, made, by, analysis)
    node = map_inputs(node, lambda n: _rebuilt(n, made, by, analysis) if id(n) in below else n)
    return map_expressions(node, lambda e: replace_columns(e, by))
