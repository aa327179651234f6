"""Packets that have arrived, read without asking for each: PyMySQL takes ten calls and more for one.

An answer begins with the number of columns, a definition of each, and an EOF packet: its *head*. It is the
same bytes each time a statement is asked, so that what was made of it once is found by them. Rows and another
EOF packet follow. What is here is read as PyMySQL reads it; what is not (a packet that is not all there, an
error, a packet out of its turn) is left to PyMySQL. https://mariadb.com/kb/en/result-set-packets/
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

_SPLIT = 0xFFFFFF
"""The length of a packet that the next one goes on with."""

_NULL = 0xFB
_EOF, _ERROR = 0xFE, 0xFF
_EOF_BYTES = 5
"""The length of an EOF packet; a row may begin with its first byte, and is longer then."""

_MORE_RESULTS = 8
"""In an EOF packet's status."""


def head_of(arrived: bytes) -> bytes | None:
    """An answer's head, if it is all there, its packets numbered from 1."""
    if len(arrived) < 5 or arrived[0] != 1 or arrived[1] or arrived[2]:
        return None  # not one byte, which is the number of columns: an error, or no rows
    if not 0 < arrived[4] < _NULL:
        return None
    at, packets, size = 0, arrived[4] + 2, len(arrived)
    for number in range(1, packets + 1):
        if at + 4 > size or arrived[at + 3] != number & 0xFF:
            return None
        last = at
        at += 4 + int.from_bytes(arrived[at : at + 3], "little")
    is_whole = at <= size and at - last == 4 + _EOF_BYTES and arrived[last + 4] == _EOF
    return arrived[:at] if is_whole else None


class Rows(NamedTuple):
    """Rows that were all there, the bytes that they took, and the number of the packet that is next.
    `is_over`: these are the last, and the packet that says so is among the bytes."""

    rows: list[tuple[Any, ...]]
    bytes: int
    sequence: int
    is_over: bool


def has_error(arrived: bytes) -> bool:
    """Whether an error comes after such rows as are all there."""
    at, size = 0, len(arrived)
    while at + 5 <= size and arrived[at + 4] != _ERROR:
        at += 4 + int.from_bytes(arrived[at : at + 3], "little")
    return at + 5 <= size


Converters = Sequence[tuple[str | None, Callable[[Any], Any] | None]]
"""PyMySQL's of each column: an encoding, and what it makes of the text."""


def rows_of(arrived: bytes, converters: Converters, sequence: int, count: int) -> Rows:
    """At most `count` rows; `sequence` is the number of the first packet."""
    rows: list[tuple[Any, ...]] = []
    at, size, is_over = 0, len(arrived), False
    while len(rows) < count and at + 5 <= size:
        length = int.from_bytes(arrived[at : at + 3], "little")
        begin = at + 4
        end = begin + length
        if end > size or not length or length == _SPLIT or arrived[at + 3] != sequence:
            break
        if arrived[begin] >= _EOF and (arrived[begin] == _ERROR or length < 9):
            is_over = length == _EOF_BYTES and not arrived[begin + 3] & _MORE_RESULTS
            at = end if is_over else at
            break
        row = _row(arrived[begin:end], converters)
        if row is None:
            break
        rows.append(row)
        at, sequence = end, (sequence + 1) % 256
    return Rows(rows, at, sequence, is_over)


def _row(data: bytes, converters: Converters) -> tuple[Any, ...] | None:
    """A row of its packet; None where that is not as it should be."""
    row: list[Any] = []
    at = 0
    try:
        for encoding, convert in converters:
            length = data[at]
            at += 1
            if length >= _NULL:
                if length == _NULL:
                    row.append(None)
                    continue
                width = _WIDTHS[length]
                length = int.from_bytes(data[at : at + width], "little")
                at += width
            value: Any = data[at : at + length]
            at += length
            if encoding is not None:
                value = value.decode(encoding)
            row.append(value if convert is None else convert(value))
    except LookupError:  # it is too short
        return None
    return tuple(row) if at == len(data) else None


_WIDTHS = {0xFC: 2, 0xFD: 3, 0xFE: 8}
"""Of the length of a value, by the byte before it."""
