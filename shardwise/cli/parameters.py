"""`--param` texts to values."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from sqlglot import exp

from shardwise.dbapi import statements
from shardwise.errors import NotSupportedError, ProgrammingError, Reason
from shardwise.planner.parse import parse


def parameters(sql: str, given: Sequence[str]) -> Sequence[Any] | Mapping[str, Any]:
    """A sequence if the statement has `?` or `$1` (or nothing was given), else a mapping from NAME=VALUE."""
    if not given or _is_positional(sql):
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


def _is_positional(sql: str) -> bool:
    """Whether the parameters are `?` or `$1`; so is a text that cannot be read: its error comes later."""
    try:
        found = list(parse(statements.parse(sql).sql).find_all(exp.Placeholder, exp.Parameter))
    except (ProgrammingError, NotSupportedError):
        return True
    return any(parameter.name.isdigit() for parameter in found)
