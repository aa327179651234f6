"""Where the rows of a lookup index are: a sharding of its own, over the shards of its base table.

    CREATE LOOKUP INDEX invoices_no ON invoices (no)   =>   invoices_no is sharded by a hash of no

The hash takes the first searched column whose values have one form (a number, a date, a UUID), else the
first text. Where the planner cannot tell a text's place (a collation takes 'a' and 'A' as equal) it asks all
shards of the index: the hash then spreads the rows and prunes nothing. Without a column that can be hashed
each entry stays where its base row is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from shardwise.catalog.places import Sharding
from shardwise.catalog.shardings import full, hash_function
from shardwise.catalog.tables import Column, LookupIndex, Placement, Scattered, Sharded, ShardKey
from shardwise.catalog.types import Family, type_family

SLOTS_LEAST: Final = 1024
ALGORITHM: Final = "xxhash64"
_OF_ONE_FORM: Final = frozenset(
    {Family.INT, Family.DECIMAL, Family.BOOL, Family.DATE, Family.TIMESTAMP, Family.TIMESTAMPTZ, Family.UUID}
)


def own_sharding_name(index: LookupIndex) -> str:
    """The name of its sharding, which no other may have."""
    return f"lookup index {index.name}"


def own_sharding(index: LookupIndex, shards: Sequence[str]) -> Sharding:
    """Slots by a hash of one column, in equal runs over `shards`."""
    slots = SLOTS_LEAST
    while slots < len(shards):
        slots *= 2
    ends = [n * slots // len(shards) for n in range(len(shards) + 1)]
    owners = tuple(
        (shard, full(end - start) << start)
        for shard, start, end in zip(shards, ends[:-1], ends[1:], strict=True)
    )
    return Sharding(name=own_sharding_name(index), function=hash_function(ALGORITHM, slots), owners=owners)


def placement(index: LookupIndex, searched: Sequence[Column], base: str, dialect: str) -> Placement:
    """How the index table's rows are placed; `base` is the sharding of the base table."""
    families = [(column.name, type_family(column.type, dialect)) for column in searched]
    plain = [name for name, family in families if family in _OF_ONE_FORM]
    texts = [name for name, family in families if family is Family.TEXT]
    if not plain and not texts:
        return Scattered(sharding=base)
    return Sharded(sharding=own_sharding_name(index), keys=(ShardKey.of((plain or texts)[0]),))
