"""A condition of WHERE, HAVING, QUALIFY or ON as conjuncts, each of which a row has to pass.

    (a, b) = (c, d) AND e     =>     a = c, b = d, e

Rows are taken apart where NULL in them is equal to nothing, as it is by itself: not in DuckDB, to which
(1, NULL) and (1, NULL) are equal.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from shardwise.plan.tree import bare, conjuncts
from shardwise.planner.dialects import Dialect


def conditions(condition: exp.Expr | None, dialect: Dialect) -> tuple[exp.Expr, ...]:
    """The conjuncts of a condition, bound or not."""
    found = conjuncts(condition)
    if dialect.rows_equal_nulls:
        return found
    return tuple(part for each in found for part in _by_members(each))


def _by_members(test: exp.Expr) -> Iterator[exp.Expr]:
    equal = bare(test)
    if type(equal) is exp.EQ:
        mine, theirs = bare(equal.this), bare(equal.expression)
        if type(mine) is type(theirs) is exp.Tuple and len(mine.expressions) == len(theirs.expressions):
            for one, other in zip(mine.expressions, theirs.expressions, strict=True):
                yield from _by_members(exp.EQ(this=one.copy(), expression=other.copy()))
            return
    yield test
