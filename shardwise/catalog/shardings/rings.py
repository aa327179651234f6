"""RING: consistent hashing."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field

from shardwise.catalog.shardings.algorithms import ALGORITHMS
from shardwise.catalog.shardings.base import OneColumn
from shardwise.catalog.shardings.hashing import Hash
from shardwise.catalog.shardings.values import Value
from shardwise.errors import CatalogError


@dataclass(frozen=True, slots=True)
class Ring(OneColumn):
    """RING(algorithm) POINTS p: consistent hashing over 0 … 2³²−1; slot i is the i-th member.

    Member m has p points, the hashes of the texts "m-0" … "m-(p-1)". A key belongs to the member of
    the first point at or after its hash, wrapping round. Hashes wider than 32 bits give their top 32.
    Of members whose points collide the one named first has it. NULL is on slot 0.
    """

    algorithm: str
    points: int
    members: tuple[str, ...]
    _hash: Hash = field(init=False, repr=False, compare=False)
    _at: tuple[int, ...] = field(init=False, repr=False, compare=False)
    _slots: tuple[int, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.points < 1 or not self.members or len(set(self.members)) < len(self.members):
            raise CatalogError("a RING needs members of different names, and at least one point for each")
        if self.algorithm in _OF_NUMBERS:
            raise CatalogError(
                f"RING({self.algorithm}): a ring's points are text, which this hash does not take"
            )
        object.__setattr__(self, "_hash", Hash(self.algorithm, 1))
        owners: dict[int, int] = {}
        for slot, member in enumerate(self.members):
            for point in range(self.points):
                owners.setdefault(self._point(f"{member}-{point}"), slot)
        ordered = sorted(owners)
        object.__setattr__(self, "_at", tuple(ordered))
        object.__setattr__(self, "_slots", tuple(owners[point] for point in ordered))

    def _point(self, value: Value) -> int:
        width = ALGORITHMS[self.algorithm].widths[0]
        return self._hash.hash(value) >> (width - 32)

    @property
    def size(self) -> int:
        return len(self.members)

    def _place(self, value: Value) -> int | None:
        if value is None:
            return 0
        index = bisect_left(self._at, self._point(value))
        return self._slots[index if index < len(self._at) else 0]


_OF_NUMBERS = frozenset(
    {"java_long", "cobar_long", "number", "vitess_hash", "vitess_numeric", "vitess_reverse_bits"}
)


def ring(algorithm: str, points: int, members: Sequence[str]) -> Ring:
    """RING(algorithm) POINTS p (member, …)."""
    return Ring(algorithm.lower(), points, tuple(members))
