"""A tiny cluster of two DuckDB files, for tests of what stands above the session."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import duckdb

CATALOG: Final = """\
CREATE CATALOG tiny DIALECT duckdb;
CREATE SOURCE s{n} FOR n IN 0-1 URL 'duckdb:///s{n}.duckdb' READ ONLY;
CREATE SHARDING by_id USING MOD 2 AS n ON s{n};
ATTACH TABLE customers SHARD BY by_id (id);
ATTACH TABLE cities REFERENCE ON by_id;
"""

WITH_COLUMNS: Final = CATALOG.replace(
    "customers SHARD", "customers (id INTEGER PRIMARY KEY, name VARCHAR NOT NULL, city VARCHAR) SHARD"
).replace("cities REF", "cities (name VARCHAR) REF")


def make(folder: Path) -> None:
    """Customers 0 to 299 in three cities, two of which are in `cities`."""
    for n in range(2):
        with duckdb.connect(str(folder / f"s{n}.duckdb")) as db:
            db.execute("CREATE TABLE customers (id INTEGER PRIMARY KEY, name VARCHAR NOT NULL, city VARCHAR)")
            db.execute(
                f"INSERT INTO customers SELECT i, 'c' || i, 'City ' || i % 3 FROM range({n}, 300, 2) t(i)"
            )
            db.execute("CREATE TABLE cities (name VARCHAR)")
            db.execute("INSERT INTO cities VALUES ('City 0'), ('City 1')")
    (folder / "cluster.sql").write_text(CATALOG, encoding="utf-8")
