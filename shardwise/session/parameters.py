"""The user's text and values as DuckDB takes them, to describe a statement. Positions in the text stay."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, time
from typing import Any, Final

import sqlglot
from sqlglot import exp
from sqlglot.tokenizer_core import TokenType

from shardwise.errors import DataError, ProgrammingError, Reason
from shardwise.planner.dialects.postgres_tokens import without_operators
from shardwise.planner.tokens import parameters

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


def for_server(sql: str, params: Parameters, *, dialect: str) -> tuple[str, Mapping[str, Any]]:
    """Parameters as the dialect's own generator writes them: `:p1` of MySQL, `%(p1)s` of PostgreSQL."""
    if not params:
        return sql, {}
    written = sqlglot.Dialect.get_or_raise(dialect).tokenize(sql)
    tokens = list(parameters(without_operators(written) if dialect == "postgres" else written))
    parts: list[str] = []
    at = 0
    for before, mark, name in zip([None, *tokens], tokens, tokens[1:], strict=False):
        is_one = mark.token_type is TokenType.PARAMETER and name.token_type in (
            TokenType.NUMBER,
            TokenType.VAR,
        )
        if not is_one or mark.start < at:
            continue
        marker = exp.Placeholder(this=f"p{name.text}" if name.text.isdigit() else name.text).sql(dialect)
        is_list = before is not None and before.token_type is TokenType.IN
        parts += (sql[at : mark.start], f"({marker})" if is_list else marker)
        at = mark.start + 1 if name.start == mark.start else name.end + 1
    values = params if isinstance(params, Mapping) else {f"p{i + 1}": v for i, v in enumerate(params)}
    return "".join([*parts, sql[at:]]), _named(values)


def _named(values: Mapping[str, Any]) -> Mapping[str, Any]:
    return {n: list(v) if isinstance(v, tuple | set | frozenset) else v for n, v in values.items()}


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
