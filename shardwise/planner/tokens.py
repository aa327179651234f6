"""What sqlglot takes otherwise than DuckDB, mended in the tokens: their positions stay the user's."""

from __future__ import annotations

from typing import Final

import sqlglot
from sqlglot.tokenizer_core import Token, TokenType

from shardwise.planner.made_tokens import token_at

_TYPES: Final = sqlglot.Parser.TYPE_TOKENS - {TokenType.INTERVAL}

_OPERANDS: Final = frozenset(
    {
        *(TokenType.VAR, TokenType.IDENTIFIER, TokenType.NUMBER, TokenType.STRING),
        *(TokenType.L_BRACKET, TokenType.R_BRACKET, TokenType.R_PAREN, TokenType.L_BRACE, TokenType.R_BRACE),
    }
)
"""After these a colon is no parameter's: a slice `l[1:n]`, a field `{'a': x}`, an alias `x: 1`."""


_QUOTED: Final = frozenset({TokenType.IDENTIFIER, TokenType.STRING})


def mended(tokens: list[Token]) -> list[Token]:
    """The tokens as sqlglot's parser reads them right."""
    return typed_literals(parameters(tokens))


def parameters(tokens: list[Token]) -> list[Token]:
    """`?` as `$1`, `$2`, … so that their order does not depend on how the tree is walked; `:x` as `$x`."""
    numbered: list[Token] = []
    count = 0
    for i, token in enumerate(tokens):
        if _starts_name(tokens, i):
            numbered.append(token_at(TokenType.PARAMETER, "$", token))
            continue
        if i and _starts_name(tokens, i - 1):  # a name may be a word of SQL: `:from`
            numbered.append(token_at(TokenType.VAR, token.text, token))
            continue
        if token.token_type not in (TokenType.PLACEHOLDER, TokenType.QDCOLON):
            numbered.append(token)
            continue
        count += 1
        numbered += (token_at(TokenType.PARAMETER, "$", token), token_at(TokenType.NUMBER, str(count), token))
        if token.token_type is TokenType.QDCOLON:  # `?::` is one token to sqlglot
            numbered.append(token_at(TokenType.DCOLON, "::", token))
    return numbered


def _starts_name(tokens: list[Token], at: int) -> bool:
    """Whether a colon begins `:name`. The parser takes `SELECT :x` for the alias of nothing."""
    if tokens[at].token_type is not TokenType.COLON or at + 1 == len(tokens):
        return False
    name = tokens[at + 1]
    before = tokens[at - 1].token_type if at else None
    is_name = name.token_type not in _QUOTED and name.text.isidentifier()
    return is_name and name.start == tokens[at].end + 1 and before not in _OPERANDS


def typed_literals(tokens: list[Token]) -> list[Token]:
    """`DATE '…'::VARCHAR` as `CAST('…' AS DATE)::VARCHAR`: sqlglot casts the other way round."""
    fixed: list[Token] = []
    for i, token in enumerate(tokens):
        after = tokens[i + 1].token_type if i + 1 < len(tokens) else None
        is_cast = token.token_type is TokenType.STRING and after in (TokenType.DCOLON, TokenType.QDCOLON)
        start = _type_before(fixed) if is_cast else None
        if start is None:
            fixed.append(token)
            continue
        written = fixed[start:]
        del fixed[start:]
        fixed += [token_at(TokenType.VAR, "CAST", token), token_at(TokenType.L_PAREN, "(", token), token]
        fixed += [token_at(TokenType.ALIAS, "AS", token), *written, token_at(TokenType.R_PAREN, ")", token)]
    return fixed


def _type_before(tokens: list[Token]) -> int | None:
    """Where a type's name starts that the tokens end with: DATE, DECIMAL(4, 1), TIMESTAMP WITH TIME ZONE."""
    at = len(tokens) - 1
    if at >= 0 and tokens[at].token_type is TokenType.R_PAREN:
        while at > 0 and tokens[at].token_type is not TokenType.L_PAREN:
            at -= 1
        at -= 1
    if at >= 3 and [t.text.upper() for t in tokens[at - 2 : at + 1]] == ["WITH", "TIME", "ZONE"]:
        at -= 3
    return at if at >= 0 and tokens[at].token_type in _TYPES else None
