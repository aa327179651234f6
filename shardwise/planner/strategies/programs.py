"""Which sides of a join run first, and what is sent of them to the others: arithmetic on estimates alone.

    sides: customers 3,000 rows × 16 bytes, orders 150,000 × 40          orders' rows shrink to 30,000
    steps: Ahead(customers), Keys(customers → orders by custkey)    =>   moved 1.2 MB + 48 kB, sent 24 kB × 4

A program is a list of steps, done one after the other: a side's rows come ahead of the rest, or only its
keys; its keys narrow another side; all its rows are sent to another side's shards and are joined there. What
no step brought is gathered. This is the semi-join program of distributed databases (Bernstein et al., SDD-1,
TODS 1981), with whole rows sent where joining on the shards lets groups leave them instead of rows.

The cost is bytes moved off the shards and bytes sent to them, alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Literal, NamedTuple

from shardwise.plan.nodes import JoinKind
from shardwise.planner.estimates.defaults import ROW_BYTES

KEY_BYTES: Final = 8.0
ANCHORS_MAX: Final = 3
"""To the shards of so many of the largest sides all others may be sent: it is not worth while to a small
one."""
SideId = int
ClassId = int
Strategy = Literal["gather", "keys", "broadcast"]


def cost_of_a_key(places: float) -> float:
    """Bytes that are moved and sent for a key that is looked up in an index: the key to the index, its places
    from there, and the key to each."""
    return KEY_BYTES + places * (2 * KEY_BYTES + ROW_BYTES) + places * KEY_BYTES


@dataclass(frozen=True, slots=True)
class Side:
    """What is known of one input: `rows` of `width` bytes on so many `shards`.

    `values` are the different values of the columns that it is joined by, by class of equal columns.
    `routed`: of such a class each shard is sent its own keys only. `looked_up`: so it is once an index was
    asked, which has so many places of a key. `is_here`: its rows are in the merge already. `gives_keys`: its
    keys may run first. `keys_here`: how many keys of a class came already."""

    name: str
    rows: float
    width: float
    shards: int
    values: Mapping[ClassId, float]
    routed: frozenset[ClassId] = frozenset()
    looked_up: Mapping[ClassId, float] = field(default_factory=dict)
    is_here: bool = False
    rows_max: float = 0.0
    """If its rows are no more, they may come ahead, and count once. 0: they may not."""
    gives_keys: bool = False
    most: Mapping[ClassId, float] = field(default_factory=dict)
    """Of classes of which the number of values was not measured, the most that there may be."""
    keys_here: Mapping[ClassId, float] = field(default_factory=dict)

    @property
    def may_come_ahead(self) -> bool:
        return self.rows_max > 0 and self.rows <= self.rows_max

    def keys(self, by: ClassId) -> float:
        """How many keys it gives, at most."""
        return min(self.most.get(by, self.values[by]), self.rows)


class Ahead(NamedTuple):
    """The side's rows run first."""

    few: SideId


class Keys(NamedTuple):
    """Keys of `few` narrow `many`: of its rows, if they came ahead, else they run first themselves."""

    few: SideId
    many: SideId
    by: ClassId


class Send(NamedTuple):
    """The rows of `few`, which came ahead, are joined on the shards of `many`: each on its own, where that is
    known, else all on each."""

    few: SideId
    many: SideId


Step = Ahead | Keys | Send
Narrows = Callable[[SideId, SideId, ClassId], bool]
"""Whether keys of the first may narrow the second: only if the second's unmatched rows vanish."""
Sends = Callable[[SideId, SideId], int]
"""To how many shards each row of the first goes to be joined on those of the second; 0: it may not be."""
Consumer = Callable[[float, int], tuple[float, float]]
"""Of so many joined rows on so many shards: the rows that leave the shards, and bytes each."""


@dataclass(frozen=True, slots=True)
class Program:
    """`moved` and `sent` are rows, `cost` bytes of both."""

    steps: tuple[Step, ...]
    moved: float
    sent: float
    cost: float


@dataclass
class State:
    """Where a program has come to."""

    sides: list[Side]
    steps: list[Step] = field(default_factory=list)
    moved: float = 0.0
    sent: float = 0.0
    bytes: float = 0.0
    joined: set[SideId] = field(default_factory=set)
    """Sides that were sent to another."""

    def copy(self) -> State:
        return State(list(self.sides), list(self.steps), self.moved, self.sent, self.bytes, set(self.joined))

    def ahead(self, few: SideId) -> None:
        side = self.sides[few]
        self.steps.append(Ahead(few))
        self.moved += side.rows
        self.bytes += side.rows * side.width
        self.sides[few] = replace(side, is_here=True)

    def keys(self, few: SideId, many: SideId, by: ClassId) -> None:
        giver, side = self.sides[few], self.sides[many]
        count = giver.keys(by)
        if not giver.is_here:
            known = giver.keys_here.get(by)
            count = count if known is None else known
            self.moved += count if known is None else 0.0
            self.bytes += count * (KEY_BYTES + ROW_BYTES) if known is None else 0.0
        if by in side.looked_up and by not in side.routed:
            self._look_up(count, side.looked_up[by])
        else:
            targets = 1 if by in side.routed else side.shards
            self.sent += count * targets
            self.bytes += count * KEY_BYTES * targets
        self.steps.append(Keys(few, many, by))
        self.sides[many] = narrowed(side, by, count)

    def _look_up(self, keys: float, places: float) -> None:
        """Keys go to an index, which gives their places, and from here to these."""
        self.moved += keys * places
        self.sent += keys + keys * places
        self.bytes += keys * cost_of_a_key(places)

    def send(self, few: SideId, many: SideId, targets: int, kind: JoinKind) -> None:
        giver, side = self.sides[few], self.sides[many]
        self.sent += giver.rows * targets
        self.bytes += giver.rows * (giver.width - ROW_BYTES + 1) * targets
        self.steps.append(Send(few, many))
        self.joined.add(few)
        self.sides[many] = joined(side, giver, kind)

    def finished(self, consumer: Consumer | None) -> Program:
        """With what no step brought gathered."""
        moved, cost = self.moved, self.bytes
        left = [i for i in range(len(self.sides)) if i not in self.joined]
        for i in left:
            side = self.sides[i]
            if side.is_here:
                continue
            rows, width = side.rows, side.width
            if consumer is not None and len(left) == 1:
                rows, width = min((rows, width), consumer(rows, side.shards), key=lambda rw: rw[0] * rw[1])
            moved += rows
            cost += rows * width
        return Program(tuple(self.steps), moved, self.sent, cost)


def narrowed(side: Side, by: ClassId, keys: float) -> Side:
    """The side's rows that have one of so many keys."""
    part = min(1.0, keys / max(side.values[by], 1.0))
    rows = side.rows * part
    values = {c: min(keys, v) if c == by else _left(v, side.rows, rows) for c, v in side.values.items()}
    return replace(side, rows=rows, values=values)


def joined(side: Side, other: Side, kind: JoinKind) -> Side:
    """What `side` is when `other` was joined to it on its shards: the preserved side of an outer join."""
    shared = side.values.keys() & other.values.keys()
    matched = side.rows * other.rows / max(1.0, *(max(side.values[c], other.values[c]) for c in shared))
    if kind in ("semi", "anti"):
        kept = min(matched, side.rows)
        return replace(side, rows=kept if kind == "semi" else max(side.rows - kept, side.rows / 10))
    rows = max(matched, side.rows) if kind in ("left", "right") else matched
    both = {**other.values, **side.values}
    values = {
        c: min(v, side.values.get(c, v), other.values.get(c, v), max(rows, 1.0)) for c, v in both.items()
    }
    return replace(side, rows=rows, width=side.width + other.width - ROW_BYTES, values=values)


def _left(values: float, before: float, rows: float) -> float:
    """Different values in `rows` of the rows (Cardenas 1975)."""
    if values <= 0 or rows >= before:
        return values
    part = rows / max(before, 1.0)
    seen: float = 1.0 - (1.0 - part) ** max(before / values, 1.0)
    return max(values * seen, min(1.0, rows))


def programs(
    sides: list[Side],
    *,
    narrows: Narrows,
    sends: Sends,
    kind: JoinKind,
    consumer: Consumer | None,
    keys_max: float,
    only: frozenset[str] = frozenset(),
) -> dict[Strategy, Program]:
    """The best program of each kind. `only` strategies are taken whatever they cost, where they can be."""
    found: dict[Strategy, Program] = {"gather": State(list(sides)).finished(consumer)}
    reduced = _reduced(State(list(sides)), narrows, keys_max, range(len(sides)), is_forced="keys" in only)
    if reduced.steps:
        found["keys"] = reduced.finished(consumer)
    largest = sorted(range(len(sides)), key=lambda i: -_size(sides[i]))[:ANCHORS_MAX]
    sent = [
        program
        for anchor in largest
        if (program := _all_sent(sides, anchor, narrows, sends, kind, consumer, keys_max)) is not None
    ]
    if sent:
        found["broadcast"] = min(sent, key=lambda p: p.cost)
    return found


def _reduced(
    state: State, narrows: Narrows, keys_max: float, targets: range | list[SideId], *, is_forced: bool = False
) -> State:
    """Keys narrow sides as long as it pays: of the smallest side first, which may be what narrowed itself."""
    done: set[Keys] = set()
    while True:
        best: State | None = None
        gathered = least = state.finished(None).cost
        order = sorted(range(len(state.sides)), key=lambda i: _size(state.sides[i]))
        for few in order:
            if few in state.joined:
                continue
            for option in _options(state, few, narrows, keys_max, targets, done):
                cost = option.finished(None).cost
                if (best is None or cost < least) and (cost < gathered or is_forced):
                    best, least = option, cost
            if best is not None:
                break
        if best is None:
            return state
        step = best.steps[-1]
        assert isinstance(step, Keys)
        done.add(step)
        state = best


def _options(
    state: State,
    few: SideId,
    narrows: Narrows,
    keys_max: float,
    targets: range | list[SideId],
    done: set[Keys],
) -> Iterator[State]:
    side = state.sides[few]
    for many in targets:
        other = state.sides[many]
        if many == few or other.is_here or many in state.joined:
            continue
        for by in sorted(side.values.keys() & other.values.keys()):
            if {Keys(few, many, by), Keys(many, few, by)} & done or not narrows(few, many, by):
                continue
            if side.keys(by) > keys_max:
                continue
            if side.is_here or side.gives_keys:
                after = state.copy()
                after.keys(few, many, by)
                yield after
            if not side.is_here and side.may_come_ahead:
                after = state.copy()
                after.ahead(few)
                after.keys(few, many, by)
                yield after


def _size(side: Side) -> float:
    return 0.0 if side.is_here else side.rows * side.width


def _all_sent(
    sides: list[Side],
    anchor: SideId,
    narrows: Narrows,
    sends: Sends,
    kind: JoinKind,
    consumer: Consumer | None,
    keys_max: float,
) -> Program | None:
    """All sides but one come ahead, narrowed by one another, and are joined on the shards of that one."""
    if sides[anchor].is_here:
        return None
    others = [i for i in range(len(sides)) if i != anchor]
    if not all(sides[i].is_here or sides[i].rows_max > 0 for i in others):
        return None
    state = _reduced(State(list(sides)), lambda a, b, by: a != anchor and narrows(a, b, by), keys_max, others)
    if not all(s.is_here or s.may_come_ahead for i, s in enumerate(state.sides) if i != anchor):
        return None
    waiting = list(others)
    while waiting:
        linked = [i for i in waiting if state.sides[i].values.keys() & state.sides[anchor].values.keys()]
        if not linked:
            return None
        next_one = min(linked, key=lambda i: state.sides[i].rows)
        targets = sends(next_one, anchor)
        if not targets:
            return None
        if not state.sides[next_one].is_here:
            state.ahead(next_one)
        state.send(next_one, anchor, targets, kind)
        waiting.remove(next_one)
    return state.finished(consumer)
