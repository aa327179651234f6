"""Backends by URL scheme: ours, and third parties' by the entry point group `shardwise.backends`."""

from __future__ import annotations

from functools import cache
from importlib.metadata import entry_points

from shardwise.errors import NotSupportedError
from shardwise.executor.backends.base import Backend
from shardwise.executor.backends.duckdb import DuckDBBackend
from shardwise.executor.backends.parquet import ParquetBackend
from shardwise.executor.backends.sqlite import SQLiteBackend

BACKENDS: dict[str, Backend] = {
    "duckdb": DuckDBBackend(),
    "parquet": ParquetBackend(),
    "sqlite": SQLiteBackend(),
}
GROUP = "shardwise.backends"


def backend_of(scheme: str, source: str) -> Backend:
    """The backend of a URL scheme; `source` is for the message."""
    found = BACKENDS.get(scheme) or _third_parties().get(scheme)
    if found is None:
        known = ", ".join(sorted({*BACKENDS, *_third_parties()}))
        raise NotSupportedError(
            f'source "{source}" cannot be read: there is no backend for "{scheme}:" URLs',
            hint=f"Backends are there for: {known}",
        )
    return found


@cache
def _third_parties() -> dict[str, Backend]:
    return {point.name: point.load()() for point in entry_points(group=GROUP)}
