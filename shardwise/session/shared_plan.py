"""One plan for many shards, each of which has all that the statement reads.

    plan for s0:    SELECT count(*) FROM orders_00        on s0
    at("s1"):       SELECT count(*) FROM orders_01        on s1

Sound: of a plan that reads one shard, the shard decides only which physical tables are read, if every table
is on all the shards and no predicate left out a slot. WHERE id = 5 has no rows on s0, and may have on s1:
such a statement is planned for each shard.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from shardwise.catalog.model import Catalog, Single
from shardwise.executor import duck
from shardwise.plan.nodes import Empty, Scan
from shardwise.plan.route import Route
from shardwise.plan.run import Fragment, Plan
from shardwise.plan.tree import walk


@dataclass(frozen=True, slots=True)
class SharedPlan:
    """`plan` is that of one of `shards`; `columns` are its result's."""

    plan: Plan
    shards: tuple[str, ...]
    columns: duck.Columns | None

    @property
    def whole(self) -> Plan:
        """The plan on all shards, to be shown."""
        return self._on(self.shards)

    def at(self, shard: str) -> Plan:
        """The plan on another shard."""
        return self._on((shard,))

    def _on(self, shards: tuple[str, ...]) -> Plan:
        route = Route(shards=shards, total=len(shards))
        return replace(self.plan, fragments=tuple(_routed(each, route) for each in self.plan.fragments))


def _routed(fragment: Fragment, route: Route) -> Fragment:
    text = fragment.text  # made once, for all of them
    return replace(fragment, route=route, make_text=lambda: text)


def can_be_shared(plan: Plan, catalog: Catalog, shards: Sequence[str], *, of: str | None) -> bool:
    """Whether what the plan says of the first of `shards`, the only one it reads, holds for all of them.

    With `of`, the split tables must be of that sharding: on its shard another's table is not whole.
    """
    if plan.first or any(fragment.route.shards != (shards[0],) for fragment in plan.fragments):
        return False
    wanted = frozenset(shards)
    if len({catalog.dialect_of_shard(shard) for shard in wanted}) > 1:
        return False
    for node in walk(plan.root):
        if isinstance(node, Empty):
            return False
        if isinstance(node, Scan) and not _is_alike_on_all(node, catalog, wanted, of):
            return False
    return True


def _is_alike_on_all(scan: Scan, catalog: Catalog, shards: frozenset[str], of: str | None) -> bool:
    sharding = catalog.sharding_of(scan.table)
    if of is not None and sharding is not None and sharding.name != of:
        return False
    if isinstance(scan.table.placement, Single) or scan.slots is not None:
        return False
    return shards <= frozenset(catalog.homes(scan.table))
