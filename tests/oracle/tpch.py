"""TPC-H's tables: generated once into .cache, then placed as a shop would."""

from __future__ import annotations

import os
import shutil
import subprocess
import sysconfig
import tempfile
from pathlib import Path

import duckdb

from tests.oracle.cluster import By, Everywhere, Place, Table, mod
from tests.oracle.worlds import World

CACHE = Path(__file__).parents[2] / ".cache" / "tpch"

# orders and lineitem together by order; the others by their own first key column; two reference tables.
PLACES: dict[str, Place] = {
    "region": Everywhere("by_key"),
    "nation": Everywhere("by_key"),
    "customer": By("by_key", "c_custkey"),
    "orders": By("by_key", "o_orderkey"),
    "lineitem": By("by_key", "l_orderkey"),
    "part": By("by_key", "p_partkey"),
    "partsupp": By("by_key", "ps_partkey"),
    "supplier": By("by_key", "s_suppkey"),
}


def generated(scale: float) -> Path:
    """The folder with a Parquet file per table; made on first use, safely if several processes want it."""
    folder = CACHE / f"sf{scale:g}"
    if not folder.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        fresh = Path(tempfile.mkdtemp(dir=CACHE))
        program = Path(sysconfig.get_path("scripts"), "tpchgen-cli")
        subprocess.run(
            [program, "parquet", "-s", f"{scale:g}", f"--output-dir={fresh}"],
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "RUST_LOG": "error"},
        )
        try:
            fresh.rename(folder)
        except OSError:  # another process was first
            shutil.rmtree(fresh)
    return folder


def world(scale: float) -> World:
    folder = str(generated(scale)).replace("'", "''")
    tables = []
    with duckdb.connect() as connection:
        for name, place in PLACES.items():
            query = f"SELECT * FROM '{folder}/{name}.parquet'"
            columns = connection.execute(f"DESCRIBE {query}").fetchall()
            tables.append(
                Table(name, ", ".join(f"{column[0]} {column[1]}" for column in columns), place, query=query)
            )
    return World(f"tpch {scale:g}", tables, [mod("by_key")])
