"""The duckdb dialect's: nearly all values travel, as lists."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from typing import Any, Final

from sqlglot import exp

from shardwise.plan.nodes import ColumnId, Output
from shardwise.plan.run import Bound
from shardwise.planner.early_values.base import Bind, Collations
from shardwise.planner.early_values.lists import among_unnested, unnested
from shardwise.planner.equivalence import Types, are_declared_alike, is_binary, linkable


class DuckDBValues:
    """A month is no thirty days, nanoseconds are cut, and an infinite date is 9999-12-31."""

    are_lazy = False
    lists_compare_alike = True
    list_type: type[list[Any]] = list

    def value_may_travel(self, type_text: str | None) -> bool:
        return type_text is None or not _KEPT.search(type_text)

    def travels(self, bound: Bound) -> bool:
        return self._travels(bound, 0)

    def may_travel(self, column: Output, collation: str | None) -> bool:
        # An ENUM sorts by its place in the type.
        return is_binary(column.collation) and "ENUM" not in (column.type or "").upper()

    def rows_travel(self, bound: Bound, collations: Collations) -> bool:
        return all(
            "ENUM" not in type_.upper() and self._travels(bound, column)
            for column, type_ in enumerate(bound.types)
        )

    def as_rows(self, bound: Bound, collations: Collations, bind: Bind) -> exp.Select:
        return unnested(self, bound.types, bound.rows or (), bind)

    def keys_meet(self, one: ColumnId, other: ColumnId, types: Types) -> bool:
        return linkable(one, other, types) and are_declared_alike(one, other, types)

    def keys_travel(self, bound: Bound, position: int) -> bool:
        return self._travels(bound, position)

    def _travels(self, bound: Bound, column: int) -> bool:
        if _KEPT.search(bound.types[column]):
            return False
        days = (row[column] for row in bound.rows or () if isinstance(row[column], date))
        return not any((day.year, day.month, day.day) in _EXTREME_DAYS for day in days)

    def listed(self, parameter: exp.Expr, type_text: str) -> exp.Expr:
        return exp.Cast(this=parameter, to=exp.DataType.build(f"{type_text}[]", dialect="duckdb", udt=True))

    def value(self, parameter: exp.Expr, type_text: str) -> exp.Expr:
        return exp.Cast(this=parameter, to=exp.DataType.build(type_text, dialect="duckdb", udt=True))

    def is_among(self, column: exp.Expr, keys: exp.Expr, type_text: str) -> exp.Expr:
        values = exp.Anonymous(this="unnest", expressions=[self.listed(keys, type_text)])
        return exp.In(this=column, query=exp.Subquery(this=exp.Select(expressions=[values])))

    def are_among(
        self,
        columns: Sequence[exp.Expr],
        keys: Sequence[tuple[Any, ...]],
        type_texts: Sequence[str],
        bind: Bind,
    ) -> exp.Expr:
        return among_unnested(self, columns, keys, type_texts, bind)


_KEPT: Final = re.compile(
    r"INTERVAL|STRUCT|MAP|UNION|VARIANT|_NS|\[|UHUGEINT|TIMETZ|TIME WITH TIME ZONE", re.IGNORECASE
)
"""Types of which values do not travel. Of a UHUGEINT the driver does not take the largest; and 12:00+00 is
13:00+01 to Python, but not to DuckDB."""
_EXTREME_DAYS: Final = {(9999, 12, 31), (1, 1, 1)}
DUCKDB_VALUES: Final = DuckDBValues()
