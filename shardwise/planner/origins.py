"""Which table's column a node's column is, where it is one as it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from sqlglot import exp

from shardwise.catalog.model import Column
from shardwise.catalog.types import Family, read_type
from shardwise.plan.nodes import Aggregate, ColumnId, Node, Project, Scan
from shardwise.plan.tree import bare, column, column_id, columns_in


class Origin(NamedTuple):
    """A scan's column."""

    scan: Scan
    name: str

    @property
    def column(self) -> Column | None:
        """As the catalog declares it; None where it does not, or it is no column of the tables themselves."""
        declared = self.scan.table.columns or ()
        return next((c for c in declared if c.name == self.name and not c.virtual), None)

    @property
    def is_of_members(self) -> bool:
        """Whether it is declared as an ENUM or SET of MySQL's."""
        type_ = None if self.column is None else read_type(self.column.type, "mysql")
        return type_ is not None and type_.family is Family.ENUM


def origin(node: Node, id: ColumnId) -> Origin | None:
    """Where the column comes from; None where it is computed, or of a set operation."""
    if isinstance(node, Scan):
        return Origin(node, id.name)
    return _below(node, _made_of(node, id), origin)


def origin_of_extreme(node: Node, id: ColumnId) -> Origin | None:
    """Of which table's column it is the MIN or MAX of groups, by however many steps; None where it is not."""
    made = _made_of(node, id)
    if isinstance(node, Aggregate) and isinstance(made, exp.Min | exp.Max):
        inner = bare(made.this)
        return _below(node, inner, origin) or _below(node, inner, origin_of_extreme)
    return _below(node, made, origin_of_extreme)


def all_origins(node: Node, expr: exp.Expr) -> Iterator[Origin]:
    """The tables' columns that an expression over a node's columns is computed of, by however many steps."""
    for id in columns_in(expr) & node.output_ids:
        if isinstance(node, Scan):
            yield Origin(node, id.name)
        made = _made_of(node, id)
        for below in node.inputs:
            if made is not None:
                yield from all_origins(below, made)


def _made_of(node: Node, id: ColumnId) -> exp.Expr | None:
    """What a node makes its column of: the column itself, where it only passes."""
    if not isinstance(node, Project | Aggregate) or node.rel != id.rel:
        return column(id)
    items = node.items if isinstance(node, Project) else node.keys + node.calls
    return next((bare(item.expr) for item in items if item.name == id.name), None)


def _below(node: Node, expr: exp.Expr | None, of: Callable[[Node, ColumnId], Origin | None]) -> Origin | None:
    """`of` the input that gives a column; None of what is no column."""
    id = None if expr is None else column_id(expr)
    below = next((each for each in node.inputs if id in each.output_ids), None)
    return None if id is None or below is None else of(below, id)
