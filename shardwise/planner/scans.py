"""A scan of a whole table, as the catalog places it."""

from __future__ import annotations

from shardwise.catalog.model import Catalog, Table
from shardwise.plan.nodes import ColumnId, Output, Scan
from shardwise.plan.route import Route
from shardwise.planner.bind.names import Names
from shardwise.planner.dialects import Dialect


def scan_of(table: Table, name: str, names: Names, catalog: Catalog, dialect: Dialect) -> Scan:
    """The scan of a table whose columns are known; `name` is what it is wanted to be called.

    Where the members of a DIRECTORY are not known yet, the route is empty until `place_members` fills it.
    """
    rel = names.fresh(name)
    columns = tuple(
        Output(
            ColumnId(rel, c.name),
            c.type,
            dialect.collation(c),
            c.spelling if dialect.folds(c) else None,
            None if c.virtual else c.collation,
        )
        for c in table.columns or ()
    )
    homes = () if catalog.open_sharding(table) else catalog.homes(table)
    return Scan(table=table, rel=rel, columns=columns, route=Route(shards=homes, total=len(homes)))
