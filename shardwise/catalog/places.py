"""Sharding: a function from a key to a slot, and the map from slots to shards.

The map is written as a list of shards with their slots, or as a template over the slot
(`db_{n // 8:02}`), either with exceptions for what has moved since. It is filled in once, when
first asked for; 10,000 slots take some 20 ms.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import chain, groupby, repeat
from unicodedata import normalize

from shardwise.caching import cached_property
from shardwise.catalog.shardings import Directory, Grid, ShardingFunction, SlotSet, full, mask, members
from shardwise.catalog.sources import member_problem
from shardwise.catalog.templates import Template, TemplateError, TemplateValue
from shardwise.errors import CatalogError, DataError, NotSupportedError, Reason

Owners = tuple[tuple[str, SlotSet], ...]


@dataclass(frozen=True, kw_only=True)
class Sharding:
    """`function` (key → slot) and the map slot → shard.

    `levels` name the slot for templates (`AS n`; two for a two-level sharding; "slot" by default).
    The map is `owners` (shard, its slots), or the template `on`; `moved` overrides either. Slots are
    numbers from 0; a shard may own none. For a DIRECTORY each member is a slot, numbered by whoever
    says which members there are (`Catalog.with_members`).

    Not slotted: what is computed from the map is kept in the object.
    """

    name: str
    function: ShardingFunction
    levels: tuple[str, ...] = ("slot",)
    owners: Owners = ()
    on: str | None = None
    moved: Owners = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "owners", _canonical(self.owners))
        object.__setattr__(self, "moved", _canonical(self.moved))

    @property
    def is_open(self) -> bool:
        """Whether its members are found when they are needed (DIRECTORY)."""
        return isinstance(self.function, Directory)

    @property
    def is_known(self) -> bool:
        """Whether its slots are known: always, but for a DIRECTORY that nobody has listed."""
        return not isinstance(self.function, Directory) or self.function.members is not None

    def shards(self) -> tuple[str, ...]:
        """The shards that own a slot, in the order of their first slots."""
        return tuple(self._slots)

    def shard_of(self, slot: int) -> str:
        """The shard that owns `slot`."""
        shard = self.slot_map[slot] if 0 <= slot < len(self.slot_map) else None
        if shard is None:
            raise CatalogError(f'sharding "{self.name}" has no shard for slot {slot}')
        return shard

    def slots_of(self, shard: str) -> SlotSet:
        """The slots that `shard` owns, 0 if it owns none."""
        return self._slots.get(shard, 0)

    def shards_of(self, slots: SlotSet) -> tuple[str, ...]:
        """The shards that own any of `slots`, in the order of `shards()`.

        Takes time linear in the slots given or in the shards, whichever are fewer.
        """
        if slots & self._all_slots == self._all_slots:
            return self.shards()
        if slots.bit_count() > len(self._slots):
            return tuple(shard for shard, owned in self._slots.items() if owned & slots)
        found = {self.slot_map[slot] for slot in members(slots & self._all_slots)}
        return tuple(sorted((shard for shard in found if shard), key=self._order.__getitem__))

    def member_of(self, shard: str) -> str | None:
        """The member of a DIRECTORY that a shard of its own is; None if it is no such shard."""
        template = Template.parse(self.on or "")
        found = (template.match(shard) or {}).get(self.levels[0])
        is_one = found is not None and template.render({self.levels[0]: found}) == shard
        return found if is_one else None

    def shard_of_member(self, member: str) -> str:
        """The shard of a member of a DIRECTORY."""
        return Template.parse(self.on or "").render({self.levels[0]: member})

    def members_on(self, shard: str, slots: SlotSet) -> tuple[str, ...]:
        """The members of a DIRECTORY, on these slots of a shard."""
        texts = self.function.members if isinstance(self.function, Directory) else None
        return tuple([(texts or ())[slot] for slot in members(slots)])

    @property
    def shards_are_sources(self) -> bool:
        """Whether each member of a DIRECTORY is a source, and so a shard; not a schema of the one shard
        `on`."""
        return self.is_open and not Template.parse(self.on or "").is_constant

    def variables(self, slot: int) -> dict[str, TemplateValue]:
        """What templates know of a slot: each level's number or date, by its name."""
        return dict(zip(self.levels, self.function.labels(slot), strict=True))

    def with_moved(self, slots: SlotSet, shard: str) -> Sharding:
        """The same sharding after `slots` have been moved to `shard`: exceptions to a rule that stays."""
        kept = tuple((name, owned & ~slots) for name, owned in self.moved)
        kept = tuple((name, owned) for name, owned in kept if owned)
        others = dict(kept)
        others[shard] = others.get(shard, 0) | slots
        return replace(self, moved=tuple(others.items()))

    @cached_property
    def slot_map(self) -> tuple[str | None, ...]:
        """Each slot's shard, None where nothing says (which no checked catalog has)."""
        if not self.is_known:
            raise NotSupportedError(
                f'the members of sharding "{self.name}" are not listed',
                hint="A DIRECTORY's members are read off its source or files, which this operation cannot do",
            )
        size = self.function.size
        found: list[str | None] = [None] * size if self.on is None else list(self._by_template(size))
        for owners in (self.owners, self.moved):
            for shard, slots in owners:
                for slot in members(slots & full(size)):
                    found[slot] = shard
        return tuple(found)

    def _by_template(self, size: int) -> Iterable[str]:
        """The template filled for each slot; but once per slot of a level, if it reads only that level."""
        template = Template.parse(self.on or "")
        reads = template.variables
        try:
            if not reads:
                return repeat(template.render({}), size)
            if isinstance(self.function, Grid) and len(reads & set(self.levels)) == 1:
                columns = self.function.inner.size
                if self.levels[1] in reads:
                    return [template.render(self.variables(slot)) for slot in range(columns)] * (
                        size // columns
                    )
                rows = (template.render(self.variables(slot)) for slot in range(0, size, columns))
                return [name for row in rows for name in repeat(row, columns)]
            return [template.render(self.variables(slot)) for slot in range(size)]
        except TemplateError as error:
            raise CatalogError(f'sharding "{self.name}": {error}', hint=self._variables_hint()) from None

    def _variables_hint(self) -> str:
        return f"Its template knows the variables {', '.join(self.levels)}"

    @cached_property
    def _slots(self) -> Mapping[str, SlotSet]:
        """Each shard's slots, shards in the order of their first slot."""
        runs: dict[str, list[range]] = {}
        start = 0
        for shard, run in groupby(self.slot_map):
            stop = start + sum(1 for _ in run)
            if shard is not None:
                runs.setdefault(shard, []).append(range(start, stop))
            start = stop
        return {shard: _joined(ranges) for shard, ranges in runs.items()}

    @cached_property
    def _order(self) -> Mapping[str, int]:
        return {shard: number for number, shard in enumerate(self._slots)}

    @cached_property
    def _all_slots(self) -> SlotSet:
        return full(self.function.size)


class AnyMember(Sharding):
    """A DIRECTORY with one member, which is that of whatever shard it is asked about.

    What a statement sends to its only member's shard is, but for the member, the same for all members.
    """

    def slots_of(self, shard: str) -> SlotSet:
        return 0 if self.member_of(shard) is None else 1

    def members_on(self, shard: str, slots: SlotSet) -> tuple[str, ...]:
        member = self.member_of(shard)
        return () if member is None or not slots else (member,)


def any_member(sharding: Sharding) -> AnyMember:
    """A DIRECTORY, each of whose members is a source, as an `AnyMember`."""
    return AnyMember(name=sharding.name, function=Directory(("",)), levels=sharding.levels, on=sharding.on)


def _canonical(owners: Owners) -> Owners:
    """Each shard once, in the order of first slots."""
    slots: dict[str, SlotSet] = {}
    for shard, owned in owners:
        slots[shard] = slots.get(shard, 0) | owned
    found = [(shard, owned) for shard, owned in slots.items() if owned]
    return tuple(sorted(found, key=lambda each: each[1] & -each[1]))


def _joined(ranges: list[range]) -> SlotSet:
    """The slots of some ranges."""
    if len(ranges) > 64:
        return mask(chain.from_iterable(ranges))
    found = 0
    for each in ranges:
        found |= full(len(each)) << each.start
    return found


def checked_members(sharding: Sharding, texts: Iterable[str], *, are_shown: bool = True) -> tuple[str, ...]:
    """The members of a DIRECTORY, each once and in order; DataError for a name that cannot be one.

    Whoever lists members, or takes one out of a statement, has it looked at here: the name becomes part of a
    path or of a table's name, and two that differ in letter case only are one file on some systems. Names
    that come of a statement are not `are_shown`: they may be parameters' values.
    """
    found = tuple(sorted(set(texts)))
    folded: dict[str, str] = {}
    for text in found:
        problem = member_problem(text)
        if problem is not None:
            which = _shown(text) if are_shown else "a value"
            raise DataError(
                f'{which} cannot be a member of "{sharding.name}": it {problem}',
                reason=Reason.MEMBER_NAME,
                hint="A member is the name of one file, folder or schema, and leads to no other",
            )
        other = folded.setdefault(normalize("NFC", text).casefold(), text)
        if other != text:
            both = f"{_shown(other)} and {_shown(text)}" if are_shown else "two values"
            raise DataError(
                f'{both} cannot both be members of "{sharding.name}": they differ in letter case, or in how '
                "accents are written, only",
                reason=Reason.MEMBER_NAME,
                hint="They are one file on some systems: rename one of them",
            )
    return found


def _shown(text: str) -> str:
    """A name for a message: printable, and not endless."""
    text = f"{text[:60]}…" if len(text) > 60 else text
    return f'"{text}"' if text.isprintable() else repr(text)
