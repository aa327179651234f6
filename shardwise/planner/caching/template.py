"""A plan kept for other values: what it rests on, and how it is made the plan of a statement's own values.

It is right for values that planning would have seen as it saw the first ones (`observed.py`): equal where it
looked at them exactly, leaving the same slots where they prune. And one that a single shard answers whole is
right for any other single shard: once the scans are pruned anew, `distribution` is asked whether all of it is
on one shard there too, and what runs there is the same tree. (`u JOIN settings`, with `settings` on s0 only,
is one shard's for a user on s0, and not for one on s1: that is planned anew.) What names one member of an
open family is moved to the other one that is named (`one_member.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from sqlglot import exp

from shardwise.catalog.model import Catalog
from shardwise.catalog.shardings import SlotSet
from shardwise.errors import Error
from shardwise.plan.holes import Written, index_of
from shardwise.plan.nodes import ColumnId, Gather, Node, Output, Scan
from shardwise.plan.run import Expected, Plan
from shardwise.plan.tree import rewrite, walk
from shardwise.planner.caching.observed import Origin, Pruning, Scoped, Values
from shardwise.planner.caching.one_member import Members, Moved, Namer, OneMember, namer, one_member
from shardwise.planner.caching.one_value import one_value
from shardwise.planner.dialects import query_dialect
from shardwise.planner.distribution import Analysis, Split
from shardwise.planner.parameters import Given, with_constants
from shardwise.planner.pass_context import PlanContext
from shardwise.planner.prune_slots import on_slots, slots_left, telling
from shardwise.planner.scopes.scope import EVERYTHING, Scope
from shardwise.planner.scopes.values import fitted

Expects = Callable[[str], tuple[Expected, ...]]

Slots = tuple[SlotSet, ...]
Pruner = Callable[[Values], SlotSet]

_SHARDS_MAX: Final = 1024
_VALUES_MAX: Final = 4096


@dataclass(slots=True, eq=False)
class Template:
    """Threads share it: what it remembers is found again if it is lost."""

    plan: Plan
    exact: tuple[tuple[str, Any], ...]
    given: tuple[tuple[str, Origin], ...]
    holes: tuple[tuple[str, int], ...]
    scoped: tuple[tuple[str, tuple[Scoped, ...]], ...]
    is_bound_to_scope: bool
    scope: Scope
    scope_values: Mapping[str, Any]
    namers: tuple[Namer, ...]
    members: Members
    mover: OneMember | None
    scans: tuple[Scan, ...]
    pruners: tuple[Pruner, ...]
    slots: Slots
    catalog: Catalog
    types: Mapping[ColumnId, Output]
    planned: Moved
    _elsewhere: dict[Slots, Plan | None] = field(default_factory=dict)

    def first(self, sql: str, params: Given, literals: Sequence[Written]) -> Plan:
        """The plan for the values it was made for."""
        return self.plan.with_values(sql, self._values(params, literals, self.scope_values), literals)

    def reuse(
        self, sql: str, params: Given, literals: Sequence[Written], scope: Scope = EVERYTHING
    ) -> Plan | None:
        """The plan of `sql` with these values; None if this one is not right for them."""
        scoped = self._scoped(scope) if self.scoped else self.scope_values
        if scoped is None:
            return None
        values = self._values(params, literals, scoped)
        for name, value in self.exact:
            if values[name] != value:
                return None
        plan: Plan | None = self.plan
        if self.namers:
            plan = self._for_members(values)
        if self.pruners and plan is not None:
            slots = tuple([pruner(values) for pruner in self.pruners])
            if slots != self.slots:
                plan = self._on(slots)
        return None if plan is None else plan.with_values(sql, values, literals)

    def _for_members(self, values: Values) -> Plan | None:
        """The plan for the members that these values name; None if it takes planning, or to say why not."""
        found: Members | None = self.namers[0](values)
        for each in self.namers[1:]:
            more = each(values)
            found = found | more if found is not None and more is not None else None
        if found == self.members:
            return self.plan
        if found is None or len(found) != 1 or self.mover is None:
            return None
        try:
            return self.mover.on(found)
        except Error:
            return None

    def _scoped(self, scope: Scope) -> Mapping[str, Any] | None:
        """The scope's values as what is bound; None if another plan would bind them otherwise."""
        if scope is self.scope or scope == self.scope:  # 1 and TRUE have other keys in the cache
            return self.scope_values
        values: dict[str, Any] = {}
        try:
            for name, places in self.scoped:
                for key, index, column, table in places:
                    given = scope.keys[key].values[index]
                    value = fitted(given, column, self.catalog.dialect, name, table)
                    if type(value) is not type(self.scope_values[name]) or value != values.get(name, value):
                        return None
                    values[name] = value
        except Error:
            return None
        return values

    def _values(
        self, params: Given, literals: Sequence[Written], scoped: Mapping[str, Any]
    ) -> dict[str, Any]:
        values = dict(scoped)
        for name, (key, member) in self.given:
            value = params[key]  # type: ignore[index]
            values[name] = value if member is None else value[member]
        for name, index in self.holes:
            values[name] = literals[index]
        return values

    def _on(self, slots: Slots) -> Plan | None:
        """The plan for scans of these slots, if one shard answers both; None if it takes planning."""
        if slots in self._elsewhere:
            return self._elsewhere[slots]
        plan = self._moved(slots)
        if len(self._elsewhere) >= _SHARDS_MAX:
            self._elsewhere.clear()
        self._elsewhere[slots] = plan
        return plan

    def _dialect_of(self, shards: tuple[str, ...]) -> str:
        return self.catalog.dialect_of_shard(shards[0])

    def _moved(self, slots: Slots) -> Plan | None:
        root = self.plan.root
        if not isinstance(root, Gather) or len(root.shards) != 1:
            return None
        pruned = {
            scan.rel: on_slots(scan, wanted, self.catalog)
            for scan, wanted in zip(self.scans, slots, strict=True)
        }
        left = {node.rel for node in walk(root.input) if isinstance(node, Scan)}
        if not all(isinstance(node, Scan) and rel in left for rel, node in pruned.items()):
            return None  # no slot was left, then or now: what stands for the scan is no scan

        def change(node: Node) -> Node:
            if isinstance(node, Scan) and node.rel in pruned:
                return node.but(slots=pruned[node.rel].slots, route=pruned[node.rel].route)  # type: ignore[attr-defined]
            return node

        tree = rewrite(root.input, change)
        where = Analysis(self.catalog, self.types).of(tree)
        if not isinstance(where, Split) or not where.is_one:
            return None
        if self._dialect_of(where.shards) != self._dialect_of(root.shards):
            return None  # what a value is there was not looked at
        plan = _settled(self.planned(root.but(input=tree, shards=where.shards), self.catalog))
        plan.__dict__["memo"] = self.plan.memo
        return plan


def template_of(plan: Plan, ctx: PlanContext, planned: Moved, scope: Scope) -> Template | None:
    """The template of a plan, of which `ctx` is what its passes knew; None if it is for its values alone."""
    observed, values, catalog = ctx.parameters.observed, ctx.parameters.values, ctx.catalog
    if observed.is_bound_to_context or observed.is_bound_to_rows or plan.first or plan.proof is not None:
        return None
    for fragment in plan.fragments:
        if fragment.params_for is not None:
            if fragment.text_for is not None:
                return None  # what is bound on a shard goes with the keys that it is sent
            of_dialect = {catalog.dialect_of_shard(shard): shard for shard in fragment.route.shards}
            for shard in of_dialect.values():
                fragment.text(shard)  # made now, so that all the values it looks at are known
    if len(observed.members) > 1:
        for naming in observed.namings:
            for parameter in (p for c in naming.conjuncts for p in c.find_all(exp.Placeholder)):
                ctx.parameters.exact(parameter.name)
    mover = one_member(plan, observed, catalog, planned)
    prunings = [pruning for pruning in map(_depending, observed.prunings) if pruning is not None]
    if mover is not None:
        prunings = []  # what is read of one member is read of another
    if len({pruning.scan.rel for pruning in prunings}) != len(prunings):
        return None
    return Template(
        plan=_settled(plan),
        exact=tuple(observed.exact.items()),
        scoped=tuple((name, tuple(places)) for name, places in observed.scoped.items()),
        is_bound_to_scope=observed.is_bound_to_scope,
        scope=scope,
        scope_values={name: values[name] for name in observed.scoped},
        namers=tuple(namer(each, catalog) for each in observed.namings) if len(observed.members) == 1 else (),
        members=next(iter(observed.members.values()), frozenset()),
        mover=mover,
        given=tuple(observed.origins.items()),
        holes=tuple((name, index) for name in values if (index := index_of(name)) is not None),
        scans=tuple(pruning.scan for pruning in prunings),
        pruners=tuple(_pruner(pruning, values, catalog) for pruning in prunings),
        slots=tuple(pruning.slots for pruning in prunings),
        catalog=catalog,
        types=ctx.types,
        planned=planned,
    )


def _settled(plan: Plan) -> Plan:
    """The plan with its texts made, so that plans for other values have them; one shard's as it is sent."""
    for fragment in plan.fragments:
        if fragment.text_for is None:
            fragment.settle()
    return plan


# ------------------------------------------------------------------ pruning again, for other values


def _depending(pruning: Pruning) -> Pruning | None:
    """The pruning by those predicates that may say something of the key; None if no parameter is in them."""
    conjuncts = telling(pruning.scan, pruning.conjuncts)
    if not any(conjunct.find(exp.Placeholder) for conjunct in conjuncts):
        return None
    return pruning._replace(conjuncts=conjuncts)


def _pruner(pruning: Pruning, values: Values, catalog: Catalog) -> Pruner:
    """From values to the slots that are left."""

    literal_of = query_dialect(catalog.dialect).literal_of

    def anew(values: Values) -> SlotSet:
        known = tuple(with_constants(conjunct, values, literal_of) for conjunct in pruning.conjuncts)
        left = slots_left(pruning.scan, known, catalog)
        assert left is not None
        return left.slots

    return _by_one_value(pruning, values, catalog, anew) or anew


def _by_one_value(pruning: Pruning, values: Values, catalog: Catalog, anew: Pruner) -> Pruner | None:
    """The same, fast, for `key = ?`."""
    sharding = catalog.sharding_of(pruning.scan.table)
    assert sharding is not None
    one = one_value(pruning.scan, pruning.conjuncts, sharding, catalog.dialect)
    if one is None or values[one.name].__hash__ is None:
        return None
    name, place = one.name, one.place
    known: dict[Any, SlotSet] = {}

    def slots(values: Values) -> SlotSet:
        given = values[name]
        found = known.get(given)
        if found is None:
            found = placed(given)
            if found is None:
                found = anew(values)
            if len(known) >= _VALUES_MAX:
                known.clear()
            known[given] = found
        return found

    def placed(given: Any) -> SlotSet | None:
        key = one.key(given)
        try:
            return None if key is None else place.of_values((key,))
        except Error:
            return None

    return slots
