"""Whether computing a plan twice gives the same rows twice."""

from __future__ import annotations

from sqlglot import exp

from shardwise.plan.nodes import Aggregate, Distinct, Limit, Node, Raw, Window
from shardwise.plan.tree import walk
from shardwise.planner.aggregates import is_order_sensitive
from shardwise.planner.families import TypeOf
from shardwise.planner.functions import is_volatile

_RANKS = (exp.Rank, exp.DenseRank, exp.PercentRank, exp.CumeDist)


def is_deterministic(node: Node, type_of: TypeOf | None = None) -> bool:
    """No volatile function, and nothing whose result depends on the order rows happen to come in.

    With `type_of` sums of whole numbers and decimals are told from those of floating-point ones.
    """
    return not any(_is_uncertain(n, type_of) for n in walk(node))


def _is_uncertain(node: Node, type_of: TypeOf | None) -> bool:
    if isinstance(node, Raw | Limit):
        return True
    if isinstance(node, Distinct) and node.on is not None:
        return True
    if any(is_volatile(e) for e in node.expressions):
        return True
    if isinstance(node, Aggregate):
        return any(is_order_sensitive(item.expr, type_of) for item in node.calls)
    if isinstance(node, Window):
        return any(window_depends_on_order(item.expr) for item in node.items)
    return False


def window_depends_on_order(window: exp.Expr) -> bool:
    """Ranks give ties the same number; other ordered windows number or frame ties as they come."""
    if isinstance(window.this, _RANKS):
        return False
    return window.args.get("order") is not None or is_order_sensitive(window.this)
