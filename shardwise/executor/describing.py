"""What tells a statement's columns, whoever computes it: DuckDB, SQLite, or a server."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import pyarrow as pa

from shardwise.executor.backends.base import Columns, SourceConnection
from shardwise.executor.merge import Merging
from shardwise.executor.reading import Reader
from shardwise.plan.run import Fragment, Request


class AnyDescriber(Protocol):
    """Made for one version of a catalog. Threads may share it."""

    def describe(
        self,
        sql: str,
        params: Any = (),
        locals: Mapping[str, Any] | None = None,  # noqa: A002
        schema: str | None = None,
        near: str | None = None,
    ) -> Columns:
        """Names and types of a query's columns; raises ours for what is wrong with the user's text.

        A name without a schema is looked for in `schema` first. `near` is a source that is asked anyhow.
        """

    def local(self, name: str, data: Any) -> Columns:
        """The columns of a registered relation; none of its rows is read."""

    def stream(self, fragment: Fragment, *, passes: bool = False) -> tuple[pa.Schema | None, Any]:
        """A fragment's stream: its Arrow schema, None where rows come otherwise, and what the merge must know
        of its columns. `passes`: its rows are the answer."""

    def columns_of(self, fragment: Fragment) -> Columns:
        """A fragment's columns."""

    def direct(self, reader: Reader, request: Request, columns: Columns) -> Merging:
        """A statement that one shard answers whole."""

    def batches(self, sql: str, params: Any, schema: Any) -> list[Any]:
        """The statement's answer where all tables are empty; `schema` and what it is are `stream`'s."""

    def connect(self, sql: str) -> SourceConnection:
        """What answers a statement where all tables are empty; closed by the caller."""

    def normal_type(self, type_: str) -> str | None:
        """A type as the engine writes it; None: it is no type."""

    def arrow_type(self, type_: str) -> pa.DataType | None:
        """A type's Arrow type; None where it is not known before the values are."""

    def close(self) -> None: ...
