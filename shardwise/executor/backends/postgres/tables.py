"""What the server says of a table's columns, and whether that will do for the catalog's types.

`columns_of` gives each column's type as SQL: `numeric(15,2)`, an enumeration with its members, a domain as
its base, and the collation where it is not the database's. A column suits a declared type if its values
compare, sort and group as that type's do. Text does with any deterministic collation, for its equality is
that of bytes, and what is ordered by says its collation; `character(n)`, which ignores blanks at the end,
suits a column declared CHAR alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from shardwise.catalog.postgres_collations import LOOSE
from shardwise.executor.backends.base import Columns, ReadColumn
from shardwise.executor.backends.postgres.session import Session

_COLUMNS = """
WITH RECURSIVE asked AS (
    SELECT attnum, attname, atttypid AS type, atttypmod AS modifier, attcollation AS collated
    FROM pg_attribute WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped
), based AS (
    SELECT * FROM asked
    UNION ALL
    SELECT attnum, attname, t.typbasetype, CASE WHEN modifier < 0 THEN t.typtypmod ELSE modifier END, collated
    FROM based JOIN pg_type t ON t.oid = type AND t.typtype = 'd'
)
SELECT attname,
       CASE WHEN t.typtype = 'e' THEN
           (SELECT 'ENUM(' || string_agg(quote_literal(enumlabel), ', ' ORDER BY enumsortorder) || ')'
            FROM pg_enum WHERE enumtypid = t.oid)
       ELSE format_type(b.type, b.modifier) END,
       CASE WHEN c.collname <> 'default' THEN quote_ident(c.collname) END,
       NOT coalesce(c.collisdeterministic, true)
FROM based b JOIN pg_type t ON t.oid = b.type AND t.typtype <> 'd'
LEFT JOIN pg_collation c ON c.oid = b.collated
ORDER BY attnum
"""


def columns_of(session: Session, table: str) -> Columns:
    """Names and types in order; none if there is no such table. `table` is SQL text."""
    rows = session.query(_COLUMNS, [table])
    return tuple(
        (str(name), _shown(str(type_), collation, loose == "t")) for name, type_, collation, loose in rows
    )


def _shown(type_: str, collation: str | None, is_loose: bool) -> str:
    suffix = f" COLLATE {collation}" if collation is not None else ""
    return f"{type_}{suffix}{LOOSE if is_loose else ''}"


def suits(found: str, column: ReadColumn, normal: Callable[[str], str | None]) -> str | None:
    """`Backend.suits`."""
    _, declared, _ = column
    return _suits(found, declared, normal(declared) or declared)


@lru_cache(maxsize=4096)
def _suits(found: str, written: str, declared: str) -> str | None:
    type_, _, _ = found.partition(" COLLATE ")
    if found.endswith(LOOSE):
        return found
    if _same(type_) in (_same(declared), _same(written)):
        return None
    if type_.endswith("[]") and declared.endswith("[]"):
        return None if _suits(type_[:-2], written.removesuffix("[]"), declared[:-2]) is None else found
    base, _, arguments = type_.partition("(")
    wanted, _, limits = declared.partition("(")
    if base in _WIDTHS:
        is_good = _WIDTHS[base] <= _HOLDS.get(wanted, 0)
    elif base == "numeric":
        is_good = _suits_numeric(arguments.rstrip(")"), wanted, limits.rstrip(")"))
    elif base == "character":
        is_good = wanted == "VARCHAR" and _CHAR.match(written) is not None
    else:
        is_good = wanted in _SUITING.get(re.sub(r"\(\d+\)", "", type_), ())
    return None if is_good else found


_WIDTHS = {"smallint": 16, "integer": 32, "bigint": 64}
_HOLDS = {
    # PostgreSQL has no narrower type, and none without sign: values are compared with the range as they come.
    "TINYINT": 16, "UTINYINT": 16, "SMALLINT": 16, "USMALLINT": 32, "INTEGER": 32, "UINTEGER": 64,
    "BIGINT": 64, "UBIGINT": 64, "HUGEINT": 64, "UHUGEINT": 64,
}  # fmt: skip
_CHAR = re.compile(r"\s*(CHAR|CHARACTER|BPCHAR|NCHAR)\s*(\(|$)", re.IGNORECASE)
_SUITING = {
    "boolean": ("BOOLEAN",),
    "text": ("VARCHAR",),
    "character varying": ("VARCHAR",),
    "name": ("VARCHAR",),
    "double precision": ("DOUBLE",),
    "real": ("FLOAT",),
    "bytea": ("BLOB",),
    "uuid": ("UUID",),
    "json": ("JSON",),
    "jsonb": ("JSON",),
    "date": ("DATE",),
    "time without time zone": ("TIME",),
    "time with time zone": ("TIME WITH TIME ZONE",),
    "timestamp without time zone": ("TIMESTAMP",),
    "timestamp with time zone": ("TIMESTAMP WITH TIME ZONE",),
    "interval": ("INTERVAL",),
    "oid": ("UINTEGER", "BIGINT"),
}


def _suits_numeric(arguments: str, wanted: str, limits: str) -> bool:
    """Of any precision if it has none of its own: values are compared with the range as they come."""
    precision, scale = [*arguments.split(","), "0"][:2] if arguments else ("", "")
    if wanted == "DECIMAL":
        digits, decimals = limits.split(",")
        return not precision or (int(precision) <= int(digits) and int(scale) == int(decimals))
    if wanted in ("UBIGINT", "HUGEINT", "UHUGEINT"):
        return bool(precision) and int(scale) == 0
    return False


def _same(type_: str) -> str:
    return re.sub(r"\s*([(),])\s*", r"\1", type_).casefold()
