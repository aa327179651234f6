"""Sources, shards, and what speaks which dialect: looked up in what is declared."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from shardwise.caching import cached_property
from shardwise.catalog.declared import Declared, existing
from shardwise.catalog.sources import Shard, ShardFamily, Source, SourceFamily

SCHEMALESS = frozenset({"sqlite", "parquet"})
"""Schemes of sources whose tables are in no schema: there a schema is the catalog's own, for naming."""

DIALECTS_MAX = 20_000
"""How many shards' dialects are remembered."""


@dataclass(frozen=True, kw_only=True, eq=False)
class SourceLookups(Declared):
    """Members of families are made when they are asked for: only `sources` and `shards` go through them."""

    _last_dialects: tuple[tuple[str, ...], frozenset[str]] | None = field(
        init=False, repr=False, compare=False, default=None
    )

    # -------------------------------------------------------------- sources

    def source(self, name: str) -> Source:
        """The source of that name, made if it is a member of a family; raises UnknownName."""
        return existing(self.find_source(name), "source", name, self.sources())

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

    def sources(self) -> Iterator[Source]:
        """All sources, members of fixed families one by one; those of open families are not known here."""
        for item in self.items:
            if isinstance(item, Source):
                yield item
            elif isinstance(item, SourceFamily):
                yield from item

    def _source_names(self) -> Iterator[str]:
        for item in self.items:
            if isinstance(item, Source):
                yield item.name
            elif isinstance(item, SourceFamily):
                yield from item.names()

    @cached_property
    def may_lack_schemas(self) -> bool:
        """Whether any source is of a kind that has no schemas: tables' own names may differ by shard."""
        patterns = [item.pattern if isinstance(item, SourceFamily) else item for item in self.items]
        return any(isinstance(each, Source) and each.scheme in SCHEMALESS for each in patterns)

    # -------------------------------------------------------------- dialects

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

    # -------------------------------------------------------------- shards

    def shard(self, name: str) -> Shard:
        """The shard of that name; a source that no CREATE SHARD uses is one of its own name."""
        return existing(self.find_shard(name), "shard", name, self.shards())

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

    def source_of(self, shard: str) -> str:
        """The name of the source to read `shard` from."""
        return self.shard(shard).source

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

    # -------------------------------------------------------------- looked up once

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
