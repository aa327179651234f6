"""How SQLite's aggregates split into a shard part and a merge part.

    count(x)    count(x) AS p0                        ifnull(sum(p0), 0)
    sum(x)      sum(x) AS p0, count(x) AS p1          sum(p0): whole as long as all are, else REAL
    avg(x)      sum(x * 1.0) AS p0, count(x) AS p1    sum(p0) / sum(p1)
    min(x)      min(x) AS p0                          min(p0)
    f(DISTINCT x)   x AS k0, grouped by it            f(DISTINCT k0)

Sound: partial sums of whole numbers are whole, and one with a REAL, or a text, in it is REAL, as the whole
sum is; NULL of no rows is passed over. NULL of some rows is an infinity less another one, and makes the whole
NULL (`p1` tells them apart). What shows the order of its rows (group_concat) has no parts.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from shardwise.planner.aggregates import Combined
from shardwise.planner.dialects.parts import Pool, combined
from shardwise.planner.families import TypeOf

_SAME = (exp.Sum, exp.Min, exp.Max)


def combine(calls: Sequence[exp.Expr], type_of: TypeOf | None = None) -> Combined | None:
    """All of a query level's aggregate calls together; None if one of them has no parts."""
    pool = Pool(lambda expr: expr.sql("sqlite"))
    return combined(calls, pool, lambda call: _split(call, pool))


def _split(call: exp.Expr, pool: Pool) -> exp.Expr | None:
    condition = None
    inner = call
    if isinstance(inner, exp.Filter):
        condition, inner = inner.expression, inner.this
    if isinstance(inner.this, exp.Distinct):
        return _distinct(inner, condition, pool)
    if isinstance(inner, exp.Count):
        part = pool.partial(_filtered(inner, condition))
        return exp.Anonymous(this="ifnull", expressions=[exp.Sum(this=part), exp.Literal.number(0)])
    if isinstance(inner, exp.Sum):
        return _sum(inner, inner, condition, pool)
    if isinstance(inner, _SAME):
        return type(inner)(this=pool.partial(_filtered(inner, condition)))
    if isinstance(inner, exp.Avg):
        real = exp.Mul(this=exp.Paren(this=inner.this.copy()), expression=exp.Literal.number("1.0"))
        count = pool.partial(_filtered(exp.Count(this=inner.this.copy()), condition))
        total = _sum(exp.Sum(this=real), inner, condition, pool)
        return exp.Div(this=total, expression=exp.Sum(this=count))
    return None


def _sum(total: exp.Expr, of: exp.Expr, condition: exp.Expr | None, pool: Pool) -> exp.Expr:
    part = pool.partial(_filtered(total, condition))
    count = pool.partial(_filtered(exp.Count(this=of.this.copy()), condition))
    is_none = exp.Is(this=part, expression=exp.Null())
    is_nan = exp.And(this=is_none, expression=exp.GT(this=count, expression=exp.Literal.number(0)))
    nan = exp.If(this=exp.Sum(this=exp.Paren(this=is_nan)), true=exp.Null())
    return exp.Case(ifs=[nan], default=exp.Sum(this=part.copy()))


def _distinct(call: exp.Expr, condition: exp.Expr | None, pool: Pool) -> exp.Expr | None:
    values = call.this.expressions
    if len(values) != 1 or condition is not None or not isinstance(call, (*_SAME, exp.Count, exp.Avg)):
        return None
    return type(call)(this=exp.Distinct(expressions=[pool.key(values[0].copy())]))


def _filtered(call: exp.Expr, condition: exp.Expr | None) -> exp.Expr:
    call = call.copy()
    return call if condition is None else exp.Filter(this=call, expression=condition.copy())
