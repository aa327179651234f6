"""What a source's product must offer: one file per product, one line in the registry.

A `Backend` opens a source by its location; the `OpenSource` hands out connections, each for one request at a
time. Everything that knows the product's driver and its errors is behind these three.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import pyarrow as pa

from shardwise.errors import Error


@dataclass(frozen=True, slots=True, kw_only=True)
class Location:
    """Where a source is: its name in the catalog, its URL with absolute paths, its `WITH` options."""

    source: str
    url: str
    options: Mapping[str, str] = field(default_factory=dict)
    password: str | None = field(default=None, repr=False)

    @property
    def scheme(self) -> str:
        return self.url.partition(":")[0].lower()

    @property
    def path(self) -> str:
        """The path of a source that is a file or a directory."""
        return self.url.partition(":///")[2].partition("?")[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceOptions:
    """What an open source may use: alike on all sources of a cluster."""

    threads: int = 2
    memory_bytes_max: int = 1 << 30
    spill_directory: str | None = None


class SourceConnection(Protocol):
    """A connection for one request at a time; anyone may `interrupt` it, even after `close`."""

    def describe(self, sql: str, params: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
        """The names and types of a statement's columns, without running it; raises what it would."""

    def execute(self, sql: str, params: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
        """Starts a statement whose rows are fetched as tuples; gives the columns' names and types."""

    def fetchmany(self, count: int) -> list[tuple[Any, ...]]:
        """The next rows of what `execute` started, as the product's own Python values; none at the end."""

    def arrow(self, sql: str, params: Mapping[str, Any], batch_rows: int) -> pa.RecordBatchReader:
        """Starts a statement whose rows stream as Arrow, no type lost."""

    def interrupt(self) -> None:
        """Stops what runs."""

    def close(self) -> None: ...


class OpenSource(Protocol):
    """A source that is open. Threads share it."""

    def connect(self, time_zone: str) -> SourceConnection:
        """A connection whose session is in `time_zone` (an IANA name)."""

    def close(self) -> None: ...


class Backend(Protocol):
    """One product. `dialect` is sqlglot's name of its SQL."""

    name: str
    dialect: str

    def open(self, location: Location, options: SourceOptions) -> OpenSource:
        """Opens a source, never making one; raises the driver's errors, or ours."""

    def translate_error(self, error: BaseException, location: Location) -> Error:
        """Ours for the driver's; `shard` is filled in by whoever knows it."""

    def is_transient(self, error: Error) -> bool:
        """Whether the same request may succeed if it is tried again at once."""
