"""Sort keys as values that pages are sought by, and as orders that a merge trusts, a dialect at a time: see
`base`."""

from shardwise.planner.sort_keys.base import SortKeys, why_not
from shardwise.planner.sort_keys.duckdb import DUCKDB_SORT_KEYS
from shardwise.planner.sort_keys.mysql import MYSQL_SORT_KEYS
from shardwise.planner.sort_keys.postgres import POSTGRES_SORT_KEYS
from shardwise.planner.sort_keys.sqlite import SQLITE_SORT_KEYS

__all__ = [
    "DUCKDB_SORT_KEYS",
    "MYSQL_SORT_KEYS",
    "POSTGRES_SORT_KEYS",
    "SQLITE_SORT_KEYS",
    "SortKeys",
    "why_not",
]
