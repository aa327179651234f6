"""The cluster's plan cache: names, types and rows are right, whatever statement was there before."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from shardwise.dbapi import Connection
from shardwise.errors import DataError
from shardwise.session import Cluster
from shardwise.session import open as open_cluster
from tests.integration import tiny
from tests.integration.session import tenants


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tiny")
    tiny.make(folder)
    return folder


@pytest.fixture
def cluster(folder: Path) -> Iterator[Cluster]:
    with open_cluster(folder / "cluster.sql") as cluster:
        yield cluster


@pytest.fixture
def con(cluster: Cluster) -> Iterator[Connection]:
    with cluster.connect() as con:
        yield con


def answer(con: Connection, sql: str, params: Any = None, **options: Any) -> tuple[Any, Any]:
    cursor = con.execute(sql, params, **options)
    names = [(column.name, column.type_code) for column in cursor.description or ()]
    return names, cursor.fetchall()


def figures(con: Connection) -> dict[str, int]:
    return dict(con.execute("SHOW CACHE").fetchall())


def test_parameters_and_literals(con: Connection) -> None:
    for key in (1, 2, 3, 1, 299, 300):
        rows = [(f"c{key}",)] if key < 300 else []
        assert answer(con, "SELECT name FROM customers WHERE id = ?", [key]) == ([("name", "VARCHAR")], rows)
        assert answer(con, f"SELECT name FROM customers WHERE id = {key}") == ([("name", "VARCHAR")], rows)
    found = figures(con)
    assert (found["plan_hits"], found["planned"], found["plans"]) == (10, 2, 2)
    assert found["literal_hits"] == 4


@pytest.mark.parametrize(
    ("sql", "sets"),
    [
        ("SELECT ? AS x", [[1], [2**40], ["a"], [1.5], [None], [True]]),
        ("SELECT ? AS x", [[datetime(2026, 1, 1)], [datetime(2026, 1, 1, tzinfo=UTC)]]),
        ("SELECT id + ? AS x FROM customers WHERE id = 4", [[1], [2**40], [1.5], [2**70]]),
        ("SELECT x FROM (SELECT ? AS x) WHERE x = ?", [[1, 1], ["1", "1"], [1, "1"]]),
        ("SELECT count(*) AS x FROM customers WHERE id IN (?)", [[[1, 2]], [[1]], [[]], [[1, 2, 3]]]),
    ],
)
def test_types_follow_the_values(con: Connection, sql: str, sets: list[Any]) -> None:
    for params in (*sets, *reversed(sets)):
        wanted = answer(con, sql, params, plan_cache=False)
        assert answer(con, sql, params) == wanted
        assert answer(con, sql, params) == wanted


@pytest.mark.parametrize("form", ["SELECT {}", "SELECT id + {} FROM customers WHERE id = 7", "SELECT '{}'"])
def test_unnamed_columns_are_named_by_their_own_text(con: Connection, form: str) -> None:
    for number in (1, 2, 1):
        sql = form.format(number)
        ((name, _),) = answer(con, sql)[0]
        assert str(number) in name
        assert answer(con, sql) == answer(con, sql, plan_cache=False)


def test_a_name_that_holds_a_literal_of_a_subquery(con: Connection) -> None:
    for key in (1, 2):
        ((name, _),), rows = answer(con, f"SELECT (SELECT name FROM customers WHERE id = {key})")
        assert f"id = {key}" in name
        assert rows == [(f"c{key}",)]


def test_it_can_be_switched_off(folder: Path) -> None:
    with open_cluster(folder / "cluster.sql", plan_cache=False) as cluster, cluster.connect() as con:
        for _ in range(2):
            assert answer(con, "SELECT name FROM customers WHERE id = ?", [4])[1] == [("c4",)]
        assert figures(con)["statements"] == 0


def test_a_local_table_is_not_taken_for_another(con: Connection) -> None:
    sql = "SELECT name FROM customers JOIN mine USING (id) WHERE id = 3"
    for ids in ([3], [4]):
        con.register("mine", pa.table({"id": ids}))
        assert answer(con, sql)[1] == [("c3",)] * (ids == [3])
    assert figures(con)["statements"] == 0
    assert answer(con, "SELECT name FROM customers WHERE id = 3")[1] == [("c3",)]
    assert figures(con)["statements"] == 1


def test_the_moment_is_not_kept(con: Connection) -> None:
    first, second = (answer(con, "SELECT now()")[1] for _ in range(2))
    assert first < second


def test_show_cache_statements_shows_no_value(con: Connection) -> None:
    con.execute("SELECT name FROM customers WHERE id = 5 AND name <> 'secret' LIMIT 3").fetchall()
    con.execute("SELECT name FROM customers WHERE id = ?", [7]).fetchall()
    shown = con.execute("SHOW CACHE STATEMENTS").fetchall()
    assert [row[0] for row in shown] == [
        "SELECT name FROM customers WHERE id = ?",
        "SELECT name FROM customers WHERE id = ? AND name <> ? LIMIT ?",
    ]
    assert all(row[1:4] == (0, 1, 1) and row[4] > 0 for row in shown)


def test_explain_is_about_the_values_at_hand(con: Connection) -> None:
    for key, shard in ((1, "s1"), (2, "s0"), (3, "s1")):
        con.execute(f"SELECT name FROM customers WHERE id = {key}").fetchall()
        text = str(con.explain(f"SELECT name FROM customers WHERE id = {key}"))
        assert f"on 1 of 2 shards: {shard}" in text
        assert f"id = {key}" in text


def test_threads_share_it(cluster: Cluster) -> None:
    def work(start: int) -> None:
        with cluster.connect() as con:
            for turn in range(25):
                key = (start * 37 + turn * 11) % 300
                sql, params = (
                    ("SELECT id, name FROM customers WHERE id = ?", [key])
                    if turn % 2
                    else (f"SELECT id, name FROM customers WHERE id = {key}", None)
                )
                assert con.execute(sql, params).fetchall() == [(key, f"c{key}")]

    with ThreadPoolExecutor(6) as pool:
        for done in [pool.submit(work, number) for number in range(6)]:
            done.result()
    assert cluster.plan_cache.figures().plan_hits > 100


@pytest.mark.parametrize("product", ["sqlite", "duckdb"])
def test_a_file_per_tenant_is_planned_once(tmp_path: Path, product: str) -> None:
    names = [f"t{number}" for number in range(6)]
    for number, name in enumerate(names):
        tenants.write(tmp_path, name, [(number, f"of {name}", None), (9, None, 1.5)], product=product)
    with tenants.cluster(tmp_path, product=product) as cluster, cluster.connect() as con:
        sql = "SELECT tenant, body FROM notes WHERE tenant = ? AND id < 9"
        for name in (*names, "nobody", *names):
            wanted = [(name, f"of {name}")] if name in names else []
            assert con.execute(sql, [name]).fetchall() == wanted
        with pytest.raises(DataError):
            con.execute(sql, ["../t1"])
        assert figures(con)["planned"] == 1
        for name in (*names, *names):
            with cluster.connect(scope={"tenant": name}, pinned=True) as own:
                assert own.execute("SELECT tenant, body FROM notes WHERE id < 9").fetchall() == [
                    (name, f"of {name}")
                ]
        assert figures(con)["planned"] == 2
