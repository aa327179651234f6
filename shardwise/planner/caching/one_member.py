"""A plan for one member of an open family, made the plan of another: a file per tenant, and each request
another tenant's.

    WHERE tenant = 'acme' AND id = 5    Gather f1 on file_acme   =>   Gather f1 on file_globex
    WHERE tenant = 'globex' AND id = 7

Sound: the predicates are asked anew which members they name (`namings`). If they name one, as they did, all
rows that any scan may match are with it, so that what was sent whole to the one shard is right for the other:
the same tree, whose text has the member's own constants. A scan that was left out because its predicates can
not hold (tenant = ? AND tenant <> 'acme') may have to be read there: such a plan is not moved.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from sqlglot import exp

from shardwise.catalog.model import Catalog, Sharding, Table
from shardwise.catalog.places import checked_members
from shardwise.catalog.shardings import directory, key_text
from shardwise.plan.nodes import Gather, Node, Scan
from shardwise.plan.route import Route
from shardwise.plan.run import Plan
from shardwise.plan.tree import rewrite, walk
from shardwise.planner.caching.observed import Naming, Observed, Values
from shardwise.planner.caching.one_value import one_value
from shardwise.planner.members import check_types, members_named, named_by

Members = frozenset[str]
Namer = Callable[[Values], Members | None]
"""From values to the members that a scan's predicates name; None if they need a listing."""
Moved = Callable[[Node, Catalog], Plan]
"""From a tree to its plan, under the names and parameters of the plan it was made of."""

_VALUES_MAX: Final = 4096
_PLANS_MAX: Final = 1024


def namer(naming: Naming, catalog: Catalog) -> Namer:
    """What names a scan's members; it remembers what it said of values."""
    names = [p.name for conjunct in naming.conjuncts for p in conjunct.find_all(exp.Placeholder)]
    known: dict[Any, Members | None] = {}
    sharding = named_by(naming.sharding, directory(()))
    one = one_value(naming.scan, naming.conjuncts, sharding, catalog.dialect)

    def anew(values: Values) -> Members | None:
        key = one.key(values[one.name]) if one is not None else None
        return members_named(naming, values, catalog) if key is None else frozenset((key_text(key),))

    def named(values: Values) -> Members | None:
        given = values[names[0]] if len(names) == 1 else tuple([values[name] for name in names])
        try:
            return known[given]
        except KeyError:
            if len(known) >= _VALUES_MAX:
                known.clear()
            found = known[given] = anew(values)
            return found
        except TypeError:  # a list
            return anew(values)

    return named


@dataclass(slots=True, eq=False)
class OneMember:
    """Moves a plan; `catalog` is its own. Threads share it: what it forgets is found again."""

    plan: Plan
    sharding: Sharding
    catalog: Catalog
    planned: Moved
    _known: dict[Members, Plan] = field(default_factory=dict)
    _any: Plan | None = None

    def on(self, members: Members) -> Plan:
        """The plan for the one that is named. Raises what planning would of what can be no member's name."""
        plan = self._known.get(members)
        if plan is None:
            plan = self._moved(members)
            if len(self._known) >= _PLANS_MAX:
                self._known.clear()
            self._known[members] = plan
        return plan

    def _moved(self, members: Members) -> Plan:
        checked = checked_members(self.sharding, members, are_shown=False)
        for table in _tables(self.plan.root):
            check_types(table, self.sharding, directory(checked))
        if self._any is None:
            self._any = self.planned(self.plan.root, self.catalog.with_any_member(self.sharding.name))
        shard = self.sharding.shard_of_member(checked[0])
        route = Route(shards=(shard,), total=1)
        plan: Plan = object.__new__(Plan)
        plan.__dict__.update(self.plan.__dict__)
        fragments = tuple([fragment.at(route) for fragment in self._any.fragments])
        plan.__dict__.update(root=_at(self.plan.root, route), steps=(), fragments=fragments)
        return plan


def one_member(plan: Plan, observed: Observed, catalog: Catalog, planned: Moved) -> OneMember | None:
    """What moves a plan to other members; None if it is for more than one, or for less than a shard of its
    own."""
    if len(observed.members) != 1 or not isinstance(plan.root, Gather) or len(plan.root.shards) != 1:
        return None
    ((name, members),) = observed.members.items()
    scans = [node for node in walk(plan.root) if isinstance(node, Scan)]
    is_alike = (
        len(members) == 1
        and len(plan.fragments) == 1
        and plan.fragments[0].text_for is None
        and all(scan.route.shards == plan.root.shards for scan in scans)
        and all(_is_of(name, scan.table, catalog) for scan in scans)
        and all(pruning.slots for pruning in observed.prunings)
    )
    sharding = observed.namings[0].sharding
    return OneMember(plan, sharding, catalog, planned) if is_alike and sharding.shards_are_sources else None


def _is_of(name: str, table: Table, catalog: Catalog) -> bool:
    """Whether all of a table is split over that family, a physical table of one name in each member."""
    sharding = catalog.sharding_of(table)
    return sharding is not None and sharding.name == name and not catalog.is_slot_grain(table)


def _tables(root: Node) -> list[Table]:
    return [node.table for node in walk(root) if isinstance(node, Scan)]


def _at(root: Node, route: Route) -> Node:
    def change(node: Node) -> Node:
        if isinstance(node, Scan):
            return node.but(route=route)
        return node.but(shards=route.shards) if isinstance(node, Gather) else node

    return rewrite(root, change)
