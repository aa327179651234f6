"""The duckdb dialect on PostgreSQL.

Its equality of text is that of the bytes (a column of another collation is none of the catalog's), so that
indexes on text serve `=` and IN; what orders says its collation, "C".
"""

from shardwise.planner.agreement.postgres.tree import PostgresTree

__all__ = ["PostgresTree"]
