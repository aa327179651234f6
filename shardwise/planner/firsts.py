"""Subqueries that run before the rest of their statement, and what they gave."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from shardwise.plan.nodes import Node
from shardwise.plan.run import Bound

KEYS_MAX = 1000
"""With more rows than this an IN subquery is not sent as a list."""

Use = Literal["scalar", "in", "exists"]


@dataclass(frozen=True, slots=True)
class Early:
    """A subquery to run first: what it is for, and its plan."""

    name: str
    use: Use
    plan: Node

    @property
    def rows_max(self) -> int | None:
        return KEYS_MAX if self.use == "in" else None


@dataclass(slots=True)
class Firsts:
    """The subqueries found, and the values of those that have run."""

    bound: Mapping[str, Bound] = field(default_factory=dict)
    found: list[Early] = field(default_factory=list)
