"""What `catalog check` finds, and what `catalog import` could not make one."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """Stable names; docs/cli.md says what to do about each."""

    SHARD_UNAVAILABLE = "shard-unavailable"
    MISSING_TABLE = "missing-table"
    EXTRA_TABLE = "extra-table"
    MISSING_COLUMN = "missing-column"
    EXTRA_COLUMN = "extra-column"
    COLUMN_TYPE = "column-type"
    NULLABILITY = "nullability"
    COLLATION = "collation"
    KEY = "key"
    WRONG_SHARD = "wrong-shard"
    DUPLICATE_KEY = "duplicate-key"
    SPELLING = "spelling"
    NOT_EXACT = "not-exact"
    REFERENCE_DIFFERS = "reference-differs"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One difference: where it is, what was expected, what was found."""

    kind: Kind
    table: str
    shard: str | None = None
    column: str | None = None
    expected: str | None = None
    found: str | None = None
    is_error: bool = True

    def __str__(self) -> str:
        where = f"{self.table}.{self.column}" if self.column else self.table
        on = f" on shard {self.shard}" if self.shard else ""
        if self.kind in (Kind.SHARD_UNAVAILABLE, Kind.NOT_EXACT):
            return f"{self.kind}: {where}{on}: {self.found}"
        facts = [f"expected {self.expected}"] if self.expected else []
        facts += [f"found {self.found}"] if self.found else []
        return f"{self.kind}: {where}{on}" + (f": {', '.join(facts)}" if facts else "")
