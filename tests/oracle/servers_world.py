"""Databases on MariaDB and PostgreSQL for the oracle's shards, as an application might have made them.

A column's type and collation are picked by its place, always alike: text that ignores letter case and
accents, of another character set, or padded; indexes on everything.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID
from zlib import crc32

import duckdb

from tests.oracle.cluster import Table
from tests.oracle.worlds import World
from tests.servers import mariadb, postgres

_NOT_HELD = re.compile(r"INTERVAL|STRUCT|MAP|UNION|HUGEINT|BIT\b|VARIANT|\[|TIMESTAMP_S|FLOAT", re.IGNORECASE)
_WORD = re.compile(r"\w+")
PASSWORD = "SHARDWISE_TEST_WORLD_PASSWORD"


# -- which tables servers hold ------------------------------------------------------------


def reason(table: Table) -> str | None:
    """Why a table is not on servers: its types; None if it is."""
    found = _NOT_HELD.search(table.columns)
    return None if found is None else f'"{table.name}" has a column of type {found[0]}'


def on_servers(world: World) -> World:
    """The world as servers can hold it: without the tables that they cannot, and with NULL for NaN and
    infinite numbers."""
    tables = [replace(t, rows=[tuple(map(_finite, row)) for row in t.rows]) for t in world.tables]
    kept = [table for table in tables if reason(table) is None]
    gone = {table.name for table in tables} - {table.name for table in kept}
    views = [view for view in world.views if gone.isdisjoint(_WORD.findall(view))]
    return World(f"{world.name} on servers", kept, world.shardings, views)


def left_out(world: World, sql: str) -> str | None:
    """Why a statement is not asked of servers: what it reads is not on them; None if it is."""
    words = {word.lower() for word in _WORD.findall(sql)}
    gone = {table.name: why for table in world.tables if (why := reason(table)) is not None}
    for view in world.views:
        if not gone.keys().isdisjoint(_WORD.findall(view)):
            name = _WORD.findall(view)[0]
            gone[name] = f'the view "{name}" reads such a table'
    return next((why for name, why in gone.items() if name.lower() in words), None)


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


# -- writing them ----------------------------------------------------------------------


def database(product: str, shard: int) -> tuple[str, str]:
    """A new database for a shard: its name, and its source's URL and password as the catalog has them."""
    server = _server(product, shard)
    os.environ[PASSWORD] = server.password
    name = server.database()
    return name, f"URL '{server.url(name)}' PASSWORD ENV '{PASSWORD}'"


def _server(product: str, shard: int) -> Any:
    return postgres() if product == "postgres" else mariadb(shard % 2)


def write(
    connection: duckdb.DuckDBPyConnection, attached: str, product: str, shard: int, database: str
) -> None:
    """The tables of an attached DuckDB database, on a server."""
    server = _server(product, shard)
    names = connection.execute(
        "SELECT table_name FROM duckdb_tables() WHERE database_name = ? ORDER BY 1", [attached]
    ).fetchall()
    statements, held = [], {}
    for (name,) in names:
        columns = [(row[0], row[1]) for row in connection.execute(f'DESCRIBE {attached}."{name}"').fetchall()]
        rows = connection.execute(f'SELECT * FROM {attached}."{name}"').fetchall()
        statements += _made(product, name, columns, rows)
        held[name] = [tuple(map(_held, row)) for row in rows]
    server.run(*dict.fromkeys(statements), database=database)  # partitions share their types
    server.fill(database, held)


def _made(
    product: str, name: str, columns: Sequence[tuple[str, str]], rows: Sequence[tuple[Any, ...]]
) -> list[str]:
    """The statements that make a table for these rows."""
    logical = re.sub(r"_\d.*", "", name)
    salt = crc32(logical.encode())
    choices = _POSTGRES if product == "postgres" else _MARIADB
    types = []
    for n, (_, type_) in enumerate(columns):
        values = [row[n] for row in rows if row[n] is not None]
        types.append(_picked(choices, type_, salt + n, values))
    if product == "postgres":
        for n, (column, type_) in enumerate(columns):
            if type_.startswith("ENUM"):
                types[n] = f'"{logical} {column}"'
    quote = '"{}"' if product == "postgres" else "`{}`"
    listed = ", ".join(f"{quote.format(c)} {t}" for (c, _), t in zip(columns, types, strict=True))
    made = [f"CREATE TYPE {h} AS {t}" for (_, t), h in zip(columns, types, strict=True) if h[:1] == '"']
    indexes = {}
    for (column, type_), held in zip(columns, types, strict=True):
        if type_ not in ("BLOB", "JSON") and not held.startswith(("LONGTEXT", "json")):
            part = "(20)" if product == "mariadb" and held.startswith(("TEXT", "VARCHAR")) else ""
            indexes[quote.format(f"{name} by {column}")] = f"({quote.format(column)}{part})"
    if product == "mariadb":
        listed += "".join(f", KEY {index} {key}" for index, key in indexes.items())
    made.append(f"CREATE TABLE {quote.format(name)} ({listed})")
    if product == "postgres":
        made += [f"CREATE INDEX {index} ON {quote.format(name)} {key}" for index, key in indexes.items()]
    return made


def _picked(choices: dict[str, list[str]], type_: str, salt: int, values: Sequence[Any]) -> str:
    kind = type_.partition("(")[0]
    if kind == "ENUM":
        return type_
    found = choices[kind]
    picked = found[salt % len(found)]
    if "latin1" in picked and not all(_is_latin(value) for value in values):
        return found[0]
    return picked.format(type_.partition("(")[2].rstrip(")")) if "{}" in picked else picked


def _is_latin(value: str) -> bool:
    try:
        value.encode("cp1252")
    except UnicodeEncodeError:
        return False
    return True


_MARIADB = {
    "TINYINT": ["TINYINT"],
    "SMALLINT": ["SMALLINT", "TINYINT UNSIGNED"][:1],
    "INTEGER": ["INT", "MEDIUMINT", "INTEGER"][::2],
    "BIGINT": ["BIGINT", "BIGINT(20)"],
    "UTINYINT": ["TINYINT UNSIGNED"],
    "USMALLINT": ["SMALLINT UNSIGNED"],
    "UINTEGER": ["INT UNSIGNED"],
    "UBIGINT": ["BIGINT UNSIGNED"],
    "DECIMAL": ["DECIMAL({})", "NUMERIC({})"],
    "DOUBLE": ["DOUBLE", "REAL"],
    "FLOAT": ["FLOAT"],
    "BOOLEAN": ["BOOLEAN", "TINYINT(1)"],
    "DATE": ["DATE"],
    "TIME": ["TIME(6)"],
    "TIMESTAMP": ["DATETIME(6)"],
    "TIMESTAMP_S": ["DATETIME"],
    "TIMESTAMP WITH TIME ZONE": ["TIMESTAMP(6) NULL"],
    "UUID": ["UUID", "CHAR(36) CHARACTER SET latin1"],
    "JSON": ["JSON"],
    "BLOB": ["LONGBLOB"],
    "VARCHAR": [
        "VARCHAR(400) COLLATE utf8mb4_general_ci",
        "TEXT COLLATE utf8mb4_unicode_ci",
        "VARCHAR(300) CHARACTER SET latin1",
        "VARCHAR(300) COLLATE utf8mb4_bin",
        "LONGTEXT COLLATE utf8mb4_unicode_520_ci",
    ],
}
_POSTGRES = {
    "TINYINT": ["smallint"],
    "SMALLINT": ["smallint"],
    "UTINYINT": ["smallint"],
    "INTEGER": ["integer"],
    "USMALLINT": ["integer"],
    "BIGINT": ["bigint"],
    "UINTEGER": ["bigint"],
    "UBIGINT": ["numeric(20,0)"],
    "DECIMAL": ["numeric({})", "numeric"],
    "DOUBLE": ["double precision"],
    "FLOAT": ["real"],
    "BOOLEAN": ["boolean"],
    "DATE": ["date"],
    "TIME": ["time"],
    "TIMESTAMP": ["timestamp"],
    "TIMESTAMP_S": ["timestamp"],
    "TIMESTAMP WITH TIME ZONE": ["timestamptz"],
    "UUID": ["uuid"],
    "JSON": ["json", "jsonb"][:1],
    "BLOB": ["bytea"],
    "VARCHAR": ["text", "varchar(400)", 'text COLLATE "en-x-icu"', 'varchar COLLATE "POSIX"'],
}


def _held(value: Any) -> Any:
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, datetime) and value.tzinfo is not None:
        return value.astimezone(UTC).replace(tzinfo=None).isoformat(" ")
    if isinstance(value, timedelta):
        return str(value)
    return value
