"""What is known of a page whose place is to be found by seeks."""

from __future__ import annotations

from dataclasses import dataclass

from shardwise.plan.nodes import Node, SortKey


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """`count` rows after `offset` of the rows that fragment `fragment` gives on `shards`.

    `source` gives them there, with the columns of `keys`: an order in which no two rows of a shard are equal,
    if it `is_total`. `filled` are those of the keys that are never NULL.
    """

    fragment: str
    shards: tuple[str, ...]
    source: Node
    keys: tuple[SortKey, ...]
    filled: tuple[bool, ...]
    offset: int
    count: int
    is_total: bool = True
