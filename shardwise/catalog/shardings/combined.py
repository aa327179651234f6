"""Shardings made of others: two levels, keys with a place of their own; and DIRECTORY."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from shardwise.catalog.shardings.base import (
    Between,
    OneColumn,
    Part,
    ShardingFunction,
    SlotSet,
    Unknown,
    full,
    mask,
)
from shardwise.catalog.shardings.values import (
    Kind,
    Label,
    Value,
    alike,
    comparable,
    key_text,
    kind,
    reads_back,
    sql_literal,
)
from shardwise.catalog.types import Family
from shardwise.errors import CatalogError, NotSupportedError


@dataclass(frozen=True, slots=True)
class Grid:
    """Two levels: slot = slot of the first × size of the second + slot of the second.

    A key of which one column is known is on a row or a column of the grid.
    """

    outer: ShardingFunction
    inner: ShardingFunction

    @property
    def arity(self) -> int:
        return self.outer.arity + self.inner.arity

    @property
    def size(self) -> int:
        return self.outer.size * self.inner.size

    @property
    def is_ordered(self) -> bool:
        return self.outer.is_ordered or self.inner.is_ordered

    def slot(self, key: Sequence[Value]) -> int:
        cut = self.outer.arity
        return self.outer.slot(key[:cut]) * self.inner.size + self.inner.slot(key[cut:])

    def slots(self, key: Sequence[Part]) -> SlotSet:
        cut = self.outer.arity
        return self.cross(self.outer.slots(key[:cut]), self.inner.slots(key[cut:]))

    def slots_between(self, low: Value, high: Value) -> SlotSet:
        return full(self.size)

    def slots_only(self, values: Sequence[Value]) -> SlotSet:
        return 0

    def labels(self, slot: int) -> tuple[Label, ...]:
        row, column = divmod(slot, self.inner.size)
        return self.outer.labels(row) + self.inner.labels(column)

    def sql(self, dialect: str) -> str | None:
        outer, inner = self.outer.sql(dialect), self.inner.sql(dialect)
        if outer is None or inner is None:
            return None
        first = outer.format(*(f"{{{n}}}" for n in range(self.outer.arity)))
        second = inner.format(*(f"{{{n}}}" for n in range(self.outer.arity, self.arity)))
        return f"({first}) * {self.inner.size} + ({second})"

    def cross(self, rows: SlotSet, columns: SlotSet) -> SlotSet:
        """Each of `rows` with each of `columns`; linear in the grid's size."""
        if not rows or not columns:
            return 0
        if rows & (rows - 1) == 0:
            return columns << (rows.bit_length() - 1) * self.inner.size
        line = f"{columns:0{self.inner.size}b}"
        return int("".join(line if bit == "1" else "0" * len(line) for bit in f"{rows:b}"), 2)


@dataclass(frozen=True, slots=True)
class Exceptions(OneColumn):
    """Keys with a place of their own: keys[i] is on slot `function.size` + i, others as `function` says."""

    function: ShardingFunction
    keys: tuple[Value, ...]
    _maps: dict[Kind, dict[Any, int]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_maps", {})
        if self.function.arity != 1:
            raise CatalogError("KEY IN (…) is for shardings of one column")
        if None in self.keys or len({comparable(key) for key in self.keys}) < len(self.keys):
            raise CatalogError("KEY IN (…) names a key twice, or NULL")

    @property
    def size(self) -> int:
        return self.function.size + len(self.keys)

    @property
    def is_ordered(self) -> bool:
        return self.function.is_ordered

    def _like(self, key: Value) -> dict[Any, int]:
        wanted = kind(key)
        found = self._maps.get(wanted)
        if found is None:
            found = {
                alike(value, wanted): self.function.size + index for index, value in enumerate(self.keys)
            }
            self._maps[wanted] = found
        return found

    def _place(self, value: Value) -> int | None:
        own = self._like(value).get(comparable(value)) if value is not None else None
        return self.function.slot((value,)) if own is None else own

    def slots(self, key: Sequence[Part]) -> SlotSet:
        part = key[0]
        if isinstance(part, Unknown):
            return full(self.size)
        if isinstance(part, Between):
            return self._range(part)
        own = self._like(part).get(comparable(part)) if part is not None else None
        return self.function.slots(key) if own is None else 1 << own

    def _range(self, part: Between) -> SlotSet:
        """By the function, and every key's own place: there are few of them."""
        return self.function.slots((part,)) | full(len(self.keys)) << self.function.size

    def slots_only(self, values: Sequence[Value]) -> SlotSet:
        return self.function.slots_only(values)

    def labels(self, slot: int) -> tuple[Label, ...]:
        """An excepted key's labels are those its slot by `function` has: only the shard is another."""
        own = slot - self.function.size
        if own < 0:
            return self.function.labels(slot)
        key = self.keys[own]
        return self.function.labels(self.function.slot((key,)))

    def sql(self, dialect: str) -> str | None:
        rest, literals = self.function.sql(dialect), [sql_literal(key) for key in self.keys]
        if rest is None or None in literals:
            return None
        cases = [f"WHEN {{0}} = {text} THEN {self.function.size + n}" for n, text in enumerate(literals)]
        return f"CASE {' '.join(cases)} ELSE {rest} END" if cases else rest


@dataclass(frozen=True, slots=True)
class Directory(OneColumn):
    """DIRECTORY: each value is its own slot, and the sources say which there are.

    `members` are the key texts (`key_text`) of those that are known, slot i the i-th: all that a listing
    found, or those that a statement names. None while nobody has said: then a key cannot be placed.
    A NULL may be on any slot, for no member is called so.
    """

    members: tuple[str, ...] | None = None
    _slots: dict[str, int] = field(init=False, repr=False, compare=False)
    _maps: dict[Kind, tuple[Any, ...]] = field(init=False, repr=False, compare=False)
    _misfits: dict[Family, str | None] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_misfits", {})
        object.__setattr__(self, "_slots", {text: slot for slot, text in enumerate(self.members or ())})
        object.__setattr__(self, "_maps", {})

    @property
    def size(self) -> int:
        """How many members are known."""
        return len(self.members or ())

    @property
    def is_ordered(self) -> bool:
        """A range leaves the members in it."""
        return True

    def _place(self, value: Value) -> int | None:
        self._listed()
        if value is None:
            return None
        return self._slots.get(key_text(value))

    def slots(self, key: Sequence[Part]) -> SlotSet:
        if key[0] is None:
            self._listed()
            return full(self.size)
        return OneColumn.slots(self, key)

    def _range(self, part: Between) -> SlotSet:
        end = part.low if part.low is not None else part.high
        if end is None:
            return full(self.size)
        wanted = kind(end)
        low, high = (None if bound is None else comparable(bound) for bound in (part.low, part.high))
        return mask(
            slot
            for slot, value in enumerate(self._like(wanted))
            if (low is None or low <= value)
            and (high is None or value < high or (value == high and not part.high_open))
        )

    def _like(self, wanted: Kind) -> tuple[Any, ...]:
        """The members as they compare with keys of a kind."""
        found = self._maps.get(wanted)
        if found is None:
            found = self._maps[wanted] = tuple(alike(text, wanted) for text in self._listed())
        return found

    def slots_only(self, values: Sequence[Value]) -> SlotSet:
        """Each member's own slot holds nothing but it."""
        found = (self._slots.get(key_text(value)) for value in values if value is not None)
        return mask(slot for slot in found if slot is not None)

    def labels(self, slot: int) -> tuple[Label, ...]:
        """The member's text."""
        return (self._listed()[slot],)

    def misfit(self, family: Family) -> str | None:
        """The first member that is the text of no key of a family ("07" of no number); None if all are."""
        if family not in self._misfits:
            wrong = (text for text in self.members or () if not reads_back(text, family))
            self._misfits[family] = next(wrong, None)
        return self._misfits[family]

    def _listed(self) -> tuple[str, ...]:
        if self.members is None:
            raise NotSupportedError(
                "the members of a DIRECTORY are not listed",
                hint="They are read off its source or files, which this operation cannot do",
            )
        return self.members


def two_level(outer: ShardingFunction, inner: ShardingFunction) -> Grid:
    """USING outer, inner: one key column (or more) for each."""
    return Grid(outer, inner)


def exceptions(function: ShardingFunction, placed: Sequence[Value]) -> Exceptions:
    """EXCEPT (shard = KEY IN (placed…)): slot `function.size` + i is the i-th key's own."""
    return Exceptions(function, tuple(placed))


def directory(members: Sequence[str] | None = None) -> Directory:
    """DIRECTORY, with the members that are known."""
    return Directory(None if members is None else tuple(members))
