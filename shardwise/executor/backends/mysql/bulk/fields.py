"""What the server says of a result's columns."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, auto
from typing import Any, NamedTuple

from shardwise.executor.backends.mysql.driver import FIELD_TYPE
from shardwise.executor.backends.mysql.types import is_binary, type_text


class Family(Enum):
    """How a value is written in a row."""

    NULL = auto()
    WHOLE = auto()
    DECIMAL = auto()
    REAL = auto()
    DATE = auto()
    TIME = auto()
    MOMENT = auto()
    TEXT = auto()
    BYTES = auto()
    BITS = auto()

    @property
    def is_binary(self) -> bool:
        return self in (Family.BYTES, Family.BITS)


class Field(NamedTuple):
    """A column: its name, the family of its values, its type as SQL text as far as the protocol tells it."""

    name: str
    family: Family
    type: str


_FAMILIES: Mapping[int, Family] = {
    **dict.fromkeys(
        (
            *(FIELD_TYPE.TINY, FIELD_TYPE.SHORT, FIELD_TYPE.INT24, FIELD_TYPE.LONG, FIELD_TYPE.LONGLONG),
            FIELD_TYPE.YEAR,
        ),
        Family.WHOLE,
    ),
    **dict.fromkeys((FIELD_TYPE.DECIMAL, FIELD_TYPE.NEWDECIMAL), Family.DECIMAL),
    **dict.fromkeys((FIELD_TYPE.FLOAT, FIELD_TYPE.DOUBLE), Family.REAL),
    **dict.fromkeys((FIELD_TYPE.DATE, FIELD_TYPE.NEWDATE), Family.DATE),
    **dict.fromkeys((FIELD_TYPE.DATETIME, FIELD_TYPE.TIMESTAMP), Family.MOMENT),
    FIELD_TYPE.TIME: Family.TIME,
    FIELD_TYPE.BIT: Family.BITS,
    FIELD_TYPE.NULL: Family.NULL,
}


def field_of(definition: Any) -> Field:
    """What a column definition packet says, as PyMySQL reads it."""
    family = _FAMILIES.get(definition.type_code)
    if family is None:
        family = Family.BYTES if is_binary(definition) else Family.TEXT
    return Field(definition.name, family, type_text(definition))
