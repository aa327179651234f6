"""Rows as the driver gives them → columns of the wanted DuckDB types.

The driver leaves dates, times and decimals as the server's text (`driver.TEXT`), so that a cell is what a
SQLite file may hold for the same type: `executor/cells` has the rest, and its errors.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from shardwise.executor.backends.base import Columns
from shardwise.executor.backends.mysql.kinds import kind_of
from shardwise.executor.cells import Decoder


@lru_cache(maxsize=512)
def decoder(wanted: Columns, count: int, zone: str) -> Decoder:
    """A `Decoder` of rows of `count` columns, made once for statements alike; they are in UTC."""
    given: Sequence[Any] = [f"c{i}" for i in range(count)]  # no name that means anything to it
    return Decoder(wanted, given, zone, kind_of)
