"""catalog infer: a layout that nobody has described, found by trying; and the evidence for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from shardwise.catalog.model import (
    Placement,
    Reference,
    Scattered,
    Sharded,
    ShardedWith,
    ShardKey,
    Single,
    Table,
)
from shardwise.catalog.shardings import Grid, Interval, Mod, Range, ShardingFunction, mod, two_level
from shardwise.catalog.sources import Source
from shardwise.catalog.types import Family as Kind
from shardwise.errors import CatalogError
from shardwise.inspection.inferring.deciding import (
    Evidence,
    Probe,
    are_copies,
    evidence,
    interval_of,
    parent_of,
    primary_first,
)
from shardwise.inspection.inferring.sampled import Family, Member, families, on_all_sources
from shardwise.inspection.inferring.trying import Fit
from shardwise.inspection.layouts.draft import Draft, named
from shardwise.inspection.spelled import SpellingEvidence, likely_weight
from shardwise.planner.dialects import query_dialect


def infer(
    members: Sequence[Member],
    sources: Sequence[Source],
    probe: Probe,
    *,
    name: str,
    dialect: str,
    on_family: Callable[[str], None] = lambda _: None,
) -> Draft:
    """The draft of a catalog for physical tables on these sources, each table with a sample of its rows."""
    draft = Draft(name, dialect)
    for source in sources:
        draft.sources[source.name] = source
    found = []
    for family in families(members, [source.name for source in sources]):
        whole, rest = on_all_sources(family)
        found.append(whole)
        if rest:
            told = ", ".join(f"{member.name} on {member.source}" for member in rest[:4])
            more = ", …" if len(rest) > 4 else ""
            draft.remark("", f"Not read, for not all sources of {family.name} have it: {told}{more}.")
    _Inference(draft, found, probe, on_family).decide()
    return draft


@dataclass
class _Inference:
    draft: Draft
    families: Sequence[Family]
    probe: Probe
    on_family: Callable[[str], None]
    evidence: dict[int, Evidence] = field(default_factory=dict)
    names: Counter[str] = field(default_factory=Counter)
    layouts: dict[str, tuple[ShardingFunction, list[Member], tuple[str, ...]]] = field(default_factory=dict)
    """By family: its function, the member of each slot, and the names of its levels."""

    def decide(self) -> None:
        several = []
        for number, family in enumerate(self.families):
            self.on_family(family.name)
            if len(family.members) > 1:
                several.append(family)
                self.evidence[number] = self._evidence(family)
        votes = Counter(
            column
            for each in self.evidence.values()
            for column in {
                fit.key.column.lower() for fit in (*each.whole, *each.by_source) if fit.key.is_plain
            }
        )
        placed = []
        open_ = []
        order = sorted(range(len(self.families)), key=self._rank)
        decided: dict[int, tuple[Table, list[str]]] = {}
        for number in order:
            family, found = self.families[number], self.evidence.get(number)
            made = self._by_key(family, found, votes) if found is not None else self._single(family)
            if made is None:
                open_.append(number)
            else:
                decided[number] = made
                placed.append(family)
        for number in open_:
            family = self.families[number]
            try:
                decided[number] = self._without_key(family, self.evidence[number], placed)
            except CatalogError as error:
                self.draft.remark("", f"{family.name} ({_shape(family)}) is left out: {error.message}.")
        for number in sorted(decided):
            table, remarks = decided[number]
            self.draft.tables.append(table)
            for remark in remarks:
                self.draft.remark(table.name, remark)

    def _rank(self, number: int) -> tuple[int, int]:
        """Most slots first, then most keys: its key names the sharding."""
        fits = self.evidence[number].whole if number in self.evidence else ()
        return -max((fit.function.size for fit in fits), default=0), -len(fits)

    def _evidence(self, family: Family) -> Evidence:
        if not family.is_numbered and are_copies(family, self.probe):
            return Evidence(are_copies=True)
        return evidence(family, self.probe, self.draft.dialect)

    # -------------------------------------------------------------- verdicts

    def _name(self, family: Family) -> str:
        """Two families may be of one name: the second is called after its first table."""
        self.names[family.name.lower()] += 1
        return family.name if self.names[family.name.lower()] == 1 else family.members[0].name

    def _table(self, family: Family, placement: Placement, template: str | None) -> Table:
        name = self._name(family)
        template = template if template is not None else (family.name if name != family.name else None)
        return Table(name=name, placement=placement, named=template, drift="FILL" if family.missing else None)

    def _single(self, family: Family) -> tuple[Table, list[str]]:
        (member,) = family.members
        table = replace(self._table(family, Single(on=member.source), None), name=member.name, named=None)
        return table, []

    def _by_key(self, family: Family, found: Evidence, votes: Counter[str]) -> tuple[Table, list[str]] | None:
        try:
            if found.whole:
                return self._by_one_rule(family, found, votes)
            if found.by_source and found.by_table:
                return self._by_two_rules(family, found, votes)
        except CatalogError as error:
            self.draft.remark(family.name, f"A rule was found, but it cannot be written: {error.message}.")
        return None

    def _by_one_rule(self, family: Family, found: Evidence, votes: Counter[str]) -> tuple[Table, list[str]]:
        fits = primary_first(found.whole, family, votes)
        first = fits[0]
        members = [family.members[target] for target in first.targets]
        shards = [member.source for member in members]
        function, members = self._lifted(first.function, shards, members)
        self.layouts[family.name] = (function, members, ("n",))
        template = named(function, [member.name for member in members], ("n",), family.name)
        sharding = self.draft.sharding(
            f"by_{first.key.column.lower()}", function, [member.source for member in members], ("n",)
        )
        keys = tuple(ShardKey(parts=(fit.key.expression,)) for fit in fits)
        table = self._table(family, Sharded(sharding=sharding, keys=keys), template)
        told = self._told(family, found, fits)
        remarks = [*told, *_guesses(fits), *_missing(family), *_later([first.function])]
        return table, [*remarks, *self._spellings(family, fits)]

    def _lifted(
        self, function: ShardingFunction, shards: Sequence[str], members: Sequence[Member]
    ) -> tuple[ShardingFunction, list[Member]]:
        """The same rule in the slots of a sharding that there is, if it can be: then both are colocated."""
        for known in self.draft.shardings.values():
            size = known.function.size
            if isinstance(function, Mod) and isinstance(known.function, Mod) and size % function.size == 0:
                lifted = [shards[slot % function.size] for slot in range(size)]
                if list(known.slot_map) == lifted and known.levels == ("n",):
                    return known.function, [members[slot % function.size] for slot in range(size)]
        return function, list(members)

    def _by_two_rules(self, family: Family, found: Evidence, votes: Counter[str]) -> tuple[Table, list[str]]:
        row, column = (primary_first(fits, family, votes)[0] for fits in (found.by_source, found.by_table))
        if any(isinstance(fit.function, Range) for fit in (row, column)):
            raise CatalogError("two levels are of HASH and MOD only")
        function = two_level(row.function, column.function)
        sources = list(dict.fromkeys(member.source for member in family.members))
        tables = list(dict.fromkeys(member.name for member in family.members))
        shards = [sources[r] for r in row.targets for _ in column.targets]
        names = [tables[c] for _ in row.targets for c in column.targets]
        by_name = {(member.source, member.name): member for member in family.members}
        places = list(zip(shards, names, strict=True))
        if len(by_name) < len(places) or any(place not in by_name for place in places):
            raise CatalogError("not every database has every table")
        members = [by_name[place] for place in places]
        self.layouts[family.name] = (function, members, ("d", "t"))
        template = named(function, names, ("d", "t"), family.name)
        sharding = self.draft.sharding(
            f"by_{row.key.column.lower()}_{column.key.column.lower()}", function, shards, ("d", "t")
        )
        key = ShardKey(parts=(row.key.expression, column.key.expression))
        table = self._table(family, Sharded(sharding=sharding, keys=(key,)), template)
        return table, [
            f"{_shape(family)}. Databases: {self._fit(row)}. Tables: {self._fit(column)}.",
            *_guesses([row, column]),
            *_missing(family),
            *_later([row.function, column.function]),
            *self._spellings(family, [row, column]),
        ]

    def _without_key(
        self, family: Family, found: Evidence, placed: Sequence[Family]
    ) -> tuple[Table, list[str]]:
        if found.are_copies:
            rows = self.probe.count(family.members[0])
            table = self._table(family, Reference(on=self._everywhere(family)), None)
            return table, [f"The same {rows:,} rows on {len(family.members)} sources."]
        parent = parent_of(family, placed, self.probe)
        if parent is not None:
            placement: Placement = ShardedWith(
                parent=parent.family.name, column=parent.column, parent_column=parent.parent_column
            )
            told = (
                f"No column places a row; {parent.values:,} of {parent.values:,} values of {parent.column} "
                f"are in {parent.family.name}.{parent.parent_column} of the same number, not in the next."
            )
            table = self._table(family, placement, self._as_parent(family, parent.family))
            return table, [f"{_shape(family)}. {told}", *_missing(family)]
        why = (
            "all are empty"
            if not any(member.rows for member in family.members)
            else (f"{found.tried:,} rules were tried, and none fits all keys")
        )
        template, sharding = self._scattered(family)
        near = f" {found.near}: are the others misplaced?" if found.near else ""
        table = self._table(family, Scattered(sharding=sharding), template)
        remarks = [f"{_shape(family)}. Never pruned: {why}.{near}", *_missing(family)]
        days = interval_of(family)
        return table, [*remarks, *_later([days] if days is not None else [])]

    def _everywhere(self, family: Family) -> tuple[str, ...]:
        """A sharding that is on just these sources, else the sources."""
        wanted = set(family.sources)
        known = [each.name for each in self.draft.shardings.values() if set(each.shards()) == wanted]
        return (known[0],) if known else family.sources

    def _scattered(self, family: Family) -> tuple[str | None, str]:
        """By number of the member, or by database and day, which says nothing of the rows."""
        sources = [member.source for member in family.members]
        tables = [member.name for member in family.members]
        function: ShardingFunction = mod(len(family.members))
        levels: tuple[str, ...] = ("n",)
        days = interval_of(family)
        if days is not None and len(family.members) == len(family.sources) * days.size:
            order = {day: at for at, day in enumerate(sorted(set(family.days or ())))}
            ordered = sorted(order, key=order.__getitem__)
            by_place = {(m.source, day): m for m, day in zip(family.members, family.days or (), strict=True)}
            members = [by_place[source, day] for source in family.sources for day in ordered]
            sources, tables = [member.source for member in members], [member.name for member in members]
            function, levels = (days, ("m",))
            if len(family.sources) > 1:
                function, levels = two_level(mod(len(family.sources)), days), ("d", "m")
        template = named(function, tables, levels, family.name)
        for known in self.draft.shardings.values():
            if known.function == function and list(known.slot_map) == sources and known.levels == levels:
                return template, known.name
        return template, self.draft.sharding("members", function, sources, levels)

    def _as_parent(self, family: Family, parent: Family) -> str | None:
        """The template of a child's names: slot by slot where its parent's are."""
        function, members, levels = self.layouts[parent.name]
        places = {
            (m.source, suffix): m.name for m, suffix in zip(family.members, family.suffixes, strict=True)
        }
        suffixes = dict(zip(parent.members, parent.suffixes, strict=True))
        names = [places[member.source, suffixes[member]] for member in members]
        return named(function, names, levels, family.name)

    def _spellings(self, family: Family, fits: Sequence[Fit]) -> Iterator[str]:
        """Text keys that prune only if they are EXACT, and could be: that is for the reader to say."""
        dialect = query_dialect(self.draft.dialect)
        for name in dict.fromkeys(fit.key.column for fit in fits):
            column = next(c for c in family.members[0].columns if c.name.lower() == name.lower())
            folds = dialect.folds(column) if dialect.family(column.type) is Kind.TEXT else None
            if folds is None:
                continue
            texts = [value for _, (value,) in family.samples(name) if isinstance(value, str)]
            seen = SpellingEvidence(folds)
            seen.learn((text, likely_weight(text, folds)) for text in texts)
            why = f"Under the collation of {name}, {column.collation}, texts that differ may be equal"
            if seen.spelling is None:
                yield f"{why}: queries by it ask all shards."
            else:
                yield (
                    f"{why}: queries by it ask all shards, unless you add {seen.spelling} ({name}). "
                    f"{len(seen.values):,} of {len(seen.values):,} values in the sample are spelled so; "
                    "are all, and will they be?"
                )

    # -------------------------------------------------------------- evidence in words

    def _told(self, family: Family, found: Evidence, fits: Sequence[Fit]) -> list[str]:
        first, *others = fits
        told = f"{_shape(family)}. {self._fit(first)}."
        if others:
            told += f" Its slot is also that of {', '.join(self._key(fit) for fit in others)}."
        rest = [fit for fit in found.whole if fit not in fits]
        if rest:
            told += f" Another rule would do too: {'; '.join(self._fit(fit) for fit in rest[:3])}."
        return [told]

    def _key(self, fit: Fit) -> str:
        return f"{fit.key.expression.sql(self.draft.dialect)} ({fit.keys:,} keys)"

    def _fit(self, fit: Fit) -> str:
        key = fit.key.expression.sql(self.draft.dialect)
        return f"{fit.keys:,} of {fit.keys:,} keys fit {key} by {_said(fit.function)}"


def _said(function: ShardingFunction) -> str:
    match function:
        case Mod():
            return f"MOD {function.size}"
        case Range():
            return f"RANGE with {len(function.bounds)} parts"
        case Interval():
            return f"INTERVAL {function.unit}"
        case Grid():
            return f"{_said(function.outer)}, {_said(function.inner)}"
    options = "".join(f", {name} = '{value}'" for name, value in getattr(function, "options", ()))
    return f"HASH({getattr(function, 'algorithm', type(function).__name__)}{options}) SLOTS {function.size}"


def _shape(family: Family) -> str:
    sources = len(family.sources)
    return f"{len(family.members)} tables on {sources} source{'s' if sources > 1 else ''}"


def _guesses(fits: Sequence[Fit]) -> list[str]:
    guessed = max(fit.guessed for fit in fits)
    if not guessed:
        return []
    return [f"{guessed} slots have no key in the sample, and are taken to be with their neighbours."]


def _later(functions: Sequence[ShardingFunction]) -> list[str]:
    """What is not seen of tables that are yet to be made."""
    units = [function.unit.lower() for function in functions if isinstance(function, Interval)]
    if not units:
        return []
    return [f"A later {units[0]}'s table is read once TO says so: catalog check tells of those beyond it."]


def _missing(family: Family) -> list[str]:
    if not family.missing:
        return []
    return [f"Not on all of them: {', '.join(sorted(family.missing))}."]
