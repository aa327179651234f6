"""The postgres dialect's: keys and rows as lists."""

from __future__ import annotations

from datetime import time
from typing import Final
from uuid import UUID

from sqlglot import exp

from shardwise.catalog.types import Family, read_type
from shardwise.planner.early_values.servers import KINDS, ServerValues

_ROWS: Final = {**KINDS, Family.TIME: (time,), Family.BOOL: (bool,), Family.UUID: (UUID,)}
_TEXTS: Final = {
    **dict.fromkeys(("CHAR", "CHARACTER", "BPCHAR"), "bpchar"),
    **dict.fromkeys(("TEXT", "VARCHAR", "CHARACTER VARYING", "CHAR VARYING"), "text"),
}


class PostgresValues(ServerValues):
    """A list of texts is of no length, which would cut them."""

    def is_among(self, column: exp.Expr, keys: exp.Expr, type_text: str) -> exp.Expr:
        found = read_type(type_text, self._dialect)
        of_list = self._texts.get(found.name) if found is not None else None
        return super().is_among(column, keys, of_list or type_text)


POSTGRES_VALUES: Final = PostgresValues(
    "postgres", frozenset({"REAL", "FLOAT4", "MONEY", "OID"}), _ROWS, _TEXTS
)
