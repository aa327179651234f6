"""SQL as tokens, whole or not: text that is being typed has strings and comments that are still open.

Used where a parser is of no use: to find where statements end, to colour them, and to complete what is typed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum
from typing import Final, NamedTuple


class Kind(Enum):
    """What a token is. A `WORD` is a keyword or a name without quotes, `QUOTED` a name with them."""

    BLANK = "blank"
    COMMENT = "comment"
    STRING = "string"
    QUOTED = "quoted"
    NUMBER = "number"
    WORD = "word"
    PARAMETER = "parameter"
    SYMBOL = "symbol"


class Token(NamedTuple):
    """`is_open`: the text ended before the token did."""

    kind: Kind
    text: str
    start: int
    is_open: bool = False

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    @property
    def name(self) -> str:
        """The name that it stands for, without quotes; of any other token its text."""
        if self.kind is not Kind.QUOTED:
            return self.text
        opening = self.text[0]
        closing = _CLOSING[opening]
        inner = self.text[1:] if self.is_open else self.text[1:-1]
        return inner if opening == "[" else inner.replace(closing * 2, closing)

    def is_word(self, *words: str) -> bool:
        """Whether it is one of these keywords, which are in lower case."""
        return self.kind is Kind.WORD and self.text.lower() in words


_CLOSING: Final = {'"': '"', "`": "`", "[": "]"}

_COMMON: Final = (
    ("blank", r"\s+"),
    ("comment", r"--[^\n]*"),
    ("block", r"/\*"),
    ("string", r"'(?:[^']|'')*(?P<string_end>')?"),
    ("quoted", r'"(?:[^"]|"")*(?P<quoted_end>")?'),
    ("number", r"\d[\d_]*(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?"),
    ("word", r"[^\W\d][\w$]*"),
    ("symbol", r"::|<=|>=|<>|!=|\|\||->>|->|\*\*|."),
)
_DUCKDB: Final = (
    ("escaped", r"[eE]'(?:[^'\\]|\\.|'')*(?P<escaped_end>')?"),
    ("dollar", r"\$(?P<tag>(?:[^\W\d]\w*)?)\$.*?(?P<dollar_end>\$(?P=tag)\$|\Z)"),
    ("parameter", r"\?\d*|(?<!:)[:$]\w+"),
)
_SQLITE: Final = (
    ("ticked", r"`(?:[^`]|``)*(?P<ticked_end>`)?"),
    ("bracketed", r"\[[^\]]*(?P<bracketed_end>\])?"),
    ("parameter", r"\?\d*|(?<!:)[:$@]\w+"),
)
_POSTGRES: Final = (*_DUCKDB[:2], ("parameter", r"(?<!:)[:$]\w+"))
_MYSQL: Final = (
    ("comment", r"--(?=\s|\Z)[^\n]*|\#[^\n]*"),
    ("string", r"'(?:[^'\\]|\\.|'')*(?P<string_end>')?"),
    ("escaped", r'"(?:[^"\\]|\\.|"")*(?P<escaped_end>")?'),
    ("ticked", r"`(?:[^`]|``)*(?P<ticked_end>`)?"),
    ("parameter", r"\?|(?<![:\w]):\w+"),
)
_KINDS: Final = {
    **{name: Kind(name) for name, _ in _COMMON if name != "block"},
    "block": Kind.COMMENT,
    "escaped": Kind.STRING,
    "dollar": Kind.STRING,
    "ticked": Kind.QUOTED,
    "bracketed": Kind.QUOTED,
    "parameter": Kind.PARAMETER,
}


def _pattern(*parts: tuple[str, str]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?P<{name}>{pattern})" for name, pattern in parts), re.DOTALL)


# What is the dialect's own goes before names and symbols.
_PATTERNS: Final = {
    "duckdb": _pattern(*_COMMON[:2], *_DUCKDB, *_COMMON[2:]),
    "sqlite": _pattern(*_COMMON[:2], *_SQLITE, *_COMMON[2:]),
    "postgres": _pattern(*_COMMON[:2], *_POSTGRES, *_COMMON[2:]),
    # A text in double quotes is a string, and `--` needs a blank after it.
    "mysql": _pattern(
        _COMMON[0], *_MYSQL, *(part for part in _COMMON[2:] if part[0] not in ("string", "quoted"))
    ),
}
_ENDED: Final = frozenset({"string", "quoted", "escaped", "dollar", "ticked", "bracketed"})
_BLOCK: Final = re.compile(r"/\*|\*/")


def tokens(text: str, dialect: str = "duckdb", start: int = 0) -> Iterator[Token]:
    """All tokens from `start` on, blanks and comments too: together they are the text."""
    pattern = _PATTERNS[dialect]
    while start < len(text):
        match = pattern.match(text, start)
        assert match is not None
        group = match.lastgroup  # the outermost: it is closed last
        assert group is not None
        if group == "block":
            token = _block(text, start, nests=dialect in ("duckdb", "postgres"))
        else:
            token = Token(_KINDS[group], match[0], start, _is_open(match, group))
        yield token
        start = token.end


def _is_open(match: re.Match[str], group: str) -> bool:
    return group in _ENDED and not match[f"{group}_end"]


def _block(text: str, start: int, *, nests: bool) -> Token:
    depth, end = 1, start + 2
    while depth:
        mark = _BLOCK.search(text, end)
        if mark is None:
            return Token(Kind.COMMENT, text[start:], start, is_open=True)
        end = mark.end()
        if mark[0] == "*/":
            depth -= 1
        elif nests:
            depth += 1
    return Token(Kind.COMMENT, text[start:end], start)
