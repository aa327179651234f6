"""The time zone that servers have as their own, where no one said which one is meant."""

from __future__ import annotations

import threading

from shardwise.errors import OperationalError
from shardwise.executor.backends.base import OpenSource, OwnZone


class OwnZones:
    """The time zone that all servers of a catalog have as their own. Threads may share it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._first: tuple[str, str] | None = None

    @property
    def zone(self) -> str | None:
        """None until a source of a server was opened."""
        return self._first[1] if self._first is not None else None

    def check(self, name: str, source: OpenSource) -> None:
        """Raises if the source's server has another one than those before."""
        if not isinstance(source, OwnZone):
            return
        zone = source.own_time_zone()
        with self._lock:
            first, first_zone = self._first = self._first or (name, zone)
        if zone != first_zone:
            raise OperationalError(
                f'the time zone of source "{name}" is {zone}, and that of source "{first}" {first_zone}',
                hint=f"Say which one is meant: CREATE CATALOG … WITH (time_zone = '{first_zone}')",
            )
