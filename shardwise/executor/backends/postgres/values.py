"""Parameters: as the protocol's values, or as literals of the same types where it takes none (COPY).

Both ways give the server the same value of the same type, so that a statement means the same. Whole numbers
are typed as literals in the text would be (integer, bigint, numeric), not by psycopg's narrowest type: the
planner makes parameters of literals, and `20000 * 2` must not overflow a smallint. Text has no type of its
own (`unknown`), as a quoted literal has none.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import psycopg
from psycopg.adapt import PyFormat, Transformer
from psycopg.pq import Escaping

from shardwise.executor.backends.binding import POSTGRES, inlined, numbered
from shardwise.executor.backends.postgres.session import Session

_INTEGER, _BIGINT, _NUMERIC = 23, 20, 1700
Bound = tuple[str, tuple[int, ...], list[bytes | None]]
"""A statement with `$1`, the types' numbers (0: unknown), the values as text."""


def bound(session: Session, sql: str, params: Mapping[str, Any]) -> Bound:
    """The statement for the protocol."""
    if not params:
        return sql, (), []
    text, given = numbered(sql, params, POSTGRES)
    if not given:
        return text, (), []
    pairs = [_dumped(session, value) for value in given]
    return text, tuple([oid for oid, _ in pairs]), [value for _, value in pairs]


def written(session: Session, sql: str, params: Mapping[str, Any]) -> str:
    """The statement with its values as literals."""

    def literal(value: Any) -> str:
        oid, text = _dumped(session, value)
        if text is None:
            return "NULL"
        quoted = Escaping(session.pgconn).escape_literal(text).decode()
        return f"{quoted}::{_type_name(session.con, oid)}" if oid else quoted

    return inlined(sql, params, POSTGRES, literal)


def _dumped(session: Session, value: Any) -> tuple[int, bytes | None]:
    if value is None:
        return 0, None
    if type(value) is int:
        return _width(value), str(value).encode()
    if type(value) is str and "\0" not in value:
        return 0, value.encode()
    dumper = Transformer(session.con).get_dumper(value, PyFormat.TEXT)
    text = dumper.dump(value)
    oid = dumper.oid if type(value) is not str else 0
    return oid, None if text is None else bytes(text)


def _width(value: int) -> int:
    if -(1 << 31) <= value < 1 << 31:
        return _INTEGER
    return _BIGINT if -(1 << 63) <= value < 1 << 63 else _NUMERIC


def _type_name(con: psycopg.Connection[Any], oid: int) -> str:
    found = con.adapters.types.get(oid)
    if found is None:
        return "text"
    return f"{found.regtype}[]" if oid == found.array_oid else found.regtype
