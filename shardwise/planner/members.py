"""members: which members of an open family a statement is about.

    WHERE n.tenant = 'acme'              =>   by_file has the member acme, as far as this statement goes
    WHERE n.tenant IN ('acme', 'globex') =>   acme, globex
    no such predicate                    =>   MembersNeeded("by_file"): list them, and plan again

A DIRECTORY's members are known to its sources only, and the planner does no I/O. A statement that names its
members needs no list: the others cannot hold a matching row, so that planning as if there were only those
named gives the answer of planning with all. Once the members are known, their slots are numbered and nothing
in the planner is special about a DIRECTORY.

Sound: only predicates that reach the scan by push_filters count, as for pruning; every scan of the sharding
must be so limited, for SELECT … FROM notes a, notes b WHERE a.tenant = 'acme' reads all of b. A reference
table that lies with the members needs the list: with the one that is named missing, its rows are on the
others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sqlglot import exp

from shardwise.catalog.model import Catalog, Sharded, Sharding, Table
from shardwise.catalog.places import checked_members
from shardwise.catalog.shardings import (
    Directory,
    OneColumn,
    Part,
    SlotSet,
    Value,
    full,
    key_text,
    mask,
)
from shardwise.catalog.types import type_family
from shardwise.errors import DataError, NotSupportedError, Reason
from shardwise.plan.nodes import Empty, Filter, Node, Scan
from shardwise.plan.route import Route
from shardwise.plan.tree import rewrite, walk
from shardwise.planner.caching.observed import Naming, Values
from shardwise.planner.dialects import query_dialect
from shardwise.planner.parameters import with_constants
from shardwise.planner.pass_context import PlanContext
from shardwise.planner.prune_slots import slots_left, telling
from shardwise.planner.push_filters import push_filters

NAMED_MAX = 4096
"""A statement that names more members than that takes a listing, as one that names none does."""


class MembersNeeded(NotSupportedError):
    """The statement does not name its members: list those of `sharding` and give them in
    `Context.members`."""

    def __init__(self, sharding: str) -> None:
        super().__init__(
            f'the members of sharding "{sharding}" are not listed, and the statement does not name its own',
            reason=Reason.MEMBERS_NEEDED,
            hint="Plan with Context(members={…}), or compare the key with a value",
        )
        self.sharding = sharding


def place_members(root: Node, ctx: PlanContext) -> Node:
    """The tree whose scans know their shards; `ctx.catalog` becomes a view that knows the members.

    Raises MembersNeeded where a listing is needed, DataError where a name that is given can be no member's.
    """
    scans = [node for node in walk(root) if isinstance(node, Scan)]
    if all(scan.route.shards for scan in scans):
        for scan in scans:
            _check_types(scan.table, ctx.catalog)
        return root
    waiting = _waiting(root, ctx.catalog)
    if waiting:
        ctx.catalog = ctx.catalog.with_members(_named(root, waiting, ctx))

    def placed(node: Node) -> Node:
        return _routed(node, ctx.catalog) if isinstance(node, Scan) and not node.route.shards else node

    for scan in scans:
        _check_types(scan.table, ctx.catalog)
    return rewrite(root, placed)


def _routed(scan: Scan, catalog: Catalog) -> Scan | Empty:
    """The scan on all shards of its table; where there are none it owes what an empty table owes."""
    homes = catalog.homes(scan.table)
    if not homes:
        return Empty(rel=scan.rel, columns=scan.columns)
    return scan.but(route=Route(shards=homes, total=len(homes)))


def _check_types(table: Table, catalog: Catalog) -> None:
    sharding = catalog.sharding_of(table)
    if sharding is not None and isinstance(sharding.function, Directory):
        check_types(table, sharding, sharding.function)


def check_types(table: Table, sharding: Sharding, found: Directory) -> None:
    """Each member must be a value of the virtual column: of a file abc.db no BIGINT can be made."""
    for column in table.columns or ():
        if not column.virtual:
            continue
        wrong = found.misfit(type_family(column.type, "duckdb"))
        if wrong is not None:
            raise DataError(
                f'"{wrong}" is a member of "{sharding.name}", and column "{column.name}" of '
                f'"{table.full_name}" is {column.type}',
                reason=Reason.MEMBER_NAME,
                hint="Move what is no member elsewhere, or declare the column TEXT",
            )


def _waiting(root: Node, catalog: Catalog) -> dict[str, Sharding]:
    """The shardings whose members are to be found."""
    scans = (node for node in walk(root) if isinstance(node, Scan) and not node.route.shards)
    found = (catalog.open_sharding(scan.table) for scan in scans)
    return {sharding.name: sharding for sharding in found if sharding is not None}


def _named(root: Node, waiting: Mapping[str, Sharding], ctx: PlanContext) -> dict[str, tuple[str, ...]]:
    """The members that predicates name, by sharding; MembersNeeded if they do not name all."""
    ctx.learn(root)
    named: dict[str, frozenset[str]] = dict.fromkeys(waiting, frozenset())
    observed = ctx.parameters.observed
    for scan, conjuncts in _scans(push_filters(root, ctx)):
        sharding = ctx.catalog.open_sharding(scan.table)
        if sharding is None:
            continue
        placement = scan.table.placement
        if not isinstance(placement, Sharded) or not conjuncts:
            raise MembersNeeded(sharding.name)
        naming = Naming(sharding, scan, telling(scan, conjuncts))
        texts = members_named(naming, ctx.parameters.values, ctx.catalog)
        if texts is None:
            raise MembersNeeded(sharding.name)
        observed.namings.append(naming)
        named[sharding.name] |= texts
    observed.members.update(named)
    return {name: checked_members(waiting[name], texts, are_shown=False) for name, texts in named.items()}


def members_named(naming: Naming, values: Values, catalog: Catalog) -> frozenset[str] | None:
    """The members that a scan's predicates name with these values; None if they do not limit it to some."""
    literal_of = query_dialect(catalog.dialect).literal_of
    known = tuple(with_constants(conjunct, values, literal_of) for conjunct in naming.conjuncts)
    slots = _Naming()
    pruned = slots_left(naming.scan, known, catalog, named_by(naming.sharding, slots))
    return slots.texts_of(pruned.slots) if pruned is not None else None


def _scans(node: Node) -> Iterator[tuple[Scan, tuple[exp.Expr, ...]]]:
    """Every scan with the predicates that reached it."""
    if isinstance(node, Filter) and isinstance(node.input, Scan):
        yield node.input, node.conjuncts
        below: Sequence[Node] = node.subplans
    else:
        if isinstance(node, Scan):
            yield node, ()
        below = (*node.inputs, *node.subplans)
    for each in below:
        yield from _scans(each)


class _Naming(OneColumn):
    """Gives each value that it is asked about a slot of its own; the slots that are left stand for the rest.

    So the sets of slots that pruning computes say what it found: none of the rest is in them, or the
    statement does not limit itself to the values it names.
    """

    def __init__(self) -> None:
        self._slots: dict[str, int] = {}

    @property
    def size(self) -> int:
        return NAMED_MAX

    def _place(self, value: Value) -> int | None:
        if value is None:
            raise DataError("a NULL may be with any member")
        slot = self._slots.setdefault(key_text(value), len(self._slots))
        if slot >= NAMED_MAX:
            raise DataError("more members are named than are worth it")
        return slot

    def slots(self, key: Sequence[Part]) -> SlotSet:
        return full(NAMED_MAX) if key[0] is None else super().slots(key)

    def slots_only(self, values: Sequence[Value]) -> SlotSet:
        return mask(self._place(value) or 0 for value in values if value is not None)

    def texts_of(self, slots: SlotSet) -> frozenset[str] | None:
        """The values on `slots`; None if the rest is among them."""
        if slots >> len(self._slots):
            return None
        return frozenset(text for text, slot in self._slots.items() if slots >> slot & 1)


class _Named(Sharding):
    """A DIRECTORY whose function is a `_Naming`: of a shard, too, its name says which member it is."""

    @property
    def is_open(self) -> bool:
        return True

    def slots_of(self, shard: str) -> SlotSet:
        if not self.shards_are_sources:
            return full(NAMED_MAX) if shard == self.on else 0
        member = self.member_of(shard)
        return 0 if member is None else self.function.slots((member,))


def named_by(sharding: Sharding, naming: OneColumn) -> Sharding:
    """The DIRECTORY, whose members are those that `naming` is asked about."""
    return _Named(name=sharding.name, function=naming, levels=sharding.levels, on=sharding.on)
