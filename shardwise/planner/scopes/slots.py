"""Where the rows of a scope are: slots of a table, and shards of the catalog."""

from __future__ import annotations

from sqlglot import exp

from shardwise.catalog.model import Catalog, Sharded, Table
from shardwise.catalog.shardings import SlotSet
from shardwise.planner.parameters import literal_of
from shardwise.planner.prune import slots_of
from shardwise.planner.scopes.coverage import ByKey, coverage
from shardwise.planner.scopes.members import members_in, shards_of
from shardwise.planner.scopes.scope import Scope

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
    if not scope.keys:
        return scope.shards
    found: dict[str, dict[str, None]] = {}  # by sharding: its tables agree
    for table in catalog.tables():
        if not isinstance(table, Table) or not isinstance(table.placement, Sharded):
            continue
        sharding = catalog.sharding(table.placement.sharding)
        if sharding.is_open:
            members = members_in(scope, catalog, sharding)
            found[sharding.name] = dict.fromkeys(() if members is None else shards_of(sharding, members))
        covered = coverage(scope, catalog, table) if sharding.name not in found else None
        if isinstance(covered, ByKey):
            slots = slots_in(covered, catalog, table)
            found[sharding.name] = dict.fromkeys(sharding.shards_of(slots))
    shards = dict.fromkeys(shard for shards in found.values() for shard in shards)
    return tuple(s for s in shards if scope.shards is None or s in scope.shards)
