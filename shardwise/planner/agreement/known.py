"""What an agreement is asked with, and what it answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlglot import exp

from shardwise.plan.nodes import ColumnId, Node, Output


@dataclass(frozen=True, slots=True)
class Known:
    """The declared types of the statement's columns, and the values of its parameters by name.

    A parameter without a value stands for one that is not known yet: of a subquery that runs first.
    """

    types: Mapping[ColumnId, Output]
    values: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Agreed:
    """The tree in the source's own expressions, with the columns of the tree asked for, in order."""

    node: Node


@dataclass(frozen=True, slots=True)
class Disagreement:
    """`what` is not, or not certainly, computed alike: an expression, or a node that is nothing there."""

    what: exp.Expr | Node
    why: str
