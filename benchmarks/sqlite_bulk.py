"""A large read from a SQLite file into Arrow, against fetchall: `python -m benchmarks.sqlite_bulk`.

A million rows of two whole numbers, a text, a REAL, a date and a decimal as text. ROWS and ROUNDS, from the
environment, make a quicker look.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa

from benchmarks.measure import paired
from shardwise.session import Cluster
from shardwise.session import open as open_cluster

TABLE = "CREATE TABLE t (id INTEGER PRIMARY KEY, k INT, name TEXT, x REAL, day TEXT, amount TEXT)"
ROW = """
    SELECT i, i * 7919 % 1000003, 'name ' || i % 1000 || ' of ' || i, i / 7.0,
        date('2020-01-01', '+' || i % 2000 || ' days'), i % 99999 || '.25'"""
CATALOG = """
CREATE SOURCE one URL 'sqlite:///one.db';
ATTACH TABLE t (id BIGINT, k INTEGER, name VARCHAR, x DOUBLE, day DATE, amount DECIMAL(12, 2)) ON one;
"""
SQL = "SELECT * FROM t"


def build(folder: Path, rows: int) -> None:
    """The file and its catalog."""
    with closing(sqlite3.connect(folder / "one.db")) as con:
        con.execute(TABLE)
        numbers = f"WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < {rows - 1})"
        con.execute(f"{numbers} INSERT INTO t {ROW} FROM n")
        con.commit()
    (folder / "cluster.sql").write_text(CATALOG)


def by_hand(file: Path) -> pa.Table:
    """What a program without shardwise does, casts and all."""
    with closing(sqlite3.connect(file)) as con:
        columns = list(zip(*con.execute(SQL).fetchall(), strict=True))
    types: tuple[pa.DataType | None, ...] = (pa.int64(), pa.int32(), pa.string(), pa.float64(), None, None)
    arrays = [pa.array(column, type_) for column, type_ in zip(columns, types, strict=True)]
    arrays[4:] = [arrays[4].cast(pa.date32()), arrays[5].cast(pa.decimal128(12, 2))]
    return pa.table(arrays, names=["id", "k", "name", "x", "day", "amount"])


def ours(cluster: Cluster) -> pa.Table:
    with cluster.run(SQL) as result:
        return result.arrow_reader(65_536).read_all()


def measure(*, rounds: int, rows: int = 1_000_000) -> dict[str, Any]:
    """Medians and ratios, with worker processes and without."""
    return dict(_measured(rounds, rows))


def _measured(rounds: int, rows: int) -> Iterator[tuple[str, Any]]:
    with TemporaryDirectory() as name:
        folder = Path(name)
        build(folder, rows)
        yield "rows", rows
        yield "file_bytes", (folder / "one.db").stat().st_size
        for kind, options in (("workers", {}), ("in_process", {"processes_max": 0})):
            with open_cluster(folder / "cluster.sql", **options) as cluster:
                table = by_hand(folder / "one.db")
                if not ours(cluster).cast(table.schema).sort_by("id").equals(table):
                    raise AssertionError("the rows differ")
                pair = paired(lambda c=cluster: ours(c), lambda: by_hand(folder / "one.db"), rounds=rounds)
                yield kind, asdict(pair)


if __name__ == "__main__":
    found = measure(rounds=int(os.environ.get("ROUNDS", "5")), rows=int(os.environ.get("ROWS", "1000000")))
    for kind in ("workers", "in_process"):
        one = found[kind]
        print(f"{kind:10}  {one['ours_s']:.2f} s, by hand {one['theirs_s']:.2f} s, ratio {one['ratio']:.2f}")
