"""What an agreement is asked with, and what it answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from zlib import crc32

from sqlglot import exp

from shardwise.plan.nodes import ColumnId, Node, Output

BOUND: Final = "shardwise.canonical"
"""Marks (in `meta`) a parameter that is bound to this value, and not to what the user gave."""
SENT: Final = "shardwise.sent"
"""Marks (in `meta`) one that is bound to rows as JSON: its `SentRows`."""
ASCII: Final = "shardwise.ascii"
"""Marks one that is bound to the value of the parameter of this name if that is ASCII, else to NULL."""
ENCODED: Final = "#"
"""What the name of a column begins with that holds numbers as text: `#n` is n, `#h:l` is h · 2³² + l."""


@dataclass(frozen=True, slots=True)
class Known:
    """The declared types of the statement's columns, and the values of its parameters by name.

    Of a value in `values` only its kind (`plan.kinds`) may be looked at; `exact` gives one that the plan will
    then rest on. A parameter without a value stands for one that is not known yet: of a subquery that runs
    first.
    """

    types: Mapping[ColumnId, Output]
    values: Mapping[str, Any] = field(default_factory=dict)
    look: Callable[[str], Any] | None = None

    def exact(self, name: str) -> Any:
        """A value that the plan is made for."""
        return self.values.get(name) if self.look is None else self.look(name)

    def name_for(self, name: str, bound: object) -> str:
        """The name under which another value than the given one is bound for a parameter."""
        found = f"{name}_{crc32(repr(bound).encode()):08x}"
        while found in self.values:
            found += "_"
        return found


@dataclass(frozen=True, slots=True)
class Agreed:
    """The tree in the source's own expressions, with the columns of the tree asked for, in order.

    `encoded` says of each column whether it arrives as text that the fragment makes (`#…`).
    """

    node: Node
    encoded: tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class Disagreement:
    """`what` is not, or not certainly, computed alike: an expression, or a node that is nothing there."""

    what: exp.Expr | Node
    why: str
