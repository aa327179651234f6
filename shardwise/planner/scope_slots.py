"""Where the rows of a scope are: slots of a table, and shards of the catalog."""

from __future__ import annotations

from sqlglot import exp

from shardwise.catalog.model import Catalog, Sharded, Table
from shardwise.catalog.shardings import SlotSet
from shardwise.planner.coverage import ByKey, coverage
from shardwise.planner.parameters import literal_of
from shardwise.planner.prune import slots_of
from shardwise.planner.scope import Scope

_REL = "scoped"


def slots_in(covered: ByKey, catalog: Catalog, table: Table) -> SlotSet:
    """The slots of the table's sharding that may hold a row of the scope."""
    sharding = catalog.sharding_of(table)
    assert sharding is not None
    tests = []
    for _, column, values in covered.columns:
        constants = [literal_of(value) for value in values]
        if None not in constants:
            mine = exp.column(column.name, table=_REL)
            tests.append(exp.In(this=mine, expressions=constants))
    return slots_of(tests, rel=_REL, table=table, sharding=sharding, dialect=catalog.dialect).slots


def visible_shards(scope: Scope, catalog: Catalog) -> tuple[str, ...] | None:
    """The shards that may hold a row of the scope; None if there is none."""
    if not scope:
        return None
    found: dict[str, None] = {}
    for table in catalog.tables() if scope.keys else ():
        if not isinstance(table, Table) or not isinstance(table.placement, Sharded):
            continue
        covered = coverage(scope, catalog, table)
        sharding = catalog.sharding_of(table)
        if isinstance(covered, ByKey) and sharding is not None:
            found.update(dict.fromkeys(sharding.shards_of(slots_in(covered, catalog, table))))
    if not scope.keys:
        return scope.shards
    return tuple(s for s in found if scope.shards is None or s in scope.shards)
