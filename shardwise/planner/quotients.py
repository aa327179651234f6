"""Quotients that have more digits than their type says, as MySQL's have.

    avg(g)        is DECIMAL(14,4), shows 1.3590, and is 1.358974359 to whatever computes on with it:
    avg(g) / 3    is 0.45299145

It is cut to what it shows where it leaves a statement, or is stored in a table of the server's own. So what
computes on with it has to be in the same statement, as it is with one database. Quotients of DOUBLEs are
DOUBLEs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sqlglot import exp

from shardwise.catalog.types import Family, type_family
from shardwise.plan.nodes import (
    Aggregate,
    ColumnId,
    Distinct,
    Fence,
    Filter,
    Gather,
    Item,
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


def is_stored(plan: Node) -> bool:
    """Whether one server, too, stores a derived table with this below its select list."""
    while isinstance(plan, Filter | Sort | Keep | Fence):
        (plan,) = plan.inputs
    return isinstance(plan, _STORED)


def computes_on_more(plan: Node, types: Mapping[ColumnId, Output]) -> bool:
    """Whether a derived table gives what reads it a quotient with all its digits.

    It does unless a server stores it. (An Aggregate without a select list is of the block that reads it.)
    """
    if isinstance(plan, Project):
        if is_stored(plan.input):
            return False
        return _computes_quotient(plan.items, types) or computes_on_more(plan.input, types)
    if isinstance(plan, Aggregate):
        return _computes_quotient(plan.calls, types)
    if isinstance(plan, Window):
        return _computes_quotient(plan.items, types) or computes_on_more(plan.input, types)
    if isinstance(plan, Distinct | Limit | SetOp | Gather):
        return False
    return any(computes_on_more(below, types) for below in plan.inputs)


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
