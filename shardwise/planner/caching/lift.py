"""Taking a statement's literals out, so that statements that differ only in them share a plan.

    SELECT name FROM users WHERE id = 42 AND kind = 'x' LIMIT 5
    =>  SELECT name FROM users WHERE id = $‹0› AND kind = $‹1› LIMIT 5        with (42, 'x')

Only a literal that a column is compared with, in WHERE or ON, is taken out: there planning treats it as it
treats a parameter. All others stay, for they decide something: ORDER BY 2, LIMIT 5, DECIMAL(9, 2), round(x,
1), INTERVAL '1 day', a format, and all in a select list, where DuckDB names a column `(x + 1)` by its text.

It is done twice. `cut` looks at the text alone, fast, and finds what may be a literal; `lift` looks at the
tree, once for all texts that are cut alike, and says which of them are taken out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from shardwise.plan.holes import DAY, HOLES_MAX, LIKE, MARK, MOMENT, Written, hole, shape_of

_PARTS: Final = re.compile(
    r"""( '(?:[^']|'')*' (?!') | "(?:[^"]|"")*" | (?<![\w.$@:\#])\d+(?:\.\d+)?(?![\w.]) | [\w&]' )""",
    re.VERBOSE,
)
_ODD: Final = re.compile(r"--|/\*|\$\w*\$")
"""Comments and $$ strings: such a text is left as it is, and so is one with a prefixed string (E'…')."""


class Cut(NamedTuple):
    """A text in parts, in turn what stands between literals (quoted names too) and what may be one."""

    parts: tuple[str, ...]

    @property
    def literals(self) -> tuple[str, ...]:
        return self.parts[1::2]

    def key(self, lifted: Sequence[int]) -> tuple[str, ...]:
        """Alike of two texts if they differ in the literals of these numbers only, each of its shape."""
        parts = list(self.parts)
        for number in lifted:
            at = 2 * number + 1
            parts[at] = shape_of(parts[at]) or parts[at]
        return tuple(parts)

    def chosen(self, lifted: Sequence[int]) -> tuple[Written, ...]:
        """The literals of these numbers."""
        return tuple([Written(self.parts[2 * number + 1]) for number in lifted])

    @property
    def starts(self) -> dict[int, int]:
        """Where in the text each literal starts, and its number."""
        found, at = {}, 0
        for index, part in enumerate(self.parts):
            if index % 2:
                found[at] = index // 2
            at += len(part)
        return found


def cut(sql: str) -> Cut:
    """The text in parts; all of it one part where it is not certain what is a literal."""
    if _ODD.search(sql) is not None or MARK in sql:
        return Cut((sql,))
    parts = _PARTS.split(sql)
    firsts = {part[0] for part in parts[1::2]}
    if '"' in firsts:
        parts = _names_joined(parts)
        firsts.discard('"')
    return Cut(tuple(parts)) if len(parts) < 2 * HOLES_MAX and firsts <= _LITERAL else Cut((sql,))


_LITERAL: Final = frozenset("'0123456789")


def _names_joined(parts: Sequence[str]) -> list[str]:
    joined = [parts[0]]
    for literal, after in zip(parts[1::2], parts[2::2], strict=True):
        if literal[0] == '"':
            joined[-1] += literal + after
        else:
            joined += (literal, after)
    return joined


class _Numbered(str):
    """A literal token's text, which the parser hands on into the tree."""

    number: int


def numbered(tokens: list[Token], found: Cut) -> list[Token]:
    """The tokens, where the literals that `cut` found know their number."""
    starts = found.starts
    marked = []
    for token in tokens:
        number = starts.get(token.start)
        if number is not None and _is_whole(token, found.literals[number]):
            text = _Numbered(token.text)
            text.number = number
            marked.append(_with_text(token, text))
        else:
            marked.append(token)
    return marked


def _with_text(token: Token, text: str) -> Token:
    return Token(token.token_type, text, line=token.line, col=token.col, start=token.start, end=token.end)


def _is_whole(token: Token, literal: str) -> bool:
    is_literal = token.token_type in (TokenType.STRING, TokenType.NUMBER)
    return is_literal and token.end - token.start + 1 == len(literal)


def lift(tree: exp.Expr, found: Cut) -> tuple[int, ...]:
    """Puts placeholders into the tree for literals that can be taken out; gives these literals' numbers."""
    nodes: dict[int, list[exp.Literal]] = {}
    for literal in tree.find_all(exp.Literal):
        if isinstance(literal.this, _Numbered):
            nodes.setdefault(literal.this.number, []).append(literal)
            literal.set("this", str(literal.this))
    shapes = {number: shape_of(found.literals[number]) for number in nodes}
    lifted = tuple(
        number
        for number in sorted(nodes)
        if all(_is_only_compared(literal, shapes[number]) for literal in nodes[number])
    )
    for index, number in enumerate(lifted):
        shape = shapes[number]
        for literal in nodes[number]:
            literal.replace(exp.Placeholder(this=hole(index), **{LIKE: shape}))
    return lifted


def _is_only_compared(literal: exp.Literal, shape: str | None) -> bool:
    operand: exp.Expr = literal
    if literal.parent is not None and (type(literal.parent) is exp.Neg or _is_moment(literal.parent, shape)):
        operand = literal.parent
    test = operand.parent
    if test is None or shape is None:
        return False
    if type(test) in _COMPARISONS:
        other = test.args["expression"] if operand.arg_key == "this" else test.this
    elif type(test) is exp.Between or (type(test) is exp.In and operand.arg_key == "expressions"):
        other = test.this
    else:
        return False
    return type(other) is exp.Column and other is not operand and _is_in_filter(test)


def _is_moment(expr: exp.Expr, shape: str | None) -> bool:
    """`DATE '…'` and `TIMESTAMP '…'` of such a text: another raises, and even where no shard is asked."""
    if type(expr) is not exp.Cast or expr.args.get("format"):
        return False
    return shape in _MOMENTS.get(expr.to.sql("duckdb"), ())


def _is_in_filter(test: exp.Expr) -> bool:
    """Whether it stands in WHERE or ON, and so does each subquery around it, or in FROM or WITH."""
    child = test
    parent = test.parent
    while parent is not None:
        if child.arg_key not in _PASSED.get(type(parent), ()):
            return False
        child, parent = parent, parent.parent
    return True


_MOMENTS: Final = {"DATE": (DAY,), "TIMESTAMP": (DAY, MOMENT)}
_COMPARISONS: Final = (
    *(exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE),
    *(exp.NullSafeEQ, exp.NullSafeNEQ),
)
_PASSED: Final[dict[type, tuple[str, ...]]] = {
    **dict.fromkeys((*_COMPARISONS, exp.And, exp.Or), ("this", "expression")),
    **dict.fromkeys((exp.Not, exp.Paren, exp.Where, exp.Exists, exp.CTE, exp.Subquery, exp.From), ("this",)),
    exp.In: ("query",),
    exp.Join: ("this", "on"),
    exp.With: ("expressions",),
    exp.Select: ("with_", "from_", "joins", "where"),
    **dict.fromkeys((exp.Union, exp.Intersect, exp.Except), ("with_", "this", "expression")),
}
"""From a node to the arguments through which a filter's literal may be reached."""
