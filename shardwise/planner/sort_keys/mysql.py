"""Sort keys of the mysql dialect."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from shardwise.catalog.model import Column
from shardwise.catalog.types import ColumnType, Family
from shardwise.plan.run import Compared
from shardwise.planner.sort_keys.servers import ServersSortKeys, decimal

_CHARACTERS_MAX: Final = 255
"""Of a text that MySQL sorts whole: it sorts by the first `max_sort_length` bytes, 1,024 as it comes."""
_WITHOUT_PADDING: Final = re.compile(r"\w*_nopad_\w+", re.IGNORECASE)
_BY_UNICODE: Final = re.compile(r"\w*(unicode|uca)\w+", re.IGNORECASE)
"""By these a NUL weighs nothing, compared or sorted."""
_BY_CODE_POINT: Final = re.compile(r"(ascii|utf8|utf8mb3|utf8mb4)_bin", re.IGNORECASE)
"""Not those without padding: MariaDB compares 'a' and 'a\\0' as different, and sorts them as equal."""


class _MySQL(ServersSortKeys):
    dialect = "mysql"
    nulls_are_least = True
    has_places = True

    def _may_travel(self, type_: ColumnType) -> bool:
        return type_.family is not Family.TEXT or _is_sorted_whole(type_)

    def are_sorted_as_compared(self, columns: Iterable[Column | None]) -> bool:
        """MariaDB compares 'a' and 'a\\0' as different by a collation without padding, and sorts them as
        equal: rows after ('a\\0', 1) would be those of greater texts, and ('a', 2), the next one, is none.
        """
        collations = [column.collation or "" for column in columns if column is not None]
        return all(_WITHOUT_PADDING.fullmatch(c) is None or _BY_UNICODE.fullmatch(c) for c in collations)

    def _number(self, type_: ColumnType) -> Compared | None:
        if type_.family is Family.INT and type_.name != "YEAR":
            return Compared("unsigned" if type_.unsigned or type_.name == "SERIAL" else "whole")
        if type_.family is Family.DECIMAL:
            return decimal((*type_.arguments, *("10", "0")[len(type_.arguments) :]))
        is_double = type_.family is Family.FLOAT and type_.name in ("DOUBLE", "DOUBLE PRECISION")
        return Compared("double") if is_double and not type_.arguments else None

    def _moment(self, type_: ColumnType, time_zone: str) -> Compared | None:
        """Written in one length: 0000-00-00 and 2024-02-30, which no calendar has, are in their places. In
        another zone than UTC two hours of autumn are written alike."""
        is_told = type_.family is not Family.TIMESTAMPTZ or time_zone == "UTC"
        is_moment = type_.family in (Family.DATE, Family.TIMESTAMP, Family.TIMESTAMPTZ)
        return Compared("text") if is_moment and is_told else None

    def _text(self, type_: ColumnType, collation: str) -> Compared | None:
        """Unless its name says otherwise, under such a collation a text is as if blanks without end came
        after it."""
        is_trusted = _BY_CODE_POINT.fullmatch(collation) is not None and _is_sorted_whole(type_)
        return Compared("padded") if is_trusted else None


def _is_sorted_whole(type_: ColumnType) -> bool:
    has_length = "CHAR" in type_.name and len(type_.arguments) == 1
    return has_length and int(type_.arguments[0]) <= _CHARACTERS_MAX


MYSQL_SORT_KEYS: Final = _MySQL()
