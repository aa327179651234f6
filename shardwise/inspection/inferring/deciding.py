"""Where the rows of a family are: by a key, with a parent, on one source, on all, or by no known rule."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from itertools import pairwise
from typing import Protocol

from shardwise.catalog.keys import evaluate
from shardwise.catalog.shardings import MAXVALUE, Interval, Mod, Value, interval, range_
from shardwise.catalog.types import Family as Kind
from shardwise.errors import DataError
from shardwise.inspection.inferring.candidates import KEYS, Function, Key, functions, keys
from shardwise.inspection.inferring.sampled import Family, Member
from shardwise.inspection.inferring.trying import Fit, Target, fit, share, target_of

_NEAR = 0.9
_CHILDREN_MIN = 20
_REFERENCE_ROWS = 2_000
_COPIES_MAX = 500_000
"""Nobody keeps larger tables everywhere, and to count them takes long."""


class Probe(Protocol):
    """What is asked of the servers beyond the sample; each answer is exact."""

    def count(self, member: Member) -> int:
        """Its rows."""

    def extremes(self, member: Member, column: str) -> tuple[Value, Value]:
        """The least and the greatest value of a column; None for both where there is none."""

    def found(self, member: Member, column: str, values: Sequence[Value]) -> frozenset[Value]:
        """Those of `values` that are in a column."""

    def rows(self, member: Member, limit: int) -> Sequence[tuple[object, ...]]:
        """Its rows, up to a number of them, in any order."""


@dataclass(frozen=True)
class Evidence:
    """All that fits a family: by whole member, or by source and by table of a source each for itself."""

    whole: tuple[Fit, ...] = ()
    by_source: tuple[Fit, ...] = ()
    by_table: tuple[Fit, ...] = ()
    tried: int = 0
    near: str | None = None
    are_copies: bool = False


@dataclass
class _Search:
    family: Family
    dialect: str
    tried: int = 0
    best: tuple[float, str] = (0.0, "")
    key_cache: dict[str, list[Key]] = field(default_factory=dict)

    def keys(self, column: str) -> list[Key]:
        """The plain one first; none if no row has a value."""
        if column not in self.key_cache:
            samples = [(at, value) for at, (value,) in self.family.samples(column)]
            kind = self.family.kinds[column]
            self.key_cache[column] = list(keys(column, kind, samples, self.dialect)) if samples else []
        return self.key_cache[column]

    def fits(self, target: Target) -> Iterator[Fit]:
        """The plainest fit of each column; expressions only where the column itself fits nothing.

        Of `k >> 5` MOD 64 and `k >> 8` MOD 8, which are one rule if three bits say nothing, the second.
        """
        for column, kind in self.family.kinds.items():
            if kind not in KEYS:
                continue
            found = [each for key in self.keys(column) if key.is_plain and (each := self._first(key, target))]
            if not found:
                made = (self._first(key, target) for key in self.keys(column) if not key.is_plain)
                found = sorted((each for each in made if each is not None), key=lambda f: f.function.size)[:1]
            yield from found

    def _first(self, key: Key, target: Target) -> Fit | None:
        """The plainest; of several with more slots than targets the one with the fewest.

        Java's hash of a text modulo 4 is Cobar's of 1,024 slots, modulo 4.
        """
        best: Fit | None = None
        for function in functions(key):
            self.tried += 1
            found = fit(key, function, target)
            if found is not None and (best is None or found.function.size < best.function.size):
                best = found
            if best is not None and best.function.size <= target.count:
                return best
        return best

    def look_near(self, target: Target) -> str | None:
        """The rule that most keys obey, if it is nearly all: rows may be misplaced."""
        best, what = 0.0, ""
        for column, kind in self.family.kinds.items():
            for key in self.keys(column) if kind in KEYS else ():
                for function in functions(key) if key.is_plain else (Function(Mod),):
                    found = share(key, function, target)
                    if found > best:
                        best, what = found, f"{key.expression.sql(self.dialect)} by {_said(function, target)}"
        return f"{best:.1%} of the keys fit {what}" if best >= _NEAR else None


def _said(function: Function, target: Target) -> str:
    made = function.of_size(function.sizes[0] if function.sizes else target.count)
    return (
        f"MOD {made.size}"
        if isinstance(made, Mod)
        else f"HASH({getattr(made, 'algorithm', '?')}) SLOTS {made.size}"
    )


def evidence(family: Family, probe: Probe, dialect: str) -> Evidence:
    """What fits a family of several members."""
    search = _Search(family, dialect)
    whole = [(member.source, member.name) for member in family.members]
    numbers = [int(suffix) for suffix in family.suffixes if suffix is not None]
    sources, per_source = len(family.sources), -(-len(whole) // len(family.sources))
    sizes = (len(whole), sources, per_source, sources * per_source, max(numbers, default=0) + 1)
    target = target_of(whole, sizes)
    if sources == 1 and (dated := tuple(_by_days(family, search, range(len(whole))))):
        return Evidence(whole=dated, tried=1)
    found = tuple(search.fits(target))
    if not any(each.key.is_plain for each in found):
        found = tuple(_by_ranges(family, search, probe)) or found
    if found:
        return Evidence(whole=found, tried=search.tried)
    if family.is_numbered and sources > 1 and per_source > 1:
        by_source = target_of([(member.source,) for member in family.members], (sources, *sizes))
        by_table = target_of([(member.name,) for member in family.members], (per_source, *sizes))
        rows = tuple(search.fits(by_source))
        columns = tuple(_by_days(family, search, by_table.of_member)) or tuple(search.fits(by_table))
        if rows or columns:
            return Evidence(by_source=rows, by_table=columns, tried=search.tried)
    return Evidence(tried=search.tried, near=search.look_near(target))


def _by_days(family: Family, search: _Search, tables: Sequence[int]) -> Iterator[Fit]:
    """INTERVAL: the months or days that tables are named by are those of a column. `tables` by member."""
    function = interval_of(family)
    if function is None:
        return
    numbers = dict(zip(family.days or (), tables, strict=True))
    targets = tuple(numbers[label] for slot in range(function.size) for label in _days(function, slot))
    for column, kind in family.kinds.items():
        if kind not in (Kind.DATE, Kind.TIMESTAMP):
            continue
        for key in search.keys(column)[:1]:
            try:
                fits = all(targets[function.slot((value,))] == tables[at] for at, value in key.samples)
            except DataError:
                continue
            if fits and len(key.samples) > len(targets):
                yield Fit(key, function, targets, len(key.samples))


def interval_of(family: Family) -> Interval | None:
    """The months or days that a family's tables are named by, if they are all there, in one row."""
    days = family.days
    if days is None:
        return None
    unit = "MONTH" if len(family.suffixes[0] or "") == 6 else "DAY"
    function = interval(unit, min(days), max(days))
    return function if function.size == len(set(days)) else None


def _days(function: Interval, slot: int) -> Iterator[date]:
    return (label for label in function.labels(slot) if isinstance(label, date))


def _by_ranges(family: Family, search: _Search, probe: Probe) -> Iterator[Fit]:
    """RANGE: no two members overlap in a column, as their exact extremes say."""
    for column, kind in family.kinds.items():
        if kind not in (Kind.INT, Kind.DATE, Kind.TIMESTAMP):
            continue
        for key in search.keys(column)[:1]:
            if not _is_apart(_sample_extremes(key, len(family.members))):
                continue
            exact = [probe.extremes(member, column) for member in family.members]
            order = _is_apart(dict(enumerate(exact)))
            if order is None or len(order) < len(family.members) or len(key.samples) < 8 * len(order):
                continue
            bounds = [_bound(exact[low][1], exact[high][0]) for low, high in pairwise(order)]
            yield Fit(key, range_([*bounds, MAXVALUE]), tuple(order), len(key.samples))


Extremes = Mapping[int, tuple[Value, Value]]


def _sample_extremes(key: Key, members: int) -> Extremes:
    found: dict[int, tuple[Value, Value]] = {}
    for at, value in key.samples:
        low, high = found.get(at, (value, value))
        found[at] = (min(low, value), max(high, value))  # type: ignore[type-var]
    return found if len(found) == members else {}


def _is_apart(extremes: Extremes) -> list[int] | None:
    """The members in order, if none overlaps the next; None if one does or has no values."""
    if not extremes or any(low is None for low, _ in extremes.values()):
        return None
    order = sorted(extremes, key=lambda at: extremes[at][0])  # type: ignore[arg-type, return-value]
    apart = all(
        extremes[low][1] < extremes[high][0]  # type: ignore[operator]
        for low, high in pairwise(order)
    )
    return order if apart else None


def _bound(low: Value, high: Value) -> Value:
    """The first value of the upper one's range: a round number between."""
    if isinstance(low, int) and isinstance(high, int):
        return _decimal_round(low + 1, high)
    return high


def _decimal_round(low: int, high: int) -> int:
    """The number from `low` to `high` that ends in most zeros."""
    steps = (int(f"1{'0' * power}") for power in range(18, -1, -1))
    firsts = (-(-low // step) * step for step in steps)
    return next((first for first in firsts if first <= high), low)


# ------------------------------------------------------------------ one key of several


def primary_first(fits: Sequence[Fit], family: Family, votes: Mapping[str, int]) -> list[Fit]:
    """The fits of one rule, first the key that most tables have, and no identity if there is another."""
    own = {name.lower() for name in family.members[0].primary_key}

    def rank(each: Fit) -> tuple[object, ...]:
        is_own = {each.key.column.lower()} == own
        return not each.key.is_plain, is_own, -votes.get(each.key.column.lower(), 0)

    ordered = sorted(fits, key=rank)
    first = ordered[0]
    return [first, *(each for each in ordered[1:] if _leads_alike(first, each, family))]


def _leads_alike(first: Fit, other: Fit, family: Family) -> bool:
    """Whether each row's two keys have one slot."""
    if first.function != other.function:
        return False
    for member in family.members:
        for row in member.rows:
            values = [row.get(each.key.column) for each in (first, other)]
            if None in values:
                continue
            slots = []
            for each, value in zip((first, other), values, strict=True):
                try:
                    made = evaluate(each.key.expression, {each.key.column.lower(): value})
                    slots.append(each.function.slot((made,)))
                except DataError:
                    return False
            if slots[0] != slots[1]:
                return False
    return True


# ------------------------------------------------------------------ children, and copies


@dataclass(frozen=True)
class Parent:
    """A child's column and the parent's that it equals, and how many values were looked for."""

    family: Family
    column: str
    parent_column: str
    values: int


def parent_of(child: Family, others: Iterable[Family], probe: Probe) -> Parent | None:
    """A family laid out alike, in whose member of the same place all values of a column are: in no other."""
    places = [(member.source, suffix) for member, suffix in zip(child.members, child.suffixes, strict=True)]
    for parent in others:
        theirs = {
            (member.source, suffix): member
            for member, suffix in zip(parent.members, parent.suffixes, strict=True)
        }
        identity = parent.members[0].primary_key
        if parent is child or len(identity) != 1 or theirs.keys() != set(places):
            continue
        own = identity[0].lower()
        for column, kind in child.kinds.items():
            if kind is not parent.kinds.get(own):
                continue
            values = _all_found(child, column, [theirs[place] for place in places], own, probe)
            if values:
                return Parent(parent, column, own, values)
    return None


def _all_found(child: Family, column: str, parents: Sequence[Member], own: str, probe: Probe) -> int:
    """How many values of a child's column are in its parents; 0 if one is not, or as many are elsewhere."""
    by_member: dict[int, list[Value]] = {}
    for at, (value,) in child.samples(column):
        by_member.setdefault(at, []).append(value)
    if sum(map(len, by_member.values())) < _CHILDREN_MIN:
        return 0
    total = elsewhere = 0
    for at, values in by_member.items():
        if probe.found(parents[at], own, values) != frozenset(values):
            return 0
        other = parents[(at + 1) % len(parents)]
        elsewhere += len(probe.found(other, own, values))
        total += len(values)
    return total if elsewhere < total else 0


def are_copies(family: Family, probe: Probe) -> bool:
    """Whether all have the same rows; large ones are compared by their count and a part of the rows."""
    first, *rest = family.members
    if any((member.rows_estimate or 0) > _COPIES_MAX for member in family.members):
        return False
    count = probe.count(first)
    if not count or any(probe.count(member) != count for member in rest):
        return False
    if count <= _REFERENCE_ROWS:
        rows = sorted(map(repr, probe.rows(first, _REFERENCE_ROWS)))
        return all(sorted(map(repr, probe.rows(member, _REFERENCE_ROWS))) == rows for member in rest)
    sample = {tuple(sorted(row.items(), key=lambda each: each[0])) for row in first.rows}
    return all(
        {tuple(sorted(row.items(), key=lambda each: each[0])) for row in member.rows} == sample
        for member in rest
    )
