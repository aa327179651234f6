"""seek_pages: a page deep in an order is found by seeks, not by moving all that is before it.

    Limit 10 offset 100000                 runs first: page_1, page_2, …   (keys of some rows of each shard)
    └─ Sort v                        =>    Limit 10 offset 3
       └─ Gather                           └─ Sort v, id, shard
          └─ Limit 100010                     └─ Gather
             └─ Sort v                           └─ Limit 21: from the place on that the samples told
                └─ T                                └─ Sort v, id

The pass says which page it is; `paging.py` makes the plans of the rounds, `plan/windows.py` counts.

Sound: rows are put in the order of the sort keys, then of the primary keys of all tables that are joined,
then of the shard's number; rows that are equal even so may come in any order. The page is read off one
statement of each shard (`paging.py`), which counts the rows before its first one. Over groups and DISTINCT (a
key added below them makes other groups), where a key does not travel as a value or a source of another
dialect compares it otherwise, the page is found by moving the first `count + offset` rows of each shard, and
EXPLAIN says why.
"""

from __future__ import annotations

from typing import Final

from shardwise.plan.nodes import (
    Gather,
    Keep,
    Limit,
    Node,
    Project,
    Scan,
    Sort,
    SortKey,
)
from shardwise.plan.phrases import expression_text
from shardwise.plan.reasons import NotPushed
from shardwise.plan.route import Note
from shardwise.plan.tree import column_id, rewrite, walk
from shardwise.planner.functions import can_fail, is_volatile
from shardwise.planner.origins import all_origins
from shardwise.planner.page import Page
from shardwise.planner.pass_context import PlanContext
from shardwise.planner.push_limit import row_count
from shardwise.planner.total_order import NoOrder, never_null, resolved, total_order

SEEK_FROM: Final = 1_000
"""Pages after fewer rows than this are not worth the rounds."""
ROUND_ROWS: Final = 512
"""So many more rows of each shard a round may move."""
FEW_ROWS: Final = 10_000
FEW_BYTES: Final = 1_000_000
"""So little, of all shards, is moved in the time of a round or two."""


def seek_pages(plan: Node, ctx: PlanContext) -> Node:
    limit = _limit(plan)
    if limit is None:
        return plan
    offset = row_count(limit.offset, ctx) if limit.offset is not None else None
    count = row_count(limit.count, ctx) if limit.count is not None else None
    gather = _gather(limit)
    if offset is None or count is None or gather is None or not _is_worth(offset, count, gather, ctx):
        return plan
    try:
        ctx.page = _page(gather, offset, count, ctx)
    except NoOrder as declined:
        ctx.notes.append(Note(NotPushed.DEEP_PAGE, f"OFFSET {offset:,}: {declined}"))
        return plan
    if gather.is_sought:
        return plan
    return rewrite(plan, lambda n: n.but(is_sought=True) if n is gather and isinstance(n, Gather) else n)


def _limit(node: Node) -> Limit | None:
    """The outermost LIMIT, if it is the whole statement's."""
    while isinstance(node, Project | Keep):
        node = node.input
    return node if isinstance(node, Limit) and not node.percent else None


def _gather(limit: Limit) -> Gather | None:
    """The only fragment below, which is bounded in the page's order already."""
    node = limit.input
    while isinstance(node, Project | Sort):
        node = node.input
    is_bounded = (
        isinstance(node, Gather) and isinstance(node.input, Limit) and isinstance(node.input.input, Sort)
    )
    return node if isinstance(node, Gather) and is_bounded and len(node.shards) > 1 else None


def _is_worth(offset: int, count: int, gather: Gather, ctx: PlanContext) -> bool:
    if "seek_pages" in ctx.forced:
        return offset > 0
    if offset < SEEK_FROM or offset <= count + ROUND_ROWS:
        return False
    assert isinstance(gather.input, Limit)
    source = gather.input.input
    moved = len(gather.shards) * (offset + count)
    if moved <= FEW_ROWS and moved * ctx.estimates.width(source) <= FEW_BYTES:
        return False
    scans = [node for node in walk(source) if isinstance(node, Scan)]
    if any(ctx.catalog.statistics_of(scan.table) is None for scan in scans):
        return True  # who asks for a page so deep has so many rows
    return ctx.estimates.rows(source) > len(gather.shards) * (count + ROUND_ROWS)


def _page(gather: Gather, offset: int, count: int, ctx: PlanContext) -> Page:
    assert isinstance(gather.input, Limit)
    sort = gather.input.input
    assert isinstance(sort, Sort)
    source, keys, is_total = total_order(sort, gather.shards, ctx)
    ctx.learn(source)
    known = never_null(source, ctx)
    for key in keys:
        _check_key(key, source, ctx)
    filled = tuple(column_id(key.expr) in known for key in keys)
    return Page(
        fragment=gather.fragment,
        shards=gather.shards,
        source=source,
        keys=keys,
        filled=filled,
        offset=offset,
        count=count,
        is_total=is_total,
    )


def _check_key(key: SortKey, source: Node, ctx: PlanContext) -> None:
    """Raises for one whose values do not travel, or that may fail where no filter guards it."""
    text = expression_text(key.expr, lambda id: id.name, lambda _: "(…)", ctx.catalog.dialect)
    computed = resolved(key.expr, source)
    if is_volatile(computed) or can_fail(computed, ctx.type_of):
        raise NoOrder(f"{text} may fail for rows that a filter leaves out")
    id = column_id(key.expr)
    type_ = ctx.types[id].type if id is not None else None
    if type_ is not None and not ctx.dialect.sort_keys.travels(type_):
        raise NoOrder(f"a value of {text} ({type_}) is not the same once it was sent to and fro")
    columns = (each.column for each in all_origins(source, key.expr))
    if not ctx.dialect.sort_keys.are_sorted_as_compared(columns):
        raise NoOrder(f"texts of {text} that compare as different may sort as equal")
