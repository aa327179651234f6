"""Building blocks of split aggregates: calls taken apart, SQL templates filled in.

Aggregates are written as SQL templates and parsed once, which keeps the formulas
readable: `merge("CAST(SUM(p0) AS DOUBLE) / SUM(p1)")`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import sqlglot
from sqlglot import exp

from shardwise.planner.aggregate_names import REDUNDANT_DISTINCT, aggregate_name

_SLOT = "shardwise_slot"


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """How one aggregate call is computed from partials.

    `final` names what the shards deliver by placeholders made by `slot`: p0, p1, … for
    `partials`, k0, k1, … for `keys`, n for the row count of the shard's group. `slot_name`
    tells them from a user's parameter of the same name.
    """

    partials: tuple[exp.Expr, ...] = ()
    """Aggregate expressions evaluated per shard group."""
    keys: tuple[exp.Expr, ...] = ()
    """Further expressions that the shards must group by."""
    needs_count: bool = False
    """The merge needs count(*) of each shard group, and each of its rows that many times."""
    final: exp.Expr
    """The aggregate over the merged rows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """An aggregate call taken apart; nodes are those of the tree, to be copied before use."""

    name: str
    args: tuple[exp.Expr, ...]
    distinct: bool
    order: tuple[exp.Ordered, ...]
    condition: exp.Expr | None

    def having(self, aggregate: exp.Expr, *more: exp.Expr) -> exp.Expr:
        """`aggregate FILTER (WHERE …)` with the call's condition and `more`; without either as it is."""
        return filtered(aggregate, *([self.condition] if self.condition is not None else []), *more)

    def partial(self, template: str, *more: exp.Expr, **nodes: exp.Expr) -> exp.Expr:
        """A template over the arguments (x, y, z; and `nodes`), under the call's condition and `more`."""
        return self.having(build(template, **dict(zip("xyz", self.args, strict=False)), **nodes), *more)


def filtered(aggregate: exp.Expr, *conditions: exp.Expr) -> exp.Expr:
    """The aggregate call restricted to rows where all conditions hold, beside its own FILTER."""
    if not conditions:
        return as_node(aggregate)
    if isinstance(aggregate, exp.Filter):
        conditions = (aggregate.expression.this, *conditions)
        aggregate = aggregate.this
    return exp.Filter(this=aggregate.copy(), expression=exp.Where(this=exp.and_(*conditions, copy=True)))


def take_apart(call: exp.Expr) -> Call | None:
    """The parts of an aggregate call in any of the forms that sqlglot gives it, or None."""
    condition = None
    within: list[exp.Ordered] = []
    if isinstance(call, exp.Filter):
        condition = call.expression.this
        call = call.this
    if isinstance(call, exp.WithinGroup):
        within = list(call.expression.expressions)
        call = call.this
    ignores_nulls = isinstance(call, exp.IgnoreNulls)
    if ignores_nulls:  # so sqlglot writes every any_value
        call = call.this
    name = aggregate_name(call)
    if name is None or (ignores_nulls and name not in ("any_value", "first")):
        return None
    args: list[exp.Expr] = []
    distinct = False
    for argument in _arguments(call):
        if isinstance(argument, exp.Order):
            within += argument.expressions
        value = argument.this if isinstance(argument, exp.Order) else argument
        if isinstance(value, exp.Distinct):
            distinct = True
            args += value.expressions
        elif value is not None:
            args.append(value)
    return Call(
        name="any_value" if ignores_nulls else name,
        args=tuple(args),
        distinct=distinct,
        order=tuple(within),
        condition=condition,
    )


def _arguments(node: exp.Expr) -> list[exp.Expr]:
    found: list[exp.Expr] = []
    for key in node.arg_types:
        value = node.args.get(key)
        items = value if isinstance(value, list) else [value]
        found += [item for item in items if isinstance(item, exp.Expr)]
    return found


def slot(name: str) -> exp.Placeholder:
    """A reference of a `final` to a column of the merged rows."""
    placeholder = exp.Placeholder(this=name)
    placeholder.meta[_SLOT] = name
    return placeholder


def slot_name(node: exp.Expr) -> str | None:
    """The name of the slot that this node is; None for anything else, users' parameters included."""
    return str(node.meta[_SLOT]) if isinstance(node, exp.Placeholder) and _SLOT in node.meta else None


@cache
def _template(text: str) -> exp.Expr:
    return as_node(_plain(sqlglot.parse_one(text, dialect="duckdb")))


def _plain(value: Any) -> Any:
    """Without the types and positions that the parser leaves, which each copy would copy node by node."""
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if not isinstance(value, exp.Expr):
        return value
    return type(value)(**{key: _plain(part) for key, part in value.args.items()})


def as_node(expr: exp.Expr) -> exp.Expr:
    """The same object; sqlglot's own signatures say Expr, its mixins' base, of what is an Expression."""
    assert isinstance(expr, exp.Expr)
    return expr


_PARTS = (exp.Binary, exp.Unary, exp.Is, exp.Filter, exp.Between, exp.In)


def build(template: str, **nodes: exp.Expr) -> exp.Expr:
    """The SQL expression of the template with its columns x, y, … replaced by copies of `nodes`."""
    tree = _template(template).copy()
    for column in list(tree.find_all(exp.Column)):
        node = nodes.get(column.name)
        if node is None:
            continue
        new = as_node(node.copy())
        within = column.parent
        if isinstance(within, exp.Binary | exp.Unary | exp.Is | exp.Dot) and isinstance(new, _PARTS):
            new = exp.Paren(this=new)
        if within is None:
            tree = new
        else:
            column.replace(new)
    return tree


def merge(template: str, **nodes: exp.Expr) -> exp.Expr:
    """A `final`: the template with its columns p0, p1, … made slots, others taken from `nodes`.

    Without `nodes` the same tree each time, not to be edited in place.
    """
    return _merged(template, **nodes) if nodes else _fixed(template)


@cache
def _fixed(template: str) -> exp.Expr:
    return _merged(template)


def _merged(template: str, **nodes: exp.Expr) -> exp.Expr:
    names = {column.name for column in _template(template).find_all(exp.Column)}
    slots: dict[str, exp.Expr] = {name: slot(name) for name in names if name not in nodes}
    return build(template, **slots, **nodes)


def is_not_null(expr: exp.Expr) -> exp.Expr:
    return build("NOT x IS NULL", x=expr)


def is_idempotent(call: Call) -> bool:
    """Whether a repeated row changes nothing: `min(x)`, but not `min(x, 2)`."""
    unlimited = {"min": 1, "max": 1}.get(call.name, 2)
    limited = call.name.startswith(("min", "max", "arg_")) and len(call.args) > unlimited
    return call.name in REDUNDANT_DISTINCT and not limited
