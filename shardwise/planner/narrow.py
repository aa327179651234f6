"""narrow: each partition's fragment keeps only its own members of an IN list on its shard key.

    k IN (1, 2, 3)    =>    k IN (2) on the even partition, k IN (1, 3) on the odd one

Sound: a row of the partition cannot equal a member of another slot, so that member is never TRUE there; it
may stand anywhere in an AND or OR, and is dropped where it stands: `x = 1 OR k IN (2, 3)` is never made a
conjunct `k IN (…)`. NULL members stay, for `NOT k IN (1, NULL)` is never TRUE. While a member is left the
list's truth is the same, NULL keys included, so it may stand under NOT as well. A list that would be
emptied becomes FALSE only where NULL and FALSE are one, under ANDs and ORs; `k NOT IN (…)` becomes `k IS NOT
NULL`; elsewhere one member stays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from sqlglot import exp

from shardwise.catalog.keys import evaluate
from shardwise.catalog.model import Sharding, Table
from shardwise.catalog.shardings import SlotSet, Unknown, Value, canonical, members
from shardwise.errors import Error
from shardwise.planner.facts import is_list
from shardwise.planner.literals import EMPTY, Constant, constants
from shardwise.planner.shard_keys import KeyPart, Place, ShardKeys


class Narrowing:
    """The conjuncts of a scan, ready to be narrowed for one partition after another.

    Members are placed once, here; `to` then costs what it keeps.
    """

    def __init__(
        self,
        conjuncts: Sequence[exp.Expr],
        *,
        rel: str,
        table: Table,
        sharding: Sharding,
        dialect: str = "duckdb",
    ) -> None:
        self._conjuncts = tuple(conjuncts)
        keys = ShardKeys(rel, table, sharding, dialect, {})
        can = dialect == "duckdb" and bool(keys.keys)
        self._edits = [_edit(conjunct, keys, _Empty.FALSE) if can else None for conjunct in self._conjuncts]

    def to(self, slots: SlotSet) -> tuple[exp.Expr, ...]:
        """The conjuncts for rows on `slots` only; the same objects where nothing changes."""
        pairs = zip(self._conjuncts, self._edits, strict=True)
        return tuple(conjunct if edit is None else edit.to(slots) for conjunct, edit in pairs)


def narrow(
    conjuncts: Sequence[exp.Expr], *, rel: str, table: Table, sharding: Sharding, slots: SlotSet
) -> tuple[exp.Expr, ...]:
    """`conjuncts` for the rows of one partition, which holds `slots`. For many partitions use `Narrowing`."""
    return Narrowing(conjuncts, rel=rel, table=table, sharding=sharding).to(slots)


# ------------------------------------------------------------------ what to edit, found once


class _Empty(Enum):
    """What becomes of a list that no member is left of."""

    FALSE = "FALSE, for here NULL is as good"
    NOT_NULL = "the NOT around it becomes IS NOT NULL"
    KEEP = "one member stays"


class _Edit(Protocol):
    def to(self, slots: SlotSet) -> exp.Expr:
        """The expression for rows on `slots`; the same object if nothing changes."""


def _edit(expr: exp.Expr, keys: ShardKeys, empty: _Empty) -> _Edit | None:
    """What to edit in a predicate; None if nothing."""
    if isinstance(expr, (exp.And, exp.Or)):
        operands = _operands(expr)
        edits = [_edit(operand, keys, empty) for operand in operands]
        return _Joined(expr, operands, edits) if any(edits) else None
    if isinstance(expr, exp.Not):
        inside = _unwrapped(expr.this)
        if isinstance(inside, exp.In) and empty is _Empty.FALSE:
            return _list(inside, keys, _Empty.NOT_NULL, expr)
        edit = _edit(expr.this, keys, _Empty.KEEP)
        return edit and _Wrapped(expr, edit)
    if isinstance(expr, exp.Paren):
        edit = _edit(expr.this, keys, empty)
        return edit and _Wrapped(expr, edit)
    return _list(expr, keys, empty, expr) if isinstance(expr, exp.In) else None


def _unwrapped(expr: exp.Expr) -> exp.Expr:
    while isinstance(expr, exp.Paren):
        expr = expr.this
    return expr


def _operands(expr: exp.Expr) -> list[exp.Expr]:
    """The operands of a chain of ANDs, or of ORs, in order."""
    kind, found, stack = type(expr), [], [expr]
    while stack:
        node = stack.pop()
        if type(node) is kind:
            stack.extend((node.args["expression"], node.this))
        else:
            found.append(node)
    return found


def _list(leaf: exp.In, keys: ShardKeys, empty: _Empty, whole: exp.Expr) -> _Edit | None:
    """The edit of an IN list on a shard key, if a member of it can be placed."""
    if not is_list(leaf):
        return None
    left = _unwrapped(leaf.this)
    if isinstance(left, exp.Tuple):
        targets = [keys.target(side) for side in left.expressions]
        index = next(
            (number for number, target in enumerate(targets) if target and _part(target, keys)), None
        )
        rows = [_unwrapped(row) for row in leaf.expressions]
        if index is None or any(len(row.expressions) != len(targets) for row in rows):
            return None
        target, items = targets[index], [row.expressions[index] for row in rows]
        empty = _Empty.KEEP if empty is _Empty.NOT_NULL else empty
    else:
        target, items = keys.target(left), leaf.expressions
    part = target and _part(target, keys)
    if not target or not part:
        return None
    always: list[int] = []
    by_slot: dict[int, list[int]] = {}
    for number, value in enumerate(constants(items, keys.families[target])):
        slot = _slot(part, target, value, keys.dialect)
        if slot is None:
            always.append(number)
        else:
            by_slot.setdefault(slot, []).append(number)
    return _List(whole, leaf, part.place, always, by_slot, empty) if by_slot else None


def _part(target: str, keys: ShardKeys) -> KeyPart | None:
    """The key column that a target alone places: it is the target, or computed from it only."""
    parts = [part for key in keys.keys for part in key.parts]
    own = (part for part in parts if part.target == target)
    return next(
        own, next((part for part in parts if part.expr is not None and part.columns == (target,)), None)
    )


def _slot(part: KeyPart, target: str, value: Constant, dialect: str) -> int | None:
    """The slot of a member among those of the key column; None if it must stay everywhere."""
    if value is None or value is EMPTY or isinstance(value, Unknown):
        return None
    try:
        placed: Value = value  # type: ignore[assignment]
        if part.target != target and part.expr is not None:
            placed = canonical(evaluate(part.expr, {target: placed}, dialect), part.family)
        return part.place.function.slot((placed,))
    except Error:
        return None


# ------------------------------------------------------------------ the edits


@dataclass(frozen=True, slots=True)
class _Joined:
    """A chain of ANDs or ORs."""

    expr: exp.Expr
    operands: Sequence[exp.Expr]
    edits: Sequence[_Edit | None]

    def to(self, slots: SlotSet) -> exp.Expr:
        pairs = list(zip(self.operands, self.edits, strict=True))
        after = [operand if edit is None else edit.to(slots) for operand, edit in pairs]
        changed = [new is not old for new, old in zip(after, self.operands, strict=True)]
        if not any(changed):
            return self.expr
        fresh = [new if new.parent is None else new.copy() for new in after]
        joined = fresh[0]
        for operand in fresh[1:]:
            joined = type(self.expr)(this=joined, expression=operand)
        return joined


@dataclass(frozen=True, slots=True)
class _Wrapped:
    """A NOT or parentheses around something edited."""

    expr: exp.Expr
    inside: _Edit

    def to(self, slots: SlotSet) -> exp.Expr:
        after = self.inside.to(slots)
        return self.expr if after is self.expr.this else type(self.expr)(this=after)


@dataclass(frozen=True, slots=True)
class _List:
    """An IN list: the members that stay everywhere, and those of each slot of `place`, by number.

    `whole` is the IN, or the NOT around it.
    """

    whole: exp.Expr
    leaf: exp.In
    place: Place
    always: Sequence[int]
    by_slot: Mapping[int, Sequence[int]]
    empty: _Empty

    def to(self, slots: SlotSet) -> exp.Expr:
        kept = self._kept(slots)
        if len(kept) == len(self.leaf.expressions):
            return self.whole
        if not kept and self.empty is _Empty.FALSE:
            return exp.false()
        if not kept and self.empty is _Empty.NOT_NULL:
            return exp.Not(this=exp.Is(this=self.leaf.this.copy(), expression=exp.Null()))
        left = [self.leaf.expressions[number].copy() for number in kept or [0]]
        narrowed = exp.In(this=self.leaf.this.copy(), expressions=left)
        return narrowed if self.whole is self.leaf else exp.Not(this=narrowed)

    def _kept(self, slots: SlotSet) -> list[int]:
        """The numbers of the members that rows on `slots` may equal, in order."""
        found = list(self.always)
        if self.place.is_whole and slots.bit_count() < len(self.by_slot):
            for slot in members(slots):
                found.extend(self.by_slot.get(slot, ()))
        else:
            for slot, numbers in self.by_slot.items():
                if self.place.lift(1 << slot) & slots:
                    found.extend(numbers)
        return sorted(found)
