"""Rounds of samples find where a page begins, on any shards; and what they found is not taken on trust."""

from __future__ import annotations

import random
from bisect import bisect_left
from collections.abc import Sequence
from typing import Any

import pytest

from shardwise.plan.windows import Row, Sample, Window, at_first, begins, left, narrowed


def seeds(count: int) -> list[Any]:
    """A few at once, and the others with all tests."""
    return [n if n < 4 else pytest.param(n, marks=pytest.mark.slow) for n in range(count)]


class Shards:
    """Sorted numbers on some shards, asked as sources are. All are different."""

    def __init__(self, rows: Sequence[Sequence[int]]) -> None:
        self.rows = rows
        self.moved = self.rounds = 0

    def sampled(self, windows: Sequence[Window], asked: Sequence[Sequence[int]]) -> list[Sample]:
        found = []
        for shard, (rows, window, ranks) in enumerate(zip(self.rows, windows, asked, strict=True)):
            start = 0 if window.start is None else bisect_left(rows, window.start[0])
            assert start == window.first, "a window begins at the row that its key is of"
            here = rows[start : start + window.count]
            found += [Sample(shard, r, (here[r - start],)) for r in ranks if r - start < len(here)]
        self.moved += len(found)
        self.rounds += 1
        return sorted(found, key=lambda s: s.key)

    def page(self, windows: Sequence[Window], offset: int, count: int) -> list[int] | None:
        fetched, asked = [], []
        for shard, (rows, window) in enumerate(zip(self.rows, windows, strict=True)):
            start = 0 if window.start is None else bisect_left(rows, window.start[0])
            asked.append(window.count + count)
            fetched += [(row, Row(shard, start)) for row in rows[start : start + asked[-1]]]
        fetched.sort()
        self.moved += len(fetched)
        starts = [w.start is not None for w in windows]
        at = begins([row for _, row in fetched], asked, starts, offset=offset, count=count)
        return None if at is None else [value for value, _ in fetched[at : at + count]]


def found(shards: Shards, offset: int, count: int, samples: int, until: int) -> list[int] | None:
    windows = at_first(len(shards.rows), offset)
    while left(windows) > until:
        asked = [w.ranks(samples) for w in windows]
        after = narrowed(windows, asked, shards.sampled(windows, asked), offset)
        assert left(after) < left(windows) or after == windows
        if after == windows:
            break
        windows = after
    return shards.page(windows, offset, count)


def spread(rng: random.Random) -> list[list[int]]:
    """Rows on shards: evenly, by ranges, all on one, some shards empty."""
    shards = rng.choice((1, 2, 3, 4, 7, 16))
    rows = rng.sample(range(10_000), rng.choice((0, 1, 5, 40, 300, 1_000)))
    kind = rng.choice(("even", "range", "one", "skewed", "empty"))

    def place(value: int) -> int:
        if kind == "range":
            return value * shards // 10_000
        if kind == "one":
            return shards - 1
        if kind == "skewed":
            return min(shards - 1, int(rng.expovariate(1.5)))
        return rng.randrange(max(1, shards // 2) if kind == "empty" else shards)

    found: list[list[int]] = [[] for _ in range(shards)]
    for value in rows:
        found[place(value)].append(value)
    return [sorted(each) for each in found]


@pytest.mark.parametrize("seed", seeds(40))
def test_exact(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(150):
        rows = spread(rng)
        everything = sorted(v for each in rows for v in each)
        offset = rng.choice((0, 1, rng.randrange(1_200), len(everything), max(0, len(everything) - 3)))
        count = rng.choice((0, 1, 3, 10, 100))
        shards = Shards(rows)
        got = found(shards, offset, count, rng.choice((1, 2, 3, 8, 64)), rng.choice((0, 5, 100)))
        assert got == everything[offset : offset + count], (rows, offset, count)


@pytest.mark.parametrize("kind", ["even", "range", "one"])
@pytest.mark.parametrize("shards", [2, 4, 64])
def test_few_rounds_and_few_rows(kind: str, shards: int) -> None:
    rng = random.Random(1)
    offset, samples = 100_000, 64
    places = {
        "even": lambda v: rng.randrange(shards),
        "range": lambda v: v * shards // 400_000,
        "one": lambda v: 0,
    }[kind]
    rows: list[list[int]] = [[] for _ in range(shards)]
    for value in range(400_000):
        rows[places(value)].append(value)
    asked = Shards(rows)
    assert found(asked, offset, 10, samples, shards * samples) == list(range(offset, offset + 10))
    assert asked.rounds <= 5
    assert asked.moved <= (asked.rounds + 1) * shards * (samples + 12)


@pytest.mark.parametrize("seed", seeds(20))
def test_rows_that_change_between_rounds_never_give_a_wrong_page(seed: int) -> None:
    """Sure or not: but if sure, the page that the rows have when it is fetched."""
    rng = random.Random(seed)
    sure = 0
    for _ in range(100):
        rows = spread(rng)
        offset, count = rng.randrange(600), rng.choice((1, 5, 20))
        windows = at_first(len(rows), offset)
        for _ in range(4):
            asked = [w.ranks(8) for w in windows]
            samples = []
            for shard, (here, window, ranks) in enumerate(zip(rows, windows, asked, strict=True)):
                start = 0 if window.start is None else bisect_left(here, window.start[0])
                part = here[start : start + window.count]
                numbered = [(r, r - window.first) for r in ranks]
                samples += [Sample(shard, r, (part[i],)) for r, i in numbered if i < len(part)]
            windows = narrowed(windows, asked, sorted(samples, key=lambda s: s.key), offset)
            changed = [set(each) for each in rows]
            for _ in range(rng.choice((0, 1, 30))):
                each = rng.choice(changed)
                each.add(rng.randrange(10_000) * 1_000 + rng.randrange(1_000)) if rng.random() < 0.5 else None
                each.discard(rng.choice(sorted(each))) if each and rng.random() < 0.5 else None
            rows = [sorted(each) for each in changed]
        everything = sorted(v for each in rows for v in each)
        got = Shards(rows).page(windows, offset, count)
        assert got is None or got == everything[offset : offset + count]
        sure += got is not None
    assert sure > 30


@pytest.mark.parametrize("seed", seeds(20))
def test_rows_of_the_same_key(seed: int) -> None:
    """A place in the midst of equal rows is the first one's, whose rank is told with the samples."""
    rng = random.Random(seed)
    for _ in range(100):
        count, shards = rng.choice((1, 5, 20)), rng.choice((1, 2, 3, 7))
        values = rng.choice((2, 10, 100))
        sizes = [rng.choice((0, 30, 200)) for _ in range(shards)]
        rows = [sorted(rng.randrange(values) for _ in range(size)) for size in sizes]
        everything = sorted(v for each in rows for v in each)
        offset = rng.randrange(500)
        windows = at_first(shards, offset)
        for _ in range(5):
            asked, samples = [], []
            for shard, (here, window) in enumerate(zip(rows, windows, strict=True)):
                ranks = window.ranks(4)
                first = 0 if window.start is None else bisect_left(here, window.start[0])
                assert first >= window.first
                moved = [r - window.first + first for r in ranks]
                asked.append(moved)
                samples += [Sample(shard, r, (here[r],)) for r in moved if r < len(here)]
            samples.sort(key=lambda s: (s.key, s.shard, s.rank))
            windows = narrowed(windows, asked, samples, offset, is_total=False)
        got = Shards(rows).page(windows, offset, count)
        assert got == everything[offset : offset + count]
