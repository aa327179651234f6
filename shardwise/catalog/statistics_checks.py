"""Checks of statistics: shares are shares, counts are counts.

That there is the table, or the column, is not asked: statistics outlive what they are of, and decide nothing.
"""

from __future__ import annotations

from math import isfinite

from shardwise.catalog.checker import Checker
from shardwise.catalog.statistics import ORIGINS, TableStatistics


def check_statistics(checker: Checker, statistics: TableStatistics) -> None:
    """Figures that are possible."""
    if statistics.source not in ORIGINS:
        _fail(checker, statistics, f'come from {" or ".join(ORIGINS)}, not "{statistics.source}"')
    if statistics.rows < 0:
        _fail(checker, statistics, "count fewer than no rows")
    for name, column in statistics.columns.items():
        shares = (column.nulls, *(share for _, share in column.common))
        if not all(0 <= share <= 1 for share in shares):
            _fail(checker, statistics, f'give column "{name}" a share that is not between 0 and 1', at=name)
        counts = [count for count in (column.distinct, column.width) if count is not None]
        if not all(isfinite(count) and count >= 0 for count in counts):
            _fail(checker, statistics, f'give column "{name}" a count that is none', at=name)


def _fail(checker: Checker, statistics: TableStatistics, what: str, *, at: str | None = None) -> None:
    hint = f"ANALYZE {statistics.full_name} collects them anew"
    checker.fail(
        f'the statistics of table "{statistics.full_name}" {what}', at=at or statistics.name, hint=hint
    )
