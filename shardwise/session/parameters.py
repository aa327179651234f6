"""The user's text and values as DuckDB takes them, to describe a statement. Positions in the text stay."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

Parameters = Sequence[Any] | Mapping[str, Any]

_TOKENS = re.compile(
    r"""'(?:[^']|'')*' | "(?:[^"]|"")*" | --[^\n]* | /\*.*?\*/ | \$(\w*)\$.*?\$\1\$
    | :: | :(?P<name>[A-Za-z_]\w*)""",
    re.VERBOSE | re.DOTALL,
)


def for_engine(sql: str, params: Parameters) -> tuple[str, Parameters]:
    """`:name` as `$name`; tuples and sets as lists."""
    if isinstance(params, Mapping):
        names = params
        sql = _TOKENS.sub(lambda m: f"${m['name']}" if m["name"] in names else m[0], sql)
    return sql, _each(params, lambda v: list(v) if isinstance(v, tuple | set | frozenset) else v)


def first_of_lists(params: Parameters) -> Parameters | None:
    """Of each list one value, as in `IN (?)`; None if there are no lists."""
    values = params.values() if isinstance(params, Mapping) else params
    if not any(isinstance(value, list) for value in values):
        return None
    return _each(params, lambda v: (v[0] if v else None) if isinstance(v, list) else v)


def _each(params: Parameters, change: Callable[[Any], Any]) -> Parameters:
    if isinstance(params, Mapping):
        return {name: change(value) for name, value in params.items()}
    return [change(value) for value in params]
