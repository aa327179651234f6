"""join_aggregates: a correlated subquery that is one aggregate becomes a LEFT JOIN of the aggregate by group.

    Filter l.q < 0.2 * (subquery)           Filter l.q < 0.2 * a
    ├─ Join l.part = p.id                   └─ Left join on k = p.id
    └─ Aggregate: a = avg(m.q)       =>        ├─ Join l.part = p.id
       └─ Filter m.part = p.id                 └─ Aggregate by k = m.part: a = avg(m.q)
          └─ Scan m                               └─ Scan m

What the subquery reads for a row may be on any shard: without this pass all rows of `m` go to the merge,
which asks them for each outer row. With it groups leave the shards, and the merge joins by equality.

Sound: equal keys are one group, so that each row meets one or none and no row is lost or doubled. Of none
the aggregate is NULL, as it is of no rows, and COUNT is 0. NULL meets nothing, as `=` says. What is computed
of the aggregate is computed where the subquery stood. Restrictions, each with the query that needs it:

- A subquery whose rows are on the outer row's shard stays there.
- All that is correlated is `column = column` of types that `=` and GROUP BY compare alike: of `m.t = p.n`, a
  text beside a number, '1' and '01' both meet 1, and are two groups. So are texts of one collation (of
  two, one of them says what is equal); floating-point numbers are left out for NaN and -0.0.
- Groups that no row asks for are computed as well, and nothing that is computed of them may raise:
  sum(1 / m.x), WHERE CAST(m.t AS INT) = 1, or SQLite's sum of whole numbers. An engine may even compute what
  stands over the join before it joins: CAST(avg(m.q) AS TINYINT) > l.q, and 1 / l.x > (SELECT avg(m.q) …)
  beside a condition that guards it.
- Computing it once for all has to give the same: no random().
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from shardwise.catalog.types import Family, read_type, type_family
from shardwise.plan.nodes import Aggregate, ColumnId, Filter, Item, Join, Keep, Node, Project, Scan
from shardwise.plan.tree import (
    bare,
    column,
    column_id,
    free_columns,
    map_expressions,
    operand,
    parted,
    plan_of,
    rewrite,
    walk,
)
from shardwise.planner.bind.scope import unique_names
from shardwise.planner.distribution import Analysis, Merged, stays
from shardwise.planner.equivalence import is_binary, renames
from shardwise.planner.families import kind_of
from shardwise.planner.functions import can_fail, is_volatile
from shardwise.planner.pass_context import PlanContext
from shardwise.planner.push_filters import push_filters

Correlation = tuple[ColumnId, ColumnId]
"""A column of the subquery's, and the outer one that it is equal to."""

_EXACT = frozenset({Family.INT, Family.DECIMAL, Family.DATE, Family.TIMESTAMP, Family.BOOL, Family.UUID})
_ORDERED = frozenset({Family.INT, Family.DECIMAL, Family.DATE, Family.TIMESTAMP})
_INTEGERS = frozenset(
    {"TINYINT", "SMALLINT", "MEDIUMINT", "INT", "INTEGER", "BIGINT", "INT2", "INT4", "INT8"}
)
_HUGE = frozenset({"HUGEINT", "UHUGEINT", "INT128", "UINT128"})
_DIGITS_MAX = 20
"""Ten thousand million values of so many digits have a sum of 30, and its product with a factor 36."""
_FACTOR_DIGITS_MAX = 6
_CONTEXTS = (exp.Paren, exp.Not, exp.And, exp.Or, exp.Is, exp.Between, exp.Coalesce)
_COMPARISONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE)
_MODELLED = (Scan, Filter, Join, Project)


def join_aggregates(plan: Node, ctx: PlanContext) -> Node:
    if Aggregate not in plan.kinds or not plan.has_subqueries:
        return plan
    analysis = ctx.analysis()

    def change(node: Node) -> Node:
        if isinstance(node, Filter | Project) and node.subplans and isinstance(analysis.of(node), Merged):
            node = _joined(node, ctx, analysis)
        if isinstance(node, Project | Aggregate) and isinstance(node.input, Keep):
            node = node.but(input=node.input.input)  # it names what it reads
        return node

    after = rewrite(plan, change)
    if after is plan:
        return plan
    # What the joins make of the filters over them: an inner join, or one side's own.
    return push_filters(after, ctx)


def _joined(node: Filter | Project, ctx: PlanContext, analysis: Analysis) -> Node:
    """The node with each subquery that may be joined read from a join below it."""
    below = node.input
    values: list[tuple[Node, exp.Expr]] = []
    for expr in node.expressions:
        for part in expr.find_all(exp.Subquery):
            plan = plan_of(part)
            if plan is None or not _stands_well(part, expr) or stays(node, plan, analysis):
                continue
            grouped = _grouped(plan, node.input, ctx)
            if grouped is None or _may_fail(expr, part, grouped, ctx):
                continue
            below = Join(kind="left", left=below, right=grouped.node, on=grouped.on)
            values.append((plan, grouped.value))
    if not values:
        return node

    def swap(part: exp.Expr) -> exp.Expr:
        plan = plan_of(part)
        return next((operand(value) for of, value in values if of is plan), part)

    read = map_expressions(node, lambda e: e.copy().transform(swap) if e.find(exp.Subquery) else e)
    after = read.but(input=below)
    return Keep(input=after, columns=node.outputs) if isinstance(node, Filter) else after


@dataclass(frozen=True, slots=True)
class _Grouped:
    """The aggregate by group, what it is joined on, and what the subquery gives, over its columns."""

    node: Aggregate
    on: tuple[exp.Expr, ...]
    value: exp.Expr
    type: str
    """That of the value, as far as a comparison with it may fail."""


def _grouped(plan: Node, outer: Node, ctx: PlanContext) -> _Grouped | None:
    aggregate = plan.input if isinstance(plan, Project) else plan
    if not isinstance(aggregate, Aggregate) or aggregate.keys or aggregate.sets is not None:
        return None
    if len(plan.outputs) != 1 or len(aggregate.calls) != 1:
        return None
    if any(is_volatile(e) for n in walk(plan) for e in n.expressions):
        return None
    (call,) = aggregate.calls
    below, pairs = _lifted(aggregate.input)
    if not pairs or not all(_is_alike(pair, outer, ctx) for pair in pairs):
        return None
    if not _is_total(below, ctx) or not _sums_without_error(call.expr, below, ctx):
        return None
    value = plan.items[0].expr if isinstance(plan, Project) else column(aggregate.outputs[0].id)
    if not _computes_without_error(value, aggregate, ctx):
        return None
    calls, read = _calls(call, ColumnId(aggregate.rel, call.name), ctx)
    inner = tuple(dict.fromkeys(mine for mine, _ in pairs))
    names = unique_names([*(item.name for item in calls), *(id.name for id in inner)])[len(calls) :]
    keys = tuple(Item(name, column(id)) for name, id in zip(names, inner, strict=True))
    node = aggregate.but(input=below, keys=keys, calls=calls)
    ctx.learn(node)
    by = {id: column(ColumnId(node.rel, key.name)) for id, key in zip(inner, keys, strict=True)}
    on = tuple(exp.EQ(this=by[mine].copy(), expression=column(theirs)) for mine, theirs in pairs)
    old = ColumnId(aggregate.rel, call.name)
    value = value.copy().transform(lambda e: operand(read) if column_id(e) == old else e)
    return _Grouped(node, on, value, _type_beside(call.expr, ctx))


# What is correlated


def _lifted(node: Node) -> tuple[Node, tuple[Correlation, ...]]:
    """The tree without the equalities with outer columns that stand over it, and these."""
    if not free_columns(node):
        return node, ()
    if isinstance(node, Filter):
        below, pairs = _lifted(node.input)
        mine, rest = _parted(node.conjuncts, node)
        return (node.but(input=below, conjuncts=rest) if rest else below), pairs + mine
    if isinstance(node, Join) and node.kind in ("inner", "cross") and not node.lateral:
        left, on_left = _lifted(node.left)
        right, on_right = _lifted(node.right)
        mine, rest = _parted(node.on, node)
        return node.but(left=left, right=right, on=rest), on_left + on_right + mine
    if isinstance(node, Project):
        below, pairs = _lifted(node.input)
        copies = renames(node.rel, node.items)
        if all(mine in copies for mine, _ in pairs):
            return node.but(input=below), tuple((copies[mine][0], theirs) for mine, theirs in pairs)
    return node, ()


def _parted(
    conjuncts: tuple[exp.Expr, ...], node: Node
) -> tuple[tuple[Correlation, ...], tuple[exp.Expr, ...]]:
    correlated, rest = parted(conjuncts, lambda c: _pair(c, node) is not None)
    return tuple(pair for c in correlated if (pair := _pair(c, node)) is not None), rest


def _pair(conjunct: exp.Expr, node: Node) -> Correlation | None:
    test = bare(conjunct)
    if type(test) is not exp.EQ:
        return None
    one, other = column_id(bare(test.this)), column_id(bare(test.expression))
    if one is None or other is None or (one in node.output_ids) == (other in node.output_ids):
        return None
    return (one, other) if one in node.output_ids else (other, one)


def _is_alike(pair: Correlation, outer: Node, ctx: PlanContext) -> bool:
    """Whether `=` between them compares as GROUP BY does, so that equal to one value is one group."""
    mine, theirs = (ctx.types.get(id) for id in pair)
    if mine is None or theirs is None or theirs.id not in outer.output_ids:
        return False
    if mine.type is None or theirs.type is None:
        return False
    if type_family(mine.type, ctx.dialect.name) is Family.TEXT:
        return ctx.early.keys_meet(mine.id, theirs.id, ctx.types)
    if not (is_binary(mine.collation) and is_binary(theirs.collation)):
        return False
    one, other = (" ".join(text.upper().split()) for text in (mine.type, theirs.type))
    if ctx.dialect.family(one) not in _EXACT or ctx.dialect.family(other) not in _EXACT:
        return False
    return one == other or {one, other} <= _INTEGERS


# What may raise


def _is_total(node: Node, ctx: PlanContext) -> bool:
    """Whether all of it reads tables, nothing from outside, and raises for no row."""
    nodes = list(walk(node))
    if free_columns(node) or not any(isinstance(n, Scan) for n in nodes):
        return False
    for n in nodes:
        if not isinstance(n, _MODELLED) or n.subplans or any(_can_fail(e, ctx) for e in n.expressions):
            return False
        if isinstance(n, Join) and (n.lateral or n.kind in ("asof", "asof_left", "positional")):
            return False
    return True


def _can_fail(expr: exp.Expr, ctx: PlanContext) -> bool:
    return can_fail(expr, ctx.type_of) and not ctx.dialect.never_fails(expr)


def _sums_without_error(call: exp.Expr, below: Node, ctx: PlanContext) -> bool:
    """Whether it is an aggregate of a column that is NULL of no rows (COUNT: 0), and raises for no group."""
    argument = call.this
    if isinstance(call, exp.Count):
        return not call.expressions and (type(argument) is exp.Star or _is_of(argument, below))
    if not isinstance(call, exp.Sum | exp.Avg | exp.Min | exp.Max) or not _is_of(argument, below):
        return False
    text = ctx.type_of(argument)
    family = ctx.dialect.family(text) if text is not None else None
    if isinstance(call, exp.Min | exp.Max):
        return not call.args.get("expressions") and family in _ORDERED
    if isinstance(call, exp.Sum) and ctx.dialect.sums_overflow:
        return False
    return family in (Family.INT, Family.DECIMAL) and _is_narrow(text or "", ctx)


def _is_of(argument: exp.Expr, below: Node) -> bool:
    return column_id(argument) in below.output_ids


def _is_narrow(text: str, ctx: PlanContext) -> bool:
    """Whether no table has so many rows that the sum of the type's values is out of range."""
    found = read_type(text, ctx.dialect.name)
    if found is None or found.name in _HUGE:
        return False
    digits = next((int(a) for a in found.arguments if a.isdigit()), 0)
    return found.family is Family.INT or digits <= _DIGITS_MAX


def _computes_without_error(value: exp.Expr, aggregate: Aggregate, ctx: PlanContext) -> bool:
    """Whether it is the aggregate, or the product, quotient, sum or difference of it and a short number."""
    value, (call,) = bare(value), aggregate.calls
    result = ColumnId(aggregate.rel, call.name)
    if column_id(value) == result:
        return True
    if not isinstance(value, exp.Mul | exp.Div | exp.Add | exp.Sub) or isinstance(
        call.expr, exp.Min | exp.Max
    ):
        return False
    left, right = bare(value.this), bare(value.expression)
    number = left if column_id(right) == result else right
    if result not in (column_id(left), column_id(right)) or not isinstance(
        number, exp.Literal | exp.Placeholder
    ):
        return False
    kind = kind_of(number)
    if kind is None or kind.family not in ("integer", "decimal") or kind.digits > _FACTOR_DIGITS_MAX:
        return False
    if isinstance(value, exp.Div):
        return number is right and isinstance(number, exp.Literal) and float(number.name) != 0
    is_whole = (
        isinstance(call.expr, exp.Sum) and ctx.dialect.family(ctx.type_of(call.expr.this) or "") is Family.INT
    )
    return kind.family == "decimal" or not is_whole  # PostgreSQL's sum of INTEGERs is a BIGINT


def _stands_well(part: exp.Expr, expr: exp.Expr) -> bool:
    """Whether it is a value there, in nothing but comparisons and what puts these together."""
    over = part
    while over is not expr:
        assert over.parent is not None
        over = over.parent
        is_choice = isinstance(over, exp.Anonymous) and over.name.lower() in ("coalesce", "ifnull")
        if not is_choice and not isinstance(over, (*_CONTEXTS, *_COMPARISONS)):
            return False
    return True


def _may_fail(expr: exp.Expr, part: exp.Expr, grouped: _Grouped, ctx: PlanContext) -> bool:
    """Whether what is computed of the value may raise: over a join it is not known when that is computed."""
    stand_in = exp.Column(this=exp.Identifier(this="value"))
    plan = plan_of(part)
    whole = expr.copy().transform(lambda e: stand_in.copy() if plan_of(e) is plan else e)

    def type_of(read: exp.Column) -> str | None:
        return ctx.type_of(read) if read.table else grouped.type

    return can_fail(whole, type_of) and not ctx.dialect.never_fails(whole)


def _type_beside(call: exp.Expr, ctx: PlanContext) -> str:
    """The type of an extreme is its column's; any number is as good as another."""
    if isinstance(call, exp.Min | exp.Max):
        return ctx.type_of(call.this) or ""
    return "BIGINT" if isinstance(call, exp.Count) else "DOUBLE"


# What is computed


def _calls(call: Item, id: ColumnId, ctx: PlanContext) -> tuple[tuple[Item, ...], exp.Expr]:
    """The calls by group, and the aggregate's value over their columns, of no group too.

    Where a derived table's average has fewer digits than the average it is divided over the join.
    """
    if isinstance(call.expr, exp.Count):
        value = [column(id), exp.Literal.number(0)]
        return (call,), exp.Anonymous(this="COALESCE", expressions=value)  # which every dialect writes
    if isinstance(call.expr, exp.Avg) and ctx.dialect.reader.cuts_quotients:
        count = f"{call.name}_count"
        calls = (
            Item(call.name, exp.Sum(this=call.expr.this.copy())),
            Item(count, exp.Count(this=call.expr.this.copy())),
        )
        return calls, exp.Div(this=column(id), expression=column(ColumnId(id.rel, count)))
    return (call,), column(id)
