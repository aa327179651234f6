"""A database of a server."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar
from zoneinfo import available_timezones

from shardwise.errors import OperationalError
from shardwise.executor.backends.postgres.connection import PostgresConnection, TypeNames
from shardwise.executor.backends.postgres.server import Server
from shardwise.executor.backends.postgres.session import Session
from shardwise.executor.backends.postgres.settings import Settings

_T = TypeVar("_T")
_UTC = frozenset(
    f"{area}{name}" for area in ("", "Etc/") for name in ("UTC", "UCT", "GMT", "Zulu", "Universal")
)


class PostgresSource:
    """Opened with one connection, so that what is wrong is an error at once. Threads share it."""

    def __init__(self, server: Server, settings: Settings) -> None:
        self._server = server
        self._settings = settings
        self._types = TypeNames()
        self._is_closed = False
        session, _ = server.take(settings, lambda session: session.begin(""))
        self._own_time_zone = session.time_zone
        server.give_back(session)

    def connect(self, time_zone: str) -> PostgresConnection:
        """A request's transaction, which begins when it is asked something; "" is the server's own zone."""
        return PostgresConnection(self._take, time_zone, self._types, self._give_back)

    def own_time_zone(self) -> str:
        """What sessions have that ask for none: the server's, or what the role or database was set to."""
        found = self._own_time_zone
        if found in _UTC:
            return "UTC"
        if found in available_timezones():
            return found
        raise OperationalError(
            f'the server\'s time zone, "{found}", is none that is known here',
            hint="Say which one is meant: CREATE CATALOG … WITH (time_zone = 'Europe/Berlin')",
        )

    def close(self) -> None:
        self._is_closed = True
        self._server.close_idle(self._settings)

    def _take(self, begin: Callable[[Session], _T]) -> tuple[Session, _T]:
        return self._server.take(self._settings, begin)

    def _give_back(self, session: Session) -> None:
        self._server.give_back(session, keeps=not self._is_closed)
