"""A scope's values as values of a key column's type: converted where nothing is lost, else an error.

    '5' for BIGINT is 5; '05' and 5.5 are errors; 5 for VARCHAR is '5'; '2025-01-31' for DATE is that day.

A value becomes one of the column's own type, so that a shard compares it with the column as it is: a filter
that a shard applies while it reads, before any other expression of the statement meets a row.
"""

from __future__ import annotations

import math
import re
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from typing import Any, Final
from uuid import UUID

from sqlglot import exp

from shardwise.catalog.model import Column, Sharded, Table
from shardwise.catalog.shardings import KEY_FAMILIES, canonical
from shardwise.catalog.types import Family, read_type, type_family
from shardwise.errors import DataError, ProgrammingError, Reason
from shardwise.plan.kinds import as_base

Value = int | str | bytes | float | bool | Decimal | date | datetime | UUID

_KINDS: Final = (bool, int, str, bytes, float, Decimal, datetime, date, UUID)
_INTEGER = re.compile(r"0|-?[1-9][0-9]*", re.ASCII)
_BITS: Final = {"TINYINT": 8, "INT1": 8, "SMALLINT": 16, "INT2": 16, "INT16": 16, "SHORT": 16}
_BITS_MORE: Final = {"INT": 32, "INTEGER": 32, "INT4": 32, "INT32": 32, "SIGNED": 32}
_BITS_MOST: Final = {"BIGINT": 64, "INT8": 64, "INT64": 64, "LONG": 64, "OID": 64}
_SIZES: Final = _BITS | _BITS_MORE | _BITS_MOST


def plain(value: Any, what: str) -> Value:
    """The value, if it is of a type that a key may have; `what` is what messages call it."""
    if value is None:
        raise _wrong(f"the {what} cannot be NULL", "A scope gives the value of a key; NULL equals nothing")
    if not isinstance(value, _KINDS):
        raise _wrong(
            f"the {what} cannot be of type {type(value).__name__}", "Give a number, a text or a date"
        )
    if isinstance(value, str):
        _check_text(value, what)
    base: Value = as_base(value)
    return base


def _check_text(text: str, what: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise _wrong(f"the {what} is no valid text", None) from None


def fitted(value: Value, column: Column, dialect: str, what: str, table: str) -> Value:
    """The value as one of the column's type. Raises ProgrammingError, which does not show it."""
    family = type_family(column.type, dialect)
    try:
        if family not in KEY_FAMILIES:
            raise ValueError
        found = _read(value, family) if isinstance(value, str) else _checked(value, family)
        found = _native(found, family)
        if not _is_within(found, column.type, dialect):
            raise ValueError
    except (ValueError, InvalidOperation, DataError):
        raise _wrong(
            f"the value of {what} is none of {table}.{column.name}, which is {column.type}",
            "Give a value of that type",
        ) from None
    return found


def key_column(table: Table, part: exp.Expr | None) -> Column | None:
    """The column that a part of the table's shard key is; None for an expression, and if it is not known."""
    if not isinstance(part, exp.Column):
        return None
    wanted = part.name.casefold()
    virtual = table.placement.virtual if isinstance(table.placement, Sharded) else ()
    known = (*(table.columns or ()), *virtual)
    return next((column for column in known if column.name.casefold() == wanted), None)


def _checked(value: Value, family: Family) -> Any:
    if family is Family.TEXT and type(value) is int:
        return str(value)
    if isinstance(value, bool) is not (family is Family.BOOL):
        raise ValueError
    return value


def _read(text: str, family: Family) -> Any:
    """A text as the value that it is the usual form of."""
    match family:
        case Family.INT:
            if not _INTEGER.fullmatch(text):
                raise ValueError
            return int(text)
        case Family.DECIMAL:
            return Decimal(text)
        case Family.FLOAT:
            return float(text)
        case Family.BOOL:
            return {"true": True, "false": False}.get(text.lower(), text)
        case Family.DATE:
            return date.fromisoformat(text)
        case Family.TIMESTAMP | Family.TIMESTAMPTZ:
            return datetime.fromisoformat(text)
        case Family.UUID:
            return UUID(text)
    return text


def _native(value: Any, family: Family) -> Value:
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError
    found = canonical(value, family)
    if found is None:
        raise ValueError
    return found


def _is_within(value: Value, type_text: str, dialect: str) -> bool:
    """Whether a whole number is within the type's range: a comparison with another might widen the column."""
    read = read_type(type_text, dialect)
    bits = _SIZES.get(read.name) if read is not None and not read.unsigned else None
    if bits is None or not isinstance(value, int):
        return True
    return -(1 << bits - 1) <= value < 1 << bits - 1


def _wrong(message: str, hint: str | None) -> ProgrammingError:
    return ProgrammingError(message, hint=hint, reason=Reason.SCOPE)
