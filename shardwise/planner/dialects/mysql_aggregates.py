"""How MySQL's aggregates split into a shard part and a merge part.

    count(x)            count(x) AS p0                    CAST(coalesce(sum(p0), 0) AS SIGNED)
    sum(x), min, max    sum(x) AS p0                      sum(p0)
    avg(x)              sum(x) AS p0, count(x) AS p1      sum(p0) / sum(p1)
    bit_and(x), …       bit_and(x) AS p0                  bit_and(p0)
    group_concat(x)     group_concat(x) AS p0             group_concat(p0), with the same separator
    f(DISTINCT x)       x AS k0, grouped by it            f(DISTINCT k0)

Sound: sums of whole numbers and DECIMALs are exact DECIMALs of their own scale, so that a quotient of sums
has the digits that AVG has; of no rows SUM is NULL, which is passed over, COUNT 0, BIT_AND all ones. A
GROUP_CONCAT with an order of its own has no parts; without one any order is right, and what is cut on a shard
is as long as the whole may be. AVG of what is no number (dates, ENUMs, BIT), variances and JSON lists have
none either.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from shardwise.catalog.types import Family, type_family
from shardwise.plan.sql.own_mysql import HOLE, MARK, mysql_text
from shardwise.planner.aggregates import Combined
from shardwise.planner.dialects.parts import Pool, combined
from shardwise.planner.families import Kind, TypeOf

_SAME = (exp.Sum, exp.Min, exp.Max)
_BITS = ("bit_and", "bit_or", "bit_xor")
_ARITHMETIC = (
    *(exp.Column, exp.Identifier, exp.Literal, exp.Paren),
    *(exp.Neg, exp.Add, exp.Sub, exp.Mul, exp.Div),
)
_WHOLE_DIGITS_MAX = 20
_NUMBERS = (Family.INT, Family.DECIMAL, Family.FLOAT)


def combine(calls: Sequence[exp.Expr], type_of: TypeOf | None = None) -> Combined | None:
    """All of a query level's aggregate calls together; None if one of them has no parts."""
    pool = Pool(mysql_text)
    return combined(calls, pool, lambda call: _split(call, pool, type_of))


def _split(call: exp.Expr, pool: Pool, type_of: TypeOf | None) -> exp.Expr | None:
    if isinstance(call, exp.GroupConcat):
        return _concatenation(call, pool)
    if isinstance(call, exp.Anonymous):
        name = str(call.this).lower()
        is_plain = name in _BITS and not any(isinstance(e, exp.Distinct) for e in call.expressions)
        return exp.Anonymous(this=call.this, expressions=[pool.partial(call)]) if is_plain else None
    if isinstance(call.this, exp.Distinct):
        return _distinct(call, pool, type_of)
    if isinstance(call, exp.Count):
        return _counted(exp.Sum(this=pool.partial(call)))
    if isinstance(call, _SAME):
        return type(call)(this=pool.partial(call))
    if isinstance(call, exp.Avg) and _is_number(call.this, type_of):
        total = exp.Sum(this=pool.partial(exp.Sum(this=call.this.copy())))
        count = exp.Sum(this=pool.partial(exp.Count(this=call.this.copy())))
        return exp.Paren(this=exp.Div(this=total, expression=count))
    return None


def _counted(total: exp.Expr) -> exp.Expr:
    some = exp.Anonymous(this="COALESCE", expressions=[total, exp.Literal.number(0)])
    return exp.Anonymous(this=f"CAST{MARK}CAST({HOLE} AS SIGNED)", expressions=[some])


def wide(value: exp.Expr, kind: Kind) -> exp.Expr | None:
    """A DECIMAL: whole numbers are multiplied as BIGINTs. A sum is one already."""
    if kind.family == "decimal" or (kind.family == "integer" and kind.digits > _WHOLE_DIGITS_MAX):
        return value
    if kind.family != "integer":
        return None
    form = f"CAST{MARK}CAST({HOLE} AS DECIMAL({_WHOLE_DIGITS_MAX}, 0))"
    return exp.Anonymous(this=form, expressions=[value.copy()])


def _is_number(expr: exp.Expr, type_of: TypeOf | None) -> bool:
    """Whether it is made of numbers by arithmetic: SUM and AVG then count in one type."""
    for node in expr.walk():
        if not isinstance(node, _ARITHMETIC) or (isinstance(node, exp.Literal) and node.is_string):
            return False
        if isinstance(node, exp.Column):
            text = type_of(node) if type_of is not None else None
            if text is None or text.upper().startswith("YEAR"):
                return False
            if type_family(text, "mysql") not in _NUMBERS:
                return False
    return True


def _distinct(call: exp.Expr, pool: Pool, type_of: TypeOf | None) -> exp.Expr | None:
    values = call.this.expressions
    if isinstance(call, exp.Min | exp.Max) and len(values) == 1:
        return type(call)(this=pool.partial(type(call)(this=values[0].copy())))
    is_known = isinstance(call, exp.Count | exp.Sum) or (
        isinstance(call, exp.Avg) and _is_number(values[0], type_of)
    )
    if not is_known:
        return None
    return type(call)(this=exp.Distinct(expressions=[pool.key(value) for value in values]))


def _concatenation(call: exp.GroupConcat, pool: Pool) -> exp.Expr | None:
    """Without an order of its own; or of DISTINCT values in an order of these."""
    separator = call.args.get("separator")
    kept = {"separator": separator.copy()} if separator is not None else {}
    if not isinstance(call.this, exp.Order | exp.Distinct):
        return exp.GroupConcat(this=pool.partial(call), **kept)
    argument = call.this
    order = argument.expressions if isinstance(argument, exp.Order) else []
    argument = argument.this if isinstance(argument, exp.Order) else argument
    if not isinstance(argument, exp.Distinct):
        return None
    values = list(argument.expressions)
    if len(values) == 1 and isinstance(values[0], exp.Order):
        order, values = values[0].expressions, [values[0].this]
    if len(values) == 1 and isinstance(values[0], exp.Concat):
        values = list(values[0].expressions)
    if any(ordered.this not in values for ordered in order):
        return None
    distinct: exp.Expr = exp.Distinct(expressions=[pool.key(value) for value in values])
    if order:
        keys = []
        for ordered in order:
            key = ordered.copy()
            key.set("this", pool.key(ordered.this))
            keys.append(key)
        distinct = exp.Order(this=distinct, expressions=keys)
    return exp.GroupConcat(this=distinct, **kept)
