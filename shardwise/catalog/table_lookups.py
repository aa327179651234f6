"""Tables, where their rows are, and under which names: looked up in what is declared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from sqlglot import exp

from shardwise.caching import cached_property
from shardwise.catalog.declared import existing
from shardwise.catalog.filling import fills
from shardwise.catalog.index_places import own_sharding
from shardwise.catalog.index_tables import IndexTable, index_table, why_no_table
from shardwise.catalog.places import Sharding
from shardwise.catalog.shardings import Directory, SlotSet, members
from shardwise.catalog.source_lookups import SCHEMALESS, SourceLookups
from shardwise.catalog.sources import SourceFamily
from shardwise.catalog.statistics import ByColumn, ColumnStatistics, TableStatistics
from shardwise.catalog.tables import (
    IndexState,
    JoinIndex,
    LockedTable,
    LookupIndex,
    Reference,
    Scattered,
    Sequence,
    Sharded,
    ShardedWith,
    Single,
    Table,
    View,
)
from shardwise.catalog.templates import Template, TemplateValue
from shardwise.errors import InternalError, NotSupportedError

MAIN = "main"
"""What the default schema is called."""

PARTITIONS_MAX = 20_000
"""More than that on one shard are not there: an INTERVAL without bounds would list 9,999 years."""


@dataclass(frozen=True, kw_only=True, eq=False)
class TableLookups(SourceLookups):
    """Names of tables are compared without regard to letter case."""

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

    def relation(self, full_name: str) -> Table | View | None:
        """The table or view by a name that may hold a schema ("crm.contacts")."""
        schema, _, name = full_name.rpartition(".")
        return self.table(name, schema or None) or self.table(full_name)

    def parent(self, full_name: str) -> Table | View | None:
        """As `relation`; but a table that only a wildcard stands for is taken to exist."""
        schema, _, name = full_name.rpartition(".")
        return self.relation(full_name) or self.wildcard(name, schema or None)

    def wildcard(self, name: str, schema: str | None = None) -> Table | None:
        """The table that `name` would be by a wildcard, columns unknown, whether or not it exists.

        None for the name of an index that shardwise keeps: what is called so on a source is the index.
        """
        if not schema and name.casefold() in self._own_tables:
            return None
        found = self._wildcards.get(_fold(schema)) or self._wildcards.get("")
        return replace(found, name=name, schema=schema) if found else None

    def wildcards(self) -> tuple[Table, ...]:
        """The tables named "*": each asks that the tables of its sources be listed."""
        return tuple(self._wildcards.values())

    def fills(self, table: Table) -> Mapping[str, exp.Expr]:
        """The constants that columns missing on a partition read as, by folded name (DRIFT FILL)."""
        if table.drift != "FILL":
            return {}
        key = (_fold(table.schema), table.name.casefold())
        if key not in self._fills:
            self._fills[key] = fills(table, self.dialect)
        return self._fills[key]

    def statistics_of(self, table: Table) -> TableStatistics | None:
        """What ANALYZE found out about `table`; else the rows that the lock file gives it; else None.

        Of an index's table: its rows as of its build, and of its columns what is known of its tables'.
        """
        found = self._statistics.get((_fold(table.schema), table.name.casefold()))
        if found is None and table.schema is None and table.name.casefold() in self._own_tables:
            return self._statistics_of_index(table.name)
        return found

    def _statistics_of_index(self, name: str) -> TableStatistics | None:
        index, made = self.index(name), self.index_tables.get(name.casefold())
        state = self.state_of(index) if index is not None else None
        if made is None or state is None or state.rows is None:
            return None
        columns: dict[str, ColumnStatistics] = {}
        for of, own in made.columns.items():
            base = self.relation(of.table)
            known = self.statistics_of(base) if isinstance(base, Table) else None
            column = known.columns.get(of.column) if known is not None else None
            if column is not None:
                columns.setdefault(own, column)
        return TableStatistics(
            name=made.table.name, rows=state.rows, source="scan", columns=ByColumn(columns)
        )

    def lookup_indexes(self, table: Table) -> tuple[LookupIndex, ...]:
        """The lookup indexes on `table`."""
        wanted = table.full_name.casefold()
        lookups = (each for each in self._indexes if isinstance(each, LookupIndex))
        return tuple(each for each in lookups if each.table.casefold() == wanted)

    def join_indexes(self) -> tuple[JoinIndex, ...]:
        return tuple(each for each in self._indexes if isinstance(each, JoinIndex))

    def stored(self, name: str, schema: str | None = None) -> Table | View | None:
        """As `table`; but it also finds the table that an index is, which no statement of a user's names."""
        found = self.table(name, schema)
        if found is None and not schema and name.casefold() in self._own_tables:
            made = self.index_tables.get(name.casefold())
            return made.table if made is not None else None
        return found

    def stored_tables(self) -> Iterator[Table | View]:
        """As `tables`; then the tables that indexes are."""
        yield from self.tables()
        for made in self.index_tables.values():
            if self.table(made.table.name, made.table.schema) is None:
                yield made.table

    def indexes(self) -> tuple[LookupIndex | JoinIndex, ...]:
        """All indexes over shards, in the order declared."""
        return self._indexes

    @cached_property
    def index_tables(self) -> Mapping[str, IndexTable]:
        """The tables that indexes are, by the index's name, folded; of those that can have one."""
        able = (index for index in self._indexes if why_no_table(self, index) is None)
        return {index.name.casefold(): index_table(self, index) for index in able}

    def index(self, name: str) -> LookupIndex | JoinIndex | None:
        """The index of that name, without regard to letter case, or None."""
        wanted = name.casefold()
        return next((each for each in self._indexes if each.name.casefold() == wanted), None)

    def state_of(self, index: LookupIndex | JoinIndex) -> IndexState | None:
        """How far `index` is, as the lock file says; None: nobody began to build it."""
        wanted = index.name.casefold()
        return next((each for each in self._of(IndexState) if each.name.casefold() == wanted), None)

    @cached_property
    def index_states(self) -> frozenset[IndexState]:
        """How far all of them are."""
        return frozenset(self._of(IndexState))

    def sequence(self, name: str) -> Sequence | None:
        """The sequence of that name, without regard to letter case, or None."""
        wanted = name.casefold()
        return next((each for each in self._of(Sequence) if each.name.casefold() == wanted), None)

    # -------------------------------------------------------------- shardings

    def sharding(self, name: str) -> Sharding:
        """The sharding of that name, be it one that a lookup index has for itself; raises UnknownName."""
        return existing(self.find_sharding(name), "sharding", name, self._shardings.values())

    def find_sharding(self, name: str) -> Sharding | None:
        """The sharding of that name, or None."""
        return self._shardings.get(name) or self._own_shardings.get(name)

    def shardings(self) -> tuple[Sharding, ...]:
        """Those that are declared."""
        return tuple(self._shardings.values())

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

    def family_of(self, sharding: Sharding) -> SourceFamily | None:
        """The open family that the members of a DIRECTORY are sources of; None where they are schemas."""
        on = Template.parse(sharding.on or "")
        if on.is_constant:
            return None
        name = on.render(dict.fromkeys(on.variables, "a"))
        return self.open_family_of(name)

    # -------------------------------------------------------------- homes and partitions

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

    def is_slot_grain(self, table: Table) -> bool:
        """Whether the physical name depends on the slot."""
        sharding = self.sharding_of(table) if table.named else None
        return sharding is not None and not Template.parse(table.named or "").variables.isdisjoint(
            sharding.levels
        )

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

    # -------------------------------------------------------------- looked up once

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
    def _statistics(self) -> Mapping[tuple[str, str], TableStatistics]:
        found = {
            (_fold(lock.schema), lock.name.casefold()): TableStatistics(
                name=lock.name,
                schema=lock.schema,
                rows=lock.rows,
                source="sources",
                read_at=lock.read_at or "",
            )
            for lock in self._of(LockedTable)
            if lock.rows is not None
        }
        for each in self._of(TableStatistics):
            found[_fold(each.schema), each.name.casefold()] = each
        return found

    @cached_property
    def _wildcards(self) -> Mapping[str, Table]:
        return {_fold(table.schema): table for table in self._of(Table) if table.is_wildcard}

    @cached_property
    def _indexes(self) -> tuple[LookupIndex | JoinIndex, ...]:
        return tuple(item for item in self.items if isinstance(item, LookupIndex | JoinIndex))

    @cached_property
    def _own_tables(self) -> frozenset[str]:
        """The names of tables that are indexes, folded."""
        kept = (each.name for each in self._indexes if isinstance(each, JoinIndex) or not each.index_table)
        return frozenset(name.casefold() for name in kept)

    @cached_property
    def _names(self) -> dict[tuple[str, str, str, str], dict[int, str]]:
        return {}

    @cached_property
    def _has_directories(self) -> bool:
        return any(sharding.is_open for sharding in self._of(Sharding))

    @cached_property
    def _own_shardings(self) -> Mapping[str, Sharding]:
        """Those that lookup indexes have for themselves, over the shards of their tables."""
        found = {}
        for index in self._of(LookupIndex):
            base = self.relation(index.table) if index.index_table is None else None
            placement = base.placement if isinstance(base, Table) else None
            sharding = self._shardings.get(placement.sharding) if isinstance(placement, Sharded) else None
            if sharding is not None and not sharding.is_open:
                own = own_sharding(index, sharding.shards())
                found[own.name] = own
        return found

    @cached_property
    def _shardings(self) -> Mapping[str, Sharding]:
        return {sharding.name: sharding for sharding in self._of(Sharding)}


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
