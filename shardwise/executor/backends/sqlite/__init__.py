"""SQLite files as sources: `sqlite:///path/to/file.db`, opened for reading, never made by opening.

By Python's sqlite3, and by nothing else: see `executor/lite.py`. Files, in reading order: `file.py` (one
connection to the file: locks, interrupts), `connection.py` (a request's statement on it, rows as the wanted
types), `tables.py` (what the file says of its columns), `errors.py`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from shardwise.errors import CatalogError, Error, ShardUnavailable
from shardwise.executor.backends.base import Location, ReadColumn, SourceOptions
from shardwise.executor.backends.sqlite import tables
from shardwise.executor.backends.sqlite.connection import SQLiteConnection
from shardwise.executor.backends.sqlite.errors import path_of, translate_error
from shardwise.executor.backends.sqlite.file import FileConnection, identity

__all__ = ["SQLiteBackend", "SQLiteSource"]

_IDLE_MAX = 2
_BUSY_MS = 5_000


class SQLiteSource:
    """A file, and a few connections to it that wait for their next request.

    Each request asks whether the file at the path is still the one that they have open.
    """

    def __init__(self, path: str, *, busy_s: float, immutable: bool) -> None:
        self._path = path
        self._busy_s = busy_s
        self._immutable = immutable
        self._lock = threading.Lock()
        self._is_closed = False
        self._idle = [self._opened()]

    def connect(self, time_zone: str) -> SQLiteConnection:
        now = identity(self._path)
        with self._lock:
            file = self._idle.pop() if self._idle else None
        if file is not None and file.identity != now:
            file.close()
            file = None
        return SQLiteConnection(file or self._opened(), time_zone, self._give_back)

    def close(self) -> None:
        with self._lock:
            self._is_closed = True
            idle, self._idle = self._idle, []
        for file in idle:
            file.close()

    def _opened(self) -> FileConnection:
        return FileConnection(self._path, busy_s=self._busy_s, immutable=self._immutable)

    def _give_back(self, file: FileConnection) -> None:
        file.reset()
        with self._lock:
            keeps = not self._is_closed and len(self._idle) < _IDLE_MAX
            if keeps:
                self._idle.append(file)
        if not keeps:
            file.close()


class SQLiteBackend:
    """`sqlite:///file`, `WITH (busy_timeout_ms = 5000, immutable = false)`."""

    name = "sqlite"
    dialect = "sqlite"

    def open(self, location: Location, options: SourceOptions) -> SQLiteSource:
        return SQLiteSource(
            path_of(location),
            busy_s=_milliseconds(location, "busy_timeout_ms", _BUSY_MS) / 1000,
            immutable=_is_true(location, "immutable"),
        )

    def suits(self, found: str, column: ReadColumn, normal: Callable[[str], str | None]) -> str | None:
        return tables.suits(found, column, normal)

    def translate_error(self, error: BaseException, location: Location) -> Error:
        return translate_error(error, location)

    def is_transient(self, error: Error) -> bool:
        return isinstance(error, ShardUnavailable) and error.is_passing


def _milliseconds(location: Location, option: str, default: int) -> int:
    value = str(location.options.get(option, default))
    if not value.isascii() or not value.isdecimal():
        raise _no_value(location, option, "a number of milliseconds")
    return int(value)


def _is_true(location: Location, option: str) -> bool:
    value = str(location.options.get(option, "false")).lower()
    if value not in ("true", "false"):
        raise _no_value(location, option, "true or false")
    return value == "true"


def _no_value(location: Location, option: str, wanted: str) -> CatalogError:
    return CatalogError(
        f'source "{location.source}": {option} is not {wanted}', hint=f"Write WITH ({option} = …)"
    )
