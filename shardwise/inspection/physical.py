"""A table as a source has it, and what is asked of an open source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from shardwise.catalog.model import Column
from shardwise.executor.backends.base import Columns


class SourceReader(Protocol):
    """An open source: runs a statement in its own dialect and gives all rows."""

    @property
    def dialect(self) -> str:
        """sqlglot's name of its SQL."""

    def rows(
        self, sql: str, params: Mapping[str, Any] | None = None, wanted: Columns | None = None
    ) -> Sequence[tuple[Any, ...]]:
        """`wanted` are the columns' names and DuckDB types, for sources whose values have others."""

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class PhysicalTable:
    """A table as the source has it.

    `declared` are its columns' types in the source's own words, by name in lower case, where these are not
    the catalog's: then a column's `type` is what they stand for, "" if nothing can be told. `product` is the
    URL scheme of the backend that knows these words.
    """

    name: str
    columns: tuple[Column, ...]
    primary_key: tuple[str, ...] = ()
    unique: tuple[tuple[str, ...], ...] = ()
    declared: Mapping[str, str] = field(default_factory=dict)
    product: str = "duckdb"
