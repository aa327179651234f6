"""MySQL's tokens as sqlglot reads them right: what it would take otherwise is hidden from it in them.

`mysql_reading` says what is hidden, and how.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from sqlglot.errors import ParseError
from sqlglot.tokenizer_core import Token, TokenType

from shardwise.errors import NotSupportedError, Reason
from shardwise.plan.sql.own_mysql import HOLE, MARK
from shardwise.planner.families import words
from shardwise.planner.made_tokens import token_at, token_over

_KEPT: Final = words("count sum avg min max group_concat row_number rank dense_rank percent_rank cume_dist")
"""Functions that plans reason about."""
_KEYWORDS: Final = words(
    """
    all and any as between by case cross delete distinct distinctrow div else end escape except exists for
    force from group having ignore in index inner intersect is join key like limit natural not
    offset on or order outer over partition regexp rlike select set some sounds straight_join then
    union use using values when where window with xor recursive lateral collate binary
    """
)
"""Words that a parenthesis may follow without calling them."""
_BARE_CALLS: Final = words(
    """
    current_date current_time current_timestamp localtime localtimestamp utc_date utc_time utc_timestamp
    current_user current_role
    """
)
"""Functions that need no parenthesis."""
_UNITS: Final = words(
    """
    microsecond second minute hour day week month quarter year second_microsecond minute_microsecond
    minute_second hour_microsecond hour_second hour_minute day_microsecond day_second day_minute day_hour
    year_month
    """
)
_PARTED: Final = {
    "cast": ("as",),
    "convert": ("using", ","),
    "extract": (),
    "substring": ("from", "for"),
    "substr": ("from", "for"),
    "mid": ("from", "for"),
    "trim": ("from",),
    "position": ("in",),
    "char": ("using",),
    "weight_string": ("as",),
}
"""Calls whose arguments words part; what follows AS, USING and CONVERT's comma is no expression."""
_SYNONYMS: Final = {"std": "STDDEV", "localtime": "NOW", "localtimestamp": "NOW"}
_ENDS_OPERAND: Final = frozenset(
    {
        *(TokenType.R_PAREN, TokenType.NUMBER, TokenType.STRING, TokenType.IDENTIFIER, TokenType.VAR),
        *(TokenType.HEX_STRING, TokenType.BIT_STRING, TokenType.NATIONAL_STRING, TokenType.NULL),
        *(TokenType.TRUE, TokenType.FALSE, TokenType.END, TokenType.PLACEHOLDER),
        *(TokenType.R_BRACKET,),
    }
)
_SIDES: Final = frozenset(
    {TokenType.CROSS, TokenType.NATURAL, TokenType.LEFT, TokenType.RIGHT, TokenType.OUTER}
)
_AFTER_JOIN: Final = frozenset(
    {
        *(TokenType.JOIN, TokenType.COMMA, TokenType.WHERE, TokenType.GROUP_BY, TokenType.HAVING),
        *(TokenType.ORDER_BY, TokenType.LIMIT, TokenType.UNION, TokenType.INTERSECT, TokenType.EXCEPT),
        *(TokenType.WINDOW, TokenType.LEFT, TokenType.RIGHT, TokenType.CROSS, TokenType.NATURAL),
        *(TokenType.STRAIGHT_JOIN, TokenType.SEMICOLON, TokenType.INNER),
    }
)
_GAP: Final = re.compile(
    r"(?:\s+|/\*(?![!M]).*?\*/|#[^\n]*(?:\n|\Z)|--(?=\s|\Z)[^\n]*(?:\n|\Z)|;)*", re.DOTALL
)
_ESCAPED: Final = {"0": "\0", "b": "\b", "n": "\n", "r": "\r", "t": "\t", "Z": "\x1a", "%": "\\%", "_": "\\_"}


def without_dual(tokens: list[Token]) -> list[Token]:
    """`FROM DUAL` says that there is no table."""
    found: list[Token] = []
    for token in tokens:
        is_dual = token.token_type is TokenType.VAR and token.text.lower() == "dual"
        if is_dual and found and found[-1].token_type is TokenType.FROM:
            found.pop()
        else:
            found.append(token)
    return found


def check_gaps(tokens: list[Token], sql: str) -> None:
    """Between tokens only what MySQL takes for nothing too: `5--1` has no comment."""
    at = 0
    for token in tokens:
        _check_gap(sql, at, token.start)
        at = token.end + 1
    _check_gap(sql, at, len(sql))


def _check_gap(sql: str, start: int, end: int) -> None:
    gap = sql[start:end]
    if _GAP.fullmatch(gap) is None:
        is_run = re.search(r"/\*[!M]", gap) is not None
        raise NotSupportedError(
            "a comment whose text MySQL runs, /*! … */, is not supported"
            if is_run
            else f'"{gap.strip()[:40]}" is read as a comment here, which it is not to MySQL',
            hint="Write its text without the comment's marks" if is_run else "Write -- with a blank after it",
            reason=Reason.NOT_SUPPORTED,
        )


def joined_texts(tokens: list[Token], sql: str) -> list[Token]:
    """Texts as MySQL reads them, those side by side as one."""
    found: list[Token] = []
    for token in tokens:
        if token.token_type is TokenType.STRING:
            text = decoded(sql[token.start : token.end + 1])
            if found and found[-1].token_type is TokenType.STRING:
                before = found.pop()
                found.append(token_over(TokenType.STRING, before.text + text, before, token))
                continue
            found.append(token_at(TokenType.STRING, text, token))
            continue
        found.append(token)
    return found


def decoded(written: str) -> str:
    """The text that a constant stands for, with its quotes."""
    quote, inside = written[0], written[1:-1]
    if quote not in "'\"":
        return inside
    return re.sub(
        rf"\\(.)|{quote}{quote}",
        lambda found: quote if found[1] is None else _ESCAPED.get(found[1], found[1]),
        inside,
        flags=re.DOTALL,
    )


class Mending:
    def __init__(self, tokens: list[Token], sql: str) -> None:
        self.tokens = tokens
        self.sql = sql
        self.positions = 0

    def mend(self) -> list[Token]:
        return self._range(0, len(self.tokens))

    def _range(self, at: int, end: int) -> list[Token]:
        found: list[Token] = []
        while at < end:
            at = self._one(at, end, found)
        return found

    def _one(self, at: int, end: int, found: list[Token]) -> int:
        """Adds what stands at `at`; gives where the next begins."""
        tokens = self.tokens
        token = tokens[at]
        kind, word = token.token_type, self._word(at, found)
        after = tokens[at + 1] if at + 1 < end else None
        special = self._special(at, end, found, word) or self._literal(at, after, found, word)
        if special is not None:
            return special
        if kind in (TokenType.PARAMETER, TokenType.SESSION_PARAMETER, TokenType.COLON_EQ):
            raise NotSupportedError(
                f'"{self.sql[token.start : (after or token).end + 1]}" is not available here: '
                "each statement stands by itself, without a session's variables",
                hint="Give the value as a parameter",
                reason=Reason.FORBIDDEN,
            )
        if word == "full" and after is not None and after.token_type is TokenType.JOIN:
            raise NotSupportedError(
                "FULL JOIN is not MySQL's: it takes FULL for the table's alias",
                hint="Write a LEFT JOIN and a RIGHT JOIN, and UNION between them",
            )
        if kind is TokenType.PLUS and not after_operand(found):
            return at + 1
        if kind is TokenType.JOIN and self._is_bare_join(at, end, found):
            if found[-1].token_type is TokenType.INNER:
                found.pop()
            found += [token_at(TokenType.CROSS, "CROSS", token), token]
            return at + 1
        if kind is TokenType.NOT and token.text == "!":
            found.append(token_at(TokenType.PIPE_SLASH, "|/", token))
        elif word == "binary" and not after_operand(found):
            found.append(token_at(TokenType.DPIPE_SLASH, "||/", token))
        elif kind is TokenType.PLACEHOLDER:
            self.positions += 1
            number = token_at(TokenType.NUMBER, str(self.positions), token)
            found += [token_at(TokenType.PARAMETER, "$", token), number]
        elif kind is TokenType.COLON and after is not None and after.start == token.end + 1:
            found += [token_at(TokenType.PARAMETER, "$", token), after]
            return at + 2
        elif word == "distinctrow":
            found.append(token_at(TokenType.DISTINCT, "DISTINCT", token))
        else:
            found.append(token)
        return at + 1

    def _is_bare_join(self, at: int, end: int, found: list[Token]) -> bool:
        """`a JOIN b`, without ON and USING, which sqlglot takes for a comma."""
        if found and found[-1].token_type in _SIDES:
            return False
        depth = 0
        for token in self.tokens[at + 1 : end]:
            kind = token.token_type
            depth += (kind is TokenType.L_PAREN) - (kind is TokenType.R_PAREN)
            if depth == 0 and kind in (TokenType.ON, TokenType.USING):
                return False
            if depth < 0 or (depth == 0 and kind in _AFTER_JOIN):
                return True
        return True

    def _word(self, at: int, found: list[Token]) -> str:
        """The token in lower case if it may be a word of the language, else nothing."""
        token = self.tokens[at]
        word = token.text.lower()
        is_name = token.token_type in (TokenType.STRING, TokenType.IDENTIFIER)
        is_field = bool(found) and found[-1].token_type is TokenType.DOT
        if is_name or is_field or not word.replace("_", "a").isalnum() or word[0].isdigit():
            return ""
        return word

    def _special(self, at: int, end: int, found: list[Token], word: str) -> int | None:
        """Calls, INTERVAL and LIMIT."""
        token = self.tokens[at]
        after = self.tokens[at + 1] if at + 1 < end else None
        if word == "interval" and after is not None:
            closed = self._interval(at, end, found)
            if closed is not None:
                return closed
        if word and after is not None and after.token_type is TokenType.L_PAREN and self._is_call(at, found):
            return self._call(at, found)
        is_hint = after is not None and after.text.lower() in ("index", "key")
        if is_hint and word in ("use", "force", "ignore"):
            raise NotSupportedError(
                "index hints are not supported: each server chooses its own indexes",
                hint="Leave it out",
                reason=Reason.NOT_SUPPORTED,
            )
        if word in _BARE_CALLS:
            name = _SYNONYMS.get(word, token.text)
            found += [token_at(TokenType.VAR, name + MARK, token), *_empty_parentheses(token)]
            return at + 1
        return self._limit(at, end, found) if word == "limit" else None

    def _literal(self, at: int, after: Token | None, found: list[Token], word: str) -> int | None:
        """DATE '…', _utf8'…', 0x41, and .5, which is a number."""
        token = self.tokens[at]
        kind = token.token_type
        is_typed = word in ("date", "time", "timestamp") and not after_operand(found)
        is_text = after is not None and after.token_type is TokenType.STRING
        if after is not None and is_text and (is_typed or kind is TokenType.INTRODUCER):
            self._form(found, token.text, f"{token.text} {HOLE}", [[after]], token, after)
            return at + 2
        is_number = after is not None and after.token_type is TokenType.NUMBER and not after_operand(found)
        if after is not None and is_number and kind is TokenType.DOT:
            found.append(token_over(TokenType.NUMBER, f"0.{after.text}", token, after))
            return at + 2
        if kind in (TokenType.HEX_STRING, TokenType.BIT_STRING) and self.sql[token.start] == "0":
            self._form(found, "hex", self.sql[token.start : token.end + 1], [], token, token)
            return at + 1
        if kind is TokenType.HEX_STRING:
            self._form(found, "hex", f"x'{token.text}'", [], token, token)
            return at + 1
        return None

    def _is_call(self, at: int, found: list[Token]) -> bool:
        word = self.tokens[at].text.lower()
        if word == "mod":
            return not after_operand(found)
        if word == "values":
            return bool(found) and found[-1].token_type is not TokenType.L_PAREN and _inside(found)
        return word not in _KEYWORDS

    def _call(self, at: int, found: list[Token]) -> int:
        token = self.tokens[at]
        word = token.text.lower()
        close = self._close(at + 1)
        name = _SYNONYMS.get(word, token.text)
        if word == "json_table":
            self._json_table(at, close, found)
            return close + 1
        if word in _PARTED or self._has_interval(word, at + 2, close):
            self._parted(word, at, close, found)
            return close + 1
        if word in ("timestampdiff", "timestampadd", "get_format") and close > at + 3:
            unit = self.tokens[at + 2].text
            parts = self._arguments(at + 4, close)
            form = f"{token.text}({unit}, {', '.join(HOLE for _ in parts)})"
            self._form(found, token.text, form, parts, token, self.tokens[close])
            return close + 1
        kept = word in _KEPT
        found += [
            token if kept else token_at(TokenType.VAR, name + MARK, token),
            self.tokens[at + 1],
            *self._range(at + 2, close),
            self.tokens[close],
        ]
        return close + 1

    def _close(self, at: int) -> int:
        """Where the parenthesis that opens at `at` closes."""
        depth = 0
        for i in range(at, len(self.tokens)):
            kind = self.tokens[i].token_type
            depth += (kind is TokenType.L_PAREN) - (kind is TokenType.R_PAREN)
            if depth == 0:
                return i
        raise ParseError("a parenthesis is not closed")

    def _has_interval(self, word: str, at: int, close: int) -> bool:
        return word in ("date_add", "date_sub", "adddate", "subdate") and any(
            self.tokens[i].text.lower() == "interval" for i in range(at, close)
        )

    def _parted(self, word: str, at: int, close: int, found: list[Token]) -> None:
        """A call as its form and its arguments."""
        tokens, name = self.tokens, self.tokens[at].text
        separators = _PARTED.get(word, ())
        form = f"{name}("
        parts: list[list[Token]] = []
        start = at + 2
        if word == "extract":
            form += f"{tokens[start].text} FROM "
            start += 2
        if word == "trim" and tokens[start].text.lower() in ("leading", "trailing", "both"):
            form += f"{tokens[start].text} "
            start += 1
            if tokens[start].text.lower() == "from":
                form += "FROM "
                start += 1
        begin, depth, i = start, 0, start
        while i <= close:
            kind, text = tokens[i].token_type, tokens[i].text.lower()
            is_end = i == close
            is_separator = depth == 0 and (text in separators or kind is TokenType.COMMA)
            if is_end or is_separator:
                if i > begin:
                    parts.append(self._range(begin, i))
                    form += HOLE
                if is_end:
                    break
                if text in ("as", "using") or (word == "convert" and kind is TokenType.COMMA):
                    form += f"{',' if kind is TokenType.COMMA else f' {text.upper()}'} "
                    form += _words(tokens[i + 1 : close])
                    break
                form += ", " if kind is TokenType.COMMA else f" {text.upper()} "
                begin = i + 1
            depth += (kind is TokenType.L_PAREN) - (kind is TokenType.R_PAREN)
            i += 1
        self._form(found, name, f"{form})", parts, tokens[at], tokens[close])

    def _json_table(self, at: int, close: int, found: list[Token]) -> None:
        """What is after its first argument is no expression: a path, and how columns are found."""
        tokens, depth, end = self.tokens, 0, at + 2
        while end < close and (depth or tokens[end].token_type is not TokenType.COMMA):
            kind = tokens[end].token_type
            depth += (kind is TokenType.L_PAREN) - (kind is TokenType.R_PAREN)
            end += 1
        form = f"{tokens[at].text}({HOLE}{self.sql[tokens[end].start : tokens[close].end + 1]}"
        self._form(found, tokens[at].text, form, [self._range(at + 2, end)], tokens[at], tokens[close])

    def _arguments(self, at: int, close: int) -> list[list[Token]]:
        parts, begin, depth = [], at, 0
        for i in range(at, close + 1):
            kind = self.tokens[i].token_type
            if i == close or (kind is TokenType.COMMA and depth == 0):
                parts.append(self._range(begin, i))
                begin = i + 1
            depth += (kind is TokenType.L_PAREN) - (kind is TokenType.R_PAREN)
        return parts

    def _interval(self, at: int, end: int, found: list[Token]) -> int | None:
        """`INTERVAL e unit`; None where it is the function INTERVAL(…)."""
        depth = 0
        for i in range(at + 1, end):
            kind, word = self.tokens[i].token_type, self.tokens[i].text.lower()
            if depth == 0 and word in _UNITS and i > at + 1 and kind is not TokenType.IDENTIFIER:
                is_called = i + 1 < end and self.tokens[i + 1].token_type is TokenType.L_PAREN
                if not is_called:
                    unit = self.tokens[i]
                    parts = [self._range(at + 1, i)]
                    form = f"INTERVAL {HOLE} {unit.text}"
                    self._form(found, "INTERVAL", form, parts, self.tokens[at], unit)
                    return i + 1
            depth += (kind is TokenType.L_PAREN) - (kind is TokenType.R_PAREN)
            if depth < 0 or (depth == 0 and kind is TokenType.COMMA):
                return None
        return None

    def _limit(self, at: int, end: int, found: list[Token]) -> int:
        """`LIMIT 2, 3` as LIMIT 3 OFFSET 2."""
        tokens = self.tokens
        found.append(tokens[at])
        first: list[Token] = []
        i = at + 1
        if i < end:
            i = self._one(i, end, first)
        if i + 1 < end and tokens[i].token_type is TokenType.COMMA:
            comma, second = tokens[i], list[Token]()
            i = self._one(i + 1, end, second)
            found += [*second, token_at(TokenType.OFFSET, "OFFSET", comma), *first]
        else:
            found += first
        return i

    def _form(
        self, found: list[Token], name: str, form: str, parts: list[list[Token]], first: Token, last: Token
    ) -> None:
        """A call of the form, as one name and its arguments."""
        found += [
            token_at(TokenType.VAR, f"{name}{MARK}{form}{MARK}", first),
            token_at(TokenType.L_PAREN, "(", first),
        ]
        for n, part in enumerate(parts):
            if n:
                found.append(token_at(TokenType.COMMA, ",", part[0]))
            found += part
        found.append(token_at(TokenType.R_PAREN, ")", last))


def _empty_parentheses(token: Token) -> list[Token]:
    return [token_at(TokenType.L_PAREN, "(", token), token_at(TokenType.R_PAREN, ")", token)]


def _inside(tokens: list[Token]) -> bool:
    """Whether a parenthesis is open."""
    kinds = [token.token_type for token in tokens]
    return kinds.count(TokenType.L_PAREN) > kinds.count(TokenType.R_PAREN)


def after_operand(tokens: list[Token]) -> bool:
    if not tokens:
        return False
    last = tokens[-1]
    if last.token_type in (TokenType.VAR, TokenType.IDENTIFIER, TokenType.STRING):
        return last.token_type is not TokenType.VAR or last.text.lower() not in _KEYWORDS
    return last.token_type in _ENDS_OPERAND


def _words(tokens: Sequence[Token]) -> str:
    """A type's words, or a character set's."""
    text = ""
    for token in tokens:
        if token.token_type in (TokenType.STRING, TokenType.IDENTIFIER):
            raise ParseError(f"{token.text} is no type here")
        joined = not text or text[-1] in "(," or token.text in "(),"
        text += token.text.upper() if joined else f" {token.text.upper()}"
    return text
