"""A side whose rows come ahead of the rest: they run first, and stand in the statement as Rows.

They are moved once; what they are then used for is decided when their number is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlglot import exp

from shardwise.plan.nodes import ColumnId, Item, Local, Node, Output, Project, Rows, Scan
from shardwise.plan.run import Bound
from shardwise.plan.tree import column, walk
from shardwise.planner.firsts import ROWS_MAX
from shardwise.planner.origins import origin
from shardwise.planner.pass_context import PlanContext
from shardwise.planner.strategies.keys import at_most


def name_of_rows(side: Node, columns: tuple[Output, ...]) -> str:
    """What a side's rows are known by, in each planning of a statement: by what they are read from."""
    read = ", ".join(n.rel for n in walk(side) if isinstance(n, Scan | Local))
    return f"rows of {read}: " + ", ".join(".".join(o.id) for o in columns)


def came(side: Node, columns: tuple[Output, ...], ctx: PlanContext) -> Bound | None:
    """The side's rows, if they ran first already; `rows` None: there were too many."""
    name = ctx.firsts.names.get(ColumnId(name_of_rows(side, columns), "c1"))
    return None if name is None else ctx.firsts.bound.get(name)


def collations(side: Node, columns: tuple[Output, ...]) -> tuple[str | None, ...]:
    """What the catalog says of the tables' columns that these are as they are; None of what is computed."""
    found = (origin(side, output.id) for output in columns)
    declared = (None if each is None else each.column for each in found)
    return tuple(None if column is None else column.collation for column in declared)


def ahead(side: Node, columns: tuple[Output, ...], ctx: PlanContext) -> Rows:
    """The side's rows, which run first; with their values where they have."""
    rel = name_of_rows(side, columns)
    items = tuple(Item(f"c{i}", column(o.id)) for i, o in enumerate(columns, 1))
    early = ctx.firsts.add("rows", at_most(Project(input=side, rel=rel, items=items), ROWS_MAX))
    bound = ctx.firsts.bound.get(early.name)
    if bound is None or bound.rows is None:
        return Rows(name=early.name, columns=columns)

    def bind(suffix: str, values: Sequence[Any]) -> exp.Expr:
        return ctx.parameters.bind_list(f"{early.name}_{suffix}", values, early.name)

    query = ctx.early.as_rows(bound, collations(side, columns), bind)
    return Rows(name=early.name, columns=columns, query=query, count=len(bound.rows))
