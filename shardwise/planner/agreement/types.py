"""The types that sources compute with, and the form in which SQLite has their values.

    BOOLEAN 0 or 1 · integers INTEGER · DOUBLE REAL · VARCHAR text, compared by its bytes · DATE '2026-01-05'
    · TIMESTAMP '2026-01-05 10:30:00.000000' · DECIMAL(p, s) of up to 18 digits the value times 10 to the s

Each compares, groups and sorts in this *canonical* form as DuckDB does in its own. Types that are not here
(FLOAT, HUGEINT, INTERVAL, nested ones, …) pass through a fragment and are not computed with.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import Final

from shardwise.catalog.types import Family as CatalogFamily
from shardwise.catalog.types import read_type


class Family(Enum):
    """What values of one family may be compared with."""

    BOOL = "BOOLEAN"
    INT = "integer"
    DECIMAL = "DECIMAL"
    DOUBLE = "DOUBLE"
    TEXT = "VARCHAR"
    DATE = "DATE"
    TIMESTAMP = "TIMESTAMP"


@dataclass(frozen=True, slots=True)
class Type:
    """A type as DuckDB writes it. `low` and `high` bound integers, and DECIMALs in their canonical form."""

    family: Family
    name: str
    low: int = 0
    high: int = 0
    scale: int = 0

    @property
    def digits(self) -> int:
        """Of a DECIMAL, or of the widest integer."""
        return len(str(self.high))

    @property
    def is_number(self) -> bool:
        """Exact: an integer, or a decimal as one."""
        return self.family in (Family.INT, Family.DECIMAL)


def _integer(name: str, bits: int, *, signed: bool = True) -> Type:
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    return Type(Family.INT, name, low, high)


BOOL: Final = Type(Family.BOOL, "BOOLEAN", 0, 1)
BIGINT: Final = _integer("BIGINT", 64)
INTEGER: Final = _integer("INTEGER", 32)
DOUBLE: Final = Type(Family.DOUBLE, "DOUBLE")
TEXT: Final = Type(Family.TEXT, "VARCHAR")
DATE: Final = Type(Family.DATE, "DATE")
TIMESTAMP: Final = Type(Family.TIMESTAMP, "TIMESTAMP")

DIGITS_MAX: Final = 18
"""Numbers of so many digits are INTEGERs of SQLite, and so is the sum of two."""

_INTEGERS: Final = {
    **dict.fromkeys(("TINYINT", "INT1"), _integer("TINYINT", 8)),
    **dict.fromkeys(("SMALLINT", "INT2", "SHORT", "INT16"), _integer("SMALLINT", 16)),
    **dict.fromkeys(("INTEGER", "INT", "INT4", "SIGNED", "INTEGRAL", "INT32"), INTEGER),
    **dict.fromkeys(("BIGINT", "INT8", "LONG", "OID", "INT64"), BIGINT),
    **dict.fromkeys(("UTINYINT", "UINT8"), _integer("UTINYINT", 8, signed=False)),
    **dict.fromkeys(("USMALLINT", "UINT16"), _integer("USMALLINT", 16, signed=False)),
    **dict.fromkeys(("UINTEGER", "UINT32"), _integer("UINTEGER", 32, signed=False)),
}
_OTHERS: Final = {
    CatalogFamily.BOOL: ("", BOOL),
    CatalogFamily.TEXT: ("", TEXT),
    CatalogFamily.DATE: ("", DATE),
    CatalogFamily.FLOAT: ("DOUBLE|DOUBLE PRECISION|FLOAT8", DOUBLE),
    CatalogFamily.TIMESTAMP: ("TIMESTAMP|DATETIME|TIMESTAMP_US|TIMESTAMP WITHOUT TIME ZONE", TIMESTAMP),
}


@lru_cache(maxsize=1024)
def type_of(text: str | None, digits_max: int = DIGITS_MAX) -> Type | None:
    """The type of a column declared as `text` (in the duckdb dialect); None: it is not computed with.

    So are DECIMALs of more than `digits_max` digits.
    """
    found = read_type(text, "duckdb") if text else None
    if found is None or found.unsigned:
        return None
    if found.family is CatalogFamily.INT:
        return _INTEGERS.get(found.name)
    if found.family is CatalogFamily.DECIMAL:
        digits, scale = (*map(int, found.arguments), 0)[:2] if found.arguments else (18, 3)
        return decimal(digits, scale, digits_max)
    names, of_family = _OTHERS.get(found.family, ("", None))
    if names and (found.arguments or not re.fullmatch(names, found.name)):  # TIMESTAMP(3) is another type
        return None
    return of_family


def decimal(digits: int, scale: int = 0, digits_max: int = DIGITS_MAX) -> Type | None:
    """DECIMAL(digits, scale), if it is computed with."""
    if digits > digits_max:
        return None
    limit = 10**digits - 1
    return Type(Family.DECIMAL, f"DECIMAL({digits},{scale})", -limit, limit, scale)


def common(types: list[Type]) -> Type | None:
    """The one type that DuckDB gives values of these types, of whichever a CASE or a COALESCE has one."""
    first = types[0]
    if all(each == first for each in types):
        return first
    if all(each.family is Family.INT for each in types):
        low, high = min(each.low for each in types), max(each.high for each in types)
        return Type(Family.INT, BIGINT.name, low, high)
    return None
