"""A connection to a server, pinned: what a statement means does not rest on how the server is configured.

Each is verified when it is opened and when it was reset: a proxy may answer SET with "OK" and do nothing.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from shardwise.errors import Error, OperationalError, ShardUnavailable
from shardwise.executor.backends.mysql import zones
from shardwise.executor.backends.mysql.driver import Wire, is_timeout, pymysql
from shardwise.executor.backends.mysql.settings import Settings
from shardwise.executor.backends.mysql.watchdog import WATCHDOG

_T = TypeVar("_T")
_NET_WRITE_TIMEOUT_S = 86_400
"""A result may wait for the merge for as long as it likes."""

_OWN_OFFSETS: dict[str, zones.Offsets] = {}
"""Of servers' own time zones: what they do does not change while they run."""

_LONG_S = 1.0
"""A statement that takes longer may have to be stopped, when no connection may be free any more."""

_NO_SUCH_ZONE = 1298
_ALL_ROWS = (1 << 64) - 1
_RIGHT = ", SESSION join_cache_level = 2, SESSION optimizer_switch = 'subquery_cache=off'"
"""MariaDB's default: its hash joins (3 and more) lose rows (10.11, with a rowid filter). Its cache of
subqueries takes two outer texts for one that are equal by their column's collation, whatever the subquery
compares them by."""

_SORTED_BYTES = 4096
_SORTED_WHOLE = (
    f", SESSION max_sort_length = GREATEST(@@global.max_sort_length, {_SORTED_BYTES})"
    f", SESSION sort_buffer_size = GREATEST(@@global.sort_buffer_size, {8 << 20})"
)
"""By how many bytes of a text MariaDB sorts, and groups where it sorts; a server may be configured to as few
as 64. What an index holds (3,072 bytes) is sorted whole: a merge has no index, by which one server groups.
With the buffer 136 such keys have room, as many as by default, before error 1038 comes."""


class Session:
    """One thread at a time uses it; anyone may `cut` it.

    `zone` is its time zone as it was asked for: an IANA name, "UTC", or "SYSTEM" for the server's own.
    `is_dirty`: it holds what `reset` must clear.
    """

    def __init__(self, settings: Settings, probe: Callable[[], bool], reserve: Callable[[], None]) -> None:
        self.settings = settings
        self.zone = ""
        self.is_dirty = False
        self.is_fresh = True
        self.idle_since = 0.0
        self.cut_because: Error | None = None
        self._probe = probe
        self._reserve = reserve
        self._has_reserved = False
        self._waiting_since: float | None = None
        self._probing: threading.Thread | None = None
        self.wire = Wire(**settings.driver_arguments())

    def open(self) -> None:
        """Connects; anyone may `cut` it meanwhile. It is watched from here on to its end."""
        WATCHDOG.add(self)
        try:
            with self.waiting():
                self.wire.connect()
                self._pin()
        except BaseException as error:
            self.drop()
            because = self._cut_because()
            if because is None and is_timeout(error):
                because = self._silence()
            if because is not None:
                raise because from error
            raise
        self.wire.patience(None)

    @property
    def id(self) -> int:
        """The server's number of it."""
        found: int = self.wire.thread_id()
        return found

    @property
    def is_mariadb(self) -> bool:
        return "mariadb" in str(self.wire.get_server_info()).lower()

    def _cut_because(self) -> Error | None:
        return self.cut_because

    def set_zone(self, zone: str) -> None:
        """Has the session's clocks show that zone."""
        if zone == self.zone:
            return
        fixed = zones.fixed_offset(zone) if zone != zones.OWN else None
        try:
            self.wire.query(f"SET SESSION time_zone = '{fixed or zone}'")
        except pymysql.MySQLError as error:
            if error.args[0] != _NO_SUCH_ZONE:
                raise
            self._set_own_zone(zone, error)
        self.zone = zone

    def _set_own_zone(self, zone: str, error: pymysql.MySQLError) -> None:
        """Leaves the server's own where it is the zone that the server knows no name of."""
        self.wire.query("SET SESSION time_zone = 'SYSTEM'")
        self.zone = zones.OWN
        if self._offsets() != zones.offsets_of(zone):
            raise OperationalError(
                f'the server knows no time zone "{zone}"',
                hint="Load its tables of time zones (mariadb-tzinfo-to-sql, mysql_tzinfo_to_sql), or use UTC",
            ) from error

    def own_zone(self) -> str:
        """The IANA name of the server's own time zone; raises OperationalError if it has none."""
        ((setting, called),) = self.wire.ask("SELECT @@global.time_zone, @@system_time_zone")
        found = zones.name_of_setting(setting)
        if found is not None:
            return found
        self.set_zone(zones.OWN)
        return zones.name_of(self._offsets(), called)

    def _offsets(self) -> zones.Offsets:
        server = self.settings.address.server
        if server not in _OWN_OFFSETS:
            _OWN_OFFSETS[server] = tuple(offset for (offset,) in self.wire.ask(zones.SAMPLES))
        return _OWN_OFFSETS[server]

    def reset(self) -> None:
        """As if it were new."""
        with self.waiting():
            self.wire.reset()
            self._pin()
        self.is_dirty = False

    def ping(self) -> None:
        """Raises unless the server answers."""
        self.wire.patience(self.settings.connect_timeout_s)
        with self.waiting():
            self.wire.ping(reconnect=False)
        self.wire.patience(None)

    # -- its end ------------------------------------------------------------------------------

    def cut(self, because: Error) -> None:
        """Ends it, whatever it does; the thread that waits gets `because` as its error."""
        self.cut_because = self.cut_because or because
        self.wire.cut()

    def drop(self) -> None:
        """Ends it without reading what is still to come; by the thread that has it."""
        WATCHDOG.discard(self)
        self.wire.drop()

    def close(self) -> None:
        """Says goodbye."""
        WATCHDOG.discard(self)
        if self.wire.open:
            self.wire.close()

    # -- watched ------------------------------------------------------------------------------

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Inside, a thread waits for the server."""
        self._waiting_since = time.monotonic()
        try:
            yield
        finally:
            self._waiting_since = None

    def waited_for(self, ask: Callable[[], _T]) -> _T:
        """What `ask` gives, for which a thread waits meanwhile: as `waiting`, which takes longer."""
        self._waiting_since = time.monotonic()
        try:
            return ask()
        finally:
            self._waiting_since = None

    def look(self, now: float) -> None:
        """`Watched.look`."""
        since = self._waiting_since
        if since is not None and now - since > _LONG_S and self.zone and not self._has_reserved:
            self._has_reserved = True
            threading.Thread(target=self._reserve, name="shardwise-mysql-reserve", daemon=True).start()
        if since is None or now - since < self._patience_s or (self._probing and self._probing.is_alive()):
            return
        self._probing = threading.Thread(
            target=self._look_into, args=(since,), name="shardwise-mysql-probe", daemon=True
        )
        self._probing.start()

    @property
    def _patience_s(self) -> float:
        # Until it is there each step has the driver's timeout; all together may take twice that.
        return self.settings.read_timeout_s if self.zone else 2 * self.settings.connect_timeout_s

    def _look_into(self, since: float) -> None:
        answers = bool(self.zone) and self._probe()
        if self._waiting_since != since:
            return
        if answers:
            self._waiting_since = time.monotonic()
            return
        self.cut(self._silence())

    def _silence(self) -> ShardUnavailable:
        return ShardUnavailable(
            f'source "{self.settings.source}": server {self.settings.address.server} does not answer',
            hint="Check that it runs. Its options connect_timeout_s and read_timeout_s say how long to wait",
        )

    # -- pinned -------------------------------------------------------------------------------

    def _pin(self) -> None:
        wire, settings = self.wire, self.settings
        more = _RIGHT + _SORTED_WHOLE if self.is_mariadb else ""
        if settings.statement_timeout_s is not None:
            more += (
                f", SESSION max_statement_time = {settings.statement_timeout_s}"
                if self.is_mariadb
                else f", SESSION max_execution_time = {int(1000 * settings.statement_timeout_s)}"
            )
        self.wire.query("SET NAMES utf8mb4")
        wire.query(
            f"SET SESSION sql_mode = '{settings.sql_mode}', SESSION time_zone = '+00:00',"
            f" SESSION net_write_timeout = {_NET_WRITE_TIMEOUT_S}, SESSION sql_select_limit = {_ALL_ROWS},"
            f" SESSION autocommit = 1{more}"
        )
        wire.query("SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        self.zone = "UTC"
        self._verify()

    def _verify(self) -> None:
        read_only = "tx_read_only" if self.is_mariadb else "transaction_read_only"
        wanted: dict[str, object] = {
            "sql_mode": set(self.settings.sql_mode.split(",")),
            "time_zone": "+00:00",
            "character_set_client": "utf8mb4",
            "character_set_connection": "utf8mb4",
            "character_set_results": "utf8mb4",
            "sql_select_limit": _ALL_ROWS,
            read_only: 1,
        }
        if self.is_mariadb:
            wanted[f"max_sort_length >= {_SORTED_BYTES}"] = 1
        (found,) = self.wire.ask(f"SELECT {', '.join(f'@@{name}' for name in wanted)}")
        for (name, value), given in zip(wanted.items(), found, strict=True):
            if (set(given.split(",")) if isinstance(value, set) else given) != value:
                raise OperationalError(
                    f"the session's {name} could not be set: it is {given}",
                    hint="A proxy between here and the server may keep it from that: connect to the server",
                )
