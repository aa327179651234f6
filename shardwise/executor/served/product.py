"""What a server's product must offer so that it can describe and merge: how rows are shipped to it.

A stream becomes an item of FROM whose columns have the types and collations that they have on the shards:

    MySQL       JSON_TABLE(:rows, '$[*]' COLUMNS (id BIGINT PATH '$[0]', …)) AS j
    PostgreSQL  unnest(%(rows_0)s::bigint[], …) AS u (c0, …)

Nothing of it needs more than the right to SELECT, nor a transaction that may write.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import pyarrow as pa

from shardwise.catalog.model import Column
from shardwise.errors import Error
from shardwise.executor.backends.base import Columns, SourceConnection


class StreamColumn(NamedTuple):
    """A stream's column as the server says it: its type as SQL text, and a text's collation."""

    name: str
    type: str
    collation: str | None = None


class Statement(NamedTuple):
    """A statement and the values of its parameters, by name."""

    sql: str
    params: Mapping[str, Any]


@dataclass(frozen=True)
class Relation:
    """Rows as a query: `before` are statements of the same session without which it cannot be read."""

    sql: str
    params: Mapping[str, Any]
    before: Sequence[Statement] = field(default_factory=tuple)


class Product(Protocol):
    """One product. All SQL is its own; text-form batches hold each value as the server writes it, as
    `Backend`s give them without `wanted`."""

    dialect: str
    label: str
    """What messages call it."""
    text_type: str
    """A type for short texts, as CAST takes it."""

    def stream_columns(
        self, connection: SourceConnection, sql: str, params: Mapping[str, Any], names: Sequence[str]
    ) -> tuple[StreamColumn, ...]:
        """What the columns of a query are; `names` are other names for them, all different."""

    def readable(self, sql: str, columns: Sequence[StreamColumn]) -> str:
        """The query with its columns written so that their texts are exact."""

    def as_answered(self, column: StreamColumn, type_text: str) -> StreamColumn:
        """A column whose type in a `readable` query's result is `type_text`."""

    def schema(self, columns: Sequence[StreamColumn]) -> pa.Schema:
        """The stream's schema in text form."""

    def kind(self, type_text: str) -> str:
        """What two columns' types have in common if they compute, compare and sort alike: of a type that the
        catalog declares, or that a server says of a table's column."""

    def is_declared_as(self, found: str, declared: str) -> bool:
        """Whether a column of one kind will do for what the catalog says; both without collation."""

    def is_unordered(self, kind: str) -> bool:
        """Whether a column of that kind holds texts that its database orders as it does by default."""

    def order_of(self, connection: SourceConnection) -> str:
        """How the database orders such texts."""

    def encoding_of(self, connection: SourceConnection) -> str:
        """The database's encoding, "" if it does not say one."""

    def is_collated_as(self, found: str, declared: str) -> bool:
        """Whether a column's collation is what the catalog says; of either "" where nothing is said."""

    def declared(self, column: Column) -> StreamColumn:
        """A column by the type that the catalog says."""

    def empty(self, columns: Sequence[StreamColumn]) -> str:
        """A query of such columns that has no rows."""

    def check_moments(
        self, columns: Sequence[StreamColumn], batches: Sequence[pa.RecordBatch], time_zone: str
    ) -> None:
        """Raises DataError for a moment that its text, in the session's zone, does not tell."""

    def check_shown(
        self, columns: Sequence[StreamColumn], batches: Sequence[pa.RecordBatch], merge_sql: str
    ) -> None:
        """Raises NotSupportedError where the merge may make another text of a value than one server would."""

    def relation(
        self, name: str, columns: Sequence[StreamColumn], batches: Sequence[pa.RecordBatch], *, stored: bool
    ) -> Relation:
        """The rows as a query; `stored`: it is read again and again, or joined. `name` is unique in the
        statement."""

    def columns_of_arrow(self, schema: pa.Schema) -> tuple[StreamColumn, ...]:
        """The columns that a registered Arrow table is to have."""

    def texts(self, batch: pa.RecordBatch, columns: Sequence[StreamColumn]) -> pa.RecordBatch:
        """A registered table's rows in text form."""

    def identifier(self, name: str) -> str:
        """A name, quoted."""

    def folded(self, name: str, *, is_quoted: bool) -> str:
        """A name in a text as the product reads it."""

    def arrow_type(self, type_text: str) -> pa.DataType:
        """What a result's column of that type is as Arrow."""

    def is_open(self, type_text: str) -> bool:
        """Whether a type does not say how many decimals its values have."""

    def closed(self, type_text: str, cells: Sequence[pa.Array]) -> str:
        """Such a type as one that says it and holds all these texts; a text's type if there is none."""

    def as_arrow(self, cells: pa.Array, type_text: str, type_: pa.DataType) -> pa.Array:
        """A column in text form as one of the type that `arrow_type` says."""

    def as_python(self, cells: pa.Array, type_text: str, time_zone: str) -> Sequence[Any]:
        """A column in text form as the driver's own values."""

    def objection(self, error: BaseException) -> Objection | None:
        """What the server has against a statement, or None: it is something else that went wrong."""

    def wants_keys(self, error: BaseException) -> bool:
        """Whether the server objects to a statement that it takes of tables with primary keys: it is asked
        again over the tables themselves, which `described_only` does not read."""

    def described_only(self, connection: SourceConnection, sql: str, params: Mapping[str, Any]) -> Columns:
        """As `described`, of a statement that must not run."""

    def described(self, connection: SourceConnection, sql: str, params: Mapping[str, Any]) -> Columns:
        """Names and types of a query's columns; nothing is run."""


class Objection(NamedTuple):
    """Ours for the server's error, and where in the statement (from 0) it is, if the server says so."""

    error: Error
    at: int | None = None
    near: str | None = None
    """The text there, if the server says only that."""
