"""The threads that fetch: made as they are needed, for all statements of a cluster."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from shardwise.errors import InterfaceError


class Workers:
    """The process's fetching threads, made as they are needed, at most `size`."""

    def __init__(self, size: int) -> None:
        self._threads = ThreadPoolExecutor(size, thread_name_prefix="shardwise-fetch")
        self._lock = threading.Lock()
        self._waiting = 0
        self._is_closed = False

    def submit(self, work: Callable[[], None]) -> None:
        """Has a thread do it; raises InterfaceError once closed."""
        if not self.resubmit(work):
            raise InterfaceError("the cluster is closed")

    def resubmit(self, work: Callable[[], None]) -> bool:
        """The same, but tells whether it will be done."""
        with self._lock:
            if self._is_closed:
                return False
            self._waiting += 1
            self._threads.submit(self._start, work)
            return True

    def _start(self, work: Callable[[], None]) -> None:
        with self._lock:
            self._waiting -= 1
        work()

    @property
    def is_crowded(self) -> bool:
        """Whether work waits for a thread."""
        return self._waiting > 0

    def close(self) -> None:
        """Waits for the threads to end."""
        with self._lock:
            self._is_closed = True
        self._threads.shutdown()
