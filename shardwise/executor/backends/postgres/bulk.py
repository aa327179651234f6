"""Large results: `COPY … TO STDOUT (FORMAT csv)`, read by Arrow.

Of the ways to many rows this measured fastest (docs/postgres.md has the figures), and it stays in the
request's own transaction; the statement goes as it is, its order kept. CSV is the server's own text of each
value; NULL is nothing between two commas, an empty text is "".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import pyarrow as pa
from pyarrow import csv

from shardwise.executor.backends.postgres.kinds import BYTEA, Reading
from shardwise.executor.backends.postgres.session import Field, Session
from shardwise.executor.cells import Misfit

_BYTES = 8 << 20
Texts = list[list[str | None]]
"""Some rows, as the texts of each column."""

_PARSE = csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False)


def copied(session: Session, sql: str, batch_rows: int) -> Iterator[pa.Buffer]:
    """The lines of a result, some rows at a time."""
    session.start_copy(f"COPY ({sql}\n) TO STDOUT (FORMAT csv)")
    while lines := session.next_copied(batch_rows, _BYTES):
        yield pa.py_buffer(lines)


def typed(session: Session, sql: str, columns: Sequence[Reading], batch_rows: int) -> pa.RecordBatchReader:
    """A statement's rows as the wanted types."""
    schema = pa.schema([(column.name, column.kind.arrow) for column in columns])
    names = _names(len(columns))
    types = {name: column.csv for name, column in zip(names, columns, strict=True)}

    def batches() -> Iterator[pa.RecordBatch]:
        for lines in copied(session, sql, batch_rows):
            try:
                table = _read(lines, names, types)
                arrays = [c.finish(a) for c, a in zip(columns, _arrays(table), strict=True)]
            except (pa.ArrowInvalid, Misfit):  # a value that does not fit: the slow way names it
                table = _read(lines, names, dict.fromkeys(names, pa.string()))
                arrays = [c.array(a.to_pylist()) for c, a in zip(columns, _arrays(table), strict=True)]
            yield from _cut(pa.RecordBatch.from_arrays(arrays, schema=schema), batch_rows)

    return pa.RecordBatchReader.from_batches(schema, batches())


def typed_texts(columns: Iterator[Texts], wanted: Sequence[Reading]) -> pa.RecordBatchReader:
    """As `typed`, of rows that came otherwise."""
    schema = pa.schema([(column.name, column.kind.arrow) for column in wanted])

    def arrays(texts: Texts) -> list[pa.Array]:
        try:
            return [
                column.finish(pa.array(cells, pa.string()).cast(column.csv))
                for column, cells in zip(wanted, texts, strict=True)
            ]
        except (pa.ArrowInvalid, Misfit):
            return [column.array(cells) for column, cells in zip(wanted, texts, strict=True)]

    return pa.RecordBatchReader.from_batches(
        schema, (pa.RecordBatch.from_arrays(arrays(texts), schema=schema) for texts in columns)
    )


def texts(
    columns: Iterator[Texts], fields: Sequence[Field], types: Mapping[Field, str]
) -> pa.RecordBatchReader:
    """As `as_text`, of rows that came otherwise."""
    schema = _text_schema(fields, types)

    def arrays(texts: Texts) -> list[pa.Array]:
        return [
            _text(field, pa.array(cells, pa.string())) for field, cells in zip(fields, texts, strict=True)
        ]

    return pa.RecordBatchReader.from_batches(
        schema, (pa.RecordBatch.from_arrays(arrays(texts), schema=schema) for texts in columns)
    )


def as_text(
    session: Session, sql: str, fields: Sequence[Field], types: Mapping[Field, str], batch_rows: int
) -> pa.RecordBatchReader:
    """A statement's rows as the server's own text, bytea as bytes; each field's type in its metadata."""
    names = _names(len(fields))
    schema = _text_schema(fields, types)

    def batches() -> Iterator[pa.RecordBatch]:
        for lines in copied(session, sql, batch_rows):
            table = _read(lines, names, dict.fromkeys(names, pa.string()))
            arrays = [_text(field, array) for field, array in zip(fields, _arrays(table), strict=True)]
            yield from _cut(pa.RecordBatch.from_arrays(arrays, schema=schema), batch_rows)

    return pa.RecordBatchReader.from_batches(schema, batches())


def _text_schema(fields: Sequence[Field], types: Mapping[Field, str]) -> pa.Schema:
    return pa.schema(
        [
            pa.field(
                field.name,
                pa.binary() if field.oid == BYTEA else pa.string(),
                metadata={b"type": types[field].encode()},
            )
            for field in fields
        ]
    )


def _text(field: Field, array: pa.Array) -> pa.Array:
    """The server's text of a column as what a batch has: bytea as bytes."""
    if field.oid != BYTEA:
        return array
    return pa.array([None if t is None else bytes.fromhex(t[2:]) for t in array.to_pylist()], pa.binary())


def _read(lines: pa.Buffer, names: list[str], types: Mapping[str, pa.DataType]) -> pa.Table:
    return csv.read_csv(
        lines,
        read_options=csv.ReadOptions(column_names=names, use_threads=False, block_size=lines.size + 1),
        parse_options=_PARSE,
        convert_options=csv.ConvertOptions(
            column_types=types,
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
            true_values=["t"],
            false_values=["f"],
        ),
    )


def _arrays(table: pa.Table) -> list[pa.Array]:
    return [
        column.combine_chunks() if column.num_chunks != 1 else column.chunk(0) for column in table.columns
    ]


def _cut(batch: pa.RecordBatch, rows: int) -> Iterator[pa.RecordBatch]:
    for start in range(0, batch.num_rows, rows):
        yield batch.slice(start, rows)


def _names(count: int) -> list[str]:
    return [f"c{i}" for i in range(count)]
