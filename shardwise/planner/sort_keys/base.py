"""What a query dialect's sort keys are as values and as orders.

As values: a page is sought by the keys of a row. They must be the same once they were sent to and fro, which
is less than what an application may want to read: a row must be found again by them, or the next one. As
orders: sorted streams are merged where this process compares two values as their source does.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from datetime import date
from decimal import Decimal
from typing import Any, Final, Protocol

from sqlglot import exp

from shardwise.catalog.model import Column
from shardwise.plan.nodes import Output
from shardwise.plan.run import Compared

_EXTREME_DAYS: Final = {(9999, 12, 31), (1, 1, 1)}


class SortKeys(Protocol):
    """Of one query dialect.

    `nulls_are_least`: NULL is first in an ascending order that does not say otherwise. `has_places`: an ENUM
    or SET is in the order of its members' places, and read as their text.
    """

    nulls_are_least: bool
    has_places: bool

    def travels(self, type_text: str | None, values: Sequence[Any] = ()) -> bool:
        """Whether these values, of a column of that type, are the same afterwards. Of none: may some be?"""

    def written(self, parameter: exp.Expr, type_text: str) -> exp.Expr:
        """The parameter that is bound to such a value, as it is compared with the column.

        A text takes the collation of the column beside it only if nothing says another one.
        """

    def are_sorted_as_compared(self, columns: Iterable[Column | None]) -> bool:
        """Whether values that are made of these columns are in the order in which they compare."""

    def compared(self, output: Output, column: Column | None, time_zone: str) -> Compared | None:
        """How values of a fragment's column compare, if the merge can tell. `column` is the table's that it
        is, if it is one."""


def why_not(value: Any) -> tuple[str, str]:
    """Why a value does not travel, and what to do about it."""
    if is_extreme(value):
        return (
            "is infinite, or the first or last day of the calendar, which stands for that",
            "Leave such rows out: WHERE … BETWEEN '0001-01-02' AND '9999-12-30'",
        )
    if isinstance(value, float | Decimal) and not math.isfinite(value):
        return "is NaN or infinite", "Leave such rows out: WHERE … NOT IN ('NaN', 'Infinity', '-Infinity')"
    return "is not the same once it was sent to and fro", "Order by numbers, dates or short texts"


def is_extreme(value: Any) -> bool:
    """An infinite date, which Python has none of."""
    return isinstance(value, date) and (value.year, value.month, value.day) in _EXTREME_DAYS


def cast(parameter: exp.Expr, type_text: str, dialect: str) -> exp.Expr:
    return exp.Cast(this=parameter, to=exp.DataType.build(type_text, dialect=dialect, udt=True))
