"""The backend and its sources."""

from __future__ import annotations

import threading
from collections.abc import Callable

from shardwise.errors import Error, ShardUnavailable
from shardwise.executor.backends.base import Location, ReadColumn, SourceOptions
from shardwise.executor.backends.mysql import tables
from shardwise.executor.backends.mysql.connection import MySQLConnection
from shardwise.executor.backends.mysql.errors import translate_error
from shardwise.executor.backends.mysql.server import Server
from shardwise.executor.backends.mysql.settings import Settings, settings_of


class MySQLSource:
    """A database of a server."""

    def __init__(self, server: Server, settings: Settings) -> None:
        self._server = server
        self._settings = settings
        # Whether it is there shows when it is opened.
        server.give_back(server.take(settings), is_well=True)

    def connect(self, time_zone: str) -> MySQLConnection:
        """`time_zone` may be "SYSTEM": the server's own."""
        return MySQLConnection(self._server, self._settings, time_zone)

    def own_time_zone(self) -> str:
        """`OwnZone`."""
        session = self._server.take(self._settings)
        is_well = False
        try:
            with session.waiting():
                found = session.own_zone()
            is_well = True
        finally:
            self._server.give_back(session, is_well=is_well)
        return found

    def close(self) -> None:
        self._server.close_idle(self._settings)


class MySQLBackend:
    """`mysql://user@host:port/database`, and `mariadb:` likewise."""

    name = "mysql"
    dialect = "mysql"

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._servers: dict[str, Server] = {}

    def open(self, location: Location, options: SourceOptions) -> MySQLSource:
        settings = settings_of(location)
        with self._lock:
            server = self._servers.setdefault(settings.address.server, Server(settings.address.server))
        return MySQLSource(server, settings)

    def suits(self, found: str, column: ReadColumn, normal: Callable[[str], str | None]) -> str | None:
        return tables.suits(found, column, normal)

    def translate_error(self, error: BaseException, location: Location) -> Error:
        return translate_error(error, location)

    def is_transient(self, error: Error) -> bool:
        return isinstance(error, ShardUnavailable) and error.is_passing
