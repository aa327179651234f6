"""The catalog as immutable data: what there is, where it is, and by which rule.

A change makes a new catalog. Nothing here reads a file, a clock or a socket. The text form is
`language.py`'s matter, the meaning of a sharding's key that of `shardings`. Names of tables,
views and columns are compared without regard to letter case, as DuckDB does, and kept as
written; names of sources, shards and shardings are exact.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import InitVar, dataclass, field, replace

from shardwise.catalog.checker import Place, Where
from shardwise.catalog.checks import check
from shardwise.catalog.items import Item, ItemKey, is_locked, item_key, kind_of
from shardwise.catalog.places import Sharding, any_member, checked_members
from shardwise.catalog.printing import print_catalog, print_lock
from shardwise.catalog.shardings import ShardingFunction, SlotSet, directory
from shardwise.catalog.sources import Members, Options, Secret, Shard, ShardFamily, Source, SourceFamily
from shardwise.catalog.statements import Dropped, Script, read_script
from shardwise.catalog.statistics import ColumnStatistics, TableStatistics
from shardwise.catalog.table_lookups import MAIN, TableLookups
from shardwise.catalog.tables import (
    Built,
    Column,
    ColumnName,
    IndexState,
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

__all__ = [
    "MAIN",
    "Built",
    "Catalog",
    "Column",
    "ColumnName",
    "ColumnStatistics",
    "IndexState",
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
    "TableStatistics",
    "View",
]


@dataclass(frozen=True, kw_only=True, eq=False)
class Catalog(TableLookups):
    """Everything that is declared. Immutable; checked when made; equal if what is declared is equal.

    What is in it is looked up as `SourceLookups` and `TableLookups` say. `where` finds the place in a text
    that an item came from, for the messages of checks.
    """

    where: InitVar[Where | None] = None
    _where: Where | None = field(init=False, repr=False, default=None)
    _last_view: tuple[dict[str, tuple[str, ...]], Catalog] | None = field(
        init=False, repr=False, compare=False, default=None
    )

    def __post_init__(self, where: Where | None) -> None:
        object.__setattr__(self, "options", Options(self.options))
        object.__setattr__(self, "items", tuple(self.items))
        object.__setattr__(self, "_where", where)
        check(self, where)

    def __repr__(self) -> str:
        return f"<Catalog {self.name!r} version {self.version}: {len(self.items)} declarations>"

    # -------------------------------------------------------------- members of a DIRECTORY

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
        """A new catalog after management statements: CREATE, ATTACH, LOCK, STATISTICS and DROP, as in a file.

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
                if what.key[0] == "index":
                    found.pop(("state", *what.key[1:]), None)  # another of its name is yet to be built
                continue
            key = item_key(what)
            if key in found and not step.replaces and not is_locked(what):
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

        Without `locked` the LOCK and STATISTICS statements are left out, as in the file that people edit.
        """
        text = print_catalog(self.name, self.dialect, self.options, self.items)
        lock = self.lock_to_sql() if locked else ""
        return f"{text}\n{lock}" if lock else text

    def lock_to_sql(self) -> str:
        """What was read off the sources, as `cluster.lock.sql` holds it; empty if nothing was."""
        return print_lock(item for item in self.items if is_locked(item))


_SHARED = (
    "_relations",
    "_wildcards",
    "_fills",
    "_statistics",
    "_own_shardings",
    "_own_tables",
    "_indexes",
    "index_tables",
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
