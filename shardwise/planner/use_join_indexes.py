"""use_join_indexes: two tables that an index joins are read as the index, whose pairs are on one shard each.

    Join c.page = p.url                          Scan visits on s0, s1, s2, s3
    ├─ Scan c: customer_id, page        =>
    └─ Scan p: url, title

The tables' rows need not meet in the merge any more: the pairs are where the index's sharding says, so that
groups, further joins and first rows may stay on the shards, as of any other table.

Sound: a join index has a row for each pair of rows that its equality joins, twice if the pair is there twice,
as of its build. In a tree of inner joins that implies this equality, the two tables joined by it are those
rows, as inner joins are associative and commutative; every other condition is kept, over the index's columns:
of `a.x = b.x AND a.v = b.v` an index on x knows nothing of v. It must have all columns that anything reads of
the two, anywhere in the statement: SELECT c.ms … reads what `visits` lacks. Not an outer or anti join: rows
that meet none are in no index. Not over a LIMIT, groups or a fence: only a table under filters and renamings
is all of its rows. Columns of texts whose collation is not known are not read from it: they might group
otherwise there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations

from sqlglot import exp

from shardwise.caching import cached_property
from shardwise.catalog.index_tables import IndexTable
from shardwise.catalog.model import ColumnName, JoinIndex
from shardwise.plan.nodes import (
    ColumnId,
    Filter,
    Item,
    Join,
    Node,
    Project,
    Scan,
)
from shardwise.plan.reasons import OfIndex
from shardwise.plan.route import Note
from shardwise.plan.tree import (
    bare,
    column,
    column_id,
    columns_in,
    map_expressions,
    replace_columns,
    rewrite,
    walk,
)
from shardwise.planner.bind.scope import unique_names
from shardwise.planner.distribution import Analysis, Merged, Split
from shardwise.planner.functions import is_volatile
from shardwise.planner.narrow_columns import narrow_columns
from shardwise.planner.pass_context import PlanContext
from shardwise.planner.prune_slots import filtered_scan
from shardwise.planner.strategies.consumers import consumer_below
from shardwise.planner.strategies.groups import Conjuncts, Group, is_inner
from shardwise.planner.usable_indexes import (
    compares_alike_anywhere,
    not_used,
    scan_of_index,
    tell,
    tell_used,
    usable,
)

Columns = Mapping[ColumnId, exp.Expr]


def use_join_indexes(plan: Node, ctx: PlanContext) -> Node:
    if not ctx.catalog.join_indexes() or Join not in plan.kinds:
        return plan
    after = _replaced(plan, ctx)
    while after is not None:
        plan = after
        after = _replaced(plan, ctx)
    return plan


def _replaced(plan: Node, ctx: PlanContext) -> Node | None:
    """The plan with one pair of tables replaced; None if there is none."""
    analysis = ctx.analysis()
    for node, above in groups(plan):
        if not isinstance(analysis.of(node), Merged):
            continue
        group = Group.of(node, analysis)
        leaves = [leaf_of(part) for part in group.parts]
        for i, j in permutations(range(len(leaves)), 2):
            left, right = leaves[i], leaves[j]
            if left is None or right is None:
                continue
            pair = TablePair(plan, node, above, group, (i, j), left, right, ctx, analysis)
            after = pair.replaced()
            if after is not None:
                return after
    return None


def groups(plan: Node) -> Iterator[tuple[Node, tuple[Node, ...]]]:
    """The tops of trees of inner joins, and what is over each."""
    return (
        (node, above)
        for node, above in with_above(plan)
        if is_inner(node) and not (above and is_inner(above[-1]))
    )


def with_above(node: Node, above: tuple[Node, ...] = ()) -> Iterator[tuple[Node, tuple[Node, ...]]]:
    """Each node of a plan, and those that are over it in its query."""
    yield node, above
    for below in node.inputs:
        yield from with_above(below, (*above, node))
    for plan in node.subplans:
        yield from with_above(plan)


@dataclass(frozen=True)
class Leaf:
    """A table under filters, renamings and computed columns: `exprs` are its columns by all of their names,
    over the scan's own, `tests` the filters' conditions over these."""

    scan: Scan
    tests: Conjuncts
    exprs: Columns

    @cached_property
    def ids(self) -> Mapping[ColumnId, ColumnId]:
        """The names of columns that are just the scan's."""
        named = ((id, column_id(bare(expr))) for id, expr in self.exprs.items())
        return {id: own for id, own in named if own is not None}

    def in_index(self, found: IndexTable, table: str, scan: Scan) -> dict[ColumnId, exp.Expr]:
        """Its columns over those of an index's scan, by all of their names: of those that the index has."""
        own = ((o.id, found.column_for(table, o.id.name)) for o in self.scan.columns)
        by: Columns = {id: column(ColumnId(scan.rel, name)) for id, name in own if name is not None}
        return {id: replace_columns(e, by) for id, e in self.exprs.items() if columns_in(e) <= by.keys()}


def leaf_of(part: Node) -> Leaf | None:
    if isinstance(part, Scan):
        return Leaf(part, (), {o.id: column(o.id) for o in part.columns})
    if not isinstance(part, Filter | Project):
        return None
    below = leaf_of(part.input)
    if below is None or any(is_volatile(e) for e in part.expressions):
        return None
    if isinstance(part, Filter):
        tests = tuple(replace_columns(c, below.exprs) for c in part.conjuncts)
        return Leaf(below.scan, (*below.tests, *tests), below.exprs)
    if part.subplans:
        return None
    made = {ColumnId(part.rel, i.name): replace_columns(i.expr, below.exprs) for i in part.items}
    return Leaf(below.scan, below.tests, {**below.exprs, **made})


def with_computed(rows: Node, by: Columns, ctx: PlanContext) -> tuple[Node, Columns]:
    """What `by` computes of columns of `rows` is computed right over them, for above an outer join these may
    be NULL; and `by` of columns alone."""
    computed = {id: expr for id, expr in by.items() if column_id(bare(expr)) is None}
    if not computed:
        return rows, by
    own = {id: named for id, expr in by.items() if (named := column_id(bare(expr))) is not None}
    exprs = {id: column(id) for id in own.values()} | computed
    names = dict(zip(exprs, unique_names(id.name for id in exprs), strict=True))
    rel = ctx.names.fresh(next(iter(computed)).rel)
    after = Project(input=rows, rel=rel, items=tuple(Item(names[id], expr) for id, expr in exprs.items()))
    ctx.learn(after)
    return after, {id: column(ColumnId(rel, names[own.get(id, id)])) for id in by}


def renamed(plan: Node, by: Columns, ctx: PlanContext) -> Node:
    """The plan with the index's columns in the place of the tables'. What it lacks nobody reads: a derived
    table's SELECT * may name it."""
    return narrow_columns(rewrite(plan, lambda n: map_expressions(n, lambda e: replace_columns(e, by))), ctx)


def leaves_of(part: Node) -> Iterator[Leaf]:
    """The tables of a part that each of its rows has a row of: of inner joins both sides', of others those of
    the side whose rows they keep."""
    leaf = leaf_of(part)
    if leaf is not None:
        yield leaf
    elif is_inner(part) or isinstance(part, Filter):
        for below in part.inputs:
            yield from leaves_of(below)
    elif isinstance(part, Join) and not part.lateral and part.kind in _KEEPS_ONE:
        yield from leaves_of(part.right if part.kind == "right" else part.left)


_KEEPS_ONE = ("left", "right", "semi", "anti")


@dataclass(frozen=True)
class TablePair:
    """Two parts of a tree of inner joins, in the order of an index's sides."""

    plan: Node
    node: Node
    above: tuple[Node, ...]
    group: Group
    at: tuple[int, int]
    left: Leaf
    right: Leaf
    ctx: PlanContext
    analysis: Analysis

    def replaced(self) -> Node | None:
        """The statement's plan with the pair replaced by the best index for it, if there is one."""
        matching = [index for index in self.ctx.catalog.join_indexes() if self.matches(index)]
        if not matching or self.are_together():
            return None
        read = self._read()
        able: list[tuple[JoinIndex, IndexTable]] = []
        notes = []
        for index in matching:
            found = usable(index, self.plan, self.ctx)
            note = self.objection(index, found, read) if found is not None else None
            if note is not None:
                notes.append(note)
            elif found is not None:
                able.append((index, found))
        if not able:
            for note in notes:
                tell(note, self.ctx)
            return None
        index, found = min(able, key=lambda each: self._size(*each))
        part, by = self._part(index, found)
        after = self._without_pair(part, by)
        if not self._pays(part, after, read):
            why = f"it has more to move than {self.left.scan.rel} and {self.right.scan.rel}"
            tell(not_used(index, OfIndex.NOT_CHEAPER, why), self.ctx)
            return None
        tell_used(index, self.ctx)
        return renamed(rewrite(self.plan, lambda n: after if n is self.node else n), by, self.ctx)

    # -- does it fit ------------------------------------------------------------------------------

    def matches(self, index: JoinIndex) -> bool:
        """Whether the index is of these two tables, and its equality is true of what is joined."""
        return (
            _is_of(self.left.scan, index.left)
            and _is_of(self.right.scan, index.right)
            and self._equals(index)
        )

    def _equals(self, index: JoinIndex) -> bool:
        """Whether the equality follows of the conditions; that of collated texts stands among them itself."""
        mine, theirs = self._names(self.left, index.left), self._names(self.right, index.right)
        if any(self.group.equal.equal(one, other) for one in mine for other in theirs):
            return True
        return any(self.is_own(test, index) for test in self.group.on)

    def _names(self, leaf: Leaf, wanted: ColumnName) -> set[ColumnId]:
        name = wanted.column.casefold()
        return {id for id, own in leaf.ids.items() if own.name.casefold() == name}

    def are_together(self) -> bool:
        """Whether the two join on their shards anyway."""
        one, other = (self.group.parts[i] for i in sorted(self.at))
        joined, _ = self.group.link(one, other, self.group.on, implied=True)
        return not isinstance(self.analysis.of(joined), Merged)

    def _read(self) -> tuple[ColumnId, ...]:
        """The columns of the two that anything reads."""
        rels = {self.left.scan.rel, self.right.scan.rel}
        narrowed = narrow_columns(self.plan, self.ctx)
        scans = (n for n in walk(narrowed) if isinstance(n, Scan) and n.rel in rels)
        found = dict.fromkeys(o.id for scan in scans for o in scan.columns)
        return tuple(found)

    def objection(self, index: JoinIndex, found: IndexTable, read: Sequence[ColumnId]) -> Note | None:
        """Why the index cannot be read for these columns of the two; None if it can."""
        sides = {
            self.left.scan.rel: (self.left.scan.table, index.left.table),
            self.right.scan.rel: (self.right.scan.table, index.right.table),
        }
        lacking = [id for id in read if found.column_for(sides[id.rel][1], id.name) is None]
        if lacking:
            names = ", ".join(f"{sides[id.rel][1]}.{id.name}" for id in lacking)
            return not_used(index, OfIndex.LACKS_COLUMNS, f"it lacks {names}")
        for id in read:
            table, name = sides[id.rel]
            declared = table.column(id.name)
            if declared is None or not compares_alike_anywhere(declared, self.ctx):
                why = f"{name}.{id.name} may compare otherwise than in the index"
                return not_used(index, OfIndex.OTHER_EQUALITY, why)
        return None

    def _size(self, index: JoinIndex, found: IndexTable) -> tuple[float, int]:
        return self.pairs_of(index), len(found.table.columns or ())

    def pairs_of(self, index: JoinIndex) -> float:
        """How many pairs an index has."""
        state = self.ctx.catalog.state_of(index)
        return state.rows if state is not None and state.rows is not None else float("inf")

    # -- what stands there instead ----------------------------------------------------------------

    def _part(self, index: JoinIndex, found: IndexTable) -> tuple[Node, Columns]:
        """The index under both tables' filters, and its columns for all names of theirs."""
        scan = scan_of_index(index, found, self.ctx)
        by = self.left.in_index(found, index.left.table, scan)
        by |= self.right.in_index(found, index.right.table, scan)
        inner = (*self.left.tests, *self.right.tests, *self.between(index))
        tests = tuple(replace_columns(c, by) for c in inner)
        return with_computed(filtered_scan(scan, tests, self.ctx), by, self.ctx)

    def between(self, index: JoinIndex) -> Conjuncts:
        """The conditions that read the two and nothing else, but for the index's own."""
        mine = self.left.exprs.keys() | self.right.exprs.keys()
        return tuple(c for c in self.group.on if columns_in(c) <= mine and not self.is_own(c, index))

    def is_own(self, test: exp.Expr, index: JoinIndex) -> bool:
        """Whether it is the equality that the index was made by, which is true of all its rows."""
        test = bare(test)
        if type(test) is not exp.EQ:
            return False
        one, other = column_id(bare(test.this)), column_id(bare(test.expression))
        mine, theirs = self._names(self.left, index.left), self._names(self.right, index.right)
        return (one in mine and other in theirs) or (one in theirs and other in mine)

    def _without_pair(self, part: Node, by: Columns) -> Node:
        """The tree of inner joins with the index in place of the two."""
        mine = self.left.exprs.keys() | self.right.exprs.keys()
        rest = tuple(replace_columns(c, by) for c in self.group.on if not columns_in(c) <= mine)
        first = min(self.at)
        parts = [
            part if i == first else p
            for i, p in enumerate(self.group.parts)
            if i == first or i not in self.at
        ]
        if len(parts) > 1:
            return self.group.chained(parts, rest)
        if not rest:
            return part
        if isinstance(part, Filter):
            return part.but(conjuncts=(*part.conjuncts, *rest))
        return Filter(input=part, conjuncts=rest)

    # -- does it pay ------------------------------------------------------------------------------

    def _pays(self, part: Node, after: Node, read: tuple[ColumnId, ...]) -> bool:
        """Whether less moves than of the two tables: of pairs, or of what the shards make of them.

        Nobody knows without statistics: then it is used.
        """
        scans = [self.left.scan, self.right.scan, *(n for n in walk(part) if isinstance(n, Scan))]
        if any(self.ctx.catalog.statistics_of(scan.table) is None for scan in scans):
            return True
        estimates = self.ctx.estimates
        apart = 0.0
        for at in self.at:
            side = self.group.parts[at]
            kept = [id for id in read if id in side.output_ids]
            apart += estimates.rows(side) * estimates.width(side, kept)
        pairs = estimates.rows(part) * estimates.width(part)
        if pairs <= apart:
            return True
        where = self.analysis.of(after)
        if not isinstance(where, Split):
            return False
        consumer = consumer_below(self.above, self.ctx)
        if consumer is None:
            return False
        rows, width = consumer(estimates.rows(after), len(where.shards))
        return rows * width <= apart


def _is_of(scan: Scan, side: ColumnName) -> bool:
    return scan.table.full_name.casefold() == side.table.casefold()
