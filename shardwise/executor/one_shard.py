"""What a statement that one shard answers whole has, whatever its rows are made of: its source, its end."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod

from shardwise.errors import ShardUnavailable
from shardwise.executor.backends.base import SourceConnection
from shardwise.executor.pools import Lease
from shardwise.executor.reading import Located, Reader
from shardwise.plan.gaps import Gap
from shardwise.plan.run import Request


class OneShard(ABC):
    """Opened when it is made: a source that is not there, or not as the catalog says, is an error then."""

    def __init__(self, reader: Reader, request: Request) -> None:
        self.request = request
        self.lease: Lease | None = None
        self._reader = reader
        self._connection: SourceConnection | None = None
        self._last = time.perf_counter()
        self._is_started = self._is_over = False
        with Located(self):
            self._open()

    @abstractmethod
    def _gaps(self, lease: Lease, connection: SourceConnection) -> dict[str, Gap]:
        """What the request's tables lack and may; raises for what must be as declared."""

    def interrupt(self) -> None:
        """Stops the shard; from any thread."""
        connection = self._connection
        if connection is not None:
            connection.interrupt()

    def close(self) -> None:
        """Ends the request, and gives back what it holds."""
        self._finish()
        connection, lease = self._connection, self.lease
        self._connection = self.lease = None
        if connection is not None:
            connection.close()
        if lease is not None:
            lease.release()

    def _open(self) -> None:
        reader, request = self._reader, self.request
        try:
            self.lease = reader.pool.lease(request.source)
        except ShardUnavailable as error:
            empty = reader.empty(request) if error.is_missing else None
            if empty is None:
                raise
            self._connection = empty.connection
            self.request = request._replace(sql=empty.sql, params=empty.params)
            return
        try:
            self._connection = self.lease.connect(reader.time_zone)
            # It may wait for another's lock, and there is no result yet that would be interrupted.
            forget = reader.guard.on_stop(self._connection.interrupt)
            try:
                gaps = self._gaps(self.lease, self._connection)
            finally:
                forget()
            self.request = request._replace(sql=reader.text(request, gaps)) if gaps else request
        except BaseException:
            if self._connection is not None:
                self._connection.close()
            self.lease.release()
            raise

    def _finish(self) -> None:
        if not self._is_over:
            self._is_over = True
            self._reader.finish(self.request, self._elapsed())

    def _elapsed(self) -> float:
        """The seconds since it was asked last."""
        last, self._last = self._last, time.perf_counter()
        return self._last - last
