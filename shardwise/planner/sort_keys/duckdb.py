"""Sort keys of the duckdb dialect: all but nested ones, times and intervals, and no infinite date."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, Final

from sqlglot import exp

from shardwise.catalog.model import Column
from shardwise.plan.nodes import Output
from shardwise.plan.run import Compared
from shardwise.planner.sort_keys.base import cast, is_extreme

_SENT: Final = re.compile(
    r"U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|DECIMAL(\(.*\))?|FLOAT|DOUBLE|VARCHAR|BOOLEAN|DATE|UUID"
    r"|TIMESTAMP( WITH TIME ZONE)?|TEXT|REAL|NUMERIC(\(.*\))?|VARCHAR\(\d+\)",
    re.IGNORECASE,
)
_MERGED: Final = re.compile(
    r"U?(TINY|SMALL|BIG)?INT(EGER)?|DECIMAL(\(.*\))?|NUMERIC(\(.*\))?|FLOAT|REAL|DOUBLE|VARCHAR(\(\d+\))?|TEXT"
    r"|BOOLEAN|DATE|TIMESTAMP",
    re.IGNORECASE,
)


class _DuckDB:
    nulls_are_least = False
    has_places = False

    def travels(self, type_text: str | None, values: Sequence[Any] = ()) -> bool:
        is_known = type_text is not None and _SENT.fullmatch(type_text) is not None
        return is_known and not any(map(is_extreme, values))

    def written(self, parameter: exp.Expr, type_text: str) -> exp.Expr:
        return cast(parameter, type_text, "duckdb")

    def are_sorted_as_compared(self, columns: Iterable[Column | None]) -> bool:
        return True

    def compared(self, output: Output, column: Column | None, time_zone: str) -> Compared | None:
        is_trusted = output.collation is None and _MERGED.fullmatch(output.type or "") is not None
        return Compared() if is_trusted else None


DUCKDB_SORT_KEYS: Final = _DuckDB()
