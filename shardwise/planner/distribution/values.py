"""What may be said of where a node's rows are, and how sets of shards meet.

    Copied(S)       the same bag of rows on each shard of S (None: anywhere; nothing of it is on a shard)
    Split(S, keys)  each row on exactly one shard of S; S of one shard is "all rows are there"
    At(f, columns)  all rows on the shard that `f` gives for these columns of an outer row
    Merged          in the merge, and whatever the rules do not name

A key is a tuple of output columns that a sharding was applied to. `full`: every row, those with
NULL too, is where the sharding puts its key. `loose`: rows without NULL in it are, the rest anywhere.
`orphaned`: as loose, and rows whose key names no row of the parent table may be anywhere as well.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from shardwise.plan.nodes import ColumnId

Shards = tuple[str, ...]
Strength = Literal["full", "loose", "orphaned"]


@dataclass(frozen=True, slots=True)
class Key:
    """`columns` (or, after a full join, pairs that COALESCE makes one) that `function` was applied to."""

    function: str
    columns: tuple[ColumnId, ...]
    strength: Strength = "full"

    def loosened(self) -> Key:
        return replace(self, strength="loose") if self.strength == "full" else self


@dataclass(frozen=True, slots=True)
class Copied:
    shards: Shards | None


@dataclass(frozen=True, slots=True)
class Split:
    shards: Shards
    keys: tuple[Key, ...] = ()

    @property
    def is_one(self) -> bool:
        return len(self.shards) == 1


@dataclass(frozen=True, slots=True)
class At:
    function: str
    columns: tuple[ColumnId, ...]
    shards: Shards
    orphaned: bool = False


@dataclass(frozen=True, slots=True)
class Merged:
    pass


MERGED = Merged()
ANYWHERE = Copied(None)
Distribution = Copied | Split | At | Merged


def covers(copies: Shards | None, shards: Shards) -> bool:
    """Whether every shard has a copy."""
    return copies is None or shards == copies or set(shards) <= set(copies)


def common_shards(one: Shards, other: Shards) -> Shards:
    """In the order of the first; there may be thousands."""
    if one == other:
        return one
    others = frozenset(other)
    return tuple(s for s in one if s in others)


def meet(one: Shards | None, other: Shards | None) -> Shards | None:
    if one is None or other is None:
        return other if one is None else one
    return common_shards(one, other)


def common_shard(parts: list[Distribution]) -> str | None:
    """The first shard that has all of every part, if at least one part is only there."""
    if not any(isinstance(p, Split) for p in parts):
        return None
    common: Shards | None = None
    for part in parts:
        if isinstance(part, Copied) or (isinstance(part, Split) and part.is_one):
            here = part.shards
        else:
            return None
        if here is not None:
            common = here if common is None else common_shards(common, here)
    return common[0] if common else None
