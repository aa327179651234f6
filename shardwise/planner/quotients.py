"""Quotients that have more digits than their type says, as MySQL's have.

    avg(g)        is DECIMAL(14,4), shows 1.3590, and is 1.358974359 to whatever computes on with it:
    avg(g) / 3    is 0.45299145

It is cut to what it shows where it leaves a statement, or is stored in a table of the server's own. So what
computes on with it has to be in the same statement, as it is with one database. Quotients of DOUBLEs are
DOUBLEs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

from sqlglot import exp

from shardwise.catalog.types import Family, type_family
from shardwise.plan.nodes import (
    Aggregate,
    ColumnId,
    Cte,
    Distinct,
    Fence,
    Filter,
    Gather,
    Item,
    Join,
    Keep,
    Limit,
    Node,
    Output,
    Project,
    SetOp,
    Sort,
    Window,
)
from shardwise.plan.tree import bare, column_id, plans_in, walk

Use = Literal["shown", "derived", "computed"]
"""What the node above does with a column.

Shown: it goes into the answer, or is sorted, grouped or deduplicated by; all of it by the digits shown.
Derived: it is a derived table's, which a server stores or computes on as it goes.
Computed: it is the value of a subquery, or an arm's of a set operation whose type has digits of its own.
"""
_STORED = (Aggregate, Distinct, Limit, SetOp, Window)
"""Whose rows a server stores before anything else is done with them."""
_KEEPS = (exp.Neg, exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Sum, exp.Avg, exp.Min, exp.Max)


def has_quotient(expr: exp.Expr, types: Mapping[ColumnId, Output]) -> bool:
    """Whether it computes a quotient of exact numbers, an average among them."""
    return any(not _is_double(part, types) for part in expr.find_all(exp.Div, exp.Avg))


def gives_quotients(plan: Node, types: Mapping[ColumnId, Output]) -> bool:
    """Whether a column of the plan's may be one."""
    for node in walk(plan):
        items = node.items if isinstance(node, Project | Window) else ()
        items = (*node.calls, *node.keys) if isinstance(node, Aggregate) else items
        if any(has_quotient(item.expr, types) for item in items):
            return True
    return False


def use_of_input(node: Node, use: Use) -> Use:
    """What a node does with the columns of its inputs, if this is done with its own."""
    if isinstance(node, Sort | Limit | Distinct | Keep | Fence):
        return use
    return "derived" if isinstance(node, Project | Filter | Join | Aggregate | Window | Cte) else "computed"


def loses_digits(plan: Node, use: Use, types: Mapping[ColumnId, Output]) -> bool:
    """Whether a column would come to its use with fewer digits, if the plan were a statement of its own."""
    if use == "shown":
        return False
    return gives_quotients(plan, types) if use == "computed" else _shows_more(plan, types)


def is_stored(plan: Node) -> bool:
    """Whether one server, too, stores a derived table with this below its select list."""
    while isinstance(plan, Filter | Sort | Keep | Fence):
        (plan,) = plan.inputs
    return isinstance(plan, _STORED)


def _shows_more(plan: Node, types: Mapping[ColumnId, Output]) -> bool:
    """Whether a derived table's column has more digits than its type. (Of an Aggregate, its own block's.)"""
    if isinstance(plan, Project):
        if is_stored(plan.input):
            return False
        return _computes_quotient(plan.items, types) or _shows_more(plan.input, types)
    if isinstance(plan, Aggregate):
        return _computes_quotient(plan.calls, types)
    if isinstance(plan, Window):
        return _computes_quotient(plan.items, types) or _shows_more(plan.input, types)
    if isinstance(plan, Distinct | Limit | SetOp | Gather):
        return False
    return any(_shows_more(below, types) for below in plan.inputs)


def _computes_quotient(items: Iterable[Item], types: Mapping[ColumnId, Output]) -> bool:
    return any(
        has_quotient(item.expr, types) or any(gives_quotients(plan, types) for plan in plans_in(item.expr))
        for item in items
    )


def _is_double(expr: exp.Expr, types: Mapping[ColumnId, Output]) -> bool:
    expr = bare(expr)
    if isinstance(expr, exp.Column):
        id_ = column_id(expr)
        output = types.get(id_) if id_ is not None else None
        return output is not None and type_family(output.type or "", "mysql") is Family.FLOAT
    if isinstance(expr, exp.Literal):
        return not expr.is_string and "e" in expr.name.lower()
    return isinstance(expr, _KEEPS) and any(_is_double(part, types) for part in expr.iter_expressions())
