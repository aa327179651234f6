"""How many rows a plan moves, as far as that can be said before it runs."""

from shardwise.planner.estimates.estimates import Estimates

__all__ = ["Estimates"]
