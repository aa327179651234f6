"""PyMySQL, and all that we need of its insides.

Its rows are read one by one as they come (`start`, `row`), so that large results are not held; a connection
is dropped without reading the rest of them, which PyMySQL itself never does.
"""

from __future__ import annotations

import socket
from collections.abc import Mapping
from contextlib import suppress
from select import poll
from typing import Any

from shardwise.errors import NotSupportedError

try:
    import pymysql
    from pymysql.constants import CR, FIELD_TYPE
    from pymysql.converters import conversions, decoders
except ModuleNotFoundError as error:
    raise NotSupportedError(
        "MySQL and MariaDB sources need PyMySQL, which is not installed",
        hint='Install it: pip install "shardwise[mysql]"',
    ) from error

__all__ = ["AS_IT_COMES", "CR", "DRIVERS_OWN", "FIELD_TYPE", "TEXT", "Result", "Wire", "pymysql"]

Result = Any
"""A PyMySQL `MySQLResult` whose rows are still to be read."""

DRIVERS_OWN: Mapping[int, Any] = {k: v for k, v in conversions.items() if type(k) is int}
"""What PyMySQL makes of values, by the column's type."""


def _bits(data: bytes) -> int:
    return int.from_bytes(data, "big")


def _whole(text: str) -> int | str:
    return text if "." in text else int(text)


TEXT: Mapping[int, Any] = {
    **decoders,
    **dict.fromkeys(
        (FIELD_TYPE.DATE, FIELD_TYPE.NEWDATE, FIELD_TYPE.DATETIME, FIELD_TYPE.TIMESTAMP, FIELD_TYPE.TIME),
        None,
    ),
    **dict.fromkeys((FIELD_TYPE.DECIMAL, FIELD_TYPE.NEWDECIMAL), _whole),
    FIELD_TYPE.BIT: _bits,
}
"""Dates, times and decimals as the server writes them."""


AS_IT_COMES: Mapping[int, Any] = {}
"""All values as the server writes them."""


class Wire(pymysql.Connection):  # type: ignore[misc]  # it has no types
    """A connection that anyone may cut."""

    def start(self, sql: str, converters: Mapping[int, Any]) -> Result:
        """Sends a statement and reads what its columns are."""
        self.decoders = converters
        self.query(sql, unbuffered=True)
        return self._result

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
        waiting = poll()
        waiting.register(self._sock)
        return all(
            not event & 0b1_1001 for _, event in waiting.poll(0)
        )  # nothing to read, no error, no hang-up

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


def is_open(result: Result) -> bool:
    """Whether rows are still to be read."""
    return bool(result.unbuffered_active)
