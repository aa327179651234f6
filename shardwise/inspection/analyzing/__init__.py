"""ANALYZE: what tables hold, counted over all their partitions; docs/statistics.md says how."""

from shardwise.inspection.analyzing.collecting import Collected, Each, Source, collect
from shardwise.inspection.analyzing.parts import Part

__all__ = ["Collected", "Each", "Part", "Source", "collect"]
