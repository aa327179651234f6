"""What is known of the rows of a table, over all shards: for estimates, which choose between right plans.

Collected by ANALYZE and kept in the lock file; nothing is right or wrong by it. docs/statistics.md says what
is collected where.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

Origin = Literal["scan", "sample", "sources"]
"""How statistics came about: all rows were read, some were, or the sources said it without reading."""

ORIGINS: tuple[Origin, ...] = get_args(Origin)


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnStatistics:
    """What is known of one column.

    `distinct` counts the values that are not NULL, `nulls` is the share of rows that are NULL, `width` the
    bytes of a value that is not NULL, as Arrow holds it. `bounds` are equi-depth quantiles of the values that
    are not NULL: the smallest first, the largest last, as many rows between any two that follow one another;
    they are texts, of numbers, dates (`2024-01-31`) and timestamps (`2024-01-31 08:00:00`, in UTC) only.
    `common` are the most common values as texts, each with its share of all rows, the most common first.
    """

    distinct: float | None = None
    nulls: float = 0.0
    width: float | None = None
    bounds: tuple[str, ...] = ()
    common: tuple[tuple[str, float], ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "bounds", tuple(self.bounds))
        object.__setattr__(self, "common", tuple((value, share) for value, share in self.common))


class ByColumn(Mapping[str, ColumnStatistics]):
    """Statistics by the name of a column, looked up without regard to letter case. Immutable, hashable."""

    __slots__ = ("_folded", "_items")

    def __init__(self, items: Mapping[str, ColumnStatistics] | None = None) -> None:
        self._items = dict(items or {})
        self._folded = {name.casefold(): each for name, each in self._items.items()}

    def __getitem__(self, name: str) -> ColumnStatistics:
        return self._folded[name.casefold()]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __hash__(self) -> int:
        return hash(frozenset(self._items.items()))

    def __repr__(self) -> str:
        return f"ByColumn({self._items!r})"


@dataclass(frozen=True, slots=True, kw_only=True)
class TableStatistics:
    """What is known of one table: its rows over all shards (of a reference table, those of one copy).

    `read_at` is an ISO 8601 text, empty if it is not known. Columns that nothing is known of are not in
    `columns`.
    """

    name: str
    schema: str | None = None
    rows: int
    source: Origin
    read_at: str = ""
    columns: Mapping[str, ColumnStatistics] = field(default_factory=ByColumn)

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", ByColumn(self.columns))

    @property
    def full_name(self) -> str:
        """The name with its schema, for messages."""
        return f"{self.schema}.{self.name}" if self.schema else self.name
