"""A SELECT block while it is bound."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sqlglot import exp

from shardwise.plan.nodes import ColumnId, Node
from shardwise.planner.bind.scope import Scope

if TYPE_CHECKING:
    from shardwise.planner.bind.query import Binder


@dataclass
class SelectItem:
    """One output: the user's name for it, and the bound expression before aggregates are lifted out."""

    name: str
    expr: exp.Expr
    is_alias: bool = False


@dataclass
class Block:
    """A SELECT block while it is bound."""

    binder: Binder
    ast: exp.Select
    scope: Scope
    node: Node
    items: list[SelectItem] = field(default_factory=list)
    own: frozenset[ColumnId] = frozenset()
