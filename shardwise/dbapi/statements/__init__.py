"""The kinds of statements, a file for each family: how its text is read, and how it is answered.

`READERS` lists them by the words they begin with, the longer first. What begins with none of them, and is
not refused (`refused`), is a query, which the planner reads.

To add a kind: a file with a dataclass that is a `Statement` (`base`) and a `read(sql, end)`, where `end` is
the place in the text that follows its words; and a line in `READERS`. A SHOW that lists something is a line
in `shardwise.dbapi.show.LISTS`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Final

from shardwise.dbapi.statements import analyze, describe, explain, index, local, refused, scope, show, use
from shardwise.dbapi.statements.base import Answer, Parameters, Statement
from shardwise.dbapi.statements.describe import Describe
from shardwise.dbapi.statements.explain import Explain
from shardwise.dbapi.statements.query import Query
from shardwise.dbapi.statements.show import Show
from shardwise.dbapi.statements.text import Word, word_at
from shardwise.errors import SQLSyntaxError

Reader = Callable[[str, int], Statement]

READERS: Final[Mapping[str, Reader]] = {
    "analyze": analyze.read,
    "explain": explain.read,
    "repair": index.read_repair,
    "reset scope": scope.read_reset,
    "set scope": scope.read_set,
    "show": show.read,
    "show scope": scope.read_show,
    "describe": describe.read,
    "desc": describe.read,
    "check index": index.read_of_no_kind,
    "check join": index.read_check,
    "check lookup": index.read_check,
    "create index": index.read_of_no_kind,
    "create join": index.read_create,
    "create lookup": index.read_create,
    "create unique": index.read_create,
    "create": local.read_create,
    "drop index": index.read_of_no_kind,
    "drop join": index.read_drop,
    "drop lookup": index.read_drop,
    "drop": local.read_drop,
    "use": use.read,
    "set schema": use.read,
    "set search_path": use.read,
    "reset schema": use.read_reset,
    "reset search_path": use.read_reset,
}
"""By a statement's first word, or its first two ("set scope")."""


def parse(sql: str) -> Statement:
    """The kind of `sql`; a statement that shardwise does not answer raises `NotSupportedError`."""
    return _parse(sql) if len(sql) > _LONG else _parsed_once(sql)


_LONG: Final = 10_000
"""Longer texts are looked at each time."""


def _parse(sql: str) -> Statement:
    try:
        sql.encode()
    except UnicodeEncodeError as error:
        raise SQLSyntaxError("the statement is no valid Unicode: half a surrogate pair is in it") from error
    first = word_at(sql, 0)
    second = word_at(sql, first.end)
    for words, last in ((f"{first.text} {second.text}", second), (first.text, first)):
        reader = READERS.get(words)
        if reader is not None:
            return reader(sql, last.end)
    refused.check(sql, first)
    return Query(sql)


_parsed_once = lru_cache(maxsize=1024)(_parse)


__all__ = [
    "READERS",
    "Answer",
    "Describe",
    "Explain",
    "Parameters",
    "Query",
    "Show",
    "Statement",
    "Word",
    "parse",
]
