"""Keys of one side of a join as a predicate on the other: `column IN $keys`, values that run first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlglot import exp

from shardwise.catalog.types import Family, type_family
from shardwise.plan.nodes import (
    Aggregate,
    ColumnId,
    Distinct,
    Filter,
    Item,
    Limit,
    Local,
    Node,
    Project,
    Rows,
    Scan,
)
from shardwise.plan.run import Bound
from shardwise.plan.tree import column, free_columns, names_read, walk
from shardwise.planner.determinism import is_deterministic
from shardwise.planner.distribution import Analysis, Split
from shardwise.planner.early_values import different
from shardwise.planner.equivalence import Pair, equalities
from shardwise.planner.firsts import KEYS_MAX, Early
from shardwise.planner.pass_context import PlanContext
from shardwise.planner.route_keys import place

_UNKNOWN = "keys of the other side"
_ON_A_LINE = frozenset({Family.INT, Family.DECIMAL, Family.DATE, Family.TIMESTAMP})


def _asked_of_keys(many: Node, key: ColumnId) -> Node:
    """The side as it would be narrowed, by keys that are not known yet."""
    return Filter(input=many, conjuncts=(in_keys(key, _UNKNOWN),))


def may_be_asked(many: Node, key: ColumnId, analysis: Analysis) -> bool:
    """Whether the shards that have the side may be asked for its rows of some keys alone."""
    where = analysis.of(many)
    if not isinstance(where, Split) or free_columns(many):
        return False
    return not analysis.are_foreign(where.shards) or analysis.allows(_asked_of_keys(many, key), where.shards)


def in_keys(key: ColumnId, name: str) -> exp.In:
    """How it reads while the keys are not known: what EXPLAIN shows."""
    return exp.In(this=column(key), expressions=[exp.Placeholder(this=name)])


def is_repeatable(side: Node, ctx: PlanContext) -> bool:
    """Whether the side alone gives the same rows each time."""
    alone = not free_columns(side) and not names_read(side)
    reads = bool(side.kinds & {Scan, Local})
    return alone and reads and is_deterministic(side, ctx.type_of)


def waits(side: Node, ctx: PlanContext) -> bool:
    """Whether it reads what has not run yet, as values or as rows: it will be asked again when that is
    known."""
    unknown = {early.name for early in ctx.firsts.found} - ctx.firsts.bound.keys()
    values = {p.name for n in walk(side) for e in n.expressions for p in e.find_all(exp.Placeholder)}
    rows = {n.name for n in walk(side) if isinstance(n, Rows)}
    return not unknown.isdisjoint(values | rows)


def name_of_keys(mine: ColumnId, theirs: ColumnId) -> ColumnId:
    """What keys are known by, in each planning of a statement."""
    return ColumnId(f"keys of {mine.rel}.{mine.name} for {theirs.rel}.{theirs.name}", "key")


def key_pairs(on: Sequence[exp.Expr], ctx: PlanContext) -> list[Pair]:
    """The columns that the conjuncts make equal, such that keys of one may be asked of the other: numbers,
    and texts by the collation that both have, however they are spelled."""
    return equalities(on, ctx.types, linked=ctx.early.keys_meet)


def condition_of(few: Node, mine: ColumnId, theirs: ColumnId, ctx: PlanContext) -> exp.Expr | None:
    """`theirs` IN the keys: of rows that ran first, else they run first themselves. If there are too many,
    `theirs` between the least and the largest. None if they do not travel."""
    if isinstance(few, Rows):
        came = ctx.firsts.bound.get(few.name)
        if came is None:
            return in_keys(theirs, few.name)
        position = next(i for i, o in enumerate(few.columns) if o.id == mine)
        if not ctx.early.keys_travel(came, position):
            return None
        return among(theirs, few.name, came, position, ctx)
    if "range" in ctx.forced and (found := within(few, mine, theirs, ctx)) is not None:
        return found
    rel = name_of_keys(mine, theirs).rel
    distinct = Distinct(input=Project(input=few, rel=rel, items=(Item("key", column(mine)),)))
    plan = at_most(distinct, KEYS_MAX)
    early = _same_keys(plan, ctx) or ctx.firsts.add("keys", plan)
    bound = ctx.firsts.bound.get(early.name)
    if bound is None:
        return in_keys(theirs, early.name)
    if bound.rows is None:
        return within(few, mine, theirs, ctx)
    if not ctx.early.keys_travel(bound, 0):
        return None
    return among(theirs, early.name, bound, 0, ctx)


def within(few: Node, mine: ColumnId, theirs: ColumnId, ctx: PlanContext) -> exp.Expr | None:
    """`theirs` between the least and the largest key, of numbers and days: texts have collations."""
    type_ = ctx.types[mine].type
    if type_ is None or not ctx.early.value_may_travel(type_):
        return None
    if type_family(type_, ctx.catalog.dialect) not in _ON_A_LINE:
        return None
    rel = f"range of {mine.rel}.{mine.name} for {theirs.rel}.{theirs.name}"
    calls = (Item("least", exp.Min(this=column(mine))), Item("largest", exp.Max(this=column(mine))))
    early = ctx.firsts.add("range", Aggregate(input=few, rel=rel, keys=(), calls=calls))
    bound = ctx.firsts.bound.get(early.name)
    if bound is None:
        ends = [exp.Placeholder(this=early.name) for _ in calls]
        return exp.Between(this=column(theirs), low=ends[0], high=ends[1])
    if bound.rows is None:  # it failed: a day that the driver has no object for, a division by zero
        return None
    ((least, largest),) = bound.rows or ((None, None),)
    if least is None:
        return exp.false()
    if not all(
        ctx.early.travels(Bound((t,), [(v,)])) for t, v in zip(bound.types, (least, largest), strict=True)
    ):
        return None
    low = ctx.early.value(ctx.parameters.bind_value(f"{early.name}_least", least), bound.types[0])
    high = ctx.early.value(ctx.parameters.bind_value(f"{early.name}_largest", largest), bound.types[1])
    return exp.Between(this=column(theirs), low=low, high=high)


def among(theirs: ColumnId, name: str, bound: Bound, position: int, ctx: PlanContext) -> exp.Expr:
    """`theirs` among the values of one of the columns that ran first under `name`. NULL meets nothing."""
    keys = different(row[position] for row in bound.rows or () if row[position] is not None)
    if not keys:
        return exp.false()
    parameter = ctx.parameters.bind_keys(name, ctx.early.list_type(keys))
    return ctx.early.is_among(column(theirs), parameter, bound.types[position])


def at_most(plan: Node, rows: int) -> Limit:
    """No shard gives more than are of use, and one more that tells that there are too many."""
    return Limit(input=plan, count=exp.Literal.number(rows + 1))


def together(
    few: Rows, many: Node, pairs: Sequence[tuple[ColumnId, ColumnId]], ctx: PlanContext
) -> exp.Expr | None:
    """Several columns among those of one row that came: `(a, b) IN` the pairs, which go each to its own shard
    if one of the columns of `many` says where. None where the rows are not known yet."""
    came = ctx.firsts.bound.get(few.name)
    if came is None or came.rows is None:
        return None
    by_id = {o.id: position for position, o in enumerate(few.columns)}
    positions = [by_id[mine] for mine, _ in pairs]
    rows = different(tuple(row[p] for p in positions) for row in came.rows)
    keys = [row for row in rows if None not in row]
    if not keys:
        return exp.false()

    def bind(suffix: str, values: Sequence[Any]) -> exp.Expr:
        return ctx.parameters.bind_list(f"{few.name}_of_{suffix}", values, f"{few.name} together")

    types = [came.types[p] for p in positions]
    found = ctx.early.are_among([column(theirs) for _, theirs in pairs], keys, types, bind)
    for at, (position, (_, theirs)) in enumerate(zip(positions, pairs, strict=True)):
        if ctx.early.keys_travel(came, position):
            place(found, [key[at] for key in keys], theirs, many, ctx)
    return found


def _same_keys(plan: Node, ctx: PlanContext) -> Early | None:
    """The keys, if they are asked for already."""
    return next(
        (early for early in ctx.firsts.found if early.use == "keys" and _is_same(early.plan, plan)), None
    )


def _is_same(one: Node, other: Node) -> bool:
    """Whether both compute the same of the very same rows."""
    mine, theirs = one.inputs[0].inputs[0], other.inputs[0].inputs[0]
    same = isinstance(mine, Project) and isinstance(theirs, Project) and mine.items == theirs.items
    return same and mine.inputs[0] is theirs.inputs[0]
