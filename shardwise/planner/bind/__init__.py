"""SQL → the first plan. The only reader of a user's SQL."""

from shardwise.planner.bind.bound import BoundQuery
from shardwise.planner.bind.query import Binder
from shardwise.planner.bind.unmodelled import Unmodelled

__all__ = ["Binder", "BoundQuery", "Unmodelled"]
