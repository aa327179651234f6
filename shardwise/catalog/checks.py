"""What must hold in a catalog, checked whenever one is made.

Each check names the declaration at fault, what is wrong, and what to do; where the catalog came
from a text the error has file, line and column.
"""

from __future__ import annotations

from collections.abc import Callable

from shardwise.catalog.checker import Checker, Where
from shardwise.catalog.items import Item
from shardwise.catalog.place_checks import (
    check_names,
    check_shard,
    check_shard_family,
    check_source,
    check_source_family,
)
from shardwise.catalog.places import Sharding
from shardwise.catalog.sharding_checks import check_copies, check_sharding
from shardwise.catalog.sources import Shard, ShardFamily, Source, SourceFamily
from shardwise.catalog.statistics import TableStatistics
from shardwise.catalog.statistics_checks import check_statistics
from shardwise.catalog.table_checks import (
    check_join,
    check_lock,
    check_lookup,
    check_physical_names,
    check_sequence,
    check_table,
    check_view,
)
from shardwise.catalog.table_lookups import TableLookups
from shardwise.catalog.tables import JoinIndex, LockedTable, LookupIndex, Sequence, Table, View
from shardwise.catalog.types import DIALECTS
from shardwise.errors import CatalogError

CHECKS: tuple[tuple[type[Item], Callable[..., None]], ...] = (
    (Source, check_source),
    (SourceFamily, check_source_family),
    (Shard, check_shard),
    (ShardFamily, check_shard_family),
    (Sharding, check_sharding),
    (Sequence, check_sequence),
    (LockedTable, check_lock),
    (TableStatistics, check_statistics),
    (Table, check_table),
    (Table, check_physical_names),
    (Table, check_copies),
    (View, check_view),
    (LookupIndex, check_lookup),
    (JoinIndex, check_join),
)
"""What is checked, in this order: what others refer to comes first."""


def check(catalog: TableLookups, where: Where | None = None) -> None:
    """Raise CatalogError for the first thing that is wrong, in the order of CHECKS."""
    checker = Checker(catalog, where)
    if catalog.dialect not in DIALECTS:
        hint = f"The dialects are {', '.join(DIALECTS)}"
        raise CatalogError(f'there is no dialect "{catalog.dialect}"', hint=hint)
    check_names(checker)
    for kind, function in CHECKS:
        for checker.index, item in enumerate(catalog.items):
            if isinstance(item, kind):
                function(checker, item)
