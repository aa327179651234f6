"""Literals of a statement that its plan does not depend on: holes in the plan's texts, filled with each
statement's own.

    SELECT name FROM users WHERE id = $‹0›   with   (42)   =>   SELECT name FROM users WHERE id = 42

In the tree such a literal is a placeholder with a name that no statement can write. Bound as a parameter it
could be of another type (1.10 as DOUBLE), so it goes out as it was written.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from sqlglot import exp

MARK: Final = "\ue100"
"""Of Unicode's private characters; a text that has it is left as it is."""
HOLES_MAX: Final = 1000
_FIRST: Final = 0xE200
LIKE: Final = "like"
"""The argument of a placeholder that says what is put there: a literal's shape (`shape_of`), or a type."""


class Written(str):
    """A literal as it stands in a statement."""

    __slots__ = ()

    @property
    def is_string(self) -> bool:
        return self[0] == "'"

    def literal(self) -> exp.Expr:
        """Its expression."""
        return exp.Literal.string(unquoted(self)) if self.is_string else exp.Literal.number(str(self))


def unquoted(text: str) -> str:
    return text[1:-1].replace("''", "'")


def hole(index: int) -> str:
    """The name of the placeholder that stands for a statement's literal number `index` of those taken out."""
    return MARK + chr(_FIRST + index)


def index_of(name: str) -> int | None:
    """Which literal a placeholder stands for; None if it is a parameter."""
    return ord(name[1]) - _FIRST if name[:1] == MARK else None


def fill(text: str, literals: Sequence[Written]) -> str:
    """The text with the literals put back."""
    head, *parts = text.split(MARK)
    if not parts:
        return text
    filled = [head]
    for part in parts:
        before, after = filled[-1], part[1:]
        if before.endswith("%("):  # %(name)s, else one sign before a name
            before, after = before[:-1], after[2:]
        filled[-1] = before[:-1]
        filled += (literals[ord(part[0]) - _FIRST], after)
    return "".join(filled)


def shape_of(sql: str) -> str | None:
    """What a literal may be exchanged for: any other of the same shape. None: for none.

    Strings are alike, but for those that are a day or a moment. Numbers are whole ones that fit INTEGER, or
    BIGINT, or are of so many digits before and after the point.

    >>> shape_of("'x'"), shape_of("'2026-01-31'"), shape_of("42"), shape_of("4200000000"), shape_of("1.10")
    ("'", "'day", '999999999', '999999999999999999', '9.99')
    """
    if sql[0] == "'":
        return _moment(sql[1:-1]) if sql[1:5].isdigit() else "'"
    whole, _, fraction = sql.partition(".")
    if fraction:
        return f"{'9' * len(whole)}.{'9' * len(fraction)}" if len(whole) + len(fraction) <= 38 else None
    return _NINE if len(whole) <= 9 else _EIGHTEEN if len(whole) <= 18 else None


def _moment(text: str) -> str:
    is_moment = len(text) == 19 and text[10] in " T"
    if (len(text) == 10 or is_moment) and text[4] == "-" == text[7]:
        try:
            datetime.fromisoformat(text)
        except ValueError:
            return "'"
        return MOMENT if is_moment else DAY
    return "'"


DAY: Final = "'day"
MOMENT: Final = "'moment"
_NINE: Final = "9" * 9
_EIGHTEEN: Final = "9" * 18
