"""A worker process's life: jobs in, replies out, until whoever started it is gone."""

from __future__ import annotations

import queue
import signal
import threading
from multiprocessing.connection import Connection
from typing import Any, Protocol

from shardwise.executor.workers.bulk_job import BulkJob, BulkReply, EndBulk, NextBatch
from shardwise.executor.workers.bulk_worker import Bulk
from shardwise.executor.workers.offload import Doing, Job, Reply


def main(fd: int) -> None:
    """Serves the socket `fd`. Ctrl-C in a terminal comes here too, but is the other process's matter."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    connection = Connection(fd)
    try:
        connection.send("ready")
    except OSError:  # who started it is gone already: a statement that failed, a program that ended
        return
    jobs: queue.SimpleQueue[Work | None] = queue.SimpleQueue()
    listener = threading.Thread(target=_listen, args=(connection, jobs), daemon=True)
    listener.start()
    while (doing := jobs.get()) is not None:
        reply = doing.run()
        try:
            connection.send(reply)
        except OSError:
            return


class Work(Protocol):
    """A job that is being done by one thread; any may `stop` it."""

    def run(self) -> Reply | BulkReply: ...
    def stop(self) -> None: ...


class _End:
    """The statement that is open is done with."""

    def __init__(self, bulk: Bulk | None) -> None:
        self._bulk = bulk

    def run(self) -> BulkReply:
        if self._bulk is not None:
            self._bulk.close()
        return BulkReply()

    def stop(self) -> None: ...


def _listen(connection: Connection, jobs: queue.SimpleQueue[Work | None]) -> None:
    """Receives (number, job), or (number, None): that job is to stop."""
    current: tuple[int, Work] | None = None
    bulk: Bulk | None = None
    while True:
        try:
            number, job = _received(connection)
        except Exception:  # noqa: BLE001  nobody is there any more, or sent a value that only he can make
            if current is not None:
                current[1].stop()
            jobs.put(None)
            return
        if job is not None:
            if isinstance(job, BulkJob):
                bulk = Bulk(job)
            work: Work
            if isinstance(job, Job):
                work = Doing(job)
            elif isinstance(job, EndBulk) or bulk is None:
                work = _End(bulk)
            else:
                work = bulk
            current = number, work
            jobs.put(work)
        elif current is not None and current[0] == number:
            current[1].stop()


def _received(connection: Connection) -> tuple[int, Job | BulkJob | NextBatch | EndBulk | None]:
    message: tuple[int, Any] = connection.recv()
    return message
