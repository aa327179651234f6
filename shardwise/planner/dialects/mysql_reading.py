"""MySQL's SQL as a tree that comes out again as the same SQL.

sqlglot is made for translating between products. What it would take otherwise is hidden from it in the
tokens, whose positions stay the user's, and put back in the tree (`plan.sql.own_mysql` has the forms):

    length(a)               LENGTH⟨mark⟩(a)             Anonymous("length", …)
    CAST(a AS CHAR(10))     CAST⟨mark, form⟩(a)         Anonymous("CAST⟨mark⟩CAST(⟨hole⟩ AS CHAR(10))", …)
    d + INTERVAL 1 DAY      d + INTERVAL⟨…⟩(1)          likewise
    BINARY a, !a            ||/ a, |/ a                 likewise
    'a\\'b\\%' 'c'            one text, as MySQL reads it
    SELECT a + 1            SELECT a + 1 AS `a + 1`     the name that MySQL gives it

Then the text that the tree comes out as is read again: tokens that are not the same are refused, so that
nothing is ever read otherwise than it was written.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import sqlglot
from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from shardwise.errors import InternalError, NotSupportedError, Reason
from shardwise.plan.sql.own_mysql import HOLE, MARK, is_known, mysql_text
from shardwise.planner.dialects.mysql_column_names import with_names
from shardwise.planner.dialects.mysql_tokens import Mending, check_gaps, joined_texts, without_dual


def trees(sql: str) -> list[exp.Expr]:
    """The statements in a text. Raises sqlglot's errors; NotSupportedError for what would not come back."""
    dialect = sqlglot.Dialect.get_or_raise("mysql")
    tokens = dialect.tokenize(sql)
    _check_words(tokens)
    tokens = mended(tokens, sql)
    found = [restored(tree) for tree in dialect.parser().parse(tokens, sql) if tree is not None]
    if len(found) == 1 and isinstance(found[0], exp.Query | exp.Values):
        _check_comes_back(found[0], tokens)
    return found


def called(node: exp.Expr) -> str:
    """The name of the function that an `Anonymous` calls, in lower case."""
    return str(node.this).split(MARK, 1)[0].lower()


def has_form(node: exp.Expr) -> bool:
    """Whether words stand between a call's arguments."""
    return MARK in str(node.this)


# ------------------------------------------------------------------ tokens


def mended(tokens: list[Token], sql: str) -> list[Token]:
    """The tokens as sqlglot reads them right; `restored` is to be given the tree."""
    check_gaps(tokens, sql)
    return with_names(Mending(joined_texts(without_dual(tokens), sql), sql).mend(), sql)


def _check_words(tokens: list[Token]) -> None:
    """No word has a mark of ours in it, which would be taken out of it again; texts and quoted names may."""
    for token in tokens:
        if token.token_type not in (TokenType.STRING, TokenType.IDENTIFIER) and not {MARK, HOLE}.isdisjoint(
            token.text
        ):
            raise _not_read(f'"{token.text[:40]}" has a character of private use')


# ------------------------------------------------------------------ the tree


def restored(tree: exp.Expr) -> exp.Expr:
    """The tree with the user's names again."""
    for node in list(tree.walk()):
        new: exp.Expr | None = None
        if isinstance(node, exp.Anonymous | exp.Identifier):
            name = node.this
            if isinstance(name, str) and name.endswith(MARK):
                node.set("this", name[: -len(MARK)])
        elif isinstance(node, exp.Sqrt):
            new = exp.Anonymous(this=f"!{MARK}!{HOLE}", expressions=[node.this])
        elif isinstance(node, exp.Cbrt):
            new = exp.Anonymous(this=f"BINARY{MARK}BINARY {HOLE}", expressions=[node.this])
        elif isinstance(node, exp.RegexpLike):
            new = exp.ILike(this=node.this, expression=node.expression)
        if new is not None:
            if node is tree:
                tree = new
            else:
                node.replace(new)
    return tree


# ------------------------------------------------------------------ does it come back?


_NOTHING: Final = frozenset({"as", "asc", "outer", "inner", "all", "not", ";"})
"""Words that stand or not, with the same meaning; NOT's are counted."""
_SAME: Final = {
    "||": "or",
    "&&": "and",
    "!=": "<>",
    "mod": "%",
    "rlike": "regexp",
    "unknown": "null",
    "some": "any",
}


def _check_comes_back(tree: exp.Expr, tokens: list[Token]) -> None:
    unknown = next((n for n in tree.walk() if _is_printed(n) and not is_known(n)), None)
    if unknown is None:
        try:
            text = mysql_text(tree)
        except InternalError as error:
            raise _not_read(error.message) from error
        again = mended(sqlglot.Dialect.get_or_raise("mysql").tokenize(text), text)
        written, printed = list(_canonical(tokens)), list(_canonical(again))
        if written == printed:
            return
        near = next(
            (a for a, b in zip(written, printed, strict=False) if a != b), written[-1] if written else ""
        )
        raise _not_read(f'it is about "{near.split(MARK)[0]}"')
    if isinstance(unknown, exp.JSONExtract | exp.JSONExtractScalar):
        unquoted = isinstance(unknown, exp.JSONExtractScalar)
        raise NotSupportedError(
            f'"{"->>" if unquoted else "->"}" is not read here: MariaDB has no such operator',
            hint=f"Write {'JSON_UNQUOTE(JSON_EXTRACT(…))' if unquoted else 'JSON_EXTRACT(…)'}",
            reason=Reason.NOT_SUPPORTED,
        )
    raise _not_read(f'a "{unknown.key}" is not known')


def _not_read(what: str) -> NotSupportedError:
    return NotSupportedError(
        f"the statement has a form that is not read here as MySQL reads it: {what}",
        hint="Put parentheses around the operands, or write it in another way",
        reason=Reason.NOT_SUPPORTED,
    )


_PARTS: Final = (
    *(exp.From, exp.Join, exp.Where, exp.Group, exp.Having, exp.Limit, exp.Offset, exp.With, exp.CTE),
    *(exp.WindowSpec, exp.If, exp.Distinct, exp.DataType, exp.DataTypeParam, exp.Var, exp.Concat, exp.Rollup),
)


def _is_printed(node: exp.Expr) -> bool:
    """Whether it is a form of its own, not a part of one."""
    return not isinstance(node, _PARTS)


def _canonical(tokens: list[Token]) -> Iterator[str]:
    negations = 0
    for token in tokens:
        kind = token.token_type
        if kind is TokenType.STRING:
            yield f"'{token.text}"
        elif kind is TokenType.IDENTIFIER:
            yield token.text.casefold()
        else:
            word = token.text.casefold()
            word = word[:-1] if word.count(MARK) == 1 and word.endswith(MARK) else word
            word = _SAME.get(word, word)
            negations += word == "not"
            if word not in _NOTHING:
                yield word
    yield str(negations)
