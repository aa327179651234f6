"""What only one place carries whole: Sort, Limit, WITH, recursion, SQL kept as it is (rules 12 and 14)."""

from __future__ import annotations

from sqlglot import exp

from shardwise.plan.nodes import Cte, Limit, Raw, Recursive, Sort
from shardwise.plan.tree import subplans
from shardwise.planner.distribution.questions import Questions
from shardwise.planner.distribution.values import (
    ANYWHERE,
    MERGED,
    Copied,
    Distribution,
    Shards,
    Split,
    common_shard,
    meet,
)


def of_ordered(node: Sort | Limit, analysis: Questions) -> Distribution:
    """Rule 12: only one shard carries them whole."""
    below = analysis.of(node.inputs[0])
    if isinstance(below, Split) and below.is_one and not subplans(node):
        return below
    return below if isinstance(below, Copied) and not subplans(node) else MERGED


def of_cte(node: Cte, analysis: Questions) -> Distribution:
    """Rule 14: whole if the definition and the body are on one shard; else each is gathered."""
    definition = analysis.of(node.definition)
    if isinstance(definition, Copied) and definition.shards is not None:
        definition = Split(definition.shards[:1])
    body = analysis.reading(node.name, definition).of(node.body)
    if definition == ANYWHERE and isinstance(body, Split | Copied):
        return body if not isinstance(body, Split) or body.is_one else MERGED
    shard = common_shard([definition, body])
    return Split((shard,)) if shard is not None else MERGED


def of_recursive(node: Recursive, analysis: Questions) -> Distribution:
    """Rule 12, last: a recursion is whole on one shard or on copies, or runs in the merge."""
    base = analysis.of(node.base)
    if isinstance(base, Split) and not base.is_one:
        return MERGED
    step = analysis.reading(node.name, base).of(node.step)
    if isinstance(base, Copied) and isinstance(step, Copied):
        shards = meet(base.shards, step.shards)
        return Copied(shards) if shards is None or shards else MERGED
    shard = common_shard([base, step])
    return Split((shard,)) if shard is not None else MERGED


def of_raw(node: Raw, analysis: Questions) -> Distribution:
    """Whole where all its tables are; what it does is not known, so one copy is picked.

    PIVOT's columns depend on its rows: only the merge tells them.
    """
    if node.sql.find(exp.Pivot) is not None:
        return MERGED
    parts = [analysis.of(table) for table in node.tables]
    shards: Shards | None = None
    for part in parts:
        if (isinstance(part, Split) and part.is_one) or isinstance(part, Copied):
            shards = meet(shards, part.shards)
        else:
            return MERGED
    return Split(shards[:1]) if shards else MERGED
