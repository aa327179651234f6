"""What ran first as values in the rest of the statement, a dialect at a time: see `base`."""

from shardwise.planner.early_values.base import EarlyValues, different, told_apart
from shardwise.planner.early_values.duckdb import DUCKDB_VALUES
from shardwise.planner.early_values.mysql import MYSQL_VALUES
from shardwise.planner.early_values.postgres import POSTGRES_VALUES
from shardwise.planner.early_values.sqlite import SQLITE_VALUES

__all__ = [
    "DUCKDB_VALUES",
    "MYSQL_VALUES",
    "POSTGRES_VALUES",
    "SQLITE_VALUES",
    "EarlyValues",
    "different",
    "told_apart",
]
