"""One join of sides that are not together: what is known of them, the programs there are, and the tree of
one."""

from __future__ import annotations

from dataclasses import dataclass, field

from shardwise.caching import cached_property
from shardwise.catalog.model import Table
from shardwise.catalog.types import Family, type_family
from shardwise.plan.choices import Alternative, Choice
from shardwise.plan.nodes import ColumnId, Filter, Join, JoinKind, Local, Node, Output, Rows, Scan, Values
from shardwise.plan.run import Bound
from shardwise.plan.tree import columns_in, walk
from shardwise.planner.distribution import Analysis, At, Merged, Shards, Split, meets_copies
from shardwise.planner.equivalence import Equivalence
from shardwise.planner.estimates.moved import unmeasured
from shardwise.planner.firsts import KEYS_MAX, ROWS_EXPECTED_MAX, ROWS_MAX
from shardwise.planner.functions import is_constant
from shardwise.planner.pass_context import PlanContext
from shardwise.planner.push_filters import push_filters
from shardwise.planner.quotients import gives_quotients
from shardwise.planner.route_keys import is_routed, place
from shardwise.planner.strategies.ahead import ahead, came, collations
from shardwise.planner.strategies.groups import Conjuncts
from shardwise.planner.strategies.keys import (
    condition_of,
    is_repeatable,
    may_be_asked,
    name_of_keys,
    together,
    waits,
)
from shardwise.planner.strategies.lookups import looked_up
from shardwise.planner.strategies.programs import (
    Ahead,
    Consumer,
    Keys,
    Program,
    Send,
    Side,
    Strategy,
    programs,
)

Needed = frozenset[ColumnId]
_KEYS_TO_LEFT = ("inner", "cross", "semi", "right")
"""Joins of which the left side's unmatched rows vanish."""
_KEYS_TO_RIGHT = ("inner", "cross", "left", "semi", "anti")


@dataclass
class Choosing:
    """`parts` are joined by `kind`: many by inner joins, two by another. `needed` are the columns that are
    read above, or by the join; `consumer` says what leaves the shards if all of it is joined there."""

    parts: tuple[Node, ...]
    kind: JoinKind
    on: Conjuncts
    equal: Equivalence
    needed: Needed
    consumer: Consumer | None
    ctx: PlanContext
    analysis: Analysis
    _ahead: dict[int, Node] = field(default_factory=dict)

    # -- what is known ----------------------------------------------------------------------------

    @cached_property
    def columns(self) -> tuple[dict[int, ColumnId], ...]:
        """Of each part, its column of each class of equal ones that another part has as well."""
        found: tuple[dict[int, ColumnId], ...] = tuple({} for _ in self.parts)
        kept = [[o.id for o in self.kept(p)] for p in self.parts]
        for number, same in enumerate(self.equal.classes):
            mine = [next((id for id in ids if id in same), None) for ids in kept]
            if sum(id is not None for id in mine) > 1:
                for of_part, id in zip(found, mine, strict=True):
                    if id is not None:
                        of_part[number] = id
        return found

    @cached_property
    def came(self) -> tuple[Bound | None, ...]:
        return tuple(came(part, self.kept(part), self.ctx) for part in self.parts)

    @cached_property
    def sides(self) -> list[Side]:
        return [self._side(i, part) for i, part in enumerate(self.parts)]

    def _side(self, i: int, part: Node) -> Side:
        where = self.analysis.of(part)
        name = ", ".join(n.rel for n in walk(part) if isinstance(n, Scan | Local))
        if isinstance(where, Merged | At) and not _is_here(part):
            return Side(name, self.ctx.estimates.rows(part), 0.0, 1, {}, is_here=True)
        bound, kept = self.came[i], self.kept(part)
        width = self.ctx.estimates.width(part, [o.id for o in kept])
        if bound is not None and bound.rows is not None and self._travels(i, bound):
            positions = {o.id: n for n, o in enumerate(kept)}
            mine = ((c, positions.get(id)) for c, id in self.columns[i].items())
            values = {c: _values(bound, at) for c, at in mine if at is not None}  # unread ones did not come
            return Side(name, len(bound.rows), width, 1, values, is_here=True)
        estimates = self.ctx.estimates
        rows = estimates.rows(part) if bound is None else max(estimates.rows(part), ROWS_MAX)
        values = {c: estimates.distinct(part, [id]) for c, id in self.columns[i].items()}
        known = {c: estimates.of(part).column(id) for c, id in self.columns[i].items()}
        is_told = not self.unmeasured[i] or _is_asked(part) or _is_here(part)
        shards = self.analysis.spread(part)
        if self.kind in ("semi", "anti") and i == 1:  # no key of it comes twice
            rows = min(rows, estimates.distinct(part, [o.id for o in kept]) * shards)
        repeatable = is_told and is_repeatable(part, self.ctx) and not waits(part, self.ctx)
        cut = self.ctx.dialect.reader.cuts_quotients and gives_quotients(part, self.ctx.types)
        travels = (
            repeatable
            and not cut
            and bound is None
            and all(map(self.ctx.early.may_travel, kept, collations(part, kept)))
        )
        return Side(
            name,
            rows,
            0.0 if _is_here(part) else width,
            shards,
            values,
            rows_max=ROWS_EXPECTED_MAX if travels else 0.0,
            gives_keys=repeatable and not cut,
            most={c: column.most for c, column in known.items() if column.is_guess},
            routed=frozenset(c for c, id in self.columns[i].items() if is_routed(id, part, self.ctx.catalog)),
            looked_up=self._looked_up(i, part),
            keys_here=self._keys_here(i),
        )

    def _travels(self, i: int, bound: Bound) -> bool:
        of = collations(self.parts[i], self.kept(self.parts[i]))
        return self.ctx.early.rows_travel(bound, of)

    def _looked_up(self, i: int, part: Node) -> dict[int, float]:
        found = ((c, looked_up(id, part, self.ctx)) for c, id in self.columns[i].items())
        return {c: places for c, places in found if places is not None}

    def kept(self, part: Node) -> tuple[Output, ...]:
        return tuple(o for o in part.outputs if o.id in self.needed) or part.outputs[:1]

    def _keys_here(self, i: int) -> dict[int, float]:
        found: dict[int, float] = {}
        if not self.ctx.firsts.bound:
            return found
        for other in range(len(self.parts)):
            for number in self.columns[i].keys() & self.columns[other].keys():
                mine, theirs = self.columns[i][number], self.columns[other][number]
                name = self.ctx.firsts.names.get(name_of_keys(mine, theirs))
                bound = self.ctx.firsts.bound.get(name) if name is not None else None
                if bound is not None:
                    found[number] = float(len(bound.rows)) if bound.rows is not None else KEYS_MAX + 1.0
        return found

    # -- what may be done -------------------------------------------------------------------------

    def narrows(self, few: int, many: int, by: int) -> bool:
        allowed = _KEYS_TO_LEFT if many == 0 else _KEYS_TO_RIGHT
        if self.kind not in allowed:
            return False
        theirs = self.columns[many][by]
        return self._keys_meet(few, many, by) and may_be_asked(self.parts[many], theirs, self.analysis)

    def sends(self, few: int, many: int) -> int:
        where = self.analysis.of(self.parts[many])
        if not meets_copies(self.kind, is_left=many == 0) or not isinstance(where, Split):
            return 0
        if not self._is_native(many) and not self._takes(few, many, where.shards):
            return 0
        return self.sides[many].shards if self._met_by(few, many) is None else 1

    def _met_by(self, few: int, many: int) -> int | None:
        """The class of equal columns by which rows of the first meet only rows of their own shard."""
        shared = self.columns[few].keys() & self.sides[many].routed
        return next((c for c in sorted(shared) if self._keys_meet(few, many, c)), None)

    def _keys_meet(self, few: int, many: int, by: int) -> bool:
        mine, theirs = self.columns[few][by], self.columns[many][by]
        return self.ctx.early.keys_meet(mine, theirs, self.ctx.types)

    def _is_native(self, i: int) -> bool:
        """Whether a part is on shards of the query's own dialect."""
        where = self.analysis.of(self.parts[i])
        return isinstance(where, Split) and not self.analysis.are_foreign(where.shards)

    def _takes(self, few: int, many: int, shards: Shards) -> bool:
        """Whether sources of another dialect compute the join with these rows as the query's does."""
        came = self._as_came(few)
        rows = came if isinstance(came, Rows) else Rows(name="rows", columns=self.kept(self.parts[few]))
        sides = {few: rows.but(is_sent=True), many: self.parts[many]}
        left, right = (sides[i] for i in (sorted(sides) if len(self.parts) == 2 else (many, few)))
        ids = left.output_ids | right.output_ids
        on = tuple(c for c in self.on if columns_in(c) and columns_in(c) <= ids)
        return self.analysis.allows(Join(kind=self.kind, left=left, right=right, on=on), shards)

    @cached_property
    def unmeasured(self) -> tuple[tuple[Table, ...], ...]:
        """Of each part, the tables of which nothing was measured."""
        return tuple(unmeasured(part, self.ctx.estimates) for part in self.parts)

    def told(self, taken: Program) -> Choice:
        """The programs there are, for EXPLAIN: the one that was taken first, then the others by their
        cost."""
        order = sorted(self.programs.items(), key=lambda p: (p[1] is not taken, p[1].cost))
        tables = dict.fromkeys(table.name for of_part in self.unmeasured for table in of_part)
        return Choice(
            sides=tuple(side.name for side in self.sides),
            alternatives=tuple(Alternative(n, p.moved, p.sent, p.cost) for n, p in order),
            unmeasured=tuple(tables),
        )

    @cached_property
    def programs(self) -> dict[Strategy, Program]:
        return programs(
            self.sides,
            narrows=self.narrows,
            sends=self.sends,
            kind=self.kind,
            consumer=self.consumer,
            keys_max=KEYS_MAX,
            only=frozenset(self.ctx.forced),
        )

    # -- the tree ---------------------------------------------------------------------------------

    def done(self, program: Program) -> tuple[list[Node], dict[int, int]]:
        """The parts after the steps that can be taken now, and which are sent to which. A side that waits for
        what runs first gives nothing yet: it is asked again when that is known."""
        parts = [self._as_came(i) for i in range(len(self.parts))]
        pending: set[int] = set()
        sent: dict[int, int] = {}
        asked: set[tuple[int, int]] = set()
        for step in program.steps:
            match step:
                case Ahead(few):
                    if few not in pending:
                        parts[few] = ahead(parts[few], self.kept(parts[few]), self.ctx)
                case Keys(few, many, by):
                    if few in pending:
                        pending.add(many)
                        continue
                    conditions = self._one_by_one(parts, few, many, by)
                    if (few, many) not in asked:
                        conditions += self._together(parts, few, many)
                        asked.add((few, many))
                    if conditions:
                        narrowed = Filter(input=parts[many], conjuncts=conditions)
                        parts[many] = push_filters(narrowed, self.ctx)
                        if waits(parts[many], self.ctx):
                            pending.add(many)
                case Send(few, many):
                    rows = parts[few]
                    if isinstance(rows, Rows):
                        parts[few] = rows.but(is_sent=True)
                        sent[few] = many
                        self._place(rows, few, many)
        return parts, sent

    def _as_came(self, i: int) -> Node:
        if i not in self._ahead:
            part, bound = self.parts[i], self.came[i]
            is_ahead = bound is not None and self.sides[i].is_here
            self._ahead[i] = ahead(part, self.kept(part), self.ctx) if is_ahead else part
        return self._ahead[i]

    def _place(self, rows: Rows, few: int, many: int) -> None:
        """Notes where the rows go that are sent: each to its own shard, if that is known."""
        by, came = self._met_by(few, many), self.ctx.firsts.bound.get(rows.name)
        if by is None or rows.query is None or came is None:
            return
        position = next(at for at, o in enumerate(rows.columns) if o.id == self.columns[few][by])
        if self.ctx.early.keys_travel(came, position):
            keys = [row[position] for row in came.rows or ()]
            place(rows.query, keys, self.columns[many][by], self.parts[many], self.ctx)

    def _one_by_one(self, parts: list[Node], few: int, many: int, by: int) -> Conjuncts:
        """Keys of one column, which go each to its own shard."""
        found = condition_of(parts[few], self.columns[few][by], self.columns[many][by], self.ctx)
        return () if found is None else (found,)

    def _together(self, parts: list[Node], few: int, many: int) -> Conjuncts:
        """Keys of all columns together, of rows that came."""
        giver, where = parts[few], self.analysis.of(self.parts[many])
        shared = self.columns[few].keys() & self.columns[many].keys()
        classes = [c for c in sorted(shared) if self.narrows(few, many, c) and self._is_listed(few, c)]
        if not isinstance(giver, Rows) or len(classes) < 2 or not isinstance(where, Split):
            return ()
        pairs = [(self.columns[few][c], self.columns[many][c]) for c in classes]
        found = together(giver, self.parts[many], pairs, self.ctx)
        if found is None:
            return ()
        asked = Filter(input=self.parts[many], conjuncts=(found,))
        return (found,) if self._is_native(many) or self.analysis.allows(asked, where.shards) else ()

    def _is_listed(self, few: int, by: int) -> bool:
        """Whether a column may be asked beside others: a text that is not alone may lose its collation."""
        type_ = self.ctx.types[self.columns[few][by]].type or ""
        is_text = type_family(type_, self.ctx.catalog.dialect) is Family.TEXT
        return not (is_text and self.ctx.dialect.carries_collations)


def _is_here(side: Node) -> bool:
    """Whether all of it is computed from the connection's own tables."""
    leaves = [n for n in walk(side) if not n.inputs]
    return any(isinstance(n, Local) for n in leaves) and all(isinstance(n, Local | Values) for n in leaves)


def _is_asked(side: Node) -> bool:
    """Whether not all of its rows are wanted. Of all, where nothing is measured, the keys may be all keys."""
    tests = (c for n in walk(side) if isinstance(n, Filter) for c in n.conjuncts)
    return any(not is_constant(c) for c in tests)


def _values(bound: Bound, position: int) -> float:
    return float(len({row[position] for row in bound.rows or () if row[position] is not None}))
