"""Connection and cursor, as PEP 249 wants them and beyond, over a fake cluster."""

from __future__ import annotations

import datetime
import sys
import threading
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import shardwise
from shardwise.dbapi import Connection
from shardwise.dbapi.types import describe, family
from shardwise.errors import Cancelled
from shardwise.executor import duck
from shardwise.executor.guard import Guard
from tests.integration.dbapi.fake import FakeCluster, connect


@pytest.fixture
def con() -> Iterator[Connection]:
    with connect() as connection:
        yield connection


def cluster_of(con: Connection) -> FakeCluster:
    assert isinstance(con.cluster, FakeCluster)
    return con.cluster


# -- description -----------------------------------------------------------------------------


def test_description_has_duckdbs_names_types_precision_and_scale(con: Connection) -> None:
    cur = con.execute("SELECT 1 AS a, count(*), 1.50::DECIMAL(12,2) AS d, [1] AS l, 'x' AS \"the X\"")
    assert cur.description is not None
    assert [tuple(c) for c in cur.description] == [
        ("a", "INTEGER", None, None, None, None, None),
        ("count_star()", "BIGINT", None, None, None, None, None),
        ("d", "DECIMAL(12,2)", None, None, 12, 2, None),
        ("l", "INTEGER[]", None, None, None, None, None),
        ("the X", "VARCHAR", None, None, None, None, None),
    ]


@pytest.mark.parametrize(
    ("code", "equal"),
    [
        ("VARCHAR", "STRING"),
        ("ENUM('a', 'b')", "STRING"),
        ("UUID", "STRING"),
        ("BLOB", "BINARY"),
        ("DECIMAL(12,2)", "NUMBER"),
        ("HUGEINT", "NUMBER"),
        ("DOUBLE", "NUMBER"),
        ("TIMESTAMP WITH TIME ZONE", "DATETIME"),
        ("DATE", "DATETIME"),
        ("INTEGER[]", None),
        ("STRUCT(a INTEGER)", None),
    ],
)
def test_type_objects_equal_their_codes_and_no_others(code: str, equal: str | None) -> None:
    for name in ("STRING", "BINARY", "NUMBER", "DATETIME", "ROWID"):
        kind = getattr(shardwise, name)
        assert (code == kind) == (kind == code) == (name == equal)
        assert (code != kind) == (name != equal)


def test_type_objects_are_themselves() -> None:
    assert shardwise.STRING == shardwise.STRING != shardwise.NUMBER
    assert repr(shardwise.STRING) == "shardwise.STRING"
    assert family("decimal( 5 , 2 )") == "DECIMAL"
    assert describe("x", "DECIMAL(5)", null_ok=False)[4:] == (5, 0, False)


def test_type_constructors() -> None:
    assert shardwise.Date(2026, 1, 2) == datetime.date(2026, 1, 2)
    assert shardwise.Time(3, 4, 5) == datetime.time(3, 4, 5)
    assert shardwise.Timestamp(2026, 1, 2, 3) == datetime.datetime(2026, 1, 2, 3)
    assert shardwise.Binary(b"x") == b"x"
    assert shardwise.DateFromTicks(86400) == datetime.date(1970, 1, 2)
    assert shardwise.TimeFromTicks(61) == datetime.time(0, 1, 1)
    assert shardwise.TimestampFromTicks(0) == datetime.datetime(1970, 1, 1)


# -- fetching ----------------------------------------------------------------------------------


def test_fetches_mix_and_rowcount_is_known_at_the_end(con: Connection) -> None:
    cur = con.execute("SELECT i FROM range(10) t(i)")
    assert cur.rowcount == -1
    assert cur.fetchone() == (0,)
    assert cur.fetchmany(2) == [(1,), (2,)]
    cur.arraysize = 3
    assert cur.fetchmany() == [(3,), (4,), (5,)]
    assert next(cur) == (6,)
    assert cur.rowcount == -1
    assert list(cur) == [(7,), (8,), (9,)]
    assert cur.rowcount == 10
    assert (cur.fetchone(), cur.fetchmany(5), cur.fetchall()) == (None, [], [])


def test_many_rows_come_in_order_and_whole(con: Connection) -> None:
    cur = con.execute("SELECT i FROM range(200000) t(i)")
    rows = [cur.fetchone(), *cur.fetchmany(3000), *cur.fetchall()]
    assert [row[0] for row in rows if row] == list(range(200_000))
    assert cur.rowcount == 200_000


def test_values_are_duckdbs_python_values(con: Connection) -> None:
    row = con.execute(
        "SELECT 1.50::DECIMAL(5,2), DATE '2026-01-02', 170141183460469231731687303715884105727::HUGEINT, "
        "[1, NULL], {'a': 1}, NULL, 'é', '\\x00'::BLOB"
    ).fetchone()
    assert row == (
        Decimal("1.50"),
        datetime.date(2026, 1, 2),
        170141183460469231731687303715884105727,
        [1, None],
        {"a": 1},
        None,
        "é",
        b"\x00",
    )


def test_fetch_without_a_statement_raises(con: Connection) -> None:
    cur = con.cursor()
    assert cur.description is None
    assert cur.rowcount == -1
    for fetch in (cur.fetchone, cur.fetchall, cur.fetchmany, cur.to_arrow_table, cur.df):
        with pytest.raises(shardwise.InterfaceError, match="no statement"):
            fetch()


def test_a_failed_statement_leaves_no_rows(con: Connection) -> None:
    cur = con.execute("SELECT 1")
    with pytest.raises(shardwise.ProgrammingError):
        cur.execute("SELECT nothing_like_it")
    assert cur.description is None
    with pytest.raises(shardwise.InterfaceError):
        cur.fetchone()


# -- Arrow -------------------------------------------------------------------------------------


def test_arrow_table_reader_and_frames(con: Connection) -> None:
    sql = "SELECT i, 'n' || i AS n FROM range(5) t(i)"
    table = con.execute(sql).to_arrow_table()
    assert table.column_names == ["i", "n"]
    assert con.execute(sql).to_arrow_reader(2).read_all().equals(table)
    assert con.execute(sql).df()["n"].tolist() == ["n0", "n1", "n2", "n3", "n4"]
    assert con.execute(sql).pl()["i"].to_list() == [0, 1, 2, 3, 4]


# Of DuckDB 1.5's own .df() of a TIMESTAMPTZ, with pandas 3.1: duckdb.sql("SELECT now()").df()
@pytest.mark.filterwarnings("ignore:The inplace keyword in DataFrame.drop")
def test_a_data_frame_is_the_one_that_duckdb_gives(con: Connection) -> None:
    sql = """
        SELECT DATE '2020-01-01' AS d, 1.50::DECIMAL(9,2) AS e, TIMESTAMP '2020-01-01 10:00:00' AS ts,
               TIMESTAMPTZ '2020-01-01 10:00:00+00' AS tz, TIME '10:00' AS ti, INTERVAL 1 DAY AS iv,
               'b'::ENUM('a', 'b') AS en, '00000000-0000-0000-0000-000000000001'::UUID AS u, true AS b,
               1::HUGEINT AS h, 1::INTEGER AS i, 'x' AS s, [1, 2] AS l, {'a': 1} AS st, 2 AS i, 3 AS "a""b"
        UNION ALL
        SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 4, 5
    """
    with duckdb.connect() as engine:
        for text in (sql, f"SELECT * FROM ({sql}) WHERE d > DATE '2021-01-01'"):
            frame, wanted = con.execute(text).df(), engine.execute(text).df()
            if duck.IS_V1 and wanted.empty:  # 1.5 forgets an ENUM's values where there are no rows
                wanted["en"] = wanted["en"].astype(frame["en"].dtype)
            pd.testing.assert_frame_equal(frame, wanted)


def test_a_date_beyond_pandas(con: Connection) -> None:
    with pytest.raises(shardwise.DataError, match="to_arrow_table"):
        con.execute("SELECT DATE 'infinity' AS d").df()


@pytest.mark.parametrize(("package", "method"), [("pandas", "df"), ("polars", "pl")])
def test_an_optional_package_that_is_not_there(
    con: Connection, monkeypatch: pytest.MonkeyPatch, package: str, method: str
) -> None:
    cur = con.execute("SELECT 1 AS one")
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(shardwise.NotSupportedError) as caught:
        getattr(cur, method)()
    assert f"{package} is not installed. pip install 'shardwise[{package}]'" in str(caught.value)
    assert cur.fetchall() == [(1,)]


def test_others_read_a_cursor_by_the_capsule_interface(con: Connection) -> None:
    sql = "SELECT i FROM range(3) t(i)"
    assert pa.table(con.execute(sql))["i"].to_pylist() == [0, 1, 2]
    assert pl.DataFrame(con.execute(sql))["i"].to_list() == [0, 1, 2]


def test_rowcount_after_an_arrow_table(con: Connection) -> None:
    cur = con.execute("SELECT i FROM range(3) t(i)")
    cur.to_arrow_table()
    assert cur.rowcount == 3


def test_rows_are_handed_out_once(con: Connection) -> None:
    cur = con.execute("SELECT i FROM range(3) t(i)")
    cur.fetchone()
    with pytest.raises(shardwise.InterfaceError, match="already fetched as tuples"):
        cur.to_arrow_table()
    cur.execute("SELECT 1").to_arrow_reader()
    with pytest.raises(shardwise.InterfaceError, match="as Arrow"):
        cur.fetchone()
    with pytest.raises(shardwise.InterfaceError, match="already handed out"):
        cur.to_arrow_table()


# -- notebooks -----------------------------------------------------------------------------------


def test_showing_a_cursor_does_not_use_its_rows(con: Connection) -> None:
    sql = "SELECT i, NULL AS x, '<b>' AS h, 1.50::DECIMAL(4,2) AS d FROM range(5000) t(i)"
    cur = con.execute(sql)
    shown = cur._repr_html_()
    assert "&lt;b&gt;" in shown
    assert "<i>NULL</i>" in shown
    assert shown.count("<tr>") == 21
    assert "The first 20 rows" in shown
    assert cur._repr_html_() == shown
    assert cur.fetchone() == (0, None, "<b>", Decimal("1.50"))
    assert len(cur.fetchall()) == 4999
    cur.execute(sql)._repr_html_()
    assert cur.to_arrow_table().num_rows == 5000


def test_showing_a_cursor_in_other_states(con: Connection) -> None:
    cur = con.cursor()
    assert "Cursor" in cur._repr_html_()
    assert "<td>" not in cur.execute("SELECT 1 AS a WHERE false")._repr_html_()
    cur.execute("SELECT 1 AS a").fetchall()
    assert cur._repr_html_() == (
        "<table><thead><tr><th>column</th><th>type</th></tr></thead><tbody>"
        "<tr><td>a</td><td>INTEGER</td></tr></tbody></table>"
    )


# -- closing -------------------------------------------------------------------------------------


def test_a_closed_cursor_raises_and_may_be_closed_again(con: Connection) -> None:
    cur = con.execute("SELECT 1")
    cur.close()
    cur.close()
    for use in (cur.fetchone, lambda: cur.execute("SELECT 1"), lambda: cur.setinputsizes([1])):
        with pytest.raises(shardwise.InterfaceError, match="the cursor is closed"):
            use()


def test_a_closed_connection_raises_closes_cursors_and_its_cluster() -> None:
    con = connect()
    cur = con.execute("SELECT 1")
    con.close()
    con.close()
    assert cluster_of(con).is_closed
    for use in (
        con.cursor,
        con.commit,
        con.rollback,
        cur.fetchone,
        lambda: con.register("x", pa.table({"a": [1]})),
    ):
        with pytest.raises(shardwise.InterfaceError, match="is closed"):
            use()


def test_context_managers_close(con: Connection) -> None:
    with con.cursor() as cur:
        cur.execute("SELECT 1")
    with pytest.raises(shardwise.InterfaceError):
        cur.fetchone()


def test_commit_and_rollback_do_nothing(con: Connection) -> None:
    cursor = con.execute("SELECT 1")
    con.commit()
    con.rollback()
    assert cursor.fetchall() == [(1,)]


def test_interrupt_cancels_all_statements(con: Connection) -> None:
    first, second = con.execute("SELECT 1"), con.execute("SELECT 2")
    thread = threading.Thread(target=con.interrupt)
    thread.start()
    thread.join()
    assert first._result.is_cancelled  # type: ignore[union-attr]
    assert second._result.is_cancelled  # type: ignore[union-attr]


# -- parameters and options ---------------------------------------------------------------------


def test_parameters_pass_through(con: Connection) -> None:
    assert con.execute("SELECT ? + ?", [1, 2]).fetchone() == (3,)
    assert con.execute("SELECT $a", {"a": 5}).fetchone() == (5,)


@pytest.mark.parametrize("params", ["abc", b"abc", 5, {1, 2}])
def test_what_is_no_set_of_parameters(con: Connection, params: object) -> None:
    with pytest.raises(shardwise.ProgrammingError) as raised:
        con.execute("SELECT ?", params)  # type: ignore[arg-type]
    assert raised.value.reason is shardwise.Reason.PARAMETERS
    assert raised.value.hint == "For one value write [value]"


def test_a_statement_is_a_str(con: Connection) -> None:
    with pytest.raises(shardwise.ProgrammingError, match="a statement is a str, not bytes"):
        con.execute(b"SELECT 1")  # type: ignore[arg-type]


def test_options_of_a_statement_override_the_connections() -> None:
    cluster = FakeCluster()
    con = Connection(cluster, shardwise.Options(scatter="refuse", rows_max=5))  # type: ignore[arg-type]
    con.execute("SELECT 1")
    con.execute("SELECT 1", scatter="allow", deadline_s=2.5)
    first, second = cluster.options
    assert (first.scatter, first.rows_max, first.deadline_s) == ("refuse", 5, None)
    assert (second.scatter, second.rows_max, second.deadline_s) == ("allow", 5, 2.5)
    with pytest.raises(TypeError, match="unknown option 'deadline'; options are bytes_max"):
        con.execute("SELECT 1", deadline=5)


# -- local tables --------------------------------------------------------------------------------


def test_register_hands_tables_to_statements(con: Connection) -> None:
    table, frame = pa.table({"a": [1]}), pd.DataFrame({"a": [2]})
    con.register("Mine", table)
    con.execute("SELECT 1")
    con.register("mine", frame)
    con.execute("SELECT 1")
    con.unregister("MINE")
    con.unregister("never there")
    con.execute("SELECT 1")
    assert [list(given) for given in cluster_of(con).locals] == [["Mine"], ["mine"], []]


def test_register_refuses_names_of_the_catalog(con: Connection) -> None:
    for name in ("users", "People"):
        with pytest.raises(shardwise.ProgrammingError, match=r"is a (table|view) of the catalog"):
            con.register(name, pa.table({"a": [1]}))
    with pytest.raises(shardwise.ProgrammingError, match="needs a name"):
        con.register("", pa.table({"a": [1]}))


# -- statements that are no queries -------------------------------------------------------------


def test_statements_that_write_are_not_supported(con: Connection) -> None:
    with pytest.raises(shardwise.NotSupportedError, match="INSERT is not supported: shardwise reads only"):
        con.execute("INSERT INTO users VALUES (1)")
    with pytest.raises(shardwise.NotSupportedError, match="UPDATE is not supported"):
        con.cursor().executemany("UPDATE users SET name = ?", [["a"]])
    with pytest.raises(shardwise.ProgrammingError, match="executemany"):
        con.cursor().executemany("SELECT ?", [[1]])


def rows(con: Connection, sql: str) -> list[tuple[object, ...]]:
    return con.execute(sql).fetchall()


def test_show_lists_what_the_catalog_says(con: Connection) -> None:
    assert rows(con, "SHOW TABLES") == [
        ("users", "sharded", "SHARD BY by_id (id)", 2, None),
        ("kinds", "reference", "REFERENCE ON by_id", 2, None),
        ("settings", "single", "ON s0", 1, None),
        ("people", "view", None, None, None),
    ]
    assert rows(con, "SHOW SHARDS") == [("s0", "s0", "", "by_id"), ("s1", "s1", "", "by_id")]
    assert rows(con, "SHOW SHARDINGS") == [("by_id", "MOD 2 AS n ON s{n}", 2, 2, "users")]
    assert rows(con, "SHOW SOURCES") == [
        ("s0", "duckdb:///s0.duckdb", "duckdb", False, None),
        ("s1", "duckdb:///s1.duckdb", "duckdb", False, None),
    ]
    assert rows(con, "SHOW COLUMNS FROM Users") == rows(con, "DESCRIBE users")
    assert rows(con, "DESCRIBE users") == [
        ("id", "BIGINT", "NO", "PRI", None, None),
        ("name", "VARCHAR", "NO", None, None, None),
        ("city", "VARCHAR", "YES", None, None, None),
    ]


def test_show_rows_are_arrow_too(con: Connection) -> None:
    table = con.execute("SHOW SOURCES").to_arrow_table()
    assert table.schema.field("read_only").type == pa.bool_()
    assert table["source"].to_pylist() == ["s0", "s1"]
    assert duckdb.from_arrow(con.execute("SHOW TABLES").to_arrow_table()).shape == (4, 5)


def test_show_of_what_is_not_there(con: Connection) -> None:
    with pytest.raises(shardwise.UnknownName, match='there is no table "nope"') as raised:
        con.execute("SHOW COLUMNS FROM nope")
    assert raised.value.reason is shardwise.Reason.UNKNOWN_TABLE
    with pytest.raises(
        shardwise.ProgrammingError, match='"kinds" has no shard key of its own: REFERENCE ON by_id'
    ):
        con.execute("SHOW ROUTE FOR kinds KEY (1)")
    with pytest.raises(
        shardwise.ProgrammingError, match=r"the shard key of \"users\" is \(id\): 2 values were given"
    ):
        con.execute("SHOW ROUTE FOR users KEY (1, 2)")


def test_a_statement_can_be_cancelled_before_it_has_rows() -> None:
    """While it is planned, and while what runs first runs: `Cluster.run` is handed the switch."""
    connection = connect()
    cursor = connection.cursor()
    seen: list[bool] = []
    run = connection.cluster.run

    def cancelling(*args: Any, guard: Guard, **kwargs: Any) -> Any:
        connection.interrupt()
        seen.append(isinstance(guard.error, Cancelled))
        guard.check()
        return run(*args, guard=guard, **kwargs)

    connection.cluster.run = cancelling  # type: ignore[method-assign]
    for sql in ("SELECT 1", "EXPLAIN ANALYZE SELECT 1", "DESCRIBE SELECT 1"):
        with pytest.raises(Cancelled):
            cursor.execute(sql)
    assert seen == [True] * 3
    connection.cluster.run = run  # type: ignore[method-assign]
    assert cursor.execute("SELECT 1").fetchall() == [(1,)]
