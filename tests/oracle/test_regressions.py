"""Mistakes that attacks on the planner found: cases/regressions.sql, and here what is no plain statement."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

import shardwise
from tests.oracle.cases import Case, read
from tests.oracle.cluster import By, Grain, Table, mod, sizes
from tests.oracle.harness import Stage, run, run_case
from tests.oracle.worlds import World

# 126 is a multiple of every number of slots here: k and k + 126 are always on one.
SCARS = World(
    "scars",
    [
        Table(
            "a",
            "k INTEGER, x INTEGER, v INTEGER, t VARCHAR",
            By("by_k", "k"),
            [
                (1, 1, 7, "x"),
                (2, 2, 3, "y"),
                (3, None, 4, "7"),
                (4, 0, 6, "12"),
                (None, 1, 3, None),
                (5, 2, None, "n"),
            ],
        ),
        Table(
            "b",
            "k INTEGER, x INTEGER, v INTEGER, t VARCHAR",
            By("by_k", "k"),
            [
                (1, 1, 2, "x"),
                (4, 1, 2, "y"),
                (4, 0, 9, "z"),
                (5, 2, 1, "n"),
                (6, None, 5, "q"),
                (None, 3, 3, "w"),
            ],
        ),
        Table("c", "k INTEGER, y INTEGER", By("by_k", "k"), [(2, 1), (3, 2), (5, 5), (7, 7), (None, 7)]),
        Table("hollow", "k INTEGER", By("by_k", "k")),
        Table(
            "fx",
            "k INTEGER, f FLOAT, ss TIMESTAMP_S, d DECIMAL(4,1)",
            By("by_k", "k"),
            [(n, 0.1, "2025-01-01 00:00:01", 0.3) for n in range(2)],
        ),
        Table(
            "gx",
            "k INTEGER, g DOUBLE, ts TIMESTAMP, d DECIMAL(9,3), w BIGINT",
            By("by_k", "k"),
            [(n, 0.10000000149011612, "2025-01-01 00:00:01", 0.3, 3000000001) for n in range(2)],
        ),
        Table(
            "pn",
            "pid BIGINT, k INTEGER, q INTEGER",
            By("by_k", "k"),
            [(None, 1, 1), (None, 2, 2), (None, 3, 3), (5, 1, 4)],
            extra="UNIQUE ACROSS SHARDS (pid)",
        ),
        Table(
            "o",
            "id INTEGER, uid INTEGER",
            By("by_k", "uid"),
            [(None, 1), (None, 2), (None, 3), (127, 1), (128, 2)],
            extra="ALSO BY (id)",
        ),
        Table(
            "o2",
            "no VARCHAR, uid INTEGER",
            By("by_k", "uid"),
            [(None, 1), (None, 2), (None, 3), ("x0", 126), ("y0", 252)],
            extra="ALSO BY SLOT (CAST(RIGHT(no, 1) AS INTEGER))",
        ),
        Table("iv", "k INTEGER, i INTERVAL", By("by_k", "k"), [(1, "1 month"), (2, "3 days")]),
        Table(
            "n", "k INTEGER, s VARCHAR COLLATE NOCASE", By("by_k", "k"), [(1, "Ann"), (2, "ANN"), (3, "bob")]
        ),
        Table("g", "k INTEGER, s VARCHAR", By("by_k", "k"), [(1, "ann"), (2, "ann")]),
        Table(
            "m",
            "k INTEGER, m MAP(VARCHAR, INTEGER), j JSON",
            By("by_k", "k"),
            [(1, {"x": 1}, '{"k": 1}'), (2, {"x": 2}, '{"k": "z"}')],
        ),
        Table("i", "k INTEGER, i1 TINYINT", By("by_k", "k"), [(1, 100), (2, 3)]),
        Table("e", "k INTEGER, e ENUM('lo','hi')", By("by_k", "k"), [(1, "lo"), (2, "hi"), (3, "hi")]),
    ],
    [mod("by_k")],
)


@pytest.mark.parametrize(("shards", "grain"), sizes(), ids=str)
@pytest.mark.parametrize("case", read("regressions"), ids=lambda case: case.id)
def test_answers_as_one_database_does(stage: Stage, case: Case, shards: int, grain: Grain) -> None:
    run_case(stage, SCARS, case, shards, grain)


NOT_YET = {
    "FALSE AND guards no subquery that runs first": "SELECT k FROM a WHERE FALSE AND v = (SELECT v FROM b)",
    "[:x] is read as a parameter": "SELECT k, [1, 2, 3][:x] AS z FROM a",
    "sqlglot reads reduce as another function": "SELECT k, reduce([1, 2, 3], lambda p, q: p + q) AS z FROM a",
    "sqlglot does not read X'…' in DuckDB's dialect": "SELECT X'41' AS z",
    "a row without names does not travel": "SELECT k, (SELECT row(1, 'x') FROM a WHERE k = 1) AS z FROM b",
}


@pytest.mark.parametrize(
    "sql",
    [
        pytest.param(sql, id=reason, marks=pytest.mark.xfail(reason=reason, raises=shardwise.Error))
        for reason, sql in NOT_YET.items()
    ],
)
def test_refused_although_one_database_answers(stage: Stage, sql: str) -> None:
    run_case(stage, SCARS, Case(sql, "scars", sql), 2, "shard")


def test_long_chains_of_conditions(stage: Stage) -> None:
    """They ended in Python's own RecursionError."""
    flat = " OR ".join(f"k = {n}" for n in range(1500))
    pairs = " OR ".join(f"(k = {n} AND x = {n})" for n in range(500))
    for condition in (flat, pairs):
        sql = f"SELECT k FROM a WHERE {condition}"
        run_case(stage, SCARS, Case("chain", "scars", sql), 2, "shard")


def test_deep_nesting_is_refused(stage: Stage) -> None:
    connection = stage.connection(SCARS, 2, "shard")
    with pytest.raises(shardwise.NotSupportedError, match="nested too deeply"):
        run(connection, "SELECT " + "abs(" * 400 + "k" + ")" * 400 + " FROM a")
    assert run(connection, "SELECT count(*) FROM a").rows == [(6,)]


def test_long_chains_of_unions(stage: Stage) -> None:
    sql = " UNION ALL ".join(["SELECT k FROM a"] * 300)
    run_case(stage, SCARS, Case("unions", "scars", sql), 2, "shard")


def test_a_parameter_that_is_a_list_takes_no_name(stage: Stage) -> None:
    """`$x` of two members became $x_0 and $x_1, and one of these was the user's own."""
    found = run(
        stage.connection(SCARS, 2, "shard"),
        "SELECT k, $x_0 FROM a WHERE k IN $x ORDER BY k",
        {"x": [1, 2], "x_0": 7},
    )
    assert found.rows == [(1, 7), (2, 7)]


@pytest.mark.parametrize("name", ["f1", "f2", "p1", "subquery_1", "merge", "shard"])
def test_a_registered_table_may_have_a_name_of_the_planner(stage: Stage, name: str) -> None:
    """Fragments are called f1, f2 …; a table called so was not found, or was another."""
    local = pa.table({"k": [1, 2], "z": ["x", "y"]})
    sql = (
        f'SELECT "{name}".z, a.k FROM "{name}" JOIN a ON a.k = "{name}".k WHERE a.v > (SELECT min(y) FROM c)'
    )
    whole = stage.cluster(SCARS, 1, "shard").whole().cursor()
    whole.register(name, local)
    expected = whole.execute(sql).fetchall()
    with stage.cluster(SCARS, 3, "shard").connect() as connection:
        connection.register(name, local)
        assert sorted(run(connection, sql).rows) == sorted(expected)


def test_two_sources_of_one_file(tmp_path: Path) -> None:
    """Both opened it at once, and one found its settings locked."""
    with duckdb.connect(str(tmp_path / "both.duckdb")) as made:
        made.execute("CREATE TABLE t_0 AS SELECT 0 AS k; CREATE TABLE t_1 AS SELECT 1 AS k")
    (tmp_path / "cluster.sql").write_text(
        "CREATE CATALOG x DIALECT duckdb;\n"
        "CREATE SOURCE a URL 'duckdb:///both.duckdb'; CREATE SOURCE b URL 'duckdb:///both.duckdb';\n"
        "CREATE SHARDING by_k USING MOD 2 (a = 0, b = 1);\n"
        "ATTACH TABLE t (k INTEGER) SHARD BY by_k (k) NAMED '{table}_{slot}';\n"
    )
    for _ in range(8):
        with shardwise.connect(str(tmp_path / "cluster.sql")) as connection:
            assert sorted(run(connection, "SELECT k FROM t").rows) == [(0,), (1,)]
