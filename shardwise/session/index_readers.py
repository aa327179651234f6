"""Who reads index tables now: whoever writes to one waits until they are done.

    a reader                                    a writer
    plans, by the states that it sees           has the index's state say that it writes
    holds the indexes that its plan reads       waits until nobody holds the index
    looks at their states again, and plans
    anew if they are not what they were

Sound: of a reader that sees the old state at its second look the writer knows, for the state was written
after the index was held. Each later one sees the new state, and plans without the index. So no reader ever
waits, readers that follow each other without a pause keep no writer waiting, and those of other indexes none
at all. Of a catalog's file that holds for all processes of this machine, by locks on that file; else for this
process.
"""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections.abc import Iterable
from io import FileIO
from pathlib import Path

from shardwise.errors import OperationalError
from shardwise.executor.guard import Guard
from shardwise.session.name_locks import NameLocks, of_this_system, opened

WAIT_S = 30.0
"""So long readers are waited for."""
_POLL_S = 0.02


class IndexReaders:
    """Of one catalog. Threads may share it. `locks` is how processes see each other's readers."""

    def __init__(self, file: Path | None, locks: NameLocks | None = None) -> None:
        self._file = file
        self._locks = locks or of_this_system()
        self._lock = threading.RLock()  # a result that is dropped leaves, in whatever its thread is doing
        self._readers: weakref.WeakSet[Reader] = weakref.WeakSet()

    def reader(self) -> Reader:
        """One that holds nothing yet. It leaves when it is dropped, too."""
        reader = Reader(self._file, self._locks)
        with self._lock:
            self._readers.add(reader)
        return reader

    def wait_until_left(self, index: str, guard: Guard, wait_s: float | None = None) -> None:
        """Returns once nobody reads the index; raises OperationalError if that takes too long, and what stops
        the statement."""
        wait_s = WAIT_S if wait_s is None else wait_s
        end = time.monotonic() + wait_s
        while self._is_read_here(index) or self._is_read_elsewhere(index):
            guard.check()
            if time.monotonic() > end:
                raise OperationalError(
                    f'index "{index}" is to be written to, and statements that use it have read for '
                    f"{wait_s:g} s",
                    hint="Fetch the rows of their cursors, or close them, and try again",
                )
            time.sleep(_POLL_S)

    def _is_read_here(self, index: str) -> bool:
        with self._lock:
            return any(index.casefold() in reader.holds for reader in self._readers)

    def _is_read_elsewhere(self, index: str) -> bool:
        if self._locks is None or self._file is None:
            return False
        try:
            with opened(self._file) as file:
                return self._locks.is_held(file, index)
        except OSError as error:
            raise OperationalError(f'cannot lock "{self._file}": {error.strerror}') from error


class Reader:
    """One statement, and the indexes that it holds. Wherever it is stopped, to leave is to hold none."""

    _file: FileIO | None = None
    holds: frozenset[str] = frozenset()

    def __init__(self, catalog: Path | None, locks: NameLocks | None) -> None:
        self._catalog, self._locks = catalog, locks
        self._pid = os.getpid()

    def hold(self, indexes: Iterable[str]) -> None:
        """These, and no others any more: whoever is to write to one waits from now on."""
        self.leave()
        self.holds = frozenset(index.casefold() for index in indexes)
        if self.holds and self._locks is not None and self._catalog is not None:
            self._lock_in(self._catalog, self._locks)

    def _lock_in(self, catalog: Path, locks: NameLocks) -> None:
        """Where the file is gone since the catalog was read, or there are no locks, nobody could write by it,
        either."""
        try:
            self._file = opened(catalog)
        except FileNotFoundError:
            return
        try:
            locks.hold(self._file, self.holds)
        except OSError:
            self._file.close()

    def leave(self) -> None:
        """Holds none any more; again does nothing. A process that was forked meanwhile ends nobody's hold but
        its own."""
        file = self._file
        if file is not None and not file.closed:
            try:
                if self._locks is not None and os.getpid() == self._pid:
                    self._locks.let_go(file)
            finally:
                file.close()
        self.holds = frozenset()

    def __del__(self) -> None:
        self.leave()
