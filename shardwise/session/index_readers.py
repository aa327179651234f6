"""Who reads index tables now: whoever writes to one waits until they are done.

A statement that trusts indexes enters before it is planned, then sees which are valid, and leaves when its
rows are read. Whoever is to write to an index table first has its state say so, then waits for those who
entered before. So nobody reads an index half written: later ones see the state. Of a catalog's file that
holds for all processes of this machine, by a shared lock on that file; else for this process.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

from shardwise.errors import OperationalError
from shardwise.executor.guard import Guard

if sys.platform != "win32":
    import fcntl

WAIT_S = 30.0
"""So long readers are waited for."""
_POLL_S = 0.02


class IndexReaders:
    """Of one catalog. Threads may share it."""

    def __init__(self, file: Path | None) -> None:
        self._file = file
        self._pid = os.getpid()
        self._lock = threading.RLock()  # a result that is dropped leaves, in whatever its thread is doing
        self._inside: set[object] = set()

    def enter(self) -> Callable[[], None]:
        """From now on whoever writes waits, until what this gives is called; again does nothing."""
        me = object()
        with self._lock:
            self._inside.add(me)
        try:
            descriptor = self._shared()
        except BaseException:
            with self._lock:
                self._inside.discard(me)
            raise

        def leave() -> None:
            with self._lock:
                if me not in self._inside:
                    return
                self._inside.discard(me)
            if descriptor is not None:
                self._give_back(descriptor)

        return leave

    def _shared(self) -> int | None:
        """The file, locked so that others may lock it so, too. None where nobody could write by it either: a
        file that is gone since the catalog was read, or is where there are no locks."""
        if sys.platform == "win32" or self._file is None:
            return None
        try:
            descriptor = _opened(self._file)
        except FileNotFoundError:
            return None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH)
        except OSError:
            os.close(descriptor)
            return None
        except BaseException:
            os.close(descriptor)
            raise
        return descriptor

    def _give_back(self, descriptor: int) -> None:
        """Ends the lock here and in processes that were forked meanwhile: they have the descriptor, too. One
        of those ends nothing but its own."""
        if sys.platform != "win32" and os.getpid() == self._pid:
            fcntl.flock(descriptor, fcntl.LOCK_UN)
        os.close(descriptor)

    def wait_until_left(self, index: str, guard: Guard, wait_s: float | None = None) -> None:
        """Returns once all have left that are inside now; raises OperationalError if that takes too long, and
        what stops the statement."""
        wait_s = WAIT_S if wait_s is None else wait_s
        end = time.monotonic() + wait_s
        with self._lock:
            before = set(self._inside)
        while self._is_inside(before) or self._is_read_elsewhere():
            guard.check()
            if time.monotonic() > end:
                raise OperationalError(
                    f'index "{index}" is to be written to, and statements that trust indexes have read for '
                    f"{wait_s:g} s",
                    hint="Fetch the rows of their cursors, or close them, and try again",
                )
            time.sleep(_POLL_S)

    def _is_inside(self, before: set[object]) -> bool:
        with self._lock:
            return bool(before & self._inside)

    def _is_read_elsewhere(self) -> bool:
        """Whether another process has the file locked; it cannot be told while this one has."""
        if sys.platform == "win32" or self._file is None:
            return False
        with self._lock:
            if self._inside:
                return True
            try:
                descriptor = _opened(self._file)
            except FileNotFoundError as error:
                raise OperationalError(f'cannot lock "{self._file}": {error.strerror}') from error
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
            finally:
                self._give_back(descriptor)
        return False


def _opened(file: Path) -> int:
    """Raises FileNotFoundError, else ours: a reader that nobody knows of is never waited for."""
    try:
        return os.open(file, os.O_RDONLY)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise OperationalError(
            f'cannot open "{file}", by which readers of indexes are waited for: {error.strerror}'
        ) from error
