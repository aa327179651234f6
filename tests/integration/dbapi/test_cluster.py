"""The DB-API over a real cluster: what the fake one cannot show."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import shardwise
from tests.integration import tiny

ENDLESS = (
    "SELECT count(*) FROM customers a, customers b, customers c, customers d WHERE a.id + b.id = c.id - d.id"
)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[shardwise.Cluster]:
    folder = tmp_path_factory.mktemp("tiny")
    tiny.make(folder)
    (folder / "cluster.sql").write_text(tiny.WITH_COLUMNS, encoding="utf-8")
    with shardwise.open(folder / "cluster.sql") as opened:
        yield opened


@pytest.fixture
def con(cluster: shardwise.Cluster) -> Iterator[shardwise.Connection]:
    with cluster.connect() as connection:
        yield connection


def rows(con: shardwise.Connection, sql: str) -> list[tuple[object, ...]]:
    return con.execute(sql).fetchall()


def text(con: shardwise.Connection, sql: str) -> str:
    return "\n".join(str(row[0]) for row in rows(con, sql))


# -- descriptions ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sql", "null_ok"),
    [
        ("SELECT * FROM customers", [False, False, True]),
        ("SELECT name AS n, upper(name) FROM customers WHERE id = 3", [False, None]),
        ("SELECT a.id, b.id FROM customers a LEFT JOIN customers b ON a.id = b.id", [False, True]),
        ("SELECT a.id, b.id FROM customers a RIGHT JOIN customers b ON a.id = b.id", [True, False]),
        ("SELECT a.id, b.id FROM customers a FULL JOIN customers b ON a.id = b.id", [True, True]),
        ("SELECT name, max(id) FROM customers GROUP BY name ORDER BY 1 LIMIT 3", [False, None]),
        ("SELECT name, count(*) FROM customers GROUP BY ROLLUP (name)", [None, None]),
        ("SELECT DISTINCT name, NULL, 1 FROM customers", [False, True, False]),
    ],
)
def test_nullability(con: shardwise.Connection, sql: str, null_ok: list[bool | None]) -> None:
    description = con.execute(sql).description
    assert description is not None
    assert [column.null_ok for column in description] == null_ok


def test_describe_of_a_query(con: shardwise.Connection) -> None:
    assert rows(con, "DESCRIBE SELECT id, city AS c, count(*) FROM customers GROUP BY ALL")[:2] == [
        ("id", "INTEGER", "NO", None, None, None),
        ("c", "VARCHAR", "YES", None, None, None),
    ]


# -- parameters and options --------------------------------------------------------------------


def test_parameters(con: shardwise.Connection) -> None:
    sql = "SELECT count(*) FROM customers WHERE id "
    assert con.execute(sql + "= ?", [17]).fetchone() == (1,)
    assert con.execute(sql + "< :n", {"n": 10}).fetchone() == (10,)
    assert con.execute(sql + "IN (?)", [[1, 2, 3]]).fetchone() == (3,)
    assert con.execute(sql + "IN (:ids)", {"ids": [1, 2, 999]}).fetchone() == (2,)
    cur = con.execute("SELECT name FROM customers WHERE id = ?", [17])
    assert cur.fetchall() == [("c17",)]
    assert cur.stats is not None
    assert cur.stats.rows_moved == 1


@pytest.mark.parametrize(
    ("sql", "params"), [("SELECT ?", []), ("SELECT ?", [1, 2]), ("SELECT 1 = :a", {"b": 1})]
)
def test_a_wrong_number_of_parameters(con: shardwise.Connection, sql: str, params: object) -> None:
    with pytest.raises(shardwise.ProgrammingError) as raised:
        con.execute(sql, params)  # type: ignore[arg-type]
    assert raised.value.reason is shardwise.Reason.PARAMETERS


def test_scatter_may_be_refused(cluster: shardwise.Cluster, con: shardwise.Connection) -> None:
    with pytest.raises(shardwise.Unplannable) as raised:
        con.execute("SELECT count(*) FROM customers", scatter="refuse")
    assert raised.value.reason is shardwise.Reason.SCATTER_REFUSED
    with cluster.connect(scatter="refuse") as careful:
        assert careful.execute("SELECT count(*) FROM customers WHERE id = 3").fetchone() == (1,)
        assert careful.execute("SELECT count(*) FROM customers", scatter="allow").fetchone() == (300,)


def test_budget_and_deadline(con: shardwise.Connection) -> None:
    with pytest.raises(shardwise.BudgetExceeded):
        con.execute("SELECT * FROM customers", rows_max=10).fetchall()
    with pytest.raises(shardwise.DeadlineExceeded):
        con.execute(ENDLESS, deadline_s=0.2).fetchall()


def test_interrupt_stops_a_fetch(con: shardwise.Connection) -> None:
    cur = con.execute(ENDLESS)
    timer = threading.Timer(0.2, con.interrupt)
    timer.start()
    with pytest.raises(shardwise.Cancelled):
        cur.fetchall()
    timer.join()
    assert con.execute("SELECT 1").fetchone() == (1,)


# -- shards that cannot answer ----------------------------------------------------------------


BROKEN = {
    "a missing file": ("rm", shardwise.ShardUnavailable),
    "a missing column": ("ALTER TABLE customers DROP city", shardwise.OperationalError),
    "a missing table": ("DROP TABLE customers", shardwise.OperationalError),
    "another type": ("ALTER TABLE customers ALTER city TYPE BLOB", shardwise.OperationalError),
}


@pytest.mark.parametrize("what", BROKEN)
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT city FROM customers WHERE id = 17",
        "SELECT count(DISTINCT city) FROM customers",
        "SELECT a.name FROM customers a JOIN customers b ON a.city = b.city",
    ],
)
def test_execute_fails_where_a_shard_does(tmp_path: Path, what: str, sql: str) -> None:
    tiny.make(tmp_path)
    (tmp_path / "cluster.sql").write_text(tiny.WITH_COLUMNS, encoding="utf-8")
    change, kind = BROKEN[what]
    if change == "rm":
        (tmp_path / "s1.duckdb").unlink()
    else:
        with duckdb.connect(str(tmp_path / "s1.duckdb")) as db:
            db.execute(change)
    with shardwise.connect(tmp_path / "cluster.sql") as con:
        cur = con.cursor()
        with pytest.raises(kind, match='shard "s1"') as raised:
            cur.execute(sql)
        assert isinstance(raised.value, shardwise.OperationalError)
        assert raised.value.shard == "s1"
        assert cur.description is None
        with pytest.raises(shardwise.InterfaceError, match="no statement was executed"):
            cur.fetchone()
        con.explain(sql)
        assert cur.execute("SELECT count(*) FROM customers WHERE id = 2").fetchall() == [(1,)]


def test_what_was_executed_may_still_be_had_as_tuples_or_as_arrow(con: shardwise.Connection) -> None:
    for sql in ("SELECT name FROM customers WHERE id = 17", "SELECT name FROM customers ORDER BY id"):
        wanted = con.execute(sql).fetchall()
        for cur in (con.execute(sql), con.execute(sql)):
            table = cur.to_arrow_table()
            assert [(name,) for name in table["name"].to_pylist()] == wanted
            assert cur.stats is not None
            assert cur.stats.rows_moved == len(wanted)


def test_interrupt_stops_execute(con: shardwise.Connection) -> None:
    """A shard that works long before its first row."""
    timer = threading.Timer(0.3, con.interrupt)
    timer.start()
    with pytest.raises(shardwise.Cancelled):
        con.execute(
            "SELECT a.id, count(*) FROM customers a JOIN cities c ON a.city = c.name, range(1000000000) r(i) "
            "WHERE hash(i) = 1 GROUP BY a.id"
        ).fetchall()
    timer.join()


# -- positions ------------------------------------------------------------------------------------


@pytest.mark.parametrize("prefix", ["", "EXPLAIN ", "EXPLAIN (ANALYZE, FORMAT json)\n ", "DESCRIBE "])
def test_errors_point_into_the_users_text(con: shardwise.Connection, prefix: str) -> None:
    sql = f"{prefix}SELECT citty FROM customers"
    with pytest.raises(shardwise.UnknownName) as raised:
        con.execute(sql)
    position = raised.value.position
    assert position is not None
    line = sql.splitlines()[position.line - 1]
    assert line[position.column - 1 :][: position.length] == "citty"


# -- local tables ---------------------------------------------------------------------------------


def test_local_tables_are_joined(con: shardwise.Connection) -> None:
    for data in (
        pd.DataFrame({"id": [17, 18]}),
        pl.DataFrame({"id": [17, 18]}),
        pa.table({"id": [17, 18]}),
        pa.table({"id": [17, 18]}).to_reader(),
        con.execute("SELECT id FROM customers WHERE id IN (17, 18)"),
    ):
        con.register("cohort", data)
        for _ in range(2):
            assert rows(con, "SELECT name FROM customers JOIN cohort USING (id) ORDER BY 1") == [
                ("c17",),
                ("c18",),
            ]
    assert "Local table cohort" in text(con, "EXPLAIN SELECT name FROM customers JOIN cohort USING (id)")
    con.unregister("cohort")
    with pytest.raises(shardwise.UnknownName):
        con.execute("SELECT * FROM cohort")
    with pytest.raises(shardwise.ProgrammingError, match="an object of type list cannot be read as a table"):
        con.register("cohort", [1, 2])


def test_local_tables_are_one_connections(cluster: shardwise.Cluster, con: shardwise.Connection) -> None:
    con.register("mine", pa.table({"a": [1]}))
    with cluster.connect() as other, pytest.raises(shardwise.UnknownName):
        other.execute("SELECT * FROM mine")


# -- EXPLAIN and SHOW -----------------------------------------------------------------------------


def test_explain(con: shardwise.Connection) -> None:
    sql = "SELECT city, count(*) FROM customers GROUP BY city"
    plan = text(con, f"EXPLAIN {sql}")
    assert "Fragment f1 on 2 of 2 shards: s0, s1" in plan
    assert str(con.explain(sql)) == repr(con.explain(sql)) == plan
    assert con.explain(sql)._repr_html_().startswith("<pre")
    analyzed = text(con, f"EXPLAIN ANALYZE {sql}")
    assert "6 rows" in analyzed
    assert "moved off the shards" in analyzed
    assert text(con, f"EXPLAIN (STEPS) {sql}").startswith("-- ")
    assert text(con, f"EXPLAIN (SHARDS) {sql}").count("customers") > plan.count("customers")
    as_json = json.loads(text(con, f"EXPLAIN (FORMAT json) {sql}"))
    assert as_json["fragments"][0]["shards"] == ["s0", "s1"]
    assert json.loads(text(con, f"EXPLAIN (ANALYZE, FORMAT json) {sql}"))["statistics"]["rows_moved"] == 6


def test_explain_takes_parameters(con: shardwise.Connection) -> None:
    assert "on 1 of 2 shards: s1" in con.explain("SELECT * FROM customers WHERE id = ?", [17]).text


def test_explain_route_has_a_row_per_shard(con: shardwise.Connection) -> None:
    cur = con.execute("EXPLAIN (ROUTE) SELECT name FROM customers WHERE id IN (1, 2, 4)")
    assert cur.description is not None
    assert [column.name for column in cur.description] == ["shard", "source", "sql"]
    found = cur.fetchall()
    assert [row[:2] for row in found] == [("s0", "s0"), ("s1", "s1")]
    assert "customers" in found[0][2]
    explanation = con.explain("SELECT name FROM customers WHERE id = 1", mode="route")
    assert explanation.columns == ("shard", "source", "sql")
    assert explanation._repr_html_().startswith("<table>")


def test_show_route(con: shardwise.Connection) -> None:
    assert rows(con, "SHOW ROUTE FOR customers KEY (17)") == [(1, "s1", "s1", "customers")]
    assert con.execute("SHOW ROUTE FOR customers KEY (?)", [18]).fetchall() == [(0, "s0", "s0", "customers")]
    assert len(rows(con, "SHOW ROUTE FOR customers KEY (NULL)")) == 1


# -- threads and clusters --------------------------------------------------------------------------


def test_threads_share_a_connection(con: shardwise.Connection) -> None:
    def ask(n: int) -> object:
        return con.execute("SELECT name FROM customers WHERE id = ?", [n]).fetchone()

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(ask, range(100))) == [(f"c{n}",) for n in range(100)]


def test_connect_owns_its_cluster(tmp_path: Path) -> None:
    tiny.make(tmp_path)
    with shardwise.connect(tmp_path / "cluster.sql", rows_max=1000) as con:
        assert con.options.rows_max == 1000
        assert con.execute("SELECT count(*) FROM customers").fetchone() == (300,)
        cluster = con.cluster
    with pytest.raises(shardwise.InterfaceError):
        cluster.run("SELECT 1")
    with pytest.raises(TypeError, match="unknown option"):
        shardwise.connect(tmp_path / "cluster.sql", colour="red")


def test_a_notebook_shows_rows_that_are_still_there(con: shardwise.Connection) -> None:
    cur = con.execute("SELECT id, name FROM customers ORDER BY id")
    assert "<td>c0</td>" in cur._repr_html_()
    assert cur.fetchmany(2) == [(0, "c0"), (1, "c1")]
