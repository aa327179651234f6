"""The catalog's text as trees, with positions: the parser, syntax errors and small readers.

What is read of a statement is a lark tree; `Text` knows the file it came from and makes errors that
point into it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from importlib.resources import files

from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedCharacters, UnexpectedToken

from shardwise.catalog.sources import Options
from shardwise.errors import CatalogError, Position

Node = Tree[Token]
Found = Node | Token | None


@lru_cache(maxsize=2)
def language(*, strict: bool = False) -> Lark:
    """The parser. Made once, in about 0.2 s; it holds no state between texts."""
    grammar = files("shardwise.catalog").joinpath("language.lark").read_text(encoding="utf-8")
    return Lark(
        grammar,
        parser="lalr",
        lexer="contextual",
        strict=strict,
        maybe_placeholders=True,
        propagate_positions=True,
    )


@dataclass(frozen=True)
class Text:
    """One text of the catalog's language: its contents, what to call it in messages, its directory.

    `directory` is relative to the file that was asked for, "" for that file itself.
    """

    contents: str
    file: str | None = None
    directory: str = ""

    def parse(self) -> Node:
        """The tree of the whole text; raises CatalogError where it is not of the language."""
        try:
            return language().parse(self.contents)
        except UnexpectedToken as error:
            raise self._unexpected(error, error.token) from None
        except UnexpectedCharacters as error:
            raise self._unclosed(error) from None

    def error(self, at: Found, message: str, *, hint: str | None = None) -> CatalogError:
        """An error that points at a tree or token of this text."""
        return CatalogError(message, file=self.file, position=position(at), hint=hint)

    def slice(self, first: Node | Token, last: Node | Token) -> str:
        """The text from one tree or token to another, both included, as written."""
        return self.contents[_start(first) : _end(last)]

    def _unexpected(self, error: UnexpectedToken, token: Token) -> CatalogError:
        names = sorted(_terminal(name) for name in error.accepts or error.expected)
        what = "the end" if token.type == "$END" else f'"{_short(token)}"'
        message = f"expected {_one_of(names)}, found {what}"
        where = Position(token.line or 1, token.column or 1, max(len(token), 1))
        if token.type == "$END":
            lines = self.contents.rstrip().split("\n")
            where = Position(len(lines), len(lines[-1]) + 1)
        close = get_close_matches(str(token).upper(), [name for name in names if name.isupper()], 1, 0.7)
        hint = f"Did you mean {close[0]}?" if close else None
        return CatalogError(message, file=self.file, position=where, hint=hint)

    def _unclosed(self, error: UnexpectedCharacters) -> CatalogError:
        where = Position(error.line, error.column)
        char = error.char
        if char in "'\"`":
            message = f"a text that begins with {char} has no end"
            hint: str | None = f"Close it with {char}; inside, write it twice"
        elif char in "{}":
            message, hint = f"a {char} without its counterpart", "A template in a name is written db_{n:02}"
        else:
            message, hint = f"unexpected character {char!r}", None
        return CatalogError(message, file=self.file, position=where, hint=hint)


def position(at: Found) -> Position | None:
    """Where a tree or token is."""
    if isinstance(at, Token):
        return Position(at.line or 1, at.column or 1, len(at))
    if at is None or getattr(at.meta, "line", None) is None:
        return None
    return Position(at.meta.line, at.meta.column, at.meta.end_pos - at.meta.start_pos)


def tokens(tree: Node) -> Iterator[Token]:
    """All tokens of a tree that the grammar keeps, in order."""
    for child in tree.children:
        if isinstance(child, Token):
            yield child
        elif isinstance(child, Tree):
            yield from tokens(child)


def plain(token: Token) -> str:
    """A token's value: quotes taken off."""
    text = str(token)
    if token.type in ("STRING", "QUOTED", "BACKTICKED"):
        quote = text[0]
        return text[1:-1].replace(quote * 2, quote)
    return text


# The readers below take what the grammar guarantees to be there.


def child(tree: Node, index: int) -> Node:
    """The child at `index`, a tree."""
    found = tree.children[index]
    assert isinstance(found, Tree)
    return found


def optional(tree: Node, index: int) -> Node | None:
    """The child at `index`, a tree or absent."""
    found = tree.children[index]
    return found if isinstance(found, Tree) else None


def token_at(tree: Node, index: int = 0) -> Token:
    """The child at `index`, a token."""
    found = tree.children[index]
    assert isinstance(found, Token)
    return found


def subtrees(tree: Node, kind: str) -> list[Node]:
    """The children of one kind."""
    return [each for each in tree.children if isinstance(each, Tree) and each.data == kind]


def name_of(tree: Node) -> str:
    """A `name` tree's text."""
    return plain(token_at(tree))


def names_of(tree: Node | None) -> tuple[str, ...]:
    """The texts of the `name` children, () for an absent tree."""
    return () if tree is None else tuple(name_of(each) for each in subtrees(tree, "name"))


def number_of(text: Text, token: Token) -> int:
    """A whole number."""
    if not token.isdecimal():
        raise text.error(token, f'expected a whole number, found "{token}"')
    return int(token)


def options_of(tree: Node | None, text: Text) -> Options:
    """The options of a WITH, or of a HASH whose tree holds them."""
    found: dict[str, str] = {}
    for each in subtrees(tree, "option") if tree is not None else []:
        name = name_of(child(each, 0))
        if name in found:
            raise text.error(each, f'option "{name}" is given twice')
        found[name] = plain(token_at(each, 1))
    return Options(found)


def _start(at: Node | Token) -> int:
    return (at.start_pos if isinstance(at, Token) else at.meta.start_pos) or 0


def _end(at: Node | Token) -> int:
    return (at.end_pos if isinstance(at, Token) else at.meta.end_pos) or 0


_TERMINALS = {
    "WORD": "a name",
    "QUOTED": "a name",
    "BACKTICKED": "a name",
    "STRING": "a text in 'quotes'",
    "NUMBER": "a number",
    "OPERATOR": "an operator",
    "SIGN": "a number",
    "STAR": '"*"',
    "TEXTS": "a list of texts in 'quotes'",
    "SHARES": "a list of texts in 'quotes', each with a number",
    "LPAR": '"("',
    "RPAR": '")"',
    "COMMA": '","',
    "DOT": '"."',
    "EQUAL": '"="',
    "MINUS": '"-"',
    "SEMICOLON": '";"',
    "$END": "the end",
    "INDEX": "LOOKUP INDEX",
}


def _terminal(name: str) -> str:
    return _TERMINALS.get(name, name.strip("_").replace("_", " "))


def _one_of(names: list[str]) -> str:
    shown = list(dict.fromkeys(names))
    if len(shown) == 1:
        return shown[0]
    return ", ".join(shown[:-1]) + " or " + shown[-1]


def _short(token: Token) -> str:
    text = "'…'" if token.type == "STRING" else str(token)  # a text may hold what is nobody's business
    return text if len(text) <= 40 else text[:37] + "…"
