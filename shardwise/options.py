"""Options of a cluster, a connection or a statement; each level overrides the one before."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal, get_args
from zoneinfo import ZoneInfo

from shardwise.errors import ProgrammingError, Reason

Scatter = Literal["allow", "refuse"]

OWN_ZONE: Final = "SYSTEM"
"""Instead of a time zone's name: the one that the servers have."""

_CHOICES: Final = ("plan_cache", "trust_indexes", "pages")
_COUNTS: Final = ("rows_max", "bytes_max", "spill_bytes_max")  # 0 allows none
_SIZES: Final = ("memory_bytes_max", "threads", "requests_max", "requests_per_source_max")


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """`None` means no limit. Sizes are bytes, times seconds, rows are rows moved off the shards.

    `plan_cache` off: statements are planned anew each time, and what was planned is not kept.

    `trust_indexes` lets lookup and join indexes answer, as of their build: nothing keeps them as their tables
    are yet.

    `schema` is where names without a schema are looked for first; then they are of the default schema.
    `disable_passes` and `verify_passes` are for tests: which optional passes are left out, and whether
    the plan is verified after each pass and not only at the end. So is `force`: what is done wherever it is
    right, whether or not it is estimated to move less. It may name those of FORCED.

    `processes_max` processes of a cluster read small SQLite files where there are many; with 0 this one does.

    `time_zone` is an IANA name or an offset. Where neither it nor the catalog says one, it is UTC, and in the
    mysql and postgres dialects the servers' own, which must be the same on all of them.

    `pages`: the statement is a page, which `Cursor.next_page` goes on from.

    A value that an option cannot have raises `ProgrammingError`.
    """

    scatter: Scatter = "allow"
    plan_cache: bool = True
    trust_indexes: bool = False
    deadline_s: float | None = None
    rows_max: int | None = None
    bytes_max: int | None = None
    memory_bytes_max: int = 2 << 30
    spill_directory: str | None = None
    spill_bytes_max: int | None = None
    threads: int = 4
    requests_max: int = 8
    requests_per_source_max: int = 4
    processes_max: int = min(4, os.cpu_count() or 1)
    disable_passes: tuple[str, ...] = ()
    force: tuple[str, ...] = ()
    verify_passes: bool = False
    time_zone: str = "UTC"
    schema: str | None = None
    pages: bool = False

    def __post_init__(self) -> None:
        if self.scatter not in get_args(Scatter):
            raise _wrong("scatter", self.scatter, "'allow' or 'refuse'")
        for name in _CHOICES:
            if not isinstance(getattr(self, name), bool):
                raise _wrong(name, getattr(self, name), "True or False")
        if self.deadline_s is not None and not _is_number(self.deadline_s, above=0):
            raise _wrong("deadline_s", self.deadline_s, "a number of seconds above 0, or None")
        for name in _COUNTS:
            value = getattr(self, name)
            if value is not None and not _is_count(value, least=0):
                raise _wrong(name, value, "a whole number, 0 or more, or None")
        for name in _SIZES:
            value = getattr(self, name)
            if not _is_count(value, least=1):
                raise _wrong(name, value, "a whole number, 1 or more")
        for name in ("disable_passes", "force"):
            names = getattr(self, name)
            if not isinstance(names, list | tuple):
                raise _wrong(name, names, "the names of passes, as a list or tuple")
            object.__setattr__(self, name, tuple(names))  # a part of keys
        unknown = [name for name in self.force if name not in FORCED]
        if unknown:
            raise _wrong("force", unknown[0], f"of these: {', '.join(FORCED)}")
        if not _is_count(self.processes_max, least=0):
            raise _wrong("processes_max", self.processes_max, "a whole number, 0 or more")
        if (found := zone_of_offset(self.time_zone)) is not None:
            object.__setattr__(self, "time_zone", found)
        if self.time_zone != OWN_ZONE and not _is_time_zone(self.time_zone):
            raise _wrong(
                "time_zone",
                self.time_zone,
                "an IANA name, such as 'UTC' or 'Europe/Berlin', or an offset, such as '+08:00'",
            )


FORCED: Final = (
    "broadcast",
    "group_before_joins",
    "group_on_shards",
    "join_back",
    "keys",
    "look_up_keys",
    "merge_sorted",
    "probe_groups_early",
    "push_distinct",
    "range",
    "seek_pages",
)
"""What `Options.force` may name."""


def zone_of_offset(text: object) -> str | None:
    """The IANA name of an offset ("+08:00"); None of what is none, or of one that has no zone.

    >>> zone_of_offset("+08:00"), zone_of_offset("-00:00"), zone_of_offset("+05:30"), zone_of_offset("CET")
    ('Etc/GMT-8', 'UTC', 'Asia/Kolkata', None)
    """
    if not isinstance(text, str):
        return None
    if text in _ODD_OFFSETS:
        return _ODD_OFFSETS[text]
    found = _OFFSET.fullmatch(text)
    hours = int(found[2]) if found else 99
    if found is None or hours > (14 if found[1] == "+" else 12):
        return None
    return f"Etc/GMT{'-' if found[1] == '+' else '+'}{hours}" if hours else "UTC"


_OFFSET = re.compile(r"([+-])(\d\d?):00")
_ODD_OFFSETS: Final = {"+04:30": "Asia/Kabul", "+05:30": "Asia/Kolkata"}


def _wrong(name: str, value: object, allowed: str) -> ProgrammingError:
    return ProgrammingError(
        f"the option {name} cannot be {value!r}: it is {allowed}", reason=Reason.NOT_SUPPORTED
    )


def _is_number(value: object, *, above: float) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value > above


def _is_count(value: object, *, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


@lru_cache
def _is_time_zone(name: object) -> bool:
    if not isinstance(name, str):
        return False
    try:
        ZoneInfo(name)
    except (ValueError, LookupError, OSError):  # no such name, no name at all, a folder of names
        return name == "UTC"  # always there, even where the system has no names
    return True
