"""MOD, RANGE, LIST and INTERVAL: slots by arithmetic and by comparison."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, timedelta
from itertools import pairwise
from typing import Any

from shardwise.catalog.shardings.base import MAXVALUE, Between, Maximum, OneColumn, SlotSet, full, mask
from shardwise.catalog.shardings.values import (
    Kind,
    Label,
    Value,
    alike,
    comparable,
    instant,
    kind,
    sql_literal,
    whole,
)
from shardwise.errors import CatalogError, DataError


@dataclass(frozen=True, slots=True)
class Mod(OneColumn):
    """MOD n: the mathematical remainder (−7 MOD 3 is 2) of whole numbers. NULL is on slot 0."""

    size: int

    def __post_init__(self) -> None:
        if self.size < 1:
            raise CatalogError("MOD needs at least one slot")

    def _place(self, value: Value) -> int | None:
        if type(value) is int:
            return value % self.size
        if value is None:
            return 0
        number = whole(value)
        if number is None:
            raise DataError(
                "MOD takes whole numbers, and this key is none",
                hint="Apply it to an integer column or expression, or use a HASH that takes text",
            )
        return number % self.size

    def sql(self, dialect: str) -> str | None:
        """Right for whole numbers."""
        slot = f"coalesce(({{0}} % {self.size} + {self.size}) % {self.size}, 0)"
        if dialect in ("mysql", "postgres"):
            return slot
        return f"CAST({slot} AS BIGINT)" if dialect == "duckdb" else None


@dataclass(frozen=True, slots=True)
class Range(OneColumn):
    """RANGE: slot i holds the keys below bounds[i] and not below bounds[i-1].

    Text compares by its UTF-8 bytes, dates as timestamps (TIMESTAMPTZ bounds without offset are UTC),
    NaN is above every number. NULL is on slot 0, as in MySQL. Without MAXVALUE keys at or above the
    last bound have no slot.
    """

    bounds: tuple[Value | Maximum, ...]
    _finite: dict[Kind, list[Any]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_finite", {})
        if not self.bounds or any(bound is MAXVALUE or bound is None for bound in self.bounds[:-1]):
            raise CatalogError("RANGE needs bounds, and only the last of them may be MAXVALUE")
        finite = [comparable(bound) for bound in self.bounds if not isinstance(bound, Maximum)]
        try:
            rises = all(low < high for low, high in pairwise(finite))
        except TypeError:
            raise CatalogError("the bounds of a RANGE are of different types") from None
        if not rises:
            raise CatalogError("the bounds of a RANGE must rise from partition to partition")

    @property
    def size(self) -> int:
        return len(self.bounds)

    @property
    def is_ordered(self) -> bool:
        return True

    def _like(self, key: Value) -> list[Any]:
        """The finite bounds in a form that compares with this key."""
        wanted = kind(key)
        found = self._finite.get(wanted)
        if found is None:
            found = [alike(bound, wanted) for bound in self.bounds if not isinstance(bound, Maximum)]
            self._finite[wanted] = found
        return found

    def _place(self, value: Value) -> int | None:
        if value is None:
            return 0
        index = self._below(value)
        return index if index < self.size else None

    def _below(self, value: Value, *, is_open: bool = False) -> int:
        """How many bounds are at or below a key (`is_open`: below it). NaN is above all."""
        bounds = self._like(value)
        if isinstance(value, float) and math.isnan(value):
            return len(bounds)
        return (bisect_left if is_open else bisect_right)(bounds, comparable(value))

    def _range(self, part: Between) -> SlotSet:
        first, last = 0, self.size - 1
        if part.low is not None:
            first = self._below(part.low)
        if part.high is not None:
            last = min(last, self._below(part.high, is_open=part.high_open))
        return full(last - first + 1) << first if last >= first else 0

    def sql(self, dialect: str) -> str | None:
        """Right for every key type that compares with the bounds as written."""
        cases = ["WHEN {0} IS NULL THEN 0"]
        for slot, bound in enumerate(self.bounds):
            if isinstance(bound, Maximum):
                cases.append(f"ELSE {slot}")
                break
            literal = sql_literal(bound)
            if literal is None:
                return None
            cases.append(f"WHEN {{0}} < {literal} THEN {slot}")
        return f"CASE {' '.join(cases)} END" if dialect == "duckdb" else None


@dataclass(frozen=True, slots=True)
class ListOf(OneColumn):
    """LIST: slot i holds the keys listed in groups[i]; with `default` one more slot holds all others.

    NULL may be listed, else it is on the default's slot. A key that is nowhere has no slot.
    """

    groups: tuple[tuple[Value, ...], ...]
    default: bool = False
    _maps: dict[Kind, dict[Any, int]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_maps", {})
        listed = [comparable(value) for group in self.groups for value in group]
        if not all(self.groups) or not (listed or self.default):
            raise CatalogError("a LIST needs values for each partition that is not DEFAULT")
        if len(set(listed)) < len(listed):
            raise CatalogError("a LIST names a value twice")

    @property
    def size(self) -> int:
        return len(self.groups) + self.default

    def _like(self, key: Value) -> dict[Any, int]:
        """Value → slot, for keys of this one's kind."""
        wanted = kind(key)
        found = self._maps.get(wanted)
        if found is None:
            found = {
                alike(value, wanted): slot
                for slot, group in enumerate(self.groups)
                for value in group
                if value is not None
            }
            self._maps[wanted] = found
        return found

    def _place(self, value: Value) -> int | None:
        other = len(self.groups) if self.default else None
        if value is None:
            return next((slot for slot, group in enumerate(self.groups) if None in group), other)
        return self._like(value).get(comparable(value), other)

    def slots_only(self, values: Sequence[Value]) -> SlotSet:
        """Slots whose non-NULL keys are all among `values`."""
        given = {comparable(value) for value in values if value is not None}
        if not given:
            return 0
        example = next(value for value in values if value is not None)
        left = {slot: sum(value is not None for value in group) for slot, group in enumerate(self.groups)}
        for listed, slot in self._like(example).items():
            left[slot] -= listed in given
        return mask(slot for slot, count in left.items() if not count)

    def sql(self, dialect: str) -> str | None:
        """Right for every key type that compares with the values as written."""
        cases, null_slot = [], self._place(None)
        for slot, group in enumerate(self.groups):
            literals = [sql_literal(value) for value in group if value is not None]
            if None in literals:
                return None
            if literals:
                cases.append(f"WHEN {{0}} IN ({', '.join(map(str, literals))}) THEN {slot}")
        if null_slot is not None:
            cases.append(f"WHEN {{0}} IS NULL THEN {null_slot}")
        if self.default:
            cases.append(f"ELSE {len(self.groups)}")
        return f"CASE {' '.join(cases)} END" if dialect == "duckdb" else None


@dataclass(frozen=True, slots=True)
class Interval(OneColumn):
    """INTERVAL DAY, MONTH or YEAR: a slot per unit of the calendar, from the one that holds `first`
    to the one that holds `last`, both included (without them: the years 1 to 9999).

    Keys are DATE or TIMESTAMP, or TIMESTAMPTZ, which is read in UTC. NULL is on slot 0; other keys outside
    have no slot.
    """

    unit: str
    first: date = date.min
    last: date = date.max

    def __post_init__(self) -> None:
        if self.unit not in ("DAY", "MONTH", "YEAR"):
            raise CatalogError(f"INTERVAL {self.unit} is not known", hint="It is DAY, MONTH or YEAR")
        if self.first > self.last:
            raise CatalogError("an INTERVAL ends before it starts")

    @property
    def size(self) -> int:
        return self._count(self.last) - self._count(self.first) + 1

    @property
    def is_ordered(self) -> bool:
        return True

    def _count(self, day: date) -> int:
        """Units since a fixed one."""
        if self.unit == "DAY":
            return day.toordinal()
        return day.year * 12 + day.month - 1 if self.unit == "MONTH" else day.year

    def _offset(self, value: Value) -> int:
        """The slot of a moment, or a number below or above all slots."""
        if not isinstance(value, date):
            raise DataError("INTERVAL takes dates and timestamps, and this key is none")
        moment = instant(value)
        if moment.tzinfo is not None:
            moment = moment.astimezone(UTC)
        return self._count(moment) - self._count(self.first)

    def _place(self, value: Value) -> int | None:
        if value is None:
            return 0
        offset = self._offset(value)
        return offset if 0 <= offset < self.size else None

    def _range(self, part: Between) -> SlotSet:
        first, last = 0, self.size - 1
        if part.low is not None:
            first = max(first, self._offset(part.low))
        if part.high is not None:
            high = part.high
            if part.high_open and isinstance(high, date) and high.timetuple()[:6] != (1, 1, 1, 0, 0, 0):
                high = instant(high) - timedelta(microseconds=1)
            last = min(last, self._offset(high))
        return full(last - first + 1) << first if last >= first else 0

    def labels(self, slot: int) -> tuple[Label, ...]:
        """The first day of the slot's unit."""
        number = self._count(self.first) + slot
        if self.unit == "DAY":
            return (date.fromordinal(number),)
        return (date(number // 12, number % 12 + 1, 1) if self.unit == "MONTH" else date(number, 1, 1),)

    def sql(self, dialect: str) -> str | None:
        """Right for DATE and TIMESTAMP."""
        if dialect != "duckdb":
            return None
        offset = f"datediff('{self.unit.lower()}', DATE '{self.first}', CAST({{0}} AS DATE))"
        inside = f"WHEN {offset} BETWEEN 0 AND {self.size - 1} THEN {offset}"
        return f"CASE WHEN {{0}} IS NULL THEN 0 {inside} END"


def mod(slots: int) -> Mod:
    """MOD n."""
    return Mod(slots)


def range_(bounds: Sequence[Value | Maximum]) -> Range:
    """RANGE (… LESS THAN bounds[0], … LESS THAN bounds[1], …), slot i the i-th partition."""
    return Range(tuple(bounds))


def list_(groups: Sequence[Sequence[Value]], default: bool = False) -> ListOf:
    """LIST (… IN (groups[0]), …), slot i the i-th group; DEFAULT is the slot after the last."""
    return ListOf(tuple(tuple(group) for group in groups), default)


def interval(unit: str, first: date | None = None, last: date | None = None) -> Interval:
    """INTERVAL unit [FROM first] [TO last], both ends included."""
    return Interval(unit.upper(), first or date.min, last or date.max)
