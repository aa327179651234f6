"""A tree of inner joins as a bag of parts and conjuncts, and as a tree again.

    (a JOIN b ON a.x = b.x) JOIN c ON b.x = c.x      parts a, b, c; a.x = b.x, b.x = c.x; so a.x = c.x, too

Sound: inner joins are associative and commutative, and every conjunct is kept, at the lowest join that has
its columns. What follows of them (columns that are equal to a third one) may be asked as well: it is true of
every row that is left. Nothing is moved out of or into an outer join, nor past a LATERAL side."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from sqlglot import exp

from shardwise.caching import cached_property
from shardwise.plan.nodes import ColumnId, Join, Node
from shardwise.plan.tree import column, columns_in, parted
from shardwise.planner.distribution import Analysis, Merged
from shardwise.planner.equivalence import Equivalence, Types, are_declared_alike, equalities, is_null_safe

Conjuncts = tuple[exp.Expr, ...]


def is_inner(node: Node) -> bool:
    return isinstance(node, Join) and node.kind in ("inner", "cross") and not node.lateral


@dataclass(frozen=True)
class Group:
    """The parts, left to right, all conjuncts, and which columns they make equal."""

    parts: tuple[Node, ...]
    on: Conjuncts
    equal: Equivalence
    types: Types

    @cached_property
    def alike(self) -> Equivalence:
        """As `equal`, and where both are NULL: enough for rows to be together, not for more conditions."""
        null_safe = (c for c in self.on if is_null_safe(c))
        return self.equal.with_pairs(equalities(null_safe, self.types, null_safe=True))

    @classmethod
    def of(cls, node: Node, analysis: Analysis, *, keeps_colocated: bool = False) -> Group:
        """Of all inner joins at the top of the tree; `keeps_colocated`: of those that are not on the
        shards."""

        def is_part(inner: Node) -> bool:
            if not is_inner(inner):
                return True
            return keeps_colocated and not isinstance(analysis.of(inner), Merged)

        parts, on = _taken_apart(node, is_part)
        known = Equivalence()
        for part in parts:
            known = known.joined(analysis.equal(part))
        equal = known.with_pairs(equalities(on, analysis.types))
        return cls(tuple(parts), on, equal, analysis.types)

    @classmethod
    def of_two(cls, node: Join, analysis: Analysis, left: Node | None = None) -> Group:
        """Of the two sides of any join, or of a part of its left one: what is true of rows that meet."""
        parts = (left or node.left, node.right)
        known = analysis.equal(parts[0]).joined(analysis.equal(parts[1]))
        equal = known.with_pairs(equalities(node.on, analysis.types))
        return cls(parts, node.on, equal, analysis.types)

    def link(self, left: Node, right: Node, on: Conjuncts, *, implied: bool) -> tuple[Join, Conjuncts]:
        """The two, joined by the conjuncts that read both and nothing else, and the other conjuncts.
        `implied`: where there are none, by what follows of all conjuncts."""
        mine, rest = parted(on, lambda c: _belongs(columns_in(c), left, right))
        if implied:
            mine = (*mine, *self._implied(left, right, mine))
        return Join(kind="inner" if mine else "cross", left=left, right=right, on=mine), rest

    def _implied(self, left: Node, right: Node, on: Conjuncts) -> Iterator[exp.Expr]:
        linked = {frozenset(columns_in(c)) for c in on}
        for one, other in self.pairs(left, right):
            # Of other types the comparison may fail, where those that were written do not.
            if frozenset((one, other)) not in linked and are_declared_alike(one, other, self.types):
                yield exp.EQ(this=column(one), expression=column(other))

    def pairs(self, left: Node, right: Node) -> Iterator[tuple[ColumnId, ColumnId]]:
        """A column of each that are equal, one pair of each class."""
        for same in self.equal.classes:
            one = next((o.id for o in left.outputs if o.id in same), None)
            other = next((o.id for o in right.outputs if o.id in same), None)
            if one is not None and other is not None:
                yield one, other

    def chained(self, parts: Iterable[Node], on: Conjuncts) -> Node:
        """One join after the other, each with one that it is linked to, if there is one."""
        waiting = list(parts)
        tree, rest = waiting.pop(0), on
        while waiting:
            chosen, tree, rest = self._next(tree, waiting, rest)
            del waiting[chosen]
        return with_more(tree, rest)

    def _next(self, tree: Node, waiting: Sequence[Node], on: Conjuncts) -> tuple[int, Join, Conjuncts]:
        """Which of the parts is joined next, the join, and the conjuncts that are left."""
        for implied in (False, True):
            for i, part in enumerate(waiting):
                joined, rest = self.link(tree, part, on, implied=implied)
                if joined.on:
                    return i, joined, rest
        return 0, *self.link(tree, waiting[0], on, implied=False)


def with_more(node: Node, rest: Conjuncts) -> Node:
    """The join with more conjuncts: those that read an outer query's columns."""
    if not rest:
        return node
    assert isinstance(node, Join)
    return node.but(kind="inner", on=node.on + rest)


def _taken_apart(node: Node, is_part: Callable[[Node], bool]) -> tuple[list[Node], Conjuncts]:
    if not isinstance(node, Join) or is_part(node):
        return [node], ()
    left, on_left = _taken_apart(node.left, is_part)
    right, on_right = _taken_apart(node.right, is_part)
    return left + right, on_left + on_right + node.on


def _belongs(read: frozenset[ColumnId], left: Node, right: Node) -> bool:
    """Whether both sides are read and nothing else: an outer query's columns, or a later part's, wait."""
    theirs = read - left.output_ids
    return len(theirs) < len(read) and bool(theirs) and theirs <= right.output_ids
