"""PostgreSQL databases as sources: `postgresql://user@host:5432/database`, read in read-only transactions.

By psycopg 3 and its libpq. Files, in reading order: `settings.py` (URL and options), `session.py` (one
connection: protocol, waits, cancel), `server.py` (those that wait), `source.py`, `connection.py` (a request),
`values.py` (parameters), `kinds.py` (the server's text → wanted types), `bulk.py` (COPY → Arrow), `tables.py`
(columns, and what suits), `errors.py`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from shardwise.errors import Error, NotSupportedError, ShardUnavailable
from shardwise.executor.backends.base import Location, ReadColumn, SourceOptions

try:
    import psycopg  # noqa: F401
except ImportError as error:
    raise NotSupportedError(
        "PostgreSQL sources are read by psycopg, which is not installed",
        hint='Install it: pip install "shardwise[postgres]"',
    ) from error

from shardwise.executor.backends.postgres import tables
from shardwise.executor.backends.postgres.errors import translate_error
from shardwise.executor.backends.postgres.server import Server
from shardwise.executor.backends.postgres.settings import Settings
from shardwise.executor.backends.postgres.source import PostgresSource

__all__ = ["PostgresBackend", "PostgresSource"]


class PostgresBackend:
    """`postgresql://…`; see `settings.py` for the options."""

    name = "postgres"
    dialect = "postgres"

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._servers: dict[str, Server] = {}

    def open(self, location: Location, options: SourceOptions) -> PostgresSource:
        settings = Settings.of(location)
        with self._lock:
            server = self._servers.setdefault(settings.address.server, Server())
        return PostgresSource(server, settings)

    def suits(self, found: str, column: ReadColumn, normal: Callable[[str], str | None]) -> str | None:
        return tables.suits(found, column, normal)

    def translate_error(self, error: BaseException, location: Location) -> Error:
        return translate_error(error, location)

    def is_transient(self, error: Error) -> bool:
        return isinstance(error, ShardUnavailable) and error.is_passing
