"""Clusters with a file per tenant, and one database that holds all their rows: the oracle."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import duckdb

import shardwise
from shardwise.catalog import parse
from shardwise.session import Cluster

Row = tuple[int, str | None, float | None]
SUFFIX: Final = {"duckdb": ".duckdb", "sqlite": ".db", "parquet": ""}
NOTES: Final = "notes (id BIGINT, body TEXT, size DOUBLE) SHARD BY by_file (tenant TEXT VIRTUAL)"


def write(folder: Path, tenant: str, rows: Sequence[Row], *, product: str = "duckdb") -> Path:
    """A tenant's file with its table `notes`."""
    path = folder / f"{tenant}{SUFFIX[product]}"
    if product == "sqlite":
        db = sqlite3.connect(path)
        db.execute("PRAGMA synchronous = OFF")  # thousands of them: nobody waits for the disk
        db.execute("PRAGMA journal_mode = OFF")
        db.execute("CREATE TABLE notes (id INTEGER, body TEXT, size REAL)")
        db.executemany("INSERT INTO notes VALUES (?, ?, ?)", rows)
        db.commit()
        db.close()
        return path
    with duckdb.connect(":memory:" if product == "parquet" else str(path)) as con:
        con.execute("CREATE TABLE notes (id BIGINT, body TEXT, size DOUBLE)")
        if rows:
            con.executemany("INSERT INTO notes VALUES (?, ?, ?)", rows)
        if product == "parquet":
            path.mkdir()
            con.execute("COPY notes TO '{}/notes.parquet'".format(str(path).replace("'", "''")))
    return path


def cluster(
    folder: Path,
    *,
    product: str = "duckdb",
    options: str = "",
    tables: Sequence[str] = (NOTES,),
    more: str = "",
) -> Cluster:
    """A cluster over the files of a folder."""
    url = f"{product}:///{folder}/{{tenant}}{SUFFIX[product]}"
    attached = "".join(f"ATTACH TABLE {table};\n" for table in tables)
    return shardwise.open(
        parse(
            f"CREATE SOURCE file_{{tenant}} FOR EACH tenant URL '{url}' {options};\n"
            f"CREATE SHARDING by_file USING DIRECTORY AS tenant ON file_{{tenant}};\n{attached}{more}"
        )
    )


def oracle(tenants: Mapping[str, Sequence[Row]]) -> duckdb.DuckDBPyConnection:
    """One database with all rows; the tenant is its table's last column."""
    con = duckdb.connect()
    con.execute("CREATE TABLE notes (id BIGINT, body TEXT, size DOUBLE, tenant TEXT NOT NULL)")
    rows = [(*row, tenant) for tenant, own in tenants.items() for row in own]
    if rows:
        con.executemany("INSERT INTO notes VALUES (?, ?, ?, ?)", rows)
    return con


def answer(cluster: Cluster, sql: str, params: Any = ()) -> list[tuple[Any, ...]]:
    """All rows of a statement."""
    with cluster.connect() as con:
        return con.cursor().execute(sql, params).fetchall()
