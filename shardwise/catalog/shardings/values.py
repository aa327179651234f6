"""Key values: one canonical form for values that compare equal, and the bytes that are hashed.

A shard key has a type family. Within a family, values that DuckDB's `=` calls equal have one
canonical form, so that equal keys are on one slot:

    INT, BOOL      int, bool: all widths are one form; TRUE is hashed as 1, FALSE as 0
    DECIMAL        Decimal without trailing zeros: 1.00 is 1
    FLOAT          float: −0.0 is 0.0, there is one NaN
    TEXT, ENUM     str, untouched: no case folding, padding or normalisation
    BLOB           bytes
    DATE           date
    TIMESTAMP      datetime without zone
    TIMESTAMPTZ    datetime in UTC
    UUID           UUID (its text is lower-case)

Other families (TIME, INTERVAL, JSON, BIT, nested types) cannot be shard keys.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import UTC, date, datetime, time
from decimal import Context, Decimal
from enum import StrEnum
from typing import Any, Final
from uuid import UUID

from shardwise.catalog.types import Family
from shardwise.errors import CatalogError, DataError

Value = int | str | bytes | float | bool | Decimal | date | datetime | UUID | None
Label = int | date | str

NAN: Final = float("nan")  # the one NaN: equal by identity in sets and dicts
_EXACT = Context(prec=200)

KEY_FAMILIES: Final = frozenset(
    {
        Family.INT,
        Family.DECIMAL,
        Family.FLOAT,
        Family.TEXT,
        Family.ENUM,
        Family.BLOB,
        Family.BOOL,
        Family.DATE,
        Family.TIMESTAMP,
        Family.TIMESTAMPTZ,
        Family.UUID,
    }
)


def canonical(value: object, family: Family) -> Value:
    """The one form of all values of `family` that equal `value`. DataError if it is no value of it.

    >>> canonical(Decimal("1.00"), Family.DECIMAL)
    Decimal('1')
    >>> canonical(-0.0, Family.FLOAT)
    0.0
    """
    if family not in KEY_FAMILIES:
        raise CatalogError(
            f"a column of type family {family.value} cannot be a shard key",
            hint="Shard by a number, text, date, timestamp or UUID",
        )
    if value is None:
        return None
    try:
        return _FORMS[family](value)
    except (TypeError, ValueError, OverflowError, ArithmeticError):
        raise DataError(
            f"a key of type {type(value).__name__} does not fit a column of type {family.value}"
        ) from None


def _int(value: object) -> int:
    if isinstance(value, int):
        return int(value)
    if isinstance(value, (float, Decimal)) and value == int(value):
        return int(value)
    raise TypeError


def _decimal(value: object) -> Decimal:
    if not isinstance(value, (int, Decimal, float)):
        raise TypeError
    number = Decimal(value).normalize(_EXACT)
    if not number.is_finite():
        raise TypeError
    return number if number else Decimal(0)


def _float(value: object) -> float:
    if not isinstance(value, (int, float, Decimal)):
        raise TypeError
    number = float(value)
    return NAN if math.isnan(number) else number + 0.0  # −0.0 + 0.0 is 0.0


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _blob(value: object) -> bytes:
    if not isinstance(value, (bytes, bytearray, memoryview)):
        raise TypeError
    return bytes(value)


def _bool(value: object) -> bool:
    if value not in (0, 1):
        raise TypeError
    return bool(value)


def _date(value: object) -> date:
    if isinstance(value, datetime):
        if value.tzinfo is not None or value.time() != time.min:
            raise TypeError
        return value.date()
    if not isinstance(value, date):
        raise TypeError
    return value


def _timestamp(value: object) -> datetime:
    if isinstance(value, datetime):
        if value.tzinfo is not None:
            raise TypeError
        return value.replace(fold=0)
    if not isinstance(value, date):
        raise TypeError
    return datetime.combine(value, time.min)


def _timestamptz(value: object) -> datetime:
    if not isinstance(value, datetime) or value.tzinfo is None:
        raise TypeError
    return value.astimezone(UTC).replace(fold=0)


def _uuid(value: object) -> UUID:
    return value if isinstance(value, UUID) else UUID(_text(value))


_FORMS: Final[dict[Family, Callable[[object], Value]]] = {
    Family.INT: _int,
    Family.DECIMAL: _decimal,
    Family.FLOAT: _float,
    Family.TEXT: _text,
    Family.ENUM: _text,
    Family.BLOB: _blob,
    Family.BOOL: _bool,
    Family.DATE: _date,
    Family.TIMESTAMP: _timestamp,
    Family.TIMESTAMPTZ: _timestamptz,
    Family.UUID: _uuid,
}


def key_text(value: Value) -> str:
    """The text of a key, as hashes see it.

    Whole numbers of any type in decimal digits (1, 1.00 and 1.0 are all "1"); other DECIMALs in
    plain digits, other FLOATs in the shortest form that reads back; BOOL "1" or "0"; dates as
    2026-01-31, timestamps as 2026-01-31 23:59:59.5 (no trailing zeros; TIMESTAMPTZ in UTC, with
    "+00"); UUIDs lower-case with hyphens. BLOBs have no text: their bytes are read as Latin-1.

    >>> key_text(Decimal("1.50")), key_text(1.0), key_text(True)
    ('1.5', '1', '1')
    """
    match value:
        case str():
            return value
        case bool() | int():
            return str(int(value))
        case float():
            return str(int(value)) if value.is_integer() else repr(value)
        case Decimal():
            return _decimal_text(value)
        case bytes():
            return value.decode("latin-1")
        case datetime():
            return _timestamp_text(value)
        case date() | UUID():
            return str(value)
        case None:
            raise DataError("NULL has no text")


def reads_back(text: str, family: Family) -> bool:
    """Whether `text` is the `key_text` of some key of a family: '7' of an INT, '07' of none.

    >>> reads_back("7", Family.INT), reads_back("07", Family.INT)
    (True, False)
    """
    try:
        match family:
            case Family.TEXT:
                return True
            case Family.INT:
                return text.isascii() and key_text(int(text)) == text
            case Family.DATE:
                return key_text(date.fromisoformat(text)) == text
            case Family.UUID:
                return key_text(UUID(text)) == text
    except ValueError:
        pass
    return False


def key_bytes(value: Value) -> bytes:
    """The bytes of a key: its text in UTF-8, a BLOB as it is."""
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass")
    return value if isinstance(value, bytes) else key_text(value).encode()


def _decimal_text(value: Decimal) -> str:
    number = value.normalize(_EXACT)
    return str(int(number)) if number == number.to_integral_value(context=_EXACT) else f"{number:f}"


def _timestamp_text(value: datetime) -> str:
    zone = ""
    if value.tzinfo is not None:
        value, zone = value.astimezone(UTC).replace(tzinfo=None), "+00"
    text = value.isoformat(sep=" ")
    return (text.rstrip("0") if "." in text else text) + zone


def whole(value: Value) -> int | None:
    """The whole number that a key is, or None if it is none."""
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value(context=_EXACT) else None
    return None


class Kind(StrEnum):
    """Keys that compare with one another."""

    NUMBER = "number"
    TEXT = "text"
    BYTES = "bytes"
    TIMESTAMP = "timestamp"
    TIMESTAMPTZ = "timestamptz"
    UUID = "UUID"


def kind(key: Value) -> Kind:
    """The kind of a key that is not NULL. DATE and TIMESTAMP are one."""
    match key:
        case bool() | int() | float() | Decimal():
            return Kind.NUMBER
        case str():
            return Kind.TEXT
        case bytes():
            return Kind.BYTES
        case datetime() if key.tzinfo is not None:
            return Kind.TIMESTAMPTZ
        case date():
            return Kind.TIMESTAMP
        case UUID():
            return Kind.UUID
        case None:
            raise DataError("NULL is of no kind")


def comparable(key: Value) -> Any:
    """A key in the form that `alike` gives constants."""
    return instant(key) if isinstance(key, date) else key


def alike(constant: Value, wanted: Kind) -> Any:
    """`constant`, as written in the catalog, in a form that compares with `comparable` keys of a kind.

    Numbers compare with numbers exactly whatever their types; text in the catalog reads as a
    date, timestamp, UUID or number where the key is one. A date compares as its midnight, and
    with TIMESTAMPTZ keys a moment without offset is in UTC.
    """
    if constant is None:
        return None
    try:
        return _alike(constant, wanted)
    except (TypeError, ValueError, ArithmeticError):
        raise CatalogError(
            f"a sharding lists a {type(constant).__name__}, and its table's key is a {wanted.value}",
            hint="Write the sharding's values in the key's type",
        ) from None


def _alike(constant: Value, wanted: Kind) -> Any:
    match wanted:
        case Kind.NUMBER if isinstance(constant, str):
            return Decimal(constant)
        case Kind.TIMESTAMP | Kind.TIMESTAMPTZ:
            moment = datetime.fromisoformat(constant) if isinstance(constant, str) else instant(constant)
            if wanted is Kind.TIMESTAMPTZ:
                return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
            if moment.tzinfo is None:
                return moment
        case Kind.UUID:
            return _uuid(constant)
        case Kind.BYTES if isinstance(constant, str):
            return constant.encode()
        case _ if kind(constant) is wanted:
            return constant
    raise TypeError


def instant(value: object) -> datetime:
    """A date as its midnight, a timestamp as it is; anything else is a TypeError."""
    if isinstance(value, datetime):
        return value
    if isinstance(value, date):
        return datetime.combine(value, time.min)
    raise TypeError


def sql_literal(value: Value) -> str | None:
    """A constant of the catalog in DuckDB's SQL, None for types that nobody lists."""
    match value:
        case None:
            return "NULL"
        case bool():
            return str(value).upper()
        case int() | Decimal():
            return key_text(value)
        case str():
            return "'" + value.replace("'", "''").replace("{", "{{").replace("}", "}}") + "'"
        case datetime() if value.tzinfo is None:
            return f"TIMESTAMP '{value.isoformat(sep=' ')}'"
        case date() if not isinstance(value, datetime):
            return f"DATE '{value}'"
    return None
