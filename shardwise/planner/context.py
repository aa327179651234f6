"""What planning needs from outside, handed in as values: the planner itself has no clock and does no I/O."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from sqlglot import exp

from shardwise.planner.scopes.scope import EVERYTHING, Scope

_DATABASE = ("current_database", "current_catalog")
_NOW = ("now", "current_timestamp", "transaction_timestamp", "get_current_timestamp")


class Seen(NamedTuple):
    """The sort keys of a page's last row, and their types as the engine writes them."""

    values: tuple[Any, ...]
    types: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Context:
    """Named run-time values of one statement.

    `now` is the statement's one moment, aware of its zone; `user` what `current_user` gives;
    `time_zone` the session's zone (IANA name), in which `current_date` and the like are meant; `schema` where
    names without a schema are looked for before the default one (None: only there); `database` is the
    catalog's name; `scope` the rows that the statement may see; `members` the listed
    members of DIRECTORY shardings, by sharding, as texts: a statement that does not name its members cannot
    be planned without (`MembersNeeded`).
    """

    now: datetime = field(default_factory=lambda: datetime(1970, 1, 1, tzinfo=UTC))
    user: str = "shardwise"
    time_zone: str = "UTC"
    scope: Scope = EVERYTHING
    schema: str | None = None
    database: str = "shardwise"
    members: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    after: Seen | None = None
    """Of a statement that is read page by page, where the last page ended."""

    def at(self, now: datetime) -> Context:
        """The same at another moment."""
        after: Context = object.__new__(Context)
        after.__dict__.update(self.__dict__)
        after.__dict__["now"] = now
        return after

    @property
    def shape(self) -> tuple[object, ...]:
        """What plans depend on whatever the statement is; of the rest a plan says whether it does."""
        own = (self.time_zone, self.schema)
        return (*own, self.scope.shape) if self.scope else own

    @property
    def form(self) -> tuple[object, ...]:
        """The same but for the scope's values."""
        own = (self.time_zone, self.schema)
        return (*own, self.scope.form) if self.scope else own

    def value_of(self, call: exp.Expr) -> exp.Expr | None:
        """The constant that a stable function of the duckdb dialect stands for; None if `call` is none.

        >>> Context().value_of(exp.CurrentDate()).sql("duckdb")
        "CAST('1970-01-01' AS DATE)"
        """
        local = self.now.astimezone(ZoneInfo(self.time_zone))
        name = call.name.lower() if type(call) is exp.Anonymous else ""
        if isinstance(call, exp.CurrentTimestamp) or name in _NOW:
            return _cast(self.now.isoformat(sep=" "), "TIMESTAMPTZ")
        if isinstance(call, exp.CurrentDate) or name in ("today", "current_date"):
            return _cast(local.date().isoformat(), "DATE")
        if isinstance(call, exp.Localtimestamp) or name in ("localtimestamp", "current_localtimestamp"):
            return _cast(local.replace(tzinfo=None).isoformat(sep=" "), "TIMESTAMP")
        if isinstance(call, exp.Localtime) or name in ("localtime", "current_localtime"):
            return _cast(local.time().isoformat(), "TIME")
        if isinstance(call, exp.CurrentTime) or name in ("current_time", "get_current_time"):
            return _cast(local.timetz().isoformat(), "TIMETZ")
        if isinstance(call, exp.CurrentUser | exp.SessionUser) or name in (
            "current_user",
            "session_user",
            "user",
        ):
            return exp.Literal.string(self.user)
        if isinstance(call, exp.CurrentSchema) or name == "current_schema":
            return exp.Literal.string(self.schema or "main")
        if isinstance(call, exp.CurrentDatabase | exp.CurrentCatalog) or name in _DATABASE:
            return exp.Literal.string(self.database)
        return None


def _cast(text: str, type_name: str) -> exp.Expr:
    return exp.cast(exp.Literal.string(text), type_name, dialect="duckdb")
