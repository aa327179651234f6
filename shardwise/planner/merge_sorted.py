"""merge_sorted: shards sort their rows, and sorted streams are merged as they come.

    Sort v                      Gather in order of v
    └─ Gather           =>      └─ Sort v
       └─ T                        └─ T

The merge need not hold all rows to give the first one, and a LIMIT over it stops the shards. It is done where
the shards sort anyhow (top n), where they have an index in that order (the primary key, or another key), and
where the rows are so many that the merge had better not hold them; always where the merge is a server, to
which rows would be sent just to be sorted.

Sound: only where a shard's order is one that this process compares alike (`trusted_orders.py`); by a
collation a shard would put 'a' before 'B', and the merge the other way round. Beyond the duckdb dialect only
where the rows are then the answer as they come: an engine that computes with them keeps no order.
"""

from __future__ import annotations

from typing import Final

from shardwise.plan.nodes import Gather, Join, Keep, Limit, Node, Project, Scan, Sort, SortKey
from shardwise.plan.tree import column_id, rewrite, walk
from shardwise.planner.pass_context import PlanContext
from shardwise.planner.passing import passing
from shardwise.planner.trusted_orders import compared

MANY: Final = 1_000_000
"""So many rows are not held."""
LARGE: Final = 10_000
"""A LIMIT so large is worth merging its streams."""
SHARDS_MAX: Final = 64
"""Of more shards not all are asked at once."""
_SERVED: Final = ("mysql", "postgres")


def merge_sorted(plan: Node, ctx: PlanContext) -> Node:
    sort = _sort(plan)
    if sort is None or ctx.page is not None:
        return plan
    gather = sort.input
    if not isinstance(gather, Gather) or not 1 < len(gather.shards) <= SHARDS_MAX or gather.order:
        return plan
    if not all(_is_trusted(key, gather, ctx) for key in sort.keys):
        return plan
    inner = gather.input
    if isinstance(inner, Limit):
        if not _is_in_order(inner, sort) or not _is_large(inner, ctx):
            return plan
    else:
        inner = sort.but(input=inner)
        if not (_is_worth(sort, gather, ctx) and ctx.analysis().allows(inner, gather.shards)):
            return plan
    merged = gather.but(input=inner, order=sort.keys)
    after = rewrite(plan, lambda node: merged if node is sort else node)
    return after if ctx.catalog.dialect == "duckdb" or passing(after, ctx) is not None else plan


def _sort(node: Node) -> Sort | None:
    """The statement's own ORDER BY, over nothing but a fragment."""
    while isinstance(node, Project | Keep | Limit):
        node = node.input
    return node if isinstance(node, Sort) else None


def _is_in_order(limit: Limit, sort: Sort) -> bool:
    """Whether it is the bound that `push_limit` sent: of rows in the very order in which they are merged."""
    return isinstance(limit.input, Sort) and limit.input.keys == sort.keys


def _is_trusted(key: SortKey, gather: Gather, ctx: PlanContext) -> bool:
    id = column_id(key.expr)
    return id is not None and compared(gather, id, ctx) is not None


def _is_large(limit: Limit, ctx: PlanContext) -> bool:
    count = ctx.estimates.count(limit.count)
    return _is_always_worth(ctx) or (count is not None and count >= LARGE)


def _is_always_worth(ctx: PlanContext) -> bool:
    return "merge_sorted" in ctx.forced or ctx.catalog.dialect in _SERVED


def _is_worth(sort: Sort, gather: Gather, ctx: PlanContext) -> bool:
    if _is_always_worth(ctx) or _has_index(sort, gather):
        return True
    scans = [node for node in walk(gather.input) if isinstance(node, Scan)]
    is_known = all(ctx.catalog.statistics_of(scan.table) is not None for scan in scans)
    return is_known and ctx.estimates.rows(gather) >= MANY


def _has_index(sort: Sort, gather: Gather) -> bool:
    """Whether a table's key begins with the sort columns, read one way."""
    scans = [node for node in walk(gather.input) if isinstance(node, Scan)]
    if len(scans) != 1 or Join in gather.kinds or len({key.descending for key in sort.keys}) > 1:
        return False
    names, table = _names(sort, gather.input), scans[0].table
    keys = ([n.casefold() for n in key] for key in (*table.unique, *table.unique_across))
    return names is not None and any(key[: len(names)] == names for key in keys)


def _names(sort: Sort, node: Node) -> list[str] | None:
    """The sort columns as the table calls them."""
    ids = [column_id(key.expr) for key in sort.keys]
    while not isinstance(node, Scan):
        if isinstance(node, Project):
            copies = {item.name: column_id(item.expr) for item in node.items}
            ids = [copies.get(id.name) if id is not None and id.rel == node.rel else id for id in ids]
        if len(node.inputs) != 1:
            return None
        (node,) = node.inputs
    return [id.name.casefold() for id in ids if id is not None] if None not in ids else None
