"""Tokens in the place of a user's: a position in the text that is parsed is one in the user's."""

from __future__ import annotations

from sqlglot.tokenizer_core import Token, TokenType


def token_at(kind: TokenType, text: str, at: Token) -> Token:
    """A token that stands where `at` does."""
    return token_over(kind, text, at, at)


def token_over(kind: TokenType, text: str, first: Token, last: Token) -> Token:
    """A token that stands for all from `first` to `last`."""
    return Token(kind, text, line=first.line, col=first.col, start=first.start, end=last.end)
