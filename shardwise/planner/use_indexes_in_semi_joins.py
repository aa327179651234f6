"""use_indexes_in_semi_joins: whether a row meets any of another table is asked of the index of both.

    Semi join a.x = b.x                 Semi join a.x = i.b_x AND a.k = i.a_k     (on the shards)
    ├─ Scan a                    =>     ├─ Scan a
    └─ Scan b                           └─ Scan i

    Semi join a.x = b.x                 Distinct
    ├─ Scan a                    =>     └─ Project i.a_id, i.a_v
    └─ Scan b                              └─ Scan i

*Beside* the outer table, where the index is sharded as that is: its rows are with those that they are of, and
only rows of the answer move. *Alone*, where it has all that is read of the outer table, and a key that tells
its rows apart.

Sound, beside: of each outer row and each inner one that it meets the index has a pair, with both rows'
values, as of its build. So a row that meets one finds that pair by its own shard key too, and whatever pair
it finds has the values of an inner row that all conditions, which are kept, are true of. Alone: the pairs of
which the conditions are true are of the rows that are wanted, each as often as it meets one; those of one row
are told from another's by a key without NULLs that is unique over all shards, and are equal in all columns.

Not an anti-join: a row that came after the build is in no pair, and would count as one that meets nothing.
Not where a condition is volatile, or has a subquery. Of the inner table the index must have all columns that
are compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlglot import exp

from shardwise.catalog.index_tables import IndexTable
from shardwise.catalog.model import JoinIndex
from shardwise.catalog.types import Family, type_family
from shardwise.plan.nodes import ColumnId, Distinct, Filter, Item, Join, JoinKind, Node, Project, Scan
from shardwise.plan.reasons import OfIndex
from shardwise.plan.route import Note
from shardwise.plan.tree import (
    bare,
    column,
    column_id,
    columns_in,
    free_columns,
    plans_in,
    replace_columns,
    rewrite,
    walk,
)
from shardwise.planner.distribution import Analysis, Merged
from shardwise.planner.equivalence import Types, are_declared_alike, equalities, is_binary
from shardwise.planner.estimates.moved import unmeasured
from shardwise.planner.functions import is_volatile
from shardwise.planner.join_subqueries import inner_of
from shardwise.planner.narrow_columns import narrow_columns
from shardwise.planner.pass_context import PlanContext
from shardwise.planner.prune_slots import filtered_scan
from shardwise.planner.push_filters import is_movable, push_filters
from shardwise.planner.strategies.choosing import Choosing
from shardwise.planner.strategies.groups import Conjuncts, Group, is_inner
from shardwise.planner.total_order import keys_over_all_shards
from shardwise.planner.usable_indexes import not_used, scan_of_index, tell, tell_used, usable
from shardwise.planner.use_join_indexes import (
    Columns,
    Leaf,
    TablePair,
    leaf_of,
    leaves_of,
    renamed,
    with_computed,
)

_NO_EQUALITY = frozenset({Family.JSON, Family.NESTED, Family.OTHER})


def use_indexes_in_semi_joins(plan: Node, ctx: PlanContext) -> Node:
    if not ctx.catalog.join_indexes() or not (Join in plan.kinds or plan.has_subqueries):
        return plan
    after: Node | None = plan
    while after is not None:
        plan = after
        after = _replaced(plan, ctx)
    _tell_of_other_joins(plan, ctx)
    return plan


def _replaced(plan: Node, ctx: PlanContext) -> Node | None:
    """The plan with one semi-join answered by an index; None if there is none."""
    analysis = ctx.analysis()
    for place in _places(plan, ctx, analysis):
        meetings = tuple(_meetings(place, ctx, analysis)) if place.join.kind == "semi" else ()
        after = _beside(meetings) or _alone(meetings)
        if after is not None:
            return after
    return None


@dataclass(frozen=True)
class _Place:
    """A join that is not on the shards: `node` of the plan is it, or is a Filter of which it says one
    conjunct, and `rest` are the others."""

    plan: Node
    node: Node
    join: Join
    rest: Conjuncts = ()

    def with_outer(self, part: Node, rows: Node) -> Node:
        """The plan with other rows in the place of a part of the outer ones, which need no join any more."""
        left = rewrite(self.join.left, lambda n: rows if n is part else n)
        new = Filter(input=left, conjuncts=self.rest) if self.rest else left
        return rewrite(self.plan, lambda n: new if n is self.node else n)


def _places(plan: Node, ctx: PlanContext, analysis: Analysis) -> Iterator[_Place]:
    """The joins that are written as such, and those that EXISTS, NOT EXISTS and IN are."""
    for node in walk(plan):
        if not isinstance(node, Join | Filter) or not isinstance(analysis.of(node), Merged):
            continue
        if isinstance(node, Join) and not node.lateral:
            yield _Place(plan, node, node)
        elif isinstance(node, Filter) and node.subplans:
            for conjunct in node.conjuncts:
                inner = inner_of(conjunct, node, ctx, analysis, _is_linked)
                if inner is not None:
                    kind: JoinKind = "anti" if inner.is_anti else "semi"
                    join = Join(kind=kind, left=node.input, right=inner.node, on=inner.on)
                    pushed = push_filters(join, ctx)
                    rest = tuple(c for c in node.conjuncts if c is not conjunct)
                    if isinstance(pushed, Join):
                        yield _Place(plan, node, pushed, rest)


def _is_linked(conditions: Conjuncts, types: Types) -> bool:
    """Whether one is `column = column` of one type: of texts that a collation compares, too."""
    for test in map(bare, conditions):
        if type(test) is not exp.EQ:
            continue
        one, other = column_id(bare(test.this)), column_id(bare(test.expression))
        if one is not None and other is not None and are_declared_alike(one, other, types):
            return True
    return bool(equalities(conditions, types))


def _beside(meetings: Sequence[_Meeting]) -> Node | None:
    for meeting in meetings:
        for index in meeting.indexes():
            found = meeting.usable(index)
            after = meeting.beside(index, found) if found is not None else None
            if after is not None:
                tell_used(index, meeting.ctx)
                return meeting.with_outer(after)
    return None


def _alone(meetings: Sequence[_Meeting]) -> Node | None:
    notes = []
    for meeting in meetings:
        for index in meeting.indexes():
            found = meeting.usable(index)
            after = meeting.alone(index, found) if found is not None else None
            if isinstance(after, Note):
                notes.append((after, meeting.ctx))
            elif after is not None:
                rows, by = after
                tell_used(index, meeting.ctx)
                return renamed(meeting.with_outer(rows), by, meeting.ctx)
    for note, ctx in notes:
        tell(note, ctx)
    return None


@dataclass(frozen=True)
class _Meeting:
    """A semi-join, a part of its outer rows that has all that is compared, the table that those are of, and
    the table that they are to meet."""

    place: _Place
    part: Node
    outer: Leaf
    inner: Leaf
    pair: TablePair
    is_outer_left: bool

    @property
    def ctx(self) -> PlanContext:
        return self.pair.ctx

    @property
    def join(self) -> Join:
        return self.place.join

    def usable(self, index: JoinIndex) -> IndexTable | None:
        return usable(index, self.place.plan, self.ctx)

    def with_outer(self, rows: Node) -> Node:
        return self.place.with_outer(self.part, rows)

    def indexes(self) -> Iterator[JoinIndex]:
        """Those of the two tables, whose equality is true of what meets, that of the fewest pairs first."""
        matching = (index for index in self.ctx.catalog.join_indexes() if self.pair.matches(index))
        return iter(sorted(matching, key=self.pair.pairs_of))

    def names(self, index: JoinIndex) -> tuple[str, str]:
        """The outer and the inner table, as the index names them."""
        names = index.left.table, index.right.table
        return names if self.is_outer_left else (names[1], names[0])

    def beside(self, index: JoinIndex, found: IndexTable) -> Node | None:
        """The part semi-joined with the index, if that is done on the shards."""
        outer, inner = self.names(index)
        own, declared = self._key_of(index), self.outer.scan.table.column(index.key.column)
        if own is None or declared is None or self.pair.objection(index, found, self._compared(self.inner)):
            return None
        scan = scan_of_index(index, found, self.ctx)
        by = self.inner.in_index(found, inner, scan)
        key = column(ColumnId(scan.rel, str(found.column_for(outer, index.key.column))))
        equal = exp.NullSafeEQ if declared.nullable else exp.EQ
        on = tuple(replace_columns(c, by) for c in self.join.on)
        tests = tuple(replace_columns(c, by) for c in self.inner.tests)
        after = self.join.but(
            left=self.part,
            right=filtered_scan(scan, tests, self.ctx),
            on=(*on, equal(this=column(own), expression=key)),
        )
        return None if isinstance(self.pair.analysis.of(after), Merged) else after

    def alone(self, index: JoinIndex, found: IndexTable) -> tuple[Node, Columns] | Note | None:
        """The part read off the index, and its columns for all names of theirs; else why not, if it could."""
        if leaf_of(self.part) is None:
            return None
        outer, inner = self.names(index)
        objection = self.pair.objection(index, found, self._compared(self.outer, self.inner))
        wanted = self._needed(found, outer)
        if wanted is None:
            why = f"it is not sharded as {outer} is, and has no key that tells its rows apart on all shards"
            return objection or not_used(index, OfIndex.NO_KEY, why)
        objection = objection or self.pair.objection(index, found, wanted)
        if objection is not None:
            return objection
        unlike = [id for id in wanted if self._has_no_equality(id)]
        if unlike:
            why = f"equal values of {outer}.{unlike[0].name} cannot be told"
            return not_used(index, OfIndex.NO_KEY, why)
        scan = scan_of_index(index, found, self.ctx)
        mine = self.outer.in_index(found, outer, scan)
        both = self.inner.in_index(found, inner, scan) | mine
        kept = (c for c in self.join.on if not self.pair.is_own(c, index))
        everything = (*self.outer.tests, *self.inner.tests, *kept)
        rows = filtered_scan(scan, tuple(replace_columns(c, both) for c in everything), self.ctx)
        rel = self.ctx.names.fresh(self.outer.scan.rel)
        items = tuple(Item(id.name, mine[id]) for id in wanted)
        after = Distinct(input=Project(input=rows, rel=rel, items=items))
        self.ctx.learn(after)
        if not self._pays(after, rows):
            why = f"it has more to move than {outer} and {inner}"
            return not_used(index, OfIndex.NOT_CHEAPER, why)
        by: Columns = {id: column(ColumnId(rel, id.name)) for id in wanted}
        exprs = {id: e for id, e in self.outer.exprs.items() if columns_in(e) <= by.keys()}
        return with_computed(after, {id: replace_columns(e, by) for id, e in exprs.items()}, self.ctx)

    def _needed(self, found: IndexTable, outer: str) -> list[ColumnId] | None:
        """The outer table's columns that are read above, and those that tell its rows apart, if the index has
        such."""
        scan = self.outer.scan
        for key in keys_over_all_shards(scan, self.ctx):
            is_bytewise = all(is_binary(self.ctx.types[id].collation) for id in key)
            if is_bytewise and all(found.column_for(outer, id.name) is not None for id in key):
                return list(dict.fromkeys([*self._read(), *key]))
        return None

    def _has_no_equality(self, id: ColumnId) -> bool:
        """Whether some product finds no duplicates of such a column."""
        declared = self.outer.scan.table.column(id.name)
        return declared is None or type_family(declared.type, self.ctx.catalog.dialect) in _NO_EQUALITY

    def _pays(self, after: Node, rows: Node) -> bool:
        """Whether less moves than by any other way. Nobody knows without statistics: then it is used."""
        ctx, join = self.ctx, self.join
        if any(unmeasured(part, ctx.estimates) for part in (self.part, join.right)):
            return True
        read = frozenset(self._read()).union(*map(columns_in, join.on))
        parts, analysis = (self.part, join.right), self.pair.analysis
        choosing = Choosing(parts, "semi", join.on, self.pair.group.equal, read, None, ctx, analysis)
        moved = min(ctx.estimates.rows(rows), ctx.estimates.rows(after) * analysis.spread(rows))
        return moved * ctx.estimates.width(after) <= min(p.cost for p in choosing.programs.values())

    # -- what there is ----------------------------------------------------------------------------

    def _key_of(self, index: JoinIndex) -> ColumnId | None:
        """The outer table's column that the index is sharded by, as the semi-join may read it."""
        outer, _ = self.names(index)
        if index.key.table.casefold() != outer.casefold():
            return None
        wanted, outputs = index.key.column.casefold(), self.part.output_ids
        mine = (id for id, own in self.outer.ids.items() if own.name.casefold() == wanted and id in outputs)
        return min(mine, default=None)

    def _compared(self, *leaves: Leaf) -> list[ColumnId]:
        """The columns that the conditions have, as the scans have them."""
        found: dict[ColumnId, None] = {}
        for leaf in leaves:
            for test in (*self.join.on, *leaf.tests):
                for id in sorted(columns_in(test) & leaf.exprs.keys()):
                    found |= dict.fromkeys(sorted(columns_in(leaf.exprs[id])))
        return list(found)

    def _read(self) -> tuple[ColumnId, ...]:
        """The outer table's columns that are read elsewhere than in the semi-join and the part's filters."""
        bare = self.with_outer(rewrite(self.part, lambda n: n.input if isinstance(n, Filter) else n))
        rel = self.outer.scan.rel
        scans = (n for n in walk(narrow_columns(bare, self.ctx)) if isinstance(n, Scan) and n.rel == rel)
        return tuple(dict.fromkeys(o.id for scan in scans for o in scan.columns))


def _meetings(place: _Place, ctx: PlanContext, analysis: Analysis) -> Iterator[_Meeting]:
    """The tables that outer rows are of, the lowest part first: each as it may meet the inner table."""
    join = place.join
    inner = leaf_of(join.right)
    if inner is None or free_columns(join.right) or not _is_plain(join.on) or not _is_plain(inner.tests):
        return
    read = frozenset[ColumnId]().union(*map(columns_in, join.on)) & join.left.output_ids
    may_move = all(is_movable(c, ctx) for c in join.on)
    for part in _parts(join.left, read) if may_move else (join.left,):
        group = Group.of_two(join, analysis, part)
        for outer in leaves_of(part):
            for is_left in (True, False):
                sides = (outer, inner) if is_left else (inner, outer)
                pair = TablePair(place.plan, join, (), group, (0, 1), *sides, ctx, analysis)
                yield _Meeting(place, part, outer, inner, pair, is_left)


def _parts(node: Node, read: frozenset[ColumnId]) -> Iterator[Node]:
    """The parts of inner joins that have these columns, the lowest first."""
    if isinstance(node, Join) and is_inner(node):
        for side in (node.left, node.right):
            if read <= side.output_ids:
                yield from _parts(side, read)
    yield node


def _is_plain(conditions: tuple[exp.Expr, ...]) -> bool:
    return not any(is_volatile(c) or any(True for _ in plans_in(c)) for c in conditions)


# ------------------------------------------------------------------ joins of other kinds


def _tell_of_other_joins(plan: Node, ctx: PlanContext) -> None:
    """Notes the indexes that would serve a join, were it an inner one."""
    analysis = ctx.analysis()
    for place in _places(plan, ctx, analysis):
        node = place.join
        for one, other in ((node.left, node.right), (node.right, node.left)):
            left, right = leaf_of(one), leaf_of(other)
            if left is None or right is None or node.kind not in _KINDS:
                continue
            group = Group.of_two(node, analysis)
            pair = TablePair(plan, node, (), group, (0, 1), left, right, ctx, analysis)
            for index in ctx.catalog.join_indexes():
                if pair.matches(index):
                    why = f"it is of an inner join, and this is {_KINDS[node.kind]}"
                    tell(not_used(index, OfIndex.JOIN_KIND, why), ctx)


_KINDS = {
    "left": "a left join",
    "right": "a right join",
    "full": "a full join",
    "anti": "an anti join",
}
