"""The share of rows that pass a predicate: as Selinger et al. (SIGMOD 1979), with what ANALYZE measured.

What is not understood has a share by default (`defaults`). Conjuncts go together more often than not: each
further one counts with half the power of the one before (`damped`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from sqlglot import exp

from shardwise.catalog.types import Family
from shardwise.plan.holes import Written
from shardwise.plan.nodes import ColumnId, Node
from shardwise.plan.tree import bare, column_id, disjuncts, plan_of
from shardwise.planner.estimates import defaults
from shardwise.planner.estimates.columns import ColumnEstimate
from shardwise.planner.estimates.estimate import Estimate, damped
from shardwise.planner.estimates.scalars import Peek, scalar_of

Members = Callable[[exp.Expr], float | None]
"""How many values a list has that ran first, or is bound to a parameter; None: it is no such list."""

_FLIPPED: dict[type[exp.Expr], type[exp.Expr]] = {
    exp.LT: exp.GT,
    exp.GT: exp.LT,
    exp.LTE: exp.GTE,
    exp.GTE: exp.LTE,
}
_BOUNDS = (exp.LT, exp.LTE, exp.GT, exp.GTE)


class Selectivity:
    """Of the predicates over one node's rows. Columns that are not its own are constants not told."""

    def __init__(
        self,
        rows: Estimate,
        own: frozenset[ColumnId],
        peek: Peek,
        members: Members,
        estimate: Callable[[Node], Estimate],
    ) -> None:
        self._rows = rows
        self._own = own
        self._peek = peek
        self._members = members
        self._estimate = estimate

    def of_all(self, conjuncts: Iterable[exp.Expr]) -> float:
        return damped(sorted(self.of(c) for c in _paired(conjuncts)))

    def of(self, test: exp.Expr) -> float:
        test = bare(test)
        share = self._of(test)
        return max(0.0, 1.0 - share) if test.args.get("negate") else share

    def _of(self, test: exp.Expr) -> float:
        if isinstance(test, exp.Boolean):
            return 1.0 if test.this else 0.0
        if isinstance(test, exp.Or):
            others = 1.0
            for arm in disjuncts(test):
                others *= 1.0 - self.of(arm)
            return 1.0 - others
        if isinstance(test, exp.And):
            return damped(sorted((self.of(test.left), self.of(test.right))))
        if isinstance(test, exp.Not):
            return self._not(bare(test.this))
        if isinstance(test, exp.EQ | exp.NullSafeEQ):
            return self._equal(test)
        if isinstance(test, exp.NEQ):
            return max(0.0, 1.0 - self._equal(test))
        if isinstance(test, _BOUNDS):
            return self._bound(test)
        if isinstance(test, exp.Between):
            return self._between(test)
        if isinstance(test, exp.In):
            return self._in(test)
        if isinstance(test, exp.Is):
            column = self._column(test.this)
            return column.nulls if column is not None and not column.is_guess else defaults.IS_NULL
        if isinstance(test, exp.Like | exp.ILike | exp.SimilarTo | exp.RegexpLike | exp.StartsWith):
            return defaults.LIKE
        if isinstance(test, exp.EQ | exp.Func) and not isinstance(test, exp.Exists):
            return defaults.BOUND
        return defaults.SUBQUERY

    def _not(self, test: exp.Expr) -> float:
        if isinstance(test, exp.Is):
            return 1.0 - self.of(test)
        return max(0.0, 1.0 - self.of(test))

    def _column(self, expr: exp.Expr) -> ColumnEstimate | None:
        id = column_id(bare(expr))
        return self._rows.column(id) if id is not None and id in self._own else None

    def _sides(self, test: exp.Expr) -> tuple[ColumnEstimate | None, exp.Expr, bool]:
        """The column, what it is compared with, and whether they stand the other way round."""
        column = self._column(test.this)
        if column is not None:
            return column, test.expression, False
        return self._column(test.expression), test.this, True

    def _equal(self, test: exp.Expr) -> float:
        listed = self._members(test.expression)
        column, other, _ = self._sides(test)
        if listed is not None:
            return self._listed(column, listed)
        if column is None:
            return defaults.EQUAL
        second = self._column(other)
        if second is not None:
            return min(column.one(), second.one())
        value = self._value(other, column.family)
        return column.one() if value is None else column.of_value(value)

    def _value(self, expr: exp.Expr, family: Family) -> str | float | None:
        scalar = scalar_of(expr, family, self._peek)
        return _text(expr, self._peek) if scalar is None else scalar

    def _listed(self, column: ColumnEstimate | None, count: float) -> float:
        return min(1.0, count * (column.one() if column is not None else defaults.EQUAL))

    def _listed_by(self, query: exp.Expr) -> float | None:
        """How many different values a subquery gives."""
        plan = plan_of(query)
        if plan is None:
            return self._members(query)
        return self._estimate(plan).distinct(o.id for o in plan.outputs)

    def _bound(self, test: exp.Expr) -> float:
        column, other, is_flipped = self._sides(test)
        value = scalar_of(other, column.family, self._peek) if column is not None else None
        before = column.before(value) if column is not None and value is not None else None
        if column is None or value is None or before is None:
            return defaults.BOUND
        kind = _FLIPPED[type(test)] if is_flipped else type(test)
        if kind in (exp.LTE, exp.GT):
            before += column.of_value(value)
        share = before if kind in (exp.LT, exp.LTE) else 1.0 - before
        return min(1.0, max(share, 0.0)) * (1.0 - column.nulls)

    def _between(self, test: exp.Between) -> float:
        column = self._column(test.this)
        low, high = self._before(column, test.args["low"]), self._before(column, test.args["high"])
        if column is None or low is None or high is None:
            return defaults.BETWEEN
        return min(1.0, max(high - low, 0.0) + 1.0 / max(column.distinct, 1.0)) * (1.0 - column.nulls)

    def _before(self, column: ColumnEstimate | None, other: exp.Expr) -> float | None:
        if column is None:
            return None
        value = scalar_of(other, column.family, self._peek)
        return None if value is None else column.before(value)

    def _in(self, test: exp.In) -> float:
        column = self._column(test.this)
        if test.args.get("query") is not None:
            listed = self._listed_by(test.args["query"])
            return defaults.SUBQUERY if listed is None else self._listed(column, listed)
        if len(test.expressions) == 1:
            listed = self._members(test.expressions[0])
            if listed is not None:
                return self._listed(column, listed)
        if column is None:
            return min(1.0, defaults.EQUAL * len(test.expressions))
        values = (self._value(member, column.family) for member in test.expressions)
        return min(1.0, sum(column.one() if value is None else column.of_value(value) for value in values))


def _paired(conjuncts: Iterable[exp.Expr]) -> list[exp.Expr]:
    """A lower and an upper bound of one column are one BETWEEN: the share between them, not a product."""
    lows: dict[exp.Expr, exp.Expr] = {}
    highs: dict[exp.Expr, exp.Expr] = {}
    others = []
    for conjunct in conjuncts:
        test = bare(conjunct)
        if isinstance(test, exp.GT | exp.GTE) and type(test.this) is exp.Column and test.this not in lows:
            lows[test.this] = test
        elif isinstance(test, exp.LT | exp.LTE) and type(test.this) is exp.Column and test.this not in highs:
            highs[test.this] = test
        else:
            others.append(test)
    for column in lows.keys() & highs.keys():
        low, high = lows.pop(column).expression, highs.pop(column).expression
        others.append(exp.Between(this=column.copy(), low=low.copy(), high=high.copy()))
    return [*others, *lows.values(), *highs.values()]


def _text(expr: exp.Expr, peek: Peek) -> str | None:
    """A constant as ANALYZE writes values; None if it is none."""
    expr = bare(expr)
    if isinstance(expr, exp.Cast | exp.TryCast):
        return _text(expr.this, peek)
    if isinstance(expr, exp.Literal):
        return expr.name
    if isinstance(expr, exp.Placeholder):
        value = peek(expr.name)
        if isinstance(value, Written):
            return value.literal().name
        return None if value is None or isinstance(value, list | dict | bytes) else str(value)
    return None
