"""What a statement that one shard answers whole has, whatever its rows are made of: its source, its end."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import NamedTuple, TypeVar

from shardwise.errors import ShardUnavailable
from shardwise.executor.backends.base import Outdated, SourceConnection
from shardwise.executor.pools import Lease
from shardwise.executor.reading import Located, Reader
from shardwise.plan.gaps import Gap
from shardwise.plan.run import Request

_T = TypeVar("_T")


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
    def _is_known_good(self, lease: Lease, connection: SourceConnection) -> bool:
        """Whether the request's tables were found as declared before: nothing is waited for to find out."""

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
            self.lease = reader.pool.lease(request.source, reader.guard)
        except ShardUnavailable as error:
            empty = reader.empty(request) if error.is_missing else None
            if empty is None:
                raise
            self._connection = empty.connection
            self.request = request._replace(sql=empty.sql, params=empty.params)
            return
        try:
            self._connection = self.lease.connect(reader.time_zone)
            if not self._is_known_good(self.lease, self._connection):
                gaps = self._looked_into(self.lease, self._connection)
                self.request = request._replace(sql=reader.text(request, gaps)) if gaps else request
        except BaseException:
            if self._connection is not None:
                self._connection.close()
            self.lease.release()
            raise

    def _looked_into(self, lease: Lease, connection: SourceConnection) -> dict[str, Gap]:
        """Asks the source for its tables, which may wait for another's lock, and there is no result yet that
        would be interrupted."""
        forget = self._reader.guard.on_stop(connection.interrupt)
        try:
            return self._gaps(lease, connection)
        finally:
            forget()

    def _asked(self, ask: Callable[[], _T]) -> _T:
        """What `ask` gives of the request; asked again, tables looked at, where they may be others now."""
        try:
            return ask()
        except Outdated:
            connection, lease = self._connection, self.lease
            assert connection is not None
            assert lease is not None
            self._reader.guard.check()
            if gaps := self._looked_into(lease, connection):
                self.request = self.request._replace(sql=self._reader.text(self.request, gaps))
            return ask()

    def _arrived(self, rows: int, size: int, *, is_last: bool) -> None:
        """Counts rows, of about so many bytes."""
        self._is_over = self._is_over or is_last
        self._reader.feed(self.request, _Counted(rows, size), self._elapsed(), is_last=is_last)

    def _finish(self) -> None:
        if not self._is_over:
            self._is_over = True
            self._reader.finish(self.request, self._elapsed())

    def _elapsed(self) -> float:
        """The seconds since it was asked last."""
        last, self._last = self._last, time.perf_counter()
        return self._last - last


class _Counted(NamedTuple):
    """Rows that are no Arrow batch."""

    num_rows: int
    nbytes: int
