"""Backends by URL scheme: ours, and third parties' by the entry point group `shardwise.backends`."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.metadata import entry_points

from shardwise.errors import NotSupportedError
from shardwise.executor.backends.base import Backend

OURS = {"duckdb": "DuckDBBackend", "parquet": "ParquetBackend", "sqlite": "SQLiteBackend"}
"""By scheme, which is also the module's name: imported on first use, so that a worker imports one."""
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


@cache
def _ours(scheme: str) -> Backend | None:
    if scheme not in OURS:
        return None
    made: Backend = getattr(import_module(f"{__name__}.{scheme}"), OURS[scheme])()
    return made


@cache
def _third_parties() -> dict[str, Backend]:
    return {point.name: point.load()() for point in entry_points(group=GROUP)}
