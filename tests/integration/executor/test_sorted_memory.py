"""Five million rows in order take the merge no more memory than half a million, and the first comes early.

Measured in a process of its own, whose memory is then that of one statement: SQLite files, which give rows in
the order of their primary key without holding them.
"""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

SHARDS = 4
FEW, MANY = 500_000, 5_000_000
GROWTH_MAX = 48 << 20
"""A few batches of each stream are a few megabytes; all rows are 500 MB as tuples, 80 MB as Arrow."""

_READ = """
import json, resource, sys
import shardwise

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

with shardwise.open(sys.argv[1]) as cluster, cluster.connect() as con, con.cursor() as cur:
    cur.execute("SELECT id, v FROM t ORDER BY id")
    (row,) = cur.fetchmany(1)
    moved_first, last, count = cur.stats.rows_moved, row[0], 1
    while rows := cur.fetchmany(10_000):
        assert rows[0][0] == last + 1 and rows[-1][0] == last + len(rows), (last, rows[0], rows[-1])
        last, count = rows[-1][0], count + len(rows)
print(json.dumps({"first": row[0], "moved_first": moved_first, "count": count, "peak": peak()}))
"""


def _cluster(folder: Path, rows: int, dialect: str) -> Path:
    folder.mkdir()
    for shard in range(SHARDS):
        with closing(sqlite3.connect(folder / f"s{shard}.db")) as con:
            con.execute("PRAGMA journal_mode = OFF")
            con.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, v INTEGER)")
            con.execute(
                "WITH RECURSIVE n (i) AS (SELECT ? UNION ALL SELECT i + ? FROM n WHERE i + ? < ?) "
                "INSERT INTO t SELECT i, i * 7919 % 1000003 FROM n",
                (shard, SHARDS, SHARDS, rows),
            )
            con.commit()
    path = folder / "cluster.sql"
    path.write_text(
        f"CREATE CATALOG c DIALECT {dialect};\n"
        f"CREATE SOURCE s{{n}} FOR n IN 0-{SHARDS - 1} URL 'sqlite:///{folder}/s{{n}}.db';\n"
        f"CREATE SHARDING by_id USING MOD {SHARDS} AS n ON s{{n}};\n"
        f"ATTACH TABLE t (id {'BIGINT' if dialect == 'duckdb' else 'INTEGER'} PRIMARY KEY, v INTEGER) "
        "SHARD BY by_id (id);\n",
        encoding="utf-8",
    )
    return path


def _read(path: Path) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-c", _READ, str(path)],
        check=True,
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[3],
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("dialect", ["duckdb", "sqlite"])
def test_memory_does_not_grow_with_the_rows(dialect: str, tmp_path: Path) -> None:
    few, many = (_read(_cluster(tmp_path / str(rows), rows, dialect)) for rows in (FEW, MANY))
    assert (few["count"], many["count"]) == (FEW, MANY)
    assert many["first"] == 0
    assert many["moved_first"] < MANY // 5
    assert many["peak"] - few["peak"] < GROWTH_MAX, (few, many)
