"""What binding a query gives."""

from __future__ import annotations

from dataclasses import dataclass

from shardwise.plan.nodes import ColumnId, Node
from shardwise.planner.bind.unmodelled import Unmodelled


@dataclass(frozen=True, slots=True)
class BoundQuery:
    """A bound query: its plan, and for each column the name the user knows and the identity."""

    node: Node
    names: tuple[str, ...]

    @property
    def ids(self) -> tuple[ColumnId, ...]:
        return tuple(o.id for o in self.node.outputs)

    def renamed(self, names: list[str]) -> BoundQuery:
        """The first columns under other names, as in `t(a, b)`."""
        if len(names) > len(self.names):
            raise Unmodelled("more column aliases than columns")
        return BoundQuery(self.node, (*names, *self.names[len(names) :]))
