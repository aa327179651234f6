"""A plan kept for other values: what it rests on, and how it is made the plan of a statement's own values.

It is right for values that planning would have seen as it saw the first ones (`observed.py`): equal where it
looked at them exactly, leaving the same slots where they prune. And one that a single shard answers whole is
right for any other single shard: once the scans are pruned anew, `distribution` is asked whether all of it is
on one shard there too, and what runs there is the same tree. (`u JOIN settings`, with `settings` on s0 only,
is one shard's for a user on s0, and not for one on s1: that is planned anew.)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from sqlglot import exp

from shardwise.catalog.model import Catalog
from shardwise.catalog.shardings import SlotSet, Value, canonical
from shardwise.catalog.types import Family
from shardwise.errors import Error
from shardwise.plan.gaps import NO_GAPS, Gaps
from shardwise.plan.holes import Written, index_of, unquoted
from shardwise.plan.nodes import ColumnId, Gather, Node, Output, Scan
from shardwise.plan.run import Expected, Plan, Text
from shardwise.plan.tree import rewrite, walk
from shardwise.planner.dialects import query_dialect
from shardwise.planner.distribution import Analysis, Split
from shardwise.planner.observed import Origin, Pruning, Values
from shardwise.planner.parameters import Given, with_constants
from shardwise.planner.pass_context import PlanContext
from shardwise.planner.prune_slots import is_silent, key_names, on_slots, slots_left
from shardwise.planner.shard_keys import ShardKeys

Expects = Callable[[str], tuple[Expected, ...]]

Slots = tuple[SlotSet, ...]
Pruner = Callable[[Values], SlotSet]
Moved = Callable[[Node], Plan]
"""From a tree to its plan, under the template's names and parameters."""

_SHARDS_MAX: Final = 1024
_VALUES_MAX: Final = 4096
_FAR: Final = 1 << 62


@dataclass(slots=True, eq=False)
class Template:
    """Threads share it: what it remembers is found again if it is lost."""

    plan: Plan
    exact: tuple[tuple[str, Any], ...]
    constants: dict[str, Any]
    given: tuple[tuple[str, Origin], ...]
    holes: tuple[tuple[str, int], ...]
    scans: tuple[Scan, ...]
    pruners: tuple[Pruner, ...]
    slots: Slots
    catalog: Catalog
    types: Mapping[ColumnId, Output]
    planned: Moved
    _elsewhere: dict[Slots, Plan | None] = field(default_factory=dict)

    def first(self, sql: str, params: Given, literals: Sequence[Written]) -> Plan:
        """The plan for the values it was made for."""
        return self.plan.with_values(sql, self._values(params, literals), literals)

    def reuse(self, sql: str, params: Given, literals: Sequence[Written]) -> Plan | None:
        """The plan of `sql` with these values; None if this one is not right for them."""
        values = self._values(params, literals)
        for name, value in self.exact:
            if values[name] != value:
                return None
        plan: Plan | None = self.plan
        if self.pruners:
            slots = tuple([pruner(values) for pruner in self.pruners])
            if slots != self.slots:
                plan = self._on(slots)
        return None if plan is None else plan.with_values(sql, values, literals)

    def _values(self, params: Given, literals: Sequence[Written]) -> dict[str, Any]:
        values = self.constants.copy()
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
        plan = _settled(self.planned(root.but(input=tree, shards=where.shards)))
        plan.__dict__["memo"] = self.plan.memo
        return plan


def template_of(plan: Plan, ctx: PlanContext, planned: Moved) -> Template | None:
    """The template of a plan, of which `ctx` is what its passes knew; None if it is for its values alone."""
    observed, values, catalog = ctx.parameters.observed, ctx.parameters.values, ctx.catalog
    if observed.is_bound_to_context or observed.is_bound_to_rows or plan.first:
        return None
    for fragment in plan.fragments:
        if fragment.params_for is not None:
            if fragment.text_for is not None:
                return None  # what is bound on a shard goes with the keys that it is sent
            of_dialect = {catalog.dialect_of_shard(shard): shard for shard in fragment.route.shards}
            for shard in of_dialect.values():
                fragment.text(shard)  # made now, so that all the values it looks at are known
    prunings = [pruning for pruning in map(_depending, observed.prunings) if pruning is not None]
    if len({pruning.scan.rel for pruning in prunings}) != len(prunings):
        return None
    return Template(
        plan=_settled(plan),
        exact=tuple(observed.exact.items()),
        constants=dict(observed.constants),
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
            text, expects = fragment.text, fragment.expects
            if len(fragment.route.shards) == 1:
                known, (one,) = fragment.__dict__, fragment.route.shards
                known["text"] = _of_one(text, one, text(one))
                known["expects"] = _expected_of_one(expects, one, expects(one))
    return plan


def _of_one(text: Text, one: str, made: str) -> Text:
    """The text of shard `one`, as it was made; another's is made when it is asked for."""

    def of_shard(shard: str, gaps: Gaps = NO_GAPS) -> str:
        return made if gaps is NO_GAPS and shard == one else text(shard, gaps)

    return of_shard


def _expected_of_one(expects: Expects, one: str, found: tuple[Expected, ...]) -> Expects:
    return lambda shard: found if shard == one else expects(shard)


# ------------------------------------------------------------------ pruning again, for other values


def _depending(pruning: Pruning) -> Pruning | None:
    """The pruning by those predicates that may say something of the key; None if no parameter is in them."""
    keys = key_names(pruning.scan)
    telling = tuple(c for c in pruning.conjuncts if not is_silent(c, pruning.scan.rel, keys))
    if not any(conjunct.find(exp.Placeholder) for conjunct in telling):
        return None
    return pruning._replace(conjuncts=telling)


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
    """The same, fast, for `key = ?`: what most statements that are run often have."""
    if len(pruning.conjuncts) != 1 or type(pruning.conjuncts[0]) is not exp.EQ:
        return None
    column, value = pruning.conjuncts[0].this, pruning.conjuncts[0].expression
    if type(column) is not exp.Column:
        column, value = value, column
    if type(column) is not exp.Column or type(value) is not exp.Placeholder:
        return None
    name = value.name
    if values[name].__hash__ is None:
        return None
    sharding = catalog.sharding_of(pruning.scan.table)
    assert sharding is not None
    keys = ShardKeys(pruning.scan.rel, pruning.scan.table, sharding, catalog.dialect, {})
    target = keys.target(column)
    parts = [part for key in keys.keys for part in key.parts]
    is_plain = len(parts) == 1 and parts[0].target == target and parts[0].expr is None
    is_plain = is_plain and catalog.dialect == "duckdb"
    place = parts[0].place if is_plain and parts[0].place.is_whole else None
    family = parts[0].family if is_plain else None
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
        value = _plainly(given, family)
        if place is None or value is None:
            return None
        try:
            return place.of_values((canonical(value, parts[0].family),))
        except Error:
            return None

    return slots


def _plainly(given: Any, family: Family | None) -> Value:
    """What a key is compared with, where that takes no thinking (`literals.py` does it); else None."""
    if type(given) is Written:
        given = unquoted(given) if given.is_string else _whole(given)
    if type(given) is int:
        return given if family is Family.INT and -_FAR < given < _FAR else None
    return given if type(given) is str and family is Family.TEXT else None


def _whole(text: str) -> int | None:
    return int(text) if text.isdigit() else None
