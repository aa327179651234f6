"""A worker process's life: jobs in, replies out, until whoever started it is gone."""

from __future__ import annotations

import queue
import signal
import threading
from multiprocessing.connection import Connection
from typing import Any

from shardwise.executor.offload import Doing, Job


def main(fd: int) -> None:
    """Serves the socket `fd`. Ctrl-C in a terminal comes here too, but is the other process's matter."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    connection = Connection(fd)
    connection.send("ready")
    jobs: queue.SimpleQueue[Doing | None] = queue.SimpleQueue()
    listener = threading.Thread(target=_listen, args=(connection, jobs), daemon=True)
    listener.start()
    while (doing := jobs.get()) is not None:
        reply = doing.run()
        try:
            connection.send(reply)
        except OSError:
            return


def _listen(connection: Connection, jobs: queue.SimpleQueue[Doing | None]) -> None:
    """Receives (number, job), or (number, None): that job is to stop."""
    current: tuple[int, Doing] | None = None
    while True:
        try:
            number, job = _received(connection)
        except (OSError, EOFError):
            if current is not None:
                current[1].stop()
            jobs.put(None)
            return
        if job is not None:
            current = number, Doing(job)
            jobs.put(current[1])
        elif current is not None and current[0] == number:
            current[1].stop()


def _received(connection: Connection) -> tuple[int, Job | None]:
    message: tuple[int, Any] = connection.recv()
    return message
