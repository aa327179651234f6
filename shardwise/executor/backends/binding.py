"""Named parameters in a statement's text, for the drivers of servers, each of which marks them otherwise.

The planner's text has what its dialect's generator prints: `:p1` for MySQL, `%(p1)s` for PostgreSQL. Outside
of strings, quoted names and comments nothing else looks like that, and `%` stands for itself.

    inlined("SELECT :p1, ':p2'", {"p1": 7}, MYSQL, literal)           "SELECT 7, ':p2'"
    numbered("SELECT %(a)s, %(b)s, %(a)s", {"a": 1, "b": 2}, POSTGRES)     "SELECT $1, $2, $1", [1, 2]
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from shardwise.errors import ProgrammingError, Reason


class Marks(NamedTuple):
    """How a dialect's text is read: what is to be passed over, and what a parameter looks like."""

    quoted: str
    parameter: str


MYSQL = Marks(
    # With backslashes in strings, and "…" a string: the session's sql_mode is pinned so.
    quoted=r"""
        '(?:[^'\\]|\\.|'')*'
      | "(?:[^"\\]|\\.|"")*"
      | `(?:[^`]|``)*`
      | /\*.*?\*/
      | (?:\#|--(?=\s|\Z))[^\n]*
    """,
    parameter=r"(?<![\w:@$]):(?P<name>[A-Za-z_]\w*)",
)
POSTGRES = Marks(
    # With standard_conforming_strings: a backslash is one but in E'…'.
    quoted=r"""
        (?<!\w)[eE]'(?:[^'\\]|\\.|'')*'
      | '(?:[^']|'')*'
      | "(?:[^"]|"")*"
      | (?<![\w$])\$(?P<tag>(?:[^\W\d]\w*)?)\$.*?\$(?P=tag)\$
      | /\*.*?\*/
      | --[^\n]*
    """,
    parameter=r"%\((?P<name>[A-Za-z_]\w*)\)s",
)


@lru_cache(maxsize=2048)
def pieces(sql: str, marks: Marks) -> tuple[str, ...]:
    """The text around the parameters, and their names, in turn: text, name, text, …, text."""
    found: list[str] = []
    begin = 0
    for match in _pattern(marks).finditer(sql):
        if match["name"] is not None:
            found += (sql[begin : match.start()], match["name"])
            begin = match.end()
    return (*found, sql[begin:])


@lru_cache
def _pattern(marks: Marks) -> re.Pattern[str]:
    return re.compile(rf"{marks.quoted} | {marks.parameter}", re.VERBOSE | re.DOTALL)


def inlined(sql: str, params: Mapping[str, Any], marks: Marks, literal: Callable[[Any], str]) -> str:
    """The text with each parameter's value as a literal, which `literal` writes."""
    parts = pieces(sql, marks)
    if len(parts) == 1:
        return sql
    made = list(parts)
    for i in range(1, len(parts), 2):
        made[i] = literal(_value(params, parts[i]))
    return "".join(made)


def numbered(
    sql: str, params: Mapping[str, Any], marks: Marks, mark: Callable[[int], str] = "${}".format
) -> tuple[str, list[Any]]:
    """The text with parameters numbered from 1, those of one name alike, and their values in order."""
    text, names = _numbered(sql, marks, mark)
    return text, [_value(params, name) for name in names]


@lru_cache(maxsize=2048)
def _numbered(sql: str, marks: Marks, mark: Callable[[int], str]) -> tuple[str, tuple[str, ...]]:
    parts = pieces(sql, marks)
    numbers: dict[str, int] = {}
    made = list(parts)
    for i in range(1, len(parts), 2):
        made[i] = mark(numbers.setdefault(parts[i], len(numbers) + 1))
    return "".join(made), tuple(numbers)


def _value(params: Mapping[str, Any], name: str) -> Any:
    try:
        return params[name]
    except KeyError:
        raise ProgrammingError(
            f'there is no value for the parameter "{name}"', reason=Reason.PARAMETERS
        ) from None
