"""SQLite files for the oracle's shards, written as an application might have: every way that a value may be
held.

A column's declared type and each value's form are picked by their place, always alike: text columns that
ignore letter case, decimals as text and as REAL, dates with a T and without, indexes on everything.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID
from zlib import crc32

import duckdb


def stored(table: str, column: str, type_: str) -> str:
    """What the catalog says of a column that files hold as a number: EPOCH …; "" of most."""
    if type_ not in ("DATE", "TIMESTAMP"):
        return ""
    ways = ["", "", "", " EPOCH SECONDS" if type_ == "DATE" else " EPOCH MICROSECONDS", " JULIAN"]
    return ways[crc32(f"{_logical(table)}.{column}".encode()) % (5 if type_ == "DATE" else 4)]


def declared(table: str, columns: str) -> str:
    """A table's columns as its catalog declares them."""

    def held(found: re.Match[str]) -> str:
        return f"{found[0]}{stored(table, found[1], found[2])}"

    return re.sub(r"(\w+) (DATE|TIMESTAMP)\b", held, columns)


def _logical(table: str) -> str:
    return re.sub(r"_\d.*", "", table)


def write(connection: duckdb.DuckDBPyConnection, database: str, path: Path, *, counted: bool = True) -> None:
    """The tables of an attached database, as a SQLite file; `counted`: dates and times as numbers too."""
    with sqlite3.connect(path) as made:
        names = connection.execute(
            "SELECT table_name FROM duckdb_tables() WHERE database_name = ? ORDER BY 1", [database]
        ).fetchall()
        for (name,) in names:
            rows = connection.execute(f'SELECT * FROM {database}."{name}"').fetchall()
            described = connection.execute(f'DESCRIBE {database}."{name}"').fetchall()
            columns = [(column[0], column[1]) for column in described]
            _table(made, name, columns, rows, counted=counted)
    made.close()


def _table(
    made: sqlite3.Connection,
    name: str,
    columns: Sequence[tuple[str, str]],
    rows: Sequence[tuple[Any, ...]],
    *,
    counted: bool,
) -> None:
    salt = crc32(_logical(name).encode())
    ways = [stored(name, column, type_).strip() if counted else "" for column, type_ in columns]
    declared = [
        "NUMERIC" if way else _declared(type_, salt + n)
        for n, (way, (_, type_)) in enumerate(zip(ways, columns, strict=True))
    ]
    listed = ", ".join(f'"{column}" {held}' for (column, _), held in zip(columns, declared, strict=True))
    made.execute(f'CREATE TABLE "{name}" ({listed})')
    for column, _ in columns:
        made.execute(f'CREATE INDEX "{name} by {column}" ON "{name}" ("{column}")')
    marks = ", ".join("?" for _ in columns)
    made.executemany(
        f'INSERT INTO "{name}" VALUES ({marks})',
        [
            [_counted(v, ways[c]) if ways[c] else _held(v, declared[c], r + c) for c, v in enumerate(row)]
            for r, row in enumerate(rows)
        ],
    )


def _declared(type_: str, salt: int) -> str:
    """A type that an application might have declared, of an affinity that suits."""
    kind = type_.partition("(")[0]
    if kind == "DECIMAL":
        digits = int(type_[8:].partition(",")[0])
        choices = ["TEXT", "NUMERIC", "DECIMAL(10,2)"] if digits <= 15 else ["TEXT"]
    else:
        choices = _CHOICES.get(kind, ["TEXT"])
    return choices[salt % len(choices)]


_INTEGERS = ["INTEGER", "BIGINT", "NUMERIC", "INT"]
_CHOICES = {
    **dict.fromkeys(("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UINTEGER"), _INTEGERS),
    "DOUBLE": ["REAL", "NUMERIC", "DOUBLE PRECISION"],
    "BOOLEAN": ["BOOLEAN", "INTEGER"],
    "VARCHAR": ["TEXT COLLATE NOCASE", "VARCHAR(40)", "TEXT COLLATE RTRIM", "TEXT"],
    "DATE": ["TEXT", "DATE", "TEXT COLLATE NOCASE"],
    "TIMESTAMP": ["TEXT", "DATETIME", "TEXT COLLATE NOCASE"],
    "TIMESTAMP_S": ["TEXT"],
    "BLOB": ["BLOB"],
}


def _held(value: Any, declared: str, salt: int) -> Any:
    if isinstance(value, Decimal):
        if declared != "TEXT":
            return float(value)
        plain = format(value, "f")
        return [plain, plain.rstrip("0").rstrip(".") if "." in plain else plain, f"{value:e}"][salt % 3]
    if isinstance(value, datetime):
        return _moment(value, salt)
    if isinstance(value, UUID | date | time):
        return str(value)
    return value


def _counted(value: date | None, way: str) -> float | None:
    if value is None:
        return None
    moment = value if isinstance(value, datetime) else datetime(value.year, value.month, value.day)
    microseconds = (moment - datetime(1970, 1, 1)) // timedelta(microseconds=1)
    if way == "JULIAN":
        return microseconds / 86_400_000_000 + 2440587.5
    return microseconds // {"EPOCH SECONDS": 1_000_000, "EPOCH MICROSECONDS": 1}[way]


def _moment(value: datetime, salt: int) -> str:
    forms = [value.isoformat(" "), value.isoformat("T"), value.isoformat(" ", "microseconds")]
    if value.time() == time.min:
        forms.append(value.date().isoformat())
    if not value.second and not value.microsecond:
        forms.append(value.isoformat(" ", "minutes"))
    return forms[salt % len(forms)]
