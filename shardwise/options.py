"""Options of a cluster, a connection or a statement; each level overrides the one before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Scatter = Literal["allow", "refuse"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """`None` means no limit. Sizes are bytes, times seconds, rows are rows moved off the shards.

    `disable_passes` and `verify_passes` are for tests: which optional passes are left out, and whether
    the plan is verified after each pass and not only at the end.
    """

    scatter: Scatter = "allow"
    deadline_s: float | None = None
    rows_max: int | None = None
    bytes_max: int | None = None
    memory_bytes_max: int = 2 << 30
    spill_directory: str | None = None
    spill_bytes_max: int | None = None
    threads: int = 4
    requests_max: int = 8
    requests_per_source_max: int = 4
    disable_passes: tuple[str, ...] = ()
    verify_passes: bool = False
    time_zone: str = "UTC"
