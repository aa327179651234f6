"""Orders that a merge in this process may trust: those in which it compares two values as their source does.

Everything is read off what the catalog declares of a column, and drift is an error of its own: numbers, days
and moments, texts by their bytes or code points.

What is not trusted, and what would go wrong. A collation: a shard has 'a' before 'B', a comparison of bytes
'B' before 'a'. FLOAT in the mysql dialect: it is written with six digits, by which 16777217 and 16777218 are
equal. ENUM, SET: they are in order of their members. TIME: the text '100:00:00' is before '20:00:00'.
TIMESTAMP of MySQL in another zone than UTC: in autumn two hours are written alike. Texts that MySQL may sort
by their beginning alone (see `seek_values`). `numeric` without a scale: its values have no common form.
"""

from __future__ import annotations

import re
from typing import Final

from shardwise.catalog.types import ColumnType, Family, read_type
from shardwise.plan.nodes import ColumnId, Gather
from shardwise.plan.run import Compared
from shardwise.planner.origins import origin
from shardwise.planner.pass_context import PlanContext

_DUCKDB: Final = re.compile(
    r"U?(TINY|SMALL|BIG)?INT(EGER)?|DECIMAL(\(.*\))?|NUMERIC(\(.*\))?|FLOAT|REAL|DOUBLE|VARCHAR(\(\d+\))?|TEXT"
    r"|BOOLEAN|DATE|TIMESTAMP",
    re.IGNORECASE,
)
_DIGITS_MAX: Final = 37
"""With one more, a NaN is the number that no other is."""
_CHARACTERS_MAX: Final = 255
_BY_CODE_POINT: Final = re.compile(r"(ascii|utf8|utf8mb3|utf8mb4)_bin", re.IGNORECASE)
"""Not those without padding: MariaDB compares 'a' and 'a\\0' as different, and sorts them as equal."""
_BY_BYTES: Final = frozenset({"C", "POSIX", "ucs_basic"})
_CELLS: Final = {
    "": Compared("cell"),
    "BINARY": Compared("cell"),
    "NOCASE": Compared("nocase"),
    "RTRIM": Compared("rtrim"),
}
"""Of SQLite: whatever its column's type, a value says itself what it is."""
_DOUBLES: Final = {"mysql": ("DOUBLE", "DOUBLE PRECISION"), "postgres": ("DOUBLE PRECISION", "FLOAT8")}


def compared(gather: Gather, id: ColumnId, ctx: PlanContext) -> Compared | None:
    """How values of a fragment's column compare, if the merge can tell; else None."""
    output = next((o for o in gather.outputs if o.id == id), None)
    if output is None or output.type is None:  # of an outer row, or computed
        return None
    dialect = ctx.catalog.dialect
    if dialect == "duckdb":
        is_trusted = output.collation is None and _DUCKDB.fullmatch(output.type) is not None
        return Compared() if is_trusted else None
    found = origin(gather.input, id)
    column = None if found is None else found.column
    if dialect == "sqlite":
        return None if column is None else _CELLS.get((column.collation or "").upper())
    type_ = read_type(output.type, dialect)
    if type_ is None:
        return None
    if type_.family is not Family.TEXT:
        return _of_server(type_, dialect, ctx.time_zone)
    if column is None or column.collation is None:
        return None
    read = _text_of_mysql if dialect == "mysql" else _text_of_postgres
    return read(type_, column.collation)


def _of_server(type_: ColumnType, dialect: str, time_zone: str) -> Compared | None:
    is_mysql = dialect == "mysql"
    if type_.family is Family.INT and type_.name != "YEAR":
        return Compared("unsigned" if type_.unsigned or (is_mysql and type_.name == "SERIAL") else "whole")
    if type_.family is Family.DECIMAL and type_.name != "MONEY":
        return _decimal(type_, is_mysql=is_mysql)
    if type_.family is Family.FLOAT and type_.name in _DOUBLES[dialect] and not type_.arguments:
        return Compared("double")
    if is_mysql:
        # Written in one length: 0000-00-00 and 2024-02-30, which no calendar has, are in their places.
        is_told = type_.family is not Family.TIMESTAMPTZ or time_zone == "UTC"
        is_moment = type_.family in (Family.DATE, Family.TIMESTAMP, Family.TIMESTAMPTZ)
        return Compared("text") if is_moment and is_told else None
    if type_.family is Family.DATE:
        return Compared("day")
    if type_.family in (Family.TIMESTAMP, Family.TIMESTAMPTZ):
        return Compared("moment")
    # f is before t, and a UUID is written in the order of its bytes.
    return Compared("text") if type_.family in (Family.BOOL, Family.UUID) else None


def _decimal(type_: ColumnType, *, is_mysql: bool) -> Compared | None:
    if not type_.arguments and not is_mysql:
        return None
    digits, scale = (int(n) for n in (*type_.arguments, *("10", "0")[len(type_.arguments) :]))
    return Compared("decimal", scale) if digits <= _DIGITS_MAX and scale <= digits else None


def _text_of_mysql(type_: ColumnType, collation: str) -> Compared | None:
    """Unless its name says otherwise, under such a collation a text is as if blanks without end came after
    it."""
    if _BY_CODE_POINT.fullmatch(collation) is None or "CHAR" not in type_.name or len(type_.arguments) != 1:
        return None
    return Compared("padded") if int(type_.arguments[0]) <= _CHARACTERS_MAX else None


def _text_of_postgres(type_: ColumnType, collation: str) -> Compared | None:
    """`character(n)`, without the blanks at its end, is not among them.

    By bytes of the database's encoding, which no catalog says: the executor looks at it.
    """
    is_text = type_.name in ("TEXT", "VARCHAR", "CHARACTER VARYING", "CHAR VARYING")
    return Compared("encoded") if is_text and collation.strip('"') in _BY_BYTES else None
