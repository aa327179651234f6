"""place_gathers: the border between shards and merge.

    Join a.x = b.x                Join a.x = b.x
    ├─ Scan a               =>    ├─ Gather
    └─ Scan b                     │  └─ Scan a
                                  └─ Gather
                                     └─ Scan b

Every largest tree whose rows are somewhere on the shards (`distribution`) becomes a fragment; what is above
runs in the merge. Copies are read from one shard, the same for the whole statement. A tree that reads
columns of an outer row cannot leave on its own: its parts do. So do those of one whose values would be
others behind the border (`borders`).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

from sqlglot import exp

from shardwise.errors import InternalError
from shardwise.plan.nodes import Cte, CteRef, Filter, Gather, Local, Node, Raw, Recursive, Scan
from shardwise.plan.tree import (
    columns_in,
    free_columns,
    map_expressions,
    map_inputs,
    map_plans,
    names_read,
    parted,
    plans_in,
    walk,
)
from shardwise.planner.borders import ANSWER, Use, use_of_value
from shardwise.planner.distribution import Analysis, Copied, Split
from shardwise.planner.pass_context import PlanContext
from shardwise.planner.push_filters import is_movable


def place_gathers(plan: Node, ctx: PlanContext) -> Node:
    taken = {node.name.lower() for node in walk(plan) if isinstance(node, Local)}
    names = (name for name in map("f{}".format, count(1)) if name not in taken)
    return _place(plan, ANSWER, ctx, ctx.analysis(), names)


def _place(node: Node, use: Use, ctx: PlanContext, analysis: Analysis, names: Iterator[str]) -> Node:
    """`use` is what the merge does with the node's columns."""
    where = analysis.of(node)
    alone = not free_columns(node) and not _reads_outside(node) and not analysis.loses(node, use)
    if alone and isinstance(where, Split):
        return Gather(input=node, fragment=next(names), shards=where.shards)
    if alone and isinstance(where, Copied) and where.shards is not None and _reads_tables(node):
        return Gather(input=node, fragment=next(names), shards=where.shards[:1])
    if isinstance(node, Filter):
        node = _divided(node, ctx, analysis)
    if isinstance(node, Scan):
        raise InternalError(f"place_gathers: the scan of {node.table.name} stayed in the merge")
    if isinstance(node, Raw):
        use_of_table = Use("derived", frozenset(o.id for t in node.tables for o in t.outputs))
        return node.but(tables=tuple(_place(t, use_of_table, ctx, analysis, names) for t in node.tables))
    use_below = analysis.use_of_input(node, use)
    node = map_inputs(node, lambda inner: _place(inner, use_below, ctx, analysis, names))

    def valued(inner: Node) -> Node:
        return _place(inner, use_of_value(inner), ctx, analysis, names)

    return map_expressions(node, lambda e: map_plans(e, valued)) if node.subplans else node


def _divided(node: Filter, ctx: PlanContext, analysis: Analysis) -> Filter:
    """What of a predicate needs only the input's rows stands below the rest, and may go with them.

    So does what the input's sources compute alike, where they do not all of it.
    """
    mine = node.input.output_ids
    where = analysis.of(node.input)
    shards = where.shards or () if isinstance(where, Split | Copied) else ()

    is_foreign = analysis.are_foreign(shards)

    def goes(conjunct: exp.Expr) -> bool:
        if not columns_in(conjunct) <= mine or any(plans_in(conjunct)):
            return False
        if not is_foreign:
            return is_movable(conjunct, ctx)
        # What is in agreement is the same each time, and cannot fail.
        return analysis.allows(Filter(input=node.input, conjuncts=(conjunct,)), shards)

    below, above = parted(node.conjuncts, goes)
    if not below or not above:
        return node
    return node.but(input=Filter(input=node.input, conjuncts=below), conjuncts=above)


def _reads_tables(node: Node) -> bool:
    return Scan in node.kinds


def _reads_outside(node: Node) -> bool:
    """Whether it reads a WITH item, or a recursion's own rows, that is defined above it."""
    if CteRef not in node.kinds:
        return False
    defined = {n.name for n in walk(node) if isinstance(n, Cte | Recursive)}
    return bool(names_read(node) - defined)
