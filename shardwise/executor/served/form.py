"""How shards are asked for a stream's rows: as texts, each value as the server itself writes it."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import pyarrow as pa

from shardwise.errors import NotSupportedError, OperationalError, Reason
from shardwise.executor.backends.base import SourceConnection
from shardwise.executor.conform import CHECK, drift
from shardwise.executor.served.product import Product, StreamColumn
from shardwise.executor.served.strict import AlikeTables
from shardwise.plan.run import OrderKey, Request

_BY_CODE_POINT: Final = frozenset({"UTF8", "SQL_ASCII", "LATIN1"})
"""Encodings whose bytes are in the order of the texts that they are sent as. (Of SQL_ASCII, bytes are sent
as they are.)"""
TYPE = b"type"
"""A field's metadata: the server's type of it, as SQL text."""


class TextForm:
    """A stream in text form, of one statement. Threads share it.

    The shards' rows come in `order`: where that is by bytes, their databases' encodings must have it so.
    With `columns` its rows are to be shipped: they are written so that no digit is lost. All shards must
    answer with the same types; of a text only the length may differ. What would not fit is no error when it
    is shipped: MySQL makes the nearest value of it.
    """

    def __init__(
        self,
        product: Product,
        columns: tuple[StreamColumn, ...] | None,
        alike: AlikeTables,
        order: Sequence[OrderKey],
    ) -> None:
        self.product = product
        self.columns = columns
        self.alike = alike
        self.schema: pa.Schema | None = None
        """That of the first shard that answered, its fields' types in their metadata."""
        self._is_in_order_of_bytes = any(key.compared.how == "encoded" for key in order)
        self._lock = threading.Lock()

    def batches(
        self,
        connection: SourceConnection,
        sql: str,
        params: Mapping[str, Any],
        batch_rows: int,
        request: Request,
    ) -> Iterator[pa.RecordBatch]:
        """Starts the statement; its rows follow as they are asked for."""
        if self.columns is not None:
            sql = self.product.readable(sql, self.columns)
        reader = connection.arrow(sql, params, batch_rows)
        if self._is_in_order_of_bytes:
            self._check_encoding(connection, request.shard)
        with self._lock:
            first = self.schema = self.schema or reader.schema
        self._check(request.shard, request.fragment, reader.schema, first)
        return iter(reader)

    def shipped(self) -> tuple[StreamColumn, ...]:
        """The columns as the shards answered, so that each value is one of its column's."""
        assert self.columns is not None
        if self.schema is None:
            return self.columns
        return tuple(
            self.product.as_answered(column, type_)
            for column, type_ in zip(self.columns, types_of(self.schema), strict=True)
        )

    def _check_encoding(self, connection: SourceConnection, shard: str) -> None:
        encoding = self.product.encoding_of(connection)
        if encoding not in _BY_CODE_POINT:
            raise NotSupportedError(
                f'the database of shard "{shard}" is in {encoding or "an unknown encoding"}: its '
                "order of texts by their bytes is not that of Unicode, by which sorted rows are merged",
                hint="Let the merge sort them: disable_passes=['merge_sorted']",
            )

    def _check(self, shard: str, fragment: str, found: pa.Schema, first: pa.Schema) -> None:
        wanted = len(first) if self.columns is None else len(self.columns)
        if len(found) != wanted:
            raise OperationalError(
                f'shard "{shard}" answered fragment {fragment} with {len(found)} columns, not {wanted}',
                reason=Reason.SCHEMA_DRIFT,
                shard=shard,
                hint=CHECK,
            )
        names = found.names if self.columns is None else [column.name for column in self.columns]
        check_alike(shard, types_of(found), types_of(first), names)


def types_of(schema: pa.Schema) -> tuple[str, ...]:
    """The server's types of a batch's columns ("" where it does not say)."""
    return tuple((field.metadata or {}).get(TYPE, b"").decode() for field in schema)


def check_alike(shard: str, found: Sequence[str], first: Sequence[str], names: Sequence[str]) -> None:
    """Raises where a shard's columns are of other types than the first one's."""
    for theirs, ours, name in zip(found, first, names, strict=True):
        if theirs != ours and _without_length(theirs) != _without_length(ours):
            raise drift(shard, name, theirs, ours)


def _without_length(type_text: str) -> str:
    """Of a text, or of bytes, the kind alone: how long an expression's may be depends on constants too."""
    name = type_text.partition("(")[0].upper().strip()
    if any(word in name for word in ("CHAR", "TEXT", "BINARY", "BLOB")):
        return "BYTES" if "BINARY" in name or "BLOB" in name else "TEXT"
    return type_text.upper()
