"""Walking and rewriting plans: nodes, the expressions in them, and the plans in those.

Everything here returns the very same object where nothing changed, so that "did it fire?"
is `after is not before`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from sqlglot import exp

from shardwise.plan.holes import Written, index_of
from shardwise.plan.nodes import ColumnId, CteRef, Item, Node, SortKey, fields_of

N = TypeVar("N", bound=Node)
Rewrite = Callable[[Node], Node]
ExprRewrite = Callable[[exp.Expr], exp.Expr]


def column(id: ColumnId) -> exp.Column:
    """The expression that reads a column."""
    return exp.Column(
        this=exp.Identifier(this=id.name, quoted=True), table=exp.Identifier(this=id.rel, quoted=True)
    )


def column_id(expr: exp.Expr) -> ColumnId | None:
    """The identity, if `expr` is a column and nothing else."""
    return ColumnId(expr.table, expr.name) if type(expr) is exp.Column else None


def subplan(node: Node) -> exp.Subquery:
    """A plan as an expression: a scalar subquery, or what IN, EXISTS, ANY and ALL read."""
    return exp.Subquery(plan=node)


def plan_of(expr: exp.Expr) -> Node | None:
    """The plan, if `expr` is one."""
    return expr.args.get("plan") if type(expr) is exp.Subquery else None


def plans_in(expr: exp.Expr) -> Iterator[Node]:
    """The plans of the subqueries in an expression, not those inside these plans."""
    for subquery in expr.find_all(exp.Subquery):
        plan = subquery.args.get("plan")
        if plan is not None:
            yield plan


def subplans(node: Node) -> tuple[Node, ...]:
    """The plans of the subqueries in this node's own expressions."""
    return node.subplans


def walk(node: Node) -> Iterator[Node]:
    """The node, then everything below it, subqueries' plans too."""
    waiting = [node]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(reversed((*node.inputs, *node.subplans)))


def columns_in(expr: exp.Expr) -> frozenset[ColumnId]:
    """The columns an expression reads, those that its subqueries take from outside included."""
    found: set[ColumnId] = set()
    for part in expr.find_all(exp.Column, exp.Subquery):
        if type(part) is exp.Column:
            found.add(ColumnId(part.table, part.name))
        elif (plan := part.args.get("plan")) is not None:
            found |= free_columns(plan)
    return frozenset(found)


def columns_read(node: Node) -> frozenset[ColumnId]:
    """The columns that the node's own expressions read."""
    known: frozenset[ColumnId] | None = node.__dict__.get("columns_read")
    if known is None:
        known = frozenset[ColumnId]().union(*map(columns_in, node.expressions))
        node.__dict__["columns_read"] = known
    return known


def free_columns(node: Node) -> frozenset[ColumnId]:
    """The columns that the tree mentions and no node in it makes: what makes a subquery correlated."""
    cached: frozenset[ColumnId] | None = node.__dict__.get("_free")
    if cached is not None:
        return cached
    free = columns_read(node).union(*map(free_columns, node.inputs))
    if free:
        # A lateral join's right side, and a table function's arguments, read the left side's columns.
        free = free.difference(*(below.output_ids for below in node.inputs), node.output_ids)
    node.__dict__["_free"] = free
    return free


def map_expressions(node: N, change: ExprRewrite) -> N:
    """The node with `change` applied to each of its own expressions (not to its inputs')."""
    if not node.expressions:
        return node
    changes = {}
    for name in fields_of(type(node)).expressions:
        before = getattr(node, name)
        after = _map_value(before, change)
        if after is not before:
            changes[name] = after
    return node.but(**changes) if changes else node


def _map_value(value: object, change: ExprRewrite) -> object:
    if isinstance(value, exp.Expr):
        return change(value)
    if isinstance(value, Item):
        expr = change(value.expr)
        return value if expr is value.expr else value._replace(expr=expr)
    if isinstance(value, SortKey):
        expr = change(value.expr)
        return value if expr is value.expr else value._replace(expr=expr)
    if type(value) is tuple and value and not isinstance(value[0], Node):
        items = tuple(_map_value(item, change) for item in value)
        return items if any(a is not b for a, b in zip(items, value, strict=True)) else value
    return value


def map_inputs(node: N, change: Rewrite) -> N:
    """The node with `change` applied to each input."""
    changes: dict[str, Node | tuple[Node, ...]] = {}
    for name in fields_of(type(node)).nodes:
        before: Node | tuple[Node, ...] = getattr(node, name)
        if isinstance(before, Node):
            after = change(before)
            if after is not before:
                changes[name] = after
        else:
            items = tuple(change(item) for item in before)
            if any(a is not b for a, b in zip(items, before, strict=True)):
                changes[name] = items
    return node.over(**changes) if changes else node


def map_plans(expr: exp.Expr, change: Rewrite) -> exp.Expr:
    """The expression with `change` applied to each subquery's plan."""
    if expr.find(exp.Subquery) is None:
        return expr
    changed = False

    def swap(part: exp.Expr) -> exp.Expr:
        nonlocal changed
        plan = plan_of(part)
        if plan is None:
            return part
        after = change(plan)
        if after is plan:
            return part
        changed = True
        return subplan(after)

    after = expr.transform(swap)
    return after if changed else expr


def rewrite(node: Node, change: Rewrite, *, into_subqueries: bool = True) -> Node:
    """Bottom-up: inputs (and subqueries' plans) first, then the node itself."""

    def below(inner: Node) -> Node:
        return rewrite(inner, change, into_subqueries=into_subqueries)

    node = map_inputs(node, below)
    if into_subqueries and node.subplans:
        node = map_expressions(node, lambda e: map_plans(e, below))
    return change(node)


def replace_columns(expr: exp.Expr, by: Mapping[ColumnId, exp.Expr]) -> exp.Expr:
    """The expression with columns replaced, inside its subqueries' plans too."""
    if not (columns_in(expr) & by.keys()):
        return expr

    def swap(part: exp.Expr) -> exp.Expr:
        if type(part) is exp.Column:
            new = by.get(ColumnId(part.table, part.name))
            return operand(new) if new is not None else part
        plan = plan_of(part)
        if plan is not None:
            after = replace_free(plan, by)
            return part if after is plan else subplan(after)
        return part

    if type(expr) is exp.Column:
        return swap(expr)
    return expr.transform(swap)


def replace_free(node: Node, by: Mapping[ColumnId, exp.Expr]) -> Node:
    """The plan with columns that it takes from outside replaced."""
    wanted = {id: new for id, new in by.items() if id in free_columns(node)}
    if not wanted:
        return node
    return rewrite(
        node, lambda n: map_expressions(n, lambda e: replace_columns(e, wanted)), into_subqueries=False
    )


def same(one: exp.Expr, other: exp.Expr) -> bool:
    """Whether two expressions are the same. sqlglot's `==` alone takes the JSON paths $.A and $.a for one."""
    return one == other and one.sql("duckdb") == other.sql("duckdb")


def distinct(exprs: Iterable[exp.Expr]) -> tuple[exp.Expr, ...]:
    """Each expression once, in order."""
    kept: list[exp.Expr] = []
    for expr in exprs:
        if not any(expr is other or same(expr, other) for other in kept):
            kept.append(expr)
    return tuple(kept)


def parted(
    exprs: Iterable[exp.Expr], test: Callable[[exp.Expr], bool]
) -> tuple[tuple[exp.Expr, ...], tuple[exp.Expr, ...]]:
    """Those that pass the test, and the others."""
    passing: list[exp.Expr] = []
    others: list[exp.Expr] = []
    for expr in exprs:
        (passing if test(expr) else others).append(expr)
    return tuple(passing), tuple(others)


def bare(expr: exp.Expr) -> exp.Expr:
    """Without the parentheses around it. sqlglot's `unnest` would look into a subquery too."""
    while type(expr) is exp.Paren:
        expr = expr.this
    return expr


def conjuncts(expr: exp.Expr | None) -> tuple[exp.Expr, ...]:
    """a AND (b AND c) as (a, b, c)."""
    if expr is None:
        return ()
    if type(expr) is exp.Paren and type(expr.this) in (exp.And, exp.Paren):
        return conjuncts(expr.this)
    if type(expr) is exp.And:
        return conjuncts(expr.this) + conjuncts(expr.expression)
    return (expr,)


def names_read(node: Node) -> frozenset[str]:
    """The CTEs that the tree reads and does not define."""
    if CteRef not in node.kinds:
        return frozenset()
    return frozenset(n.name for n in walk(node) if isinstance(n, CteRef))


ATOMIC = (
    exp.Column,
    exp.Literal,
    exp.Func,
    exp.Cast,
    exp.Paren,
    exp.Subquery,
    exp.Placeholder,
    exp.Null,
    exp.Boolean,
)


def operand(expr: exp.Expr) -> exp.Expr:
    """A copy fit to stand inside a larger expression: in parentheses, unless it needs none."""
    copied = expr.copy()
    return (
        copied
        if isinstance(copied, ATOMIC) and not isinstance(copied, exp.Binary)
        else exp.Paren(this=copied)
    )


def all_of(conditions: tuple[exp.Expr, ...]) -> exp.Expr:
    """The conjunction; TRUE of none."""
    if not conditions:
        return exp.true()
    joined = conditions[0].copy() if len(conditions) == 1 else operand_of_and(conditions[0])
    for condition in conditions[1:]:
        joined = exp.And(this=joined, expression=operand_of_and(condition))
    return joined


def any_of(conditions: tuple[exp.Expr, ...]) -> exp.Expr:
    """The disjunction of at least one."""
    joined = operand(conditions[0])
    for condition in conditions[1:]:
        joined = exp.Or(this=joined, expression=operand(condition))
    return joined


def disjuncts(expr: exp.Expr) -> tuple[exp.Expr, ...]:
    """a OR (b OR c) as (a, b, c)."""
    while type(expr) is exp.Paren:
        expr = expr.this
    return disjuncts(expr.left) + disjuncts(expr.right) if type(expr) is exp.Or else (expr,)


def operand_of_and(expr: exp.Expr) -> exp.Expr:
    """A copy fit to stand beside AND: only OR and its like need parentheses."""
    return (
        exp.Paren(this=expr.copy())
        if isinstance(expr, exp.Or | exp.Xor | exp.And | exp.Lambda)
        else expr.copy()
    )


def without_holes(node: Node, literals: Sequence[Written]) -> Node:
    """The tree with the literals put back where their placeholders are."""

    def put(part: exp.Expr) -> exp.Expr:
        index = index_of(part.name) if isinstance(part, exp.Placeholder) else None
        return part if index is None else literals[index].literal()

    def in_expression(expr: exp.Expr) -> exp.Expr:
        expr = map_plans(expr, in_node)
        has_hole = any(index_of(p.name) is not None for p in expr.find_all(exp.Placeholder))
        return expr.copy().transform(put) if has_hole else expr

    def in_node(node: Node) -> Node:
        return map_expressions(map_inputs(node, in_node), in_expression)

    return in_node(node)
