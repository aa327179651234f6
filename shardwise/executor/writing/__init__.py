"""Writers of index tables, a file per product; nothing else is ever written.

A source is written through a connection of its own, opened for building alone: readers' connections can only
read, whoever has them. `base.py` says what a writer does; which product has one is listed here.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Final

from shardwise.errors import NotSupportedError
from shardwise.executor.backends.base import Location
from shardwise.executor.pools import SourcePool
from shardwise.executor.writing.base import Form, FormColumn, Rows, Writer

_WRITERS: Final = {
    "duckdb": "duckdb:DuckDBWriter",
    "mariadb": "mysql:MySQLWriter",
    "mysql": "mysql:MySQLWriter",
    "postgres": "postgres:PostgresWriter",
    "postgresql": "postgres:PostgresWriter",
    "sqlite": "sqlite:SQLiteWriter",
}


def open_writer(pool: SourcePool, source: str) -> Writer:
    """A connection that writes index tables of a source; NotSupportedError where none may, with the reason.

    Whoever has it closes it. `pool` is the one that readers take their sources from.
    """
    location = pool.location(source)
    check_writable(location)
    module, _, name = _WRITERS[location.scheme].partition(":")
    make: Callable[[SourcePool, Location], Writer] = getattr(import_module(f"{__name__}.{module}"), name)
    return make(pool, location)


def check_writable(location: Location) -> None:
    """Raises NotSupportedError if nothing is to be written to a source; it is not opened."""
    source = location.source
    if location.read_only:
        raise NotSupportedError(
            f'source "{source}" is declared READ ONLY, and an index table would be written to it',
            hint="Leave READ ONLY out of its declaration, and name a user who may create tables there",
        )
    if location.options.get("immutable", "").lower() == "true":
        raise NotSupportedError(
            f'source "{source}" is declared immutable, and an index table would be written to it',
            hint="Leave immutable = true out of its declaration",
        )
    if location.scheme == "parquet":
        raise NotSupportedError(
            f'source "{source}" is a folder of Parquet files, to which no index table can be written',
            hint="Shard the index over sources that are databases",
        )
    if location.scheme not in _WRITERS:
        raise NotSupportedError(
            f'source "{source}" cannot be written to: there is no writer for "{location.scheme}:" URLs',
            hint=f"Index tables can be on {', '.join(sorted(_WRITERS))}",
        )


__all__ = ["Form", "FormColumn", "Rows", "Writer", "check_writable", "open_writer"]
