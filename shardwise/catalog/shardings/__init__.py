"""Shardings: from a key to a slot, and from what is known of a key to the slots it may be on.

Every function is a frozen dataclass, made by the factory of its name. What each hashes, how a hash
becomes a slot and where NULL, negative numbers and the like go is in docs/shardings.md, with vectors.
"""

from __future__ import annotations

from shardwise.catalog.shardings.base import (
    MAXVALUE,
    UNKNOWN,
    Between,
    Maximum,
    OneColumn,
    Part,
    ShardingFunction,
    SlotSet,
    Unknown,
    full,
    mask,
    members,
)
from shardwise.catalog.shardings.combined import (
    Directory,
    Exceptions,
    Grid,
    directory,
    exceptions,
    two_level,
)
from shardwise.catalog.shardings.hashing import HASHES, Hash, hash_function
from shardwise.catalog.shardings.mycat_ring import MycatRing
from shardwise.catalog.shardings.partitions import (
    Interval,
    ListOf,
    Mod,
    Range,
    interval,
    list_,
    mod,
    range_,
)
from shardwise.catalog.shardings.rings import Ring, ring
from shardwise.catalog.shardings.values import (
    KEY_FAMILIES,
    Label,
    Value,
    canonical,
    key_bytes,
    key_text,
    reads_back,
)

__all__ = [
    "HASHES",
    "KEY_FAMILIES",
    "MAXVALUE",
    "UNKNOWN",
    "Between",
    "Directory",
    "Exceptions",
    "Grid",
    "Hash",
    "Interval",
    "Label",
    "ListOf",
    "Maximum",
    "Mod",
    "MycatRing",
    "OneColumn",
    "Part",
    "Range",
    "Ring",
    "ShardingFunction",
    "SlotSet",
    "Unknown",
    "Value",
    "canonical",
    "directory",
    "exceptions",
    "full",
    "hash_function",
    "interval",
    "key_bytes",
    "key_text",
    "list_",
    "mask",
    "members",
    "mod",
    "range_",
    "reads_back",
    "ring",
    "two_level",
]
