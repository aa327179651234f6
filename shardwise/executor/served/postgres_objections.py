"""What PostgreSQL has against a statement, as errors of ours."""

from __future__ import annotations

import re

from shardwise.errors import (
    BudgetExceeded,
    Cancelled,
    DataError,
    DeadlineExceeded,
    Error,
    NotSupportedError,
    ProgrammingError,
    Reason,
    SQLSyntaxError,
    UnknownName,
)

_NAMED = re.compile(r'"((?:[^"]|"")*)"|(?:column|function) ([\w.]+)')


def objection_of(state: str, message: str, hint: str | None) -> Error:
    found = _NAMED.search(message)
    name = (found[1] or found[2] or "") if found else ""
    if state == "42703":
        return UnknownName(f'column "{name}" does not exist')
    if state == "42P01":
        return UnknownName(f'table "{name}" does not exist', reason=Reason.UNKNOWN_TABLE, sqlstate=state)
    if state == "42702":
        return UnknownName(message, reason=Reason.AMBIGUOUS_COLUMN, sqlstate=state, hint=hint)
    if state == "42883":
        return UnknownName(message, reason=Reason.NOT_SUPPORTED, sqlstate=state, hint=hint)
    if state == "42601":
        return SQLSyntaxError(message)
    if state == "57014":
        is_timeout = "timeout" in message
        return DeadlineExceeded(message) if is_timeout else Cancelled("the statement was cancelled")
    if state[:2] in ("53", "54"):
        return BudgetExceeded(
            f"the merge needs more than its server allows: {message}",
            hint=hint or "Narrow the query, or raise the server's limit",
            sqlstate=state,
        )
    if state[:2] in ("21", "22"):
        return DataError(message, sqlstate=state, hint=hint)
    if state[:2] == "0A":
        return NotSupportedError(message, sqlstate=state, hint=hint or _instead(message))
    return ProgrammingError(message, sqlstate=state, hint=hint)


def _instead(message: str) -> str | None:
    """What may be written for what PostgreSQL has not, where it does not say."""
    if message.startswith("FULL JOIN"):
        return "Write a LEFT JOIN, and by UNION ALL the right side's rows for which no left one EXISTS"
    return None
