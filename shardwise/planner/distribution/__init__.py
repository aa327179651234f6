"""Where the rows of a plan node are: the one property that decides what may run per shard.

Every question "may this run per shard?" is answered here. README.md has the rules, by their numbers.
"""

from shardwise.planner.distribution.analysis import Analysis
from shardwise.planner.distribution.joins import may_join, meets_copies
from shardwise.planner.distribution.leaves import global_keys
from shardwise.planner.distribution.set_operations import mixes_collations
from shardwise.planner.distribution.subqueries import stays
from shardwise.planner.distribution.values import At, Copied, Distribution, Key, Merged, Shards, Split

__all__ = [
    "Analysis",
    "At",
    "Copied",
    "Distribution",
    "Key",
    "Merged",
    "Shards",
    "Split",
    "global_keys",
    "may_join",
    "meets_copies",
    "mixes_collations",
    "stays",
]
