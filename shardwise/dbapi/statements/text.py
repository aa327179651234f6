"""Looking at a statement's text without reading it as SQL: first words, tokens, positions.

A query that follows other words keeps its place (what stands before it is blanked), so that positions in
errors are those of the user's own text.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import sqlglot
from sqlglot import Token, TokenType
from sqlglot.errors import SqlglotError

from shardwise.errors import Position, SQLSyntaxError

_BLANK = re.compile(r"(?:\s+|--[^\n]*(?:\n|\Z)|/\*.*?\*/)*", re.DOTALL)
_WORD = re.compile(r"[A-Za-z_]+")


class Word(NamedTuple):
    """A word in lower case, and where it is; the empty one stands where there is none."""

    text: str
    start: int
    end: int


def word_at(sql: str, start: int) -> Word:
    """The word that follows `start`, blanks and comments left out."""
    start = blank_end(sql, start)
    match = _WORD.match(sql, start)
    return Word(match[0].lower(), start, match.end()) if match else Word("", start, start)


def blank_end(sql: str, start: int) -> int:
    """Where blanks and comments end."""
    match = _BLANK.match(sql, start)
    return match.end() if match else start


def position(sql: str, offset: int, length: int = 1) -> Position:
    before = sql[:offset]
    return Position(before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1, max(length, 1))


def position_of(sql: str, what: Word | Token) -> Position:
    """Of a word or a token."""
    return position(sql, what.start, len(what.text))


def last_position(sql: str) -> Position:
    """The text's last character: where something is missing."""
    return position(sql, max(len(sql.rstrip()) - 1, 0))


def blanked(sql: str, end: int) -> str:
    """`sql` with everything before `end` turned to spaces, lines kept."""
    return re.sub(r"[^\n]", " ", sql[:end]) + sql[end:]


def tokens_after(sql: str, end: int) -> list[Token]:
    """What follows `end`, without semicolons at its end."""
    # SQLite's quotes names either way; a backtick is MySQL's, and nothing in the other dialects.
    quotes = "sqlite" if "`" in sql else "duckdb"
    try:
        tokens = sqlglot.tokenize(blanked(sql, end), read=quotes)
    except SqlglotError as error:
        raise SQLSyntaxError(str(error).split("\n", maxsplit=1)[0]) from error
    while tokens and tokens[-1].token_type is TokenType.SEMICOLON:
        tokens.pop()
    return tokens
