"""What a SQLite file says of a table's columns, and whether that will do for the catalog's types.

SQLite's types are per value; a column has an *affinity*, which decides what is stored for what is given, and
to what a comparison with the bare column converts the other side. A column of the wrong one would compare
otherwise than the catalog's type, and nothing in the rows would show it: in a TEXT column `n > 9` is
`n > '9'`. A column without a type (affinity BLOB), as views' expressions are, converts nothing: values of
the right kind compare as they should, and others are told by their kind.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from shardwise.catalog.sqlite_types import affinity
from shardwise.errors import NotSupportedError
from shardwise.executor import lite
from shardwise.executor.backends.base import Columns, ReadColumn
from shardwise.executor.backends.sqlite.file import FileConnection
from shardwise.executor.cells import NUMBERS, kind_of


def columns_of(file: FileConnection, schema: str, table: str) -> Columns:
    """Names and declared types, those of generated columns too; none if there is no such table."""
    # As a table (FROM pragma_table_xinfo) it takes four times as long.
    rows = file.execute(f"PRAGMA {lite.identifier(schema)}.table_xinfo({lite.identifier(table)})").fetchall()
    columns = tuple((name, type_) for _, name, type_, _, _, _, hidden in rows if hidden != 1)
    if any(type_.upper() == "ANY" for _, type_ in columns) and _is_strict(file, schema, table):
        return tuple((name, "" if type_.upper() == "ANY" else type_) for name, type_ in columns)
    return columns


def _is_strict(file: FileConnection, schema: str, table: str) -> bool:
    """There, ANY is no affinity; elsewhere it is a word like any other, which stands for NUMERIC."""
    if lite.VERSION < (3, 37):
        return False
    rows = file.execute(f"PRAGMA {lite.identifier(schema)}.table_list({lite.identifier(table)})").fetchall()
    return any(strict for *_, strict in rows)


def suits(found: str, column: ReadColumn, normal: Callable[[str], str | None]) -> str | None:
    """`Backend.suits`: by the affinity of the declared type `found`."""
    _, declared, stored = column
    return _suits(found, normal(declared) or declared, stored)


@lru_cache(maxsize=4096)
def _suits(found: str, declared: str, stored: str | None) -> str | None:
    has = affinity(found)
    shown = f"declared {found}" if found else "declared without a type"
    try:
        affinities = kind_of(declared).affinities
    except NotSupportedError:
        return f"{shown}, and a SQLite file has no values of {declared}"
    if stored is not None:
        affinities = ("REAL" if stored == "JULIAN" else "INTEGER", *NUMBERS)
    if has in affinities:
        return None
    return f"{shown} (affinity {has}; a type of affinity {affinities[0]} would do)"
