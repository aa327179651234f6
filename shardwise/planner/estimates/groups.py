"""What an aggregate is expected to give of a group, so that HAVING is estimated by what ANALYZE found.

A group is taken to have 1 + Poisson(n - 1) rows, n being rows per group: each further row falls into one of
the groups without regard to it. Then, of a column with mean m and variance s² (of its bounds):

- count: as the group's rows;
- sum: nearly normal (central limit theorem), of mean n·m and variance n·s² + (n - 1)·m², for the number of
  rows varies, too;
- avg: nearly normal, of mean m and variance s²/n;
- max below v: all rows are. Of a share p of values below v, that is p·exp((n - 1)·(p - 1)); min likewise.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Final

from sqlglot import exp

from shardwise.catalog.types import Family
from shardwise.planner.estimates.columns import ColumnEstimate

Below = Callable[[float], float]
"""The share of values below one."""

_NUMBERS: Final = frozenset({Family.INT, Family.DECIMAL, Family.FLOAT})
_COUNTED: Final = 30.0
"""Up to so many rows of a group their number is taken as Poisson; of more it is nearly normal."""
_RARE: Final = 1e-9


def of_call(
    call: exp.Expr, read: ColumnEstimate | None, rows: float, groups: float, guess: ColumnEstimate
) -> ColumnEstimate | None:
    """What `count(*)`, or an aggregate of the column `read`, gives in `groups` of `rows`.

    None where it is another call, or nothing was measured. `guess` has the result's width.
    """
    each = max(rows / max(groups, 1.0), 1.0)
    if isinstance(call, exp.Count) and type(call.this) is exp.Star:
        return _count(each, guess)
    if type(call.this) is not exp.Column or read is None or read.is_guess:
        return None
    each = max(each * (1.0 - read.nulls), 1.0)
    if isinstance(call, exp.Count):
        return _count(each, guess)
    if len(read.bounds) < 2:
        return None
    if isinstance(call, exp.Min | exp.Max):
        return _extreme(read, each, groups, guess, is_max=isinstance(call, exp.Max))
    if not isinstance(call, exp.Sum | exp.Avg) or read.family not in _NUMBERS:
        return None
    mean, variance = moments(read.bounds)
    if isinstance(call, exp.Avg):
        below = normal(mean, variance / each)
    else:
        below = normal(each * mean, each * variance + (each - 1.0) * mean * mean)
    return ColumnEstimate(distinct=groups, width=guess.width, family=read.family, below=below)


def _count(each: float, guess: ColumnEstimate) -> ColumnEstimate:
    further = each - 1.0
    if further > _COUNTED:
        spread = math.sqrt(further)
        return ColumnEstimate(
            distinct=4.0 * spread, width=guess.width, family=Family.INT, below=normal(each - 0.5, further)
        )
    shares = _poisson(further)
    return ColumnEstimate(
        distinct=float(len(shares)),
        width=guess.width,
        family=Family.INT,
        common=dict(shares.items()),
        below=lambda value: min(1.0, sum(share for count, share in shares.items() if count < value)),
    )


def _poisson(further: float) -> dict[float, float]:
    """The share of groups that have so many rows: one, and as many more as Poisson has."""
    shares: dict[float, float] = {}
    share, more = math.exp(-further), 0
    while share > _RARE or more < further:
        shares[1.0 + more] = share
        more += 1
        share *= further / more
    return shares


def _extreme(
    read: ColumnEstimate, each: float, groups: float, guess: ColumnEstimate, *, is_max: bool
) -> ColumnEstimate:
    def below(value: float) -> float:
        share = read.before(value) or 0.0
        if is_max:
            return share * math.exp((each - 1.0) * (share - 1.0))
        return 1.0 - (1.0 - share) * math.exp(-(each - 1.0) * share)

    distinct = min(read.distinct, groups)
    return ColumnEstimate(distinct=distinct, width=guess.width, family=read.family, below=below)


def moments(bounds: tuple[float, ...]) -> tuple[float, float]:
    """Mean and variance of values that lie evenly between any two bounds, as many between each two.

    >>> moments((0.0, 12.0))
    (6.0, 12.0)
    """
    pairs = list(pairwise(bounds))
    mean = sum(low + high for low, high in pairs) / (2 * len(pairs))
    squares = sum(
        ((low - mean) ** 2 + (low - mean) * (high - mean) + (high - mean) ** 2) / 3 for low, high in pairs
    )
    return mean, squares / len(pairs)


def normal(mean: float, variance: float) -> Below:
    """The share of a normal distribution that is below a value."""
    if variance <= 0:
        return lambda value: 1.0 if mean < value else 0.0
    scale = math.sqrt(2.0 * variance)
    return lambda value: 0.5 * math.erfc((mean - value) / scale)
