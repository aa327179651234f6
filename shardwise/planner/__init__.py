"""SQL + catalog → plan: see README.md for the files in reading order."""

from shardwise.planner.caching.cache import PlanCache
from shardwise.planner.context import Context
from shardwise.planner.members import MembersNeeded
from shardwise.planner.passes import OPTIONAL, PASSES
from shardwise.planner.planner import Planner, Statement
from shardwise.planner.scopes.names import scope_of
from shardwise.planner.scopes.scope import EVERYTHING, Scope

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
