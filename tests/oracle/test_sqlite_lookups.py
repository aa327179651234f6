"""Lookup indexes in the sqlite dialect: a column holds values of any type, and each is found.

What does not fit the column's type has no place by its value: it is where NULL is, and asked of all shards.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import shardwise
from tests.oracle.test_sqlite_keys import VALUES

TYPES = ("INTEGER", "TEXT", "REAL", "DECIMAL(9,2)", "DATE", "BLOB", "")
SHARDS = 3
ASKED = ("SELECT id FROM t WHERE b = ?", "SELECT id FROM t WHERE b IN (?, 7)", "SELECT id FROM t WHERE ? = b")


@pytest.fixture(params=TYPES, ids=lambda type_: type_ or "no type")
def built(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Any, sqlite3.Connection]]:
    """A connection that trusts the index, and one SQLite."""
    catalog = "CREATE CATALOG c DIALECT sqlite;\n"
    catalog += f"CREATE SOURCE s{{n}} FOR n IN 0-{SHARDS - 1} URL 'sqlite:///s{{n}}.sqlite';\n"
    catalog += f"CREATE SHARDING k USING MOD {SHARDS} AS n ON s{{n}};\n"
    catalog += f"ATTACH TABLE t (id INTEGER, b {request.param}) SHARD BY k (id);\n"
    (tmp_path / "cluster.sql").write_text(catalog)
    rows = list(enumerate(VALUES * 2))
    for shard in range(SHARDS):
        with closing(sqlite3.connect(tmp_path / f"s{shard}.sqlite")) as con:
            _fill(con, request.param, [row for row in rows if row[0] % SHARDS == shard])
    with closing(sqlite3.connect(":memory:")) as whole, shardwise.open(tmp_path / "cluster.sql") as cluster:
        _fill(whole, request.param, rows)
        cluster.connect().execute("CREATE LOOKUP INDEX t_b ON t (b)").fetchall()
        yield cluster.connect(trust_indexes=True), whole


def _fill(con: sqlite3.Connection, type_: str, rows: list[tuple[int, Any]]) -> None:
    con.execute(f"CREATE TABLE t (id INTEGER, b {type_})")
    con.executemany("INSERT INTO t VALUES (?, ?)", rows)
    con.commit()


def test_each_value_is_found(built: tuple[Any, sqlite3.Connection]) -> None:
    ours, whole = built
    assert "lookup index t_b answers" in str(ours.execute("EXPLAIN SELECT id FROM t WHERE b = 1").fetchall())
    for turn, value in enumerate(VALUES[1:]):
        sql = ASKED[turn % len(ASKED)]
        expected = sorted(whole.execute(sql, (value,)).fetchall())
        assert sorted(map(tuple, ours.execute(sql, (value,)).fetchall())) == expected, (sql, value)
    assert ours.execute("CHECK LOOKUP INDEX t_b").fetchall() == []


def test_a_join_index_has_no_place_for_such_a_value(tmp_path: Path) -> None:
    """It is together with the tables of its sharding: with NULL's rows it would meet none of theirs."""
    catalog = (
        "CREATE CATALOG c DIALECT sqlite;\nCREATE SOURCE s{n} FOR n IN 0-1 URL 'sqlite:///s{n}.sqlite';\n"
    )
    catalog += "CREATE SHARDING k USING MOD 2 AS n ON s{n};\nCREATE SHARDING by_b USING MOD 2 AS n ON s{n};\n"
    catalog += "ATTACH TABLE t (id INTEGER, b INTEGER) SHARD BY k (id);\n"
    catalog += "ATTACH TABLE u (id INTEGER, b INTEGER) SHARD BY by_b (b);\n"
    (tmp_path / "cluster.sql").write_text(catalog)
    for shard in range(2):
        with closing(sqlite3.connect(tmp_path / f"s{shard}.sqlite")) as con:
            _fill(con, "INTEGER", [(shard, b"x"), (shard + 2, shard)])
            con.executescript("CREATE TABLE u AS SELECT * FROM t")
    with (
        shardwise.open(tmp_path / "cluster.sql") as cluster,
        pytest.raises(shardwise.DataError, match="no slot"),
    ):
        cluster.connect().execute("CREATE JOIN INDEX t_u ON t.id = u.id SHARD BY by_b (t.b)").fetchall()
