"""A row's sort keys as values: whether they are the same once they were sent to and fro, and how they are
written.

What is the same is less than what an application may want to read: a row must be found again by it, or the
next one.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Final

from sqlglot import exp

from shardwise.catalog.model import Column
from shardwise.catalog.types import Family, read_type

_DUCKDB: Final = re.compile(
    r"U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|DECIMAL(\(.*\))?|FLOAT|DOUBLE|VARCHAR|BOOLEAN|DATE|UUID"
    r"|TIMESTAMP( WITH TIME ZONE)?|TEXT|REAL|NUMERIC(\(.*\))?|VARCHAR\(\d+\)",
    re.IGNORECASE,
)
_KINDS: Final[dict[Family, tuple[type, ...]]] = {
    Family.INT: (int,),
    Family.DECIMAL: (Decimal, int),
    Family.FLOAT: (float,),
    Family.DATE: (date,),
    Family.TIMESTAMP: (datetime,),
    Family.TEXT: (str,),
}
_OTHERS: Final = frozenset({"YEAR", "FLOAT", "REAL", "FLOAT4", "MONEY", "ENUM", "SET"})
_WITHOUT_PADDING: Final = re.compile(r"\w*_nopad_\w+", re.IGNORECASE)
_BY_UNICODE: Final = re.compile(r"\w*(unicode|uca)\w+", re.IGNORECASE)
"""By these a NUL weighs nothing, compared or sorted."""
_EXTREME_DAYS: Final = {(9999, 12, 31), (1, 1, 1)}


def travels(dialect: str, type_text: str | None, values: Sequence[Any] = ()) -> bool:
    """Whether these values, of a column of that type, are the same afterwards; of no values: may they be?"""
    if dialect == "sqlite":
        return all(value is None or isinstance(value, int | float | str | bytes) for value in values)
    if type_text is None:
        return False
    if dialect == "duckdb":
        return _DUCKDB.fullmatch(type_text) is not None and not any(map(_is_extreme, values))
    found = read_type(type_text, dialect)
    if found is None or found.name.upper() in _OTHERS:
        return False
    if dialect == "mysql" and found.family is Family.TEXT and not _is_sorted_whole(type_text):
        return False
    kinds = _KINDS.get(found.family)
    return kinds is not None and all(_is_one_of(value, kinds) for value in values)


def _is_sorted_whole(type_text: str) -> bool:
    """MySQL sorts by the first `max_sort_length` bytes of a text, 1,024 as it comes, and compares all."""
    length = re.search(r"CHAR\((\d+)\)", type_text, re.IGNORECASE)
    return length is not None and int(length[1]) <= 255


def is_sorted_as_compared(columns: Iterable[Column | None]) -> bool:
    """Whether texts of MySQL's, made of these columns, are in the order in which they compare.

    MariaDB compares 'a' and 'a\\0' as different by a collation without padding, and sorts them as equal: rows
    after ('a\\0', 1) would be those of greater texts, and ('a', 2), which comes next, is none.
    """
    collations = [column.collation or "" for column in columns if column is not None]
    return all(_WITHOUT_PADDING.fullmatch(c) is None or _BY_UNICODE.fullmatch(c) for c in collations)


def written(dialect: str, parameter: exp.Expr, type_text: str) -> exp.Expr:
    """The parameter that is bound to such a value, as it is compared with the column.

    A text takes the collation of the column beside it only if nothing says another one.
    """
    if dialect == "sqlite":
        return parameter
    found = read_type(type_text, dialect)
    if dialect != "duckdb" and (found is None or found.family is Family.TEXT):
        return parameter
    return exp.Cast(this=parameter, to=exp.DataType.build(type_text, dialect=dialect, udt=True))


def why_not(value: Any) -> tuple[str, str]:
    """Why a value does not travel, and what to do about it."""
    if _is_extreme(value):
        return (
            "is infinite, or the first or last day of the calendar, which stands for that",
            "Leave such rows out: WHERE … BETWEEN '0001-01-02' AND '9999-12-30'",
        )
    if isinstance(value, float | Decimal) and not math.isfinite(value):
        return "is NaN or infinite", "Leave such rows out: WHERE … NOT IN ('NaN', 'Infinity', '-Infinity')"
    return "is not the same once it was sent to and fro", "Order by numbers, dates or short texts"


def _is_extreme(value: Any) -> bool:
    """An infinite date, which Python has none of."""
    return isinstance(value, date) and (value.year, value.month, value.day) in _EXTREME_DAYS


def _is_one_of(value: object, kinds: tuple[type, ...]) -> bool:
    if isinstance(value, float):
        return float in kinds and math.isfinite(value)
    if isinstance(value, Decimal):
        return Decimal in kinds and value.is_finite()
    return value is None or type(value) in kinds
