"""MySQL's protocol → Arrow, many rows at once: `BulkResult`.

Files, in reading order: `packets.py` (rows off the socket), `cells.py` (where their values are), `fields.py`
(what the columns are), `values.py` (values as Arrow), `result.py`.
"""

from shardwise.executor.backends.mysql.bulk.result import BulkResult

__all__ = ["BulkResult"]
