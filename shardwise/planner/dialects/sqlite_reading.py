"""SQLite's SQL as a tree that comes out again as the same SQL.

sqlglot is made for translating between products: it takes `substr` for SUBSTRING, drops a unary plus (which
takes a column's affinity away), reads the path of `->>` and gives NUMERIC as REAL. Here text must come out
meaning what went in: SQLite makes the same byte code of both (a test compares it). What sqlglot would take
otherwise is hidden from it in the tokens, whose positions stay the user's, and put back in the tree.

    substr(a, 1)            substr⟨mark⟩(a, 1)            Anonymous("substr", …)
    +a                      |/ a                          Anonymous("+", a)
    CAST(a AS BIG INT)      CAST(a AS "type_42…")         Cast to the type as written
    j ->> 'a'               j ->> ('a')                   JSONExtractScalar, the path a text
    a IN main.t             a IN (SELECT * FROM main.t)   the same: t is a table, and is to be seen as one
"""

from __future__ import annotations

from typing import Final

import sqlglot
from sqlglot import exp
from sqlglot.errors import ParseError
from sqlglot.tokenizer_core import Token, TokenType

from shardwise.plan.tree import bare
from shardwise.planner.families import words
from shardwise.planner.made_tokens import token_at

MARK: Final = "\ue001"

_TYPE: Final = "type_"

_KEPT: Final = frozenset({"count", "sum", "avg", "row_number", "rank", "dense_rank", "cast"})
"""Functions that plans reason about, and CAST, which is none. Beside them min and max of one argument."""

_KEYWORDS: Final = words(
    """
    all and as between by case collate cross distinct else end escape except exclude exists filter from full
    group having in inner intersect is isnull join left limit materialized natural not notnull null offset on
    or order outer over partition recursive right select set then union using values when where window with
    """
)
"""Words that a parenthesis may follow without calling them."""

_OPERATORS: Final = frozenset({"like", "glob", "match", "regexp"})
"""Operators, and functions where no operand stands before them."""

_ENDS_OPERAND: Final = frozenset(
    {
        *(TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.NUMBER, TokenType.STRING, TokenType.IDENTIFIER),
        *(TokenType.VAR, TokenType.HEX_STRING, TokenType.NULL, TokenType.TRUE, TokenType.FALSE),
        *(TokenType.END, TokenType.STAR, TokenType.PARAMETER, TokenType.PLACEHOLDER),
        *(TokenType.CURRENT_DATE, TokenType.CURRENT_TIME, TokenType.CURRENT_TIMESTAMP),
    }
)
_ALL_OF: Final = (
    (TokenType.L_PAREN, "("),
    (TokenType.SELECT, "SELECT"),
    (TokenType.STAR, "*"),
    (TokenType.FROM, "FROM"),
)
_ARROWS: Final = (TokenType.ARROW, TokenType.DARROW)


def mended(tokens: list[Token]) -> list[Token]:
    """The tokens as sqlglot reads them right; `restored` is to be given the tree."""
    tokens = _with_tables(tokens)
    found: list[Token] = []
    casts: list[int] = []  # depths of the parentheses of CAST( … )
    depth = positions = at = 0
    while at < len(tokens):
        token = tokens[at]
        kind = token.token_type
        depth += (kind is TokenType.L_PAREN) - (kind is TokenType.R_PAREN)
        if kind is TokenType.R_PAREN and casts and casts[-1] > depth:
            casts.pop()
        if _is_call(tokens, at):
            if token.text.lower() == "cast":
                casts.append(depth + 1)
            found.append(token if _is_kept(tokens, at) else token_at(TokenType.VAR, token.text + MARK, token))
        elif kind is TokenType.PLUS and not _after_operand(found):
            found.append(token_at(TokenType.PIPE_SLASH, "|/", token))
        elif kind is TokenType.ALIAS and casts and casts[-1] == depth:
            end = _end_of_type(tokens, at + 1)
            text = _text(tokens[at + 1 : end])
            found += [token, token_at(TokenType.IDENTIFIER, _TYPE + text.encode().hex(), tokens[at + 1])]
            at = end
            continue
        elif kind is TokenType.STRING and found and found[-1].token_type in _ARROWS:
            found += [token_at(TokenType.L_PAREN, "(", token), token, token_at(TokenType.R_PAREN, ")", token)]
        elif kind is TokenType.PLACEHOLDER:
            positions = _parameter(tokens, at, positions, found)
            at += _has_number(tokens, at)
        elif kind is TokenType.VAR and token.text[0] == "$" and len(token.text) > 1:
            found += [token_at(TokenType.PARAMETER, "$", token), token_at(kind, token.text[1:], token)]
        elif kind is TokenType.COLON and _is_name_after(tokens, at):
            at += 1  # whatever word of SQL the name is
            found += [
                token_at(TokenType.PARAMETER, "$", token),
                token_at(TokenType.VAR, tokens[at].text, tokens[at]),
            ]
        else:
            found.append(token)
        at += 1
    return found


def _with_tables(tokens: list[Token]) -> list[Token]:
    """`IN name`, `IN schema.name` and `IN name(…)` as IN with a query of that table."""
    found: list[Token] = []
    at = 0
    while at < len(tokens):
        token = tokens[at]
        found.append(token)
        at += 1
        if token.token_type is not TokenType.IN or at >= len(tokens):
            continue
        name = tokens[at]
        if name.token_type is TokenType.L_PAREN:
            continue
        end = at + 3 if at + 2 < len(tokens) and tokens[at + 1].token_type is TokenType.DOT else at + 1
        if end < len(tokens) and tokens[end].token_type is TokenType.L_PAREN:
            end = _after_parenthesis(tokens, end)
        found += [token_at(kind, text, name) for kind, text in _ALL_OF]
        found += [*tokens[at:end], token_at(TokenType.R_PAREN, ")", tokens[end - 1])]
        at = end
    return found


def _after_parenthesis(tokens: list[Token], at: int) -> int:
    depth = 0
    while at < len(tokens):
        kind = tokens[at].token_type
        depth += (kind is TokenType.L_PAREN) - (kind is TokenType.R_PAREN)
        at += 1
        if depth == 0:
            break
    return at


def restored(tree: exp.Expr) -> exp.Expr:
    """The tree with the user's names again, and with `x IS TRUE` in every form as the test that it is."""
    for node in list(tree.walk()):
        if isinstance(node, exp.Anonymous | exp.Identifier):
            name = node.this
            if isinstance(name, str) and name.endswith(MARK):
                node.set("this", name[: -len(MARK)])
        elif isinstance(node, exp.DataType):
            kind = node.args.get("kind")
            if kind is not None:
                text = kind.name if isinstance(kind, exp.Expr) else str(kind)
                if not text.startswith(_TYPE):
                    raise ParseError(f"{text} is no type here: SQLite has CAST(… AS {text}), and no ::")
                node.set("kind", bytes.fromhex(text.removeprefix(_TYPE)).decode())
        elif isinstance(node, exp.Sqrt):
            tree = _put(tree, node, exp.Anonymous(this="+", expressions=[node.this]))
        elif isinstance(node, exp.NullSafeEQ | exp.NullSafeNEQ) and isinstance(
            bare(node.expression), exp.Boolean
        ):
            tree = _put(tree, node, _truth_test(node))
    return tree


def _put(tree: exp.Expr, node: exp.Expr, other: exp.Expr) -> exp.Expr:
    """The tree with `other` in the node's place."""
    if node is tree:
        return other
    node.replace(other)
    return tree


def _truth_test(node: exp.Binary) -> exp.Paren:
    """`x IS NOT DISTINCT FROM TRUE`, which is no comparison either."""
    test: exp.Expr = exp.Is(this=node.this, expression=bare(node.expression))
    return exp.Paren(this=exp.Not(this=test) if isinstance(node, exp.NullSafeNEQ) else test)


def _is_call(tokens: list[Token], at: int) -> bool:
    """Whether a name that a parenthesis follows is called (or is a name like any: `WITH c(n)`)."""
    token = tokens[at]
    if at + 1 >= len(tokens) or tokens[at + 1].token_type is not TokenType.L_PAREN:
        return False
    word = token.text.lower()
    if token.token_type in (TokenType.STRING, TokenType.IDENTIFIER) or not word.replace("_", "a").isalnum():
        return False
    if word[0].isdigit() or word in _KEYWORDS:
        return False
    return word not in _OPERATORS or not _after_operand(tokens[:at])


def _is_kept(tokens: list[Token], at: int) -> bool:
    word = tokens[at].text.lower()
    if word in ("min", "max"):
        return _arguments(tokens, at + 1) == 1
    return word in _KEPT


def _arguments(tokens: list[Token], at: int) -> int:
    """How many there are in the parenthesis that opens at `at`."""
    depth, commas = 0, 0
    for i in range(at, len(tokens)):
        kind = tokens[i].token_type
        depth += (kind is TokenType.L_PAREN) - (kind is TokenType.R_PAREN)
        commas += kind is TokenType.COMMA and depth == 1
        if depth == 0:
            return 0 if i == at + 1 else commas + 1
    return 0


def _after_operand(tokens: list[Token]) -> bool:
    if not tokens:
        return False
    last = tokens[-1]
    if last.token_type in _ENDS_OPERAND:
        return True
    return last.text.isidentifier() and last.text.lower() not in _KEYWORDS | _OPERATORS | {"asc", "desc"}


def _end_of_type(tokens: list[Token], at: int) -> int:
    depth = 0
    while at < len(tokens):
        kind = tokens[at].token_type
        if kind is TokenType.R_PAREN and depth == 0:
            return at
        depth += (kind is TokenType.L_PAREN) - (kind is TokenType.R_PAREN)
        at += 1
    return at


def _text(tokens: list[Token]) -> str:
    """A type's words as SQL: `DECIMAL(10,2)`, `BIG INT`."""
    text = ""
    for token in tokens:
        word = token.text
        if token.token_type in (TokenType.STRING, TokenType.IDENTIFIER):
            word = '"' + word.replace('"', '""') + '"'
        joined = not text or text[-1] in "(," or word in "(),"
        text += word if joined else f" {word}"
    return text


def _has_number(tokens: list[Token], at: int) -> bool:
    """`?5`: a number right after the question mark."""
    if at + 1 >= len(tokens):
        return False
    after = tokens[at + 1]
    return after.token_type is TokenType.NUMBER and after.start == tokens[at].end + 1


def _parameter(tokens: list[Token], at: int, positions: int, found: list[Token]) -> int:
    """`?` is one more than the greatest so far, as SQLite counts; gives the greatest so far."""
    number = int(tokens[at + 1].text) if _has_number(tokens, at) else positions + 1
    token = tokens[at]
    found += [token_at(TokenType.PARAMETER, "$", token), token_at(TokenType.NUMBER, str(number), token)]
    return max(positions, number)


def _is_name_after(tokens: list[Token], at: int) -> bool:
    return at + 1 < len(tokens) and tokens[at + 1].start == tokens[at].end + 1


def trees(sql: str) -> list[exp.Expr]:
    """The statements in a text; raises sqlglot's errors."""
    dialect = sqlglot.Dialect.get_or_raise("sqlite")
    found = dialect.parser().parse(mended(dialect.tokenize(sql)), sql)
    return [restored(tree) for tree in found if tree is not None]
