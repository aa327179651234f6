"""What is expected of one column's values in the rows of a node."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache

from shardwise.catalog.statistics import ColumnStatistics
from shardwise.catalog.types import Family
from shardwise.planner.estimates import defaults
from shardwise.planner.estimates.scalars import scalar_of_text, value_of_text


@dataclass(frozen=True, slots=True)
class ColumnEstimate:
    """`distinct` values that are not NULL; `nulls` the share of rows that are; `width` a value's bytes.

    `bounds` are equi-depth quantiles on the line of `scalars`; `common` gives values' share of all rows, by
    `value_of_text`. `is_guess`: nothing was measured.
    """

    distinct: float
    nulls: float = 0.0
    width: float = 8.0
    family: Family = Family.OTHER
    bounds: tuple[float, ...] = ()
    common: Mapping[str | float, float] = field(default_factory=dict)
    is_guess: bool = True
    most: float = float("inf")
    """No more values than that, whatever was guessed."""
    is_key: bool = False
    """As many values as rows of its table: one tells the row, and what else is in it."""
    below: Callable[[float], float] | None = None
    """Of what is computed: the share of the values below one, where there are no bounds."""

    def before(self, value: float) -> float | None:
        """The share of the values that are not NULL and below `value`; None where nothing was measured."""
        bounds = self.bounds
        if len(bounds) < 2:
            return None if self.below is None else self.below(value)
        if value <= bounds[0]:
            return 0.0
        if value > bounds[-1]:
            return 1.0
        upper = bisect_left(bounds, value)
        low, high = bounds[upper - 1], bounds[upper]
        within = (value - low) / (high - low) if high > low else 0.5
        return (upper - 1 + within) / (len(bounds) - 1)

    def one(self) -> float:
        """The share of rows that one value has, not said which."""
        return (1.0 - self.nulls) / max(self.distinct, 1.0)

    def of_value(self, value: str | float) -> float:
        """The share of rows that this value has. One that is not among the common ones has an average share
        of what they leave."""
        if not self.common:
            return self.one()
        share = self.common.get(value)
        if share is not None:
            return share
        left = max(0.0, 1.0 - self.nulls - sum(self.common.values()))
        return left / max(self.distinct - len(self.common), 1.0)

    def among(self, rows_before: float, rows: float) -> ColumnEstimate:
        """The same of `rows` of the rows, taken without regard to this column (Cardenas 1975)."""
        if rows >= rows_before or self.distinct <= 0:
            return self
        part = rows / max(rows_before, 1.0)
        each = rows_before / self.distinct
        distinct = self.distinct * (1.0 - (1.0 - part) ** max(each, 1.0))
        distinct = max(min(distinct, rows), min(1.0, rows))
        return replace(self, distinct=distinct, most=min(self.most, rows))


def measured(
    statistics: ColumnStatistics, rows: float, family: Family, default: ColumnEstimate
) -> ColumnEstimate:
    """What ANALYZE found of a table's column; what it did not find is by default."""
    return ColumnEstimate(
        distinct=default.distinct
        if statistics.distinct is None
        else min(statistics.distinct, max(rows, 1.0)),
        nulls=statistics.nulls,
        width=default.width if statistics.width is None else statistics.width * (1.0 - statistics.nulls),
        family=family,
        bounds=_on_a_line(statistics.bounds, family),
        common=_by_value(statistics.common, family),
        is_guess=statistics.distinct is None,
        most=rows if statistics.distinct is None else statistics.distinct,
        is_key=default.is_key or (statistics.distinct or 0.0) >= rows,
    )


@lru_cache(maxsize=4096)
def _on_a_line(bounds: tuple[str, ...], family: Family) -> tuple[float, ...]:
    """None, if one of them has no place there. Texts are read once, not for each statement."""
    scalars = [scalar_of_text(bound, family) for bound in bounds]
    known = tuple(s for s in scalars if s is not None)
    return known if len(known) == len(scalars) and list(known) == sorted(known) else ()


@lru_cache(maxsize=4096)
def _by_value(common: tuple[tuple[str, float], ...], family: Family) -> Mapping[str | float, float]:
    return {value_of_text(text, family): share for text, share in common}


def guessed(rows: float, family: Family, *, is_unique: bool) -> ColumnEstimate:
    """What is taken of a column of which nothing is known."""
    distinct = rows if is_unique else max(1.0, rows / defaults.ROWS_PER_VALUE)
    if family in defaults.FEW_VALUES:
        distinct = min(distinct, defaults.FEW_VALUES[family])
    return ColumnEstimate(
        distinct=distinct,
        width=defaults.width_of(family),
        family=family,
        is_guess=not is_unique,
        most=rows,
        is_key=is_unique,
    )
