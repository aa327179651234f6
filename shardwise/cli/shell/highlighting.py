"""SQL in colours while it is typed."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Final

from prompt_toolkit.document import Document
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.lexers import Lexer
from prompt_toolkit.styles import Style

from shardwise.cli.shell.lexing import Kind, tokens
from shardwise.cli.shell.vocabulary import KEYWORDS

STYLE: Final = Style.from_dict(
    {
        "prompt": "bold ansicyan",
        "prompt.scope": "ansiyellow",
        "continuation": "ansibrightblack",
        "keyword": "bold ansiblue",
        "string": "ansigreen",
        "quoted": "",
        "number": "ansimagenta",
        "comment": "italic ansibrightblack",
        "parameter": "ansiyellow",
        "command": "bold ansicyan",
    }
)
_CLASSES: Final = {
    Kind.STRING: "class:string",
    Kind.QUOTED: "class:quoted",
    Kind.NUMBER: "class:number",
    Kind.COMMENT: "class:comment",
    Kind.PARAMETER: "class:parameter",
}


class SqlLexer(Lexer):
    """Colours for a text that may be half typed."""

    def __init__(self, dialect: Callable[[], str]) -> None:
        self._dialect = dialect

    def lex_document(self, document: Document) -> Callable[[int], StyleAndTextTuples]:
        lines = _coloured(document.text, self._dialect())
        return lambda number: lines[number] if number < len(lines) else []


@lru_cache(maxsize=16)
def _coloured(text: str, dialect: str) -> list[StyleAndTextTuples]:
    lines: list[StyleAndTextTuples] = [[]]
    if text.lstrip()[:1] in (".", "\\") and "\n" not in text.strip():
        return [[("class:command", text)]]
    for token in tokens(text, dialect):
        class_ = _CLASSES.get(token.kind, "")
        if token.kind is Kind.WORD and token.text.upper() in KEYWORDS:
            class_ = "class:keyword"
        for number, part in enumerate(token.text.split("\n")):
            if number:
                lines.append([])
            lines[-1].append((class_, part))
    return lines
