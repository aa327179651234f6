"""Open sources, which statements share: the least recently used are closed first.

Nothing here is made per shard ahead of its turn: a source is opened by the first request that needs it.
"""

from __future__ import annotations

import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from shardwise.errors import Error, InterfaceError, OperationalError
from shardwise.executor.backends import backend_of
from shardwise.executor.backends.address import server_of
from shardwise.executor.backends.base import (
    Backend,
    Family,
    Location,
    OpenSource,
    SourceConnection,
    SourceOptions,
)
from shardwise.executor.conform import KnownTables
from shardwise.executor.guard import Guard
from shardwise.executor.limits import WORKERS
from shardwise.executor.own_zones import OwnZones
from shardwise.executor.presence import Identity, identity_of
from shardwise.executor.sqlite.strict import StrictTables

_PLACES_MAX = 20_000
WRITTEN_WAIT_S = 300.0
"""So long a reader waits for one who writes a batch into a file."""
_LOOK_S = 0.05
"""So often who waits looks whether its statement was stopped."""
ALONE_WAIT_S = 30.0
"""So long a source that is to be written to is waited for at most."""


@dataclass(eq=False)
class _Entry:
    """A source that is open, or being opened by whoever holds `opening`."""

    location: Location
    backend: Backend
    opening: threading.Lock = field(default_factory=threading.Lock)
    source: OpenSource | None = None
    identity: Identity | None = None
    users: int = 0
    tables: KnownTables = field(init=False)
    strict: StrictTables = field(default_factory=StrictTables)
    memo: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.tables = KnownTables(self.backend.suits)


class SourcePool:
    """Open sources, at most `open_max` of them idle or not, unless more are in use at once.

    The members of an open family are counted apart, by its own `open_max`. They come and go: each is looked
    for again at every lease, and a file that is another now is opened anew.
    """

    def __init__(
        self,
        locate: Callable[[str], Location],
        options: SourceOptions,
        *,
        open_max: int = 64,
        own_zones: OwnZones | None = None,
    ) -> None:
        self._own_zones = own_zones
        self._locate = locate
        self._options = options
        self._member_options = replace(options, threads=1)
        self._open_max = open_max
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        self._entries: OrderedDict[str, _Entry] = OrderedDict()
        self._users: Counter[str] = Counter()
        self._written: set[str] = set()
        self._counts: Counter[Family | None] = Counter()
        self._places: dict[str, str] = {WORKERS: WORKERS}
        self._is_closed = False

    def lease(self, name: str, guard: Guard | None = None) -> Lease:
        """The source, opened if it is not open. Raises ours: ShardUnavailable and the like; and what stops
        the statement of `guard` while its file is written to."""
        while True:
            entry = self._use(name, guard)
            try:
                identity = identity_of(entry.location)
                with entry.opening:
                    if entry.source is None:
                        entry.source, entry.identity = self._opened(entry), identity
            except Exception as error:
                self._forget(name, entry)
                self._done(name, entry)
                raise entry.backend.translate_error(error, entry.location) from error
            if entry.identity == identity:
                break
            self._forget(name, entry)
            self._done(name, entry)
        return Lease(
            entry.backend,
            entry.location,
            entry.source,
            entry.tables,
            entry.strict,
            entry.memo,
            lambda: self._done(name, entry),
        )

    def _opened(self, entry: _Entry) -> OpenSource:
        options = self._member_options if entry.location.family else self._options
        source = entry.backend.open(entry.location, options)
        if self._own_zones is not None:
            try:
                self._own_zones.check(entry.location.source, source)
            except BaseException:
                source.close()
                raise
        return source

    @contextmanager
    def alone(self, name: str, *, wait_s: float | None = None) -> Iterator[None]:
        """Inside, the source is closed, and who wants to lease it waits: its file is being written to.

        Those who have leased it are waited for, and may meanwhile lease it again: a statement that asks it
        twice is not to wait for us while we wait for it. Raises OperationalError if that takes too long.
        """
        with self._changed:
            wait_s = ALONE_WAIT_S if wait_s is None else wait_s
            if not self._changed.wait_for(lambda: self._is_free(name), wait_s):
                raise OperationalError(
                    f'source "{name}" was read without a pause for {wait_s:g} s, and is to be written to',
                    hint="Fetch the rows of open cursors that read it, or close them, and try again",
                )
            self._written.add(name)
            entry = self._take_out(name) if name in self._entries else None
        try:
            if entry is not None:
                _close(entry)
            yield
        finally:
            with self._changed:
                self._written.discard(name)
                self._changed.notify_all()

    def _is_free(self, name: str) -> bool:
        return not self._users[name] and name not in self._written

    def look_again(self, name: str) -> None:
        """Has the source be asked anew what its tables are like: some of them were made or dropped."""
        with self._lock:
            entry = self._entries.get(name)
        if entry is not None:
            entry.tables.forget()
            entry.memo.clear()

    @property
    def options(self) -> SourceOptions:
        """What each open source may use."""
        return self._options

    def location(self, name: str) -> Location:
        """Where the source is; it is not opened."""
        return self._locate(name)

    def is_transient(self, name: str, error: Error) -> bool:
        """Whether the same request may succeed if it is tried again at once."""
        return backend_of(self._locate(name).scheme, name).is_transient(error)

    def place_of(self, name: str) -> str:
        """What limits count the source by: its server, which may have others; itself if it is a file."""
        place = self._places.get(name)
        if place is None:
            if len(self._places) >= _PLACES_MAX:
                self._places = {WORKERS: WORKERS}
            place = self._places[name] = server_of(self._locate(name)) or name
        return place

    def open_count(self) -> int:
        """How many sources are open."""
        with self._lock:
            return sum(entry.source is not None for entry in self._entries.values())

    def close(self) -> None:
        """Closes all sources; those in use when they are given back."""
        with self._lock:
            self._is_closed = True
            idle = [entry for entry in self._entries.values() if entry.users == 0]
            self._entries.clear()
        for entry in idle:
            _close(entry)

    def _use(self, name: str, guard: Guard | None) -> _Entry:
        with self._changed:
            if name in self._written:
                self._wait_until_written(name, guard)
            self._check_open()
            entry = self._entries.get(name)
            if entry is not None:
                entry.users += 1
                self._users[name] += 1
                self._entries.move_to_end(name)
                return entry
        location = self._locate(name)
        backend = backend_of(location.scheme, name)
        with self._changed:
            if name in self._written:
                self._wait_until_written(name, guard)
            self._check_open()
            if name not in self._entries:
                self._entries[name] = _Entry(location, backend)
                self._counts[location.family] += 1
            entry = self._entries[name]
            entry.users += 1
            self._users[name] += 1
            self._entries.move_to_end(name)
            gone = self._evicted(location.family)
        for each in gone:  # before it is opened itself
            _close(each)
        return entry

    def _wait_until_written(self, name: str, guard: Guard | None) -> None:
        """At most until the statement is stopped, or so long that something must be wrong."""
        end = time.monotonic() + WRITTEN_WAIT_S
        while name in self._written:
            if guard is not None:
                guard.check()
            if time.monotonic() > end:
                raise OperationalError(
                    f'source "{name}" cannot be read: an index table is being written into its file since '
                    f"{WRITTEN_WAIT_S:g} s",
                    hint="Wait until that is done (SHOW INDEXES says how far it is), or cancel it",
                )
            self._changed.wait(_LOOK_S)

    def _check_open(self) -> None:
        if self._is_closed:
            raise InterfaceError("the cluster is closed")

    def family_of(self, name: str) -> Family | None:
        """The open family that the source is a member of: how many requests to it may be out at once."""
        entry = self._entries.get(name)
        return (entry.location if entry is not None else self._locate(name)).family

    def _forget(self, name: str, entry: _Entry) -> None:
        """Has the next lease open it again; whoever uses it may go on."""
        with self._lock:
            if self._entries.get(name) is entry:
                self._take_out(name)

    def _take_out(self, name: str) -> _Entry:
        entry = self._entries.pop(name)
        self._counts[entry.location.family] -= 1
        return entry

    def _done(self, name: str, entry: _Entry) -> None:
        with self._lock:
            entry.users -= 1
            if self._entries.get(name) is entry and self._excess(entry.location.family) <= 0:
                self._not_used_by(name)
                return
            gone = self._evicted(entry.location.family)
            if entry.users == 0 and self._entries.get(name) is not entry and entry not in gone:
                gone.append(entry)
        for each in gone:
            _close(each)
        with self._lock:
            self._not_used_by(name)

    def _not_used_by(self, name: str) -> None:
        """One less uses the source; what that one used alone is closed by now."""
        self._users[name] -= 1
        if not self._users[name]:
            del self._users[name]
            self._changed.notify_all()

    def _excess(self, family: Family | None) -> int:
        """How many are open that should not be, of a family (None: of no family)."""
        return self._counts[family] - (family.open_max if family else self._open_max)

    def _evicted(self, family: Family | None) -> list[_Entry]:
        """Takes the least recently used idle ones of a family (None: of no family) out while there are too
        many."""
        excess = self._excess(family)
        if excess <= 0:
            return []
        of_it = ((name, entry) for name, entry in self._entries.items() if entry.location.family == family)
        idle = [name for name, entry in of_it if entry.users == 0]
        return [self._take_out(name) for name in idle[:excess]]


def _close(entry: _Entry) -> None:
    if entry.source is not None:
        entry.source.close()
        entry.source = None


class Lease:
    """The use of an open source until `release`. `memo` is for what others know of it, while it is open."""

    def __init__(
        self,
        backend: Backend,
        location: Location,
        source: OpenSource,
        tables: KnownTables,
        strict: StrictTables,
        memo: dict[str, Any],
        done: Callable[[], None],
    ) -> None:
        self.tables = tables
        self.strict = strict
        self.memo = memo
        self._backend = backend
        self._location = location
        self._source = source
        self._done: Callable[[], None] | None = done

    @property
    def dialect(self) -> str:
        """sqlglot's name of the source's SQL."""
        return self._backend.dialect

    def connect(self, time_zone: str) -> SourceConnection:
        return self._source.connect(time_zone)

    def translate(self, error: BaseException) -> Error:
        return self._backend.translate_error(error, self._location)

    def release(self) -> None:
        """Gives it back; a second call does nothing."""
        done, self._done = self._done, None
        if done is not None:
            done()
