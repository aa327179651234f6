"""FULL JOIN on a condition that PostgreSQL cannot make one on.

    a FULL JOIN b ON a.x < b.y   =>   a FULL JOIN b ON a.x < b.y AND num_nulls(a.x) * 0 = num_nulls(b.y) * 0

It makes one by hashing alone where more is asked than equations, so that it needs one of both sides, and else
says "FULL JOIN is only supported with merge-joinable or hash-joinable join conditions". It does not say so
of a statement that a later join makes a LEFT JOIN of. We may have that join elsewhere, in another statement
or made on keys that were read; so we add an equation that holds for any two rows, and that it does not see
through: num_nulls is never NULL and takes a value of any type.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from shardwise.plan.nodes import Join
from shardwise.plan.sql.block import ALL_ROWS, Block, Col, written
from shardwise.plan.sql.expressions import is_constant
from shardwise.plan.sql.names import NO_COLUMNS
from shardwise.plan.tree import columns_in

if TYPE_CHECKING:
    from shardwise.plan.sql.render import Renderer


def needs_equation(node: Join) -> bool:
    """Whether it is a FULL JOIN, not for all pairs or none, that equates nothing of its two sides."""
    if node.kind != "full" or all(map(is_constant, node.on)):
        return False
    sides = node.left.output_ids, node.right.output_ids
    return not any(_equates(test, *sides) or _equates(test, *sides[::-1]) for test in node.on)


def _equates(test: exp.Expr, left: frozenset[object], right: frozenset[object]) -> bool:
    while isinstance(test, exp.Paren):
        test = test.this
    if type(test) is not exp.EQ or test.find(exp.Subquery):
        return False
    one, other = columns_in(test.this), columns_in(test.expression)
    return bool(one and other) and one <= left and other <= right


def with_a_column(render: Renderer, side: Block) -> tuple[Block, exp.Expr]:
    """A side of FROM, and a column of it: an only constant behind a LIMIT, past which PostgreSQL does not
    look."""
    if side.outputs:
        return side, written(side.columns[side.outputs[0]])
    if not side.is_from:
        side = render.wrap(side)
    side.is_limited, side.count = True, exp.Literal.number(ALL_ROWS)
    side = render.wrap(side)
    assert side.source is not None
    return side, written(Col(side.source.alias, NO_COLUMNS))


def equation(left: exp.Expr, right: exp.Expr) -> exp.Expr:
    """Something of both sides that is equal whatever the values are."""
    return exp.EQ(this=_zero(left), expression=_zero(right))


def _zero(value: exp.Expr) -> exp.Expr:
    nulls = exp.Anonymous(this="num_nulls", expressions=[value])
    return exp.Mul(this=nulls, expression=exp.Literal.number(0))
