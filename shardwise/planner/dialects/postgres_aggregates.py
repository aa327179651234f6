"""How PostgreSQL's aggregates split into a shard part and a merge part.

    count(x)        count(x) AS p0                      coalesce(sum(p0), 0)::bigint
    sum(int)        sum(x) AS p0                        sum(p0)::bigint         sum(bigint) is a numeric
    sum(numeric)    sum(x) AS p0                        sum(p0)                 of the same scale
    avg(numeric)    sum(x) AS p0, count(x) AS p1        sum(p0) / sum(p1)       as PostgreSQL divides itself
    avg(float)      sum(x::float8) AS p0, count(x)      sum(p0) / sum(p1)
    min, max, bit_and, bool_or …    f(x) AS p0          f(p0)
    var_pop(numeric)                count, sum, sum of squares: the very formula of PostgreSQL, exact
    f(DISTINCT x)   x AS k0, grouped by it              f(DISTINCT k0)

Sound: the parts are of the type that PostgreSQL accumulates in, and what finishes them gives the type and
scale of the whole. Where an argument's type is not known, nothing is split. What shows the order of its rows
(string_agg, array_agg) has no parts, nor has stddev of exact numbers: its square root is cut at a scale that
SQL cannot ask for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp

from shardwise.planner.aggregates import Combined
from shardwise.planner.dialects.parts import Pool, combined
from shardwise.planner.dialects.postgres_types import NUMBERS, WHOLE, type_of_expr
from shardwise.planner.families import Kind, TypeOf

Part = Callable[[exp.Expr], exp.Column]
"""From a shard's part to its column in the merge."""

_SAME = frozenset({"min", "max", "bit_and", "bit_or", "bit_xor", "bool_and", "bool_or", "every"})
_DISTINCT = frozenset({"count", "sum", "avg", *_SAME})
_NAMES: dict[type[exp.Expr], str] = {
    exp.Count: "count",
    exp.Sum: "sum",
    exp.Avg: "avg",
    exp.Min: "min",
    exp.Max: "max",
}


def combine(calls: Sequence[exp.Expr], type_of: TypeOf) -> Combined | None:
    """All of a query level's aggregate calls together; None if one of them has no parts."""
    pool = Pool(lambda expr: expr.sql("postgres"))
    return combined(calls, pool, lambda call: _split(call, pool, type_of))


def _split(call: exp.Expr, pool: Pool, type_of: TypeOf) -> exp.Expr | None:
    condition = None
    inner = call
    if isinstance(inner, exp.Filter):
        condition, inner = inner.expression, inner.this
    name = _NAMES.get(type(inner)) or (inner.name.lower() if isinstance(inner, exp.Anonymous) else "")
    arguments = inner.expressions if isinstance(inner, exp.Anonymous) else [inner.this]
    if len(arguments) != 1 or (isinstance(inner, exp.Count) and inner.expressions):
        return None
    (argument,) = arguments
    if isinstance(argument, exp.Order):
        return None
    if isinstance(argument, exp.Distinct):
        return _distinct(name, inner, argument, condition, pool)

    def part(of: exp.Expr) -> exp.Column:
        return pool.partial(of if condition is None else exp.Filter(this=of, expression=condition.copy()))

    if name == "count":
        return _cast(exp.Coalesce(this=exp.Sum(this=part(inner.copy())), expressions=[_number(0)]), "BIGINT")
    if name in _SAME:
        column = part(inner.copy())
        if isinstance(inner, exp.Anonymous):
            return exp.Anonymous(this=inner.name, expressions=[column])
        return type(inner)(this=column)
    kind = type_of_expr(argument, type_of)
    if name == "sum":
        return _sum(argument, kind, part)
    if name == "avg":
        return _avg(argument, kind, part)
    if name in ("var_pop", "var_samp", "variance") and kind in (*WHOLE, "numeric"):
        return _variance(argument, part, sample=name != "var_pop")
    return None


def wide(value: exp.Expr, kind: Kind) -> exp.Expr | None:
    """A numeric, which has no bounds; a sum of whole numbers need not be one."""
    if kind.family == "integer":
        return _cast(value.copy(), "DECIMAL")
    return value if kind.family == "decimal" else None


def _sum(argument: exp.Expr, kind: str | None, part: Part) -> exp.Expr | None:
    if kind in ("int2", "int4"):
        return _cast(exp.Sum(this=part(exp.Sum(this=argument.copy()))), "BIGINT")
    if kind in ("int8", "numeric", "float4", "float8", "interval", "money"):
        return exp.Sum(this=part(exp.Sum(this=argument.copy())))
    return None


def _avg(argument: exp.Expr, kind: str | None, part: Part) -> exp.Expr | None:
    if kind not in (*NUMBERS, "interval"):
        return None
    summed: exp.Expr = argument.copy()
    if kind == "float4":
        summed = _cast(summed, "DOUBLE PRECISION")
    total: exp.Expr = exp.Sum(this=part(exp.Sum(this=summed)))
    count: exp.Expr = exp.Sum(this=part(exp.Count(this=argument.copy())))
    if kind in ("float4", "float8", "interval"):
        count = _cast(count, "DOUBLE PRECISION")
    return _quotient(total, count)


def _variance(argument: exp.Expr, part: Part, *, sample: bool) -> exp.Expr:
    """(n·Σx² − (Σx)²) / (n·(n − 1)), which is 0 where it would be less, and NULL of too few rows."""

    def value() -> exp.Expr:
        return _cast(argument.copy(), "DECIMAL")

    squares = exp.Sum(this=part(exp.Sum(this=exp.Mul(this=value(), expression=value()))))
    total = exp.Sum(this=part(exp.Sum(this=value())))
    count = exp.Sum(this=part(exp.Count(this=argument.copy())))
    above = exp.Sub(
        this=exp.Mul(this=count.copy(), expression=squares),
        expression=exp.Mul(this=total, expression=total.copy()),
    )
    less = exp.Paren(this=exp.Sub(this=count.copy(), expression=_number(1))) if sample else count.copy()
    below = exp.Paren(this=exp.Mul(this=count.copy(), expression=less))
    enough = exp.GT(this=count.copy(), expression=_number(1 if sample else 0))
    is_none = exp.LTE(this=above.copy(), expression=_number(0))
    quotient = _quotient(exp.Paren(this=above), below)
    inner = exp.Case(
        ifs=[exp.If(this=is_none, true=_cast(_number(0), "DECIMAL"))],
        default=quotient,
    )
    return exp.Case(ifs=[exp.If(this=enough, true=inner)])


def _distinct(
    name: str, call: exp.Expr, distinct: exp.Distinct, condition: exp.Expr | None, pool: Pool
) -> exp.Expr | None:
    values = distinct.expressions
    if len(values) != 1 or condition is not None or name not in _DISTINCT:
        return None
    if isinstance(values[0], exp.Tuple | exp.Order):
        return None
    again = exp.Distinct(expressions=[pool.key(values[0].copy())])
    if isinstance(call, exp.Anonymous):
        return exp.Anonymous(this=call.name, expressions=[again])
    return type(call)(this=again)


def _quotient(above: exp.Expr, below: exp.Expr) -> exp.Expr:
    """`typed`: as it is, whatever is divided."""
    return exp.Div(this=above, expression=below, typed=True)


def _number(value: int) -> exp.Expr:
    return exp.Literal.number(value)


def _cast(expr: exp.Expr, to: str) -> exp.Expr:
    return exp.Cast(this=expr, to=exp.DataType.build(to, dialect="postgres"))
