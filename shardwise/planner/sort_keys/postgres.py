"""Sort keys of the postgres dialect."""

from __future__ import annotations

from typing import Final

from shardwise.catalog.types import ColumnType, Family
from shardwise.plan.run import Compared
from shardwise.planner.sort_keys.servers import ServersSortKeys, decimal

_BY_BYTES: Final = frozenset({"C", "POSIX", "ucs_basic"})
_TEXTS: Final = ("TEXT", "VARCHAR", "CHARACTER VARYING", "CHAR VARYING")


class _Postgres(ServersSortKeys):
    dialect = "postgres"
    nulls_are_least = False
    has_places = False

    def _number(self, type_: ColumnType) -> Compared | None:
        if type_.family is Family.INT:
            return Compared("unsigned" if type_.unsigned else "whole")
        if type_.family is Family.DECIMAL and type_.name != "MONEY" and type_.arguments:
            return decimal((*type_.arguments, "0")[:2])
        is_double = type_.family is Family.FLOAT and type_.name in ("DOUBLE PRECISION", "FLOAT8")
        return Compared("double") if is_double and not type_.arguments else None

    def _moment(self, type_: ColumnType, time_zone: str) -> Compared | None:
        if type_.family is Family.DATE:
            return Compared("day")
        if type_.family in (Family.TIMESTAMP, Family.TIMESTAMPTZ):
            return Compared("moment")
        # f is before t, and a UUID is written in the order of its bytes.
        return Compared("text") if type_.family in (Family.BOOL, Family.UUID) else None

    def _text(self, type_: ColumnType, collation: str) -> Compared | None:
        """`character(n)`, without the blanks at its end, is not among them.

        By bytes of the database's encoding, which no catalog says: the executor looks at it.
        """
        is_trusted = type_.name in _TEXTS and collation.strip('"') in _BY_BYTES
        return Compared("encoded") if is_trusted else None


POSTGRES_SORT_KEYS: Final = _Postgres()
