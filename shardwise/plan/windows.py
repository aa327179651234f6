"""Where a page begins on each shard, narrowed down by samples: arithmetic of ranks alone.

The rows of all shards are in one order, in which no two are equal; the page begins at the row of rank
`offset` (from 0). Of each shard so many rows are before it: that number is what is looked for. It is known to
be in `[low, high]`, the shard's `Window`; at first `[0, offset]`.

A round asks each shard for a few of its rows, `ranks` apart, and puts them in the common order. Between two
of them a shard has no more rows than its ranks say. So of a sampled row it is known between which ranks it is
among all rows. One that is surely before the page raises its shard's `low`, one that surely is not lowers
`high`. With k samples of each shard, four windows in k are left, whatever their number and however the rows
are spread: of a hundred thousand rows a few after three rounds.

A shard's window begins at a row that is known by its key (`start`): the next round goes on from there. Where
rows of a shard may have the same key, that is the first row of this key; its rank is told with the samples.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

_UNKNOWN: Final = 1 << 62


@dataclass(frozen=True, slots=True)
class Window:
    """From `low` to `high` rows of a shard are before the page. `start` is the key of its row of rank
    `low - 1`, None where `low` is 0; the first row of that key has the rank `first`, or a later one."""

    low: int
    high: int
    start: tuple[Any, ...] | None = None
    first: int = 0

    @property
    def count(self) -> int:
        """The rows from there to the last one that may be the page's first."""
        return self.high - self.first + 1

    def ranks(self, samples: int) -> tuple[int, ...]:
        """Ranks to ask for, about `samples` of them: the first, the last, and some as far apart."""
        step = max(1, -(-self.count // max(samples, 1)))
        return (*range(self.first, self.high, step), self.high)


class Sample(NamedTuple):
    """A sampled row: of the shard's row of that rank the key."""

    shard: int
    rank: int
    key: tuple[Any, ...]


def at_first(shards: int, offset: int) -> tuple[Window, ...]:
    """The windows before anything is known."""
    return (Window(0, offset),) * shards


def left(windows: Sequence[Window]) -> int:
    """How many rows may still be before the page or not."""
    return sum(w.high - w.low for w in windows)


def narrowed(
    windows: Sequence[Window],
    asked: Sequence[Sequence[int]],
    samples: Sequence[Sample],
    offset: int,
    *,
    is_total: bool = True,
) -> tuple[Window, ...]:
    """The windows after a round. `asked` are the ranks that each shard was asked for, `samples` its answers
    in the common order of all shards; a rank that is not answered is one that the shard does not have. It
    `is_total` if no two rows of a shard have the same key."""
    sizes = _sizes(asked, samples)
    least = _least_before(len(windows), samples)
    most = _most_before(samples, sizes)
    known = max((i for i, s in enumerate(samples) if s.rank < windows[s.shard].low), default=-1)
    before = max(known, max((i for i, n in enumerate(most) if n < offset), default=-1))
    after = min((i for i, n in enumerate(least) if n >= offset and i > before), default=len(samples))
    found = [replace(w, high=max(w.low, min(w.high, size))) for w, size in zip(windows, sizes, strict=True)]
    for sample in samples[: before + 1]:
        window = found[sample.shard]
        if sample.rank >= window.low:
            high = max(window.high, sample.rank + 1)
            first = sample.rank if is_total else _first(sample, samples, window)
            found[sample.shard] = Window(sample.rank + 1, high, sample.key, first)
    for sample in reversed(samples[after:]):
        window = found[sample.shard]
        found[sample.shard] = replace(window, high=max(window.low, min(window.high, sample.rank)))
    return tuple(found)


def _first(sample: Sample, samples: Sequence[Sample], window: Window) -> int:
    """The least rank that the first row of the sample's key may have: after the last one of another key."""
    mine = (s for s in samples if s.shard == sample.shard and s.rank < sample.rank)
    known = (s.rank + 1 for s in mine if s.key != sample.key)
    return max(known, default=window.first)


def _sizes(asked: Sequence[Sequence[int]], samples: Sequence[Sample]) -> list[int]:
    """How many rows each shard has at most: the first rank it was asked for and does not have."""
    answered = [0] * len(asked)
    for sample in samples:
        answered[sample.shard] += 1
    return [
        ranks[count] if count < len(ranks) else _UNKNOWN for ranks, count in zip(asked, answered, strict=True)
    ]


def _least_before(shards: int, samples: Sequence[Sample]) -> list[int]:
    """Of each sample the number of rows, of all shards, that are before it at least."""
    seen = [0] * shards
    total, found = 0, []
    for sample in samples:
        total += sample.rank - seen[sample.shard]
        found.append(total)
        total += 1
        seen[sample.shard] = sample.rank + 1
    return found


def _most_before(samples: Sequence[Sample], sizes: Sequence[int]) -> list[int]:
    """… and at most."""
    bounds = list(sizes)
    total, found = sum(bounds), []
    for sample in reversed(samples):
        total += sample.rank - bounds[sample.shard]
        bounds[sample.shard] = sample.rank
        found.append(total)
    return found[::-1]


class Row(NamedTuple):
    """A row that was fetched: of which shard, and how many of that shard's rows are before the first one."""

    shard: int
    before: int


def begins(
    rows: Sequence[Row], asked: Sequence[int], starts: Sequence[bool], *, offset: int, count: int
) -> int | None:
    """Where among the fetched rows, which are in the common order, the page begins; None if that is not sure.

    Each shard was asked for its next `asked` rows from some place on, `starts` of them not from the first.
    The rounds need not be believed: a page is sure if no row before those places, of which `before` tells
    the number, can be in it, and none after the last ones. Both read off rows that were fetched in one
    statement of each shard.
    """
    first: dict[int, int] = {}
    last: dict[int, int] = {}
    fetched = [0] * len(asked)
    at = offset
    for place, row in enumerate(rows):
        if row.shard not in first:
            first[row.shard] = place
            at -= row.before
        last[row.shard] = place
        fetched[row.shard] += 1
    if at < 0 or any(is_later and shard not in first for shard, is_later in enumerate(starts)):
        return None
    if any(rows[place].before and place > at for place in first.values()):
        return None
    for shard, (wanted, got) in enumerate(zip(asked, fetched, strict=True)):
        if got >= wanted and last.get(shard, -1) < at + count - 1:
            return None
    return at
