"""Time zones of servers: which is the server's own, and what to call one there.

A server knows names of zones only if someone has loaded their tables, and mostly nobody has. A zone that has
had one offset in all the time that TIMESTAMP knows is called by it; one that behaves as the server's own is
that. The server's own (`SYSTEM`) is told by what it does, for what it is called ("CST") may mean many.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

from shardwise.errors import OperationalError
from shardwise.options import zone_of_offset

OWN = "SYSTEM"
_FIRST = datetime(1970, 1, 2, tzinfo=UTC)
_STEP_S = 2_140_000  # not quite 25 days, so that a thousand steps reach 2037 and meet every day of the year
_COUNT = 1000
_DIGITS = "(" + " UNION ALL ".join(f"SELECT {n} AS n" for n in range(10)) + ")"
_SECONDS = f"({int(_FIRST.timestamp())} + {_STEP_S} * (a.n + 10 * b.n + 100 * c.n))"

SAMPLES = (
    f"SELECT TIMESTAMPDIFF(SECOND, '1970-01-01', FROM_UNIXTIME({_SECONDS})) - {_SECONDS}"
    f" FROM {_DIGITS} AS a, {_DIGITS} AS b, {_DIGITS} AS c ORDER BY a.n + 10 * b.n + 100 * c.n"
)
"""The session's offsets from UTC, in seconds, at a thousand moments."""

Offsets = tuple[int, ...]
_CONTINENTS = frozenset(("Africa", "America", "Asia", "Australia", "Europe", "Pacific"))


@cache
def offsets_of(zone: str) -> Offsets:
    """What `SAMPLES` gives in a zone."""
    info = ZoneInfo(zone)
    moments = ((_FIRST + timedelta(seconds=_STEP_S * n)).astimezone(info) for n in range(_COUNT))
    return tuple(int((moment.utcoffset() or timedelta()).total_seconds()) for moment in moments)


@cache
def fixed_offset(zone: str) -> str | None:
    """A zone as a fixed offset, if it has had only one."""
    if zone == "UTC":
        return "+00:00"
    offsets = set(offsets_of(zone))
    if len(offsets) > 1:
        return None
    minutes = offsets.pop() // 60
    return f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02}:{abs(minutes) % 60:02}"


@cache
def name_of(offsets: Offsets, called: str) -> str:
    """A zone that behaves so, by an IANA name; `called` is what the server calls it."""
    if set(offsets) == {0}:
        return "UTC"

    def order(name: str) -> tuple[bool, bool, str]:
        return name != called, name.partition("/")[0] not in _CONTINENTS, name

    for name in sorted(available_timezones(), key=order):
        if offsets_of(name) == offsets:
            return name
    raise OperationalError(
        f'the server\'s own time zone, "{called}", is none that is known here',
        hint="Say which one is meant: CREATE CATALOG … WITH (time_zone = 'Europe/Berlin')",
    )


def name_of_setting(setting: str) -> str | None:
    """The IANA name of what `time_zone` says; None where that says nothing (SYSTEM)."""
    if setting == OWN:
        return None
    found = zone_of_offset(setting)
    if found is not None:
        return found
    if setting in available_timezones():
        return setting
    raise OperationalError(
        f'the server\'s time zone, "{setting}", is none that is known here',
        hint="Say which one is meant: CREATE CATALOG … WITH (time_zone = 'Europe/Berlin')",
    )
