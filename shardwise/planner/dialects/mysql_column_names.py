"""The names that MySQL gives to selected expressions: their own texts."""

from __future__ import annotations

import re
from typing import Final

from sqlglot.tokenizer_core import Token, TokenType

from shardwise.planner.dialects.mysql_tokens import after_operand
from shardwise.planner.families import words
from shardwise.planner.made_tokens import token_at

_NO_NAME: Final = re.compile("[\0\U00010000-\U0010ffff]")
"""What no name of MySQL's holds: a name is of three bytes a character."""
_BEFORE_ITEMS: Final = words(
    """
    all distinct high_priority straight_join sql_small_result sql_big_result sql_buffer_result sql_no_cache
    sql_cache sql_calc_found_rows
    """
)
_AFTER_ITEMS: Final = words(
    """
    from where group having order limit union intersect except window into for offset fetch procedure lock
    """
)


def with_names(tokens: list[Token], sql: str) -> list[Token]:
    """Each selected expression with the name that MySQL gives it: its own text."""
    found: list[Token] = []
    # For each SELECT in whose list we are: its depth, and where in `found` the item begins.
    lists: list[tuple[int, int]] = []
    depth = 0
    for token in tokens:
        kind, word = token.token_type, token.text.lower()
        is_name = kind in (TokenType.STRING, TokenType.IDENTIFIER)
        if lists and lists[-1][0] == depth:
            ends = kind in (TokenType.COMMA, TokenType.R_PAREN, TokenType.SEMICOLON)
            if ends or (word.partition(" ")[0] in _AFTER_ITEMS and not is_name):
                _name_item(found, lists[-1][1], sql, is_outermost=depth == 0)
                if kind is TokenType.COMMA:
                    lists[-1] = (depth, len(found) + 1)
                else:
                    lists.pop()
            elif len(found) == lists[-1][1] and word in _BEFORE_ITEMS and not is_name:
                lists[-1] = (depth, len(found) + 1)
        if kind is TokenType.SELECT:
            lists.append((depth, len(found) + 1))
        depth += (kind is TokenType.L_PAREN) - (kind is TokenType.R_PAREN)
        found.append(token)
    if lists and lists[-1][0] == depth:
        _name_item(found, lists[-1][1], sql, is_outermost=depth == 0)
    return found


def _name_item(found: list[Token], begin: int, sql: str, *, is_outermost: bool) -> None:
    item = found[begin:]
    if not item or item[-1].token_type is TokenType.STAR:
        return
    if _has_alias(item):
        if item[-1].token_type is TokenType.STRING:
            found[-1] = token_at(TokenType.IDENTIFIER, item[-1].text, item[-1])
        return
    bare = _without_parentheses(item)
    column = _column_of(bare)
    if column is not None:
        if not is_outermost and len(bare) == len(item):
            return
        name = column.text
    elif len(bare) == 1 and bare[0].token_type is TokenType.STRING:
        name = bare[0].text.lstrip()
    else:
        name = sql[item[0].start : item[-1].end + 1].strip()
    if not name or name != name.rstrip() or len(name) > 256 or _NO_NAME.search(name):
        return  # no alias may be such; the engine names it
    last = item[-1]
    found += [token_at(TokenType.ALIAS, "AS", last), token_at(TokenType.IDENTIFIER, name, last)]


def _has_alias(item: list[Token]) -> bool:
    last = item[-1]
    if last.token_type not in (TokenType.VAR, TokenType.IDENTIFIER, TokenType.STRING) or len(item) < 2:
        return len(item) > 1 and item[-2].token_type is TokenType.ALIAS
    before = item[-2]
    if before.token_type is TokenType.ALIAS:
        return True
    return before.token_type is not TokenType.DOT and after_operand(item[:-1])


def _without_parentheses(item: list[Token]) -> list[Token]:
    while (
        len(item) > 2
        and item[0].token_type is TokenType.L_PAREN
        and item[-1].token_type is TokenType.R_PAREN
        and _closes_last(item)
    ):
        item = item[1:-1]
    return item


def _closes_last(item: list[Token]) -> bool:
    depth = 0
    for i, token in enumerate(item):
        depth += (token.token_type is TokenType.L_PAREN) - (token.token_type is TokenType.R_PAREN)
        if depth == 0:
            return i == len(item) - 1
    return False


def _column_of(item: list[Token]) -> Token | None:
    """The last part of `a`, `t.a` or `s.t.a`."""
    if len(item) not in (1, 3, 5) or any(t.token_type is not TokenType.DOT for t in item[1::2]):
        return None
    names = item[::2]
    is_name = all(
        t.token_type is TokenType.IDENTIFIER
        or (t.token_type is not TokenType.STRING and t.text[:1].isidentifier())
        for t in names
    )
    fixed = (TokenType.NULL, TokenType.TRUE, TokenType.FALSE)
    return names[-1] if is_name and not (len(item) == 1 and item[0].token_type in fixed) else None
