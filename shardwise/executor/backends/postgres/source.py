"""A database of a server, and the connections to it that wait for their next request."""

from __future__ import annotations

import threading
import time

import psycopg

from shardwise.errors import Error
from shardwise.executor.backends.base import Location
from shardwise.executor.backends.postgres.connection import PostgresConnection, TypeNames
from shardwise.executor.backends.postgres.session import Session
from shardwise.executor.backends.postgres.settings import Settings


class PostgresSource:
    """Opened with one connection, so that what is wrong is an error at once."""

    def __init__(self, location: Location) -> None:
        self._settings = Settings.of(location)
        self._password = location.password
        self._types = TypeNames()
        self._lock = threading.Lock()
        self._is_closed = False
        self._idle = [self._opened()]

    def connect(self, time_zone: str) -> PostgresConnection:
        """Begins a request's transaction, which shows whether a connection that waited is alive."""
        while True:
            session = self._waiting()
            if session is None:
                session = self._opened()
                version = self._begun(session, time_zone)
                break
            try:
                version = self._begun(session, time_zone)
                break
            except (psycopg.OperationalError, Error):
                continue  # ended meanwhile: nothing was asked on it yet
        return PostgresConnection(session, version, time_zone, self._types, self._give_back)

    def close(self) -> None:
        with self._lock:
            self._is_closed = True
            idle, self._idle = self._idle, []
        for session in idle:
            session.close()

    def _opened(self) -> Session:
        return Session(self._settings, self._password)

    @staticmethod
    def _begun(session: Session, time_zone: str) -> str:
        try:
            session.renew()
            return session.begin(time_zone)
        except BaseException:
            session.close()
            raise

    def _waiting(self) -> Session | None:
        """The one used last; those that waited for too long are closed."""
        oldest = time.monotonic() - self._settings.idle_s
        with self._lock:
            old = [session for session in self._idle if session.last_used_s < oldest]
            self._idle = [session for session in self._idle if session.last_used_s >= oldest]
            found = self._idle.pop() if self._idle else None
        for session in old:
            session.close()
        return found

    def _give_back(self, session: Session) -> None:
        try:
            session.settle()
            if session.is_reusable:
                session.rollback()
        except (psycopg.Error, OSError, Error):
            session.close()
            return
        session.last_used_s = time.monotonic()
        with self._lock:
            keeps = not self._is_closed and session.is_reusable and len(self._idle) < self._settings.idle_max
            if keeps:
                self._idle.append(session)
        if not keeps:
            session.close()
