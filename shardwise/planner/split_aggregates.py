"""split_aggregates: groups leave the shards, not rows.

    Aggregate by t.city: sum(t.v)         Aggregate by p.city: sum(p.p0)
    └─ Gather                       =>    └─ Gather
       └─ Scan t                             └─ Aggregate by t.city: p0 = sum(t.v)
                                                └─ Scan t

Which partials, and what finishes them, says `aggregates`. What has no partials is grouped by its argument as
well, and the merge repeats each row as often as it occurred. Grouping sets are made in the merge, over groups
of their union; HAVING stays above: SELECT g FROM t GROUP BY g HAVING count(*) > 1 is true of no shard's part
of a group.

Sources of another dialect must compute the partials as the query's does; then even an aggregate of one shard,
whose result they would compute otherwise (avg), is split.

A text of MySQL's that no column gives has a collation that gives way to any column's, and one of a shard's
rows has not: y.name >= (SELECT max(hex(t.k)) FROM t) would be an illegal mix of collations. What leaves the
shards then are rows.
"""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from shardwise.plan.nodes import Aggregate, ColumnId, Gather, Item, Join, Node, TableFunction
from shardwise.plan.tree import (
    column,
    columns_in,
    map_expressions,
    map_inputs,
    map_plans,
    plans_in,
    same,
)
from shardwise.planner.aggregates import Combined, is_aggregate
from shardwise.planner.bind.scope import unique_names
from shardwise.planner.borders import ANSWER, Use, use_of_value
from shardwise.planner.dialects import query_dialect
from shardwise.planner.distribution import Analysis
from shardwise.planner.functions import is_volatile
from shardwise.planner.pass_context import PlanContext


def split_aggregates(plan: Node, ctx: PlanContext) -> Node:
    return _change(plan, ANSWER, ctx, ctx.analysis()) if Aggregate in plan.kinds else plan


def _change(node: Node, use: Use, ctx: PlanContext, analysis: Analysis) -> Node:
    """`use` is what becomes of the node's columns."""
    is_whole = isinstance(node, Aggregate) and analysis.gives_way(node, use)
    use_below = analysis.use_of_input(node, use)
    node = map_inputs(node, lambda inner: _change(inner, use_below, ctx, analysis))
    if node.subplans:

        def valued(inner: Node) -> Node:
            return _change(inner, use_of_value(inner), ctx, analysis)

        node = map_expressions(node, lambda e: map_plans(e, valued))
    if not is_whole and isinstance(node, Aggregate) and isinstance(node.input, Gather):
        shards = node.input.shards
        if len(shards) > 1 or analysis.are_foreign(shards) or ctx.dialect.reader.cuts_quotients:
            return _split(node, node.input, ctx, analysis) or node
    return node


def may_split(node: Aggregate, shards: tuple[str, ...], ctx: PlanContext, analysis: Analysis) -> bool:
    """Whether groups of these shards' rows would leave them in parts.

    What is computed of aggregates, such as the clamped mean that is a part of a variance, has no parts.
    """
    if not all(is_aggregate(item.expr) for item in node.calls):
        return False
    trial = replace(ctx, names=ctx.names.copy())
    return _split(node, Gather(input=node.input, fragment="", shards=shards), trial, analysis) is not None


def _split(node: Aggregate, gather: Gather, ctx: PlanContext, analysis: Analysis) -> Node | None:
    calls = [item.expr for item in node.calls if is_aggregate(item.expr)]
    everything = [*calls, *(k.expr for k in node.keys)]
    if any(columns_in(e) - gather.output_ids for e in everything):
        return None  # reads an outer row, which the shards do not see
    if any(is_volatile(e) for e in everything) or any(True for e in everything for _ in plans_in(e)):
        return None
    if any(
        analysis.is_fragile(e)
        for e in (*calls, *(k.expr for k in node.keys if type(k.expr) is not exp.Column))
    ):
        return None
    if any(analysis.is_cut(e.this) for e in calls if isinstance(e, exp.Sum | exp.Avg | exp.Min | exp.Max)):
        return None
    if any(map(analysis.is_extreme_of_constants, calls)):
        return None
    combined = query_dialect(ctx.catalog.dialect).combine(calls, ctx.type_of)
    if combined is None:
        return None
    names = unique_names(
        [*(k.name for k in node.keys), *(n for n, _ in combined.keys + combined.partials), "n"]
    )
    width, extra = len(node.keys), len(combined.keys)
    rel = ctx.names.fresh("p")
    keys = [Item(n, k.expr) for n, k in zip(names, node.keys, strict=False)]
    keys += [Item(n, e) for n, (_, e) in zip(names[width:], combined.keys, strict=False)]
    partials = [Item(n, e) for n, (_, e) in zip(names[width + extra :], combined.partials, strict=False)]
    if combined.count is not None:
        partials.append(Item(names[-1], exp.Count(this=exp.Star(), big_int=True)))
    by = dict(zip((n for n, _ in combined.keys + combined.partials), names[width:], strict=False))
    if combined.count is not None:
        by[combined.count] = names[-1]
    partial = Aggregate(input=gather.input, rel=rel, keys=tuple(keys), calls=tuple(partials))
    ctx.learn(partial)
    if not analysis.allows(partial, gather.shards):
        return None
    below: Node = gather.but(input=partial)
    repeated = None
    if combined.expand:
        assert combined.count is not None
        below, repeated = _repeat(below, ColumnId(rel, by[combined.count]), ctx)
    return Aggregate(
        input=below,
        rel=node.rel,
        keys=tuple(Item(k.name, column(ColumnId(rel, n))) for k, n in zip(node.keys, names, strict=False)),
        calls=_finals(node, combined, {n: ColumnId(rel, new) for n, new in by.items()}, repeated, keys, rel),
        sets=node.sets,
    )


def _finals(
    node: Aggregate,
    combined: Combined,
    by: dict[str, ColumnId],
    repeated: ColumnId | None,
    keys: list[Item],
    rel: str,
) -> tuple[Item, ...]:
    known = {**by, **({"i": repeated} if repeated is not None else {})}
    finals = iter(combined.finals)
    items = []
    for item in node.calls:
        if is_aggregate(item.expr):
            bound = next(finals).copy().transform(lambda e: _bound(e, known))
        else:  # GROUPING(…) names group keys, which are the partials' columns here
            bound = item.expr.copy().transform(lambda e: _key(e, keys, rel))
        items.append(Item(item.name, bound))
    return tuple(items)


def _bound(part: exp.Expr, known: dict[str, ColumnId]) -> exp.Expr:
    if type(part) is exp.Column and not part.table:
        return column(known[part.name])
    return part


def _key(part: exp.Expr, keys: list[Item], rel: str) -> exp.Expr:
    found = next((k for k in keys if same(k.expr, part)), None)
    return column(ColumnId(rel, found.name)) if found is not None else part


def _repeat(node: Node, times: ColumnId, ctx: PlanContext) -> tuple[Node, ColumnId]:
    """Each row as often as its `times` says, numbered from 0."""
    rel = ctx.names.fresh("i")
    call = exp.Unnest(expressions=[exp.Anonymous(this="range", expressions=[column(times)])])
    numbers = TableFunction(rel=rel, call=call, names=("i",))
    return Join(kind="cross", left=node, right=numbers, lateral=True), ColumnId(rel, "i")
