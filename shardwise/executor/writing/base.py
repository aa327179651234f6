"""What a writer is: it makes one table, changes its rows in batches, and drops it."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

import pyarrow as pa

from shardwise.catalog.model import Stored

_NAME_MAX: Final = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class FormColumn:
    """A column of an index table as its source is to have it.

    `type` and `collation` are in the product's own words. `stored` says how a SQLite file holds a date as a
    number. `is_text`: its values come as the text that the product's own CAST makes of them.
    """

    name: str
    type: str
    nullable: bool = True
    collation: str | None = None
    stored: Stored | None = None
    is_text: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """An index table on one source: its name there (without a schema), its columns, and by which columns rows
    are searched: each a tuple that gets an index. No column of a tuple of `searched` is NULL in
    `searched[0]`.
    """

    table: str
    columns: tuple[FormColumn, ...]
    searched: tuple[tuple[str, ...], ...]

    def index_names(self) -> list[tuple[str, tuple[str, ...]]]:
        """The names of its search indexes, short enough for any product, and their columns."""
        short = self.table[: _NAME_MAX - 14]
        seal = f"{zlib.crc32(self.table.encode()):08x}"
        return [(f"{short}_{seal}_i{number}", columns) for number, columns in enumerate(self.searched)]

    @property
    def names(self) -> list[str]:
        return [column.name for column in self.columns]


def create_table(form: Form, define: Callable[[FormColumn], str], quoted: Callable[[str], str]) -> str:
    """The statement that makes the table, if it is not there; `define` writes a column."""
    columns = ", ".join(map(define, form.columns))
    return f"CREATE TABLE IF NOT EXISTS {quoted(form.table)} ({columns})"


def definition(column: FormColumn, quoted: Callable[[str], str], collation: str | None) -> str:
    """A column as most products write it; `collation` is its own as the product names it."""
    collated = f" COLLATE {collation}" if collation else ""
    return f"{quoted(column.name)} {column.type}{collated}{'' if column.nullable else ' NOT NULL'}"


class Rows(Protocol):
    """Rows of an index table, its columns in order."""

    def __len__(self) -> int: ...
    @property
    def batch(self) -> pa.RecordBatch:
        """As Arrow."""

    def tuples(self) -> Sequence[tuple[Any, ...]]:
        """As Python values."""


class Writer(Protocol):
    """For one thread; anyone may `interrupt` it. What it raises are our errors."""

    def change(self, form: Form, gone: Rows | None, new: Rows | None) -> None:
        """In one transaction: deletes all rows that are the same as one of `gone`, byte for byte, then puts
        in those of `new`. Makes the table if there is none."""

    def finish(self, form: Form) -> int:
        """Makes the table and its search indexes, what there is not of them; gives the number of rows."""

    def drop(self, table: str) -> None:
        """Drops the table; nothing if there is none."""

    def interrupt(self) -> None:
        """Stops what runs, from any thread."""

    def close(self) -> None: ...
