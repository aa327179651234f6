"""How many requests may be out at once: to a server, to an open family, in all."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from shardwise.executor.backends.base import Family

WORKERS = "worker processes"
"""What requests to worker processes are counted under."""


@dataclass(slots=True)
class _Count:
    held: int = 0
    running: int = 0


@dataclass(slots=True)
class _SourceCount:
    """A source that requests are out to: how many, and what else they are counted under."""

    place: str
    family: Family | None
    held: int = 0


class Limits:
    """How many requests are out: per server, or source that is a file; per open family (not more than may be
    open); in all the process.

    A request *runs* while a thread reads from it, and is *parked* while its stream's queue is full. Where
    all that are held are parked, a starving stream (one that the merge waits for, with no request of its
    own) gets one more: the others may wait for its rows. `place_of` gives a source's server, or itself.
    """

    def __init__(self, *, total: int, place_of: Callable[[str], str] = str) -> None:
        self._total = total
        self._place_of = place_of
        self._lock = threading.Lock()
        self._all = _Count()
        self._sources: dict[str, _SourceCount] = {}
        self._places: dict[str, _Count] = {}
        self._families: dict[Family, _Count] = {}
        self._waiting: list[Callable[[], None]] = []

    def take(
        self,
        source: str,
        retry: Callable[[], None],
        *,
        per_source: int,
        is_starving: bool,
        family: Family | None = None,
    ) -> bool:
        """Whether a request may go to `source` now, of whose server `per_source` may be out at once, and of
        all its open `family` not more than may be open.

        If not, `retry` is called once when it may.
        """
        place = self._place_of(source)
        with self._lock:
            count = self._places.setdefault(place, _Count())
            pairs = [(count, per_source), (self._all, self._total)]
            if family is not None:
                pairs.append((self._families.setdefault(family, _Count()), family.open_max))
            if all(c.held < limit or (is_starving and c.running == 0) for c, limit in pairs):
                self._sources.setdefault(source, _SourceCount(place, family)).held += 1
                for c, _ in pairs:
                    c.held += 1
                    c.running += 1
                return True
            if not count.held:
                del self._places[place]
            self._waiting.append(retry)
            return False

    def park(self, source: str) -> None:
        """The request's thread does something else; the request stays."""
        with self._lock:
            for c in self._counts(source):
                c.running -= 1
        self._changed()

    def resume(self, source: str) -> None:
        with self._lock:
            for c in self._counts(source):
                c.running += 1

    def give_back(self, source: str, *, is_parked: bool = False) -> None:
        """The request is over."""
        with self._lock:
            for c in self._counts(source):
                c.held -= 1
                c.running -= not is_parked
            found = self._sources[source]
            found.held -= 1
            if not found.held:
                del self._sources[source]
            if not self._places[found.place].held:
                del self._places[found.place]
        self._changed()

    def _counts(self, source: str) -> Iterator[_Count]:
        found = self._sources[source]
        yield self._places[found.place]
        yield self._all
        if found.family is not None:
            yield self._families[found.family]

    def _changed(self) -> None:
        with self._lock:
            waiting, self._waiting = self._waiting, []
        for retry in waiting:
            retry()
