"""PostgreSQL: streams are shipped as arrays, a parameter per column, which unnest puts side by side.

    WITH f1 AS (SELECT c0::bigint AS id, c1::text COLLATE "C" AS name
                FROM unnest(%(f1_0)s::text[], %(f1_1)s::text[]) AS u (c0, c1)) …

Each value is the text that the shard wrote of it, which the type's own input function reads.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

import pyarrow as pa

from shardwise.catalog.model import Column
from shardwise.catalog.postgres_types import LOOSE, is_own_collation
from shardwise.errors import (
    BudgetExceeded,
    Cancelled,
    DataError,
    DeadlineExceeded,
    Error,
    NotSupportedError,
    ProgrammingError,
    Reason,
    SQLSyntaxError,
    UnknownName,
)
from shardwise.executor.backends.base import Columns, SourceConnection
from shardwise.executor.served.encoding import array_elements
from shardwise.executor.served.postgres_values import as_arrow, as_python, closed, hexadecimal
from shardwise.executor.served.product import Objection, Relation, StreamColumn

_PARAMETER_BYTES_MAX: Final = 1 << 29
"""A message of the protocol is 1 GB at most."""

_MEMBER = re.compile(r"'(?:[^']|'')*'")
_ARGUMENTS = re.compile(r"\s*\(([^)]*)\)")
_FIELDS = re.compile(r"^interval [a-z ]+")
_TEXTS: Final = frozenset(
    {"text", "character varying", "varchar", "character", "char", "bpchar", "name", "citext"}
)
_BARE: Final = frozenset({"bigint", "integer", "smallint", "int8", "int4", "int2", "oid", "boolean", "bool"})
"""Types whose texts stand in an array without quotes."""


_ORDER: Final = (
    "SELECT concat_ws(' ', d.datcollate, d.datctype, j ->> 'daticulocale', j ->> 'datlocale') "
    "FROM pg_database AS d, to_jsonb(d) AS j WHERE d.datname = current_database()"
)


@lru_cache(maxsize=4096)
def kind_of(type_text: str) -> str:
    """`Product.kind`."""
    written, _, collation = type_text.partition(" COLLATE ")
    suffix = f" COLLATE {collation}" if collation else ""
    if written[:5].upper() == "ENUM(":
        return f"ENUM({', '.join(_MEMBER.findall(written))})"
    base, dimensions = re.sub(r"(\[\])+$", "", base_of(written)), "[]" * written.count("[]")
    base = _SYNONYMS.get(base, base)
    found = _ARGUMENTS.search(written)
    arguments = re.sub(r"\s+", "", found[1]) if found else ""
    if base == "numeric" and arguments and "," not in arguments:
        arguments += ",0"
    if base == "character":
        arguments = arguments or "1"
    if base in ("character varying", "text"):
        base, arguments = "text", ""
    return f"{base}{f'({arguments})' if arguments else ''}{dimensions}{suffix}"


def base_of(type_text: str) -> str:
    """A type's name without its arguments: `numeric` of NUMERIC(10, 2), `interval[]` of interval hour[]."""
    return _FIELDS.sub("interval", " ".join(_ARGUMENTS.sub("", type_text).lower().split()))


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
        return connection.describe(sql, params)

    def stream_columns(
        self, connection: SourceConnection, sql: str, params: Mapping[str, Any], names: Sequence[str]
    ) -> tuple[StreamColumn, ...]:
        types = [type_ for _, type_ in self.described(connection, sql, params)]
        texts = [name for name, type_ in zip(names, types, strict=True) if base_of(type_) in _TEXTS]
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
        return base_of(kind) in _TEXTS and " COLLATE " not in kind

    def order_of(self, connection: SourceConnection) -> str:
        connection.execute(_ORDER, {})
        ((found,),) = connection.fetchmany(2)
        return str(found)

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
        return StreamColumn(column.name, _declared(column.type), column.collation)

    def empty(self, columns: Sequence[StreamColumn]) -> str:
        items = []
        for column in columns:
            collated = f" COLLATE {self.identifier(column.collation)}" if column.collation else ""
            items.append(f"CAST(NULL AS {column.type}){collated} AS {self.identifier(column.name)}")
        return f"SELECT {', '.join(items)} WHERE FALSE"

    def identifier(self, name: str) -> str:
        return '"' + name.replace('"', '""') + '"'

    def folded(self, name: str, *, is_quoted: bool) -> str:
        return name if is_quoted else name.lower()

    # -- rows to the server -------------------------------------------------------------------

    def check_moments(
        self, columns: Sequence[StreamColumn], batches: Sequence[pa.RecordBatch], time_zone: str
    ) -> None:
        """Each is written with its offset."""

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
        return tuple(StreamColumn(f.name, _type_of_arrow(f)) for f in schema)

    def texts(self, batch: pa.RecordBatch, columns: Sequence[StreamColumn]) -> pa.RecordBatch:
        schema = self.schema(columns)
        arrays = [c.cast(f.type) for c, f in zip(batch.columns, schema, strict=True)]
        return pa.RecordBatch.from_arrays(arrays, schema=schema)

    # -- results ------------------------------------------------------------------------------

    def arrow_type(self, type_text: str) -> pa.DataType:
        base = base_of(type_text)
        if base in ("numeric", "decimal"):
            found = _ARGUMENTS.search(type_text)
            digits, _, scale = (found[1] if found else "").partition(",")
            if digits.strip() and int(digits) <= 38 and 0 <= int(scale or 0) <= int(digits):
                return pa.decimal128(int(digits), int(scale or 0))
            return pa.string()
        return _ARROW.get(base, pa.string())

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
        ours = _objection(state, message, told.message_hint)
        return Objection(ours, int(at) - 1 if at else None)


_ARROW: Final = {
    **dict.fromkeys(("smallint", "int2"), pa.int16()),
    **dict.fromkeys(("integer", "int4", "int"), pa.int32()),
    **dict.fromkeys(("bigint", "int8"), pa.int64()),
    "oid": pa.uint32(),
    **dict.fromkeys(("real", "float4"), pa.float32()),
    **dict.fromkeys(("double precision", "float8"), pa.float64()),
    **dict.fromkeys(("boolean", "bool"), pa.bool_()),
    "date": pa.date32(),
    **dict.fromkeys(("time", "time without time zone"), pa.time64("us")),
    **dict.fromkeys(("timestamp", "timestamp without time zone"), pa.timestamp("us")),
    **dict.fromkeys(("timestamptz", "timestamp with time zone"), pa.timestamp("us", "UTC")),
    "bytea": pa.binary(),
}
_TYPES_OF_ARROW: Final = {
    pa.int8(): "smallint",
    pa.uint8(): "smallint",
    pa.int16(): "smallint",
    pa.uint16(): "integer",
    pa.int32(): "integer",
    pa.uint32(): "bigint",
    pa.int64(): "bigint",
    pa.uint64(): "numeric(20,0)",
    pa.float32(): "real",
    pa.float64(): "double precision",
    pa.bool_(): "boolean",
    pa.date32(): "date",
}


def _type_of_arrow(field: pa.Field) -> str:
    type_ = field.type
    if type_ in _TYPES_OF_ARROW:
        return _TYPES_OF_ARROW[type_]
    if pa.types.is_decimal(type_):
        return f"numeric({type_.precision},{max(type_.scale, 0)})"
    if pa.types.is_timestamp(type_):
        return "timestamp" if type_.tz is None else "timestamptz"
    if pa.types.is_time(type_):
        return "time"
    if pa.types.is_string(type_) or pa.types.is_large_string(type_):
        return "text"
    if pa.types.is_binary(type_) or pa.types.is_large_binary(type_):
        return "bytea"
    raise NotSupportedError(
        f'the registered column "{field.name}" is {type_}, which PostgreSQL has no type for here',
        hint="Register it as numbers, texts, dates or bytes",
    )


def _is_default(collation: str | None) -> bool:
    return not collation or collation.strip('"') == "default"


_SYNONYMS: Final = {
    **dict.fromkeys(("int", "int4", "serial", "serial4"), "integer"),
    **dict.fromkeys(("int8", "bigserial", "serial8"), "bigint"),
    **dict.fromkeys(("int2", "smallserial", "serial2"), "smallint"),
    **dict.fromkeys(("decimal", "dec"), "numeric"),
    **dict.fromkeys(("varchar", "char varying"), "character varying"),
    **dict.fromkeys(("char", "bpchar"), "character"),
    **dict.fromkeys(("float8", "float"), "double precision"),
    "float4": "real",
    "bool": "boolean",
    "timestamp": "timestamp without time zone",
    "timestamptz": "timestamp with time zone",
    "time": "time without time zone",
    "timetz": "time with time zone",
    "varbit": "bit varying",
}
_SERIALS: Final = {
    **dict.fromkeys(("smallserial", "serial2"), "smallint"),
    **dict.fromkeys(("serial", "serial4"), "integer"),
    **dict.fromkeys(("bigserial", "serial8"), "bigint"),
}


def _declared(type_text: str) -> str:
    if type_text[:5].upper() == "ENUM(":
        return "text"
    return _SERIALS.get(type_text.strip().lower(), type_text)


# ------------------------------------------------------------------ what the server has against a statement

_NAMED = re.compile(r'"((?:[^"]|"")*)"|(?:column|function) ([\w.]+)')


def _objection(state: str, message: str, hint: str | None) -> Error:
    found = _NAMED.search(message)
    name = (found[1] or found[2] or "") if found else ""
    if state == "42703":
        return UnknownName(f'column "{name}" does not exist')
    if state == "42P01":
        return UnknownName(f'table "{name}" does not exist', reason=Reason.UNKNOWN_TABLE, sqlstate=state)
    if state == "42702":
        return UnknownName(message, reason=Reason.AMBIGUOUS_COLUMN, sqlstate=state, hint=hint)
    if state == "42883":
        return UnknownName(message, reason=Reason.NOT_SUPPORTED, sqlstate=state, hint=hint)
    if state == "42601":
        return SQLSyntaxError(message)
    if state == "57014":
        is_timeout = "timeout" in message
        return DeadlineExceeded(message) if is_timeout else Cancelled("the statement was cancelled")
    if state[:2] in ("53", "54"):
        return BudgetExceeded(
            f"the merge needs more than its server allows: {message}",
            hint=hint or "Narrow the query, or raise the server's limit",
            sqlstate=state,
        )
    if state[:2] in ("21", "22"):
        return DataError(message, sqlstate=state, hint=hint)
    return ProgrammingError(message, sqlstate=state, hint=hint)
