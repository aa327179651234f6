"""What a catalog is made of: the kinds of declarations and what identifies one."""

from __future__ import annotations

from shardwise.catalog.places import Sharding
from shardwise.catalog.sources import Shard, ShardFamily, Source, SourceFamily
from shardwise.catalog.statistics import TableStatistics
from shardwise.catalog.tables import IndexState, JoinIndex, LockedTable, LookupIndex, Sequence, Table, View

Item = (
    Source
    | SourceFamily
    | Shard
    | ShardFamily
    | Sharding
    | Table
    | LockedTable
    | TableStatistics
    | View
    | LookupIndex
    | JoinIndex
    | IndexState
    | Sequence
)
ItemKey = tuple[str, str, str]

_KINDS: dict[type, str] = {
    Source: "source",
    SourceFamily: "source",
    Shard: "shard",
    ShardFamily: "shard",
    Sharding: "sharding",
    Table: "table",
    LockedTable: "lock",
    TableStatistics: "statistics",
    View: "table",
    LookupIndex: "index",
    JoinIndex: "index",
    IndexState: "state",
    Sequence: "sequence",
}


def item_key(item: Item) -> ItemKey:
    """What no two declarations of a catalog share: kind, schema and name, letter case aside.

    Tables and views are of one kind, and so are a source and a family of sources.
    """
    schema = getattr(item, "schema", None) or ""
    return (_KINDS[type(item)], schema.casefold(), item.name.casefold())


def is_locked(item: Item) -> bool:
    """Whether it was read off the sources, or says what was made on them: it is kept in the lock file."""
    return isinstance(item, LockedTable | TableStatistics | IndexState)


def kind_of(item: Item) -> str:
    """What messages call it."""
    return "view" if isinstance(item, View) else _KINDS[type(item)]
