"""SQL + catalog → plan: see README.md for the files in reading order."""

from shardwise.planner.cache import PlanCache
from shardwise.planner.context import Context
from shardwise.planner.members import MembersNeeded
from shardwise.planner.passes import OPTIONAL, PASSES
from shardwise.planner.planner import Planner, Statement
from shardwise.planner.scope import EVERYTHING, Scope
from shardwise.planner.scope_names import scope_of

__all__ = [
    "EVERYTHING",
    "OPTIONAL",
    "PASSES",
    "Context",
    "MembersNeeded",
    "PlanCache",
    "Planner",
    "Scope",
    "Statement",
    "scope_of",
]
