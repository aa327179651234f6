"""Plan trees as SQL: the last step on both sides of the border.

    to_query(tree under a Gather, leaf)    a fragment, in logical names (`partitions` makes them physical)
    to_query(tree above, leaf)             the merge; each Gather reads the stream that its fragment names

Reading order: render, block, clauses, joins, sources, expressions, names.
"""

from shardwise.plan.sql.names import stream_names
from shardwise.plan.sql.render import Leaf, to_query
from shardwise.plan.sql.text import as_sqlite_reads_it, text_of, with_bare_arms

__all__ = ["Leaf", "as_sqlite_reads_it", "stream_names", "text_of", "to_query", "with_bare_arms"]
