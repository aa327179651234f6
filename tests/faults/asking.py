"""How a source of either product is asked, and what comes of it where something is wrong."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any, Final

import pytest

from shardwise.errors import Error
from shardwise.executor.backends.base import Backend, Location, SourceConnection, SourceOptions
from tests.faults.proxy import Proxy

SOON_S: Final = 8.0
"""What is stopped or given up ends within this, on a busy machine too; else it takes 10 s, or minutes."""
BOTH: Final = (("id", "BIGINT"), ("word", "VARCHAR"))


def error_of(backend: Backend, where: Location, sql: str = "SELECT 1") -> Error:
    """Ours for what opening the source, or a statement there, raises."""
    try:
        source = backend.open(where, SourceOptions())
        try:
            rows(source.connect("UTC"), sql)
        finally:
            source.close()
    except Exception as error:
        return backend.translate_error(error, where)
    raise AssertionError("nothing was wrong")


def rows(connection: SourceConnection, sql: str) -> list[tuple[Any, ...]]:
    """All rows; the connection is closed."""
    try:
        return rows_of(connection, sql)
    finally:
        connection.close()


def rows_of(connection: SourceConnection, sql: str) -> list[tuple[Any, ...]]:
    """All rows; the connection stays."""
    connection.execute(sql, {})
    found: list[tuple[Any, ...]] = []
    while more := connection.fetchmany(1000):
        found += more
    return found


def read(connection: SourceConnection, sql: str | None, start: str) -> None:
    """All that a statement gives, or, without one, all that is left of the last."""
    if sql is not None and start == "arrow":
        connection.arrow(sql, {}, 1000, BOTH).read_all()
        return
    if sql is not None:
        connection.execute(sql, {})
    while connection.fetchmany(1000):
        pass


def cancelled_behind(
    proxy: Proxy, connection: SourceConnection, sql: str, raises: type[BaseException]
) -> float:
    """Cancels a statement that runs behind a proxy which lets nothing through meanwhile; seconds that whoever
    cancels waited."""
    took: list[float] = []

    def interrupt() -> None:
        proxy.stall()
        began = time.monotonic()
        connection.interrupt()
        took.append(time.monotonic() - began)
        proxy.flow()

    timer = threading.Timer(0.5, interrupt)
    timer.start()
    with pytest.raises(raises):
        rows(connection, sql)
    timer.join()
    return took[0]


def until(is_so: Callable[[], bool], *, within_s: float = 5) -> None:
    """Waits, but not long. What has been so once need not be so when it is asked again."""
    end = time.monotonic() + within_s
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.05)
