"""Texts that were written for PyMySQL or psycopg: `%s` and `%(name)s` as the parameters they stand for.

    SELECT 100 %% 7 FROM t WHERE id IN %s AND name LIKE '5%%' AND day = %(day)s
 => SELECT 100 %  7 FROM t WHERE id IN (?) AND name LIKE '5%' AND day = :day

As those drivers do, a text is read so only where parameters are given, an empty list too. Values are bound,
as all are; unlike there a `%s` inside quotes is an error, for it would be no parameter.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple, get_args

from shardwise.dbapi.statements.text import position
from shardwise.errors import Error, Position, ProgrammingError, Reason

ParamStyle = Literal["qmark", "named", "format", "pyformat"]

_BACKSLASHES = r"""'(?:[^'\\]|''|\\.)*'"""
_STANDARD = r"""'(?:[^']|'')*' | "(?:[^"]|"")*" """
_DOLLARS = r"""(?<![\w$])\$(?P<tag>\w*)\$.*?\$(?P=tag)\$"""
_NESTED = r"""--[^\n]* | /\*(?:/\*.*?\*/|.)*?\*/"""
_PLAIN = r"""--[^\n]* | /\*.*?\*/"""
_READ = {
    # What is quoted, and what a comment, as each dialect reads it: a backslash ends no text but MySQL's.
    "mysql": (
        rf"""{_BACKSLASHES} | "(?:[^"\\]|""|\\.)*" | `[^`]*`""",
        r"""(?:\#|--(?=\s|\Z))[^\n]* | /\*.*?\*/""",
    ),
    "postgres": (rf"""(?<!\w)E{_BACKSLASHES} | {_STANDARD} | {_DOLLARS}""", _NESTED),
    "duckdb": (rf"""(?<!\w)E{_BACKSLASHES} | {_STANDARD} | {_DOLLARS}""", _NESTED),
    "sqlite": (rf"""{_STANDARD} | `[^`]*` | \[[^\]]*\]""", _PLAIN),
}


@lru_cache
def _tokens(dialect: str) -> re.Pattern[str]:
    quoted, comment = _READ[dialect]
    return re.compile(
        rf"""(?P<quoted>{quoted}) | (?P<comment>{comment})
        | (?P<mark>%(?:\((?P<name>\w+)\))?(?P<kind>.|\Z)) | (?P<qmark>\?)""",
        re.VERBOSE | re.DOTALL | re.IGNORECASE,
    )


def checked(style: str) -> ParamStyle:
    """`style`, if it is one that is understood."""
    for known in get_args(ParamStyle):
        if style == known:
            return known  # type: ignore[no-any-return]
    raise ProgrammingError(
        f"the paramstyle cannot be {style!r}: it is one of {', '.join(get_args(ParamStyle))}",
        reason=Reason.PARAMETERS,
    )


class _Change(NamedTuple):
    """From `at` on, the new text is `longer` characters longer than the old one."""

    at: int
    longer: int


class Reading:
    """The text with `?` or `:name` for parameters; positions of errors inside are those of `sql`.

    What is text and what a comment is the query dialect's matter. In PostgreSQL's a `?` is an operator.
    """

    __slots__ = ("_is_unread", "_read", "_sql")

    def __init__(self, style: ParamStyle, sql: str, params: object, *, dialect: str) -> None:
        self._sql = sql
        self._read: Translated | None = None
        self._is_unread = False
        if style in ("qmark", "named"):
            return
        if params is not None:
            self._read = translated(sql, dialect)
        else:
            self._is_unread = _MARK.search(sql) is not None

    def __enter__(self) -> str:
        return self._sql if self._read is None else self._read.sql

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        read = self._read
        if self._is_unread and isinstance(error, ProgrammingError) and error.hint is None:
            error.hint = "Give execute() the values of its %s: without any the text is read as it is"
        if read is None or not isinstance(error, Error):
            return
        if error.position is not None and error.view is None:
            error.position = read.position(error.position)
        if error.reason is Reason.PARAMETERS:
            error.message = in_this_style(error.message)
            error.hint = in_this_style(error.hint) if error.hint else error.hint


_MARK = re.compile(r"%s|%\(\w+\)s")
_WORDS = (
    (r'parameter "\?"', 'parameter "%s"'),
    (r'parameter ":(\w+)"', r'parameter "%(\1)s"'),
    (r"\bfor (each )?\?", r"for \1%s"),
    (r"\bfor :name\b", "for %(name)s"),
    (r"\bIN \(\?\)", "IN %s"),
)


def in_this_style(text: str) -> str:
    """A message about parameters, in the words of who writes `%s`."""
    for pattern, own in _WORDS:
        text = re.sub(pattern, own, text)
    return text


@dataclass(frozen=True)
class Translated:
    """The text with `?` and `:name`, and the one it was made of."""

    sql: str
    written: str
    changes: tuple[_Change, ...]

    def position(self, found: Position) -> Position:
        """A position in `sql` as one in what the user wrote."""
        offset = _offset(self.sql, found)
        for change in reversed(self.changes):
            if change.at < offset:
                return position(self.written, max(offset - change.longer, 0), found.length)
        return found


@lru_cache(maxsize=256)
def translated(sql: str, dialect: str) -> Translated:
    """The text as one of style qmark (or named). Raises ProgrammingError for other `%`."""
    parts: list[str] = []
    changes: list[_Change] = []
    old = length = 0
    for start, end, new in _replacements(sql, dialect):
        parts += (sql[old:start], new)
        length += start - old + len(new)
        old = end
        if len(new) != end - start:
            changes.append(_Change(length - 1, length - old))
    parts.append(sql[old:])
    return Translated("".join(parts), sql, tuple(changes))


def _replacements(sql: str, dialect: str) -> Iterator[tuple[int, int, str]]:
    for found in _tokens(dialect).finditer(sql):
        start, end = found.span()
        if found["quoted"] is not None or found["comment"] is not None:
            yield from _inside(sql, start, end, is_comment=found["comment"] is not None)
        elif found["qmark"] is not None and dialect != "postgres":
            raise _wrong(sql, start, "? is no parameter in this paramstyle", "Write %s")
        elif found["mark"] is not None:
            yield start, end, _mark(sql, found)


def _mark(sql: str, found: re.Match[str]) -> str:
    name, kind = found["name"], found["kind"]
    if kind == "%" and name is None:
        return "%"
    if kind != "s":
        raise _wrong(sql, found.start(), f'"{found[0]}" is no parameter', "Write %s, %(name)s, or %% for a %")
    if name is not None:
        return f":{name}"
    return "(?)" if _LISTED.search(sql, 0, found.start()) else "?"


_LISTED = re.compile(r"\bIN\s*\Z", re.IGNORECASE)


def _inside(sql: str, start: int, end: int, *, is_comment: bool) -> Iterator[tuple[int, int, str]]:
    for found in re.finditer(r"%(%|.|\Z)", sql[start:end], re.DOTALL):
        if found[1] == "%":
            yield start + found.start(), start + found.end(), "%"
        elif not is_comment:
            raise _wrong(
                sql,
                start + found.start(),
                "a % inside quotes is written %% where parameters are given",
                "A parameter has no quotes around it: name = %s",
            )


def _wrong(sql: str, at: int, message: str, hint: str) -> ProgrammingError:
    return ProgrammingError(message, hint=hint, position=position(sql, at), reason=Reason.PARAMETERS)


def _offset(sql: str, found: Position) -> int:
    lines = sql.split("\n")
    return sum(len(line) + 1 for line in lines[: found.line - 1]) + found.column - 1
