"""What a plan rests on besides its statement's text: what planning saw of values, and what came of it.

A plan made for some values is right for others if they would have been seen alike. Planning sees a value in
three ways only: exactly (`Parameters.exact`), as the slots that predicates leave of a scan (`Pruning`), or as
the members of an open family that they name (`Naming`).
Everything else of a plan holds whatever the values are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from sqlglot import exp

    from shardwise.catalog.model import Column, Sharding
    from shardwise.catalog.shardings import SlotSet
    from shardwise.plan.nodes import Scan

Values = Mapping[str, Any]
"""What is bound, by the name it has in the plan."""


class Pruning(NamedTuple):
    """The slots that predicates left of a scan, as it was before; the predicates have parameters."""

    scan: Scan
    conjuncts: tuple[exp.Expr, ...]
    slots: SlotSet


class Naming(NamedTuple):
    """The predicates that reached a scan and say which members of an open family it is about."""

    sharding: Sharding
    scan: Scan
    conjuncts: tuple[exp.Expr, ...]


class Scoped(NamedTuple):
    """Where a value of the connection's scope comes from: a value of a key, as one of the column."""

    key: int
    value: int
    column: Column
    table: str


class Origin(NamedTuple):
    """Where a bound value comes from: a position or a name of those given, or a member of the list there."""

    key: int | str
    member: int | None = None


@dataclass(slots=True)
class Observed:
    """Of one statement's planning, all parts together. `members` are those that the `namings` came to, by
    sharding; `scoped` says of bound values of the scope where in it they stand.

    `is_bound_to_scope`: the scope's values were looked at otherwise, too. `is_bound_to_context`: a constant
    of the plan is the moment, the user or the like. `is_bound_to_rows`: so are rows that ran first.
    """

    exact: dict[str, Any] = field(default_factory=dict)
    prunings: list[Pruning] = field(default_factory=list)
    origins: dict[str, Origin] = field(default_factory=dict)
    namings: list[Naming] = field(default_factory=list)
    members: dict[str, frozenset[str]] = field(default_factory=dict)
    scoped: dict[str, list[Scoped]] = field(default_factory=dict)
    is_bound_to_scope: bool = False
    is_bound_to_context: bool = False
    is_bound_to_rows: bool = False
