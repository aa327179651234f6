"""Dates and times held as numbers: what has passed since 1970 in UTC, or SQLite's Julian day.

Fragments read such a column as text of the usual form; what SQLite does not turn into it itself comes here.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from fractions import Fraction
from math import isfinite
from typing import Any

import pyarrow as pa

from shardwise.executor.cells.base import Kind

_1970 = datetime(1970, 1, 1)  # noqa: DTZ001  text of a time in UTC has no zone
_PER_MICROSECOND = {
    "EPOCH SECONDS": Fraction(1_000_000),
    "EPOCH MILLISECONDS": Fraction(1_000),
    "EPOCH MICROSECONDS": Fraction(1),
}
_DAY_MS = 86_400_000
_JULIAN_1970_MS = 210_866_760_000_000


class Counted(Kind):
    """`DATE` or `TIMESTAMP` (of microseconds), and how it is counted: "TIMESTAMP EPOCH SECONDS"."""

    def __init__(self, name: str) -> None:
        super().__init__(name, pa.string())
        self._of, _, self._unit = name.partition(" ")

    def one(self, cell: Any) -> str:
        if type(cell) is not int and not (type(cell) is float and isfinite(cell)):
            raise self.misfit(cell)
        try:
            moment = _1970 + timedelta(microseconds=self._microseconds(cell))
        except OverflowError:
            raise self.misfit(cell) from None
        text = moment.isoformat(" ", "microseconds")
        return text[:10] if self._of == "DATE" else text

    def _microseconds(self, cell: float) -> int:
        """Of a REAL the nearest; a Julian day is read to the millisecond, as SQLite's own functions do."""
        if self._unit == "JULIAN":
            return (int(cell * _DAY_MS + 0.5) - _JULIAN_1970_MS) * 1000
        return round(Fraction(cell) * _PER_MICROSECOND[self._unit])
