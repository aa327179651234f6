"""One connection to a SQLite file: how it waits for locks, and how it is stopped."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeVar

from shardwise.errors import NotSupportedError
from shardwise.executor import lite
from shardwise.executor.cells import Misfit, MisfitError, kind_of
from shardwise.executor.workers.bulk_job import BulkJob

_T = TypeVar("_T")
_BULK_BYTES_MIN = 8 << 20
_PAUSE_S_MIN, _PAUSE_S_MAX = 0.001, 0.05
_STEPS_UNHEARD = 1_000_000
Rows = list[tuple[Any, ...]]


class Identity(NamedTuple):
    """Which file is at a path: another one, once it was replaced."""

    device: int
    inode: int


def identity(path: str) -> Identity:
    """By its directory entry, the file untouched; raises OSError."""
    found = os.stat(path)  # noqa: PTH116  asked by each request, and a Path takes three times as long
    return Identity(found.st_dev, found.st_ino)


class FileConnection:
    """A sqlite3 connection in the hands of one request at a time.

    All that a request reads is of one state of the file: a read transaction begins with its first statement
    and ends with `reset`.
    """

    def __init__(self, path: str, *, busy_s: float, immutable: bool) -> None:
        found = os.stat(path)  # noqa: PTH116
        self.identity = Identity(found.st_dev, found.st_ino)
        self._bytes = found.st_size
        self._path = path
        self._immutable = immutable
        self._con = lite.open_file(path, immutable=immutable)
        self._busy_s = busy_s
        self._stop = threading.Event()
        self._misfit: MisfitError | None = None
        self._is_known = self._is_begun = False
        self._version = 0
        # SQLite forgets an interrupt that comes between two statements, or before one has begun.
        self._con.set_progress_handler(self._stop.is_set, _STEPS_UNHEARD)
        self._con.create_function("shardwise_value", 4, self._value, deterministic=True)

    def begin(self) -> int:
        """Begins the request's read transaction, if it has not; gives the version of the file's schema."""
        if not self._is_begun:
            self._con.execute("BEGIN")
            self._is_begun = True
            ((self._version,),) = self.asked(lambda: self._con.execute("PRAGMA schema_version").fetchall())
            if not self._is_known:
                self._check_encoding()
                self._is_known = True
        return self._version

    def execute(self, sql: str, params: Mapping[str, Any] | tuple[Any, ...] = ()) -> sqlite3.Cursor:
        """Starts a statement within the request's transaction."""
        self.begin()
        return self.asked(lambda: self._con.execute(sql, params))

    def asked(self, ask: Callable[[], _T]) -> _T:
        """Asks the engine; again while another connection's lock is in the way.

        Raises what a function of ours raised inside the statement, as it was.
        """
        give_up = 0.0
        pause = _PAUSE_S_MIN
        while True:
            try:
                return ask()
            except sqlite3.OperationalError as error:
                misfit, self._misfit = self._misfit, None
                if misfit is not None:
                    raise misfit from None
                if not lite.read(error).is_code("SQLITE_BUSY"):
                    raise
                now = time.monotonic()
                give_up = give_up or now + self._busy_s
                if now >= give_up:
                    raise
                if self._stop.wait(min(pause, give_up - now)):
                    raise sqlite3.OperationalError("interrupted") from None
                pause = min(2 * pause, _PAUSE_S_MAX)

    def bulk_job(
        self, sql: str, params: Mapping[str, Any], columns: tuple[tuple[str, str], ...], time_zone: str
    ) -> BulkJob | None:
        """The statement for a worker process; None where the file is too small for large results."""
        if self._bytes < _BULK_BYTES_MIN:
            return None
        state = (*self.identity, self.begin())
        return BulkJob(self._path, self._immutable, state, sql, params, columns, time_zone)

    def interrupt(self) -> None:
        """Stops what runs or waits; from any thread."""
        self._stop.set()
        lite.interrupt(self._con)

    def reset(self) -> None:
        """Ends the request."""
        if self._stop.is_set():
            self._stop.clear()
        self._misfit = None
        if self._is_begun:
            self._is_begun = False
            self._con.execute("ROLLBACK")

    def close(self) -> None:
        self._con.close()

    def _check_encoding(self) -> None:
        ((encoding,),) = self._con.execute("PRAGMA encoding").fetchall()
        if encoding != "UTF-8":
            raise NotSupportedError(
                f"the file's text is {encoding}, which sorts otherwise than UTF-8",
                hint="Write it anew: sqlite3 old.db .dump | sqlite3 new.db",
            )

    def _value(self, table: str, column: str, type_: str, cell: Any) -> Any:
        """`shardwise_value` in SQL: the canonical form of a cell that is not in it already."""
        if cell is None:
            return None
        try:
            return kind_of(type_).canonical(cell)
        except Misfit as misfit:
            self._misfit = MisfitError(misfit, column, table=table)
            raise
