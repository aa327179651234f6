"""prune: a scan's predicates narrow the slots that can hold a matching row.

    WHERE customer_id IN (7, 9) AND (status = 1 OR customer_id = 7)   =>   the slots of 7 and 9

Sets of slots, in one walk over the predicate: a comparison has the slots that may hold a match, AND is
their intersection, OR their union. NOT is pushed to the comparisons first; a complement would lose rows
(`NOT k = 2` with MOD 2: k = 4 is on 2's slot). What is not understood may be anywhere.

Sound: a row is dropped only if a comparison that must be TRUE of it cannot be, for a key of its slot. The
query that goes wrong otherwise stands in each case: VARCHAR `k = 1` matches '1' and '01' (literals.py);
`x = 1 OR k = 2` is everywhere; `(k = 2) IS NOT TRUE`, CASE and COALESCE say nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, product
from math import prod
from typing import NamedTuple

from sqlglot import exp

from shardwise.catalog.keys import evaluate
from shardwise.catalog.model import Sharding, Table
from shardwise.catalog.shardings import UNKNOWN, Grid, Part, SlotSet, Unknown, Value, canonical, mask
from shardwise.errors import DataError, Error, InternalError
from shardwise.planner.dialects import find_dialect
from shardwise.planner.facts import Among, Fact, OnSlots, Rows, Within, between_arms, facts_of
from shardwise.planner.narrow import Narrowing, narrow
from shardwise.planner.shard_keys import Key, KeyPart, PruneNote, PruneReason, ShardKeys

__all__ = ["Narrowing", "PruneNote", "PruneReason", "Pruned", "narrow", "slots_of"]

_COMBINATIONS = 1000  # of values of a key's columns that are tried together


class Pruned(NamedTuple):
    """The slots that may hold a match; `reasons` say why no fewer, and are empty if any shard is spared."""

    slots: SlotSet
    reasons: tuple[PruneNote, ...]


def slots_of(
    conjuncts: Sequence[exp.Expr],
    *,
    rel: str,
    table: Table,
    sharding: Sharding,
    dialect: str = "duckdb",
    sources: Mapping[str, str] | None = None,
) -> Pruned:
    """The slots of `sharding` on which a row of `table` may be for which all `conjuncts` are TRUE.

    Columns of the scan are `exp.Column`s whose table is `rel`; whatever else stands in a conjunct is
    unknown. `sources` is shard → source, for predicates on `_source`.
    """
    if not sharding.is_known:
        raise InternalError(f'the members of "{sharding.name}" were to be listed before pruning')
    keys = ShardKeys(rel, table, sharding, dialect, sources or {})
    if find_dialect(dialect) is None:
        note = PruneNote(PruneReason.DIALECT, f"predicates in dialect {dialect} do not prune yet")
        return Pruned(keys.all, (note,))
    slots = _Walk(keys).conjunction([(conjunct, False) for conjunct in conjuncts])
    if slots == keys.all:
        return Pruned(slots, _reasons(keys))
    # Tables are spared, and no shard: what kept the rest of the key from pruning is worth telling.
    tells = keys.notes and len(sharding.shards_of(slots)) == len(sharding.shards())
    return Pruned(slots, tuple(keys.notes) if tells else ())


def _reasons(keys: ShardKeys) -> tuple[PruneNote, ...]:
    if not keys.keys:
        sentence = f"{keys.table.name} has no shard key of its own that predicates could name"
        return (PruneNote(PruneReason.NO_SHARD_KEY, sentence),)
    if keys.notes:
        return tuple(keys.notes)
    titles = " or ".join(keys.title(part.target) for key in keys.keys for part in key.parts)
    return (PruneNote(PruneReason.KEY_NOT_COMPARED, f"nothing compares {titles} with a value"),)


_Signed = tuple[exp.Expr, bool]


class _Walk:
    """One walk over a predicate. A `bool` beside an expression says that it stands under a NOT."""

    def __init__(self, keys: ShardKeys) -> None:
        self.keys = keys

    def conjunction(self, parts: Sequence[_Signed]) -> SlotSet:
        """The slots for all of `parts` together: columns that different parts fix make one key."""
        facts: list[Fact] = []
        slots = self.keys.all
        for expr, negated in _flatten(parts, exp.And, exp.Or):
            if isinstance(expr, (exp.And, exp.Or)):
                slots &= self.disjunction([(expr, negated)])
            elif isinstance(expr, exp.Between) and negated:
                slots &= self._not_between(expr)
            else:
                facts.extend(facts_of(expr, self.keys, negated) or ())
        return slots & self._meet(facts) if slots else 0

    def disjunction(self, parts: Sequence[_Signed]) -> SlotSet:
        """The slots for any of `parts`."""
        slots, whole, narrower = 0, False, False
        for part in _flatten(parts, exp.Or, exp.And):
            here = self.conjunction([part])
            whole, narrower = whole or here == self.keys.all, narrower or here != self.keys.all
            slots |= here
        if whole and narrower:
            sentence = f"the key of {self.keys.table.name} stands in an OR with another condition"
            self.keys.note(PruneReason.OR_WITH_OTHER, sentence)
        elif slots == self.keys.all:
            self._all_match()
        return slots

    def _all_match(self) -> None:
        sentence = f"the values that {self.keys.table.name} is compared with are on all slots"
        self.keys.note(PruneReason.ALL_SLOTS_MATCH, sentence)

    def _not_between(self, expr: exp.Between) -> SlotSet:
        arms = between_arms(expr, self.keys)
        if arms is None:
            return self.keys.all
        slots = 0
        for arm in arms:
            slots |= self._meet(arm)
        return slots

    def _meet(self, facts: Sequence[Fact]) -> SlotSet:
        """The slots on which all facts can hold of a row."""
        slots = self.keys.all
        for fact in facts:
            if isinstance(fact, OnSlots):
                slots &= fact.slots
        for key in self.keys.keys:
            if slots and facts:
                slots &= self._by_key(key, facts)
        return slots

    def _by_key(self, key: Key, facts: Sequence[Fact]) -> SlotSet:
        """The slots by one key; all of them if a value cannot be placed.

        Only the first key says where NULL is: another agrees with it, and has no say where it is NULL.
        """
        slots = self.keys.all
        if key is not self.keys.keys[0]:
            facts = [fact for fact in facts if not _may_be_null(fact)]
        known = {fact.target: fact.values for fact in facts if isinstance(fact, Among)}
        for step in (self._columns, self._together, self._tuples):
            try:
                slots &= step(key, facts, known)
            except Error as error:
                sentence = f"a value cannot be placed: {error.message}"
                self.keys.note(PruneReason.VALUE_NOT_PLACED, sentence)
        return slots

    def _columns(self, key: Key, facts: Sequence[Fact], known: Mapping[str, Sequence[Value]]) -> SlotSet:
        """By each column of the key alone: a row or a column of a grid."""
        slots = self.keys.all
        for part in key.parts:
            for fact in facts:
                if isinstance(fact, (OnSlots, Rows)) or fact.target != part.target:
                    continue
                if isinstance(fact, Among):
                    here = part.place.of_values(fact.values)
                    if here == self.keys.all:
                        self._all_match()
                    slots &= here
                elif isinstance(fact, Within):
                    slots &= self._within(part, fact)
                elif fact.values:
                    slots &= part.place.without(fact.values)
            if part.expr is not None and all(name in known for name in part.columns):
                slots &= part.place.of_values(self._computed(part, known))
        return slots

    def _within(self, part: KeyPart, fact: Within) -> SlotSet:
        if not part.place.function.is_ordered:
            title = self.keys.title(part.target)
            sentence = f"a range of {title} is spread over all slots of {self.keys.sharding.name}"
            self.keys.note(PruneReason.RANGE_NOT_ORDERED, sentence)
            return self.keys.all
        return part.place.of_range(fact.range, fact.or_null)

    def _computed(self, part: KeyPart, known: Mapping[str, Sequence[Value]]) -> Iterator[Value]:
        """The key expression over all combinations of its columns' values."""
        choices = [known[name] for name in part.columns]
        if len(choices) > 1 and prod(map(len, choices)) > _COMBINATIONS:
            raise DataError("too many combinations of values")
        for values in product(*choices):
            yield self._value(part, dict(zip(part.columns, values, strict=True)))

    def _value(self, part: KeyPart, row: Mapping[str, Value]) -> Value:
        assert part.expr is not None
        value = canonical(evaluate(part.expr, row, self.keys.dialect), part.family)
        if value is None and part not in self.keys.keys[0].parts:
            raise DataError("a further key that is NULL says nothing")
        return value

    def _together(self, key: Key, facts: Sequence[Fact], known: Mapping[str, Sequence[Value]]) -> SlotSet:
        """By the columns of a key together, where the function is no grid and so knows more."""
        function = key.function
        if function is None or function.arity == 1 or isinstance(function, Grid):
            return self.keys.all
        choices: list[Sequence[Part]] = []
        for part in key.parts:
            if part.expr is not None and all(name in known for name in part.columns):
                choices.append(list(islice(self._computed(part, known), _COMBINATIONS + 1)))
            else:
                choices.append(known.get(part.target, (UNKNOWN,)))
        if prod(map(len, choices)) > _COMBINATIONS:
            return self.keys.all
        slots = 0
        for values in product(*choices):
            slots |= function.slots(values)
        return slots

    def _tuples(self, key: Key, facts: Sequence[Fact], known: Mapping[str, Sequence[Value]]) -> SlotSet:
        """By rows: (a, b) IN ((1, 2), (3, 4))."""
        slots = self.keys.all
        for fact in facts:
            if isinstance(fact, Rows):
                slots &= self._rows(key, fact)
        return slots

    def _rows(self, key: Key, fact: Rows) -> SlotSet:
        slots, found = 0, set[int]()
        for row in fact.rows:
            values = {
                t: v
                for t, v in zip(fact.targets, row, strict=True)
                if t is not None and not isinstance(v, Unknown)
            }
            parts = [self._part(part, values) for part in key.parts]
            known = [part for part in parts if not isinstance(part, Unknown)]
            if not known:
                return self.keys.all
            if len(known) < len(parts):
                slots |= self._slots(key, parts)
                continue
            try:
                found.add(self._slot(key, known))
            except DataError:
                slots |= self._slots(key, parts)
        return slots | mask(found)

    def _slot(self, key: Key, values: Sequence[Value]) -> int:
        if key.function is None:
            raise DataError("a key that is the slot may have several places")
        return key.function.slot(values)

    def _slots(self, key: Key, parts: Sequence[Part]) -> SlotSet:
        if key.function is not None:
            return key.function.slots(parts)
        where = key.parts[0].place
        return where.lift(where.function.slots(parts))

    def _part(self, part: KeyPart, values: Mapping[str, Value]) -> Value | Unknown:
        """What a row says of one column of the key."""
        if part.target in values:
            return values[part.target]
        if part.expr is not None and all(name in values for name in part.columns):
            return self._value(part, values)
        return UNKNOWN


def _may_be_null(fact: Fact) -> bool:
    if isinstance(fact, Among):
        return None in fact.values
    if isinstance(fact, Within):
        return fact.or_null
    return isinstance(fact, Rows) and any(None in row for row in fact.rows)


def _flatten(parts: Sequence[_Signed], joined: type, under_not: type) -> Iterator[_Signed]:
    """The operands of nested ANDs (or ORs), through parentheses and NOT, in order and without recursion."""
    stack = list(reversed(parts))
    while stack:
        expr, negated = stack.pop()
        while isinstance(expr, (exp.Paren, exp.Not)):
            negated = negated ^ isinstance(expr, exp.Not)
            expr = expr.this
        if isinstance(expr, under_not if negated else joined):
            stack.append((expr.args["expression"], negated))
            stack.append((expr.this, negated))
        else:
            yield expr, negated
