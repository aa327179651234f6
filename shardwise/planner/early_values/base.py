"""What ran first as values in the rest of the statement: which travel, and how they stand there.

A value was a Python object between the subquery that gave it and the statement that gets it. It travels where
it is the same afterwards, and compares as before: its type is written beside it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, time
from typing import Any, Final, Protocol, TypeVar

from sqlglot import exp

from shardwise.plan.nodes import ColumnId, Output
from shardwise.plan.run import Bound
from shardwise.planner.equivalence import Types

Bind = Callable[[str, Sequence[Any]], exp.Expr]
"""Binds values as a parameter, under a name that ends as is said."""
Collations = Sequence[str | None]
TEXTS_MAX: Final = 1_000_000
"""Keys of texts have no more characters together: no server takes a statement of any length."""


class EarlyValues(Protocol):
    """Of one query dialect. `type_text` is a type as `Bound.types` has it.

    `are_lazy`: a subquery's error is the statement's only where a row asks for its value. One that fails when
    it runs first is then left to the engine.
    """

    are_lazy: bool
    lists_compare_alike: bool
    """`x IN ($a, $b)` is what `x IN (SELECT y …)` is of these values; else they are rows of a query again."""
    list_type: type[list[Any]]
    """What a list of keys is bound as."""

    def value_may_travel(self, type_text: str | None) -> bool:
        """Whether values of a declared type may travel, so that it is worth while to ask for them; None: a
        type that is not known."""

    def travels(self, bound: Bound) -> bool:
        """Whether the first column's values are the same after they were Python objects."""

    def may_travel(self, column: Output, collation: str | None) -> bool:
        """Whether a column of rows is declared such that its values may be.

        `collation` is here and below what the catalog says of a table's column that it is as it is.
        """

    def rows_travel(self, bound: Bound, collations: Collations) -> bool:
        """Whether all columns' values are the same after they were Python objects."""

    def as_rows(self, bound: Bound, collations: Collations, bind: Bind) -> exp.Select:
        """Rows that came and travel, as a query of them: an item for each column, of the column's type."""

    def keys_meet(self, one: ColumnId, other: ColumnId, types: Types) -> bool:
        """Whether `=` between the columns finds what `is_among` does, of the values of one and the other."""

    def keys_travel(self, bound: Bound, position: int) -> bool:
        """Whether a column's values are the same for `is_among`, beside a column that they meet."""

    def value(self, parameter: exp.Expr, type_text: str) -> exp.Expr:
        """A parameter that is bound to one value, as a value of its type."""

    def is_among(self, column: exp.Expr, keys: exp.Expr, type_text: str) -> exp.Expr:
        """Whether a column's value is in a parameter that is bound to a list; no NULL is."""

    def are_among(
        self,
        columns: Sequence[exp.Expr],
        keys: Sequence[tuple[Any, ...]],
        type_texts: Sequence[str],
        bind: Bind,
    ) -> exp.Expr:
        """The same of several columns together: whether their values are one of `keys`, none of which has a
        NULL; where lists do not compare alike, of one value as well, and there may be NULLs."""


def is_negative_zero(number: float) -> bool:
    return number == 0 and math.copysign(1, number) < 0


_V = TypeVar("_V")


def different(values: Iterable[_V]) -> list[_V]:
    """Each value once."""
    return list({told_apart(value): value for value in values}.values())


def told_apart(value: object) -> object:
    """What a value, or a row of values, is known by where it is looked for among others.

    To Python two moments of the hour that a zone's clocks repeat are equal, and so are 12:00+00 and 13:00+01;
    a text tells them apart.
    """
    if isinstance(value, tuple):
        return tuple(map(told_apart, value))
    return value.isoformat() if isinstance(value, datetime | time) else value
