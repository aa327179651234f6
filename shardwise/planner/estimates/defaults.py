"""What is taken of what was not measured: guesses, which README.md lists."""

from __future__ import annotations

from typing import Final

from shardwise.catalog.types import Family

ROWS_SHARDED: Final = 100_000.0
"""Of a table that is split over shards."""
ROWS_WHOLE: Final = 1_000.0
"""Of a reference table, a single one, or one of the connection's own."""
ROWS_PER_VALUE: Final = 10.0
"""Of a column that is no key: so many rows have one value."""
FEW_VALUES: Final = {Family.BOOL: 2.0, Family.ENUM: 10.0}

BOUND: Final = 1 / 3
"""A bound: x < 1."""
BETWEEN: Final = 1 / 9
"""Two bounds."""
EQUAL: Final = 0.005
"""x = 1, where x is computed."""
LIKE: Final = 0.05
IS_NULL: Final = 0.05
OF_GROUPS: Final = 0.05
"""A condition on what an aggregate gave: HAVING sum(x) > 1."""
SUBQUERY: Final = 0.5
"""EXISTS, IN of a subquery, and what else is not understood."""

ROW_BYTES: Final = 8.0
"""What a row costs besides its values: so rows without much in them are no bargain."""

_WIDTHS: Final = {
    Family.INT: 8.0,
    Family.DECIMAL: 16.0,
    Family.FLOAT: 8.0,
    Family.BOOL: 1.0,
    Family.DATE: 4.0,
    Family.TIME: 8.0,
    Family.TIMESTAMP: 8.0,
    Family.TIMESTAMPTZ: 8.0,
    Family.INTERVAL: 16.0,
    Family.UUID: 16.0,
    Family.TEXT: 24.0,
    Family.ENUM: 12.0,
}


def width_of(family: Family) -> float:
    """Bytes of a value, as Arrow holds it."""
    return _WIDTHS.get(family, 32.0)
