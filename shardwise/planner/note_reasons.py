"""note_reasons: each fragment says why it goes to no fewer shards, and why what is over it is not done there.

It changes nothing but notes. A scan of all slots is asked why its predicates spare none; for every Gather of
several shards the nodes over it are asked, from the nearest up to the first that would have to be pushed
before the others. So is what stayed above one shard because its source, of another dialect, would compute it
otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sqlglot import exp

from shardwise.plan.nodes import (
    Aggregate,
    ColumnId,
    Cte,
    Distinct,
    Fence,
    Filter,
    Gather,
    Join,
    Keep,
    Limit,
    Local,
    Node,
    Project,
    Raw,
    Recursive,
    Scan,
    SetOp,
    Sort,
    TableFunction,
    Window,
)
from shardwise.plan.phrases import expression_text, name_text
from shardwise.plan.reasons import NotPushed
from shardwise.plan.route import Note
from shardwise.plan.tree import (
    column_id,
    free_columns,
    map_expressions,
    map_inputs,
    map_plans,
    rewrite,
    subplans,
)
from shardwise.planner.agreement import product
from shardwise.planner.distribution import Analysis, Split
from shardwise.planner.pass_context import PlanContext
from shardwise.planner.prune_slots import asked


def note_reasons(plan: Node, ctx: PlanContext) -> Node:
    analysis = ctx.analysis()

    def change(node: Node, over: tuple[Node, ...]) -> Node:
        if isinstance(node, Gather):
            if len(node.shards) < 2 and not analysis.are_foreign(node.shards):
                return node
            notes = tuple(dict.fromkeys(_notes(node, over, analysis)))
            told = map_inputs(node, lambda n: _with_route_reasons(n, ctx))
            return told if notes == told.notes else told.but(notes=notes)

        def below(inner: Node) -> Node:
            return change(inner, (*over, node))

        node_over = map_inputs(node, below)
        return map_expressions(node_over, lambda e: map_plans(e, below)) if node.subplans else node_over

    return change(plan, ())


def _with_route_reasons(fragment: Node, ctx: PlanContext) -> Node:
    def change(node: Node) -> Node:
        asked_of = node.conjuncts if isinstance(node, Filter) else ()
        return map_inputs(node, lambda n: _explained(n, asked_of, ctx) if isinstance(n, Scan) else n)

    fragment = rewrite(fragment, change)
    return _explained(fragment, (), ctx) if isinstance(fragment, Scan) else fragment


def _explained(scan: Scan, conjuncts: tuple[exp.Expr, ...], ctx: PlanContext) -> Scan:
    if scan.route.why:
        return scan
    pruned = asked(scan, conjuncts, ctx)
    if pruned is None or not pruned.reasons:
        return scan
    why = tuple(Note(str(n.slug), n.sentence) for n in pruned.reasons)
    return scan.but(route=replace(scan.route, why=why))


def _notes(gather: Gather, over: tuple[Node, ...], analysis: Analysis) -> Iterator[Note]:
    for node in reversed(over):
        if isinstance(node, Join) and node.lateral and isinstance(node.right, TableFunction):
            continue  # the repetition of an aggregate's rows
        note = _of_source(node, gather, analysis)
        if (
            note is None
            and len(gather.shards) > 1
            and (not isinstance(node, Project | Keep | Fence) or subplans(node))
        ):
            note = _note(node, gather, analysis)
        if note is not None:
            yield note
        if not isinstance(node, Sort | Limit) and (
            note is not None or not isinstance(node, Project | Keep | Fence)
        ):
            return


def _of_source(node: Node, gather: Gather, analysis: Analysis) -> Note | None:
    """What a source of another dialect would compute otherwise. Of a node that is nothing there at all it is
    told only where nothing else keeps it: one shard has all of its rows."""
    if isinstance(node, Aggregate) and _is_split(gather):
        return None
    found = analysis.disagreement(node, gather.shards)
    if found is None:
        return None
    dialect, disagreement = found
    what = disagreement.what
    if isinstance(what, Node):
        if len(gather.shards) > 1:
            return None
        text = _WORDS.get(type(what), type(what).__name__)
    else:
        text = _text(what, analysis.catalog.dialect)
    return Note(NotPushed.NOT_IN_AGREEMENT, f"{text}: {product(dialect)} {disagreement.why}")


_WORDS: dict[type[Node], str] = {
    Aggregate: "GROUP BY",
    Cte: "WITH",
    Distinct: "DISTINCT",
    Filter: "WHERE",
    Join: "join",
    Limit: "LIMIT",
    Project: "SELECT",
    Raw: "a statement kept whole",
    Recursive: "WITH RECURSIVE",
    SetOp: "UNION, INTERSECT or EXCEPT",
    Sort: "ORDER BY",
    Window: "window",
}


def _note(node: Node, gather: Gather, analysis: Analysis) -> Note | None:
    if isinstance(node, Aggregate):
        return _of_aggregate(node, gather, analysis)
    if isinstance(node, Distinct):
        return Note(NotPushed.DISTINCT_SPANS_SHARDS, "DISTINCT: equal rows are on several shards")
    if isinstance(node, Window):
        return Note(
            NotPushed.WINDOW_SPANS_SHARDS,
            "window: a PARTITION BY holds no shard key, so its rows span shards",
        )
    if isinstance(node, Sort):
        return Note(NotPushed.ORDER_NEEDS_ALL_ROWS, "ORDER BY: the rows of all shards are put in one order")
    if isinstance(node, Limit):
        if node.percent:
            return Note(
                NotPushed.LIMIT_NOT_PUSHABLE, "LIMIT …%: a share of all rows is not that of each shard's"
            )
        return None
    if isinstance(node, Join):
        return _of_join(node, gather, analysis.catalog.dialect)
    if isinstance(node, Filter):
        return _of_filter(node, analysis.catalog.dialect)
    if isinstance(node, Project):
        return _of_subqueries(node)
    if isinstance(node, SetOp):
        name = f"{node.kind.upper()}{' ALL' if node.all else ''}"
        return Note(
            NotPushed.SET_OPERATION_SPANS_SHARDS, f"{name}: its arms' rows are not on the same shards"
        )
    if isinstance(node, Recursive):
        return Note(NotPushed.RECURSIVE, "WITH RECURSIVE: each step may need rows of every shard")
    if isinstance(node, Cte):
        return Note(
            NotPushed.READ_TWICE, f"WITH {node.name}: read more than once, so it is made once, in the merge"
        )
    if isinstance(node, Raw):
        return Note(
            NotPushed.STATEMENT_KEPT_WHOLE, f"{node.reason}: the statement runs as it is, over whole tables"
        )
    return None


def _of_aggregate(node: Aggregate, gather: Gather, analysis: Analysis) -> Note:
    keys = ", ".join(name_text(k.name) for k in node.keys)
    inner = _without_order(gather.input)
    if not isinstance(inner, Aggregate):
        return Note(
            NotPushed.AGGREGATE_NOT_SPLITTABLE,
            f"{_aggregate_of(keys)}: it has no parts that can be put together",
        )
    below = analysis.of(inner.input)
    wanted = {column_id(k.expr) for k in inner.keys}
    for key in below.keys if isinstance(below, Split) else ():
        if key.strength != "full" and set(key.columns) <= wanted:
            columns = ", ".join(c.name for c in key.columns)
            return Note(
                NotPushed.LOOSE_KEY, f"whole groups by {columns}: rows where it is NULL are on several shards"
            )
    return Note(NotPushed.GROUPS_SPAN_SHARDS, f"{_aggregate_of(keys)}: its rows are on several shards")


def _is_split(gather: Gather) -> bool:
    """Whether the shards give parts of groups."""
    return isinstance(_without_order(gather.input), Aggregate)


def _without_order(node: Node) -> Node:
    while isinstance(node, Keep | Limit | Sort):
        node = node.input
    return node


def _aggregate_of(keys: str) -> str:
    return f"whole groups by {keys}" if keys else "the one group of all rows"


def _of_join(node: Join, gather: Gather, dialect: str) -> Note:
    if Local in node.left.kinds or Local in node.right.kinds:
        return Note(
            NotPushed.LOCAL_TABLE, "join: the other side is a table registered here, not on the shards"
        )
    is_outer = node.kind in ("left", "right", "anti")
    if is_outer and _is_copied(node.right if node.kind == "right" else node.left):
        return Note(
            NotPushed.OUTER_JOIN_PRESERVED_COPIED,
            f"{node.kind} join: its preserved side is on every shard, "
            "and each would return its unmatched rows",
        )
    if subplans(node):
        return _of_subqueries(node)
    on = " AND ".join(_text(c, dialect) for c in node.on) or "no condition"
    return Note(
        NotPushed.JOIN_NOT_COLOCATED, f"{node.kind} join on {on}: the rows that meet are on different shards"
    )


def _is_copied(node: Node) -> bool:
    return isinstance(node, Gather) and len(node.shards) == 1 and Scan in node.kinds


def _of_filter(node: Filter, dialect: str) -> Note:
    if subplans(node):
        return _of_subqueries(node)
    what = " AND ".join(_text(c, dialect) for c in node.conjuncts)
    return Note(NotPushed.PREDICATE_CAN_FAIL, f"{what}: it may fail on rows that what stands below it drops")


def _of_subqueries(node: Node) -> Note:
    if any(free_columns(p) for p in subplans(node)):
        return Note(
            NotPushed.CORRELATED_OUTSIDE,
            "subquery: what it looks up for a row may be on another shard than the row",
        )
    return Note(
        NotPushed.SUBQUERY_NOT_COLOCATED, "subquery: its rows are on other shards than those it is asked for"
    )


def _text(expr: exp.Expr, dialect: str) -> str:
    def column(id: ColumnId) -> str:
        return f"{name_text(id.rel)}.{name_text(id.name)}"

    return expression_text(expr, column, lambda _: "subquery", dialect)
