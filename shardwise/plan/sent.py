"""What was read first and is sent to shards: how much of it there is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class RowsText(str):
    """Rows as one text, for a source that takes no lists: it knows how many they are."""

    __slots__ = ("rows",)
    rows: int

    def __new__(cls, text: str, rows: int) -> RowsText:
        made = super().__new__(cls, text)
        made.rows = rows
        return made

    def __reduce__(self) -> tuple[type[RowsText], tuple[str, int]]:
        return RowsText, (str(self), self.rows)  # to another process


def rows_sent(params: Mapping[str, Any], sent_as: Mapping[str, str]) -> int:
    """Lists side by side are one list of rows: those of `sent_as` with the same value. A text is one, under
    whatever name."""
    longest: dict[str, int] = {}
    for name, values in params.items():
        group = sent_as.get(name, name)
        if isinstance(values, RowsText):
            longest[group] = values.rows
        elif name in sent_as and isinstance(values, list | tuple):
            longest[group] = max(len(values), longest.get(group, 0))
    return sum(longest.values())


def bytes_sent(params: Mapping[str, Any], sent_as: Mapping[str, str]) -> int:
    """About as many as Arrow would hold them in."""
    return sum(_bytes(v) for name, v in params.items() if name in sent_as or isinstance(v, RowsText))


def _bytes(value: Any) -> int:
    if isinstance(value, list | tuple):
        return sum(_bytes(each) for each in value)
    if isinstance(value, RowsText):
        return len(value)
    return len(value) + 4 if isinstance(value, str | bytes) else 8
