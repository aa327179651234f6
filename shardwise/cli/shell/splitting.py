r"""A text of statements and commands, apart: what a file holds, what was pasted, what is being typed.

A statement ends with `;`, wherever that stands outside of strings, names and comments, or with `\g`. A
command begins with `.` or `\` and ends with its line.

    SELECT 1; SELECT ';'      =>   Statement("SELECT 1"), Statement(" SELECT ';'", is_ended=False)
    .tables                        Command(".tables")
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

from shardwise.cli.shell.lexing import Kind, Token, tokens


class Statement(NamedTuple):
    """`sql` has no `;`. `line` is where it begins, from 1. `send` is the `\\g …` that ended it, if one did.

    `is_ended` is false for what the text's end cut off.
    """

    sql: str
    line: int = 1
    is_ended: bool = True
    send: str = ""


class Command(NamedTuple):
    """`text` with its dot or backslash; `pending` is the unfinished statement that stands before it."""

    text: str
    line: int = 1
    pending: str = ""


Piece = Statement | Command

PLAIN_WORDS: Final = {"exit": ".exit", "quit": ".quit", "help": ".help"}
"""What people type without a dot."""
_SENDS: Final = ("\\g", "\\gx")
_BODIES: Final = ("trigger", "procedure", "function", "macro")


def pieces(text: str, dialect: str = "duckdb") -> list[Piece]:
    """The statements and commands of `text`, in order. Blanks and comments alone are nothing."""
    return list(_Splitter(text, dialect).pieces())


def is_finished(text: str, dialect: str = "duckdb") -> bool:
    """Whether Enter at its end should run it: nothing is half typed."""
    found = pieces(text, dialect)
    if text.strip().lower() in PLAIN_WORDS or not text.strip():
        return True
    if not found:
        return all(not token.is_open for token in tokens(text, dialect))
    last = found[-1]
    return last.is_ended if isinstance(last, Statement) else not last.pending or last.text[:2] in _TAKES


_TAKES: Final = ("\\e", "\\r")  # commands that have to do with the statement before them


@dataclass(slots=True)
class _Reading:
    """A statement as it is read. `sql` are its parts, commands amid it left out."""

    start: int
    sql: str = ""
    first: int | None = None
    words: tuple[str, ...] = ()
    depth: int = 0

    def see(self, token: Token) -> None:
        """Counts BEGIN and END of a body, in which `;` ends nothing."""
        if token.kind in (Kind.BLANK, Kind.COMMENT):
            return
        if self.first is None:
            self.first = token.start
        if token.kind is not Kind.WORD:
            return
        word = token.text.lower()
        if len(self.words) < 5:
            self.words += (word,)
        if self.words[:1] == ("create",) and any(body in self.words for body in _BODIES):
            if word in ("begin", "case"):
                self.depth += 1
            elif word == "end" and self.depth:
                self.depth -= 1


class _Splitter:
    """A text, and the place that was come to."""

    def __init__(self, text: str, dialect: str) -> None:
        self._text = text
        self._dialect = dialect
        self._breaks = [i for i, character in enumerate(text) if character == "\n"]

    def pieces(self) -> Iterator[Piece]:
        text, reading, place = self._text, _Reading(0), 0
        while place < len(text):
            for token in tokens(text, self._dialect, place):
                place = token.end
                if token.kind is not Kind.SYMBOL:
                    reading.see(token)
                elif token.text == ";" and not reading.depth:
                    if reading.first is not None:
                        yield self._statement(reading, token.start)
                    reading = _Reading(token.end)
                elif _begins_command(text, token, reading):
                    place = _line_end(text, token.start)
                    piece, reading = self._command(token.start, place, reading)
                    yield piece
                    break  # the command is no SQL: go on behind it
                else:
                    reading.see(token)
        if reading.first is not None:
            yield self._statement(reading, len(text), is_ended=False)

    def _command(self, start: int, end: int, reading: _Reading) -> tuple[Piece, _Reading]:
        """What stands at a backslash or dot, and what is being read behind it."""
        line, number = self._text[start:end].strip(), self._line(start)
        if reading.first is None:
            return Command(line, number), _Reading(end)
        pending = reading.sql + self._text[reading.start : start]
        if line.split(maxsplit=1)[0] in _SENDS:
            return self._statement(reading, start)._replace(send=line), _Reading(end)
        if line[:2] in _TAKES:
            return Command(line, number, pending.strip()), _Reading(end)
        rest = _Reading(end, pending, reading.first, reading.words, reading.depth)
        return Command(line, number, pending.strip()), rest

    def _statement(self, reading: _Reading, end: int, *, is_ended: bool = True) -> Statement:
        sql = reading.sql + self._text[reading.start : end]
        lead = len(sql) - len(sql.lstrip())
        line = self._line(reading.start + lead - len(reading.sql))
        return Statement(sql[lead:].rstrip(), line, is_ended)

    def _line(self, place: int) -> int:
        return bisect_left(self._breaks, place) + 1


def _begins_command(text: str, token: Token, reading: _Reading) -> bool:
    if token.text == "\\":
        return True
    if token.text != "." or reading.first is not None:
        return False
    return not text[text.rfind("\n", 0, token.start) + 1 : token.start].strip()


def _line_end(text: str, place: int) -> int:
    end = text.find("\n", place)
    return len(text) if end < 0 else end
