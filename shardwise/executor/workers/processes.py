"""Worker processes: where reading in Python must not hold up everything else that runs in this one.

Python's `sqlite3` makes a Python object of every value, under the interpreter's one lock. A worker process
has a lock of its own. It is a fresh interpreter, not a fork (this process has threads and engines), that
imports what it reads with and nothing of the user's program.

A worker does one job at a time and answers it with one bounded reply, so that it never waits for whoever
reads the rows, and streams may be drained in any order. What does not fit into a reply is read in this
process; so is what a worker cannot do, whatever the reason, so that errors are those of the ordinary way.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

_PACKAGE_ROOT = str(Path(__file__).resolve().parents[3])
_START = "from shardwise.executor.workers.worker import main; main({fd})"
_END_WITHIN_S = 2.0


class WorkerLost(Exception):
    """The process is gone. What it had been asked must be done in this one."""


class WorkerProcess:
    """One process. One thread at a time calls it; any may `cancel` what it does."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        fd = theirs.fileno()
        try:
            self._process = subprocess.Popen(  # noqa: S603  this very interpreter, our own text
                [sys.executable, "-P", "-c", _START.format(fd=fd)],
                pass_fds=[fd],
                stdin=subprocess.DEVNULL,
                env=_environment(),
            )
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()
        self._connection = Connection(ours.detach())
        self._sending = threading.Lock()
        self._asked = 0

    @property
    def pid(self) -> int:
        return self._process.pid

    def is_ready(self) -> bool:
        """Whether it has started; asked until it has. Raises WorkerLost if it ended before."""
        if not self._connection.poll(0):
            return False
        self.answer()
        return True

    def call(self, job: Any) -> Any:
        """Has the job done and gives the reply; raises WorkerLost."""
        self.ask(job)
        return self.answer()

    def ask(self, job: Any) -> None:
        """Hands it a job: from here on `cancel` stops it, and `answer` waits for it. Raises WorkerLost."""
        self._asked += 1
        try:
            self._send((self._asked, job))
        except OSError as error:
            raise WorkerLost(str(error)) from error

    def answer(self) -> Any:
        """What it says next; raises WorkerLost."""
        try:
            return self._connection.recv()
        except (OSError, EOFError) as error:
            raise WorkerLost(str(error)) from error

    def cancel(self) -> None:
        """The job it was asked is to end at once; its reply comes all the same, and says so."""
        with suppress(OSError):
            self._send((self._asked, None))

    def kill(self) -> None:
        """Ends it amid its work: whoever calls it is told WorkerLost."""
        self._process.kill()

    def close(self) -> None:
        """Ends the process and waits for it."""
        self._connection.close()
        try:
            self._process.wait(_END_WITHIN_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _send(self, message: tuple[int, Any]) -> None:
        with self._sending:
            self._connection.send(message)


class WorkerProcesses:
    """At most `size` of them, started when first asked for and kept until `close`. Threads may share it."""

    def __init__(self, size: int) -> None:
        self.size = size if _can_start() else 0
        self._lock = threading.Lock()
        self._starting: list[WorkerProcess] = []
        self._idle: list[WorkerProcess] = []
        self._count = 0
        self._is_closed = False

    def take(self) -> WorkerProcess | None:
        """One that is ready and idle, None if there is none now: then the work is done in this process, which
        waits neither for a worker's start nor for other statements' work.
        """
        with self._lock:
            if self._is_closed:
                return None
            while self._count < self.size:
                try:
                    self._starting.append(WorkerProcess())
                except OSError:
                    self.size = 0
                    break
                self._count += 1
            self._starting = [worker for worker in self._starting if not self._has_started(worker)]
            return self._idle.pop() if self._idle else None

    def _has_started(self, worker: WorkerProcess) -> bool:
        """Whether one is no longer starting: it is idle now, or none will start here."""
        try:
            if not worker.is_ready():
                return False
        except WorkerLost:
            self.size = 0
            self._count -= 1
            worker.close()
        else:
            self._idle.append(worker)
        return True

    @property
    def is_starting(self) -> bool:
        """Whether one may soon be there that is not there yet."""
        return bool(self._starting)

    def give_back(self, worker: WorkerProcess) -> None:
        with self._lock:
            if not self._is_closed:
                self._idle.append(worker)
                return
        self.discard(worker)

    def discard(self, worker: WorkerProcess) -> None:
        """Ends one that is lost; another takes its place when it is needed."""
        worker.close()
        with self._lock:
            self._count -= 1

    def close(self) -> None:
        """Ends them: those that are idle now, a busy one when it is given back."""
        with self._lock:
            self._is_closed = True
            idle, starting = self._idle, self._starting
            self._idle, self._starting = [], []
        for worker in starting:  # they have nothing open, and would say that nobody listens
            worker.kill()
        for worker in starting + idle:
            self.discard(worker)


def _can_start() -> bool:
    """Whether this process is Python itself: a program that was frozen would start itself once more."""
    return os.name == "posix" and bool(sys.executable) and not hasattr(sys, "frozen")


def _environment() -> dict[str, str]:
    """The package's own folder goes first, wherever this process found it."""
    others = os.environ.get("PYTHONPATH")
    path = os.pathsep.join((_PACKAGE_ROOT, others)) if others else _PACKAGE_ROOT
    return {**os.environ, "PYTHONPATH": path}
