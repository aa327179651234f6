"""A cluster of real files: catalog, planner and executor joined."""

from __future__ import annotations

import gc
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest

from shardwise.catalog import load
from shardwise.errors import (
    Cancelled,
    CatalogError,
    DataError,
    InterfaceError,
    NotSupportedError,
    ProgrammingError,
    ShardUnavailable,
    SQLSyntaxError,
    UnknownName,
)
from shardwise.options import Options
from shardwise.session import Cluster
from shardwise.session import open as open_cluster
from shardwise.session.locating import Locator
from shardwise.session.parameters import first_of_lists, for_engine

CATALOG = """
CREATE SOURCE s{n} FOR n IN 0-2 URL 'duckdb:///shards/s{n}.duckdb';
CREATE SOURCE lake URL 'parquet:///lake';
CREATE SHARDING by_id USING MOD 3 AS n ON s{n};
ATTACH TABLE people SHARD BY by_id (id);
ATTACH TABLE orders SHARD BY by_id (person) NAMED 'orders_{n:02}';
ATTACH TABLE kinds REFERENCE ON by_id;
ATTACH TABLE * ON lake;
CREATE VIEW few AS SELECT id, name FROM people WHERE id < 4;
"""


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """To be copied, which is quicker than making it."""
    root = tmp_path_factory.mktemp("made")
    (root / "shards").mkdir(parents=True)
    (root / "lake").mkdir()
    for n in range(3):
        with duckdb.connect(str(root / "shards" / f"s{n}.duckdb")) as con:
            con.execute(
                f"""CREATE TABLE people AS
                SELECT range * 3 + {n} AS id, 'p' || range AS name, range % 2 AS kind FROM range(10)"""
            )
            con.execute("ALTER TABLE people ADD PRIMARY KEY (id)")
            con.execute(f"CREATE TABLE orders_{n:02} AS SELECT id AS person, id * 1.5 AS total FROM people")
            con.execute("CREATE TABLE kinds AS SELECT range AS kind, 'k' || range AS label FROM range(2)")
    duckdb.sql("SELECT range AS day FROM range(5)").to_parquet(str(root / "lake" / "days.parquet"))
    (root / "cluster.sql").write_text(CATALOG)
    return root


@pytest.fixture
def folder(tmp_path: Path, made: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "it's a folder"))


@pytest.fixture
def cluster(folder: Path) -> Iterator[Cluster]:
    with open_cluster(folder / "cluster.sql") as cluster:
        yield cluster


def rows(cluster: Cluster, sql: str, params: Any = (), **more: Any) -> list[tuple[Any, ...]]:
    with cluster.run(sql, params, **more) as result:
        return result.fetchall()


def test_columns_that_nobody_listed_are_read_off_the_first_shard(cluster: Cluster, folder: Path) -> None:
    people = cluster.catalog.table("people")
    assert [column.name for column in people.columns] == ["id", "name", "kind"]
    assert people.primary_key == ("id",)
    assert cluster.catalog.table("days") is not None
    assert cluster.catalog.version == cluster.declared.version
    assert cluster.declared.table("people").columns is None
    assert sorted(path.name for path in folder.iterdir()) == ["cluster.sql", "lake", "shards"]


@pytest.mark.parametrize(
    ("sql", "params", "wanted"),
    [
        ("SELECT count(*), max(id) FROM people", (), [(30, 29)]),
        ("SELECT name FROM people WHERE id = ?", [7], [("p2",)]),
        ("SELECT sum(total) FROM people JOIN orders ON person = id WHERE name = :n", {"n": "p1"}, [(18.0,)]),
        (
            "SELECT label, count(*) FROM people JOIN kinds USING (kind) GROUP BY label ORDER BY 1",
            (),
            [("k0", 15), ("k1", 15)],
        ),
        ("SELECT id FROM people WHERE id IN (?) ORDER BY id", [[1, 5, 99]], [(1,), (5,)]),
        ("SELECT id FROM people WHERE id IN :ids", {"ids": (4,)}, [(4,)]),
        ("SELECT id FROM people WHERE id IN (?)", [[]], []),
        ("SELECT * FROM few ORDER BY id DESC LIMIT 1", (), [(3, "p1")]),
        ("SELECT day, name FROM days JOIN people ON id = day ORDER BY day LIMIT 1", (), [(0, "p0")]),
        (
            "SELECT name FROM people WHERE id = (SELECT max(person) FROM orders WHERE total < 6)",
            (),
            [("p1",)],
        ),
        ("SELECT 1 + 1", (), [(2,)]),
        ("SELECT count(*) FROM people WHERE false", (), [(0,)]),
        ("SELECT id, _shard FROM people WHERE id < 2 ORDER BY id", (), [(0, "s0"), (1, "s1")]),
    ],
)
def test_queries(cluster: Cluster, sql: str, params: Any, wanted: Any) -> None:
    assert rows(cluster, sql, params) == wanted
    with cluster.run(sql, params) as result:
        table = result.arrow_reader().read_all()
    assert [tuple(map(float_or, row.values())) for row in table.to_pylist()] == [
        tuple(map(float_or, row)) for row in wanted
    ]


def float_or(value: Any) -> Any:
    return float(value) if not isinstance(value, str) else value


def test_names_and_types_are_duckdbs_for_the_users_own_text(cluster: Cluster) -> None:
    with cluster.run("SELECT count(*), max(ID) + 1, avg(kind) AS a, a FROM people") as result:
        assert [name for name, _ in result.columns] == ["count_star()", "(max(ID) + 1)", "a", "a"]
        assert [type_ for _, type_ in result.columns] == ["BIGINT", "BIGINT", "DOUBLE", "DOUBLE"]


def test_local_tables(cluster: Cluster) -> None:
    cohort = pd.DataFrame({"id": [1, 2, 77], "why": ["x", "y", "z"]})
    sql = "SELECT name, why FROM people JOIN cohort USING (id) ORDER BY id"
    assert rows(cluster, sql, locals={"cohort": cohort}) == [("p0", "x"), ("p0", "y")]
    with pytest.raises(UnknownName):
        rows(cluster, sql)


@pytest.mark.parametrize(
    ("sql", "params", "kind", "message"),
    [
        ("SELECT nam FROM people", (), UnknownName, "nam"),
        ("SELECT * FROM peopel", (), UnknownName, 'Did you mean "people"'),
        ("SELECT 1 +", (), SQLSyntaxError, "syntax error"),
        ("SELECT id FROM people WHERE id = ?", (), ProgrammingError, "0 were given"),
        ("SELECT id FROM people WHERE id = ?", [1, 2], ProgrammingError, "2 were given"),
        ("SELECT * FROM read_csv('x')", (), NotSupportedError, "read_csv"),
        ("SELECT CAST(name AS INTEGER) FROM people", (), DataError, "Could not convert string 'p"),
        ("SELECT sum(name) FROM people", (), ProgrammingError, "sum"),
    ],
)
def test_mistakes(cluster: Cluster, sql: str, params: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        rows(cluster, sql, params)


def test_a_missing_shard_that_was_to_tell_the_columns(folder: Path) -> None:
    aside = (folder / "shards" / "s0.duckdb").rename(folder / "aside")
    with open_cluster(folder / "cluster.sql") as cluster:
        assert rows(cluster, "SELECT count(*) FROM days") == [(5,)]
        for _ in range(2):
            with pytest.raises(ShardUnavailable, match=r"s0.*does not exist"):
                rows(cluster, "SELECT count(*) FROM people")
        aside.rename(folder / "shards" / "s0.duckdb")
        assert rows(cluster, "SELECT count(*) FROM people") == [(30,)]


def test_a_table_that_is_not_there(folder: Path) -> None:
    with duckdb.connect(str(folder / "shards" / "s0.duckdb")) as con:
        con.execute("DROP TABLE orders_00")
    with open_cluster(folder / "cluster.sql") as cluster:
        with pytest.raises(CatalogError, match='table "orders_00" is not on shard "s0"'):
            rows(cluster, "SELECT count(*) FROM orders")
        assert rows(cluster, "SELECT count(*) FROM people") == [(30,)]


def test_explain_sources(cluster: Cluster) -> None:
    texts = cluster.explain_sources(cluster.plan("SELECT count(*) FROM people WHERE kind = ?", [1]))
    assert {shard for _, shard in texts} == {"s0", "s1", "s2"}
    assert all("people" in text for text in texts.values())


def test_a_source_to_look_into(cluster: Cluster) -> None:
    with cluster.open_source("s1") as source:
        assert source.rows("SELECT count(*) FROM people") == [(10,)]
        assert source.columns("PEOPLE") == (("id", "BIGINT"), ("name", "VARCHAR"), ("kind", "BIGINT"))
        assert source.columns("nothing") == ()
        with pytest.raises(Exception, match="nothing"):
            source.rows("SELECT nothing FROM people")
    with cluster.open_source("lake") as source:
        assert source.columns("days") == (("day", "BIGINT"),)


def test_options(folder: Path) -> None:
    with pytest.raises(TypeError, match="unknown option 'rows'; options are"):
        open_cluster(folder / "cluster.sql", rows=1)
    header = "CREATE CATALOG c WITH (time_zone = 'Asia/Tokyo', connections_per_server = 2);"
    (folder / "cluster.sql").write_text(header + CATALOG)
    with open_cluster(folder / "cluster.sql", rows_max=10) as cluster:
        assert cluster.options == Options(time_zone="Asia/Tokyo", requests_per_source_max=2, rows_max=10)
        sql = "SELECT CAST(TIMESTAMPTZ '2024-05-01 10:00:00+00' AS VARCHAR) AS z FROM people WHERE id = 1"
        assert rows(cluster, sql) == [("2024-05-01 19:00:00+09",)]
        assert rows(cluster, sql, options=Options()) == [("2024-05-01 10:00:00+00",)]


def test_two_clusters_of_one_process(folder: Path) -> None:
    with (
        open_cluster(folder / "cluster.sql") as one,
        open_cluster(folder / "cluster.sql", threads=1) as other,
    ):
        with one.run("SELECT id FROM people") as result:
            assert len(result.fetchmany(3)) == 3
            assert rows(other, "SELECT count(*) FROM people") == [(30,)]
        one.close()
        assert rows(other, "SELECT count(*) FROM people") == [(30,)]


def test_a_catalog_object(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    with open_cluster(load("cluster.sql")) as cluster:
        assert rows(cluster, "SELECT count(*) FROM people") == [(30,)]


def test_passwords_are_found_and_not_shown(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "pw").write_text("from file\n")
    text = """CREATE SOURCE a URL 'mysql://u@h/d' PASSWORD ENV 'PW';
        CREATE SOURCE b URL 'mysql://u@h/d' PASSWORD FILE 'pw';"""
    (folder / "secret.sql").write_text(text)
    monkeypatch.setenv("PW", "from environment")
    catalog = load(folder / "secret.sql")
    found = Locator(catalog, folder, {"c": "x"})
    assert found.locate("a").password == "from environment"
    assert found.locate("b").password == "from file"
    assert "from" not in repr(found.locate("a"))
    assert Locator(catalog, folder, lambda name: f"given {name}").locate("a").password == "given a"


def test_after_close(folder: Path) -> None:
    cluster = open_cluster(folder / "cluster.sql")
    assert rows(cluster, "SELECT count(*) FROM people") == [(30,)]
    cluster.close()
    cluster.close()
    with pytest.raises(InterfaceError, match="the cluster is closed"):
        rows(cluster, "SELECT 1")
    with pytest.raises(InterfaceError):
        cluster.connect()


def test_what_is_cancelled_between_two_fetches_is_given_back(folder: Path) -> None:
    with open_cluster(folder / "cluster.sql") as cluster, cluster.connect() as con:
        cursor = con.execute("SELECT a.id FROM people a, range(100000)")
        assert cursor.fetchmany(1)
        assert cluster._resources.limits._all.held > 0
        cursor.cancel()
        with pytest.raises(Cancelled):
            cursor.fetchall()
        assert cluster._resources.limits._all.held == 0


def test_a_cluster_that_is_dropped_is_closed(folder: Path) -> None:
    before = set(threading.enumerate())
    cluster = open_cluster(folder / "cluster.sql")
    assert rows(cluster, "SELECT count(*) FROM people") == [(30,)]
    assert {t for t in threading.enumerate() if t.name.startswith("shardwise")} - before
    del cluster
    gc.collect()
    assert not {t for t in threading.enumerate() if t.name.startswith("shardwise")} - before
    with duckdb.connect(str(folder / "shards" / "s0.duckdb")) as con:
        con.execute("CREATE TABLE more (a INTEGER)")


@pytest.mark.slow
def test_a_process_ends_amid_rows(folder: Path) -> None:
    """Also when it closes nothing."""
    code = """
import sys
from shardwise.session import open
cluster = open(sys.argv[1])
result = cluster.run("SELECT a.id FROM people a, people b, people c, people d")
print(len(result.fetchmany(10)))
"""
    done = subprocess.run(
        [sys.executable, "-c", code, str(folder / "cluster.sql")],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        cwd=Path(__file__).parents[3],
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "10\n", "")


def test_parameters_for_the_engine() -> None:
    sql = "SELECT ':a', \":a\", :a, x::a, {'k':b}, l[1:n] -- :a\n/* :a */ , $$ :a $$, :c"
    text, values = for_engine(sql, {"a": (1, 2), "c": 3})
    assert text == "SELECT ':a', \":a\", $a, x::a, {'k':b}, l[1:n] -- :a\n/* :a */ , $$ :a $$, $c"
    assert values == {"a": [1, 2], "c": 3}
    assert for_engine("SELECT ?", [{1}]) == ("SELECT ?", [[1]])
    assert first_of_lists([[1, 2], []]) == [1, None]
    assert first_of_lists({"a": 1}) is None


def test_a_forked_child_is_told_to_open_its_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "cluster.sql").write_text("CREATE SOURCE a URL 'duckdb:///a.duckdb';")
    with open_cluster(tmp_path / "cluster.sql") as cluster:
        monkeypatch.setattr(os, "getpid", lambda: -1)
        with pytest.raises(InterfaceError, match=r"another process.*Open a cluster in each process"):
            cluster.plan("SELECT 1")
        monkeypatch.undo()
        assert cluster.plan("SELECT 1").shards == ()
