"""The user's text and values as DuckDB takes them, to describe a statement. Positions in the text stay."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, time
from typing import Any, Final

from shardwise.errors import DataError, ProgrammingError, Reason

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


_INT64: Final = (-(1 << 63), (1 << 63) - 1)


def for_sqlite(params: Parameters) -> Parameters:
    """Values as Python's sqlite3 binds them: dates as ISO text; of a list, for `IN (?)`, each member."""
    return _each(params, _sqlite_value)


def _sqlite_value(value: Any) -> Any:
    if isinstance(value, list | tuple | set | frozenset):
        return [_sqlite_value(member) for member in value]
    if isinstance(value, int):
        if not _INT64[0] <= value <= _INT64[1]:
            raise DataError(
                "a whole number of a parameter does not fit into 64 bits", hint="Give it as a text or a float"
            )
        return int(value)
    if value is None or isinstance(value, float | bytes):
        return value
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, bytearray | memoryview):
        return bytes(value)
    if isinstance(value, datetime):
        return value.isoformat(" ")
    if isinstance(value, date | time):
        return value.isoformat()
    raise ProgrammingError(
        f"a parameter is of type {type(value).__name__}, which SQLite has no value for",
        hint="Give a number, a text, bytes or None",
        reason=Reason.PARAMETERS,
    )


def _text(value: str) -> str:
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise DataError(
            "a text of a parameter is no valid Unicode: it holds half a surrogate pair",
            hint="Give it as bytes",
        ) from error
    return value
