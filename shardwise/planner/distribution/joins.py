"""Joins (rules 5 to 7)."""

from __future__ import annotations

from dataclasses import replace

from shardwise.plan.nodes import Join, JoinKind
from shardwise.planner.distribution.keys import firmer
from shardwise.planner.distribution.questions import Questions
from shardwise.planner.distribution.reach import may_be_asked
from shardwise.planner.distribution.subqueries import combined, is_at, subqueries_stay
from shardwise.planner.distribution.values import (
    MERGED,
    At,
    Copied,
    Distribution,
    Key,
    Merged,
    Shards,
    Split,
    common_shards,
    covers,
    meet,
)
from shardwise.planner.equivalence import Equivalence, equalities, is_null_safe


def of_join(node: Join, analysis: Questions) -> Distribution:
    """Rules 5 to 7."""
    if node.kind == "positional":
        return MERGED
    left, right = analysis.of(node.left), analysis.of(node.right)
    if node.kind == "right":
        left, right = right, left
    if not subqueries_stay(node, combined(left, right), analysis):
        return MERGED
    if isinstance(left, Copied) and isinstance(right, Copied):
        shards = meet(left.shards, right.shards)
        return Copied(shards) if shards is None or shards else MERGED
    if isinstance(right, At):
        return _lateral(node, left, right, analysis)
    is_mirrored = node.kind == "right"
    if isinstance(left, Split) and isinstance(right, Copied):
        fits = meets_copies(node.kind, is_left=not is_mirrored) and covers(right.shards, left.shards)
        return left if fits else MERGED
    if isinstance(left, Copied) and isinstance(right, Split):
        fits = meets_copies(node.kind, is_left=is_mirrored) and covers(left.shards, right.shards)
        return right if fits and not node.lateral else MERGED
    if isinstance(left, Split) and isinstance(right, Split):
        if left.is_one and right.is_one and left.shards == right.shards:
            return Split(left.shards, _keys_after(node, left, right, None))
        if node.lateral:
            return MERGED
        linked = _linked(node, left, right, analysis)
        if linked is not None:
            return _together(node, left, right, linked, analysis)
    return MERGED


def _together(
    node: Join, left: Split, right: Split, linked: tuple[Key, Key], analysis: Questions
) -> Distribution:
    """On the shards of both sides, or of the preserved one, if the other may be asked there.

    x FULL JOIN (SELECT p.c, b.k FROM (SELECT c FROM r LIMIT 3) p LEFT JOIN b ON p.c = b.k AND b.k = 2) y ON
    x.k = y.k: y is on s0, but s1 has a p too. So a side of a full join whose key is not full stays at home.
    """
    shards = _shards_after(node, left, right)
    if not all(may_be_asked(side, shards, analysis) for side in node.inputs):
        return MERGED
    if node.kind == "full" and any(
        key.strength != "full" and not covers(side.shards, shards)
        for key, side in zip(linked, (left, right), strict=True)
    ):
        return MERGED
    return Split(shards, _keys_after(node, left, right, linked))


def meets_copies(kind: JoinKind, *, is_left: bool) -> bool:
    """Whether shards may each join their own part of one side, of the left one or the right one, with a copy
    of all of the other.

    Not for FULL: each shard would return the copies that none of its rows match. Nor where the copies are
    preserved: r LEFT JOIN a returns an unmatched row of r once per shard.
    """
    return kind in ("inner", "cross") or kind in (("left", "semi", "anti") if is_left else ("right",))


def _lateral(node: Join, left: Distribution, right: At, analysis: Questions) -> Distribution:
    fits = node.kind in ("inner", "cross", "left") and isinstance(left, Split)
    if fits and isinstance(left, Split) and is_at(left, right, analysis.equal(node.left)):
        return left if may_be_asked(node.right, left.shards, analysis) else MERGED
    return MERGED


def may_join(one: Distribution, other: Distribution, alike: Equivalence) -> bool:
    """Whether two inputs of an inner join may be together at all, where no more than `alike` is equal: of
    most it is told without a tree. `of_join` decides."""
    if isinstance(one, Merged | At) or isinstance(other, Merged | At):
        return False
    if isinstance(one, Copied) or isinstance(other, Copied) or one.is_one or other.is_one:
        return True
    pairs = ((mine, theirs) for mine in one.keys for theirs in other.keys)
    return any(a.function == b.function and all(map(alike.equal, a.columns, b.columns)) for a, b in pairs)


def _linked(node: Join, left: Split, right: Split, analysis: Questions) -> tuple[Key, Key] | None:
    """A key of each side, equal in position by this ON and each side's own facts.

    Position matters: t1.p = t2.q AND t1.q = t2.p does not link (p, q) with (p, q). `IS NOT DISTINCT
    FROM` links only full keys: NULL meets NULL, and of a loose key NULLs may be anywhere.
    """
    sides = analysis.equal(node.left).joined(analysis.equal(node.right))
    plain = sides.with_pairs(equalities(node.on, analysis.types))
    null_safe = plain.with_pairs(equalities(node.on, analysis.types, null_safe=True))
    for one in left.keys:
        for other in right.keys:
            if one.function != other.function:
                continue
            if one.strength == other.strength == "orphaned":
                continue
            pairs = list(zip(one.columns, other.columns, strict=True))
            if all(plain.equal(a, b) for a, b in pairs):
                return one, other
            if one.strength == other.strength == "full" and all(null_safe.equal(a, b) for a, b in pairs):
                return one, other
    return None


def _shards_after(node: Join, left: Split, right: Split) -> Shards:
    """Routes meet only where both sides must match.

    a LEFT JOIN b ON a.k = b.k AND b.k = 2 keeps a's odd rows.
    """
    if node.kind in ("inner", "semi", "cross"):
        met = common_shards(left.shards, right.shards)
        return met or left.shards[:1]
    if node.kind == "full":
        return tuple(dict.fromkeys(left.shards + right.shards))
    return left.shards


def _keys_after(node: Join, left: Split, right: Split, linked: tuple[Key, Key] | None) -> tuple[Key, ...]:
    if node.kind in ("semi", "anti"):
        return left.keys
    if node.kind in ("inner", "cross"):
        firm = {k: replace(k, strength="full") for k in linked or () if not _is_null_safe(node)}
        return tuple(dict.fromkeys(firm.get(k, firmer(k, node.on)) for k in left.keys + right.keys))
    loosened = tuple(k.loosened() for k in right.keys)
    if node.kind == "full":
        return tuple(k.loosened() for k in left.keys) + loosened
    return left.keys + loosened


def _is_null_safe(node: Join) -> bool:
    return any(map(is_null_safe, node.on))
