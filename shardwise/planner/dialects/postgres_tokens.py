"""PostgreSQL's tokens as sqlglot reads them right: what it would take otherwise is hidden from it in them.

`postgres_reading` says what is hidden, and how.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from sqlglot.errors import ParseError
from sqlglot.tokenizer_core import Token, TokenType

from shardwise.planner.families import words
from shardwise.planner.made_tokens import token_at

MARK: Final = "\ue001"
_KEPT: Final = words("avg coalesce count max min percentile_cont percentile_disc sum")
"""Functions that plans reason about."""
_WITH_WORDS: Final[dict[str, frozenset[str]]] = {
    "extract": words("from"),
    "substring": words("from for similar"),
    "trim": words("from both leading trailing"),
    "position": words("in"),
    "overlay": words("placing"),
    "cast": words("as"),
}
"""Functions whose arguments may be parted by words: they are sqlglot's to read where they are."""
_KEYWORDS: Final = words(
    """
    all and any array as asc between by case collate cross cube desc distinct else end escape except exclude
    exists fetch filter first following for from full group grouping having ilike in inner intersect into is
    isnull join lateral like limit materialized natural next not notnull null offset on only operator or
    order ordinality outer over overlaps partition preceding recursive rollup rows select sets similar some
    symmetric tablesample then to union using values variadic when where window with within
    """
)
"""Words that a parenthesis may follow without calling them."""
_TYPES: Final = words(
    """
    bigint bool boolean box bpchar bytea char character cidr circle citext date daterange decimal float
    float4 float8 hstore inet int int2 int4 int4range int8 int8range integer json jsonb jsonpath line lseg
    macaddr money numeric numrange oid path pg_lsn point polygon real smallint text time timestamp
    timestamptz timetz tsquery tsrange tstzrange tsvector uuid varbit varchar xml
    """
)
"""Types that may stand before their literal: DATE '2024-01-01'."""
_FIELDS: Final = words("year month day hour minute second")
_CLOCKS: Final = {
    TokenType.CURRENT_TIMESTAMP: "timestamptz",
    TokenType.CURRENT_TIME: "timetz",
    TokenType.LOCALTIMESTAMP: "timestamp",
    TokenType.LOCALTIME: "time",
}
_NO_OPERATORS: Final = {
    TokenType.PIPE_SLASH: ("|/", "dsqrt(x)"),
    TokenType.DPIPE_SLASH: ("||/", "cbrt(x)"),
}
_ENDS_OPERAND: Final = frozenset(
    {
        *(TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.NUMBER, TokenType.STRING, TokenType.IDENTIFIER),
        *(TokenType.VAR, TokenType.NULL, TokenType.TRUE, TokenType.FALSE, TokenType.END),
    }
)
_STRINGS: Final = (TokenType.STRING, TokenType.HEREDOC_STRING)


def without_operators(tokens: list[Token]) -> list[Token]:
    """The tokens without each `?` that is an operator of jsonb, and no parameter."""
    kept: list[Token] = []
    for before, token in zip([None, *tokens], tokens, strict=False):
        is_operator = before is not None and before.token_type in _ENDS_OPERAND
        if token.token_type is not TokenType.PLACEHOLDER or not is_operator:
            kept.append(token)
    return kept


class Mending:
    """One text's tokens while they are rewritten."""

    def __init__(self, sql: str, tokens: list[Token]) -> None:
        self.sql = sql
        self.tokens = tokens
        self.found: list[Token] = []
        self.at = 0
        self.parameters = 0

    def mended(self) -> list[Token]:
        while self.at < len(self.tokens):
            self._step(self.tokens[self.at])
        return self.found

    def _step(self, token: Token) -> None:
        kind = token.token_type
        if kind in _NO_OPERATORS:
            self._refuse(token, *_NO_OPERATORS[kind])
        elif kind is TokenType.BYTE_STRING:
            self._put(TokenType.STRING, self._escaped(token), token)
        elif kind is TokenType.STRING and self._kind(1) is TokenType.STRING:
            self._continued(token)
        elif kind is TokenType.HEX_STRING and self.sql[token.start] == "0":
            raise ParseError("numbers in base 16 are not read: PostgreSQL 15 has none")
        elif kind is TokenType.NOT and self._text(1) == "!":
            self._refuse(token, "!!", "tsquery's functions")
        elif kind is TokenType.PARAMETER and token.text == "@":
            self._refuse(token, "@", "abs(x)")
        elif kind is TokenType.AMP and self._is_unicode_name():
            raise ParseError('names written U&"…" are not read: write the characters themselves')
        elif kind in (TokenType.PLACEHOLDER, TokenType.QDCOLON):
            self._parameter(token)
        elif kind is TokenType.COLON and self._is_named_parameter():
            self._named_parameter(token)
        elif kind is TokenType.DCOLON:
            self._take()
            self._type()
        elif kind in _CLOCKS and self._text(1) == "(":
            self._clock(token)
        elif self._is_literal_of_type():
            self._typed_literal()
        elif token.text.lower() == "cast" and self._text(1) == "(":
            self._cast()
        elif self._is_call(token):
            self._call(token)
        else:
            self._take()

    # ------------------------------------------------------------------ small steps

    def _take(self) -> None:
        self.found.append(self.tokens[self.at])
        self.at += 1

    def _put(self, kind: TokenType, text: str, at: Token, *, used: int = 1) -> None:
        self.found.append(token_at(kind, text, at))
        self.at += used

    def _text(self, ahead: int) -> str:
        at = self.at + ahead
        return self.tokens[at].text.lower() if at < len(self.tokens) else ""

    def _kind(self, ahead: int) -> TokenType | None:
        at = self.at + ahead
        return self.tokens[at].token_type if at < len(self.tokens) else None

    def _refuse(self, token: Token, operator: str, instead: str) -> None:
        raise ParseError(
            f"the operator {operator} is not read here: use {instead}",
            [{"description": f"the operator {operator} is not read here: use {instead}", "line": token.line,
              "col": token.col, "highlight": token.text}],
        )  # fmt: skip

    def _after_operand(self) -> bool:
        return bool(self.found) and self.found[-1].token_type in _ENDS_OPERAND

    def _is_unicode_name(self) -> bool:
        before, token, after = (
            self.tokens[self.at - 1],
            self.tokens[self.at],
            self.tokens[self.at + 1 : self.at + 2],
        )
        return (
            before.text.lower() == "u"
            and before.end + 1 == token.start
            and bool(after)
            and after[0].token_type is TokenType.IDENTIFIER
            and after[0].start == token.end + 1
        )

    # ------------------------------------------------------------------ parameters

    def _parameter(self, token: Token) -> None:
        """`?` where an operand is wanted; after one it is jsonb's operator."""
        if self._after_operand() and token.token_type is TokenType.PLACEHOLDER:
            self._take()
            return
        self.parameters += 1
        self.found.append(token_at(TokenType.PARAMETER, "$", token))
        self._put(TokenType.NUMBER, str(self.parameters), token)
        if token.token_type is TokenType.QDCOLON:  # `?::` is one token to sqlglot
            self.found.append(token_at(TokenType.DCOLON, "::", token))
            self._type()

    def _is_named_parameter(self) -> bool:
        """`:name`; but not in a slice, a[1:n]."""
        token, after = self.tokens[self.at], self.tokens[self.at + 1 : self.at + 2]
        return (
            bool(after)
            and after[0].start == token.end + 1
            and after[0].text.isidentifier()
            and after[0].token_type is not TokenType.IDENTIFIER
            and not self._after_operand()
            and not (self.found and self.found[-1].token_type is TokenType.L_BRACKET)
        )

    def _named_parameter(self, token: Token) -> None:
        name = self.tokens[self.at + 1]
        self.found.append(token_at(TokenType.PARAMETER, "$", token))
        self._put(TokenType.VAR, name.text, name, used=2)

    # ------------------------------------------------------------------ types

    def _type(self) -> None:
        """A type's name, as sqlglot reads it."""
        token = self.tokens[self.at] if self.at < len(self.tokens) else None
        if token is None:
            return
        if token.text.lower() == "bit" and self._text(1) == "varying":
            self._put(TokenType.VAR, "varbit", token, used=2)
        elif token.text.lower() == "interval":
            self._interval_type()
        else:
            self._take()
            while self._text(0) in ("varying", "precision"):
                self._take()
        while self._kind(0) is TokenType.DOT:
            self._take()
            self._take()
        if self._text(0) == "(" and self.found[-1].text != ")":
            self._parenthesis()
        if self._text(0) in ("with", "without") and self._text(1) == "time" and self._text(2) == "zone":
            for _ in range(3):
                self._take()
        self._dimensions()

    def _interval_type(self) -> None:
        self._take()
        if self._text(0) == "(":
            raise ParseError("a precision of INTERVAL is not read: use date_trunc, or round the seconds")
        if self._text(0) in _FIELDS:
            self._take()
            if self._text(0) == "to" and self._text(1) in _FIELDS:
                self._take()
                self._take()

    def _dimensions(self) -> None:
        """`[3]` and ARRAY as `[]`: PostgreSQL takes no notice of how long an array is said to be."""
        while True:
            here = self.tokens[self.at] if self.at < len(self.tokens) else None
            if here is None:
                return
            is_array = here.token_type is TokenType.ARRAY and self._text(1) != "("
            if is_array:
                self.at += 1
                if self._kind(0) is not TokenType.L_BRACKET:
                    self._brackets(here, used=0)
                    return
            if self._kind(0) is not TokenType.L_BRACKET:
                return
            if self._kind(1) is TokenType.R_BRACKET:
                self._brackets(here, used=2)
            elif self._kind(1) is TokenType.NUMBER and self._kind(2) is TokenType.R_BRACKET:
                self._brackets(here, used=3)
            else:
                return

    def _brackets(self, at: Token, *, used: int) -> None:
        self.found += [token_at(TokenType.L_BRACKET, "[", at), token_at(TokenType.R_BRACKET, "]", at)]
        self.at += used

    def _parenthesis(self) -> None:
        """All of a parenthesis, as it is."""
        depth = 0
        while self.at < len(self.tokens):
            kind = self.tokens[self.at].token_type
            depth += (kind is TokenType.L_PAREN) - (kind is TokenType.R_PAREN)
            self._take()
            if depth == 0:
                return

    def _is_literal_of_type(self) -> bool:
        word = self._text(0)
        if self.found and self.found[-1].token_type is TokenType.DOT:
            return False
        if self.tokens[self.at].token_type is TokenType.IDENTIFIER or word not in _TYPES | {"interval"}:
            return word == "double precision" and self._kind(1) in _STRINGS
        if word == "interval":
            return self._kind(1) in (*_STRINGS, TokenType.BYTE_STRING, TokenType.L_PAREN)
        return self._kind(self._length_of_type()) in (*_STRINGS, TokenType.BYTE_STRING)

    def _length_of_type(self) -> int:
        ahead = 1
        if self._text(ahead) == "varying":
            ahead += 1
        if self._text(ahead) == "(":
            while self._text(ahead) not in (")", ""):
                ahead += 1
            ahead += 1
        if self._text(ahead) in ("with", "without") and self._text(ahead + 1) == "time":
            ahead += 3
        return ahead

    def _typed_literal(self) -> None:
        """`type 'text'` as `CAST('text' AS type)`."""
        first = self.tokens[self.at]
        length = 1 if first.text.lower() in ("interval", "double precision") else self._length_of_type()
        if first.text.lower() == "interval" and self._text(1) == "(":
            self._interval_type()
        begin = self.at
        literal = self.tokens[begin + length]
        text = self._escaped(literal) if literal.token_type is TokenType.BYTE_STRING else literal.text
        self.found += [token_at(TokenType.VAR, "CAST", first), token_at(TokenType.L_PAREN, "(", first)]
        self.found += [token_at(TokenType.STRING, text, literal), token_at(TokenType.ALIAS, "AS", first)]
        if first.text.lower() == "interval":
            self.found.append(first)
            self.at = begin + 2
            fields = len(self.found)
            if self._text(0) in _FIELDS:
                self._take()
                if self._text(0) == "to" and self._text(1) in _FIELDS:
                    self._take()
                    self._take()
            if self._text(0) == "(" and len(self.found) > fields:
                raise ParseError("a precision of INTERVAL is not read: use date_trunc, or round the seconds")
        else:
            self._type()
            self.at = begin + length + 1
        self.found.append(token_at(TokenType.R_PAREN, ")", literal))

    def _cast(self) -> None:
        """CAST( … AS type): the type starts at the last AS of this parenthesis."""
        self._take()
        self._take()
        depth, end, as_ = 1, self.at, None
        while end < len(self.tokens) and depth:
            kind = self.tokens[end].token_type
            depth += (kind is TokenType.L_PAREN) - (kind is TokenType.R_PAREN)
            if depth == 1 and kind is TokenType.ALIAS:
                as_ = end
            end += 1
        if as_ is None:
            return
        while self.at < as_:
            self._step(self.tokens[self.at])
        self._take()
        self._type()

    # ------------------------------------------------------------------ calls

    def _is_call(self, token: Token) -> bool:
        """Whether a name that a parenthesis follows is called (or is a name like any: WITH c(n))."""
        if self._text(1) != "(" or token.token_type in (*_STRINGS, TokenType.NUMBER, TokenType.PARAMETER):
            return False
        word = token.text.lower()
        if token.token_type is TokenType.IDENTIFIER:
            return True
        return word.replace("_", "a").isalnum() and not word[0].isdigit() and word not in _KEYWORDS

    def _call(self, token: Token) -> None:
        word = token.text if token.token_type is TokenType.IDENTIFIER else token.text.lower()
        is_kept = word in _KEPT and not (self.found and self.found[-1].token_type is TokenType.DOT)
        if is_kept or (word in _WITH_WORDS and not _WITH_WORDS[word].isdisjoint(self._words())):
            self._take()
        elif token.token_type is TokenType.IDENTIFIER:
            self._put(TokenType.IDENTIFIER, token.text + MARK, token)
        else:
            self._put(TokenType.VAR, word + MARK, token)

    def _words(self) -> Iterator[str]:
        """The words of the parenthesis that comes next, without those of parentheses in it."""
        depth = 0
        for token in self.tokens[self.at + 1 :]:
            depth += (token.token_type is TokenType.L_PAREN) - (token.token_type is TokenType.R_PAREN)
            if depth == 0:
                return
            if depth == 1 and token.token_type not in (*_STRINGS, TokenType.IDENTIFIER):
                yield token.text.lower()

    def _clock(self, token: Token) -> None:
        """`current_timestamp(3)` as a cast, whose type has the precision."""
        self.found += [token, token_at(TokenType.DCOLON, "::", token)]
        self._put(TokenType.VAR, _CLOCKS[token.token_type], token)
        self._parenthesis()

    # ------------------------------------------------------------------ strings

    def _continued(self, token: Token) -> None:
        """Texts in quotes on several lines are one."""
        text, end = token.text, token
        while self._kind(1) is TokenType.STRING:
            self.at += 1
            after = self.tokens[self.at]
            if "\n" not in self.sql[end.end + 1 : after.start]:
                raise ParseError("a text in quotes goes on only in another line")
            text, end = text + after.text, after
        self._put(TokenType.STRING, text, token)

    def _escaped(self, token: Token) -> str:
        """The characters of E'…'."""
        written = self.sql[token.start : token.end + 1]
        inner = written[written.index("'") + 1 : -1]
        if _BYTES.search(inner):
            raise ParseError("characters given as bytes, \\x80 and up, are not read: write the characters")
        found = re.sub(_ESCAPE, _character, inner)
        return found.encode("utf-16", "surrogatepass").decode("utf-16")


_ESCAPE: Final = re.compile(
    r"\\u([0-9a-fA-F]{4})|\\U([0-9a-fA-F]{8})|\\x([0-9a-fA-F]{1,2})|\\([0-7]{1,3})|\\(.)|''", re.DOTALL
)
_BYTES: Final = re.compile(r"(?<!\\)(?:\\\\)*\\(?:x[89a-fA-F][0-9a-fA-F]|[2-7][0-7]{2})")
_SINGLE: Final = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


def _character(match: re.Match[str]) -> str:
    short, long, base16, base8, one = match.groups()
    if short or long:
        return chr(int(short or long, 16))
    if base16:
        return chr(int(base16, 16))
    if base8:
        return chr(int(base8, 8))
    return _SINGLE.get(one, one) if one else "'"
