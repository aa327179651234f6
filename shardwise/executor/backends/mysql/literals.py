"""A parameter's value as a literal in a statement's text, escaped as PyMySQL escapes it.

It is safe with the pinned sql_mode: a backslash escapes, and the session's character set is utf8mb4. A value
below zero stands in parentheses, or `-:p` would begin a comment.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from functools import lru_cache
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from shardwise.errors import DataError, ProgrammingError, Reason
from shardwise.executor.backends.mysql.driver import pymysql

_text = pymysql.converters.escape_string


@lru_cache(maxsize=64)
def literals(zone: str) -> Callable[[Any], str]:
    """Writes values for a session in `zone` ("SYSTEM": the server's own)."""

    def member(value: Any) -> str:
        """Of a list; one that is a tuple is a row."""
        return f"({literal(value)})" if isinstance(value, tuple) else literal(value)

    def literal(value: Any) -> str:
        write = _WRITE.get(type(value))
        if write is not None:
            return write(value)
        if isinstance(value, datetime):
            return _moment(value, zone)
        if isinstance(value, list | tuple):
            return ", ".join(map(member, value)) or "NULL"
        for kind, write in _WRITE.items():
            if isinstance(value, kind):
                return write(value)
        raise ProgrammingError(
            f"a value of type {type(value).__name__} cannot be a parameter of a MySQL statement",
            reason=Reason.PARAMETERS,
        )

    return literal


def _number(value: Any) -> str:
    return f"{value}" if value >= 0 else f"({value})"


def _float(value: float) -> str:
    if not math.isfinite(value):
        raise DataError(f"a parameter is {value}, which MySQL has not")
    text = repr(value)
    text = text if "e" in text else f"{text}e0"
    return f"({text})" if text.startswith("-") else text


def _decimal(value: Decimal) -> str:
    if not value.is_finite():
        raise DataError(f"a parameter is {value}, which MySQL has not")
    text = format(value, "f")
    return f"({text})" if text.startswith("-") else text


def _string(value: str) -> str:
    return f"'{_text(value)}'"


def _bytes(value: bytes | bytearray | memoryview) -> str:
    return f"_binary X'{value.hex()}'"


def _moment(value: datetime, zone: str) -> str:
    """As it is; one with an offset as the session's clocks show it."""
    if value.tzinfo is None:
        return f"'{value.isoformat(' ')}'"
    if zone == "SYSTEM":
        raise DataError(
            "a parameter has a time zone, and the servers' own is not known here",
            hint="Give it without one, in the servers' time, or name the catalog's time_zone",
        )
    local = value.astimezone(UTC if zone == "UTC" else ZoneInfo(zone))
    return f"'{local.replace(tzinfo=None).isoformat(' ')}'"


def _timedelta(value: timedelta) -> str:
    found: str = pymysql.converters.escape_timedelta(value)
    return found


_WRITE: Mapping[type, Callable[[Any], str]] = {
    type(None): lambda _: "NULL",
    bool: lambda value: str(int(value)),
    int: _number,
    float: _float,
    Decimal: _decimal,
    str: _string,
    bytes: _bytes,
    bytearray: _bytes,
    memoryview: _bytes,
    date: lambda value: f"'{value.isoformat()}'",
    time: lambda value: f"'{value.isoformat()}'",
    timedelta: _timedelta,
    UUID: lambda value: f"'{value}'",
}
