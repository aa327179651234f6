"""PostgreSQL: streams are shipped as arrays, a parameter per column, which unnest puts side by side.

    WITH f1 AS (SELECT c0::bigint AS id, c1::text COLLATE "C" AS name
                FROM unnest(%(f1_0)s::text[], %(f1_1)s::text[]) AS u (c0, c1)) …

Each value is the text that the shard wrote of it, which the type's own input function reads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol, runtime_checkable

import pyarrow as pa

from shardwise.catalog.model import Column
from shardwise.catalog.postgres_collations import LOOSE, is_own_collation
from shardwise.catalog.spoken import spoken
from shardwise.errors import BudgetExceeded, Error
from shardwise.executor.backends.base import Columns, Describes, SourceConnection
from shardwise.executor.served.encoding import array_elements
from shardwise.executor.served.postgres_objections import objection_of
from shardwise.executor.served.postgres_types import (
    ARGUMENTS,
    ARROW,
    TEXTS,
    as_declared,
    base_of,
    kind_of,
    type_of_arrow,
)
from shardwise.executor.served.postgres_values import as_arrow, as_python, closed, hexadecimal
from shardwise.executor.served.product import Objection, Relation, StreamColumn

_PARAMETER_BYTES_MAX: Final = 1 << 29
"""A message of the protocol is 1 GB at most."""
_BARE: Final = frozenset({"bigint", "integer", "smallint", "int8", "int4", "int2", "oid", "boolean", "bool"})
"""Types whose texts stand in an array without quotes."""
_ORDER: Final = (
    "SELECT concat_ws(' ', d.datcollate, d.datctype, j ->> 'daticulocale', j ->> 'datlocale') "
    "FROM pg_database AS d, to_jsonb(d) AS j WHERE d.datname = current_database()"
)


@runtime_checkable
class _Encoded(Protocol):
    """A connection that knows its database's encoding, as the server says it of itself."""

    def encoding(self) -> str: ...


class Postgres:
    """`served.product.Product`."""

    dialect = "postgres"
    label = "PostgreSQL"
    text_type = "text"

    # -- what columns are ---------------------------------------------------------------------

    def described(self, connection: SourceConnection, sql: str, params: Mapping[str, Any]) -> Columns:
        columns = connection.execute(sql, params)
        while connection.fetchmany(1000):
            pass
        return columns

    def wants_keys(self, error: BaseException) -> bool:
        return getattr(error, "sqlstate", None) == "42803"

    def described_only(self, connection: SourceConnection, sql: str, params: Mapping[str, Any]) -> Columns:
        assert isinstance(connection, Describes)
        return connection.describe(sql, params)

    def stream_columns(
        self, connection: SourceConnection, sql: str, params: Mapping[str, Any], names: Sequence[str]
    ) -> tuple[StreamColumn, ...]:
        types = [type_ for _, type_ in self.described(connection, sql, params)]
        texts = [name for name, type_ in zip(names, types, strict=True) if base_of(type_) in TEXTS]
        collations: dict[str, str | None] = {}
        if texts:
            listed = ", ".join(map(self.identifier, names))
            asked = ", ".join(f"pg_collation_for(x.{self.identifier(name)})" for name in texts)
            connection.execute(
                f"WITH x ({listed}) AS ({sql}\n) SELECT {asked} FROM (SELECT 1) AS one_row "
                "LEFT JOIN x ON FALSE",
                params,
            )
            (found,) = connection.fetchmany(2)
            collations = dict(zip(texts, found, strict=True))
        return tuple(
            StreamColumn(name, type_, collations.get(name)) for name, type_ in zip(names, types, strict=True)
        )

    def readable(self, sql: str, columns: Sequence[StreamColumn]) -> str:
        return sql

    def as_answered(self, column: StreamColumn, type_text: str) -> StreamColumn:
        return column._replace(type=type_text or column.type)

    def kind(self, type_text: str) -> str:
        return kind_of(type_text)

    def is_declared_as(self, found: str, declared: str) -> bool:
        """A type of the database's own has a name there, and its members are told: shards are compared."""
        return found == declared or (found.startswith("ENUM(") and not declared.startswith("ENUM("))

    def is_unordered(self, kind: str) -> bool:
        return base_of(kind) in TEXTS and " COLLATE " not in kind

    def order_of(self, connection: SourceConnection) -> str:
        connection.execute(_ORDER, {})
        ((found,),) = connection.fetchmany(2)
        return str(found)

    def encoding_of(self, connection: SourceConnection) -> str:
        return connection.encoding() if isinstance(connection, _Encoded) else ""

    def is_collated_as(self, found: str, declared: str) -> bool:
        """A collation under which equal texts may differ must be declared: plans rest on it."""
        name = found.removesuffix(LOOSE).strip('"')
        if found.endswith(LOOSE):
            return name == declared.strip('"') and not is_own_collation(name)
        return not declared or name == declared.strip('"')

    def schema(self, columns: Sequence[StreamColumn]) -> pa.Schema:
        return pa.schema(
            [pa.field(c.name, pa.binary() if base_of(c.type) == "bytea" else pa.string()) for c in columns]
        )

    def declared(self, column: Column) -> StreamColumn:
        return StreamColumn(column.name, as_declared(column.type), column.collation)

    def empty(self, columns: Sequence[StreamColumn]) -> str:
        """Without rows by LIMIT: past WHERE FALSE PostgreSQL sees NULLs, and has other joins to object to."""
        items = []
        for column in columns:
            collated = f" COLLATE {self.identifier(column.collation)}" if column.collation else ""
            items.append(f"CAST(NULL AS {column.type}){collated} AS {self.identifier(column.name)}")
        return f"SELECT {', '.join(items)} LIMIT 0"

    def identifier(self, name: str) -> str:
        return spoken(self.dialect).quoted(name)

    def folded(self, name: str, *, is_quoted: bool) -> str:
        return name if is_quoted else name.lower()

    # -- rows to the server -------------------------------------------------------------------

    def check_moments(
        self, columns: Sequence[StreamColumn], batches: Sequence[pa.RecordBatch], time_zone: str
    ) -> None:
        """Each is written with its offset."""

    def check_shown(
        self, columns: Sequence[StreamColumn], batches: Sequence[pa.RecordBatch], merge_sql: str
    ) -> None:
        """A value's text is its type's."""

    def relation(
        self, name: str, columns: Sequence[StreamColumn], batches: Sequence[pa.RecordBatch], *, stored: bool
    ) -> Relation:
        if sum(batch.nbytes for batch in batches) > _PARAMETER_BYTES_MAX:
            raise BudgetExceeded(
                f"the merge would take more than {_PARAMETER_BYTES_MAX:,} bytes of {name} to its server",
                hint="See with EXPLAIN what could be filtered or aggregated on the shards",
                sqlstate="53200",
            )
        schema = self.schema(columns)
        rows = pa.Table.from_batches(batches, schema).combine_chunks()
        params, arrays, cells, items = {}, [], [], []
        for at, (column, given) in enumerate(zip(columns, rows.columns, strict=True)):
            cell = pa.concat_arrays(given.chunks) if given.num_chunks else pa.array([], schema.types[at])
            if pa.types.is_binary(cell.type):
                cell = hexadecimal(cell)
            key = f"shardwise_{name}_{at}"
            params[key] = array_elements(cell, plain=base_of(column.type) in _BARE)
            arrays.append(f"%({key})s::text[]")
            cells.append(f"c{at}")
            collated = "" if _is_default(column.collation) else f" COLLATE {column.collation}"
            items.append(f"CAST(u.c{at} AS {column.type}){collated} AS {self.identifier(column.name)}")
        source = f"unnest({', '.join(arrays)}) AS u ({', '.join(cells)})"
        return Relation(f"SELECT {', '.join(items)} FROM {source}", params)

    def columns_of_arrow(self, schema: pa.Schema) -> tuple[StreamColumn, ...]:
        return tuple(StreamColumn(f.name, type_of_arrow(f)) for f in schema)

    def texts(self, batch: pa.RecordBatch, columns: Sequence[StreamColumn]) -> pa.RecordBatch:
        schema = self.schema(columns)
        arrays = [c.cast(f.type) for c, f in zip(batch.columns, schema, strict=True)]
        return pa.RecordBatch.from_arrays(arrays, schema=schema)

    # -- results ------------------------------------------------------------------------------

    def arrow_type(self, type_text: str) -> pa.DataType:
        base = base_of(type_text)
        if base in ("numeric", "decimal"):
            found = ARGUMENTS.search(type_text)
            digits, _, scale = (found[1] if found else "").partition(",")
            if digits.strip() and int(digits) <= 38 and 0 <= int(scale or 0) <= int(digits):
                return pa.decimal128(int(digits), int(scale or 0))
            return pa.string()
        return ARROW.get(base, pa.string())

    def is_open(self, type_text: str) -> bool:
        return base_of(type_text) in ("numeric", "decimal") and "(" not in type_text

    def closed(self, type_text: str, cells: Sequence[pa.Array]) -> str:
        return closed(cells) or "text"

    def as_arrow(self, cells: pa.Array, type_text: str, type_: pa.DataType) -> pa.Array:
        return as_arrow(cells, type_)

    def as_python(self, cells: pa.Array, type_text: str, time_zone: str) -> Sequence[Any]:
        return as_python(cells, base_of(type_text), time_zone)

    def objection(self, error: BaseException) -> Objection | None:
        state = getattr(error, "sqlstate", None)
        told = getattr(error, "diag", None)
        if not isinstance(state, str) or isinstance(error, Error) or told is None:
            return None
        if state[:2] in ("08", "28", "3D", "57") and state != "57014":
            return None
        if state == "42501":  # a right is missing: nothing is wrong with the statement
            return None
        at = told.statement_position
        message = str(told.message_primary or error)
        ours = objection_of(state, message, told.message_hint)
        return Objection(ours, int(at) - 1 if at else None)


def _is_default(collation: str | None) -> bool:
    return not collation or collation.strip('"') == "default"
