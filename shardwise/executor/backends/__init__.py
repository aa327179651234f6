"""Backends by URL scheme: ours, and third parties' by the entry point group `shardwise.backends`."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.metadata import entry_points

from shardwise.errors import NotSupportedError
from shardwise.executor.backends.base import Backend

OURS = {
    "duckdb": "duckdb:DuckDBBackend",
    "mariadb": "mysql:MySQLBackend",
    "mysql": "mysql:MySQLBackend",
    "parquet": "parquet:ParquetBackend",
    "postgres": "postgres:PostgresBackend",
    "postgresql": "postgres:PostgresBackend",
    "sqlite": "sqlite:SQLiteBackend",
}
"""By scheme: module and class, imported on first use, so that a worker imports one."""
GROUP = "shardwise.backends"


def backend_of(scheme: str, source: str) -> Backend:
    """The backend of a URL scheme; `source` is for the message."""
    found = _ours(scheme) or _third_parties().get(scheme)
    if found is None:
        known = ", ".join(sorted({*OURS, *_third_parties()}))
        raise NotSupportedError(
            f'source "{source}" cannot be read: there is no backend for "{scheme}:" URLs',
            hint=f"Backends are there for: {known}",
        )
    return found


def _ours(scheme: str) -> Backend | None:
    return _made(OURS[scheme]) if scheme in OURS else None


@cache
def _made(name: str) -> Backend:
    module, _, kind = name.partition(":")
    made: Backend = getattr(import_module(f"{__name__}.{module}"), kind)()
    return made


@cache
def _third_parties() -> dict[str, Backend]:
    return {point.name: point.load()() for point in entry_points(group=GROUP)}
