"""Where the values of a list are: which of them a shard may have."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from shardwise.catalog.model import Sharding
from shardwise.catalog.shardings import SlotSet


@dataclass(frozen=True, slots=True)
class Places:
    """`by_slots` has the numbers of the values that may be on each set of slots; none of those that are on
    none."""

    sharding: Sharding
    by_slots: Mapping[SlotSet, Sequence[int]]

    @classmethod
    def of(cls, sharding: Sharding, slots_of_each: Iterable[SlotSet]) -> Places:
        """`slots_of_each`: of each value, in the list's order."""
        by_slots: dict[SlotSet, list[int]] = {}
        for number, slots in enumerate(slots_of_each):
            if slots:
                by_slots.setdefault(slots, []).append(number)
        return cls(sharding, by_slots)

    def slots(self) -> SlotSet:
        """All that may hold one of the values."""
        found = 0
        for slots in self.by_slots:
            found |= slots
        return found

    def on(self, shard: str) -> Iterator[int]:
        """The numbers of the values that may be on the shard."""
        here = self.sharding.slots_of(shard)
        for slots, numbers in self.by_slots.items():
            if slots & here:
                yield from numbers


@dataclass(frozen=True, slots=True)
class PlacedRows:
    """Rows that are sent to the shards of the scan `rel`, each to those where it may meet another row."""

    rel: str
    places: Places
