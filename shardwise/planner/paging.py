"""The plans by which a deep page is found: rounds of samples, then the rows around its place, then proof.

    page_1, page_2, …   of each shard a few keys between two places, and their ranks      (plan/windows.py)
    f1                  of each shard the rows from the last place on, and how many are before it
    proof               whether the page is among them, and where: read off those rows alone
    the answer          Limit n offset …, over the same rows

Each shard's rows for the answer, and the number of those before them, come of one statement there, which sees
one state of its data. So the page is that of one moment on each shard, as if its first rows had all been
moved. Rounds are asked before, and may see other rows: what they found is only where to look. If rows came or
went so that the page is not there, it is sought again, and at last found without seeks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from sqlglot import exp

from shardwise.caching import cached_property
from shardwise.errors import InternalError
from shardwise.plan.choices import Alternative, Choice, Foreseen
from shardwise.plan.nodes import (
    Aggregate,
    ColumnId,
    Filter,
    Gather,
    Item,
    Join,
    Limit,
    Node,
    Own,
    Project,
    Scan,
    Sort,
    SortKey,
    Window,
)
from shardwise.plan.run import Bound, First, Merge, Plan, Proof
from shardwise.plan.tree import column, column_id, map_expressions, map_inputs, replace_columns, rewrite, walk
from shardwise.plan.verify import verify
from shardwise.plan.windows import Row, Sample, at_first, begins, left, narrowed
from shardwise.plan.windows import Window as Ranks
from shardwise.planner.estimates.moved import unmeasured
from shardwise.planner.keyset import Place, before, from_here
from shardwise.planner.narrow_columns import narrow_columns
from shardwise.planner.page import Page
from shardwise.planner.page_rounds import ROUNDS_MAX, Expected, enough, expected, samples_for
from shardwise.planner.pass_context import PlanContext
from shardwise.planner.render import merge_of, render

_TRIES: Final = 2

_ROWS, _OUT, _RANKED, _COUNTED, _TOLD = "page", "page_rows", "page_ranks", "page_before", "page_told"
_ANSWER = "page_answer"


@dataclass(frozen=True)
class Paging:
    """Of one statement. `naive` is its plan without seeks, `tree` that plan's."""

    page: Page
    tree: Node
    names: tuple[str, ...]
    naive: Plan
    ctx: PlanContext
    samples: int
    items: tuple[Item, ...] = field(init=False)
    keys: tuple[SortKey, ...] = field(init=False)

    def __post_init__(self) -> None:
        gather = next(n for n in walk(self.tree) if isinstance(n, Gather))
        items = [Item(f"c{i}", column(output.id)) for i, output in enumerate(gather.outputs)]
        keys = []
        for key in self.page.keys:
            name = next((i.name for i in items if column_id(i.expr) == (column_id(key.expr) or 0)), None)
            if name is None:
                name = f"k{len(items)}"
                items.append(Item(name, key.expr))
            keys.append(key._replace(expr=column(ColumnId(_ROWS, name))))
        object.__setattr__(self, "items", tuple(items))
        object.__setattr__(self, "keys", tuple(keys))

    # -- plans --------------------------------------------------------------------------------

    def start(self) -> Plan:
        """The plan before anything ran: the first round, and how the rest will look."""
        started = self._sought(1)
        if not started.first:
            return started
        sketch = self._top(
            self._gather([self._sketch()] * len(self.page.shards)), exp.Placeholder(this="page_offset")
        )
        plan = render(sketch, self.names, self.ctx, sql=self.naive.sql, steps=self.naive.steps)
        plan = self._foreseen(plan, self.expected.fetched)
        told = (
            f"its place is found in rounds: {self.samples} keys of each shard and their ranks, until about "
            "twice as many rows are left; then the rows there, and how many are before them"
        )
        return replace(
            plan,
            first=started.first,
            then=started.then,
            paging=told,
            hidden=self.naive.hidden,
            choices=(*plan.choices, self.choice),
        )

    def is_agreed(self) -> bool:
        """Whether the sources compute all of it as the merge does."""
        unknown = Ranks(1, 9, tuple(exp.Placeholder(this=f"page_key_{i}") for i in range(len(self.keys))), 0)
        trees = [
            tree
            for window in (Ranks(0, 9), unknown)
            for tree in (self._sampled(0, window, (1, 5, 9), {}), self._fetched(0, window, {}))
        ]
        return self._allows(trees)

    def _allows(self, trees: Sequence[Node]) -> bool:
        """Whether each shard's source computes its tree as the merge does, with the values that are known."""
        analysis, shards = self.ctx.analysis(), self.page.shards
        if not analysis.are_foreign(shards):
            return True
        return all(analysis.allows(tree, shards) for tree in trees)

    def _sought(self, attempt: int) -> Plan:
        return self._round(at_first(len(self.page.shards), self.page.offset), 1, attempt, None)

    def _round(
        self, windows: Sequence[Ranks], number: int, attempt: int, types: tuple[str, ...] | None
    ) -> Plan:
        """The plan once these windows are known: another round, or the rows."""
        page = self.page
        if left(windows) <= enough(self.samples, len(page.shards)) or number > ROUNDS_MAX:
            return self._final(windows, types or (), attempt)
        asked = [w.ranks(self.samples) for w in windows]
        values = self._values(windows, types or (), f"page_{attempt}_{number}")
        trees = [
            self._sampled(i, window, ranks, values)
            for i, (window, ranks) in enumerate(zip(windows, asked, strict=True))
        ]
        if not self._allows(trees):
            return self.naive
        name = f"page_{number}" if attempt == 1 else f"page_{attempt}_{number}"

        def then(found: Mapping[str, Bound]) -> Plan:
            bound = found[name]
            if bound.rows is None:  # an infinite moment, say, which the driver has no object for
                return self.naive
            rows = bound.rows
            firsts = [window.first for window in windows]
            if not page.is_total:
                for row in rows:
                    firsts[row[0]] = int(row[2])
            at = [
                [rank - window.first + first for rank in ranks]
                for window, ranks, first in zip(windows, asked, firsts, strict=True)
            ]
            skipped = 2 if page.is_total else 3
            samples = [Sample(row[0], row[1] - 1 + firsts[row[0]], tuple(row[skipped:])) for row in rows]
            after = narrowed(windows, at, samples, page.offset, is_total=page.is_total)
            if not self._travel(after, bound.types[skipped:]):
                return self.naive
            if left(after) >= left(windows):
                return self._final(after, bound.types[skipped:], attempt)
            return self._round(after, number + 1, attempt, bound.types[skipped:])

        count = sum(map(len, asked)) if number > 1 else self.expected.first
        plan = self._foreseen(self._samples_plan(trees), count)
        first = First(name=name, plan=plan, is_scalar=False, is_lazy=True)
        return replace(self.naive, first=(first,), then=then)

    def _samples_plan(self, trees: Sequence[Node]) -> Plan:
        gather = self._gather(trees)
        order = self._order()
        told = ("shard", "rank") if self.page.is_total else ("shard", "rank", "before")
        items = [Item(name, column(ColumnId(_OUT, name))) for name in (*told, *self._key_names)]
        if not self.page.is_total:  # those of a shard that are equal, in its own order
            order = (*order, order[-1]._replace(expr=column(ColumnId(_OUT, "rank"))))
        root = Project(input=Sort(input=gather, keys=order), rel=_TOLD, items=tuple(items))
        return self._rendered(root, tuple(i.name for i in items))

    def _final(self, windows: Sequence[Ranks], types: tuple[str, ...], attempt: int) -> Plan:
        page = self.page
        values = self._values(windows, types, f"page_{attempt}_from")
        trees = [self._fetched(i, window, values) for i, window in enumerate(windows)]
        if not self._allows(trees):  # a decimal of many digits, say, beside a column of another product
            return self.naive
        gather = self._gather(trees)
        expected = page.offset - sum(window.first for window in windows)
        told = [Item(name, column(ColumnId(_OUT, name))) for name in ("shard", "before")]
        proof_root = Project(input=Sort(input=gather, keys=self._order()), rel=_TOLD, items=tuple(told))
        merge = merge_of(_verified(proof_root), ("shard", "before"), self.ctx)
        rows = sum(map(self._count, windows))
        plan = self._foreseen(self._answer(gather, expected), rows)
        asked = [self._count(window) for window in windows]
        starts = [window.start is not None for window in windows]

        def then(rows: Sequence[tuple[Any, ...]]) -> Plan:
            found = [Row(int(shard), int(number)) for shard, number in rows]
            at = begins(found, asked, starts, offset=page.offset, count=page.count)
            if at is None:
                return self._sought(attempt + 1) if attempt < _TRIES else self.naive
            proved = plan if at == expected else self._at(plan, gather, at)
            return replace(proved, proof=None, choices=(*proved.choices, self.choice))

        return replace(plan, proof=Proof(merge=_all_kept(merge), then=then))

    def _at(self, plan: Plan, gather: Gather, offset: int) -> Plan:
        """The answer over the same fragments, which begins at another of their rows."""
        root = _verified(self._top(gather, exp.Literal.number(offset)))
        return replace(plan, root=root, merge=merge_of(root, self.names, self.ctx))

    def _answer(self, gather: Gather, offset: int) -> Plan:
        root = self._top(gather, exp.Literal.number(max(offset, 0)))
        return self._rendered(root, self.names, paging="its place was found by seeks, and proved by the rows")

    def _rendered(self, root: Node, names: tuple[str, ...], paging: str | None = None) -> Plan:
        plan = render(_verified(root), names, self.ctx, sql=self.naive.sql, steps=self.naive.steps)
        hidden = self.naive.hidden if paging is not None else 0
        return replace(plan, paging=paging, hidden=hidden)

    # -- what is expected -----------------------------------------------------------------------

    @cached_property
    def expected(self) -> Expected:
        """Rows that leave the shards."""
        page, estimates = self.page, self.ctx.estimates
        rows = None if unmeasured(page.source, estimates) else estimates.rows(page.source)
        return expected(page.offset, page.count, len(page.shards), self.samples, rows)

    @property
    def choice(self) -> Choice:
        """The page by seeks, and by moving all rows that are before it."""
        (fragment,) = self.naive.fragments
        naive = fragment.expected()
        width = 0.0 if naive is None or not naive.rows else naive.bytes / naive.rows
        seeks = self.expected.sampled + self.expected.fetched
        lost = [] if naive is None else [Alternative("first_rows", naive.rows, 0, naive.bytes)]
        tables = unmeasured(self.page.source, self.ctx.estimates)
        return Choice(
            sides=("the page",),
            alternatives=(Alternative("seeks", seeks, 0, seeks * width), *lost),
            unmeasured=tuple(table.name for table in tables),
        )

    def _foreseen(self, plan: Plan, rows: float) -> Plan:
        """The plan, its fragment expected to move so many rows: what the windows say, not its tree."""
        (fragment,) = plan.fragments
        before = fragment.expected

        def foreseen() -> Foreseen | None:
            found = before()
            width = 0.0 if found is None or not found.rows else found.bytes / found.rows
            return None if found is None else Foreseen(rows, rows * width, found.is_guess)

        return replace(plan, fragments=(replace(fragment, expected=foreseen),))

    # -- above the Gather ---------------------------------------------------------------------

    def _order(self) -> tuple[SortKey, ...]:
        """The common order, over what a fragment gives: the keys, then the shard."""
        keys = [
            k._replace(expr=column(ColumnId(_OUT, name)))
            for k, name in zip(self.keys, self._key_names, strict=True)
        ]
        nulls_first = self.ctx.dialect.sort_keys.nulls_are_least  # as the dialect has it: there are none
        return (*keys, SortKey(column(ColumnId(_OUT, "shard")), nulls_first=nulls_first))

    @property
    def _key_names(self) -> tuple[str, ...]:
        return tuple(key.expr.name for key in self.keys)

    def _top(self, gather: Gather, offset: exp.Expr) -> Node:
        """The statement's own nodes over the rows, of which the page is taken by its place."""
        by = {
            id: column(ColumnId(_OUT, item.name))
            for item in self.items
            if (id := column_id(item.expr)) is not None and item.name.startswith("c")
        }
        ordered = Sort(input=gather, keys=self._order())
        count = exp.Literal.number(self.page.count)

        def change(node: Node) -> Node:
            if isinstance(node, Gather):
                return Limit(input=ordered, count=count, offset=offset)
            if (
                isinstance(node, Limit)
                and isinstance(node.input, Sort)
                and isinstance(node.input.input, Gather)
            ):
                return Limit(input=ordered, count=count, offset=offset)
            node = map_inputs(node, change)
            if isinstance(node, Limit):
                node = node.but(offset=None)
            return map_expressions(node, lambda e: replace_columns(e, by))

        top = change(self.tree)
        wanted = [by.get(output.id, column(output.id)) for output in self.tree.outputs]
        if [column_id(expr) for expr in wanted] == [output.id for output in top.outputs]:
            return top
        items = tuple(Item(f"a{i}", expr) for i, expr in enumerate(wanted))
        return Project(input=top, rel=_ANSWER, items=items)

    def _gather(self, trees: Sequence[Node]) -> Gather:
        each = {id(tree): tree for tree in trees}
        made = {key: self._told_why(narrow_columns(tree, self.ctx)) for key, tree in each.items()}
        narrow = [made[id(tree)] for tree in trees]
        for tree in made.values():
            self.ctx.learn(tree)
        own = Own(dict(zip(self.page.shards, narrow, strict=True)))
        return Gather(input=narrow[0], fragment=self.page.fragment, shards=self.page.shards, own=own)

    def _told_why(self, tree: Node) -> Node:
        """With the reasons why its scans go to no fewer shards, which were found after the page was."""
        routes = {node.rel: node.route for node in walk(self.tree) if isinstance(node, Scan)}

        def change(node: Node) -> Node:
            return node.but(route=routes[node.rel]) if isinstance(node, Scan) and node.rel in routes else node

        return rewrite(tree, change)

    # -- what a shard is asked ------------------------------------------------------------------

    def _sampled(
        self, shard: int, window: Ranks, ranks: Sequence[int], values: Mapping[tuple[int, int], exp.Expr]
    ) -> Node:
        """The rows of these ranks, as their keys."""
        items = [item for item in self.items if item.name in self._key_names]
        rows = self._rows(shard, window, window.count, items, values)
        order = [
            exp.Ordered(this=key.expr.copy(), desc=key.descending or None, nulls_first=key.nulls_first)
            for key in self.keys
        ]
        numbered = exp.Window(this=exp.RowNumber(), order=exp.Order(expressions=order))
        ranked = Window(input=rows, rel=_RANKED, items=(Item("rank", numbered),))
        rank = column(ColumnId(_RANKED, "rank"))
        wanted = exp.In(this=rank, expressions=[exp.Literal.number(r - window.first + 1) for r in ranks])
        told: tuple[Item, ...] = (Item("shard", exp.Literal.number(shard)), Item("rank", rank.copy()))
        sampled: Node = Filter(input=ranked, conjuncts=(wanted,))
        if not self.page.is_total:
            sampled, number = self._with_earlier(sampled, shard, window, values)
            told += (Item("before", number),)
        return self._told(sampled, items, told)

    def _fetched(self, shard: int, window: Ranks, values: Mapping[tuple[int, int], exp.Expr]) -> Node:
        """The rows from the window's start on, each with the number of those before."""
        rows = self._rows(shard, window, self._count(window), self.items, values)
        joined, number = self._with_earlier(rows, shard, window, values)
        told = (Item("shard", exp.Literal.number(shard)), Item("before", number))
        return self._told(joined, self.items, told)

    def _with_earlier(
        self, rows: Node, shard: int, window: Ranks, values: Mapping[tuple[int, int], exp.Expr]
    ) -> tuple[Node, exp.Expr]:
        """The rows, each with the number of those before the window's start, and how that is read."""
        # None, too, are counted: so the column is of one type everywhere.
        earlier = exp.false() if window.start is None else before(self._places(shard, window, values))
        those = Filter(input=self.page.source, conjuncts=(earlier,))
        calls = (Item("rows", exp.Count(this=exp.Star())),)
        counted = Aggregate(input=those, rel=_COUNTED, keys=(), calls=calls)
        return Join(kind="cross", left=rows, right=counted), column(ColumnId(_COUNTED, "rows"))

    def _count(self, window: Ranks) -> int:
        return window.count + self.page.count

    def _told(self, node: Node, items: Sequence[Item], more: tuple[Item, ...]) -> Node:
        copies = tuple(Item(item.name, column(ColumnId(_ROWS, item.name))) for item in items)
        return Project(input=node, rel=_OUT, items=copies + more)

    def _rows(
        self,
        shard: int,
        window: Ranks,
        count: int | exp.Expr,
        items: Sequence[Item],
        values: Mapping[tuple[int, int], exp.Expr],
    ) -> Node:
        node = self.page.source
        if window.start is not None:
            node = Filter(input=node, conjuncts=(from_here(self._places(shard, window, values)),))
        rows = Project(input=node, rel=_ROWS, items=tuple(items))
        limit = exp.Literal.number(count) if isinstance(count, int) else count
        return Limit(input=Sort(input=rows, keys=self.keys), count=limit)

    def _sketch(self) -> Node:
        """How EXPLAIN shows the rows around a place that is not known yet."""
        start = tuple(exp.Placeholder(this=f"page_key_{i + 1}") for i in range(len(self.keys)))
        window = Ranks(1, 1, start, 0)
        rows = self._rows(0, window, exp.Placeholder(this="page_rows"), self.items, {})
        told = (Item("shard", exp.Literal.number(0)), Item("before", exp.Placeholder(this="page_before")))
        return self._told(rows, self.items, told)

    def _places(self, shard: int, window: Ranks, values: Mapping[tuple[int, int], exp.Expr]) -> list[Place]:
        assert window.start is not None
        return [
            Place(
                key.expr,
                None if value is None else value if isinstance(value, exp.Expr) else values[shard, i],
                key.descending,
                key.nulls_first,
                not filled,
            )
            for i, (key, value, filled) in enumerate(
                zip(self.page.keys, window.start, self.page.filled, strict=True)
            )
        ]

    # -- keys as values -------------------------------------------------------------------------

    def _travel(self, windows: Sequence[Ranks], types: tuple[str, ...]) -> bool:
        sort_keys = self.ctx.dialect.sort_keys
        starts = [window.start for window in windows if window.start is not None]
        return all(sort_keys.travels(type_, [s[i] for s in starts]) for i, type_ in enumerate(types))

    def _values(
        self, windows: Sequence[Ranks], types: tuple[str, ...], name: str
    ) -> dict[tuple[int, int], exp.Expr]:
        """The starts' values as parameters, by shard and key."""
        found = {}
        for shard, window in enumerate(windows):
            for i, value in enumerate(window.start or ()):
                if value is not None:
                    bound = self.ctx.parameters.bind_value(f"{name}_{shard}_{i + 1}", value)
                    found[shard, i] = self.ctx.dialect.sort_keys.written(bound, types[i])
        return found


def paging_of(page: Page, tree: Node, names: tuple[str, ...], naive: Plan, ctx: PlanContext) -> Paging:
    """With as many samples as make rounds few."""
    return Paging(page, tree, names, naive, ctx, samples_for(page.offset, len(page.shards)))


def _verified(root: Node) -> Node:
    problem = verify(root)
    if problem is not None:
        raise InternalError(f"a page's plan is broken: {problem}")
    return root


def _all_kept(merge: Merge) -> Merge:
    """The fragments' rows are here when it runs."""
    return replace(merge, passes=None)
