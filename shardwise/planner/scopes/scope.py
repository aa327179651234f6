"""The scope of a connection: the values of shard keys, and the shards, that its statements see.

A key of a scope is known by the name of a shard key column, of a DIRECTORY's variable (`AS tenant`), or of
the sharding itself. It holds for *every table of that sharding*: customers (id) and orders (customer_id)
share one, so that `customer_id = 5` leaves of customers the row 5.

`scope_names.scope_of` makes one, checked against the catalog; `coverage` says what it means for one table;
`bind.scoping` turns that into nodes, where the scans are made.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from shardwise.planner.scopes.values import Value

SHARD: Final = "shard"
"""The name that stands for shards instead of a key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeKey:
    """`name` is one of `values`; `places` are the shardings it speaks of, and the column of their key."""

    name: str
    values: tuple[Value, ...]
    places: tuple[tuple[str, int], ...]

    def index_in(self, sharding: str) -> int | None:
        """Which column of the sharding's key it is, or None."""
        return next((index for name, index in self.places if name == sharding), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """What a connection sees. Hashable; made by `scope_of`, which checks it against the catalog.

    A pinned scope refuses tables that it does not cover, but for those of `also_read` (full names, folded).
    """

    keys: tuple[ScopeKey, ...] = ()
    shards: tuple[str, ...] | None = None
    is_pinned: bool = False
    also_read: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.keys) or self.shards is not None

    @property
    def shape(self) -> tuple[object, ...]:
        """What tells it from others, 1 from TRUE too."""
        return (self, tuple(tuple(map(type, key.values)) for key in self.keys))

    @property
    def form(self) -> tuple[object, ...]:
        """The same but for its keys' values, of which their types are told."""
        keys = tuple([(key.name, key.places, tuple(map(type, key.values))) for key in self.keys])
        return (self.is_pinned, self.shards, self.also_read, keys)

    def keys_of(self, sharding: str) -> Iterator[tuple[ScopeKey, int]]:
        """The keys that speak of a sharding, each with its column of the sharding's key."""
        for key in self.keys:
            index = key.index_in(sharding)
            if index is not None:
                yield key, index


EVERYTHING: Final = Scope()
