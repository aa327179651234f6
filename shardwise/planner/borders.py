"""What a value of MySQL's loses when it leaves a statement, and where that matters.

    SELECT avg(g) / 7 …       digits: it has more than its type, and than it shows (`quotients`)
    SELECT NULL …             that it has no type: UNION ALL with whole numbers makes whole numbers of it
    SELECT 'x' …              that its collation gives way to any column's

It matters to whatever computes on the value. The answer shows it as it is, and sorting, grouping and DISTINCT
go by what is shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
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
from shardwise.plan.tree import bare, column_id, plan_of
from shardwise.planner.quotients import computes_on_more, gives_quotients

Use = Literal["shown", "derived", "computed"]
"""What the node above does with a column.

Shown: it goes into the answer, or is sorted, grouped or deduplicated by. Derived: it is a derived table's,
which a server stores or computes on as it goes. Computed: it is the value of a subquery, or of an arm of a
set operation, whose type has digits of its own.
"""
_Types = Mapping[ColumnId, Output]
_NUMBERS = (
    *(
        exp.Add,
        exp.Sub,
        exp.Mul,
        exp.Div,
        exp.IntDiv,
        exp.Mod,
        exp.Neg,
        exp.Abs,
        exp.Round,
        exp.Floor,
        exp.Ceil,
    ),
    *(exp.BitwiseAnd, exp.BitwiseOr, exp.BitwiseXor, exp.BitwiseNot, exp.BitwiseLeftShift),
    *(exp.BitwiseRightShift, exp.Predicate, exp.Connector, exp.Not, exp.Boolean, exp.Length),
    *(exp.Count, exp.Sum, exp.Avg, exp.RowNumber, exp.Rank, exp.DenseRank, exp.Ntile),
)
"""What is a number whatever it is given."""
_CHOICES = (exp.Case, exp.If, exp.Coalesce, exp.Nullif, exp.Greatest, exp.Least, exp.Min, exp.Max)


def use_of_input(node: Node, use: Use) -> Use:
    """What a node does with the columns of its inputs, if this is done with its own."""
    if isinstance(node, Sort | Limit | Distinct | Keep | Fence):
        return use
    return "derived" if isinstance(node, Project | Filter | Join | Aggregate | Window | Cte) else "computed"


def loses(plan: Node, use: Use, types: _Types) -> bool:
    """Whether a column would come otherwise to its use, if the plan were a statement of its own."""
    if use == "shown":
        return False
    if _weak(plan, types) & plan.output_ids:
        return True
    return gives_quotients(plan, types) if use == "computed" else computes_on_more(plan, types)


def _weak(plan: Node, types: _Types) -> frozenset[ColumnId]:
    """The columns without a type, or with a collation that gives way."""
    if isinstance(plan, SetOp):
        arms = [[o.id in _weak(arm, types) for o in arm.outputs] for arm in plan.arms]
        return frozenset(o.id for o, *weak in zip(plan.outputs, *arms, strict=True) if all(weak))
    below = frozenset[ColumnId]().union(*(_weak(node, types) for node in plan.inputs))
    if isinstance(plan, Project):
        return _of_items(plan.rel, plan.items, below, types)
    if isinstance(plan, Aggregate):
        return _of_items(plan.rel, (*plan.keys, *plan.calls), below, types)
    if isinstance(plan, Window):
        return below | _of_items(plan.rel, plan.items, below, types)
    return below


def _of_items(rel: str, items: Sequence[Item], weak: Set[ColumnId], types: _Types) -> frozenset[ColumnId]:
    return frozenset(ColumnId(rel, item.name) for item in items if _is_weak(item.expr, weak, types))


def _is_weak(expr: exp.Expr, weak: Set[ColumnId], types: _Types) -> bool:
    expr = bare(expr)
    if isinstance(expr, exp.Column):
        return column_id(expr) in weak
    if isinstance(expr, exp.Literal):
        return expr.is_string
    if isinstance(expr, exp.Cast | exp.Null):
        return isinstance(expr, exp.Null)
    if isinstance(expr, exp.Window):
        return _is_weak(expr.this, weak, types)
    plan = plan_of(expr)
    if plan is not None:
        return bool(_weak(plan, types) & plan.output_ids)
    if isinstance(expr, _NUMBERS):
        return False
    if any(_is_text(column, weak, types) for column in expr.find_all(exp.Column)):
        return False
    if isinstance(expr, _CHOICES):
        values = [_is_weak(value, weak, types) for value in _values(expr) if not isinstance(value, exp.Null)]
        return any(values) or not values
    return True


def _values(expr: exp.Expr) -> list[exp.Expr]:
    """What a choice may come to."""
    if isinstance(expr, exp.Case):
        found = [branch.args["true"] for branch in expr.args["ifs"]]
        return [*found, expr.args["default"]] if expr.args.get("default") is not None else found
    if isinstance(expr, exp.If):
        return [e for e in (expr.args["true"], expr.args.get("false")) if e is not None]
    if isinstance(expr, exp.Nullif):
        return [expr.this]
    return [expr.this, *expr.expressions]


def _is_text(column: exp.Column, weak: Set[ColumnId], types: _Types) -> bool:
    id = column_id(column)
    output = types.get(id) if id is not None else None
    kind = type_family(output.type or "", "mysql") if output is not None else None
    return kind in (Family.TEXT, Family.ENUM) and id not in weak
