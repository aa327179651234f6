"""The duckdb dialect on MariaDB (and MySQL).

Text is compared by its code points, without padding: `COLLATE utf8mb4_nopad_bin`, whatever the column's own
character set and collation are. A comparison by the column's own goes first where an index may serve it.
"""

from shardwise.planner.agreement.mysql.tree import MySQLTree

__all__ = ["MySQLTree"]
