"""Several producers side by side, read one after the other: in order, in bounded memory, on a few threads.

    with Lanes([produce_0, produce_1, …], threads=8) as lanes:
        for item in lanes: …        all that produce_0 gives, then all of produce_1, …

Producers start in order, so that the one which is read has always begun; those behind it work ahead until
each has a few items waiting. An error comes where its producer's items end.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Generic, Self, TypeVar

T = TypeVar("T")
_AHEAD = 4


class _Lane(Generic[T]):
    """What one producer has given that nobody has taken yet."""

    def __init__(self) -> None:
        self.items: deque[T] = deque()
        self.is_over = False
        self.error: BaseException | None = None


class Lanes(Generic[T]):
    """One thread iterates; `close` may be called by any, and waits until no producer runs."""

    def __init__(self, producers: Sequence[Callable[[], Iterator[T]]], *, threads: int) -> None:
        self._producers = producers
        self._threads = threads
        self._changed = threading.Condition()
        self._is_stopped = False
        self._pool: ThreadPoolExecutor | None = None

    def __iter__(self) -> Iterator[T]:
        lanes: deque[_Lane[T]] = deque()
        waiting = iter(self._producers)
        self._pool = ThreadPoolExecutor(self._threads, thread_name_prefix="shardwise-each")
        while True:
            while len(lanes) < 2 * self._threads and (producer := next(waiting, None)) is not None:
                lanes.append(_Lane())
                self._pool.submit(self._fill, lanes[-1], producer)
            if not lanes:
                return
            yield from self._drained(lanes.popleft())

    def close(self) -> None:
        """Has the producers end as soon as they give something; who made them has them give or fail."""
        with self._changed:
            self._is_stopped = True
            self._changed.notify_all()
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _drained(self, lane: _Lane[T]) -> Iterator[T]:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: lane.items or lane.is_over or self._is_stopped)
                if not lane.items:
                    if lane.error is not None:
                        raise lane.error
                    return
                item = lane.items.popleft()
                self._changed.notify_all()
            yield item

    def _fill(self, lane: _Lane[T], producer: Callable[[], Iterator[T]]) -> None:
        try:
            for item in producer():
                with self._changed:
                    self._changed.wait_for(lambda: len(lane.items) < _AHEAD or self._is_stopped)
                    if self._is_stopped:
                        return
                    lane.items.append(item)
                    self._changed.notify_all()
        except BaseException as error:  # noqa: BLE001  raised by who reads
            lane.error = error
        finally:
            with self._changed:
                lane.is_over = True
                self._changed.notify_all()
