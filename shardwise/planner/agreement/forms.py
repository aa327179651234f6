"""How the columns of a tree are read, and what an expression that is not agreed on raises."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp

from shardwise.plan.nodes import ColumnId, Node
from shardwise.planner.agreement.types import Type


@dataclass(frozen=True, slots=True)
class Raw:
    """A column as the source holds it, by its logical names.

    `stored` says how it is held where that is not as its type: of a date or time that is a number what text
    it is read as, and what it counts ("DATE EPOCH SECONDS"); of text that is padded "CHAR". `nullable`: it
    may hold NULL.
    """

    table: str
    column: str
    stored: str | None = None
    nullable: bool = True


@dataclass(frozen=True, slots=True)
class Form:
    """How a column of a tree is read, under `id`.

    `type` is None if it is not computed with, `raw` if it is canonical. `is_encoded`: it is text as a
    fragment gives it (`#…`).
    """

    id: ColumnId
    type: Type | None
    raw: Raw | None = None
    is_encoded: bool = False


Forms = Mapping[ColumnId, Form]


@dataclass(frozen=True, slots=True)
class Done:
    """A tree for the source; `forms` are those of the columns that the tree asked for gives, in order."""

    node: Node
    forms: dict[ColumnId, Form]


class NotAgreed(Exception):
    """`what` is not computed alike, or not certainly; `why` goes on from the product's name."""

    def __init__(self, what: exp.Expr | Node, why: str = "is not known to compute it as DuckDB does") -> None:
        super().__init__(why)
        self.what = what
        self.why = why
