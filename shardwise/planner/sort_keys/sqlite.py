"""Sort keys of the sqlite dialect: whatever its column's type, a value says itself what it is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from sqlglot import exp

from shardwise.catalog.model import Column
from shardwise.plan.nodes import Output
from shardwise.plan.run import Compared

_CELLS: Final = {
    "": Compared("cell"),
    "BINARY": Compared("cell"),
    "NOCASE": Compared("nocase"),
    "RTRIM": Compared("rtrim"),
}


class _SQLite:
    nulls_are_least = True
    has_places = False

    def travels(self, type_text: str | None, values: Sequence[Any] = ()) -> bool:
        return all(value is None or isinstance(value, int | float | str | bytes) for value in values)

    def written(self, parameter: exp.Expr, type_text: str) -> exp.Expr:
        return parameter

    def are_sorted_as_compared(self, columns: Iterable[Column | None]) -> bool:
        return True

    def compared(self, output: Output, column: Column | None, time_zone: str) -> Compared | None:
        return None if column is None else _CELLS.get((column.collation or "").upper())


SQLITE_SORT_KEYS: Final = _SQLite()
