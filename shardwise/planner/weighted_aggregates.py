"""Aggregates over a join of which a side was grouped before: what its groups give, and what finishes that.

    sum(l.v)        of the grouped side       sum(v) AS p0          sum(p0)
    sum(l.v)        if the other is, too      sum(v) AS p0          sum(p0 * n)      n rows of the other side
    sum(o.w)        of a side of rows                               sum(w * n)       n rows of the grouped one
    count(*)                                                        sum(n)
    count(DISTINCT l.v)                       grouped by v          count(DISTINCT v)
    min(l.v)                                  min(v) AS p0          min(p0)

The parts are those of the query's dialect (`Dialect.combine`), as between shards and merge. A sum or a count
is to be taken as often as the other sides' groups have rows; an average, a deviation, an extreme of equal
copies is what it is of one. A side that is not grouped is a side of groups of one row.

Yan & Larson, "Performing Group-By before Join" (ICDE 1994) and "Eager Aggregation and Lazy Aggregation" (VLDB
1995): the first line is eager group-by, the third and fourth eager count, the second double eager.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from shardwise.plan.nodes import ColumnId, Item
from shardwise.plan.tree import column, columns_in, operand, plans_in
from shardwise.planner.aggregate_names import REDUNDANT_DISTINCT, aggregate_name
from shardwise.planner.aggregate_sql import Call, take_apart
from shardwise.planner.aggregates import Combined, is_aggregate
from shardwise.planner.families import Kind, kind_of, words
from shardwise.planner.functions import can_fail, is_volatile, null_in_null_out, rejects_null
from shardwise.planner.pass_context import PlanContext
from shardwise.planner.wide_numbers import widened

KNOWN = words(
    """
    any_value avg bit_and bit_or bool_and bool_or count max min stddev_pop stddev_samp sum var_pop var_samp
    """
)
"""What is right from parts of no rows at all, for a join may leave none: count_if would be NULL."""
COUNT = "n"
_ADDED = words("avg count sum")
_TWO = -1
_SUM_DIGITS_MAX = 31
"""Ten million values of so many digits have a sum of 38."""


@dataclass(frozen=True, slots=True)
class GroupableSide:
    """A side that may be grouped: its columns, and whether a join above fills them with NULL."""

    columns: frozenset[ColumnId]
    is_nullable: bool

    def passes_null(self, expr: exp.Expr) -> bool:
        """Whether the value of a row that is filled with NULL is NULL, as is that of no group."""
        return not self.is_nullable or null_in_null_out(expr, set(self.columns))

    def rejects_null(self, test: exp.Expr) -> bool:
        return not self.is_nullable or rejects_null(test, set(self.columns))


@dataclass(frozen=True, slots=True)
class Grouped:
    """What a grouped side gives for the calls; `rel` is its name, `count` that of its number of rows."""

    rel: str
    keys: tuple[Item, ...]
    calls: tuple[Item, ...]


def weighted(
    calls: Sequence[Item], sides: Sequence[GroupableSide], rels: Sequence[str], ctx: PlanContext
) -> tuple[list[Grouped], tuple[Item, ...]] | None:
    """What each side gives, and the calls over that; None if a call has no such parts."""
    owners = [_owner(item.expr, sides) for item in calls]
    if _TWO in owners:
        return None
    weights = [_weight(side, rel) for side, rel in zip(sides, rels, strict=True)]
    finals: list[exp.Expr] = [item.expr for item in calls]
    given = []
    for number, (side, rel) in enumerate(zip(sides, rels, strict=True)):
        mine = [i for i, owner in enumerate(owners) if owner == number]
        others = [w for other, w in enumerate(weights) if other != number]
        found = _of_side([finals[i] for i in mine], side, rel, others, ctx)
        if found is None:
            return None
        given.append(found[0])
        for i, final in zip(mine, found[1], strict=True):
            finals[i] = final
    for i, (item, owner) in enumerate(zip(calls, owners, strict=True)):
        if owner is None:
            of_rows = _of_rows(item.expr, weights, ctx)
            if of_rows is None:
                return None
            finals[i] = of_rows
    items = tuple(item._replace(expr=final) for item, final in zip(calls, finals, strict=True))
    return given, items


def _owner(call: exp.Expr, sides: Sequence[GroupableSide]) -> int | None:
    """The side that the call is of; None if of none of them, `_TWO` if it reads a side and another."""
    read = columns_in(call)
    owners = [i for i, side in enumerate(sides) if side.columns & read]
    if not owners:
        return None
    return owners[0] if read <= sides[owners[0]].columns else _TWO


def _weight(side: GroupableSide, rel: str) -> exp.Expr:
    """How many rows the side's group has; the one row that an outer join filled with NULL is one."""
    count = column(ColumnId(rel, COUNT))
    if not side.is_nullable:
        return count
    return exp.Anonymous(this="COALESCE", expressions=[count, exp.Literal.number(1)])


# Calls of a grouped side


def _of_side(
    calls: Sequence[exp.Expr], side: GroupableSide, rel: str, weights: Sequence[exp.Expr], ctx: PlanContext
) -> tuple[Grouped, list[exp.Expr]] | None:
    if not all(_may_go_below(call, side, ctx) for call in calls):
        return None
    combined = _combined(calls, ctx)
    if combined is None:
        return None
    items: list[Item] = []
    by: dict[str, exp.Expr] = {}
    for name, partial in combined.partials:
        found = _below(name, partial, rel, weights, ctx)
        if found is None:
            return None
        items += found[0]
        by[name] = found[1]
    by |= {name: column(ColumnId(rel, name)) for name, _ in combined.keys}
    keys = tuple(Item(name, expr) for name, expr in combined.keys)
    items.append(Item(COUNT, exp.Count(this=exp.Star(), big_int=True)))
    return Grouped(rel, keys, tuple(items)), [_placed(final, by) for final in combined.finals]


def _below(
    name: str, partial: exp.Expr, rel: str, weights: Sequence[exp.Expr], ctx: PlanContext
) -> tuple[list[Item], exp.Expr] | None:
    """What the groups give for a part, and the part over that, as often as the group occurs.

    A part is an aggregate, or computed of some: a variance's mean is put between the least and the greatest.
    """
    items: list[Item] = []
    values: list[exp.Expr | None] = []

    def swap(part: exp.Expr) -> exp.Expr:
        if not is_aggregate(part):
            return part
        items.append(Item(f"{name}_{len(items)}" if items else name, part))
        read = column(ColumnId(rel, items[-1].name))
        values.append(_times(part, read, weights, ctx))
        return values[-1] or read

    whole = partial.copy().transform(swap)
    calls = [_without_error(item.expr, ctx) for item in items]
    if None in values or None in calls:
        return None
    return [
        item._replace(expr=call) for item, call in zip(items, calls, strict=True) if call is not None
    ], whole


def _may_go_below(call: exp.Expr, side: GroupableSide, ctx: PlanContext) -> bool:
    """Whether it may be computed of rows that the join drops, and of a row filled with NULL it is nothing.

    count(coalesce(l.v, 0)) over a LEFT JOIN l counts the row without an l.
    """
    parts = take_apart(call)
    if parts is None or not _is_known(call, parts):
        return False
    if parts.condition is not None:
        if _may_raise(parts.condition, ctx):
            return False
        if side.rejects_null(parts.condition):
            return True
    return all(
        isinstance(argument, exp.Star) or side.passes_null(argument) for argument in parts.args
    ) and not (side.is_nullable and any(isinstance(argument, exp.Star) for argument in parts.args))


def _is_known(call: exp.Expr, parts: Call) -> bool:
    is_plain = not is_volatile(call) and not any(plans_in(call)) and not parts.order
    return is_plain and parts.name in KNOWN and (len(parts.args) == 1 or parts.name == "count")


def _combined(calls: Sequence[exp.Expr], ctx: PlanContext) -> Combined | None:
    """The calls in parts, if no row has to be repeated, and no key may fail."""
    combined = ctx.dialect.combine(calls, ctx.type_of)
    if combined is None or combined.expand or combined.count is not None:
        return None
    return None if any(_may_raise(key, ctx) for _, key in combined.keys) else combined


def _may_raise(expr: exp.Expr, ctx: PlanContext) -> bool:
    if not can_fail(expr, ctx.type_of):
        return False
    # Whole numbers overflow in every dialect but SQLite's, and MySQL's DOUBLEs.
    return not ctx.dialect.never_fails(expr) or expr.find(exp.Add, exp.Sub, exp.Mul, exp.Div) is not None


def _without_error(partial: exp.Expr, ctx: PlanContext) -> exp.Expr | None:
    """The part so that it raises for no rows; None if there is no such."""
    call = partial.this if isinstance(partial, exp.Filter) else partial
    if isinstance(call, exp.Sum):
        return _sum_without_error(partial, call, ctx)
    arguments = [e for e in call.iter_expressions() if not isinstance(e, exp.Star)]
    if not any(_may_raise(argument, ctx) for argument in arguments) or _is_of_numbers(call, ctx):
        return partial
    if not isinstance(call, exp.Count):
        return None
    return _with_argument(partial, call, ctx)


def _is_of_numbers(call: exp.Expr, ctx: PlanContext) -> bool:
    """A part of `aggregate_moments`, of one column of exact numbers: others may overflow."""
    kinds = [kind_of(e, ctx.type_of) for e in call.find_all(exp.Column)]
    is_part = isinstance(call, exp.Avg | exp.VariancePop | exp.Min | exp.Max) and not call.find(exp.Binary)
    return is_part and all(kind is not None and kind.family in ("integer", "decimal") for kind in kinds)


def _sum_without_error(partial: exp.Expr, call: exp.Sum, ctx: PlanContext) -> exp.Expr | None:
    argument = call.this
    kind = kind_of(argument, ctx.type_of)
    if ctx.dialect.sums_overflow:
        return None
    if isinstance(argument, exp.Column) and kind is not None and kind.family == "float":
        return partial
    if (
        kind is not None
        and not _may_raise(argument, ctx)
        and kind.digits <= _SUM_DIGITS_MAX
        and kind.is_numeric
    ):
        return partial
    return _with_argument(partial, call, ctx)


def _with_argument(partial: exp.Expr, call: exp.Expr, ctx: PlanContext) -> exp.Expr | None:
    """The part over its argument made wide."""
    found = widened(call.this, ctx.type_of, ctx.dialect.wide)
    if found is None or found.kind.digits > _SUM_DIGITS_MAX:
        return None
    after = partial.copy()
    (after.this if isinstance(after, exp.Filter) else after).set("this", found.expr.copy())
    return after


# How often


def _times(
    partial: exp.Expr, value: exp.Expr, weights: Sequence[exp.Expr], ctx: PlanContext
) -> exp.Expr | None:
    """A part as often as it occurs: sums and counts are taken so many times, the others are as they are."""
    if not weights:
        return value
    call = partial.this if isinstance(partial, exp.Filter) else partial
    if isinstance(call, exp.Sum):
        kind = kind_of(call.this, ctx.type_of)
        return None if kind is None else _product(value, _summed(kind), weights, ctx)
    if isinstance(call, exp.Count):
        return _product(value, None, weights, ctx)
    is_same = aggregate_name(call) in REDUNDANT_DISTINCT or isinstance(call, exp.Avg | exp.VariancePop)
    return value if is_same else None


def _summed(kind: Kind) -> Kind:
    return Kind(kind.family, 38, kind.scale)


def _product(
    value: exp.Expr, kind: Kind | None, weights: Sequence[exp.Expr], ctx: PlanContext
) -> exp.Expr | None:
    """The value so many times. 0.1 + … + 0.1 is not 10 * 0.1: a floating-point number is not multiplied.

    `kind`: of a sum or a value; None of a count, which is in range as long as the number of rows is.
    """
    if kind is not None:
        if kind.family not in ("integer", "decimal"):
            return None
        room = ctx.dialect.wide(value, kind)
        if room is None:
            return None
        value = room
    for weight in weights:
        value = exp.Mul(this=operand(value), expression=weight.copy())
    return value


def _placed(final: exp.Expr, by: dict[str, exp.Expr]) -> exp.Expr:
    def swap(part: exp.Expr) -> exp.Expr:
        if type(part) is exp.Column and not part.table:
            value = by[part.name]
            return value.copy() if _stands_alone(part) else operand(value)
        return part

    return final.copy().transform(swap)


def _stands_alone(part: exp.Expr) -> bool:
    return isinstance(part.parent, exp.Sum | exp.Min | exp.Max)


# Calls of rows


def _of_rows(call: exp.Expr, weights: Sequence[exp.Expr], ctx: PlanContext) -> exp.Expr | None:
    """A call over sides that are not grouped: each row stands for as many as it meets."""
    parts = take_apart(call)
    if parts is None or not _is_known(call, parts):
        return None
    if parts.distinct or parts.name in REDUNDANT_DISTINCT:
        return call
    combined = _combined([call], ctx) if parts.name in _ADDED else None
    if combined is None or combined.keys:
        return None
    by = {}
    for name, partial in combined.partials:
        value = _of_row(partial, weights, ctx)
        if value is None:
            return None
        by[name] = value
    return _placed(combined.finals[0], by)


def _of_row(partial: exp.Expr, weights: Sequence[exp.Expr], ctx: PlanContext) -> exp.Expr | None:
    """The part of a group of one row, as often as it occurs."""
    condition = partial.expression.this if isinstance(partial, exp.Filter) else None
    call = partial.this if isinstance(partial, exp.Filter) else partial
    argument = call.this
    tests = [condition] if condition is not None else []
    if isinstance(call, exp.Count):
        if call.expressions:
            return None
        if not isinstance(argument, exp.Star | exp.Literal):
            tests.append(exp.Not(this=exp.Is(this=operand(argument), expression=exp.Null())))
        times = _product(weights[0], None, weights[1:], ctx)
        assert times is not None
        return _where(tests, times, exp.Literal.number(0))
    if not isinstance(call, exp.Sum):
        return None
    found = widened(argument, ctx.type_of, ctx.dialect.wide)
    kind = found.kind if found is not None else kind_of(argument, ctx.type_of)
    value = found.expr if found is not None else argument
    product = None if kind is None else _product(value, kind, weights, ctx)
    return None if product is None else _where(tests, product, None)


def _where(tests: Sequence[exp.Expr], value: exp.Expr, other: exp.Expr | None) -> exp.Expr:
    if not tests:
        return value
    test = exp.and_(*(test.copy() for test in tests)) if len(tests) > 1 else tests[0].copy()
    return exp.Case(ifs=[exp.If(this=test, true=value)], default=other)
