"""What a plan rests on besides its statement's text: what planning saw of values, and what came of it.

A plan made for some values is right for others if they would have been seen alike. Planning sees a value in
two ways only: exactly (`Parameters.exact`), or as the slots that predicates leave of a scan (`Pruning`).
Everything else of a plan holds whatever the values are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from sqlglot import exp

    from shardwise.catalog.shardings import SlotSet
    from shardwise.plan.nodes import Scan

Values = Mapping[str, Any]
"""What is bound, by the name it has in the plan."""


class Pruning(NamedTuple):
    """The slots that predicates left of a scan, as it was before; the predicates have parameters."""

    scan: Scan
    conjuncts: tuple[exp.Expr, ...]
    slots: SlotSet


class Origin(NamedTuple):
    """Where a bound value comes from: a position or a name of those given, or a member of the list there."""

    key: int | str
    member: int | None = None


@dataclass(slots=True)
class Observed:
    """Of one statement's planning, all parts together. `constants` are values of the context's `shape`.

    `is_bound_to_context`: a constant of the plan is the moment, the user or the like. `is_bound_to_rows`: so
    are rows that ran first.
    """

    exact: dict[str, Any] = field(default_factory=dict)
    prunings: list[Pruning] = field(default_factory=list)
    origins: dict[str, Origin] = field(default_factory=dict)
    constants: dict[str, Any] = field(default_factory=dict)
    is_bound_to_context: bool = False
    is_bound_to_rows: bool = False
