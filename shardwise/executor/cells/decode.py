"""Rows as sqlite3 gives them → columns of the wanted types.

A statement's column whose name begins with `#` is *encoded*: it holds numbers that SQLite cannot hold, as
text that the statement made. `#n` is n, `#h:l` is h · 2³² + l: a whole number, or a scaled one where DECIMAL
is wanted. Columns of other names are as the file has them, so that no text in a file is taken for a number.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import pyarrow as pa

from shardwise.caching import cached_property
from shardwise.errors import DataError, OperationalError, Reason
from shardwise.executor.backends.base import Columns
from shardwise.executor.cells.base import Kind, Misfit
from shardwise.executor.cells.kinds import kind_of
from shardwise.executor.cells.numbers import Exact

Rows = list[tuple[Any, ...]]
ENCODED = "#"


class MisfitError(DataError):
    """A cell does not fit. `column` is as the statement calls it, until someone adds table and shard."""

    def __init__(self, misfit: Misfit, column: str, *, table: str | None = None) -> None:
        self.column, self.table = column, table
        self._holds = f"holds {misfit.shown}, which {misfit.why}"
        super().__init__(
            self._text(),
            hint=misfit.hint or "Correct the value in the file, or the column's type in the catalog",
        )

    def locate(self, table: str, column: str) -> None:
        """Which table's column it is, if that was not said."""
        if self.table is None:
            self.table, self.column = table, column
            self.message = self._text()

    def public(self) -> DataError:
        """The same as its user sees it."""
        return DataError(self.message, hint=self.hint)

    def _text(self) -> str:
        of_table = f' of table "{self.table}"' if self.table else ""
        return f'column "{self.column}"{of_table} {self._holds}'


@lru_cache(maxsize=512)
def decoder(wanted: Columns, given: tuple[str, ...], zone: str) -> Decoder:
    """A `Decoder`, made once for statements alike."""
    return Decoder(wanted, given, zone)


class Decoder:
    """Makes rows of a statement those of `wanted`; `given` are the names that the statement gives.

    `known` gives the kind of a type, shown in a time zone; a product may have kinds of its own.
    """

    def __init__(
        self,
        wanted: Columns,
        given: Sequence[str],
        zone: str,
        known: Callable[[str, str], Kind] = kind_of,
    ) -> None:
        if len(wanted) != len(given):
            raise OperationalError(
                f"the source answered with {len(given)} columns, not {len(wanted)}",
                reason=Reason.SCHEMA_DRIFT,
            )
        self.wanted = wanted
        self.names = [name for name, _ in wanted]
        kinds = [known(type_, zone) for _, type_ in wanted]
        self._kinds = [
            _Encoded(kind) if name.startswith(ENCODED) else kind
            for kind, name in zip(kinds, given, strict=True)
        ]

    @cached_property
    def schema(self) -> pa.Schema:
        """Of the batches that it makes."""
        return pa.schema([(n, k.arrow) for n, k in zip(self.names, self._kinds, strict=True)])

    def python(self, rows: Rows) -> Rows:
        """The rows as DuckDB's Python values."""
        if not rows:
            return rows
        columns = list(zip(*rows, strict=True))
        made: list[Sequence[Any]] = []
        try:
            for kind, cells in zip(self._kinds, columns, strict=True):
                made.append(kind.python(cells))
        except Misfit as misfit:
            raise MisfitError(misfit, self.names[len(made)]) from None
        if all(map(_is, made, columns)):
            return rows
        return list(zip(*made, strict=True))

    def batch(self, rows: Rows) -> pa.RecordBatch:
        """The rows as Arrow."""
        columns: Sequence[Sequence[Any]] = list(zip(*rows, strict=True)) or [()] * len(self._kinds)
        arrays = [self._made(i, kind.array, columns[i]) for i, kind in enumerate(self._kinds)]
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)

    def _made(self, index: int, make: Any, cells: Sequence[Any]) -> Any:
        try:
            return make(cells)
        except Misfit as misfit:
            raise MisfitError(misfit, self.names[index]) from None


def _is(one: object, other: object) -> bool:
    return one is other


class _Encoded(Kind):
    """Numbers as text that the statement made; a REAL as it is, and "#nan", which SQLite has not."""

    def __init__(self, kind: Kind) -> None:
        super().__init__(kind.name, kind.arrow)
        self._kind = kind

    def one(self, cell: Any) -> Any:
        if type(cell) is float:
            return cell
        if cell == "#nan":
            return math.nan
        high, _, low = cell[1:].partition(":")
        whole = (int(high) << 32) + int(low) if low else int(high)
        return self._kind.unscaled(whole) if isinstance(self._kind, Exact) else self._kind.one(whole)

    def array(self, cells: Sequence[Any]) -> pa.Array:
        values = self.python(cells)
        if isinstance(self._kind, Exact):
            return pa.array(values, self.arrow)
        return self._kind.array(values)
