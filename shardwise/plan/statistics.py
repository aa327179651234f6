"""What a run measured, for EXPLAIN ANALYZE. The executor fills it in; nothing here has a clock."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from shardwise.plan.gaps import Gaps
from shardwise.plan.run import Plan


class ShardStats(NamedTuple):
    """What one shard sent for one fragment: rows and bytes (as Arrow), and the seconds until its last row."""

    rows: int
    bytes: int
    seconds: float


class FirstStats(NamedTuple):
    """A subquery that ran first: its plan, and what its own run measured."""

    name: str
    plan: Plan
    statistics: Statistics


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistics:
    """One run of one plan. `fragments` is by fragment, then by shard.

    `seconds` is the whole statement's wall time, what ran first included; `merge_seconds` the time in the
    merge engine, which overlaps with the shards'. `rows_out` are the rows of the answer. `filled` says, by
    fragment and shard too, what tables lacked there and was filled (DRIFT FILL). `merged_on` is the source
    on which the merge ran, None where it was this process. `bytes_spilled` is what the merge wrote to disk
    for want of memory, what ran first not included; None where nobody looked. `own_rows_sent` are without
    those of what ran first.
    """

    fragments: Mapping[str, Mapping[str, ShardStats]]
    merge_seconds: float
    seconds: float
    rows_out: int
    first: tuple[FirstStats, ...] = field(default=())
    filled: Mapping[str, Mapping[str, Gaps]] = field(default_factory=dict)
    merged_on: str | None = None
    bytes_spilled: int | None = None
    own_rows_sent: int = 0
    own_bytes_sent: int = 0

    @property
    def rows_sent(self) -> int:
        """Keys and rows that ran first and were sent to shards, once for each; by what ran first, too."""
        return self.own_rows_sent + sum(f.statistics.rows_sent for f in self.first)

    @property
    def bytes_sent(self) -> int:
        return self.own_bytes_sent + sum(f.statistics.bytes_sent for f in self.first)

    @property
    def rows_moved(self) -> int:
        """Rows that left the shards, for what ran first too."""
        return sum(total(of).rows for of in self.fragments.values()) + sum(
            f.statistics.rows_moved for f in self.first
        )

    @property
    def bytes_moved(self) -> int:
        """Bytes that left the shards, for what ran first too."""
        return sum(total(of).bytes for of in self.fragments.values()) + sum(
            f.statistics.bytes_moved for f in self.first
        )


def total(of: Mapping[str, ShardStats]) -> ShardStats:
    """A fragment's rows and bytes in all, and the seconds of its slowest shard."""
    return ShardStats(
        sum(s.rows for s in of.values()),
        sum(s.bytes for s in of.values()),
        max((s.seconds for s in of.values()), default=0.0),
    )
