"""What inference looks at: physical tables with a sample of their rows, and families of them.

db_00.orders_00 … db_07.orders_63      =>  orders: 64 members, numbered 0 to 63
db_00.logins_202601, logins_202602 …   =>  logins: dated
db_00.address … db_07.address          =>  address: 8 members, one on each source
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

from shardwise.catalog.model import Column
from shardwise.catalog.shardings import Value
from shardwise.catalog.types import Family as Kind

_SUFFIX = re.compile(r"(.+?)_?(\d+)")
_ALIKE = 0.5

Row = Mapping[str, Value]
"""Values by column, in lower case."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Member:
    """A physical table and a sample of its rows; `rows_estimate` is what the server thinks there are."""

    source: str
    name: str
    columns: tuple[Column, ...]
    kinds: Mapping[str, Kind]
    primary_key: tuple[str, ...] = ()
    rows: Sequence[Row] = ()
    rows_estimate: int | None = None

    @property
    def column_names(self) -> frozenset[str]:
        return frozenset(self.kinds)


@dataclass(frozen=True, kw_only=True)
class Family:
    """Members that are one table: `suffixes` are the numbers that their names end in, if they do."""

    name: str
    members: tuple[Member, ...]
    suffixes: tuple[str | None, ...]
    missing: frozenset[str] = field(default_factory=frozenset)

    @property
    def sources(self) -> tuple[str, ...]:
        """Each once, in order."""
        return tuple(dict.fromkeys(member.source for member in self.members))

    @property
    def is_numbered(self) -> bool:
        return any(suffix is not None for suffix in self.suffixes)

    @property
    def days(self) -> tuple[date, ...] | None:
        """The first day that each member's suffix names, where all are months or days: 202601, 20260131."""
        found = [_day(suffix or "") for suffix in self.suffixes]
        days = tuple(day for day in found if day is not None)
        return (
            days
            if len(days) == len(self.members) and len({len(s or "") for s in self.suffixes}) == 1
            else None
        )

    @property
    def kinds(self) -> Mapping[str, Kind]:
        """The kinds of the columns that all members have."""
        first = self.members[0]
        return {
            name: kind
            for name, kind in first.kinds.items()
            if all(member.kinds.get(name) is kind for member in self.members)
        }

    def samples(self, *columns: str) -> list[tuple[int, tuple[Value, ...]]]:
        """Each different value of some columns with the member it is in; NULLs left out."""
        found: dict[tuple[int, tuple[Value, ...]], None] = {}
        for at, member in enumerate(self.members):
            for row in member.rows:
                values = tuple(row.get(column) for column in columns)
                if None not in values:
                    found[at, values] = None
        return list(found)


def on_all_sources(family: Family) -> tuple[Family, tuple[Member, ...]]:
    """A family by day or month without the days that not all of its sources have, and the members of those.

    So next month's table, made ahead on one server, does not hide the pattern of all others. Where most days
    are on some sources only, that is the pattern: nothing is taken away.
    """
    days, sources = family.days, set(family.sources)
    if days is None or len(sources) < 2:
        return family, ()
    homes: dict[date, set[str]] = {}
    for member, day in zip(family.members, days, strict=True):
        homes.setdefault(day, set()).add(member.source)
    ragged = {day for day, found in homes.items() if found != sources}
    if 2 * len(ragged) >= len(homes):
        return family, ()
    kept = [at for at, day in enumerate(days) if day not in ragged]
    rest = tuple(m for m, day in zip(family.members, days, strict=True) if day in ragged)
    whole = _family(family.name, [family.members[at] for at in kept], [family.suffixes[at] for at in kept])
    return whole, rest


def families(members: Iterable[Member], sources: Sequence[str]) -> list[Family]:
    """Members as families, in order of names; `sources` in the order in which they count."""
    order = {source: at for at, source in enumerate(sources)}
    by_base: dict[str, list[tuple[Member, str]]] = {}
    for member in members:
        found = _SUFFIX.fullmatch(member.name)
        base, suffix = (found[1].rstrip("_"), found[2]) if found else (member.name, "")
        by_base.setdefault(base.lower(), []).append((member, suffix))
    made: list[Family] = []
    for group in by_base.values():
        for alike in _alike(group):
            made += _made(alike, order)
    return sorted(made, key=lambda each: each.name.lower())


def _alike(group: Sequence[tuple[Member, str]]) -> list[list[tuple[Member, str]]]:
    """Those with the same columns, more or less."""
    found: list[list[tuple[Member, str]]] = []
    for member, suffix in group:
        for alike in found:
            first = alike[0][0].column_names
            both = len(first & member.column_names)
            if both > _ALIKE * len(first | member.column_names) and bool(alike[0][1]) == bool(suffix):
                alike.append((member, suffix))
                break
        else:
            found.append([(member, suffix)])
    return found


def _made(alike: Sequence[tuple[Member, str]], order: Mapping[str, int]) -> list[Family]:
    """One family by number, or one by name where there is only one number."""
    if len({suffix for _, suffix in alike}) > 1:
        ordered = sorted(alike, key=lambda each: (order[each[0].source], int(each[1])))
        found = _SUFFIX.fullmatch(ordered[0][0].name)
        assert found is not None
        return [_family(found[1].rstrip("_"), [m for m, _ in ordered], [suffix for _, suffix in ordered])]
    by_name: dict[str, list[Member]] = {}
    for member, _ in sorted(alike, key=lambda each: order[each[0].source]):
        by_name.setdefault(member.name.lower(), []).append(member)
    return [_family(members[0].name, members, [None] * len(members)) for members in by_name.values()]


def _family(name: str, members: Sequence[Member], suffixes: Sequence[str | None]) -> Family:
    union = frozenset[str]().union(*(member.column_names for member in members))
    missing = frozenset(name for name in union if any(name not in m.column_names for m in members))
    return Family(name=name, members=tuple(members), suffixes=tuple(suffixes), missing=missing)


def _day(suffix: str) -> date | None:
    try:
        match len(suffix):
            case 6:
                found = date(int(suffix[:4]), int(suffix[4:]), 1)
            case 8:
                found = date(int(suffix[:4]), int(suffix[4:6]), int(suffix[6:]))
            case _:
                return None
    except ValueError:
        return None
    return found if 1990 <= found.year <= 2100 else None
