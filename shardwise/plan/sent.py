"""What was read first and is sent to shards: a part of it, and how much of it there is."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

_to_json = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False).encode


class RowsText(str):
    """Rows as one text of JSON, for a source that takes no lists: it knows how many they are, and can be
    split again."""

    __slots__ = ("_rows",)
    _rows: tuple[str, ...]

    def __new__(cls, rows: tuple[str, ...]) -> RowsText:
        made = super().__new__(cls, f"[{','.join(rows)}]")
        made._rows = rows
        return made

    def __reduce__(self) -> tuple[type[RowsText], tuple[tuple[str, ...]]]:
        return RowsText, (self._rows,)  # to another process

    @classmethod
    def of(cls, rows: Iterable[Any]) -> RowsText:
        """Of rows, or values, that JSON has."""
        return cls(tuple(map(_to_json, rows)))

    @property
    def rows(self) -> int:
        return len(self._rows)

    def part(self, numbers: Sequence[int]) -> RowsText:
        return RowsText(tuple(self._rows[number] for number in numbers))


def part_of(values: Any, numbers: Sequence[int]) -> Any:
    """The rows of these numbers, of a text, or of a list of whatever class. Of none, if there are any, the
    first: not every engine has a list of none."""
    has_rows = values.rows if isinstance(values, RowsText) else len(values)
    if not numbers and has_rows:
        return part_of(values, (0,))
    if isinstance(values, RowsText):
        return values.part(numbers)
    return type(values)([values[number] for number in numbers])


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
