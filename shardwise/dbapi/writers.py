"""Rows to CSV and Parquet, batch by batch: a result of any size passes in the same memory.

Values are written as DuckDB writes them: for CSV each batch is turned to lines by a DuckDB of our own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import BinaryIO, Final

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from shardwise.dbapi.types import DATETIME, NUMBER, ColumnDescription
from shardwise.errors import NotSupportedError, ProgrammingError

ROW_GROUP_ROWS: Final = 122_880
COMPRESSIONS: Final = ("zstd", "snappy", "gzip", "lz4", "brotli", "none")
_NOT_IN_ARROW: Final = ("BIT", "TIME WITH TIME ZONE", "BIGNUM")
_NOT_IN_PARQUET: Final = (*_NOT_IN_ARROW, "INTERVAL", "UNION(")
_LOGICAL: Final = ("UUID", "JSON")

Description = Sequence[ColumnDescription]


def write_parquet(
    reader: pa.RecordBatchReader,
    description: Description,
    sink: BinaryIO,
    *,
    compression: str = "zstd",
    row_group_rows: int = ROW_GROUP_ROWS,
) -> int:
    """Gives the number of rows. Row groups are of one size: small batches are put together first."""
    if compression not in COMPRESSIONS:
        raise ProgrammingError(f'the compression cannot be "{compression}": it is {_or(COMPRESSIONS)}')
    if row_group_rows < 1:
        raise ProgrammingError(f"a row group cannot have {row_group_rows} rows: it has 1 or more")
    _check_exact(description, _NOT_IN_PARQUET, "Parquet")
    schema, batches = _with_logical_types(reader, description)
    count, pending, pending_rows = 0, list[pa.RecordBatch](), 0
    with pq.ParquetWriter(sink, schema, compression=compression) as writer:
        for batch in batches:
            count += batch.num_rows
            pending.append(batch)
            pending_rows += batch.num_rows
            while pending_rows >= row_group_rows:
                table = pa.Table.from_batches(pending)
                writer.write_table(table[:row_group_rows], row_group_size=row_group_rows)
                pending = table[row_group_rows:].to_batches()
                pending_rows -= row_group_rows
        if pending_rows or not count:
            writer.write_table(pa.Table.from_batches(pending, schema), row_group_size=row_group_rows)
    return count


def _with_logical_types(
    reader: pa.RecordBatchReader, description: Description
) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    """UUID and JSON, which come as text, as the types of their own that Parquet has."""
    names = positions(reader.schema)
    codes = [column.type_code for column in description]
    if not any(word in code for code in codes for word in _LOGICAL):
        return reader.schema, iter(reader)
    casts = [
        f"CAST({name} AS {code}) AS {name}" if any(word in code for word in _LOGICAL) else name
        for name, code in zip(names, codes, strict=True)
    ]

    def typed() -> Iterator[pa.Table]:
        """An empty table, then those of the rows."""
        with _engine("UTC", is_lossless=True) as engine:
            yield _projected(engine, reader.schema.empty_table(), ", ".join(casts))
            for batch in reader:
                yield _projected(engine, pa.Table.from_batches([batch]), ", ".join(casts))

    tables = typed()
    types = next(tables).schema.types
    schema = pa.schema([pa.field(n, t) for n, t in zip(reader.schema.names, types, strict=True)])
    return schema, (batch for table in tables for batch in _renamed(table, schema).to_batches())


def _renamed(table: pa.Table, schema: pa.Schema) -> pa.Table:
    return pa.Table.from_arrays(table.columns, schema=schema)


def write_csv(
    reader: pa.RecordBatchReader,
    description: Description,
    sink: BinaryIO,
    *,
    header: bool = True,
    delimiter: str = ",",
    null: str = "",
    time_zone: str = "UTC",
) -> int:
    """RFC 4180, but lines end in a line feed alone; a text that equals `null` is in quotes."""
    if len(delimiter) != 1 or delimiter in '"\r\n':
        raise ProgrammingError("the delimiter is one character, and no quote or end of line")
    if set(null) & {delimiter, '"', "\r", "\n"}:
        raise ProgrammingError("what stands for NULL cannot hold the delimiter, a quote or an end of line")
    _check_exact(description, _NOT_IN_ARROW, "CSV")
    names = positions(reader.schema)
    texts = [f"CAST({name} AS VARCHAR) AS {name}" for name in names]
    field = _CsvField(delimiter, null)
    fields = [field.sql(n, column.type_code) for n, column in zip(names, description, strict=True)]
    if header:
        sink.write((delimiter.join(map(field.name, reader.schema.names)) + "\n").encode())
    line = f" || {literal(delimiter)} || ".join(fields) + " || chr(10)"
    count = 0
    for table in computed(reader, time_zone, ", ".join(texts), line):
        sink.write(joined(table, ""))
        count += table.num_rows
    return count


class _CsvField:
    def __init__(self, delimiter: str, null: str) -> None:
        self._null = null
        self._special = {delimiter, '"', "\n", "\r"}
        escaped = "".join(f"\\{c}" if c in "]^-\\" else c for c in (delimiter, '"'))
        self._pattern = f"[{escaped}\\n\\r]"
        # Numbers, dates and times never need quotes, unless a delimiter is strange.
        self._plain_types = (NUMBER, DATETIME) if delimiter in ",;|\t" and not null else ()

    def sql(self, name: str, code: str) -> str:
        """The field's text as an expression over the column's own text."""
        null = literal(self._null)
        if code in self._plain_types:
            return f"coalesce({name}, {null})"
        quoted = f"'\"' || replace({name}, '\"', '\"\"') || '\"'"
        special = f"{name} = {null} OR regexp_matches({name}, {literal(self._pattern)})"
        return f"CASE WHEN {name} IS NULL THEN {null} WHEN {special} THEN {quoted} ELSE {name} END"

    def name(self, name: str) -> str:
        """A column's name in the header."""
        escaped = name.replace('"', '""')
        return f'"{escaped}"' if self._special & set(name) or not name else name


# -- for other forms too ----------------------------------------------------------------------------


def literal(text: str) -> str:
    """A text as SQL."""
    return "'" + text.replace("'", "''") + "'"


def positions(schema: pa.Schema) -> list[str]:
    """Names that are unique and need no quotes, in place of the columns' own."""
    return [f"c{i}" for i in range(len(schema))]


def computed(reader: pa.RecordBatchReader, time_zone: str, *projections: str) -> Iterator[pa.Table]:
    """Each batch through `projections`, one after the other, the first over the columns c0, c1, …"""
    with _engine(time_zone) as engine:
        for batch in reader:
            if batch.num_rows:
                yield _projected(engine, pa.Table.from_batches([batch], reader.schema), *projections)


def _engine(time_zone: str, *, is_lossless: bool = False) -> duckdb.DuckDBPyConnection:
    engine = duckdb.connect()
    engine.execute(f"SET TimeZone = {literal(time_zone)}")
    engine.execute(f"SET arrow_lossless_conversion = {str(is_lossless).lower()}")
    return engine


def _projected(engine: duckdb.DuckDBPyConnection, table: pa.Table, *projections: str) -> pa.Table:
    relation = engine.from_arrow(table.rename_columns(positions(table.schema)))
    for projection in projections:
        relation = relation.project(projection)
    return relation.to_arrow_table()


def joined(table: pa.Table, separator: str) -> pa.Buffer:
    """The texts of the only column, one after the other, without a Python object for each."""
    texts = table.column(0).combine_chunks().cast(pa.large_string())
    whole = pa.ListArray.from_arrays([0, len(texts)], texts)
    return pc.binary_join(whole, pa.scalar(separator, pa.large_string()))[0].as_buffer()


def _check_exact(description: Description, unknown: Sequence[str], form: str) -> None:
    """Raises for a column of a type that the form has no word for, and that would be written as another."""
    for column in description:
        found = next((word for word in unknown if _has_type(column.type_code, word)), None)
        if found is not None:
            raise NotSupportedError(
                f'column "{column.name}" cannot be written to {form}: it has no type for {found.rstrip("(")}',
                hint="CAST it to VARCHAR in the query",
            )


def _has_type(code: str, word: str) -> bool:
    """Whether the type is, or holds, that one; not within quotes (ENUM's values, names of fields)."""
    parts = code.split("'")[::2]
    return any(word in outside for part in parts for outside in part.split('"')[::2])


def _or(words: Sequence[str]) -> str:
    return f"{', '.join(words[:-1])} or {words[-1]}"
