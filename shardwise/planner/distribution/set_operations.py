"""Set operations (rule 10)."""

from __future__ import annotations

from functools import reduce

from shardwise.plan.nodes import ColumnId, SetOp
from shardwise.planner.distribution.keys import renamed_keys
from shardwise.planner.distribution.questions import Questions
from shardwise.planner.distribution.reach import may_be_asked
from shardwise.planner.distribution.values import (
    MERGED,
    Copied,
    Distribution,
    Key,
    Split,
    common_shards,
    covers,
    meet,
)
from shardwise.planner.equivalence import NONE, is_one_text


def of_set_operation(node: SetOp, analysis: Questions) -> Distribution:
    """Rule 10. Keys of UNION ALL are those that all arms have at the same positions.

    SELECT x FROM a EXCEPT SELECT c FROM r gives a row twice where x is no key. UNION ALL of arms on different
    shards is made in the merge: SELECT count(*) FROM a WHERE k = 1 is a row wherever it is asked.
    """
    arms = [analysis.of(arm) for arm in node.arms]
    if mixes_collations(node) and not all(isinstance(arm, Split) and arm.is_one for arm in arms):
        return MERGED
    copies = [arm for arm in arms if isinstance(arm, Copied)]
    if len(copies) == len(arms):
        shards = reduce(meet, (arm.shards for arm in copies))
        return Copied(shards) if shards is None or shards else MERGED
    if node.kind == "union":
        return _union(node, arms)
    left, right = arms[0], arms[1]
    for key in _positional_keys(node, 0, left):
        if isinstance(right, Copied) and isinstance(left, Split) and covers(right.shards, left.shards):
            return Split(left.shards, (key,))
        if key in _positional_keys(node, 1, right) and isinstance(left, Split) and isinstance(right, Split):
            both = common_shards(left.shards, right.shards) if node.kind == "intersect" else ()
            if both or may_be_asked(node.arms[1], left.shards, analysis):
                return Split(both or left.shards, (key,))
    for key in _positional_keys(node, 1, right):
        covered = isinstance(left, Copied) and isinstance(right, Split) and covers(left.shards, right.shards)
        if node.kind == "intersect" and covered and isinstance(right, Split):
            return Split(right.shards, (key,))
    return MERGED


def mixes_collations(node: SetOp) -> bool:
    """Which one the result has is for the engine to say; a stream would not carry it, and what is equal in
    an arm need not be equal in the result."""
    columns = zip(*(arm.outputs for arm in node.arms), strict=True)
    return any(len({o.collation for o in same}) > 1 for same in columns)


def _union(node: SetOp, arms: list[Distribution]) -> Distribution:
    if not all(isinstance(arm, Split) for arm in arms):
        return MERGED
    splits = [arm for arm in arms if isinstance(arm, Split)]
    shards = splits[0].shards
    if any(arm.shards != shards and set(arm.shards) != set(shards) for arm in splits):
        return MERGED
    common = set(_positional_keys(node, 0, splits[0]))
    for i, arm in enumerate(splits[1:], 1):
        common &= set(_positional_keys(node, i, arm))
    keys = tuple(sorted(common, key=str))
    if node.all or len(shards) == 1 or keys:
        return Split(shards, keys)
    return MERGED


def _positional_keys(node: SetOp, position: int, arm: Distribution) -> tuple[Key, ...]:
    """The arm's full keys over the set operation's own columns, of columns that all arms declare alike."""
    if not isinstance(arm, Split):
        return ()
    copies: dict[ColumnId, tuple[ColumnId, ...]] = {}
    for mine, theirs in zip(node.outputs, node.arms[position].outputs, strict=True):
        if mine.type is not None and is_one_text(mine):
            copies[theirs.id] = (*copies.get(theirs.id, ()), mine.id)
    full = tuple(k for k in arm.keys if k.strength == "full")
    return renamed_keys(full, copies, NONE)
