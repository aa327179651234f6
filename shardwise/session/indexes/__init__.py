"""Join indexes and lookup indexes: built, checked, repaired, dropped. docs/indexes.md is for users.

In reading order:

1. `shapes.py`: what an index holds, as queries over its base tables and over its index table.
2. `physical.py`: the columns that the index table has on each product.
3. `reading.py`: rows of such a query as Arrow, each with the shard that its slot is on.
4. `staging.py`: the rows that should be there beside those that are, and what differs. It spills to disk.
5. `applying.py`: the differences, written shard by shard in batches.
6. `states.py`: how far an index is, and that one statement at a time works on it.
7. `job.py`: the work of one statement, which is made of these.
8. `building.py`: the statements themselves; `kept.py`: CHECK of a table that the application keeps;
   `listing.py`: SHOW INDEXES.

To build is to repair an index table that is empty, or half full after a build that was stopped. So there is
one way of writing, and it may stop anywhere: what is missing then is found the next time.
"""

from shardwise.session.indexes.building import Found, Made, build, check, declare, drop, existing
from shardwise.session.indexes.job import Asked
from shardwise.session.indexes.listing import Listed, listed
from shardwise.session.indexes.states import Progress, Watcher

__all__ = [
    "Asked",
    "Found",
    "Listed",
    "Made",
    "Progress",
    "Watcher",
    "build",
    "check",
    "declare",
    "drop",
    "existing",
    "listed",
]
