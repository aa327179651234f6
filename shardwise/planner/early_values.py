"""What ran first as values in the rest of the statement: which travel, and how they stand there.

A value was a Python object between the subquery that gave it and the statement that gets it. It travels where
it is the same afterwards, and compares as before: its type is written beside it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from typing import Final, Protocol, TypeVar

from sqlglot import exp

from shardwise.catalog.types import Family, read_type
from shardwise.plan.run import Bound


class EarlyValues(Protocol):
    """Of one query dialect. `type_text` is a type as `Bound.types` has it.

    `are_lazy`: a subquery's error is the statement's only where a row asks for its value. One that fails when
    it runs first is then left to the engine.
    """

    are_lazy: bool

    def travels(self, bound: Bound) -> bool:
        """Whether the first column's values are the same after they were Python objects."""

    def rows_travel(self, bound: Bound) -> bool:
        """Whether all columns' values are, and lists of them can stand as rows."""

    def listed(self, parameter: exp.Expr, type_text: str) -> exp.Expr:
        """A parameter that is bound to a list, as a list of values of its type."""

    def value(self, parameter: exp.Expr, type_text: str) -> exp.Expr:
        """A parameter that is bound to one value, as a value of its type."""

    def is_among(self, column: exp.Expr, keys: exp.Expr, type_text: str) -> exp.Expr:
        """Whether a column's value is in a parameter that is bound to a list; no NULL is."""

    def are_among(
        self, columns: Sequence[exp.Expr], keys: Sequence[exp.Expr], type_texts: Sequence[str]
    ) -> exp.Expr | None:
        """The same of several columns together: each of `keys` has one's values, side by side. None: it
        cannot be said."""


_V = TypeVar("_V")


def different(values: Iterable[_V]) -> list[_V]:
    """Each value once. To Python two moments of the hour that a zone's clocks repeat are equal, and so are
    12:00+00 and 13:00+01; a text tells them apart."""
    return list({_told_apart(value): value for value in values}.values())


def _told_apart(value: object) -> object:
    if isinstance(value, tuple):
        return tuple(map(_told_apart, value))
    return value.isoformat() if isinstance(value, datetime | time) else value


class DuckDBValues:
    """A month is no thirty days, nanoseconds are cut, and an infinite date is 9999-12-31."""

    are_lazy = False

    def travels(self, bound: Bound) -> bool:
        return self._travels(bound, 0)

    def rows_travel(self, bound: Bound) -> bool:
        # An ENUM sorts by its place in the type.
        return all(
            "ENUM" not in type_.upper() and self._travels(bound, column)
            for column, type_ in enumerate(bound.types)
        )

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
        unnested = exp.Anonymous(this="unnest", expressions=[self.listed(keys, type_text)])
        return exp.In(this=column, query=exp.Subquery(this=exp.Select(expressions=[unnested])))

    def are_among(
        self, columns: Sequence[exp.Expr], keys: Sequence[exp.Expr], type_texts: Sequence[str]
    ) -> exp.Expr | None:
        lists = map(self.listed, keys, type_texts)
        unnested = [exp.Anonymous(this="unnest", expressions=[values]) for values in lists]
        rows = exp.Subquery(this=exp.Select(expressions=unnested))
        return exp.In(this=exp.Tuple(expressions=list(columns)), query=rows)


_KEPT: Final = re.compile(
    r"INTERVAL|STRUCT|MAP|UNION|VARIANT|_NS|\[|UHUGEINT|TIMETZ|TIME WITH TIME ZONE", re.IGNORECASE
)
"""Types of which values do not travel. Of a UHUGEINT the driver does not take the largest; and 12:00+00 is
13:00+01 to Python, but not to DuckDB."""
_EXTREME_DAYS: Final = {(9999, 12, 31), (1, 1, 1)}


class ServerValues:
    """Numbers, dates and times of a server's dialect. Texts stay, for they have a collation.

    A date that the driver has no object for, such as 0000-00-00 or infinity, does not travel.
    """

    are_lazy = True

    def __init__(self, dialect: str, excluded: frozenset[str]) -> None:
        self._dialect = dialect
        self._excluded = excluded

    def travels(self, bound: Bound) -> bool:
        found = read_type(bound.types[0], self._dialect)
        if found is None or found.name in self._excluded:
            return False
        kinds = _KINDS.get(found.family)
        return kinds is not None and all(_is_one_of(row[0], kinds) for row in bound.rows or ())

    def rows_travel(self, bound: Bound) -> bool:
        return False

    def listed(self, parameter: exp.Expr, type_text: str) -> exp.Expr:
        return exp.Cast(
            this=parameter, to=exp.DataType.build(f"{type_text}[]", dialect=self._dialect, udt=True)
        )

    def value(self, parameter: exp.Expr, type_text: str) -> exp.Expr:
        return exp.Cast(this=parameter, to=exp.DataType.build(type_text, dialect=self._dialect, udt=True))

    def is_among(self, column: exp.Expr, keys: exp.Expr, type_text: str) -> exp.Expr:
        members = exp.Paren(this=self.listed(keys, type_text))
        return exp.EQ(this=column, expression=exp.Any(this=members))

    def are_among(
        self, columns: Sequence[exp.Expr], keys: Sequence[exp.Expr], type_texts: Sequence[str]
    ) -> exp.Expr | None:
        return None


class MySQLValues(ServerValues):
    """MySQL has no lists: one is written as its members."""

    def is_among(self, column: exp.Expr, keys: exp.Expr, type_text: str) -> exp.Expr:
        return exp.In(this=column, expressions=[keys])


_KINDS: Final[dict[Family, tuple[type, ...]]] = {
    Family.INT: (int,),
    Family.DECIMAL: (Decimal, int),
    Family.FLOAT: (float,),
    Family.DATE: (date,),
    Family.TIMESTAMP: (datetime,),
}


def _is_one_of(value: object, kinds: tuple[type, ...]) -> bool:
    if isinstance(value, float):
        return float in kinds and math.isfinite(value)
    if isinstance(value, Decimal):
        return Decimal in kinds and value.is_finite()
    return value is None or type(value) in kinds


DUCKDB_VALUES: Final = DuckDBValues()
MYSQL_VALUES: Final = MySQLValues("mysql", frozenset({"YEAR", "FLOAT"}))
POSTGRES_VALUES: Final = ServerValues("postgres", frozenset({"REAL", "FLOAT4", "MONEY"}))
