"""Which of the oracle's worlds SQLite files can hold, and why not the rest."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from tests.oracle.cluster import Table
from tests.oracle.worlds import World

_NOT_HELD = re.compile(r"INTERVAL|STRUCT|MAP|UNION|HUGEINT|BIT\b|VARIANT|\[|TIME\b|FLOAT", re.IGNORECASE)
_WORD = re.compile(r"\w+")


def reason(table: Table) -> str | None:
    """Why a table is not on files: its types; None if it is."""
    found = _NOT_HELD.search(table.columns)
    return None if found is None else f'"{table.name}" has a column of type {found[0]}'


def on_files(world: World) -> World:
    """The world as files can hold it: without the tables that they cannot, and with NULL for NaN."""
    tables = [replace(t, rows=[tuple(map(_number, row)) for row in t.rows]) for t in world.tables]
    kept = [table for table in tables if reason(table) is None]
    gone = {table.name for table in tables} - {table.name for table in kept}
    views = [view for view in world.views if gone.isdisjoint(_WORD.findall(view))]
    return World(f"{world.name} on files", kept, world.shardings, views)


def left_out(world: World, sql: str) -> str | None:
    """Why a statement is not asked of files: what it reads is not on them; None if it is."""
    words = {word.lower() for word in _WORD.findall(sql)}
    gone = {table.name: why for table in world.tables if (why := reason(table)) is not None}
    for view in world.views:
        name = _WORD.findall(view)[0]
        if not gone.keys().isdisjoint(_WORD.findall(view)):
            gone[name] = f'the view "{name}" reads such a table'
    return next((why for name, why in gone.items() if name.lower() in words), None)


def _number(value: Any) -> Any:
    return None if isinstance(value, float) and value != value else value
