"""Who sees that a server does not answer any more, while a thread of ours waits for it.

A read that waits is no sign: a statement may take an hour before its first row. So what has waited for some
time is looked into over another connection. If that one is answered, the statement just takes long; if it
is not, the server (or the way to it) is gone, and the socket is shut: the thread that reads gets an error.

One thread for the process, while anything is watched.
"""

from __future__ import annotations

import threading
import time
from typing import Protocol

_LOOK_S = 0.5
_LINGER_S = 5.0


class Watched(Protocol):
    """What is watched."""

    def look(self, now: float) -> None:
        """Called twice a second; must not wait."""


class Watchdog:
    """Threads may call everything."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._watched: dict[int, Watched] = {}
        self._thread: threading.Thread | None = None

    def add(self, each: Watched) -> None:
        """Has it looked at until it is discarded."""
        with self._lock:
            self._watched[id(each)] = each
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="shardwise-mysql-watch", daemon=True)
                self._thread.start()

    def discard(self, each: Watched) -> None:
        with self._lock:
            self._watched.pop(id(each), None)

    def _run(self) -> None:
        idle_since = time.monotonic()
        while True:
            time.sleep(_LOOK_S)
            now = time.monotonic()
            with self._lock:
                watched = list(self._watched.values())
                if watched:
                    idle_since = now
                elif now - idle_since > _LINGER_S:
                    self._thread = None
                    return
            for each in watched:
                each.look(now)


WATCHDOG = Watchdog()
