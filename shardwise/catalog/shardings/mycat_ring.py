"""Mycat's own ring (PartitionByMurmurHash): which node a key is on, not which slot a map gives to a node."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import mmh3

from shardwise.catalog.shardings.base import OneColumn
from shardwise.catalog.shardings.values import Value, key_text
from shardwise.errors import CatalogError


@dataclass(frozen=True, slots=True)
class MycatRing(OneColumn):
    """HASH(mycat_murmur, seed = '0', points = '160') SLOTS n: slot i is Mycat's node i. NULL is on slot 0.

    Guava's murmur3_32 over UTF-16 units, signed. The points of node i are the hashes of a text that grows
    from point to point: "SHARD-i-NODE-0", then "SHARD-i-NODE-0-NODE-1". A key belongs to the node of the
    first point at or after its hash, wrapping round. Of nodes whose points collide the last has it.
    """

    algorithm: ClassVar[str] = "mycat_murmur"
    size: int
    options: tuple[tuple[str, str], ...] = ()
    _seed: int = field(init=False, repr=False, compare=False)
    _at: tuple[int, ...] = field(init=False, repr=False, compare=False)
    _nodes: tuple[int, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.size < 1:
            raise CatalogError("HASH(mycat_murmur) needs at least one slot")
        seed, points = _read(dict(self.options))
        object.__setattr__(self, "_seed", seed)
        owners: dict[int, int] = {}
        for node in range(self.size):
            name = f"SHARD-{node}"
            for point in range(points):
                name += f"-NODE-{point}"
                owners[self._hash(name)] = node
        ordered = sorted(owners)
        object.__setattr__(self, "_at", tuple(ordered))
        object.__setattr__(self, "_nodes", tuple(owners[point] for point in ordered))

    def _hash(self, text: str) -> int:
        return mmh3.hash(text.encode("utf-16-le", "surrogatepass"), self._seed)

    def _place(self, value: Value) -> int | None:
        if value is None:
            return 0
        index = bisect_left(self._at, self._hash(key_text(value)))
        return self._nodes[index if index < len(self._at) else 0]


def _read(options: Mapping[str, str]) -> tuple[int, int]:
    """Seed and points per node."""
    unknown = options.keys() - {"seed", "points"}
    if unknown:
        raise CatalogError(
            f"HASH(mycat_murmur) has no option {min(unknown)!r}", hint="Its options are: points, seed"
        )
    try:
        seed, points = int(options.get("seed", "0")), int(options.get("points", "160"))
    except ValueError:
        raise CatalogError("an option of HASH(mycat_murmur) is not a whole number") from None
    if not 0 <= seed < 1 << 32 or points < 1:
        raise CatalogError("the seed or the points of HASH(mycat_murmur) are out of range")
    return seed, points
