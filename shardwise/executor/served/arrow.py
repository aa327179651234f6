"""Text form → values: as Arrow, of the types that the server says, or as the driver's own Python values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pyarrow as pa

from shardwise.errors import DataError
from shardwise.executor.backends.base import Columns
from shardwise.executor.served.product import Product

Row = tuple[Any, ...]


class Typed:
    """Batches in text form as those of the types that `types` are. Threads may share it."""

    def __init__(self, product: Product, names: Sequence[str], types: Sequence[str]) -> None:
        self._product = product
        self._types = types
        self.schema = pa.schema(
            [pa.field(n, product.arrow_type(t)) for n, t in zip(names, types, strict=True)]
        )

    def batch(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Raises DataError for a value that Arrow's type has not: a zero date, a NaN."""
        cells = []
        for column, field, type_ in zip(batch.columns, self.schema, self._types, strict=True):
            try:
                cells.append(self._product.as_arrow(column, type_, field.type))
            except (pa.ArrowInvalid, ValueError, OverflowError) as error:
                raise DataError(
                    f'column "{field.name}" ({type_}) holds a value that Arrow\'s type {field.type} has not',
                    hint="Fetch the rows as tuples, or cast the column: "
                    f"CAST({field.name} AS {self._product.text_type})",
                ) from error
        return pa.RecordBatch.from_arrays(cells, schema=self.schema)


def typed_reader(
    product: Product, columns: Columns, batches: Iterable[pa.RecordBatch]
) -> pa.RecordBatchReader:
    """A reader of typed batches; `columns` are the result's names and the server's types.

    What a type does not tell of its numbers (PostgreSQL's numeric without a scale) is found by looking at all
    of them.
    """
    names, types = [name for name, _ in columns], [type_ for _, type_ in columns]
    if any(map(product.is_open, types)):
        batches = list(batches)
        of_column = zip(*(batch.columns for batch in batches), strict=True) if batches else [()] * len(types)
        types = [
            product.closed(type_, cells) if product.is_open(type_) else type_
            for type_, cells in zip(types, of_column, strict=True)
        ]
    typed = Typed(product, names, types)

    def made() -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield typed.batch(batch)

    return pa.RecordBatchReader.from_batches(typed.schema, made())


def rows_of(product: Product, batch: pa.RecordBatch, types: Sequence[str], time_zone: str) -> Iterator[Row]:
    """A batch in text form as tuples of the driver's values."""
    columns = [product.as_python(c, type_, time_zone) for c, type_ in zip(batch.columns, types, strict=True)]
    return zip(*columns, strict=True)
