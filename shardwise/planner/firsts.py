"""Subqueries that run before the rest of their statement, and what they gave."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from shardwise.plan.nodes import ColumnId, Node
from shardwise.plan.run import Bound

LIST_MAX = 1000
"""With more rows than this an IN subquery, or what a lookup index gives, is not sent as a list."""
KEYS_MAX = 50_000
"""With more keys than this a join's other side is not narrowed by them."""
PLACES_MAX = 100_000
"""With more rows of a lookup index than this keys are not placed by it."""

ROWS_MAX = 20_000
"""With more rows than this a join's side does not come ahead of the rest."""
ROWS_EXPECTED_MAX = ROWS_MAX / 2
"""With more rows expected it is not asked for them ahead."""

Use = Literal["scalar", "in", "exists", "keys", "rows", "range", "lookup", "places"]

_ROWS_MAX: Final[Mapping[Use, int]] = {
    "in": LIST_MAX,
    "keys": KEYS_MAX,
    "rows": ROWS_MAX,
    "lookup": LIST_MAX,
    "places": PLACES_MAX,
}
_KINDS: Final[Mapping[Use, str]] = {
    "keys": "keys",
    "lookup": "keys",
    "rows": "rows",
    "range": "range",
    "places": "places",
}


@dataclass(frozen=True, slots=True)
class Early:
    """A subquery to run first: what it is for, and its plan."""

    name: str
    use: Use
    plan: Node

    @property
    def rows_max(self) -> int | None:
        return _ROWS_MAX.get(self.use)


@dataclass(slots=True)
class Firsts:
    """The subqueries found, and the values of those that have run.

    `names` go with the columns that the subqueries give: the same each time a statement is planned.
    """

    bound: Mapping[str, Bound] = field(default_factory=dict)
    names: dict[ColumnId, str] = field(default_factory=dict)
    found: list[Early] = field(default_factory=list)

    def add(self, use: Use, plan: Node) -> Early:
        """A subquery that is to run first, or has."""
        kind = _KINDS.get(use, "subquery")
        name = self.names.setdefault(plan.outputs[0].id, f"{kind}_{len(self.names) + 1}")
        self.found.append(Early(name, use, plan))
        return self.found[-1]
