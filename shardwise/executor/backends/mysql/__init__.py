"""MySQL and MariaDB servers as sources: `mysql://user@host:3306/database`, read over PyMySQL.

Files, in reading order: `settings.py` (what URL and WITH say), `driver.py` (PyMySQL, and what we need of
its insides), `arrived.py` (packets that are here), `session.py` (a connection that is pinned, verified,
killed and dropped), `zones.py` (what time zones are called there), `watchdog.py` (who sees that a server
has stopped), `server.py` (the sessions of one server, shared by its sources), `connection.py` (a request's
statement), `bulk/` (large results as Arrow), `literals.py`, `kinds.py` and `values.py` (values there and
back), `floats.py` (what its text cuts short), `types.py` and `tables.py` (what it says of columns),
`errors.py`.
"""

from __future__ import annotations

from shardwise.executor.backends.mysql.backend import MySQLBackend, MySQLSource

__all__ = ["MySQLBackend", "MySQLSource"]
