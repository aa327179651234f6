"""The sessions of one server that wait for their next request, shared by all sources that are on it.

A session is one user's, in one database, so that those of many databases are many: the least recently used
are closed where there are more than `idle_max` on a server, and those that have waited for `idle_s`.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from typing import TypeVar

import psycopg

from shardwise.errors import Error
from shardwise.executor.backends.postgres.errors import Silence
from shardwise.executor.backends.postgres.session import Session
from shardwise.executor.backends.postgres.settings import Settings

_T = TypeVar("_T")


class Server:
    """Threads may call everything."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: deque[Session] = deque()

    def take(self, settings: Settings, begin: Callable[[Session], _T]) -> tuple[Session, _T]:
        """A session in a transaction that has just begun, and what `begin`, which begins it, gives.

        That it begins shows whether a session that waited is alive: nothing was asked on it yet. Where one
        got no answer the others are not asked, each of which would take as long: a new connection tells, if
        none has told.
        """
        while (session := self._waiting(settings)) is not None:
            try:
                return session, begin(session)
            except psycopg.OperationalError as error:
                session.close()
                if isinstance(error, Silence):
                    self.close_idle(settings)
                    if error.is_servers:
                        raise
            except BaseException:
                session.close()
                raise
        session = Session(settings)
        try:
            return session, begin(session)
        except BaseException:
            session.close()
            raise

    def give_back(self, session: Session, *, keeps: bool = True) -> None:
        """The request is over: what runs is stopped, and the transaction ends."""
        try:
            session.settle()
            if keeps and session.is_reusable:
                session.end()
        except (psycopg.Error, OSError, Error):
            session.close()
        if not keeps or not session.is_reusable:
            session.close()
            return
        session.renew()
        session.idle_since_s = time.monotonic()
        with self._lock:
            self._idle.append(session)
            gone = self._excess(session.settings)
        for each in gone:
            each.close()

    def close_idle(self, settings: Settings) -> None:
        """Closes those that wait for requests of these settings."""
        with self._lock:
            gone = [session for session in self._idle if session.settings == settings]
            for each in gone:
                self._idle.remove(each)
        for each in gone:
            each.close()

    def _waiting(self, settings: Settings) -> Session | None:
        """The one that was used last."""
        with self._lock:
            for session in reversed(self._idle):
                if session.settings is settings or session.settings == settings:
                    self._idle.remove(session)
                    return session
        return None

    def _excess(self, settings: Settings) -> list[Session]:
        """Takes out those that are too many, or have waited too long."""
        now = time.monotonic()
        gone = []
        while self._idle:
            oldest = self._idle[0]
            if len(self._idle) <= settings.idle_max and now - oldest.idle_since_s < oldest.settings.idle_s:
                break
            gone.append(self._idle.popleft())
        return gone
