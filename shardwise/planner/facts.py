"""What one comparison says of a scan's shard keys, as facts that must hold of a matching row.

A predicate that is not understood gives None: nothing is known. NOT has been pushed down to the
comparison (`negated`); it is never answered by a complement of slots.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from sqlglot import exp

from shardwise.catalog.shardings import UNKNOWN, Between, SlotSet, Unknown, Value
from shardwise.catalog.types import Family
from shardwise.planner.literals import EMPTY, Constant, Kind
from shardwise.planner.shard_keys import PruneReason, ShardKeys


@dataclass(frozen=True, slots=True)
class Among:
    """The target is one of `values`; None among them is NULL."""

    target: str
    values: Sequence[Value]


@dataclass(frozen=True, slots=True)
class Within:
    """The target is in a range, or NULL where `or_null`."""

    target: str
    range: Between
    or_null: bool = False


@dataclass(frozen=True, slots=True)
class Outside:
    """The target is neither NULL nor one of `values`."""

    target: str
    values: Sequence[Value]


@dataclass(frozen=True, slots=True)
class Rows:
    """The targets together are one of `rows`; a None among targets is something else."""

    targets: Sequence[str | None]
    rows: Sequence[Sequence[Value | Unknown]]


@dataclass(frozen=True, slots=True)
class OnSlots:
    """The row is on one of these slots."""

    slots: SlotSet


Fact = Among | Within | Outside | Rows | OnSlots
Facts = Sequence[Fact]
NEVER: Final[Facts] = (OnSlots(0),)
_NOTHING: Final[Facts] = ()

_Type = type[exp.Expr]
_MIRRORED: Final[dict[_Type, _Type]] = {exp.LT: exp.GT, exp.LTE: exp.GTE, exp.GT: exp.LT, exp.GTE: exp.LTE}
_OPPOSITE: Final[dict[_Type, _Type]] = {
    exp.EQ: exp.NEQ,
    exp.NEQ: exp.EQ,
    exp.NullSafeEQ: exp.NullSafeNEQ,
    exp.NullSafeNEQ: exp.NullSafeEQ,
    exp.LT: exp.GTE,
    exp.GTE: exp.LT,
    exp.GT: exp.LTE,
    exp.LTE: exp.GT,
}


def facts_of(leaf: exp.Expr, keys: ShardKeys, negated: bool) -> Facts | None:
    """What holds of each row for which `leaf` (or NOT leaf) is TRUE; None if nothing is known."""
    if isinstance(leaf, exp.Boolean):
        return _NOTHING if bool(leaf.this) is not negated else NEVER
    if isinstance(leaf, exp.Null):
        return NEVER
    kind, notes = type(leaf), len(keys.notes)
    if kind in _OPPOSITE:
        found = _comparison(leaf, _OPPOSITE[kind] if negated else kind, keys)
    else:
        found = _READERS.get(kind, _no_reader)(leaf, keys, negated)
    if found is None and len(keys.notes) == notes and keys.mentions_usable_key(leaf):
        keys.note(
            PruneReason.FORM_NOT_UNDERSTOOD,
            f"a condition on the key of {keys.table.name} is of a form that does not prune",
        )
    return found


def _no_reader(leaf: exp.Expr, keys: ShardKeys, negated: bool) -> Facts | None:
    return None


def between_arms(leaf: exp.Between, keys: ShardKeys) -> Sequence[Facts] | None:
    """NOT BETWEEN as alternatives: below the low bound, or above the high one."""
    target, ends = _between(leaf, keys)
    if target is None:
        return None
    below, above = ends
    arms: list[Facts] = []
    if isinstance(below, Unknown) or isinstance(above, Unknown):
        return None
    if below is not None:
        arms.append((Within(target, Between(None, below, high_open=True)),))
    if above is not None:
        arms.append((Within(target, Between(above, None)),))
    return arms


# ------------------------------------------------------------------ comparisons


def _comparison(leaf: exp.Expr, operator: _Type, keys: ShardKeys) -> Facts | None:
    left, right = _plain(leaf.this), _plain(leaf.args["expression"])
    if isinstance(left, exp.Tuple) or isinstance(right, exp.Tuple):
        return _tuples(left, right, operator, keys)
    target = keys.target(left)
    if target is None and keys.hidden(left) is None:
        left, right = right, left
        operator = _MIRRORED.get(operator, operator)
        target = keys.target(left)
    if target is None:
        return _hidden(left, (right,), keys, operator)
    if operator in _MIRRORED:
        return _range(target, right, operator, keys)
    value = keys.constant(target, right)
    if isinstance(value, Unknown):
        return _unknown(target, (right,), keys)
    if operator is exp.EQ:
        return NEVER if value is None or value is EMPTY else (Among(target, (_value(value),)),)
    if operator is exp.NullSafeEQ:
        return NEVER if value is EMPTY else (Among(target, (_value(value),)),)
    if operator is exp.NEQ:
        if value is None:
            return NEVER
        if not keys.constants.keys_fit or not keys.is_by_bytes(target):
            return _NOTHING
        return _NOTHING if value is EMPTY else (Outside(target, (_value(value),)),)
    return _NOTHING  # IS DISTINCT FROM holds for NULL too, and for what else a slot holds


def _range(target: str, right: exp.Expr, operator: _Type, keys: ShardKeys) -> Facts | None:
    family = keys.families[target]
    if not keys.is_by_bytes(target):
        return None
    end = keys.constants.bound(right, family) if family is not Family.ENUM else UNKNOWN
    if isinstance(end, Unknown):
        return _unknown(target, (right,), keys)
    if end is None:
        return NEVER
    if operator in (exp.GT, exp.GTE):
        return (Within(target, Between(end, None)),)
    return (Within(target, Between(None, end, high_open=operator is exp.LT)),)


def _between(leaf: exp.Between, keys: ShardKeys) -> tuple[str | None, Sequence[Value | Unknown]]:
    target = keys.target(leaf.this)
    low, high = leaf.args["low"], leaf.args["high"]
    if target is None or leaf.args.get("symmetric") or keys.families[target] is Family.ENUM:
        return None, ()
    if not keys.is_by_bytes(target):
        return None, ()
    ends = keys.constants.bounds((low, high), keys.families[target])
    if any(isinstance(end, Unknown) for end in ends):
        _unknown(target, (low, high), keys)
    return target, ends


def _read_between(leaf: exp.Expr, keys: ShardKeys, negated: bool) -> Facts | None:
    assert isinstance(leaf, exp.Between)
    target, ends = _between(leaf, keys)
    if target is None or any(isinstance(end, Unknown) for end in ends):
        return None
    if None in ends:
        return NEVER
    low, high = (end for end in ends if not isinstance(end, Unknown))
    return (Within(target, Between(low, high)),)


def _read_is(leaf: exp.Expr, keys: ShardKeys, negated: bool) -> Facts | None:
    target = keys.target(leaf.this)
    if target is None or not isinstance(leaf.args["expression"], exp.Null):
        return None
    if negated and not keys.constants.keys_fit:
        return _NOTHING
    return (Outside(target, ()),) if negated else (Among(target, (None,)),)


def _read_like(leaf: exp.Expr, keys: ShardKeys, negated: bool) -> Facts | None:
    target = keys.target(leaf.this)
    if not keys.constants.keys_fit:
        return None
    pattern = keys.constants.read(leaf.args["expression"])
    if target is None or negated or leaf.args.get("negate") or keys.families[target] is not Family.TEXT:
        return None
    if not keys.is_by_bytes(target):
        return None
    if pattern is None or pattern.kind is not Kind.STRING or not isinstance(pattern.value, str):
        return _unknown(target, (leaf.args["expression"],), keys)
    text = pattern.value
    if "\\" in text:
        return None
    cut = min((text.find(wild) for wild in "%_" if wild in text), default=len(text))
    if cut == len(text):
        return (Among(target, (text,)),)
    return (Within(target, Between(text[:cut], _after(text[:cut]), high_open=True)),)


def _after(prefix: str) -> str | None:
    """The first text, by bytes, after all that start with `prefix`; None if there is none."""
    for end in range(len(prefix), 0, -1):
        code = ord(prefix[end - 1]) + 1
        if code <= 0x10FFFF:
            return prefix[: end - 1] + chr(0xE000 if 0xD800 <= code < 0xE000 else code)
    return None


# ------------------------------------------------------------------ lists and rows


def _read_in(leaf: exp.Expr, keys: ShardKeys, negated: bool) -> Facts | None:
    members = leaf.expressions
    if not is_list(leaf):
        if keys.mentions_usable_key(leaf.this):
            keys.note(PruneReason.NOT_CONSTANT, "IN compares the key with no list of constants")
        return None
    left = _plain(leaf.this)
    if isinstance(left, exp.Tuple):
        return None if negated else _tuple_list(left, members, keys)
    target = keys.target(left)
    if target is None:
        return _hidden(left, members, keys, exp.NEQ if negated else exp.EQ)
    values = keys.members(target, members)
    if any(isinstance(value, Unknown) for value in values):
        return _unknown(target, members, keys)
    known = [_value(value) for value in values if value is not None and value is not EMPTY]
    if negated and any(value is None for value in values):
        return NEVER
    if negated:
        fits = keys.constants.keys_fit and keys.is_by_bytes(target)
        return (Outside(target, known),) if fits else _NOTHING
    return (Among(target, known),) if known else NEVER


def is_list(leaf: exp.Expr) -> bool:
    """Whether an IN is over a list of expressions, not a subquery, an array or the like."""
    others = (value for name, value in leaf.args.items() if name not in ("this", "expressions"))
    return bool(leaf.expressions) and not any(others)


def _tuples(left: exp.Expr, right: exp.Expr, operator: _Type, keys: ShardKeys) -> Facts | None:
    """(a, b) = (1, 2), and the first columns of (a, b) >= (1, 2)."""
    if not any(keys.target(side) for side in left.expressions):
        left, right = right, left
        operator = _MIRRORED.get(operator, operator)
    if not isinstance(left, exp.Tuple) or not isinstance(right, exp.Tuple):
        return None
    if operator in (exp.EQ, exp.NullSafeEQ):
        return _tuple_list(left, (right,), keys)
    if operator not in _MIRRORED or len(left.expressions) != len(right.expressions):
        return None
    target = keys.target(left.expressions[0])
    first = keys.constants.read(right.expressions[0])
    if target is None or first is None or keys.families[target] is Family.ENUM:
        return None
    if not keys.is_by_bytes(target):
        return None
    if first.kind is Kind.STRING and keys.families[target] is not Family.TEXT:
        return None  # rows may compare such a column as text
    end = keys.constants.bound(right.expressions[0], keys.families[target])
    if end is None or isinstance(end, Unknown):
        return None
    # Inside rows NULL compares as the greatest value: (NULL, 1) > (1, 2).
    reach = Between(end, None) if operator in (exp.GT, exp.GTE) else Between(None, end)
    return (Within(target, reach, or_null=True),)


def _tuple_list(left: exp.Tuple, rows: Sequence[exp.Expr], keys: ShardKeys) -> Facts | None:
    """Rows compare NULL with NULL as equal, so a NULL in a row is a value like others."""
    width = len(left.expressions)
    targets = [keys.target(_plain(side)) for side in left.expressions]
    plain = [_plain(row) for row in rows]
    if not any(targets) or any(
        not isinstance(row, exp.Tuple) or len(row.expressions) != width for row in plain
    ):
        return None
    columns: list[Sequence[Constant]] = [
        [UNKNOWN] * len(plain)
        if target is None
        else keys.members(target, [row.expressions[index] for row in plain])
        for index, target in enumerate(targets)
    ]
    found = [
        [_value(value) if value is not UNKNOWN else UNKNOWN for value in row]
        for row in zip(*columns, strict=True)
        if not any(value is EMPTY for value in row)
    ]
    if len(plain) == 1 and found:
        known = zip(targets, found[0], strict=True)
        return [Among(t, (v,)) for t, v in known if t is not None and not isinstance(v, Unknown)]
    return (Rows(targets, found),)


def _hidden(left: exp.Expr, others: Sequence[exp.Expr], keys: ShardKeys, operator: type) -> Facts | None:
    """`_shard` and `_source` compared with names, which compare as text, letter case and all."""
    name = keys.hidden(left)
    values = [keys.constants.read(other) for other in others]
    if name is None or operator not in (exp.EQ, exp.NEQ, exp.NullSafeEQ):
        return None
    names: set[Value] = set()
    for value in values:
        if value is None or value.kind not in (Kind.STRING, Kind.TEXT, Kind.NULL):
            return None
        names.add(value.value)
    if name == "_source" and not keys.sources and not keys.sharding.shards_are_sources:
        return None
    if name == "_shard" or keys.sharding.shards_are_sources:
        shards = [shard for shard in names if isinstance(shard, str)]
    else:
        shards = [shard for shard, source in keys.sources.items() if source in names]
    slots = 0
    for shard in shards:
        slots |= keys.sharding.slots_of(shard)
    if operator is exp.NEQ:
        return NEVER if None in names else (OnSlots(keys.all & ~slots),)
    return (OnSlots(slots),)


# ------------------------------------------------------------------ small things


def _plain(expr: exp.Expr) -> exp.Expr:
    while isinstance(expr, exp.Paren):
        expr = expr.this
    return expr


def _value(value: Constant) -> Value:
    assert not isinstance(value, Unknown) and value is not EMPTY  # noqa: PT018
    return value  # type: ignore[return-value]


def _unknown(target: str, others: Sequence[exp.Expr], keys: ShardKeys) -> Facts | None:
    """Nothing is known; note why this comparison of a target does not prune."""
    title, family = keys.title(target), keys.families[target]
    typed = [keys.constants.read(other) for other in others]
    if target in keys.exact and all(one and one.kind in (Kind.STRING, Kind.NULL) for one in typed):
        spelling = keys.exact[target][0]
        sentence = f"{title} is {spelling}, and a constant may equal texts that are spelled otherwise"
        keys.note(PruneReason.KEY_SPELLING, sentence)
    elif not keys.constants.keys_fit and all(one is not None for one in typed):
        keys.note(
            PruneReason.ANY_TYPE, f"{title} may hold values of other types: only = and IN say where a row is"
        )
    elif any(one is None for one in typed):
        keys.note(PruneReason.NOT_CONSTANT, f"{title} is compared with something that is no constant")
    elif family is Family.TEXT and any(one and one.kind not in (Kind.STRING, Kind.TEXT) for one in typed):
        keys.note(PruneReason.TEXT_AS_NUMBER, f"{title} is text and is compared with a value that is not")
    else:
        keys.note(
            PruneReason.CONSTANT_NOT_EXACT,
            f"{title} is compared with a constant that is not certain to be of type {family.value}",
        )
    return None


_Reader = Callable[[exp.Expr, ShardKeys, bool], Facts | None]
_READERS: Final[dict[type, _Reader]] = {
    exp.Between: _read_between,
    exp.Is: _read_is,
    exp.Like: _read_like,
    exp.In: _read_in,
}
