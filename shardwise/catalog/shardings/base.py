"""What a sharding function is, and sets of slots.

A slot set is a Python int used as a bit mask: bit n is slot n. Union is `|`, intersection `&`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Protocol, runtime_checkable

from shardwise.catalog.shardings.values import Label, Value
from shardwise.errors import DataError

SlotSet = int


class Unknown:
    """A key column of which nothing is known."""

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN: Final = Unknown()


class Maximum:
    """The bound above every key, NaN included: RANGE's MAXVALUE."""

    def __repr__(self) -> str:
        return "MAXVALUE"

    def __reduce__(self) -> str:
        return "MAXVALUE"  # one object, also after a copy or a pickle


MAXVALUE: Final = Maximum()


@dataclass(frozen=True, slots=True)
class Between:
    """A key column known to be in a range and not NULL; None: no bound on that side.

    The low end is always taken as inside, which may only widen.
    """

    low: Value = None
    high: Value = None
    high_open: bool = False


Part = Value | Unknown | Between


@runtime_checkable
class ShardingFunction(Protocol):
    """Key → slot. Frozen, hashable, comparable; two equal functions place equal keys alike.

    Keys are canonical values (`canonical`). A key that has no slot (a LIST without it, a date outside
    an INTERVAL's bounds) raises DataError in `slot` and has the empty set in `slots`.
    """

    @property
    def arity(self) -> int:
        """How many key columns it takes."""

    @property
    def size(self) -> int:
        """How many slots there are: 0 … size-1."""

    @property
    def is_ordered(self) -> bool:
        """Whether ranges of a key column prune (RANGE, INTERVAL, a grid with one of them)."""

    def slot(self, key: Sequence[Value]) -> int:
        """The slot of a whole key; NULL (None) has one too."""

    def slots(self, key: Sequence[Part]) -> SlotSet:
        """The slots on which a row with this partly known key may be."""

    def slots_between(self, low: Value, high: Value) -> SlotSet:
        """The slots that may hold a key in [low, high] (None: no bound). All slots unless `is_ordered`."""

    def slots_only(self, values: Sequence[Value]) -> SlotSet:
        """The slots that hold no other non-NULL key than `values`, so that NOT IN may skip them (LIST)."""

    def labels(self, slot: int) -> tuple[Label, ...]:
        """What a name template sees of a slot, one per level: its number, or the date its interval starts."""

    def sql(self, dialect: str) -> str | None:
        """The slot as an expression over key columns {0}, {1}, …, or None where the dialect cannot say it."""


def full(size: int) -> SlotSet:
    """All of `size` slots."""
    return (1 << size) - 1


def mask(slots: Iterable[int]) -> SlotSet:
    """The set of these slots, in time linear in their number and the highest of them."""
    found = set(slots)
    if len(found) < 64:
        small = 0
        for slot in found:
            small |= 1 << slot
        return small
    bits = bytearray(max(found) // 8 + 1)
    for slot in found:
        bits[slot >> 3] |= 1 << (slot & 7)
    return int.from_bytes(bits, "little")


def members(slots: SlotSet) -> Iterator[int]:
    """The slots of a set, ascending, in time linear in the highest of them."""
    data = slots.to_bytes((slots.bit_length() + 7) // 8, "little")
    for index, byte in enumerate(data):
        rest = byte
        while rest:
            lowest = rest & -rest
            yield index * 8 + lowest.bit_length() - 1
            rest ^= lowest


class OneColumn:
    """What functions of one key column have in common: they say where one value is placed."""

    __slots__ = ()

    @property
    def arity(self) -> int:
        """One."""
        return 1

    @property
    def size(self) -> int:
        """How many slots there are."""
        raise NotImplementedError

    @property
    def is_ordered(self) -> bool:
        """False unless a subclass narrows ranges."""
        return False

    def _place(self, value: Value) -> int | None:
        """The slot of a value, None if it has none."""
        raise NotImplementedError

    def _range(self, part: Between) -> SlotSet:
        """The slots of a range."""
        return full(self.size)

    def slot(self, key: Sequence[Value]) -> int:
        """The slot of a whole key; DataError if it has none."""
        found = self._place(key[0])
        if found is None:
            raise DataError(
                "the sharding has no slot for this key",
                hint="Add a partition for it (LIST: DEFAULT; RANGE: LESS THAN MAXVALUE; INTERVAL: FROM, TO)",
            )
        return found

    def slots(self, key: Sequence[Part]) -> SlotSet:
        """The slots on which a row with this key may be."""
        part = key[0]
        if isinstance(part, Unknown):
            return full(self.size)
        if isinstance(part, Between):
            return self._range(part)
        found = self._place(part)
        return 0 if found is None else 1 << found

    def slots_between(self, low: Value, high: Value) -> SlotSet:
        """The slots that may hold a key in [low, high]."""
        return self._range(Between(low, high))

    def slots_only(self, values: Sequence[Value]) -> SlotSet:
        """None, unless a subclass knows better."""
        return 0

    def labels(self, slot: int) -> tuple[Label, ...]:
        """The slot's number."""
        return (slot,)

    def sql(self, dialect: str) -> str | None:
        """None: the dialect cannot say it."""
        return None
