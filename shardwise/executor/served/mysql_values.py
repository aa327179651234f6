"""A text of the server's as the Python value that PyMySQL makes of it, and as Arrow."""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Callable, Mapping
from datetime import timedelta
from decimal import Decimal
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from shardwise.executor.backends.mysql.driver import pymysql

_convert: Final = pymysql.converters


def _float(text: str) -> float:
    """As the server would write it to the driver: of six digits."""
    return float(f"{float(text):.6g}")


PYTHON: Final[Mapping[str, Callable[[Any], Any]]] = {
    **dict.fromkeys(("TINYINT", "SMALLINT", "MEDIUMINT", "INT", "INTEGER", "BIGINT", "YEAR"), int),
    **dict.fromkeys(("DECIMAL", "NUMERIC", "DEC", "FIXED"), Decimal),
    **dict.fromkeys(("DOUBLE", "REAL"), float),
    "FLOAT": _float,
    **dict.fromkeys(("DATETIME", "TIMESTAMP"), _convert.convert_datetime),
    "DATE": _convert.convert_date,
    "TIME": _convert.convert_timedelta,
}
"""By the type's name; what is not here is the text, or the bytes, themselves."""


def is_told_twice(cells: pa.Array, time_zone: str) -> bool:
    """Whether any of these texts of moments is of two of them in that zone."""
    dates = pc.if_else(pc.match_substring_regex(cells, "^0000|-00"), None, cells).cast(pa.timestamp("us"))
    try:
        pc.assume_timezone(dates, time_zone, ambiguous="raise", nonexistent="earliest")
    except pa.ArrowInvalid as error:
        return "ambiguous" in str(error)
    return False


def impossible_day(cells: pa.Array) -> str | None:
    """The first of these texts that is of a day that no month has, such as 2024-02-30; `str_to_date` makes
    them. A month or a day of zero is one to MySQL."""
    for day in pc.unique(pc.utf8_slice_codeunits(cells, 0, 10)).to_pylist():
        year, month, number = map(int, day.split("-")) if day else (0, 0, 0)
        if month > 12 or (month and number > monthrange(year or 4, month)[1]):
            return str(day)
    return None


def durations(cells: pa.Array) -> pa.Array:
    """TIMEs, which may be below zero and beyond a day."""
    found = [None if cell is None else _convert.convert_timedelta(cell) for cell in cells.to_pylist()]
    for value in found:
        if value is not None and not isinstance(value, timedelta):
            raise ValueError(f"{value} is no TIME")
    return pa.array(found, pa.duration("us"))
