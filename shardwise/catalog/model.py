"""The catalog as immutable data: what there is, where it is, and by which rule.

A change makes a new catalog. Nothing here reads a file, a clock or a socket. The text form is
`language.py`'s matter, the meaning of a sharding's key that of `shardings`. Names of tables,
views and columns are compared without regard to letter case, as DuckDB does, and kept as
written; names of sources, shards and shardings are exact.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import InitVar, dataclass, field, replace
from itertools import islice
from typing import Protocol, TypeVar

from sqlglot import exp

from shardwise.caching import cached_property
from shardwise.catalog.checker import Place, Where, did_you_mean
from shardwise.catalog.checks import check
from shardwise.catalog.filling import fills
from shardwise.catalog.items import Item, ItemKey, item_key, kind_of
from shardwise.catalog.places import Sharding, any_member, checked_members
from shardwise.catalog.printing import print_catalog, print_lock
from shardwise.catalog.shardings import Directory, ShardingFunction, SlotSet, directory, members
from shardwise.catalog.sources import Members, Options, Secret, Shard, ShardFamily, Source, SourceFamily
from shardwise.catalog.statements import Dropped, Script, read_script
from shardwise.catalog.tables import (
    Column,
    ColumnName,
    JoinIndex,
    LockedTable,
    LookupIndex,
    Placement,
    Reference,
    Scattered,
    Sequence,
    Sharded,
    ShardedWith,
    ShardKey,
    Single,
    Spelling,
    Stored,
    Table,
    View,
)
from shardwise.catalog.templates import Template, TemplateValue
from shardwise.errors import InternalError, NotSupportedError, Reason, UnknownName

__all__ = [
    "MAIN",
    "Catalog",
    "Column",
    "ColumnName",
    "Item",
    "JoinIndex",
    "LockedTable",
    "LookupIndex",
    "Members",
    "Options",
    "Placement",
    "Reference",
    "Scattered",
    "Secret",
    "Sequence",
    "Shard",
    "ShardFamily",
    "ShardKey",
    "Sharded",
    "ShardedWith",
    "Sharding",
    "ShardingFunction",
    "Single",
    "SlotSet",
    "Source",
    "SourceFamily",
    "Spelling",
    "Stored",
    "Table",
    "View",
]

MAIN = "main"
"""What the default schema is called."""

SCHEMALESS = frozenset({"sqlite", "parquet"})
"""Schemes of sources whose tables are in no schema: there a schema is the catalog's own, for naming."""

PARTITIONS_MAX = 20_000
"""More than that on one shard are not there: an INTERVAL without bounds would list 9,999 years."""

DIALECTS_MAX = 20_000
"""How many shards' dialects are remembered."""

_T = TypeVar("_T")


class _Named(Protocol):
    @property
    def name(self) -> str: ...


_N = TypeVar("_N", bound=_Named)


@dataclass(frozen=True, kw_only=True, eq=False)
class Catalog:
    """Everything that is declared. Immutable; checked when made; equal if what is declared is equal.

    `items` are the declarations in the order written, which is the order of shards where one
    matters (locks are taken in it); what refers to what need not follow it. `version` counts
    changes and is no part of equality. `where` finds the place in a text that an item came from,
    for the messages of checks.

    Not slotted: what is looked up is kept in the object.
    """

    name: str = "shardwise"
    dialect: str = "duckdb"
    options: Mapping[str, str] = field(default_factory=Options)
    items: tuple[Item, ...] = ()
    version: int = 1
    where: InitVar[Where | None] = None
    _where: Where | None = field(init=False, repr=False, default=None)
    _last_view: tuple[dict[str, tuple[str, ...]], Catalog] | None = field(
        init=False, repr=False, compare=False, default=None
    )
    _last_dialects: tuple[tuple[str, ...], frozenset[str]] | None = field(
        init=False, repr=False, compare=False, default=None
    )

    def __post_init__(self, where: Where | None) -> None:
        object.__setattr__(self, "options", Options(self.options))
        object.__setattr__(self, "items", tuple(self.items))
        object.__setattr__(self, "_where", where)
        check(self, where)

    # -------------------------------------------------------------- tables

    def table(self, name: str, schema: str | None = None) -> Table | View | None:
        """The table or view of that name; columns that only the lock file knows are filled in.

        A table that a wildcard (`ATTACH TABLE *`) stands for is known once the lock file has it.
        """
        return self._relations.get((_fold(schema), name.casefold()))

    def tables(self) -> Iterator[Table | View]:
        """All tables and views that are known, wildcards themselves left out."""
        return iter(self._relations.values())

    def schemas(self) -> tuple[str, ...]:
        """The logical schemas, "main" first: that is the one of tables and views without one."""
        items = (item for item in self.items if isinstance(item, Table | View))
        named = {item.schema.casefold(): item.schema for item in items if item.schema}
        return (MAIN, *(name for folded, name in named.items() if folded != MAIN))

    def wildcard(self, name: str, schema: str | None = None) -> Table | None:
        """The table that `name` would be by a wildcard, columns unknown, whether or not it exists."""
        found = self._wildcards.get(_fold(schema)) or self._wildcards.get("")
        return replace(found, name=name, schema=schema) if found else None

    def wildcards(self) -> tuple[Table, ...]:
        """The tables named "*": each asks that the tables of its sources be listed."""
        return tuple(self._wildcards.values())

    def sharding_of(self, table: Table) -> Sharding | None:
        """The sharding that says on which shards and slots `table` is; None if it has no slots.

        A child has its parent's, a scattered table that whose shards it is on.
        """
        match table.placement:
            case Sharded(sharding=name) | Scattered(sharding=name):
                return self.sharding(name)
            case ShardedWith(parent=parent):
                found = self.parent(parent)
                return self.sharding_of(found) if isinstance(found, Table) else None
        return None

    def fills(self, table: Table) -> Mapping[str, exp.Expr]:
        """The constants that columns missing on a partition read as, by folded name (DRIFT FILL)."""
        if table.drift != "FILL":
            return {}
        key = (_fold(table.schema), table.name.casefold())
        if key not in self._fills:
            self._fills[key] = fills(table, self.dialect)
        return self._fills[key]

    def open_sharding(self, table: Table) -> Sharding | None:
        """The DIRECTORY that says where `table` is, while its members are not known; else None."""
        if not self._has_directories:
            return None
        placement = table.placement
        if isinstance(placement, Reference):
            sharding = self._shardings.get(placement.on[0])
        else:
            sharding = self.sharding_of(table)
        return sharding if sharding is not None and not sharding.is_known else None

    def relation(self, full_name: str) -> Table | View | None:
        """The table or view by a name that may hold a schema ("crm.contacts")."""
        schema, _, name = full_name.rpartition(".")
        return self.table(name, schema or None) or self.table(full_name)

    def parent(self, full_name: str) -> Table | View | None:
        """As `relation`; but a table that only a wildcard stands for is taken to exist."""
        schema, _, name = full_name.rpartition(".")
        return self.relation(full_name) or self.wildcard(name, schema or None)

    def homes(self, table: Table) -> tuple[str, ...]:
        """All shards that hold some of (or, for a reference table, all of) `table`'s rows."""
        match table.placement:
            case Single(on=shard):
                return (shard,)
            case Reference(on=names):
                if len(names) == 1 and names[0] in self._shardings:
                    return self.sharding(names[0]).shards()
                return names
        sharding = self.sharding_of(table)
        if sharding is None:
            raise InternalError(f'table "{table.full_name}" is sharded with a table that is not')
        return sharding.shards()

    def partitions(self, table: Table, shard: str, slots: SlotSet | None = None) -> tuple[str, ...]:
        """The physical tables of `table` on `shard` that hold any of `slots` (None: all), in slot order.

        One name at shard grain; one per slot at slot grain (several slots may share one). A dot in a
        name parts schema and table. Without a template the name is the table's own, its schema too where
        the source can have any.
        """
        if table.named is None:
            return (self._own_name(table, shard),)
        template = Template.parse(table.named)
        values: dict[str, TemplateValue] = {"table": table.name, "schema": table.schema or "", "shard": shard}
        sharding = self.sharding_of(table)
        if sharding is None or template.variables.isdisjoint(sharding.levels):
            return (template.render(values),)
        wanted = self._wanted(table, sharding, shard, slots)
        names = self._names.setdefault((table.named, table.full_name, sharding.name, shard), {})
        for slot in members(wanted):
            if slot not in names:
                names[slot] = template.render(values | sharding.variables(slot))
        return tuple(dict.fromkeys(names[slot] for slot in members(wanted)))

    def members_on(self, table: Table, shard: str, slots: SlotSet | None = None) -> tuple[str, ...]:
        """The members of a DIRECTORY that `partitions` has a name for each of, as key texts.

        They are what the rows of each of these physical tables have in their virtual column.
        """
        sharding = self.sharding_of(table)
        if sharding is None or not isinstance(sharding.function, Directory):
            raise InternalError(f'table "{table.full_name}" has no virtual column')
        return sharding.members_on(shard, self._wanted(table, sharding, shard, slots))

    def _wanted(self, table: Table, sharding: Sharding, shard: str, slots: SlotSet | None) -> SlotSet:
        owned = sharding.slots_of(shard)
        wanted = owned if slots is None else owned & slots
        if wanted.bit_count() > PARTITIONS_MAX:
            raise NotSupportedError(
                f'table "{table.full_name}" has more than {PARTITIONS_MAX} partitions on shard "{shard}"',
                hint="Give the INTERVAL of its sharding bounds: FROM '2024-01-01' TO '2026-12-31'",
            )
        return wanted

    def _own_name(self, table: Table, shard: str) -> str:
        if table.schema is None or not self.may_lack_schemas:
            return table.full_name
        source = self.find_source(self.source_of(shard))
        return table.name if source is not None and source.scheme in SCHEMALESS else table.full_name

    @cached_property
    def may_lack_schemas(self) -> bool:
        """Whether any source is of a kind that has no schemas: tables' own names may differ by shard."""
        patterns = [item.pattern if isinstance(item, SourceFamily) else item for item in self.items]
        return any(isinstance(each, Source) and each.scheme in SCHEMALESS for each in patterns)

    def is_slot_grain(self, table: Table) -> bool:
        """Whether the physical name depends on the slot."""
        sharding = self.sharding_of(table) if table.named else None
        return sharding is not None and not Template.parse(table.named or "").variables.isdisjoint(
            sharding.levels
        )

    # -------------------------------------------------------------- sources, shards, shardings

    def source(self, name: str) -> Source:
        """The source of that name, made if it is a member of a family; raises UnknownName."""
        return _found(self.find_source(name), "source", name, self.sources())

    def find_source(self, name: str) -> Source | None:
        """The source of that name, or None."""
        if name not in self._source_cache:
            found = self._sources.get(name)
            families = (family.find(name) for family in self._fixed_families)
            found = found or next((each for each in families if each), None)
            if found is None and self._open_families:  # as many names as anyone asks for: not kept
                return next((each for each in (f.find(name) for f in self._open_families) if each), None)
            self._source_cache[name] = found
        return self._source_cache[name]

    def open_family_of(self, source: str) -> SourceFamily | None:
        """The open family that has a member of that name, or None."""
        if source in self._sources:
            return None
        return next((family for family in self._open_families if family.value_of(source) is not None), None)

    def _has_source(self, name: str) -> bool:
        """Whether there is a source of that name; a member of an open family is not made for it."""
        return self.open_family_of(name) is not None or self.find_source(name) is not None

    def source_url(self, name: str) -> str | None:
        """The URL of a source, its path in one form; quicker than making a member of a family for it."""
        found = self._sources.get(name)
        if found is not None:
            return found.location("")
        for family in self._source_families:
            value = family.value_of(name)
            if value is not None:
                return family.url_of(value)
        return None

    def dialect_of(self, source: str) -> str:
        """sqlglot's name of the SQL that a source speaks; the catalog's own where nothing says it.

        Members of a family are not made for it: a family has one dialect.
        """
        if len(self.dialects) == 1:
            return next(iter(self.dialects))
        found = self._sources.get(source)
        if found is None:
            families = (each for each in self._source_families if each.value_of(source) is not None)
            found = next((each.pattern for each in families), None)
        return (found.sql_dialect if found is not None else None) or self.dialect

    def dialect_of_shard(self, shard: str) -> str:
        """The dialect of the source that `shard` is read from."""
        if len(self.dialects) == 1:
            return next(iter(self.dialects))
        found = self._shard_dialects.get(shard)
        if found is None:
            if len(self._shard_dialects) >= DIALECTS_MAX:  # of an open family any name may be asked for
                self._shard_dialects.clear()
            found = self._shard_dialects[shard] = self.dialect_of(self.source_of(shard))
        return found

    def dialects_of_shards(self, shards: tuple[str, ...]) -> frozenset[str]:
        """The dialects of these shards' sources. Planning asks for the same thousands again and again."""
        if len(self.dialects) == 1:
            return self.dialects if shards else frozenset()
        last = self._last_dialects
        if last is not None and last[0] is shards:
            return last[1]
        found = frozenset(map(self.dialect_of_shard, shards))
        object.__setattr__(self, "_last_dialects", (shards, found))
        return found

    @cached_property
    def dialects(self) -> frozenset[str]:
        """The dialects of all sources, open families' too; the catalog's own if it has none."""
        declared = [*self._of(Source), *(family.pattern for family in self._source_families)]
        return frozenset(source.sql_dialect or self.dialect for source in declared) or frozenset(
            (self.dialect,)
        )

    def sources(self) -> Iterator[Source]:
        """All sources, members of fixed families one by one; those of open families are not known here."""
        for item in self.items:
            if isinstance(item, Source):
                yield item
            elif isinstance(item, SourceFamily):
                yield from item

    def shard(self, name: str) -> Shard:
        """The shard of that name; a source that no CREATE SHARD uses is one of its own name."""
        return _found(self.find_shard(name), "shard", name, self.shards())

    def find_shard(self, name: str) -> Shard | None:
        """The shard of that name, or None."""
        if name not in self._shard_cache:
            found = self._shards.get(name)
            families = (family.find(name) for family in self._shard_families)
            found = found or next((each for each in families if each), None)
            if found is None and self.shard_on(name) is None and self._has_source(name):
                found = Shard(name=name, source=name)
            if self._open_families and name not in self._sources:
                return found
            self._shard_cache[name] = found
        return self._shard_cache[name]

    def shard_on(self, source: str) -> Shard | None:
        """The declared shard that uses `source`, as its own or as a replica, or None."""
        return next(iter(self.shards_on(source)), None)

    def shards_on(self, source: str) -> tuple[Shard, ...]:
        """All declared shards that use `source`; a checked catalog has at most one."""
        members = (family.find_by_source(source) for family in self._shard_families)
        return (*self._shards_by_source.get(source, ()), *(each for each in members if each))

    def shards(self) -> Iterator[Shard]:
        """All shards: the declared ones, then the sources that are shards of their own name."""
        used: set[str] = set()
        for item in self.items:
            if isinstance(item, Shard):
                used.update((item.source, *item.replicas))
                yield item
            elif isinstance(item, ShardFamily):
                used.update(item.sources())
                yield from item
        for name in self._source_names():
            if name not in used:
                yield Shard(name=name, source=name)

    def _source_names(self) -> Iterator[str]:
        for item in self.items:
            if isinstance(item, Source):
                yield item.name
            elif isinstance(item, SourceFamily):
                yield from item.names()

    def ordered(self, shards: Iterable[str]) -> tuple[str, ...]:
        """Shards in the catalog's one order, in which locks are taken; open families' members last."""
        return tuple(sorted(shards, key=self._rank))

    def _rank(self, shard: str) -> tuple[int, int, str]:
        """By declaration, then by member; sources that are shards of their own name after all others."""
        if shard in self._ranks:
            return (self._ranks[shard], 0, shard)
        families: tuple[ShardFamily | SourceFamily, ...] = (*self._shard_families, *self._source_families)
        for family in families:
            value = family.value_of(shard)
            if value is not None and family.members is not None:
                return (self._ranks[family.name], family.members.index(value), shard)
        return (2 * len(self.items), 0, shard)

    def source_of(self, shard: str) -> str:
        """The name of the source to read `shard` from."""
        return self.shard(shard).source

    def sharding(self, name: str) -> Sharding:
        """The sharding of that name; raises UnknownName."""
        return _found(self._shardings.get(name), "sharding", name, self._shardings.values())

    def find_sharding(self, name: str) -> Sharding | None:
        """The sharding of that name, or None."""
        return self._shardings.get(name)

    def shardings(self) -> tuple[Sharding, ...]:
        return tuple(self._shardings.values())

    def with_members(self, members: Mapping[str, Iterable[str]]) -> Catalog:
        """This catalog, for one statement, in which DIRECTORY shardings have these members (as key texts).

        A light view: nothing is checked again but the names, and what was looked up already is shared. Raises
        as `checked_members` does.
        """
        given = {name: tuple(texts) for name, texts in members.items()}
        before = self._last_view
        if before is not None and before[0] == given:
            return before[1]
        known = {name: checked_members(self.sharding(name), texts) for name, texts in given.items()}
        listed = {
            name: replace(self.sharding(name), function=directory(texts)) for name, texts in known.items()
        }
        view = self._with_shardings(listed)
        object.__setattr__(self, "_last_view", (given, view))
        return view

    def with_any_member(self, name: str) -> Catalog:
        """This catalog, in which a DIRECTORY has one member: that of whatever shard it is asked about."""
        return self._with_shardings({name: any_member(self.sharding(name))})

    def _with_shardings(self, others: Mapping[str, Sharding]) -> Catalog:
        for name in _SHARED:
            getattr(self, name)  # looked up here, for this view and those to come
        view = object.__new__(Catalog)
        view.__dict__.update(self.__dict__)
        view.__dict__.update(_shardings={**self._shardings, **others}, _names={}, _last_view=None)
        return view

    def family_of(self, sharding: Sharding) -> SourceFamily | None:
        """The open family that the members of a DIRECTORY are sources of; None where they are schemas."""
        on = Template.parse(sharding.on or "")
        if on.is_constant:
            return None
        name = on.render(dict.fromkeys(on.variables, "a"))
        return self.open_family_of(name)

    # -------------------------------------------------------------- indexes and sequences

    def lookup_indexes(self, table: Table) -> tuple[LookupIndex, ...]:
        """The lookup indexes on `table`."""
        wanted = table.full_name.casefold()
        return tuple(each for each in self._of(LookupIndex) if each.table.casefold() == wanted)

    def join_indexes(self) -> tuple[JoinIndex, ...]:
        return self._of(JoinIndex)

    def sequence(self, name: str) -> Sequence | None:
        """The sequence of that name, without regard to letter case, or None."""
        wanted = name.casefold()
        return next((each for each in self._of(Sequence) if each.name.casefold() == wanted), None)

    # -------------------------------------------------------------- changes and text

    def with_(self, *items: Item) -> Catalog:
        """A new catalog with `items` added, or in place of those of the same kind and name."""
        kept = {item_key(item): item for item in self.items}
        kept.update({item_key(item): item for item in items})
        before, after, place = self.items, tuple(kept.values()), self._where

        def where(index: int, text: str | None) -> Place:
            """Of what stays as it was, where it was written: new columns may show it to be wrong."""
            stays = index < len(before) and after[index] is before[index]
            return place(index, text) if stays and place is not None else (None, None)

        return replace(self, items=after, version=self.version + 1, where=where)

    def without(self, *items: Item) -> Catalog:
        """A new catalog without `items`; raises CatalogError if something still refers to one."""
        gone = {item_key(item) for item in items}
        kept = tuple(item for item in self.items if item_key(item) not in gone)
        return replace(self, items=kept, version=self.version + 1)

    def apply(self, statement_text: str) -> Catalog:
        """A new catalog after management statements: CREATE, ATTACH, LOCK and DROP, as in a file.

        Only the catalog changes: whoever calls makes tables or moves rows.
        """
        return self.extended(read_script(statement_text, dialect=self.dialect, is_part=True))

    def extended(self, script: Script) -> Catalog:
        """A new catalog after the declarations of a script; its header is not looked at."""
        found: dict[ItemKey, tuple[Item, int | None]] = {item_key(item): (item, None) for item in self.items}
        for number, step in enumerate(script.steps):
            what = step.what
            if isinstance(what, Dropped):
                if found.pop(what.key, None) is None and not what.if_exists:
                    raise script.error(number, f'there is no {what.kind} "{what.name}" to drop', at=what.name)
                continue
            key = item_key(what)
            if key in found and not step.replaces and not isinstance(what, LockedTable):
                message = f'{kind_of(what)} "{what.name}" is declared twice'
                raise script.error(number, message, at=what.name, hint=_TWICE)
            found[key] = (what, number)
        numbers = [number for _, number in found.values()]

        def where(index: int, text: str | None) -> Place:
            number = numbers[index]
            return (None, None) if number is None else script.where(number, text)

        return replace(
            self,
            items=tuple(item for item, _ in found.values()),
            version=self.version + 1,
            where=where,
        )

    def to_sql(self, *, locked: bool = True) -> str:
        """The catalog in its language; reading it gives an equal catalog.

        Without `locked` the LOCK statements are left out, as in the file that people edit.
        """
        text = print_catalog(self.name, self.dialect, self.options, self.items)
        lock = self.lock_to_sql() if locked else ""
        return f"{text}\n{lock}" if lock else text

    def lock_to_sql(self) -> str:
        """What was read off the sources, as `cluster.lock.sql` holds it; empty if nothing was."""
        return print_lock(self._of(LockedTable))

    def __eq__(self, other: object) -> bool:
        return self._identity == other._identity if isinstance(other, Catalog) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._identity)

    def __repr__(self) -> str:
        return f"<Catalog {self.name!r} version {self.version}: {len(self.items)} declarations>"

    # -------------------------------------------------------------- looked up once

    def _of(self, kind: type[_T]) -> tuple[_T, ...]:
        return tuple(item for item in self.items if isinstance(item, kind))

    @cached_property
    def _identity(self) -> tuple[object, ...]:
        placed = (Source, SourceFamily, Shard, ShardFamily)  # their order is the order of shards
        ordered = tuple(item for item in self.items if isinstance(item, placed))
        others = frozenset(item for item in self.items if not isinstance(item, placed))
        return (self.name, self.dialect, self.options, ordered, others)

    @cached_property
    def _relations(self) -> Mapping[tuple[str, str], Table | View]:
        found: dict[tuple[str, str], Table | View] = {}
        locks = {(_fold(lock.schema), lock.name.casefold()): lock for lock in self._of(LockedTable)}
        for item in self.items:
            if isinstance(item, View):
                found[_fold(item.schema), item.name.casefold()] = item
            elif isinstance(item, Table) and not item.is_wildcard:
                key = (_fold(item.schema), item.name.casefold())
                lock = locks.get(key)
                found[key] = _shown(
                    _unlocked(item, lock) if lock and item.columns is None else item, self.dialect
                )
        for key, lock in locks.items():
            table = None if key in found else self.wildcard(lock.name, lock.schema)
            if table is not None:
                found[key] = _shown(_unlocked(table, lock), self.dialect)
        return found

    @cached_property
    def _fills(self) -> dict[tuple[str, str], Mapping[str, exp.Expr]]:
        return {}

    @cached_property
    def _wildcards(self) -> Mapping[str, Table]:
        return {_fold(table.schema): table for table in self._of(Table) if table.is_wildcard}

    @cached_property
    def _names(self) -> dict[tuple[str, str, str, str], dict[int, str]]:
        return {}

    @cached_property
    def _sources(self) -> Mapping[str, Source]:
        return {source.name: source for source in self._of(Source)}

    @cached_property
    def _source_families(self) -> tuple[SourceFamily, ...]:
        return self._of(SourceFamily)

    @cached_property
    def _open_families(self) -> tuple[SourceFamily, ...]:
        return tuple(family for family in self._source_families if family.members is None)

    @cached_property
    def _fixed_families(self) -> tuple[SourceFamily, ...]:
        return tuple(family for family in self._source_families if family.members is not None)

    @cached_property
    def _source_cache(self) -> dict[str, Source | None]:
        return {}

    @cached_property
    def _shard_dialects(self) -> dict[str, str]:
        return {}

    @cached_property
    def _shards(self) -> Mapping[str, Shard]:
        return {shard.name: shard for shard in self._of(Shard)}

    @cached_property
    def _shards_by_source(self) -> Mapping[str, list[Shard]]:
        found: dict[str, list[Shard]] = {}
        for shard in self._of(Shard):
            for source in (shard.source, *shard.replicas):
                found.setdefault(source, []).append(shard)
        return found

    @cached_property
    def _shard_families(self) -> tuple[ShardFamily, ...]:
        return self._of(ShardFamily)

    @cached_property
    def _shard_cache(self) -> dict[str, Shard | None]:
        return {}

    @cached_property
    def _ranks(self) -> Mapping[str, int]:
        """Places in the order of shards, of declarations by name."""
        places = list(enumerate(self.items))
        last = len(places)
        ranks = {item.name: last + at for at, item in places if isinstance(item, (Source, SourceFamily))}
        return ranks | {item.name: at for at, item in places if isinstance(item, (Shard, ShardFamily))}

    @cached_property
    def _has_directories(self) -> bool:
        return any(sharding.is_open for sharding in self._of(Sharding))

    @cached_property
    def _shardings(self) -> Mapping[str, Sharding]:
        return {sharding.name: sharding for sharding in self._of(Sharding)}


_SHARED = (
    "_relations",
    "_wildcards",
    "_fills",
    "_sources",
    "_source_families",
    "_open_families",
    "_fixed_families",
    "_source_cache",
    "_shards",
    "_shards_by_source",
    "_shard_families",
    "_shard_cache",
    "_ranks",
    "may_lack_schemas",
    "_has_directories",
    "dialects",
)

_TWICE = "Names are compared without regard to letter case; drop the other one, or rename this one"


def _fold(schema: str | None) -> str:
    return (schema or "").casefold()


def _unlocked(table: Table, lock: LockedTable) -> Table:
    """The table with what was read off its sources."""
    return replace(
        table,
        columns=lock.columns,
        primary_key=table.primary_key or lock.primary_key,
        unique=tuple(dict.fromkeys((*table.unique, *lock.unique))),
    )


def _shown(table: Table, dialect: str) -> Table:
    """The table with its virtual columns last, as `SELECT *` shows them, what may be filled with NULL
    nullable, and with the spelling of those that are EXACT."""
    filled = fills(table, dialect)
    nulls = {name for name, constant in filled.items() if isinstance(constant, exp.Null)}
    if nulls:
        columns = (
            replace(c, nullable=True) if c.name.casefold() in nulls else c for c in table.columns or ()
        )
        table = replace(table, columns=tuple(columns))
    if table.exact and table.columns is not None:
        spelled = {name.casefold(): spelling for name, spelling in table.exact}
        table = replace(
            table,
            columns=tuple(replace(c, spelling=spelled.get(c.name.casefold())) for c in table.columns),
        )
    virtual = table.placement.virtual if isinstance(table.placement, Sharded) else ()
    if not virtual or table.columns is None:
        return table
    names = {column.name.casefold() for column in virtual}
    physical = (column for column in table.columns if column.name.casefold() not in names)
    more = (replace(column, virtual=True, nullable=False) for column in virtual)
    return replace(table, columns=(*physical, *more))


def _found(item: _N | None, kind: str, name: str, known: Iterable[_N]) -> _N:
    if item is not None:
        return item
    names = [each.name for each in islice(known, 2000)]
    raise UnknownName(f'there is no {kind} "{name}"', reason=Reason.CATALOG, hint=did_you_mean(name, names))
