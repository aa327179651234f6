"""DuckDB's errors as ours. All instances here speak JSON errors, so that nothing is guessed from prose."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from shardwise.errors import (
    BudgetExceeded,
    Cancelled,
    DataError,
    Error,
    IntegrityError,
    NotSupportedError,
    OperationalError,
    Position,
    ProgrammingError,
    Reason,
    SQLSyntaxError,
    UnknownName,
)


class Text(NamedTuple):
    """The user's SQL and how many bytes DuckDB was given before it; positions in it are told."""

    sql: str
    before: int = 0


class EngineError(NamedTuple):
    """What DuckDB says: its kind of error ("Binder", "IO", …), the message, and details by name."""

    kind: str
    message: str
    details: dict[str, Any]


def read(error: BaseException) -> EngineError:
    """DuckDB's error from its exception, or from the text that came through an Arrow stream."""
    text = str(error)
    start = text.find('{"exception_type"')
    if start >= 0:
        try:
            details, _ = json.JSONDecoder().raw_decode(text[start:])
        except ValueError:
            details = {}
        if details:
            kind = str(details.pop("exception_type"))
            return EngineError(kind, str(details.pop("exception_message", "")).strip(), details)
    found = _PLAIN.match(text)
    message = text[found.end() :] if found else text
    kind = found[1] if found else type(error).__name__.removesuffix("Exception")
    return EngineError(kind, message.split("\n\nLINE ")[0].strip(), {})


_PLAIN = re.compile(r"([A-Z][A-Za-z ]+?) Error: ")


def translate(error: BaseException, text: Text | None = None) -> Error:
    """Ours for DuckDB's. With `text`, the user's own, names and positions in it are told."""
    if isinstance(error, Error):
        return error
    engine = read(error)
    position = _position(engine, text) if text else None
    make = _KINDS.get(engine.kind, _other)
    ours = make(engine)
    ours.position = position
    return ours


def _position(engine: EngineError, text: Text) -> Position | None:
    try:
        offset = int(engine.details["position"]) - text.before
    except (KeyError, ValueError, TypeError):
        return None
    data = text.sql.encode()
    if not 0 <= offset <= len(data):
        return None
    at = len(data[:offset].decode(errors="ignore"))
    line_start = text.sql.rfind("\n", 0, at) + 1
    word = _WORD.match(text.sql, at)
    return Position(text.sql.count("\n", 0, at) + 1, at - line_start + 1, max(1, len(word[0]) if word else 1))


_WORD = re.compile(r'(?:"(?:[^"]|"")*"|\w+)(?:\.(?:"(?:[^"]|"")*"|\w+))*')


def _parser(engine: EngineError) -> Error:
    return SQLSyntaxError(engine.message)


def _binder(engine: EngineError) -> Error:
    message = engine.message
    ambiguous = _AMBIGUOUS.match(message)
    if ambiguous:
        return UnknownName(
            f'column "{ambiguous[1]}" is ambiguous',
            reason=Reason.AMBIGUOUS_COLUMN,
            sqlstate="42702",
            hint=f"Say which is meant: {ambiguous[2]}" if ambiguous[2] else None,
        )
    column = _COLUMN.match(message)
    if column:
        name = next(group for group in column.groups() if group is not None)
        return UnknownName(f'column "{name}" does not exist', hint=_did_you_mean(message))
    table = _TABLE.match(message)
    if table:
        return UnknownName(
            f'table "{table[1]}" is not in this query',
            reason=Reason.UNKNOWN_TABLE,
            sqlstate="42P01",
            hint=_did_you_mean(message),
        )
    return ProgrammingError(_sentence(message))


_COLUMN = re.compile(
    r'Referenced column "(.+?)" (?:not found|was not found)'
    r'|Table ".+?" does not have a column named "(.+?)"'
    r'|Values list ".+?" does not have a column named "(.+?)"'
)
_TABLE = re.compile(r'Referenced table "(.+?)" not found')
_AMBIGUOUS = re.compile(r'Ambiguous reference to column name "(.+?)"(?: \(use: (.+)\))?')


def _catalog(engine: EngineError) -> Error:
    found = _MISSING.match(engine.message)
    hint = _did_you_mean(engine.message)
    if found is None:
        return ProgrammingError(_sentence(engine.message), hint=hint)
    kind, name = found.groups()
    if kind == "Table":
        return UnknownName(
            f'table "{name}" does not exist', reason=Reason.UNKNOWN_TABLE, sqlstate="42P01", hint=hint
        )
    if "Function" in kind:
        return UnknownName(
            f'function "{name}" does not exist', reason=Reason.NOT_SUPPORTED, sqlstate="42883", hint=hint
        )
    return ProgrammingError(f'{kind.lower()} "{name}" does not exist', hint=hint)


_MISSING = re.compile(r"(Table|[A-Z][\w ]*?) with name (.+?) does not exist")


def _did_you_mean(message: str) -> str | None:
    found = _CANDIDATES.search(message)
    names = re.findall(r'"([^"]+)"', found[1]) if found else []
    return f"Did you mean {' or '.join(names[:3])}?" if names else None


_CANDIDATES = re.compile(r"(?:Candidate bindings|Candidate tables|Did you mean)[: ]+(.+)", re.S)


def _invalid_input(engine: EngineError) -> Error:
    message = engine.message
    if "configuration has been locked" in message:
        return _forbidden(engine)
    if "Values were not provided" in message or "arameter" in message.split(":")[0]:
        return ProgrammingError(_parameters(message), reason=Reason.PARAMETERS, sqlstate="07001")
    return DataError(_sentence(message))


def _parameters(message: str) -> str:
    missing = re.search(r"Values were not provided for the following .*parameters: (.+)", message)
    if missing:
        return f"no value was given for parameter {missing[1]}"
    excess = re.search(r"excess parameters: (.+)", message)
    if excess:
        return f"the statement has no parameter {excess[1]}"
    return _sentence(message)


def _forbidden(engine: EngineError) -> Error:
    return ProgrammingError(
        f"refused: {_sentence(engine.message)}",
        reason=Reason.FORBIDDEN,
        sqlstate="42501",
        hint="SQL reads the catalog's tables and registered ones only: no files, extensions or settings",
    )


def _data(engine: EngineError) -> Error:
    return DataError(_sentence(engine.message))


def _memory(engine: EngineError) -> Error:
    return BudgetExceeded(
        f"the statement needs more memory than it may use: {_sentence(engine.message)}",
        hint="Raise memory_bytes_max or spill_bytes_max, or narrow the query",
        sqlstate="53200",
    )


def _other(engine: EngineError) -> Error:
    return OperationalError(_sentence(engine.message))


_KINDS: dict[str, Callable[[EngineError], Error]] = {
    "Parser": _parser,
    "Syntax": _parser,
    "Binder": _binder,
    "Catalog": _catalog,
    "Invalid Input": _invalid_input,
    "InvalidInput": _invalid_input,
    "Permission": _forbidden,
    "Conversion": _data,
    "Out of Range": _data,
    "OutOfRange": _data,
    "Mismatch Type": _data,
    "Divide by Zero": _data,
    "Decimal": _data,
    "Out of Memory": _memory,
    "OutOfMemory": _memory,
    "INTERRUPT": lambda _: Cancelled("the statement was cancelled"),
    "Interrupt": lambda _: Cancelled("the statement was cancelled"),
    "Not implemented": lambda engine: NotSupportedError(_sentence(engine.message)),
    "NotImplemented": lambda engine: NotSupportedError(_sentence(engine.message)),
    "Constraint": lambda engine: IntegrityError(_sentence(engine.message)),
    "Dependency": lambda engine: ProgrammingError(_sentence(engine.message)),
}


def _sentence(message: str) -> str:
    return message.strip().removesuffix(".").removesuffix("!")
