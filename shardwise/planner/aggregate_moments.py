"""Variance, covariance, correlation and regression from partials.

Each shard group ships (count, mean, mean squared deviation), and groups are combined
pairwise after Chan, Golub & LeVeque, "Updating formulae and a pairwise algorithm for
computing sample variances" (1979). Sums of squares would give 0 for the variance of
1e9 + {1, 2, 3}; this gives 1.

A mean is clamped between minimum and maximum, for sum / count of equal values may be off
by a bit: {0.1, 0.1, 0.1} has the average 0.10000000000000002, and a constant column
would get a tiny variance in place of 0, and with it some correlation in place of NaN.
"""

from __future__ import annotations

from functools import cache

from sqlglot import exp

from shardwise.planner.aggregate_sql import Call, Split, build, is_not_null, merge

_DELTA = "(_y.{v} - _x.{v})"
_COUNT = "(_x.cnt + _y.cnt)"


def _mean(v: str) -> str:
    return f"(_x.{v} + {_DELTA.format(v=v)} * _y.cnt / {_COUNT})"


def _deviation(field: str, v: str, w: str) -> str:
    """Σ(v - mean v)(w - mean w) of two groups together; NaN once a mean is not finite, as in DuckDB."""
    return f"_x.{field} + _y.{field} + _y.cnt * {_DELTA.format(v=v)} * (_y.{w} - {_mean(w)})"


# The lambdas are kept as text: as trees they would be most of a plan, copied with it.
_ONE = """LIST_TRANSFORM([LIST_REDUCE(
  LIST({'cnt': CAST(p0 AS DOUBLE), 'mx': p1, 'sxx': p2 * p0}) FILTER (WHERE p0 > 0), both)], result)[1]"""
_ONE_BOTH = f"LAMBDA _x, _y: {{'cnt': {_COUNT}, 'mx': {_mean('mx')}, 'sxx': {_deviation('sxx', 'mx', 'mx')}}}"

_TWO = """LIST_TRANSFORM([LIST_REDUCE(
  LIST({'cnt': CAST(p0 AS DOUBLE), 'my': p1, 'mx': p2, 'syy': p3 * p0, 'sxx': p4 * p0, 'sxy': p5 * p0})
  FILTER (WHERE p0 > 0), both)], result)[1]"""
_TWO_BOTH = (
    f"LAMBDA _x, _y: {{'cnt': {_COUNT}, 'my': {_mean('my')}, 'mx': {_mean('mx')}, "
    f"'syy': {_deviation('syy', 'my', 'my')}, 'sxx': {_deviation('sxx', 'mx', 'mx')}, "
    f"'sxy': {_deviation('sxy', 'my', 'mx')}}}"
)

_NAN = "CAST('nan' AS DOUBLE)"
_SLOPE = f"CASE WHEN _z.sxx = 0 THEN {_NAN} ELSE _z.sxy / _z.sxx END"

ONE_ARGUMENT: dict[str, str] = {
    "var_pop": "_z.sxx / _z.cnt",
    "var_samp": "CASE WHEN _z.cnt > 1 THEN _z.sxx / (_z.cnt - 1) END",
    "stddev_pop": "sqrt(_z.sxx / _z.cnt)",
    "stddev_samp": "CASE WHEN _z.cnt > 1 THEN sqrt(_z.sxx / (_z.cnt - 1)) END",
    "sem": "sqrt(_z.sxx / _z.cnt) / sqrt(_z.cnt) + 0 * _z.mx",  # NaN for a single infinity
}

TWO_ARGUMENTS: dict[str, str] = {
    "covar_pop": "_z.sxy / _z.cnt",
    "covar_samp": "CASE WHEN _z.cnt > 1 THEN _z.sxy / (_z.cnt - 1) END",
    "corr": f"CASE WHEN _z.sxx = 0 OR _z.syy = 0 THEN {_NAN} ELSE _z.sxy / (sqrt(_z.sxx) * sqrt(_z.syy)) END",
    "regr_sxx": "_z.sxx",
    "regr_syy": "_z.syy",
    "regr_sxy": "_z.sxy",
    "regr_slope": _SLOPE,
    "regr_intercept": f"CASE WHEN isfinite({_SLOPE}) THEN _z.my - ({_SLOPE}) * _z.mx END",
    "regr_r2": "CASE WHEN _z.sxx = 0 THEN NULL WHEN _z.syy = 0 THEN 1.0 "
    "ELSE pow(_z.sxy / (sqrt(_z.sxx) * sqrt(_z.syy)), 2) END",
}


def split_moments(call: Call) -> Split:
    """The split of a function of `ONE_ARGUMENT` or `TWO_ARGUMENTS`.

    var_pop(x)  =>  shards: count(x) AS p0, avg(x) AS p1, var_pop(x) AS p2
                    merge:  list_reduce(list({p0, p1, p2}), …)
    """
    if call.name in ONE_ARGUMENT:
        partials = (call.partial("COUNT(x)"), _clamped_mean(call, call.args[0]), call.partial("VAR_POP(x)"))
        return Split(partials=partials, final=_final(_ONE, _ONE_BOTH, ONE_ARGUMENT[call.name]))
    y, x = call.args
    both = exp.and_(is_not_null(y), is_not_null(x))
    partials_of_pairs = (
        call.having(build("COUNT(*)"), both),
        _clamped_mean(call, y, both),
        _clamped_mean(call, x, both),
        call.having(build("VAR_POP(y)", y=y), both),
        call.having(build("VAR_POP(x)", x=x), both),
        call.having(build("COVAR_POP(y, x)", y=y, x=x)),
    )
    return Split(partials=partials_of_pairs, final=_final(_TWO, _TWO_BOTH, TWO_ARGUMENTS[call.name]))


def _clamped_mean(call: Call, value: exp.Expr, *conditions: exp.Expr) -> exp.Expr:
    average, least, greatest = (
        call.having(build(f"{function}(CAST(v AS DOUBLE))", v=value), *conditions)
        for function in ("AVG", "MIN", "MAX")
    )
    return build("LEAST(GREATEST(a, b), c)", a=average, b=least, c=greatest)


@cache
def _final(template: str, both: str, result: str) -> exp.Expr:
    return merge(template, both=exp.Var(this=both), result=exp.Var(this=f"LAMBDA _z: {result}"))
