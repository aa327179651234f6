"""How many keys a round of seeks asks of each shard, and what a page so found is expected to move.

A round costs each shard a statement, which without an index reads the table; more keys in fewer rounds move
more rows. Of a window of W rows, k keys leave two steps of W / k rows. With r rounds a shard moves r·k and
W·(2/k)^r rows, least where k is the (r+1)-th root of W·2^r: then they are (r+1)·k. The fewest rounds are
taken for which that is little.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

_MOVED_MAX: Final = 480
"""Rows of each shard."""
_MOVED_IN_ALL: Final = 8192
ROUNDS_MAX: Final = 16
"""Of more the page is fetched from where it may begin."""
_MOVED_LEAST: Final = 96
_SLACK: Final = 2
"""Times the keys of a round: so many rows of each shard are not worth another one."""


class Expected(NamedTuple):
    """Rounds, and rows that leave the shards in the first of them, in all, and after the last."""

    rounds: int
    first: float
    sampled: float
    fetched: float


def samples_for(offset: int, shards: int) -> int:
    """The keys that each shard is asked for in a round."""
    most = max(_MOVED_LEAST, min(_MOVED_MAX, _MOVED_IN_ALL // shards))
    window = offset + 1
    rounds = 1
    while True:
        samples = max(2, round(math.pow(window * 2**rounds, 1 / (rounds + 1))))
        if (rounds + 1) * samples <= most or rounds == ROUNDS_MAX:
            return samples
        rounds += 1


def enough(samples: int, shards: int) -> int:
    """With so many rows left among which the page may begin, they are fetched."""
    return _SLACK * samples * shards


def expected(offset: int, count: int, shards: int, samples: int, rows: float | None) -> Expected:
    """Of a page after `offset` rows; the shards have so many rows together, if that is known."""
    window = float(offset + 1)
    held = window if rows is None else min(window, rows / shards)
    rounds, first, sampled = 0, 0.0, 0.0
    while shards * window > enough(samples, shards) and rounds < ROUNDS_MAX:
        rounds += 1
        sampled += shards * min(samples + 1.0, samples * held / window + 1)
        first = first or sampled
        window = held = window * 2 / samples
    return Expected(rounds, first, sampled, shards * (held + count))
