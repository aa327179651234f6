"""What a source's product must offer: one file per product, one line in the registry.

A `Backend` opens a source by its location; the `OpenSource` hands out connections, each for one request at a
time. Everything that knows the product's driver and its errors is behind these three.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, runtime_checkable

import pyarrow as pa

from shardwise.errors import Error


class Outdated(Exception):
    """The source's tables may be others than was assumed (`SourceConnection.assumes`): they are to be looked
    at, and the statement started again. Nobody else is told of it."""


class Family(NamedTuple):
    """An open family of sources: its name, how many members may be open at once, and the folder that is there
    even if no member is ("" for the root, None for servers)."""

    name: str
    open_max: int
    folder: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Location:
    """Where a source is: its name in the catalog, its URL with absolute paths, its `WITH` options.

    `family` is set for a member of an open family, `read_only` where the catalog says READ ONLY.
    """

    source: str
    url: str
    options: Mapping[str, str] = field(default_factory=dict)
    password: str | None = field(default=None, repr=False)
    family: Family | None = None
    read_only: bool = False

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


Columns = tuple[tuple[str, str], ...]
"""Names and types, in order."""


ReadColumn = tuple[str, str, str | None]
"""As `plan.run.ExpectedColumn`: name, declared type, and how it is stored where that is said."""


class SourceConnection(Protocol):
    """A connection for one request at a time; anyone may `interrupt` it, even after `close`.

    `wanted` are the names and DuckDB types that the plan gives a statement's columns. A product whose columns
    have types of their own may leave it aside: what it answers is compared with them. One whose columns have
    none (SQLite) converts each value to the wanted type, or raises DataError. Without it, rows come as the
    product has them.
    """

    def version(self) -> object:
        """Equal as long as what `columns` said still holds."""

    def assumes(self, version: object) -> bool:
        """Whether a statement may be started as if `version` were what `version()` gives, so that it need not
        be asked for by itself. Where it then is another `execute` raises `Outdated` before it gives a row.
        """

    def columns(self, table: str) -> Columns:
        """A physical table's columns and what the product says of their types; none if there is no such
        table. `table` is SQL text. What is said is for the backend's `suits`."""

    def has_schema(self, name: str) -> bool:
        """Whether there is a schema of that name."""

    def execute(self, sql: str, params: Mapping[str, Any], wanted: Columns | None = None) -> Columns:
        """Starts a statement, and waits until its answer has begun: it raises what is wrong, also with the
        first rows. Gives the columns' names and types. `fetchmany` has its rows, or `arrow`.
        """

    def fetchmany(self, count: int) -> list[tuple[Any, ...]]:
        """The next rows of what `execute` started, as DuckDB's Python values; none at the end."""

    def arrow(
        self, sql: str, params: Mapping[str, Any], batch_rows: int, wanted: Columns | None = None
    ) -> pa.RecordBatchReader:
        """A statement's rows as a stream of Arrow, no type lost. It goes on with what `execute` has started,
        if that is the same statement and none of its rows were fetched; else it starts it.
        """

    def interrupt(self) -> None:
        """Stops what runs."""

    def close(self) -> None: ...


@runtime_checkable
class Describes(Protocol):
    """A connection that tells a statement's columns without running it."""

    def describe(self, sql: str, params: Mapping[str, Any]) -> Columns: ...


class OpenSource(Protocol):
    """A source that is open. Threads share it."""

    def connect(self, time_zone: str) -> SourceConnection:
        """A connection whose session is in `time_zone` (an IANA name)."""

    def close(self) -> None: ...


@runtime_checkable
class OwnZone(Protocol):
    """An open source whose server has a time zone of its own."""

    def own_time_zone(self) -> str:
        """Its IANA name. Raises the driver's errors, or ours."""


class Backend(Protocol):
    """One product. `dialect` is sqlglot's name of its SQL."""

    name: str
    dialect: str

    def open(self, location: Location, options: SourceOptions) -> OpenSource:
        """Opens a source, never making one; raises the driver's errors, or ours."""

    def suits(self, found: str, column: ReadColumn, normal: Callable[[str], str | None]) -> str | None:
        """None if a column that the source says is `found` will do for what the catalog says it is; else what
        the message says that it is ("VARCHAR"): its values would not compare, sort and group alike.

        `normal` gives a type as DuckDB writes it, None for what is none.
        """

    def translate_error(self, error: BaseException, location: Location) -> Error:
        """Ours for the driver's; `shard` is filled in by whoever knows it."""

    def is_transient(self, error: Error) -> bool:
        """Whether the same request may succeed if it is tried again at once."""
