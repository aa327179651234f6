"""Kinds of Python values: values of one kind have one type in SQL, whatever statement they are given to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

Kind = str | tuple[object, ...]

_PLAIN: Final[Mapping[type, str]] = {
    str: "text", bytes: "bytes", bool: "bool", float: "float", type(None): "null",
    date: "date", UUID: "uuid", timedelta: "interval",
}  # fmt: skip
_LIST_MAX: Final = 100
"""Longer lists have no kind: their members would make as many kinds as there are lists."""


def kind_of(value: Any) -> Kind | None:
    """The kind of a value; None if it is of none that is known to keep its type.

    >>> kind_of(5), kind_of(5_000_000_000), kind_of([1, "x"])
    ('int32', 'int64', ('list', 'int32', 'text'))
    """
    kind = _PLAIN.get(type(value))
    if kind is not None:
        return kind
    match value:
        case int() if type(value) is int:
            return _whole(value)
        case Decimal() if type(value) is Decimal and value.is_finite():
            return ("decimal", len(value.as_tuple().digits), value.as_tuple().exponent)
        case datetime() if type(value) is datetime:
            return "timestamp" if value.tzinfo is None else "timestamptz"
        case time() if type(value) is time:
            return "time" if value.tzinfo is None else "timetz"
        case list() | tuple() if type(value) in (list, tuple) and len(value) <= _LIST_MAX:
            return _many(value)
    return None


def kinds_of(values: Iterable[Any]) -> tuple[Kind, ...] | None:
    """The kinds of several; None if one has none."""
    found = tuple([_PLAIN.get(type(value)) or kind_of(value) for value in values])
    return None if None in found else found  # type: ignore[return-value]


def as_base(value: Any) -> Any:
    """A value of a subclass (of an enum that is a str, of numpy's float64) as the text or number that it is.

    What `str()` makes of it may be another text.

    >>> from enum import Enum
    >>> class Color(str, Enum):
    ...     RED = "red"
    >>> as_base(Color.RED), as_base([Color.RED, True, None])
    ('red', ['red', True, None])
    """
    if type(value) in _PLAIN or type(value) is int:
        return value
    match value:
        case list():
            return [as_base(member) for member in value]
        case tuple():
            return tuple(as_base(member) for member in value)
        case set() | frozenset():
            return frozenset(as_base(member) for member in value)
        case str():
            return str.__str__(value)
        case int():
            return int.__index__(value)
        case float():
            return float.__float__(value)
        case bytes():
            return memoryview(value).tobytes()
    return value


def all_as_base(values: Sequence[Any] | Mapping[str, Any]) -> Sequence[Any] | Mapping[str, Any]:
    """Each of the values `as_base`."""
    if isinstance(values, Mapping):
        return {name: as_base(value) for name, value in values.items()}
    return [as_base(value) for value in values]


def type_like(value: Any) -> str | None:
    """What a value is like where it is compared: a number of as many digits, `'` for a text, else its type.

    None where the comparison may depend on more: DuckDB brings some moments to the type of a DATE column.

    >>> type_like(7), type_like("x"), type_like(True)
    ('9999999999', "'", 'BOOLEAN')
    """
    if type(value) is Decimal and value.is_finite():
        _, digits, exponent = value.as_tuple()
        scale = max(0, -int(exponent))
        whole = max(0, len(digits) + int(exponent))
        return f"{'9' * whole}.{'9' * scale}" if whole + scale <= _DIGITS_MAX else None
    kind = kind_of(value)
    return _TYPES.get(kind) if isinstance(kind, str) else None


_DIGITS_MAX: Final = 38
_TYPES: Final[Mapping[str, str]] = {
    "text": "'", "bool": "BOOLEAN", "float": "DOUBLE", "date": "DATE", "int32": "9" * 10, "int64": "9" * 19,
    "uint64": "9" * 20, "int128": "HUGEINT", "uint128": "UHUGEINT",
}  # fmt: skip


def _whole(value: int) -> str:
    if -0x8000_0000 <= value <= 0x7FFF_FFFF:
        return "int32"
    if -(1 << 63) <= value < 1 << 64:
        return "int64" if value < 1 << 63 else "uint64"
    return "int128" if -(1 << 127) <= value < 1 << 127 else "uint128"


def _many(values: list[Any] | tuple[Any, ...]) -> Kind | None:
    kinds = kinds_of(values)
    return None if kinds is None else ("list", *kinds)


class KeyList(list[Any]):
    """Keys that ran first, where a source takes no list: one text, as JSON. A user's list is none."""
