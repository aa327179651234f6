"""A catalog in the making: declarations found elsewhere, with remarks, put together as the catalog's text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from textwrap import wrap

from shardwise.catalog.items import Item
from shardwise.catalog.language import parse
from shardwise.catalog.model import Sharding, Table
from shardwise.catalog.printing import print_item
from shardwise.catalog.shardings import Directory, Grid, ListOf, Range, ShardingFunction
from shardwise.catalog.sources import Members, Source, SourceFamily
from shardwise.errors import CatalogError
from shardwise.inspection.layouts.fitting import slots_template, template_of

_WIDTH = 107


@dataclass
class Draft:
    """Sources, shardings and tables, in the order they were found; `remarks` by what they are about.

    Two tables of one function and one map get one sharding: they are colocated.
    """

    name: str
    dialect: str
    sources: dict[str, Source] = field(default_factory=dict)
    shardings: dict[str, Sharding] = field(default_factory=dict)
    tables: list[Table] = field(default_factory=list)
    remarks: dict[str, list[str]] = field(default_factory=dict)

    def remark(self, about: str, text: str) -> None:
        """A line for people, before what it is about: a table's name, or "" for the whole."""
        self.remarks.setdefault(about, []).append(text)

    def sharding(
        self, name: str, function: ShardingFunction, shards: Sequence[str], levels: Sequence[str]
    ) -> str:
        """The name of the sharding with this function and the shard of each slot, made if there is none.

        `name` is what it is called if it is new: `by_user_id`, then `by_user_id_2`.
        """
        made = _sharding(name, function, shards, levels)
        for known in self.shardings.values():
            if replace(known, name=name) == made:
                return known.name
        number, own = 1, name
        while own in self.shardings or own in self.sources:
            number += 1
            own = f"{name}_{number}"
        self.shardings[own] = replace(made, name=own)
        return own

    def directory(self, name: str, level: str, on: str) -> str:
        """The name of a new sharding whose members are found when they are needed."""
        own = f"{name}_2" if name in self.shardings or name in self.sources else name
        self.shardings[own] = Sharding(name=own, function=Directory(), levels=(level,), on=on)
        return own

    def items(self) -> list[Item]:
        """The declarations, sources of one pattern as families."""
        return [*families(self.sources.values()), *self.shardings.values(), *self.tables]

    def text(self) -> str:
        """The catalog's text, checked by reading it."""
        lines = [*_comments(self.remarks.get("", ())), f"CREATE CATALOG {self.name} DIALECT {self.dialect};"]
        last: type | None = None
        for item in self.items():
            kind = Source if isinstance(item, SourceFamily) else type(item)
            remarks = self.remarks.get(item.full_name if isinstance(item, Table) else item.name, ())
            lines += [""] if kind is not last or remarks else []
            lines += [*_comments(remarks), print_item(item, self.dialect)]
            last = kind
        text = "\n".join(lines) + "\n"
        parse(text)
        return text


def _comments(remarks: Iterable[str]) -> list[str]:
    return [f"-- {line}" for remark in remarks for line in wrap(remark, _WIDTH, subsequent_indent="  ")]


def _sharding(
    name: str, function: ShardingFunction, shards: Sequence[str], levels: Sequence[str]
) -> Sharding:
    """The map as a template where one fits, else shard by shard."""
    if isinstance(function, Grid):
        inner = function.inner.size
        on = slots_template(function.outer, shards[::inner], levels[0])
        is_by_row = all(shards[slot] == shards[slot - slot % inner] for slot in range(len(shards)))
        if on is None or not is_by_row:
            raise CatalogError(f'the shards of "{name}" do not follow its first level')
        return Sharding(name=name, function=function, levels=tuple(levels), on=on)
    on = None
    if not isinstance(function, (Range, ListOf)):
        on = slots_template(function, shards, levels[0])
    if on is not None:
        return Sharding(name=name, function=function, levels=tuple(levels), on=on)
    owners = tuple((shard, 1 << slot) for slot, shard in enumerate(shards))
    return Sharding(name=name, function=function, levels=tuple(levels), owners=owners)


def families(sources: Iterable[Source]) -> list[Source | SourceFamily]:
    """Sources that differ in a number alone as families, in order of the first of each."""
    groups: dict[str, list[Source]] = {}
    for source in sources:
        groups.setdefault(source.name.rstrip("0123456789"), []).append(source)
    found: list[Source | SourceFamily] = []
    for prefix, members in groups.items():
        family = _family(prefix, members) if len(members) > 1 else None
        found += members if family is None else [family]
    return found


def _family(prefix: str, members: Sequence[Source]) -> SourceFamily | None:
    numbers = {int(source.name.removeprefix(prefix)): source for source in members if source.name != prefix}
    if len(numbers) < len(members) or any(
        replace(s, name="", url="") != replace(members[0], name="", url="") for s in members
    ):
        return None
    name = template_of({n: source.name for n, source in numbers.items()}, "n")
    url = template_of({n: source.url or "" for n, source in numbers.items()}, "n")
    if name is None or url is None or "{n" not in name or any(sign in name for sign in ("//", "%", "+", "-")):
        return None
    pattern = replace(members[0], name=name, url=url or None)
    return SourceFamily(pattern=pattern, variable="n", members=Members(tuple(runs(sorted(numbers)))))


def runs(numbers: Sequence[int]) -> list[range]:
    """Ascending numbers as ranges."""
    found: list[range] = []
    for number in numbers:
        if found and found[-1].stop == number:
            found[-1] = range(found[-1].start, number + 1)
        else:
            found.append(range(number, number + 1))
    return found


def named(
    function: ShardingFunction, tables: Sequence[str], levels: Sequence[str], logical: str
) -> str | None:
    """The NAMED template of a table by its names slot by slot; None where they are the logical one.

    CatalogError where no template gives them.
    """
    if isinstance(function, Grid):
        size = function.inner.size
        inner = tables[:size]
        repeats = list(tables) == list(inner) * function.outer.size
        template = slots_template(function.inner, inner, levels[1]) if repeats else None
    else:
        template = slots_template(function, tables, levels[0])
    if template is None:
        raise CatalogError(f'the names of the tables of "{logical}" follow no pattern')
    return None if template == logical else template
