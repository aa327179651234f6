"""SQL + catalog → plan: see README.md for the files in reading order."""

from shardwise.planner.context import Context
from shardwise.planner.passes import OPTIONAL, PASSES
from shardwise.planner.planner import Planner, Statement

__all__ = ["OPTIONAL", "PASSES", "Context", "Planner", "Statement"]
