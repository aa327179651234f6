"""push_filters: each predicate moves down to the lowest node it may run at.

    Filter a.v > 3 AND a.k = b.k         Join a.k = b.k
    └─ Join                        =>    ├─ Filter a.v > 3
       ├─ Scan a                         │  └─ Scan a
       └─ Scan b                         └─ Scan b

A predicate passes only what treats equal rows alike: Project, Sort, and by their grouping columns Aggregate,
Distinct, Window; every arm of a set operation; both sides of an inner join; the preserved side of an outer
one from WHERE, its null side from ON. Not LIMIT: SELECT * FROM (SELECT * FROM t ORDER BY v LIMIT 10) q WHERE
k = 5 has at most one of ten rows. It moves past a join only if it cannot fail: the join may be what keeps
CAST(v AS INT) from meeting a word. Nothing volatile moves.

What `=` of an inner join (or, from the preserved to the null side, of a left one) makes equal is told to
both sides: a.k = b.k AND a.k = 5 reaches b as b.k = 5. Never back: the null side of a LEFT JOIN keeps
its own condition to itself. Only what cannot fail passes a Fence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from sqlglot import exp

from shardwise.plan.nodes import (
    Aggregate,
    ColumnId,
    Distinct,
    Fence,
    Filter,
    Join,
    JoinKind,
    Node,
    Project,
    SetOp,
    Sort,
    Window,
)
from shardwise.plan.tree import (
    all_of,
    any_of,
    bare,
    column,
    column_id,
    columns_in,
    conjuncts,
    disjuncts,
    distinct,
    free_columns,
    map_expressions,
    map_inputs,
    map_plans,
    parted,
    plan_of,
    plans_in,
    replace_columns,
    same,
    walk,
)
from shardwise.planner.determinism import is_deterministic
from shardwise.planner.equivalence import Equivalence, equalities, equivalence
from shardwise.planner.functions import can_fail, is_constant, is_volatile, rejects_null
from shardwise.planner.key_lists import key_test
from shardwise.planner.pass_context import PlanContext

Conjuncts = tuple[exp.Expr, ...]


def push_filters(plan: Node, ctx: PlanContext) -> Node:
    return _Push(ctx).down(plan, ()) if plan.kinds & {Filter, Join} or plan.has_subqueries else plan


class _Push:
    def __init__(self, ctx: PlanContext) -> None:
        self.ctx = ctx
        self._movable: dict[int, tuple[exp.Expr, bool]] = {}

    def down(self, node: Node, coming: Conjuncts) -> Node:
        """`node` filtered by `coming`, each conjunct as low as it may go."""
        if node.subplans:
            node = map_expressions(node, lambda e: map_plans(e, lambda p: self.down(p, ())))
        step = _STEPS.get(type(node), _Push._stop)
        if isinstance(node, Filter):
            return step(self, node, coming)
        passing, staying = parted(coming, lambda c: self._is_seen(c, node))
        if staying:  # what it keeps from its rows, others must not fail on
            passing, held = parted(passing, self._may_pass)
            staying = (*staying, *held)
        return _filtered(step(self, node, passing), staying)

    def _stop(self, node: Node, coming: Conjuncts) -> Node:
        return _filtered(map_inputs(node, lambda n: self.down(n, ())), coming)

    def _is_seen(self, conjunct: exp.Expr, *nodes: Node) -> bool:
        """Whether it may stand in a derived table over these: what reads an outer row may not everywhere."""
        if self.ctx.dialect.reader.sees_outer_rows:
            return True
        return columns_in(conjunct) <= frozenset[ColumnId]().union(*(n.output_ids for n in nodes))

    # What passes, and how

    def _filter(self, node: Filter, coming: Conjuncts) -> Node:
        merged = distinct(node.conjuncts + coming)
        below = self.down(node.input, merged)
        if isinstance(below, Filter) and below.input is node.input and below.conjuncts == node.conjuncts:
            return node
        return below

    def _project(self, node: Project, coming: Conjuncts) -> Node:
        by = {ColumnId(node.rel, item.name): item.expr for item in node.items}
        # A constant would take another type beside what it is compared with: 100 AS c is an INTEGER.
        fixed = {
            id
            for id, e in by.items()
            if is_volatile(e) or is_constant(e) or e.find(exp.Subquery, exp.Explode)
        }
        passing, staying = parted(coming, lambda c: not columns_in(c) & fixed and self._may_pass(c))
        return self._over(node, tuple(replace_columns(c, by) for c in passing), staying)

    def _sort(self, node: Sort, coming: Conjuncts) -> Node:
        passing, staying = parted(coming, _is_deterministic)
        return self._over(node, passing, staying)

    def _fence(self, node: Fence, coming: Conjuncts) -> Node:
        passing, staying = parted(coming, lambda c: not node.is_strict and self._may_pass(c))
        return self._over(node, passing, staying)

    def _by_columns(self, node: Distinct | Window | Aggregate, coming: Conjuncts) -> Node:
        free = _grouping(node)
        passing, staying = parted(
            coming,
            lambda c: _mine(c, node) <= free.keys() and bool(_mine(c, node)) and self._may_pass(c),
        )
        return self._over(node, tuple(replace_columns(c, free) for c in passing), staying)

    def _set_operation(self, node: SetOp, coming: Conjuncts) -> Node:
        declared = {o.id for o in node.outputs if o.type is not None}
        passing, staying = parted(
            coming,
            lambda c: _mine(c, node) <= declared and self._may_pass(c) and not c.find(exp.Subquery),
        )
        arms = []
        for arm in node.arms:
            by = {o.id: column(a.id) for o, a in zip(node.outputs, arm.outputs, strict=True)}
            arms.append(self.down(arm, tuple(replace_columns(c, by) for c in passing)))
        if any(new is not old for new, old in zip(arms, node.arms, strict=True)):
            node = node.but(arms=tuple(arms))
        return _filtered(node, staying)

    def _over(self, node: Node, passing: Conjuncts, staying: Conjuncts) -> Node:
        return _filtered(map_inputs(node, lambda n: self.down(n, passing)), staying)

    # Joins

    def _join(self, node: Join, coming: Conjuncts) -> Node:
        node, coming = _simplified(node, coming)
        if node.kind in ("inner", "cross"):
            return self._inner(node, coming)
        if node.kind not in ("left", "right", "semi", "anti"):
            return self._over(node, (), coming)
        kept, other = (node.right, node.left) if node.kind == "right" else (node.left, node.right)
        mine, theirs = kept.output_ids, other.output_ids
        passing, staying = parted(coming, lambda c: not columns_in(c) & theirs and self._may_pass(c))
        to_other, on = parted(
            node.on,
            lambda c: not columns_in(c) & mine and self._may_pass(c) and self._is_seen(c, other),
        )
        if node.kind == "semi":
            to_kept, on = parted(
                on,
                lambda c: not columns_in(c) & theirs and self._may_pass(c) and self._is_seen(c, kept),
            )
            passing += to_kept
        if node.lateral:
            to_other, on = (), node.on
        told = () if node.lateral else self._told(passing, equivalence(kept, self.ctx.types), on, theirs)
        new_kept = self.down(kept, passing)
        new_other = self.down(other, to_other + told)
        left, right = (new_other, new_kept) if node.kind == "right" else (new_kept, new_other)
        return _filtered(_joined(node, left, right, on), staying)

    def _inner(self, node: Join, coming: Conjuncts) -> Node:
        left, right = node.left.output_ids, node.right.output_ids
        staying: list[exp.Expr] = []
        on: list[exp.Expr] = []
        sides: tuple[list[exp.Expr], list[exp.Expr]] = ([], [])
        everything = [
            *((f, True) for c in node.on for f in _factored(c)),
            *((f, False) for c in coming for f in _factored(c)),
        ]
        implied = [(i, True) for c, _ in everything for i in self._implied(c, left, right)]
        for conjunct, is_on in everything + implied:
            read = columns_in(conjunct)
            to_left, to_right = not read & right, not read & left and not node.lateral
            is_seen = self._is_seen(conjunct, node.left, node.right)
            is_joining = read & left and read & right and _is_deterministic(conjunct)
            home = on if is_seen and (is_on or is_joining) else staying
            to_one = (to_left or to_right) and not read.isdisjoint(left | right)
            if to_one and is_seen and self._may_pass(conjunct):
                sides[0 if to_left else 1].append(conjunct)
            else:
                home.append(conjunct)
        if not node.lateral:
            told = [*sides[0], *sides[1]]
            known = equivalence(node.left, self.ctx.types).joined(equivalence(node.right, self.ctx.types))
            sides[0].extend(self._told(told, known, on, left))
            sides[1].extend(self._told(told, known, on, right))
        new = _joined(
            node, self.down(node.left, tuple(sides[0])), self.down(node.right, tuple(sides[1])), tuple(on)
        )
        return _filtered(new, tuple(staying))

    def _implied(
        self, conjunct: exp.Expr, left: frozenset[ColumnId], right: frozenset[ColumnId]
    ) -> Iterator[exp.Expr]:
        """What an OR over both sides says of each alone.

        (a.x = 1 AND b.y = 2) OR (a.x = 3 AND b.y = 4) needs a.x = 1 OR a.x = 3.
        """
        read = columns_in(conjunct)
        arms = disjuncts(conjunct)
        if len(arms) < 2 or conjunct.find(exp.Subquery) or not (read & left and read & right):
            return
        for side in (left, right):
            parts = [
                [c for c in conjuncts(arm) if columns_in(c) and columns_in(c) <= side and self._may_pass(c)]
                for arm in arms
            ]
            if all(parts):
                yield any_of(tuple(all_of(tuple(part)) for part in parts))

    def _is_declared_alike(self, one: ColumnId, other: ColumnId) -> bool:
        """A constant takes the type of the column it meets: '0.25' is 0.3 to a DECIMAL(4,1)."""
        types = {self.ctx.types[id].type for id in (one, other)}
        return len({(type_ or "").upper().replace(" ", "") for type_ in types}) == 1

    def _is_simple(self, conjunct: exp.Expr) -> bool:
        if key_test(conjunct, self.ctx.parameters.key_lists) is not None:
            return True
        return not conjunct.find(exp.Subquery) and _is_simple(conjunct)

    def _may_pass(self, conjunct: exp.Expr) -> bool:
        """Asked once of a conjunct, however many joins it passes."""
        known = self._movable.get(id(conjunct))
        if known is None:
            known = self._movable[id(conjunct)] = conjunct, is_movable(conjunct, self.ctx)
        return known[1]

    def _told(
        self,
        known_true: Iterable[exp.Expr],
        known: Equivalence,
        on: Iterable[exp.Expr],
        side: frozenset[ColumnId],
    ) -> Conjuncts:
        """The simple predicates on a column of the other side, over the columns of `side` that equal it."""
        simple: list[tuple[exp.Expr, ColumnId]] = []
        for conjunct in known_true:
            read = columns_in(conjunct)
            if len(read) == 1 and not read <= side and self._is_simple(conjunct):
                (id,) = read
                simple.append((conjunct, id))
        if not simple:
            return ()
        both = known.with_pairs(equalities(on, self.ctx.types))
        told = []
        for conjunct, id in simple:
            alike = (same for same in both.same_as(id) & side if self._is_declared_alike(id, same))
            told += [replace_columns(conjunct, {id: column(same)}) for same in sorted(alike)]
        return distinct(told)


def _simplified(node: Join, coming: Conjuncts) -> tuple[Join, Conjuncts]:
    """WHERE that rejects the null-extended row makes an outer join an inner one."""
    if node.kind not in ("left", "right", "full"):
        return node, coming
    null_left = node.kind in ("right", "full") and _rejected(coming, node.left)
    null_right = node.kind in ("left", "full") and _rejected(coming, node.right)
    if not null_left and not null_right:
        return node, coming
    kind = _FULL_REJECTING[null_left, null_right] if node.kind == "full" else "inner"
    return node.but(kind=kind), coming


_FULL_REJECTING: dict[tuple[bool, bool], JoinKind] = {
    (True, False): "left",
    (False, True): "right",
    (True, True): "inner",
}
"""What a full join is without its rows whose left, or right, side is NULL."""


def _rejected(coming: Conjuncts, side: Node) -> bool:
    return any(not c.find(exp.Subquery) and rejects_null(c, set(side.output_ids)) for c in coming)


def _joined(node: Join, left: Node, right: Node, on: Conjuncts) -> Join:
    kind = "inner" if node.kind == "cross" and on else node.kind
    if left is node.left and right is node.right and on == node.on and kind == node.kind:
        return node
    return node.but(kind=kind, left=left, right=right, on=on)


def _factored(conjunct: exp.Expr) -> Conjuncts:
    """What all arms of an OR ask, if it is that two columns are equal, stands before it: then it joins.

    (a.k = b.k AND a.x = 1) OR (a.k = b.k AND b.y = 2)   =>   a.k = b.k, (a.x = 1) OR (b.y = 2)
    """
    arms = [conjuncts(arm) for arm in disjuncts(conjunct)]
    if len(arms) < 2:
        return (conjunct,)
    common = [c for c in arms[0] if _is_equality(c) and all(any(same(c, d) for d in arm) for arm in arms[1:])]
    if not common:
        return (conjunct,)
    rests = [parted(arm, lambda c: any(same(c, d) for d in common))[1] for arm in arms]
    return (*common, any_of(tuple(map(all_of, rests)))) if all(rests) else tuple(common)


def _is_equality(test: exp.Expr) -> bool:
    test = bare(test)
    return type(test) is exp.EQ and type(test.this) is type(test.expression) is exp.Column


def _filtered(node: Node, by: Conjuncts) -> Node:
    return Filter(input=node, conjuncts=distinct(by)) if by else node


def _mine(conjunct: exp.Expr, node: Node) -> frozenset[ColumnId]:
    return columns_in(conjunct) & node.output_ids


def _grouping(node: Distinct | Window | Aggregate) -> dict[ColumnId, exp.Expr]:
    """The output columns that are equal in all rows that the node compares, and what they are below it."""
    if isinstance(node, Aggregate):
        in_all = set(range(len(node.keys)))
        for members in node.sets or ():
            in_all &= set(members)
        kept = [node.keys[i] for i in sorted(in_all)]
        return {ColumnId(node.rel, k.name): k.expr for k in kept if not is_volatile(k.expr)}
    if isinstance(node, Window):
        ids: set[ColumnId] = set(node.input.output_ids)
        for item in node.items:
            ids &= {id for e in item.expr.args.get("partition_by") or () if (id := column_id(e)) is not None}
        return {id: column(id) for id in ids}
    if node.on is None:
        return {id: column(id) for id in node.output_ids}
    return {id: column(id) for e in node.on if (id := column_id(e)) is not None}


def _is_deterministic(conjunct: exp.Expr) -> bool:
    """One value for equal rows. A subquery that reads nothing of the row has one value anyway."""
    if is_volatile(conjunct):
        return False
    return all(is_deterministic(p) for p in plans_in(conjunct) if free_columns(p))


def is_movable(conjunct: exp.Expr, ctx: PlanContext) -> bool:
    """Deterministic, and cannot fail on a row that what it passes would have dropped."""
    if not _is_deterministic(conjunct):
        return False
    plans = list(plans_in(conjunct))
    if not plans:
        return not _can_fail(conjunct, ctx)
    if any(free_columns(p) and not _cannot_fail(p, ctx) for p in plans):
        return False
    return not _can_fail(conjunct.copy().transform(_stand_in), ctx)


def _can_fail(expr: exp.Expr, ctx: PlanContext) -> bool:
    if key_test(expr, ctx.parameters.key_lists) is not None:
        return False
    return can_fail(expr, ctx.type_of) and not ctx.dialect.never_fails(expr)


def _cannot_fail(plan: Node, ctx: PlanContext) -> bool:
    return not any(_can_fail(e, ctx) for n in walk(plan) for e in n.expressions if not e.find(exp.Subquery))


def _stand_in(part: exp.Expr) -> exp.Expr:
    """For asking whether the rest can fail: a subquery as a constant, IN and EXISTS as a truth value."""
    if isinstance(part, exp.Exists) and plan_of(part.this) is not None:
        return exp.true()
    if isinstance(part, exp.In) and part.args.get("query") is not None:
        return exp.Is(this=part.this.copy(), expression=exp.Null())
    if isinstance(part, exp.Any | exp.All) and plan_of(part.this) is not None:
        return exp.Null()
    plan = plan_of(part)
    if plan is not None and not free_columns(plan):
        return exp.Null()
    return part


def _is_simple(conjunct: exp.Expr) -> bool:
    """A column compared with constants."""
    if isinstance(conjunct, exp.EQ | exp.LT | exp.LTE | exp.GT | exp.GTE):
        sides = (conjunct.this, conjunct.expression)
        return any(type(a) is exp.Column and is_constant(b) for a, b in (sides, sides[::-1]))
    if isinstance(conjunct, exp.In):
        return type(conjunct.this) is exp.Column and all(
            is_constant(e) for e in conjunct.expressions or [exp.column("x")]
        )
    if isinstance(conjunct, exp.Between):
        return (
            type(conjunct.this) is exp.Column
            and is_constant(conjunct.args["low"])
            and is_constant(conjunct.args["high"])
        )
    return False


_STEPS: dict[type, Callable[..., Node]] = {
    Filter: _Push._filter,
    Fence: _Push._fence,
    Project: _Push._project,
    Sort: _Push._sort,
    Distinct: _Push._by_columns,
    Window: _Push._by_columns,
    Aggregate: _Push._by_columns,
    SetOp: _Push._set_operation,
    Join: _Push._join,
}
