"""What can go wrong, as PEP 249's tree with our reasons inside.

Every error a user meets says what, why and what to do, quotes names, and never
holds a password, a URL with one, or a parameter's value. `reason` is a stable slug
from `Reason`; the reference page of reasons is made from that enumeration.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class Reason(StrEnum):
    """Why a statement failed, or why a part of it was not pushed to the shards.

    The value is the slug; the docstring-like text of each stands in
    `shardwise.plan.reasons`, from which EXPLAIN and the reference page are made.
    """

    UNKNOWN_TABLE = "unknown-table"
    UNKNOWN_COLUMN = "unknown-column"
    AMBIGUOUS_COLUMN = "ambiguous-column"
    SYNTAX = "syntax"
    PARAMETERS = "parameters"
    CATALOG = "catalog"
    NOT_SUPPORTED = "not-supported"
    FORBIDDEN = "forbidden"
    ENGINE = "engine"
    SHARD_UNAVAILABLE = "shard-unavailable"
    SCHEMA_DRIFT = "schema-drift"
    DEADLINE = "deadline"
    BUDGET = "budget"
    CANCELLED = "cancelled"
    MEMBER_NAME = "member-name"
    MEMBERS_NEEDED = "members-needed"
    SCATTER_REFUSED = "scatter-refused"
    SCOPE = "scope"
    INTERNAL = "internal"


class Position(NamedTuple):
    """A span of a text: 1-based line and column, and length in characters."""

    line: int
    column: int
    length: int = 1


class Warning(Exception):  # noqa: A001  PEP 249 names it so
    """Important, but not an error (PEP 249). Never raised by shardwise itself."""


class Error(Exception):
    """The root of all errors (PEP 249).

    `message` is what and why, `hint` what to do about it; str() joins the two.
    `position` points into the user's own SQL (or catalog text) where known, `shard`
    names the shard concerned, `sqlstate` is the five-character SQLSTATE. `view` names the view whose text
    is wrong, where it is not the statement's own.
    """

    default_reason: Reason = Reason.ENGINE
    default_sqlstate: str = "HY000"

    def __init__(
        self,
        message: str,
        *,
        reason: Reason | None = None,
        hint: str | None = None,
        position: Position | None = None,
        shard: str | None = None,
        sqlstate: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.reason = reason or self.default_reason
        self.hint = hint
        self.position = position
        self.shard = shard
        self.view: str | None = None
        self.sqlstate = sqlstate or self.default_sqlstate

    def __str__(self) -> str:
        return f"{self.message}. {self.hint}" if self.hint else self.message


class InterfaceError(Error):
    """The interface was misused: a closed cursor, a fetch before a query (PEP 249)."""


class DatabaseError(Error):
    """Everything that is about the database (PEP 249)."""


class DataError(DatabaseError):
    """A value does not fit: out of range, not convertible, division by zero (PEP 249)."""

    default_sqlstate = "22000"


class OperationalError(DatabaseError):
    """The database's operation failed, not by the programmer's fault (PEP 249)."""


class IntegrityError(DatabaseError):
    """A source's constraint was violated (PEP 249)."""

    default_sqlstate = "23000"


class InternalError(DatabaseError):
    """Our own bug: a broken invariant. The message names the pass or part (PEP 249)."""

    default_reason = Reason.INTERNAL
    default_sqlstate = "XX000"


class ProgrammingError(DatabaseError):
    """The statement is wrong (PEP 249)."""

    default_sqlstate = "42000"


class NotSupportedError(DatabaseError):
    """Cannot be answered here; the message says which clause and why (PEP 249)."""

    default_reason = Reason.NOT_SUPPORTED
    default_sqlstate = "0A000"


class SQLSyntaxError(ProgrammingError):
    """The text is no SQL of the query's dialect."""

    default_reason = Reason.SYNTAX
    default_sqlstate = "42601"


class UnknownName(ProgrammingError):
    """A table, column or other name that does not exist, or is ambiguous."""

    default_reason = Reason.UNKNOWN_COLUMN
    default_sqlstate = "42703"


class CatalogError(ProgrammingError):
    """The catalog's text or contents are wrong. `file` is where, if it came from one."""

    default_reason = Reason.CATALOG

    def __init__(self, message: str, *, file: str | None = None, **fields: object) -> None:
        super().__init__(message, **fields)  # type: ignore[arg-type]
        self.file = file

    def __str__(self) -> str:
        where = [str(part) for part in (self.file, *(self.position or ())[:2]) if part is not None]
        text = super().__str__()
        return f"{':'.join(where)}: {text}" if where else text


class Unplannable(NotSupportedError):
    """No plan gives the promised answer: names the clause, the reason, and a way out."""


class ShardUnavailable(OperationalError):
    """A shard's source is missing, locked, broken or unreachable; `shard` says which.

    `is_passing`: the same statement may be answered if it is run again at once, for a connection broke, or
    none was free. `is_missing`: there is no such file, folder or database.
    """

    default_reason = Reason.SHARD_UNAVAILABLE
    default_sqlstate = "08001"

    def __init__(
        self, message: str, *, is_passing: bool = False, is_missing: bool = False, **fields: object
    ) -> None:
        super().__init__(message, **fields)  # type: ignore[arg-type]
        self.is_passing = is_passing
        self.is_missing = is_missing


class DeadlineExceeded(OperationalError):
    """The statement's deadline passed; all shards were told to stop."""

    default_reason = Reason.DEADLINE
    default_sqlstate = "57014"


class BudgetExceeded(OperationalError):
    """The statement would move more rows or bytes off the shards than allowed."""

    default_reason = Reason.BUDGET
    default_sqlstate = "54000"


class Cancelled(OperationalError):
    """The statement was cancelled by its user."""

    default_reason = Reason.CANCELLED
    default_sqlstate = "57014"
