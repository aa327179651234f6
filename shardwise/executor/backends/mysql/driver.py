"""PyMySQL, and all that we need of its insides.

Its rows are read as they come (`start`, `rows`), so that large results are not held; a connection is dropped
without reading the rest of them, which PyMySQL itself never does. What has arrived is read many packets at a
time, by `arrived.py`.
"""

from __future__ import annotations

import socket
from collections.abc import Mapping
from contextlib import suppress
from select import POLLIN, poll
from typing import Any, NamedTuple

from shardwise.errors import NotSupportedError
from shardwise.executor.backends.mysql import arrived

try:
    import pymysql
    from pymysql.connections import MySQLResult
    from pymysql.constants import COMMAND, CR, FIELD_TYPE
    from pymysql.converters import conversions, decoders
except ModuleNotFoundError as error:
    raise NotSupportedError(
        "MySQL and MariaDB sources need PyMySQL, which is not installed",
        hint='Install it: pip install "shardwise[mysql]"',
    ) from error

__all__ = [
    "AS_IT_COMES",
    "CR",
    "DRIVERS_OWN",
    "FIELD_TYPE",
    "TEXT",
    "Converters",
    "Result",
    "Wire",
    "pymysql",
]

_HEADS_MAX = 256

Result = Any
"""A PyMySQL `MySQLResult` whose rows are still to be read."""


class Converters(dict[int, Any]):
    """What becomes of values, by the column's type. `heads` are what answers began with that were read by it:
    the columns' definitions, and what PyMySQL made of them. Threads share it."""

    def __init__(self, made: Mapping[int, Any]) -> None:
        super().__init__(made)
        self.heads: dict[bytes, Any] = {}


DRIVERS_OWN = Converters({k: v for k, v in conversions.items() if type(k) is int})
"""What PyMySQL makes of values."""


def _bits(data: bytes) -> int:
    return int.from_bytes(data, "big")


def _whole(text: str) -> int | str:
    return text if "." in text else int(text)


TEXT = Converters(
    {
        **decoders,
        **dict.fromkeys(
            (FIELD_TYPE.DATE, FIELD_TYPE.NEWDATE, FIELD_TYPE.DATETIME, FIELD_TYPE.TIMESTAMP, FIELD_TYPE.TIME),
            None,
        ),
        **dict.fromkeys((FIELD_TYPE.DECIMAL, FIELD_TYPE.NEWDECIMAL), _whole),
        FIELD_TYPE.BIT: _bits,
    }
)
"""Dates, times and decimals as the server writes them."""


AS_IT_COMES = Converters({})
"""All values as the server writes them."""


class Wire(pymysql.Connection):  # type: ignore[misc]  # it has no types
    """A connection that anyone may cut."""

    _quiet: poll | None = None
    _result: Any  # PyMySQL's own
    _current_timeout: Any

    def start(self, sql: str, converters: Converters) -> Result:
        """Sends a statement and reads what its columns are. Waits for the first rows, and raises what is
        wrong with what has come of them."""
        self.decoders = converters
        self._execute_command(COMMAND.COM_QUERY, sql.encode())
        head = arrived.head_of(self.arrived())
        known = None if head is None else converters.heads.get(head)
        if head is None or known is None:
            self._read_query_result(unbuffered=True)
            if head is not None:
                _keep(converters.heads, head, self._result)
            return self._answered(self._result)
        self._rfile.read(len(head))
        self._result = result = MySQLResult(self)
        self._next_seq_id = (known.field_count + 3) % 256
        result.fields, result.converters = known.fields, known.converters
        result.field_count = known.field_count
        result.unbuffered_active = True
        return self._answered(result)

    def _answered(self, result: Result) -> Result:
        if is_open(result):
            here = self.arrived()
            if not here or arrived.has_error(here):
                while row(result) is not None:
                    pass
        return result

    def arrived(self) -> bytes:
        """What has arrived and was not read, at least a byte; nothing at the connection's end."""
        if self._current_timeout != self._read_timeout:
            self._sock.settimeout(self._read_timeout)
            self._current_timeout = self._read_timeout
        try:
            found: bytes = self._rfile.peek()
        except OSError as error:
            self._force_close()
            raise pymysql.err.OperationalError(
                CR.CR_SERVER_LOST, f"Lost connection to MySQL server during query ({error})"
            ) from error
        except BaseException:
            self._force_close()
            raise
        return found

    def ask(self, sql: str) -> list[tuple[Any, ...]]:
        """All rows of a small result."""
        self.decoders = DRIVERS_OWN
        self.query(sql)
        return list(self._result.rows or ())

    def reset(self) -> None:
        """COM_RESET_CONNECTION: the session is as if it were new, but for the user and the database."""
        self._execute_command(0x1F, b"")
        self._read_ok_packet()

    def patience(self, seconds: float | None) -> None:
        """How long a read may take from now on; None: for ever."""
        self._read_timeout = seconds

    @property
    def is_quiet(self) -> bool:
        """Whether the server has sent nothing unasked, as it does when it ends the connection."""
        if self._sock is None:
            return False
        if self._quiet is None:
            self._quiet = poll()
            self._quiet.register(self._sock, POLLIN)  # it tells of errors and hang-ups too
        return not self._quiet.poll(0)

    def cut(self) -> None:
        """Ends the connection at once, whoever reads from it; that thread is told that it was lost."""
        sock = self._sock
        if sock is not None:
            with suppress(OSError):
                # SSLSocket's own would take its TLS state away from the thread that reads.
                socket.socket.shutdown(sock, socket.SHUT_RDWR)

    def drop(self) -> None:
        """Closes the socket without a word and without reading what is still to come."""
        result = self._result
        if result is not None:
            result.unbuffered_active = False  # else it reads its rest when it is collected
        self._closed = True
        self._force_close()


def cause_of(error: BaseException) -> BaseException | None:
    """What the socket raised, where the driver tells of it."""
    found: BaseException | None = getattr(error, "original_exception", None)
    return found or (error.__context__ if isinstance(error, pymysql.OperationalError) else None)


def is_timeout(error: BaseException) -> bool:
    """Whether the server said nothing for as long as it may."""
    return isinstance(error, TimeoutError) or isinstance(cause_of(error), TimeoutError)


def row(result: Result) -> tuple[Any, ...] | None:
    """The next row; None at the end."""
    found: tuple[Any, ...] | None = result._read_rowdata_packet_unbuffered()
    return found


def rows(result: Result, count: int) -> list[tuple[Any, ...]]:
    """The next rows; fewer than `count` only at the end."""
    found: list[tuple[Any, ...]] = []
    while len(found) < count and result.unbuffered_active:
        wire: Wire = result.connection
        here = arrived.rows_of(wire.arrived(), result.converters, wire._next_seq_id, count - len(found))
        wire._rfile.read(here.bytes)
        wire._next_seq_id = here.sequence
        found += here.rows
        if here.is_over:
            result.unbuffered_active, result.has_next, result.connection = False, False, None
        elif (
            len(found) < count and (one := row(result)) is not None
        ):  # its packet is not all there, or no row
            found.append(one)
    return found


class _Head(NamedTuple):
    """What PyMySQL made of columns' definitions."""

    fields: list[Any]
    converters: list[Any]
    field_count: int


def _keep(heads: dict[bytes, Any], head: bytes, result: Result) -> None:
    if len(heads) >= _HEADS_MAX:
        heads.clear()
    heads[head] = _Head(result.fields, result.converters, result.field_count)


def is_open(result: Result) -> bool:
    """Whether rows are still to be read."""
    return bool(result.unbuffered_active)
