"""Rows that a node is expected to give, and what is expected of its columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from shardwise.plan.nodes import ColumnId
from shardwise.planner.estimates.columns import ColumnEstimate

Columns = Callable[[ColumnId], ColumnEstimate]


@dataclass(slots=True)
class Estimate:
    """`rows` of a node, over all its shards; its columns are looked at when they are asked for."""

    rows: float
    find: Columns
    _known: dict[ColumnId, ColumnEstimate] = field(default_factory=dict)

    def column(self, id: ColumnId) -> ColumnEstimate:
        known = self._known.get(id)
        if known is None:
            known = self._known[id] = self.find(id)
        return known

    def distinct(self, columns: Iterable[ColumnId]) -> float:
        """Different combinations of the columns' values, NULL among them.

        Columns go together more often than not: the second one counts with its square root, and so on.
        """
        return min(self.rows, damped(sorted(self.counts(columns), reverse=True)))

    def counts(self, columns: Iterable[ColumnId]) -> list[float]:
        """How many different values each column has; one that a key of its table tells does not count."""
        found = [(id, self.column(id)) for id in columns]
        told = {id.rel for id, column in found if column.is_key}
        return [
            column.distinct + (column.nulls > 0)
            for id, column in found
            if column.is_key or id.rel not in told
        ]


def damped(factors: Iterable[float]) -> float:
    """The product of the factors, the strongest first, each further one to half the power of the one before.

    >>> damped([16.0, 16.0])
    64.0
    """
    product, power = 1.0, 1.0
    for factor in factors:
        product *= max(factor, 0.0) ** power
        power /= 2
    return product
