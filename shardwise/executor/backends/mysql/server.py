"""The sessions of one server, shared by all sources that are on it.

Idle ones wait for their next request, least recently used closed first. One more, per user, is kept for
control: it kills what others run, when no connection may be free any more.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress

from shardwise.errors import Error
from shardwise.executor.backends.mysql.driver import pymysql
from shardwise.executor.backends.mysql.errors import LOST, code_of
from shardwise.executor.backends.mysql.session import Session
from shardwise.executor.backends.mysql.settings import Settings
from shardwise.executor.backends.mysql.watchdog import WATCHDOG

_PING_AFTER_S = 20.0


def _nobody(session: Session) -> None:
    """Wants to know."""


class Server:
    """Threads may call everything."""

    def __init__(self, address: str) -> None:
        self.address = address
        self._lock = threading.Lock()
        self._idle: deque[Session] = deque()
        self._control_lock = threading.Lock()
        self._control: dict[object, Session] = {}
        self._ended: set[object] = set()
        self._is_watched = False

    def take(
        self, settings: Settings, opens: Callable[[Session], None] = _nobody, *, fresh: bool = False
    ) -> Session:
        """A session for one request: one that waits, or (if `fresh`) a new one. Raises the driver's.

        `opens` is called with a new one while it is not there yet: it may be cut.
        """
        self._ended.discard(settings.session_key)
        while not fresh and (session := self._waiting(settings.session_key)) is not None:
            session.is_fresh = False
            if self._is_well(session):
                return session
            session.drop()
        return self._open(settings, opens)

    def give_back(self, session: Session, *, is_well: bool) -> None:
        """The request is over. A session that is not well, or was cut, is not used again."""
        if not is_well or session.cut_because is not None:
            session.drop()
            return
        if session.is_dirty:
            try:
                session.reset()
            except (pymysql.MySQLError, OSError, Error):
                session.drop()
                return
        session.idle_since = time.monotonic()
        with self._lock:
            self._idle.append(session)
            gone = self._stale(session.settings.idle_max)
            if not self._is_watched:
                self._is_watched = True
                WATCHDOG.add(self)
        for each in gone:
            each.close()

    def look(self, now: float) -> None:
        """`Watched.look`: closes those that have waited too long."""
        with self._lock:
            gone = self._stale(len(self._idle))
        if self._control_lock.acquire(blocking=False):
            try:
                gone += [s for s in self._control.values() if now - s.idle_since > s.settings.idle_s]
                self._control = {key: s for key, s in self._control.items() if s not in gone}
                with self._lock:
                    if not self._idle and not self._control:
                        self._is_watched = False
                        WATCHDOG.discard(self)
            finally:
                self._control_lock.release()
        for each in gone:
            each.close()

    def close_idle(self, settings: Settings) -> None:
        """Closes those that wait for requests of these settings."""
        with self._lock:
            gone = [s for s in self._idle if s.settings.session_key == settings.session_key]
            for each in gone:
                self._idle.remove(each)
        for each in gone:
            each.close()
        self._ended.add(settings.session_key)
        if self._control_lock.acquire(blocking=False):  # else whoever has it ends it
            try:
                self._end_control()
            finally:
                self._control_lock.release()

    def kill(self, settings: Settings, id: int) -> bool:
        """Ends a session of the server's; tells whether the server was told."""
        with self._control_lock:
            try:
                return any(self._killed(settings, id, fresh=fresh) for fresh in (False, True))
            finally:
                self._end_control()

    def reserve(self, settings: Settings) -> None:
        """Opens the session for control, if it is not there, before it is needed."""
        with self._control_lock:
            with suppress(pymysql.MySQLError, OSError, Error):
                self._control_session(settings, fresh=False)
            self._end_control()

    def answers(self, settings: Settings) -> bool:
        """Whether the server says anything at all within the connect timeout; "no" is an answer."""
        try:
            self._open(settings).close()
        except Error:
            return False
        except pymysql.MySQLError as error:
            return code_of(error) not in _SILENT
        except OSError:
            return False
        return True

    # -- inside -------------------------------------------------------------------------------

    def _open(self, settings: Settings, opens: Callable[[Session], None] = _nobody) -> Session:
        session = Session(settings, lambda: self.answers(settings), lambda: self.reserve(settings))
        opens(session)
        session.open()
        return session

    def _killed(self, settings: Settings, id: int, *, fresh: bool) -> bool:
        try:
            session = self._control_session(settings, fresh=fresh)
            with session.waiting():
                session.wire.query(f"KILL {id}")
        except (pymysql.MySQLError, OSError, Error) as error:
            if code_of(error) == _NO_SUCH_THREAD:
                return True
            lost = self._control.pop(settings.session_key, None)
            if lost is not None:
                lost.drop()
            return False
        return True

    def _end_control(self) -> None:
        """Closes the sessions for control that no source has a use for; by who has the lock."""
        for key in [key for key in self._control if key in self._ended]:
            self._control.pop(key).close()

    def _control_session(self, settings: Settings, *, fresh: bool) -> Session:
        session = self._control.get(settings.session_key)
        if session is None or fresh or not session.wire.is_quiet:
            if session is not None:
                session.drop()
            session = self._control[settings.session_key] = self._open(settings)
            session.wire.patience(settings.connect_timeout_s)
        session.idle_since = time.monotonic()
        with self._lock:
            self._is_watched = True
            WATCHDOG.add(self)
        return session

    def _waiting(self, key: object) -> Session | None:
        """The one that was used last."""
        with self._lock:
            for session in reversed(self._idle):
                if session.settings.session_key == key:
                    self._idle.remove(session)
                    return session
        return None

    @staticmethod
    def _is_well(session: Session) -> bool:
        if not session.wire.is_quiet:
            return False
        if time.monotonic() - session.idle_since > _PING_AFTER_S:
            try:
                session.ping()
            except (pymysql.MySQLError, OSError):
                return False
        return True

    def _stale(self, idle_max: int) -> list[Session]:
        """Takes out those that are too many, or have waited too long."""
        now = time.monotonic()
        gone = []
        while self._idle:
            oldest = self._idle[0]
            if len(self._idle) <= idle_max and now - oldest.idle_since < oldest.settings.idle_s:
                break
            gone.append(self._idle.popleft())
        return gone


_NO_SUCH_THREAD = 1094
_SILENT = LOST | {2003}
