"""A kind of cell: what DuckDB's type says a value is, and what a loosely typed file may hold for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import pyarrow as pa

_SHOWN_MAX = 60


class Misfit(Exception):
    """A cell that its column's type does not allow: `value`, why, and what to do about it."""

    def __init__(self, value: object, why: str, hint: str | None = None) -> None:
        super().__init__(why)
        self.value = value
        self.why = why
        self.hint = hint

    @property
    def shown(self) -> str:
        """The value as a person reads it, cut short."""
        text = repr(self.value[: _SHOWN_MAX + 1] if isinstance(self.value, str | bytes) else self.value)
        return text if len(text) <= _SHOWN_MAX else f"{text[: _SHOWN_MAX - 1]}…"


class Kind:
    """One DuckDB type. Cells come as Python's sqlite3 gives them: None, int, float, str or bytes.

    `native` are the Python types of cells that are DuckDB's Python values as they are.
    """

    native: ClassVar[frozenset[type]] = frozenset()
    affinities: ClassVar[tuple[str, ...]] = ("TEXT", "NUMERIC", "BLOB")
    """Of the columns that hold it, the best first. NUMERIC leaves text alone that looks like no number."""

    storage: ClassVar[str] = "text"
    """SQLite's name for the kind of value that cells usually are."""

    def __init__(self, name: str, arrow: pa.DataType) -> None:
        self.name = name
        self.arrow = arrow

    def one(self, cell: Any) -> Any:
        """DuckDB's Python value of a cell that is not None; raises Misfit."""
        raise NotImplementedError

    def canonical(self, cell: Any) -> Any:
        """The one form in which SQL on SQLite computes with a cell that is not None; raises Misfit."""
        return self.one(cell)

    def python(self, cells: Sequence[Any]) -> Sequence[Any]:
        """DuckDB's Python values of a column's cells."""
        if self.native.issuperset(map(type, cells)):
            return cells
        one = self.one
        return [None if cell is None else one(cell) for cell in cells]

    def array(self, cells: Sequence[Any]) -> pa.Array:
        """A column's cells as Arrow."""
        return pa.array(self.python(cells), self.arrow)

    def of_arrow(self, column: pa.Array) -> pa.Array:
        """A column whose cells are all of the usual `storage`, as an Arrow reader gives it."""
        return self.array(column.to_pylist())

    def misfit(self, cell: object, hint: str | None = None) -> Misfit:
        return Misfit(cell, f"is no {self.name}", hint)


NONE = type(None)
WHOLE = ("INTEGER", "NUMERIC", "BLOB")
NUMBERS = ("REAL", "NUMERIC", "INTEGER", "BLOB")


def kinds_of(cells: Sequence[Any]) -> set[type]:
    """The Python types among a column's cells, NULL aside."""
    found = set(map(type, cells))
    found.discard(NONE)
    return found
