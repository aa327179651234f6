"""`--param` texts to values."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

import sqlglot
from sqlglot import TokenType
from sqlglot.errors import SqlglotError

from shardwise.dbapi.statements import Show, parse
from shardwise.errors import NotSupportedError, ProgrammingError, Reason


def parameters(sql: str, given: Sequence[str]) -> Sequence[Any] | Mapping[str, Any]:
    """A sequence if the statement has `?` (or nothing was given), else a mapping from NAME=VALUE."""
    if not given or _has_qmark(sql):
        return [value(text) for text in given]
    named = {}
    for text in given:
        name, equals, rest = text.partition("=")
        if not equals or not name.isidentifier():
            raise ProgrammingError(
                "the statement has no ?, so each --param is NAME=VALUE for a :NAME",
                reason=Reason.PARAMETERS,
                hint="Write --param city=Oslo for :city",
            )
        named[name] = value(rest)
    return named


def value(text: str) -> Any:
    """Numbers, true, false, null, lists and "quoted text" as in JSON; anything else is text as it stands."""
    try:
        return json.loads(text, parse_float=Decimal, parse_constant=_no_constant)
    except ValueError:
        return text


def _no_constant(name: str) -> Any:
    raise ValueError(name)


def _has_qmark(sql: str) -> bool:
    try:
        statement = parse(sql)
        tokens = sqlglot.tokenize(sql if isinstance(statement, Show) else statement.sql, read="duckdb")
    except (SqlglotError, ProgrammingError, NotSupportedError):
        return "?" in sql
    return any(token.token_type is TokenType.PLACEHOLDER for token in tokens)
