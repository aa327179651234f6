"""How a shard is asked for a stream's rows: as texts, each value as the server itself writes it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from shardwise.executor.backends.base import SourceConnection
from shardwise.executor.conform import Conform, drift
from shardwise.executor.served.product import Product, StreamColumn
from shardwise.plan.run import Request

TYPE = b"type"
"""A field's metadata: the server's type of it, as SQL text."""


@dataclass(frozen=True)
class TextForm:
    """A stream in text form. Without `columns` its rows go through as they come: whoever reads them compares
    the types; with them they are written so that no digit is lost, and compared here."""

    product: Product
    columns: tuple[StreamColumn, ...] | None

    @property
    def schema(self) -> pa.Schema | None:
        """What batches are of; None: what the shards say."""
        return None if self.columns is None else self.product.schema(self.columns)

    def batches(
        self,
        connection: SourceConnection,
        sql: str,
        params: Mapping[str, Any],
        batch_rows: int,
        request: Request,
    ) -> Iterator[pa.RecordBatch]:
        """Starts the statement; its rows follow as they are asked for."""
        if self.columns is None:
            return iter(connection.arrow(sql, params, batch_rows))
        reader = connection.arrow(self.product.readable(sql, self.columns), params, batch_rows)
        conform = Conform(
            reader.schema.remove_metadata(),
            self.product.schema(self.columns),
            shard=request.shard,
            fragment=request.fragment,
        )
        return map(conform, reader)


def types_of(schema: pa.Schema) -> tuple[str, ...]:
    """The server's types of a batch's columns ("" where it does not say)."""
    return tuple((field.metadata or {}).get(TYPE, b"").decode() for field in schema)


def check_alike(shard: str, found: pa.Schema, first: Sequence[str], names: Sequence[str]) -> None:
    """Raises where a shard's columns are of other types than the first one's: of a text only its length may
    differ."""
    for theirs, ours, name in zip(types_of(found), first, names, strict=True):
        if _without_length(theirs) != _without_length(ours):
            raise drift(shard, name, theirs, ours)


def _without_length(type_text: str) -> str:
    name = type_text.partition("(")[0].upper()
    return name if "CHAR" in name or "BINARY" in name else type_text.upper()
