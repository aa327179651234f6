"""A statement's one switch: the first error, a cancel, the deadline or a budget stops everything it runs."""

from __future__ import annotations

import threading
from collections.abc import Callable

from shardwise.errors import BudgetExceeded, Cancelled, DeadlineExceeded
from shardwise.options import Options


class Guard:
    """Shared by a statement and the subqueries that run before it. Threads may call everything."""

    def __init__(self, options: Options) -> None:
        self._lock = threading.Lock()
        self._options = options
        self._stops: dict[int, Callable[[], None]] = {}
        self._next = 0
        self._rows = self._bytes = 0
        self.error: BaseException | None = None
        self._timer: threading.Timer | None = None
        if options.deadline_s is not None:
            self._timer = threading.Timer(max(0.0, options.deadline_s), self._expire)
            self._timer.daemon = True
            self._timer.start()

    def on_stop(self, stop: Callable[[], None]) -> Callable[[], None]:
        """Has `stop` called once everything is to stop (at once if it already is); gives what forgets it."""
        with self._lock:
            self._next += 1
            key = self._next
            if self.error is None:
                self._stops[key] = stop
                return lambda: self._forget(key)
        stop()
        return lambda: None

    def stop(self, error: BaseException) -> None:
        """The first error is the statement's."""
        with self._lock:
            if self.error is not None:
                return
            self.error = error
            stops = list(self._stops.values())
            self._stops.clear()
        for each in stops:
            each()

    def cancel(self) -> None:
        self.stop(Cancelled("the statement was cancelled"))

    def check(self) -> None:
        """Raises what stopped the statement."""
        if self.error is not None:
            raise self.error

    def count(self, fragment: str, rows: int, size: int) -> None:
        """Rows and bytes that came off a shard; raises over a budget."""
        with self._lock:
            self._rows += rows
            self._bytes += size
            rows, size = self._rows, self._bytes
        limits = self._options
        if limits.rows_max is not None and rows > limits.rows_max:
            raise BudgetExceeded(
                f"the statement moves more than {limits.rows_max:,} rows off the shards: fragment {fragment} "
                f"brought it to {rows:,}",
                hint="Raise rows_max, or see with EXPLAIN what could be filtered or aggregated on the shards",
            )
        if limits.bytes_max is not None and size > limits.bytes_max:
            raise BudgetExceeded(
                f"the statement moves more than {limits.bytes_max:,} bytes off the shards: fragment "
                f"{fragment} brought it to {size:,}",
                hint="Raise bytes_max, or select fewer columns and rows",
            )

    def done(self) -> None:
        """The statement is over: no deadline any more."""
        if self._timer is not None:
            self._timer.cancel()

    def _forget(self, key: int) -> None:
        with self._lock:
            self._stops.pop(key, None)

    def _expire(self) -> None:
        self.stop(
            DeadlineExceeded(
                f"the statement took longer than its deadline of {self._options.deadline_s:g} s",
                hint="Raise deadline_s, or narrow the query",
            )
        )


class PartGuard(Guard):
    """Of a part of a statement: what stops the whole stops it, its rows count there, its error is its own."""

    def __init__(self, whole: Guard) -> None:
        super().__init__(Options())
        self._whole = whole
        self._forget_whole = whole.on_stop(self._stop_too)

    def count(self, fragment: str, rows: int, size: int) -> None:
        self._whole.count(fragment, rows, size)

    def done(self) -> None:
        self._forget_whole()

    def _stop_too(self) -> None:
        if self._whole.error is not None:
            self.stop(self._whole.error)
