"""Work that ctrl-C stops within a moment, whatever it is inside of.

A signal's handler runs in the main thread, and only between two steps of Python: not while that thread is
inside an engine, which a long merge is until its first row. So the work is done by a thread of its own; the
main thread does nothing but wait, and tells the work to stop.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from queue import Empty, SimpleQueue
from typing import Final, Generic, TypeVar

from shardwise.errors import Cancelled

_T = TypeVar("_T")

PATIENCE_S: Final = 0.12
"""How long work that was told to stop may take to; after that it is left behind."""

_WAIT_S: Final = 0.05

_left: list[threading.Thread] = []


def attended(work: Callable[[], _T], cancel: Callable[[], None]) -> _T:
    """What `work` gives or raises. Ctrl-C calls `cancel`, from a thread, and raises `Cancelled` soon after.

    Work that does not stop at once is left to end by itself. Outside the main thread, which alone sees
    ctrl-C, `work` is simply done.
    """
    if threading.current_thread() is not threading.main_thread():
        return work()
    events: SimpleQueue[str] = SimpleQueue()  # may be put to from a handler, whatever was interrupted
    job = _Job(work, lambda: events.put("done"))
    with _handling(lambda: events.put("interrupted")):
        job.thread.start()
        if _next(events) == "done":
            return job.result()
        threading.Thread(target=cancel, name="shardwise-cancel", daemon=True).start()
        deadline = time.monotonic() + PATIENCE_S
        while not job.is_done and (left := deadline - time.monotonic()) > 0:
            try:
                events.get(timeout=left)
            except Empty:
                break
    if job.is_done:
        return job.result()
    _left.append(job.thread)
    raise Cancelled("the statement was cancelled; it is still being stopped")


def is_idle(patience_s: float = 0.0) -> bool:
    """Whether no work that was left behind still goes on; waits for it so long."""
    deadline = time.monotonic() + patience_s
    for thread in _left:
        thread.join(max(0.0, deadline - time.monotonic()))
    _left[:] = [thread for thread in _left if thread.is_alive()]
    return not _left


def leave(code: int, patience_s: float = 3.0) -> int:
    """Before the program ends: waits for work that was left behind. If that will not end, ends the program.

    Python must not end while a thread is inside an engine: it would be torn out of the midst of it.
    """
    try:
        if is_idle(patience_s):
            return code
    except KeyboardInterrupt:
        """Once more: at once, then."""
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(code)


def _next(events: SimpleQueue[str]) -> str:
    """Waits, but not in one go: a signal just before the wait begins would not end it."""
    while True:
        with contextlib.suppress(Empty):
            return events.get(timeout=_WAIT_S)


class _Job(Generic[_T]):
    """Work in a thread, and what became of it."""

    def __init__(self, work: Callable[[], _T], done: Callable[[], None]) -> None:
        self._work = work
        self._done = done
        self._values: list[_T] = []
        self._error: BaseException | None = None
        self.is_done = False
        self.thread = threading.Thread(target=self._run, name="shardwise-statement", daemon=True)

    def _run(self) -> None:
        try:
            self._values.append(self._work())
        except BaseException as error:  # noqa: BLE001  raised where it is waited for
            self._error = error
        self.is_done = True
        self._done()

    def result(self) -> _T:
        error, self._error = self._error, None
        if error is not None:
            raise error
        return self._values[0]


@contextmanager
def _handling(interrupted: Callable[[], None]) -> Iterator[None]:
    before = signal.signal(signal.SIGINT, lambda *_: interrupted())
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
