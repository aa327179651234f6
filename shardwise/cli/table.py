"""Rows side by side: drawn and fitted to a terminal, plain where the output goes on."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from rich.console import Console
from rich.text import Text

from shardwise.cli.terminal import Style, cut, one_line, padded, width_of
from shardwise.cli.textual import Rows
from shardwise.dbapi import NUMBER
from shardwise.plan.wrap import count_text

_TEXT_WIDTH_MIN: Final = 12
_CELL_MAX: Final = 4_000  # characters of a value that are looked at


class Shown(NamedTuple):
    """Rows as text, ready to print; `is_cut` if there were more. `types` is empty where they tell nothing."""

    names: Sequence[str]
    is_number: Sequence[bool]
    rows: Sequence[Sequence[str | None]]
    is_cut: bool = False
    types: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """How rows are shown. `width` None is as wide as the rows are; `more` tells how to see all."""

    style: Style = field(default_factory=Style)
    is_drawn: bool = False
    width: int | None = None
    headers: bool = True
    null: str = "NULL"
    more: str = "--rows 0 shows all, --format csv writes all"


def read(rows: Rows, rows_max: int | None, *, has_types: bool = False) -> Shown:
    """Reads rows to show, no more than `rows_max`."""
    found = iter(rows)
    kept = list(itertools.islice(found, rows_max))
    is_cut = rows_max is not None and next(found, None) is not None
    return Shown(
        rows.names, [code == NUMBER for code in rows.types], kept, is_cut, rows.types if has_types else ()
    )


def of_values(names: Sequence[str], rows: Iterable[Sequence[object]]) -> Shown:
    """Rows that are here already; values as Python writes them."""
    texts = [[None if value is None else str(value) for value in row] for row in rows]
    return Shown(names, [False] * len(names), texts)


def lines(shown: Shown, look: Look) -> Iterator[str]:
    """The table, and how many rows it has."""
    columns = [_Column.of(shown, i, look) for i in range(len(shown.names))]
    if look.is_drawn:
        places = _fitted(columns, look.width)
        yield from _drawn(columns, places, shown, look)
        hidden = len(columns) - sum(place.column is not None for place in places)
    else:
        yield from _plain(columns, look)
        hidden = 0
    yield look.style.dim(_told(shown, len(columns), hidden, look))


def _told(shown: Shown, columns: int, hidden: int, look: Look) -> str:
    count = len(shown.rows)
    parts = [f"the first {count_text(count, 'row')}" if shown.is_cut else count_text(count, "row")]
    if hidden:
        parts.append(f"{columns - hidden} of {columns} columns")
    if shown.is_cut:
        return f"({', '.join(parts)}; {look.more})"
    return f"({', '.join(parts)})"


def show(shown: Shown, console: Console) -> None:
    """Prints a table: drawn on a terminal, plain where the output goes on."""
    is_drawn = console.is_terminal
    style = Style(is_drawn and not console.no_color)
    for line in lines(shown, Look(style=style, is_drawn=is_drawn, width=console.width if is_drawn else None)):
        console.print(Text.from_ansi(line), soft_wrap=True)


@dataclass(slots=True)
class _Column:
    """A column's texts; `cells` are None for NULL."""

    name: str
    type: str
    is_number: bool
    cells: Sequence[str | None]
    width: int

    @classmethod
    def of(cls, shown: Shown, index: int, look: Look) -> _Column:
        limit = None if look.width is None else _CELL_MAX
        cells = [None if v is None else one_line(v[:limit]) for v in (row[index] for row in shown.rows)]
        name = one_line(shown.names[index]) if look.headers else ""
        type_ = one_line(shown.types[index]).lower() if shown.types and look.headers else ""
        widths = (width_of(look.null if cell is None else cell) for cell in cells)
        width = max(width_of(name), len(type_) if look.width is None else min(len(type_), 20), *widths, 1)
        return cls(name, type_, shown.is_number[index], cells, width)


class _Place(NamedTuple):
    """A column and its width in the table; no column stands for those left out."""

    column: int | None
    width: int


def _fitted(columns: Sequence[_Column], width: int | None) -> list[_Place]:
    """Text is cut first, numbers never; then columns are left out, from the middle."""
    shown: list[int | None] = list(range(len(columns)))
    while True:
        found = _capped([None if i is None else columns[i] for i in shown], width)
        if found is not None or len(shown) <= 1:
            break
        middle = len(shown) // 2
        if None in shown:
            gap = shown.index(None)
            middle = gap + 1 if len(shown) - gap - 1 >= gap else gap - 1
            del shown[middle]
            if shown == [None]:
                shown = [0]
        else:
            shown[middle] = None
    if found is None:
        found = [max(1, (width or 0) - 4)] * len(shown)
    return [_Place(i, w) for i, w in zip(shown, found, strict=True)]


def _capped(columns: Sequence[_Column | None], width: int | None) -> list[int] | None:
    """Widths that fit, the text columns' cut to the same width where they must be; None if nothing fits."""
    natural = [1 if column is None else column.width for column in columns]
    frame = 3 * len(columns) + 1
    if width is None or sum(natural) + frame <= width:
        return natural
    texts = [w for w, c in zip(natural, columns, strict=True) if c is not None and not c.is_number]
    room = width - frame - (sum(natural) - sum(texts))
    low, high = _TEXT_WIDTH_MIN, max(texts, default=0)
    if sum(min(w, low) for w in texts) > room:
        return None
    while low < high:
        middle = (low + high + 1) // 2
        if sum(min(w, middle) for w in texts) <= room:
            low = middle
        else:
            high = middle - 1
    return [w if c is None or c.is_number else min(w, low) for w, c in zip(natural, columns, strict=True)]


def _drawn(columns: Sequence[_Column], places: Sequence[_Place], shown: Shown, look: Look) -> Iterator[str]:
    style = look.style

    def rule(left: str, middle: str, right: str) -> str:
        return style.dim(left + middle.join("─" * (place.width + 2) for place in places) + right)

    bar = style.dim("│")

    def row(cells: Iterable[str]) -> str:
        return f"{bar} {f' {bar} '.join(cells)} {bar}"

    def head(text: str, place: _Place) -> str:
        column = None if place.column is None else columns[place.column]
        return padded(cut(text, place.width), place.width, right=column is not None and column.is_number)

    yield rule("┌", "┬", "┐")
    if look.headers:
        names = ["…" if p.column is None else columns[p.column].name for p in places]
        yield row(style.bold(head(name, p)) for name, p in zip(names, places, strict=True))
        if shown.types:
            types = ["" if p.column is None else columns[p.column].type for p in places]
            yield row(style.dim(head(type_, p)) for type_, p in zip(types, places, strict=True))
        yield rule("├", "┼", "┤")
    for number in range(len(shown.rows)):
        yield row(_cell(columns, place, number, look) for place in places)
    yield rule("└", "┴", "┘")


def _cell(columns: Sequence[_Column], place: _Place, number: int, look: Look) -> str:
    if place.column is None:
        return look.style.dim("…")
    column = columns[place.column]
    text = column.cells[number]
    if text is None:
        return look.style.dim(padded(cut(look.null, place.width), place.width, right=column.is_number))
    return padded(cut(text, place.width), place.width, right=column.is_number)


def _plain(columns: Sequence[_Column], look: Look) -> Iterator[str]:
    """Columns as wide as they need to be: what a pipe gets."""
    if look.headers:
        yield _side_by_side([c.name for c in columns], columns)
        yield _side_by_side(["-" * c.width for c in columns], columns)
    for cells in zip(*(c.cells for c in columns), strict=True):
        yield _side_by_side([look.null if cell is None else cell for cell in cells], columns)


def _side_by_side(cells: Iterable[str], columns: Sequence[_Column]) -> str:
    texts = (padded(v, c.width, right=c.is_number) for v, c in zip(cells, columns, strict=True))
    return "  ".join(texts).rstrip()
