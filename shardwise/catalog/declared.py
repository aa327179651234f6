"""What is declared, before anything is looked up in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Protocol, TypeVar

from shardwise.caching import cached_property
from shardwise.catalog.hints import did_you_mean
from shardwise.catalog.items import Item
from shardwise.catalog.sources import Options, Shard, ShardFamily, Source, SourceFamily
from shardwise.errors import Reason, UnknownName

_T = TypeVar("_T")


class _Named(Protocol):
    @property
    def name(self) -> str: ...


_N = TypeVar("_N", bound=_Named)


@dataclass(frozen=True, kw_only=True, eq=False)
class Declared:
    """The declarations, and when two catalogs declare the same.

    `items` are the declarations in the order written, which is the order of shards where one
    matters (locks are taken in it); what refers to what need not follow it. `version` counts
    changes and is no part of equality.

    Not slotted, here and in what is made of it: what is looked up is kept in the object.
    """

    name: str = "shardwise"
    dialect: str = "duckdb"
    options: Mapping[str, str] = field(default_factory=Options)
    items: tuple[Item, ...] = ()
    version: int = 1

    def __eq__(self, other: object) -> bool:
        return self._identity == other._identity if isinstance(other, Declared) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._identity)

    def _of(self, kind: type[_T]) -> tuple[_T, ...]:
        return tuple(item for item in self.items if isinstance(item, kind))

    @cached_property
    def _identity(self) -> tuple[object, ...]:
        placed = (Source, SourceFamily, Shard, ShardFamily)  # their order is the order of shards
        ordered = tuple(item for item in self.items if isinstance(item, placed))
        others = frozenset(item for item in self.items if not isinstance(item, placed))
        return (self.name, self.dialect, self.options, ordered, others)


def existing(item: _N | None, kind: str, name: str, known: Iterable[_N]) -> _N:
    if item is not None:
        return item
    names = [each.name for each in islice(known, 2000)]
    raise UnknownName(f'there is no {kind} "{name}"', reason=Reason.CATALOG, hint=did_you_mean(name, names))
