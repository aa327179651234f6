"""The rule of every node, and rule 3, which comes before them all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from shardwise.errors import InternalError
from shardwise.plan.nodes import (
    Aggregate,
    Cte,
    Distinct,
    Fence,
    Filter,
    Join,
    Keep,
    Limit,
    Node,
    OneRow,
    Project,
    Raw,
    Recursive,
    SetOp,
    Sort,
    TableFunction,
    Values,
    Window,
)
from shardwise.plan.tree import subplans
from shardwise.planner.aggregates import is_order_sensitive
from shardwise.planner.determinism import window_depends_on_order
from shardwise.planner.distribution.filters import of_filter
from shardwise.planner.distribution.groups import of_aggregate, of_distinct, of_window
from shardwise.planner.distribution.joins import of_join
from shardwise.planner.distribution.leaves import of_leaf, of_made_rows
from shardwise.planner.distribution.projects import of_fence, of_keep, of_project
from shardwise.planner.distribution.questions import Questions
from shardwise.planner.distribution.set_operations import of_set_operation
from shardwise.planner.distribution.values import (
    ANYWHERE,
    MERGED,
    At,
    Copied,
    Distribution,
    Split,
    common_shard,
    covers,
)
from shardwise.planner.distribution.whole import of_cte, of_ordered, of_raw, of_recursive
from shardwise.planner.functions import is_volatile


def distribution_of(node: Node, analysis: Questions) -> Distribution:
    """Rule 3 first: whatever a node does, it is whole where everything it needs is on one shard.

    Wrong if it looked at inputs only: SELECT k FROM a WHERE k IN (2, 4) AND v < (SELECT avg(v) FROM a).
    """
    if isinstance(node, Cte):
        return of_cte(node, analysis)
    if isinstance(node, Recursive):
        return of_recursive(node, analysis)
    if isinstance(node, Raw):
        return of_raw(node, analysis)
    leaf = of_leaf(node, analysis)
    if leaf is not None:
        return _unpinned(node, leaf)
    parts = [analysis.of(n) for n in node.inputs] + [analysis.of(p) for p in subplans(node)]
    own = _by_rule(node, analysis)
    if isinstance(own, Split | Copied):
        return own if isinstance(own, Split) else _picked(node, own)
    shard = common_shard(parts)
    if shard is not None:
        return Split((shard,))
    return own if isinstance(own, At) else _outer_row(node, parts, analysis)


def _unpinned(node: Node, leaf: Distribution) -> Distribution:
    """Volatile rows exist once: VALUES (random()) is made in the merge, not on each shard."""
    return MERGED if leaf == ANYWHERE and any(is_volatile(e) for e in node.expressions) else leaf


def _outer_row(node: Node, parts: list[Distribution], analysis: Questions) -> Distribution:
    """Below an outer row: a node whose parts are all on that row's shard is whole there.

    LATERAL (SELECT v FROM b WHERE b.k = a.k ORDER BY v DESC LIMIT 1) is, but not without `b.k = a.k`.
    """
    ats = {p for p in parts if isinstance(p, At)}
    if len(ats) != 1:
        return MERGED
    (at,) = ats
    if set(at.columns) & (set().union(*(n.output_ids for n in node.inputs)) if node.inputs else set()):
        return MERGED
    others = [p for p in parts if p != at]
    return at if all(isinstance(p, Copied) and covers(p.shards, at.shards) for p in others) else MERGED


def _picked(node: Node, copied: Copied) -> Distribution:
    """Over copies, what depends on the order of rows or is volatile is done on one copy only.

    a JOIN (SELECT c, row_number() OVER (ORDER BY v) n FROM r) t …: each copy would number ties its own way.
    """
    if not _varies(node):
        return copied
    return MERGED if copied.shards is None else Split(copied.shards[:1])


def _varies(node: Node) -> bool:
    if isinstance(node, Limit) or (isinstance(node, Distinct) and node.on is not None):
        return True
    if any(is_volatile(e) for e in node.expressions):
        return True
    if isinstance(node, Aggregate):
        return any(is_order_sensitive(item.expr) for item in node.calls)
    return isinstance(node, Window) and any(window_depends_on_order(item.expr) for item in node.items)


def _by_rule(node: Node, analysis: Questions) -> Distribution:
    rule = _RULES.get(type(node))
    if rule is None:
        raise InternalError(f"distribution: no rule for {type(node).__name__}")
    return rule(node, analysis)


_RULES: dict[type[Node], Callable[[Any, Questions], Distribution]] = {
    Filter: of_filter,
    Project: of_project,
    Join: of_join,
    Aggregate: of_aggregate,
    Window: of_window,
    Distinct: of_distinct,
    Keep: of_keep,
    Fence: of_fence,
    Sort: of_ordered,
    Limit: of_ordered,
    SetOp: of_set_operation,
    OneRow: of_made_rows,
    Values: of_made_rows,
    TableFunction: of_made_rows,
}
