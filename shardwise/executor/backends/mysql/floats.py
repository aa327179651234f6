"""FLOAT columns, of which the server's text has six digits and the value more: read as DOUBLE.

    SELECT `t`.`f` AS `f` FROM `t` ORDER BY 1
    =>  SELECT CAST(`t`.`f` AS DOUBLE) AS `f` FROM `t` ORDER BY 1

    (SELECT …) UNION ALL (SELECT …)
    =>  WITH q (c0, c1) AS (…) SELECT c0 AS `id`, CAST(c1 AS DOUBLE) AS `f` FROM q

0.1 as FLOAT is 0.10000000149011612 and written 0.1; 16777217 is 16777216 and written 16777200. Only the
answer shows which columns are of the type, so that a text's first answer is thrown away.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Collection, Sequence

from sqlglot.dialects.mysql import MySQL
from sqlglot.tokenizer_core import Token, TokenType

from shardwise.errors import NotSupportedError

_TEXTS_MAX = 500
_OPENS = frozenset((TokenType.L_PAREN,))
_CLOSES = frozenset((TokenType.R_PAREN,))


class Rewritten:
    """What statements with FLOAT columns became, those asked last. Threads may share it."""

    def __init__(self) -> None:
        self._texts: OrderedDict[tuple[object, str], tuple[str, frozenset[int]]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, database: object, sql: str) -> tuple[str, frozenset[int]]:
        """The text instead of `sql` on a database, and which of its columns are FLOAT."""
        return self._texts.get((database, sql), (sql, frozenset()))

    def put(self, database: object, sql: str, found: tuple[str, frozenset[int]]) -> None:
        with self._lock:
            self._texts[database, sql] = found
            while len(self._texts) > _TEXTS_MAX:
                self._texts.popitem(last=False)


def exact(sql: str, names: Sequence[str], floats: Collection[int], *, must: bool) -> str:
    """The statement with the columns `floats` as DOUBLE; `names` are all columns' names.

    Where its order would be lost by that it stays as it is, or is refused if it `must` be exact.
    """
    tokens = MySQL().tokenize(sql)
    items = _items(tokens)
    if items is not None and len(items) == len(names):
        return _in_place(sql, items, names, floats)
    if _is_ordered(tokens):
        if not must:
            return sql
        raise NotSupportedError(
            "FLOAT columns of a UNION with ORDER BY cannot be read exactly from MySQL",
            hint="Cast them in the query: CAST(… AS DOUBLE)",
        )
    columns = ", ".join(f"c{i}" for i in range(len(names)))
    shown = ", ".join(
        f"CAST(c{i} AS DOUBLE) AS {_name(name)}" if i in floats else f"c{i} AS {_name(name)}"
        for i, name in enumerate(names)
    )
    return f"WITH q ({columns}) AS ({sql}\n) SELECT {shown} FROM q"


def _items(tokens: Sequence[Token]) -> list[list[Token]] | None:
    """The tokens of each expression that a plain SELECT lists, one with a WITH before it too; None of what is
    none, or has a `*`."""
    begin = _select(tokens)
    if begin is None:
        return None
    depth, items = 0, [list[Token]()]
    is_listing = True
    for token in tokens[begin + 1 :]:
        kind = token.token_type
        depth += (kind in _OPENS) - (kind in _CLOSES)
        if depth == 0 and kind in _SET_OPERATORS:
            return None
        if depth == 0 and kind in _ENDS:
            is_listing = False
        if not is_listing:
            continue
        if depth == 0 and kind == TokenType.COMMA:
            items.append([])
        elif kind != TokenType.DISTINCT or items[-1]:
            items[-1].append(token)
    return None if any(not item or item[-1].token_type == TokenType.STAR for item in items) else items


def _select(tokens: Sequence[Token]) -> int | None:
    """Where the outermost SELECT is."""
    if not tokens or tokens[0].token_type not in (TokenType.SELECT, TokenType.WITH):
        return None
    depth = 0
    for index, token in enumerate(tokens):
        depth += (token.token_type in _OPENS) - (token.token_type in _CLOSES)
        if depth == 0 and token.token_type == TokenType.SELECT:
            return index
    return None


_SET_OPERATORS = frozenset((TokenType.UNION, TokenType.INTERSECT, TokenType.EXCEPT))
_ENDS = frozenset(
    (
        *(TokenType.FROM, TokenType.WHERE, TokenType.GROUP_BY, TokenType.HAVING, TokenType.ORDER_BY),
        *(TokenType.LIMIT, TokenType.INTO, TokenType.SEMICOLON),
    )
)


def _in_place(sql: str, items: list[list[Token]], names: Sequence[str], floats: Collection[int]) -> str:
    made, begin = [], 0
    for i in sorted(floats):
        first, last = items[i][0], _without_alias(items[i])[-1]
        made.append(f"{sql[begin : first.start]}CAST({sql[first.start : last.end + 1]} AS DOUBLE)")
        made.append(f" AS {_name(names[i])}")
        begin = items[i][-1].end + 1
    return "".join((*made, sql[begin:]))


def _without_alias(item: list[Token]) -> list[Token]:
    depth = 0
    for index, token in enumerate(item):
        depth += (token.token_type in _OPENS) - (token.token_type in _CLOSES)
        if depth == 0 and token.token_type == TokenType.ALIAS:
            return item[:index]
    return item


def _is_ordered(tokens: Sequence[Token]) -> bool:
    depth = 0
    for token in tokens:
        depth += (token.token_type in _OPENS) - (token.token_type in _CLOSES)
        if depth == 0 and token.token_type == TokenType.ORDER_BY:
            return True
    return False


def _name(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
