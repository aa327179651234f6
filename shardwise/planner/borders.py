"""What a value of MySQL's loses when it leaves a statement, and where that matters.

    SELECT avg(g) / 7 …       digits: it has more than its type, and than it shows (`quotients`)
    SELECT NULL …             that it has no type: UNION ALL with whole numbers makes whole numbers of it
    SELECT 'x' …              that its collation gives way to any column's

It matters to whatever computes on the value. The answer shows it as it is, and sorting, grouping and DISTINCT
go by what is shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Literal, NamedTuple

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
from shardwise.plan.tree import (
    bare,
    column_id,
    columns_in,
    columns_read,
    plan_of,
    plans_in,
)
from shardwise.planner.quotients import computes_on_more, gives_quotients


class Use(NamedTuple):
    """What the merge does with a node's columns.

    `of` what they are: shown, in the answer; a derived table's, which a server stores or computes on as it
    goes; or computed with, as the value of a subquery is, or an arm's of a set operation, whose type has
    digits of its own. `computed` are those that an expression reads, `beside` those of them that it reads
    beside a column of text, whose collation is the expression's if theirs gives way.
    """

    of: Literal["answer", "derived", "value"]
    computed: frozenset[ColumnId] = frozenset()
    beside: frozenset[ColumnId] = frozenset()


ANSWER = Use("answer")
_Types = Mapping[ColumnId, Output]
_ARITHMETIC = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Mod, exp.Neg, exp.Abs, exp.Round)
_BITS = (exp.BitwiseAnd, exp.BitwiseOr, exp.BitwiseXor, exp.BitwiseNot)
_SHIFTS = (exp.BitwiseLeftShift, exp.BitwiseRightShift)
_TRUTHS = (exp.Predicate, exp.Connector, exp.Not, exp.Boolean)
_COUNTS = (exp.Count, exp.Sum, exp.Avg, exp.Length, exp.RowNumber, exp.Rank, exp.DenseRank, exp.Ntile)
_NUMBERS = (*_ARITHMETIC, *_BITS, *_SHIFTS, *_TRUTHS, *_COUNTS, exp.Floor, exp.Ceil)
"""What is a number whatever it is given."""
_CHOICES = (exp.Case, exp.If, exp.Coalesce, exp.Nullif, exp.Greatest, exp.Least, exp.Min, exp.Max)
_CALLED = frozenset(("if", "ifnull", "coalesce", "nullif", "greatest", "least"))
"""The same, as the dialect has them: functions by their names."""


def use_of_value(plan: Node) -> Use:
    """That of a subquery's columns."""
    return Use("value", plan.output_ids, plan.output_ids)


def use_of_input(node: Node, use: Use, types: _Types) -> Use:
    """What becomes of the columns of a node's inputs, if this becomes of its own."""
    if isinstance(node, Sort | Limit | Distinct | Keep | Fence):
        return use
    if isinstance(node, SetOp):
        return Use("value", _met(node, use.computed, types), _met(node, use.beside, types))
    if isinstance(node, Filter | Join | Window):
        return Use("derived", use.computed | columns_read(node), use.beside | _beside_texts(node, types))
    if isinstance(node, Project | Aggregate):
        beside = _passed(node, use.beside) | _beside_texts(node, types)
        return Use("derived", _read(node, use.computed), beside)
    everything = frozenset[ColumnId]().union(*(below.output_ids for below in node.inputs))
    return Use("derived" if isinstance(node, Cte) else "value", everything, everything)


def loses(plan: Node, use: Use, types: _Types) -> bool:
    """Whether a column would come otherwise to its use, if the plan were a statement of its own."""
    if plan.output_ids & use.computed & _weak(plan, types):
        return True
    if use.of == "value":
        return gives_quotients(plan, types)
    return use.of == "derived" and computes_on_more(plan, types)


def gives_way(plan: Node, use: Use, types: _Types) -> bool:
    """Whether a column whose collation gives way, or that has no type, is read beside a text."""
    return bool(plan.output_ids & use.beside & _weak(plan, types))


def comes_of_no_column(expr: exp.Expr) -> bool:
    """Whether a choice is one of constants: NULL has no type, whatever it is chosen by."""
    expr = bare(expr)
    if _is_choice(expr):
        return all(comes_of_no_column(value) for value in _values(expr))
    return expr.find(exp.Column) is None


def _items(node: Project | Aggregate) -> Sequence[Item]:
    return node.items if isinstance(node, Project) else (*node.keys, *node.calls)


def _read(node: Project | Aggregate, computed: Set[ColumnId]) -> frozenset[ColumnId]:
    """What its expressions compute with: not what they only pass on."""
    computing = (item.expr for item in _items(node) if column_id(item.expr) is None)
    return _passed(node, computed).union(*map(columns_in, computing))


def _passed(node: Project | Aggregate, of: Set[ColumnId]) -> frozenset[ColumnId]:
    """What some of its columns are made of."""
    made = (item.expr for item in _items(node) if ColumnId(node.rel, item.name) in of)
    return frozenset[ColumnId]().union(*map(columns_in, made))


def _beside_texts(node: Node, types: _Types) -> frozenset[ColumnId]:
    """What an expression reads that reads a text with a collation, or a subquery, too."""
    weak = frozenset[ColumnId]().union(*(_weak(below, types) for below in node.inputs))
    mixed = (
        expr
        for expr in node.expressions
        if any(plans_in(expr)) or any(_is_text(column, weak, types) for column in expr.find_all(exp.Column))
    )
    return frozenset[ColumnId]().union(*map(columns_in, mixed))


def _met(node: SetOp, computed: Set[ColumnId], types: _Types) -> frozenset[ColumnId]:
    """The arms' columns that meet one with a type and collation, or are computed with."""
    weak = [_weak(arm, types) for arm in node.arms]
    found: set[ColumnId] = set()
    for at, output in enumerate(node.outputs):
        column = [arm.outputs[at].id for arm in node.arms]
        if output.id in computed or not all(c in w for c, w in zip(column, weak, strict=True)):
            found.update(column)
    return frozenset(found)


def _weak(plan: Node, types: _Types) -> frozenset[ColumnId]:
    """The columns without a type, or with a collation that gives way."""
    if isinstance(plan, SetOp):
        weak_of = [_weak(arm, types) for arm in plan.arms]
        columns = zip(plan.outputs, *(arm.outputs for arm in plan.arms), strict=True)
        return frozenset(
            whole.id for whole, *each in columns if all(o.id in w for o, w in zip(each, weak_of, strict=True))
        )
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
    if _is_choice(expr):
        values = [_is_weak(value, weak, types) for value in _values(expr) if not isinstance(value, exp.Null)]
        return any(values) or not values
    return True


def _is_choice(expr: exp.Expr) -> bool:
    return isinstance(expr, _CHOICES) or (isinstance(expr, exp.Anonymous) and expr.name.lower() in _CALLED)


def _values(expr: exp.Expr) -> list[exp.Expr]:
    """What a choice may come to."""
    if isinstance(expr, exp.Anonymous):
        given: list[exp.Expr] = expr.expressions
        return {"if": given[1:], "nullif": given[:1]}.get(expr.name.lower(), given)
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
