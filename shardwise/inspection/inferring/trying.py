"""Does a function of a key say in which member a row is? Tried on the sample, and completed to all slots.

A fit is exact: one key elsewhere, and it is none. How sure it is follows from how unlikely it is by chance: N
members and K keys that fit a rule of few numbers fit by chance once in N to the power of K.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import lcm, log2

from shardwise.catalog.shardings import ShardingFunction, Value
from shardwise.catalog.templates import Template
from shardwise.errors import DataError
from shardwise.inspection.inferring.candidates import Function, Key, Samples
from shardwise.inspection.layouts.fitting import template_of

SURE_BITS = 30
_SLOTS_MAX = 1024


@dataclass(frozen=True)
class Target:
    """What is to be told of a row: by member the number of its target, and each target's names."""

    of_member: tuple[int, ...]
    names: tuple[tuple[str, ...], ...]
    sizes: tuple[int, ...]

    @property
    def count(self) -> int:
        return len(self.names)


@dataclass(frozen=True)
class Fit:
    """A key, a function, the target of each of its slots, and how many different keys were looked at."""

    key: Key
    function: ShardingFunction
    targets: tuple[int, ...]
    keys: int
    guessed: int = 0

    @property
    def rule(self) -> tuple[ShardingFunction, tuple[int, ...]]:
        return self.function, self.targets


def target_of(names: Sequence[tuple[str, ...]], sizes: Sequence[int]) -> Target:
    """The target of members with these names; those of one name are one."""
    numbers: dict[tuple[str, ...], int] = {}
    of_member = tuple(numbers.setdefault(name, len(numbers)) for name in names)
    count = len(numbers)
    more = {size for size in (*sizes, count) if size > 0}
    for base in tuple(more):
        more |= {base << shift for shift in range(1, 11) if base << shift <= _SLOTS_MAX}
    return Target(of_member, tuple(numbers), tuple(sorted(more | {256, 1024})))


def fit(key: Key, function: Function, target: Target) -> Fit | None:
    """The fit with the fewest slots; None if there is none that is sure."""
    if target.count < 2 or len(key.of_column) * log2(target.count) < SURE_BITS:
        return None
    sizes = function.sizes or _sizes(function, target)
    sizes = tuple(size for size, slots in _observed(key.few, function, sizes, target) if slots is not None)
    for size, slots in _observed(key.samples, function, sizes, target):
        if slots is None:
            continue
        made = function.of_size(size)
        completed = _completed(made, slots, target, takes_runs=key.is_plain)
        if completed is not None and _is_sure(len(key.samples), slots, completed, target):
            targets, guessed, _ = completed
            return Fit(key, made, targets, len(key.samples), guessed)
    return None


def share(key: Key, function: Function, target: Target) -> float:
    """The share of the keys that are where most of their slot are, with a slot per target."""
    if target.count < 2 or len(key.samples) * log2(target.count) < SURE_BITS:
        return 0.0
    made = function.of_size(function.sizes[0] if function.sizes else target.count)
    counts: dict[int, dict[int, int]] = {}
    for at, value in key.samples:
        slot = _slot(made, value)
        if slot is None:
            return 0.0
        own = counts.setdefault(slot, {})
        own[target.of_member[at]] = own.get(target.of_member[at], 0) + 1
    if len(counts) > target.count * 2:
        return 0.0
    return sum(max(own.values()) for own in counts.values()) / len(key.samples)


def _observed(
    samples: Samples, function: Function, sizes: Sequence[int], target: Target
) -> Iterator[tuple[int, Mapping[int, int] | None]]:
    """By size, the target of each slot that was seen; None where a slot has two."""
    if not sizes or not samples:
        return
    if not function.is_modulo:
        for size in sizes:
            yield size, _consistent(_numbers(samples, function.of_size(size), target))
        return
    numbers = _numbers(samples, function.of_size(lcm(*sizes)), target)  # which all of them divide
    for size in sizes:
        yield size, _consistent((number % size if number >= 0 else -1, at) for number, at in numbers)


def _sizes(function: Function, target: Target) -> tuple[int, ...]:
    if function.is_modulo:
        return target.sizes
    if function.is_even:
        return (target.count,)
    return tuple(dict.fromkeys((target.count, *(size for size in target.sizes if size in (16, 256)))))


def _numbers(samples: Samples, function: ShardingFunction, target: Target) -> list[tuple[int, int]]:
    """Each key's slot (−1 if it has none) and target."""
    found = []
    for at, value in samples:
        slot = _slot(function, value)
        if slot is None:
            return [(-1, 0)]
        found.append((slot, target.of_member[at]))
    return found


def _slot(function: ShardingFunction, value: Value) -> int | None:
    try:
        return function.slot((value,))
    except DataError:
        return None


def _consistent(pairs: Iterable[tuple[int, int]]) -> Mapping[int, int] | None:
    """Slot → target, if each slot has one."""
    found: dict[int, int] = {}
    for slot, target in pairs:
        if slot < 0 or found.setdefault(slot, target) != target:
            return None
    return found


Completed = tuple[tuple[int, ...], int, int]
"""The target of each slot, how many were guessed, and of how many numbers the rule is made."""


def _completed(
    function: ShardingFunction, observed: Mapping[int, int], target: Target, *, takes_runs: bool
) -> Completed | None:
    """All slots: by a template for the names, else by runs of slots, whose edges are round numbers.

    Not by runs where the key is an expression: what RANGE says of a column, `id // 100` says in many ways.
    """
    size = function.size
    if len(set(observed.values())) < target.count:
        return None  # a member that no key leads to
    by_template = _by_template(size, observed, target)
    if by_template is not None:
        return by_template, 0, 3
    if len(observed) == size:
        targets = tuple(observed[slot] for slot in range(size))
        return targets, 0, sum(a != b for a, b in pairwise(targets)) + 1
    return _by_runs(size, observed) if takes_runs else None


def _by_template(size: int, observed: Mapping[int, int], target: Target) -> tuple[int, ...] | None:
    numbers = {name: number for number, name in enumerate(target.names)}
    parts = []
    for at in range(len(target.names[0])):
        filled = _filled(size, {slot: target.names[number][at] for slot, number in observed.items()})
        if filled is None:
            return None
        parts.append(filled)
    found = [numbers.get(names) for names in zip(*parts, strict=True)]
    return None if None in found else tuple(number for number in found if number is not None)


def _filled(size: int, names: Mapping[int, str]) -> list[str] | None:
    text = template_of(dict(sorted(names.items())), "n")
    if text is None:
        return None
    template = Template.parse(text)
    return [template.render({"n": slot}) for slot in range(size)]


def _by_runs(size: int, observed: Mapping[int, int]) -> Completed | None:
    """Slots that were not seen belong to the run they are in; between two runs the edge is a guess."""
    targets: list[int] = []
    guessed = runs = 0
    seen = sorted(observed)
    for before, after in zip([None, *seen], [*seen, None], strict=True):
        if before is None:
            targets += [observed[seen[0]]] * seen[0]
        elif after is None or observed[before] == observed[after]:
            targets += [observed[before]] * ((size if after is None else after) - before)
        else:
            edge = round_number(before + 1, after)
            targets += [observed[before]] * (edge - before) + [observed[after]] * (after - edge)
            guessed += after - before - 1
            runs += 1
    return (tuple(targets), guessed, runs + 1) if runs < len(seen) // 4 else None


def round_number(low: int, high: int) -> int:
    """The number from `low` to `high` that most powers of two, then of ten, divide."""
    if low == high:
        return low
    for step in (1 << bits for bits in range(62, -1, -1)):
        first = -(-low // step) * step
        if first <= high:
            return first
    return low


def _is_sure(keys: int, observed: Mapping[int, int], completed: Completed, target: Target) -> bool:
    """Every key beyond those that the rule was made of is a check that could have failed."""
    checks = keys - completed[2] if completed[2] < len(observed) else keys - len(observed)
    return checks * log2(target.count) >= SURE_BITS
