"""CREATE TEMP TABLE and VIEW: a connection's own, in the merge."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

import shardwise
from shardwise.dbapi import Connection
from shardwise.errors import (
    InterfaceError,
    NotSupportedError,
    Position,
    ProgrammingError,
    SQLSyntaxError,
    UnknownName,
)
from tests.integration import tiny

FIVE = "SELECT id, name, city FROM customers WHERE id < 5"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("local")
    tiny.make(folder)
    return folder


@pytest.fixture(scope="module")
def cluster(folder: Path) -> Iterator[shardwise.Cluster]:
    with shardwise.open(folder / "cluster.sql") as cluster:
        yield cluster


@pytest.fixture
def con(cluster: shardwise.Cluster) -> Iterator[Connection]:
    with cluster.connect() as con:
        yield con


def rows(con: Connection, sql: str, *params: object) -> list[tuple[object, ...]]:
    return con.execute(sql, params or None).fetchall()


def stored(con: Connection) -> list[str]:
    """The tables that the connection's store holds, whoever still has them."""
    names = con.local_tables.store(con.options).cursor().execute("SELECT table_name FROM duckdb_tables()")
    return [name for (name,) in names.fetchall()]


# -- what they are ------------------------------------------------------------------------------


def test_a_result_is_kept_and_joined(con: Connection) -> None:
    cursor = con.execute(f"CREATE TEMP TABLE five AS {FIVE}")
    assert (cursor.rowcount, cursor.description) == (5, None)
    with pytest.raises(InterfaceError, match="gives none"):
        cursor.fetchall()
    assert rows(con, "SELECT count(*), max(name) FROM Five") == [(5, "c4")]
    joined = "SELECT c.id, f.city FROM customers c JOIN five f USING (id) WHERE f.city = 'City 1' ORDER BY 1"
    assert rows(con, joined) == [(1, "City 1"), (4, "City 1")]
    assert rows(con, "SELECT f.id FROM temp.five f ORDER BY 1 LIMIT 1") == [(0,)]
    assert rows(con, "SELECT temp.five.id, five.id FROM temp.five ORDER BY 1 LIMIT 1") == [(0, 0)]


@pytest.mark.parametrize(
    "text",
    [
        "CREATE TEMPORARY TABLE x AS SELECT max(id) AS m FROM customers",
        "create or replace temp table x as (select max(id) as m from customers);",
        "CREATE TEMP TABLE temp.x AS FROM (SELECT max(id) AS m FROM customers)",
        'CREATE TEMP TABLE IF NOT EXISTS "X" (m) AS FROM (SELECT max(id) FROM customers) WITH DATA',
        "CREATE /* mine */ TEMP TABLE x AS -- all\nSELECT max(id) AS m FROM customers",
    ],
)
def test_ways_to_write_it(con: Connection, text: str) -> None:
    assert con.execute(text).rowcount == 1
    assert rows(con, "SELECT m FROM x") == [(299,)]


def test_types_are_kept_as_they_are(con: Connection) -> None:
    values = {
        "h": "170141183460469231731687303715884105727::HUGEINT",
        "uh": "340282366920938463463374607431768211455::UHUGEINT",
        "e": "'b'::ENUM('a', 'b')",
        "u": "'6b9f1b1e-0000-4000-8000-000000000001'::UUID",
        "tz": "TIMESTAMPTZ '2020-01-01 10:00:00+02'",
        "ttz": "TIMETZ '10:00:00+02'",
        "ns": "TIMESTAMP_NS '2020-01-01 00:00:00.123456789'",
        "d": "1.10::DECIMAL(38, 20)",
        "j": """'{"a": [1]}'::JSON""",
        "bit": "'0101'::BIT",
        "n": "{'e': ['a'::ENUM('a'), NULL], 'm': MAP {'k': 5::HUGEINT}}",
        "iv": "INTERVAL '1 month 2 days'",
        "un": "union_value(k := 1::TINYINT)",
        "arr": "[1, 2]::INTEGER[2]",
        "blob": "'\\x00ff'::BLOB",
    }
    query = ", ".join(f"{value} AS {name}" for name, value in values.items())
    # Once merged, once off a shard: another way into the store.
    for source in ("(SELECT count(*) FROM customers)", "customers WHERE id = 17"):
        con.execute(f"CREATE OR REPLACE TEMP TABLE typed AS SELECT {query} FROM {source}")
        found = con.execute("SELECT * FROM typed, (SELECT count(*) AS n_ FROM customers)")
        wanted = duckdb.connect().execute(f"SELECT {query}")
        types = [(c.name, c.type_code) for c in found.description or ()][:-1]
        assert types == [(c[0], str(c[1])) for c in wanted.description or ()]
        assert [row[:-1] for row in found.fetchall()] == wanted.fetchall()


def test_names_are_those_of_the_query_made_unique(con: Connection) -> None:
    con.execute("CREATE TEMP TABLE x AS SELECT a.id, b.id, 1 FROM customers a JOIN customers b USING (id)")
    assert [c.name for c in con.execute("FROM x").description or ()] == ["id", "id_1", "1"]
    con.execute('CREATE OR REPLACE TEMP TABLE x (a, "b c") AS SELECT 1, 2, 3 AS k')
    assert [c.name for c in con.execute("FROM x").description or ()] == ["a", "b c", "k"]
    with pytest.raises(ProgrammingError, match='2 columns are named, and the query of "y" has 1'):
        con.execute("CREATE TEMP TABLE y (a, b) AS SELECT 1")


def test_without_rows(con: Connection) -> None:
    cursor = con.execute("CREATE TEMP TABLE none AS SELECT id, city FROM customers WITH NO DATA")
    assert cursor.rowcount == 0
    assert rows(con, "SELECT count(*), count(c.id) FROM none LEFT JOIN customers c USING (id)") == [(0, 0)]


def test_parameters_are_bound(con: Connection) -> None:
    con.execute(
        "CREATE TEMP TABLE x AS SELECT id, ? AS label FROM customers WHERE id IN (?)", ["it's", [3, 4]]
    )
    assert rows(con, "FROM x ORDER BY 1") == [(3, "it's"), (4, "it's")]
    con.execute("CREATE TEMP TABLE y AS SELECT * FROM x WHERE id = :id", {"id": 4})
    assert rows(con, "FROM y") == [(4, "it's")]


# -- names -----------------------------------------------------------------------------------------


def test_a_name_is_taken_once(con: Connection) -> None:
    con.execute("CREATE TEMP TABLE x AS SELECT 1 AS a")
    with pytest.raises(ProgrammingError, match='local table "x" already') as raised:
        con.execute("CREATE TEMP TABLE X AS SELECT 2 AS a")
    assert raised.value.sqlstate == "42P07"
    assert con.execute("CREATE TEMP TABLE IF NOT EXISTS x AS SELECT 2 AS a").rowcount == 0
    assert rows(con, "FROM x") == [(1,)]
    con.execute("CREATE OR REPLACE TEMP TABLE X AS SELECT 3 AS a, * FROM x AS y(b)")
    assert rows(con, "FROM x") == [(3, 1)]
    with pytest.raises(ProgrammingError, match='"X" is a local table, and is not replaced by a view'):
        con.execute("CREATE OR REPLACE TEMP VIEW x AS SELECT 1")
    con.register("x", pa.table({"b": [9]}))
    assert rows(con, "FROM x") == [(9,)]


def test_a_table_of_the_catalog_is_not_hidden(con: Connection) -> None:
    for text in ("TABLE Customers AS SELECT 1", "VIEW cities AS SELECT 1"):
        with pytest.raises(ProgrammingError, match="of the catalog and cannot be hidden"):
            con.execute(f"CREATE OR REPLACE TEMP {text}")


def test_a_failed_query_changes_nothing(con: Connection) -> None:
    con.execute("CREATE TEMP TABLE x AS SELECT 1 AS a")
    with pytest.raises(shardwise.DataError):
        con.execute("CREATE OR REPLACE TEMP TABLE x AS SELECT CAST(name AS INTEGER) FROM customers")
    with pytest.raises(UnknownName) as raised:
        con.execute("CREATE OR REPLACE TEMP TABLE x AS\n  SELECT citty FROM customers")
    assert raised.value.position == Position(2, 10, 5)
    with pytest.raises(shardwise.BudgetExceeded):
        con.execute("CREATE OR REPLACE TEMP TABLE x AS SELECT name FROM customers", rows_max=10)
    assert rows(con, "FROM x") == [(1,)]
    assert len(stored(con)) == 1


def test_others_do_not_see_it(con: Connection, cluster: shardwise.Cluster) -> None:
    con.execute("CREATE TEMP TABLE mine AS SELECT 1 AS a")
    with cluster.connect() as other:
        with pytest.raises(UnknownName, match='no table "mine"'):
            other.execute("FROM mine")
        other.execute("CREATE TEMP TABLE mine AS SELECT 2 AS a")
        assert rows(other, "FROM mine") == [(2,)]
    assert rows(con, "FROM mine") == [(1,)]


# -- how long they are there ---------------------------------------------------------------------------


def test_a_running_statement_keeps_its_own(con: Connection) -> None:
    con.execute("CREATE TEMP TABLE x AS SELECT i FROM range(300000) t(i)")
    running = con.execute("SELECT i FROM x")
    assert running.fetchone() == (0,)
    con.execute("CREATE OR REPLACE TEMP TABLE x AS SELECT -1 AS i")
    con.execute("DROP TABLE x")
    assert len(running.fetchall()) == 299_999
    running.close()
    del running
    con.execute("CREATE TEMP TABLE y AS SELECT 1 AS i")
    assert len(stored(con)) == 1


def test_drop(con: Connection) -> None:
    con.execute("CREATE TEMP TABLE x AS SELECT 1 AS a")
    assert con.execute("DROP TABLE X").description is None
    gc.collect()
    assert stored(con) == []
    with pytest.raises(UnknownName, match='no local table "x"'):
        con.execute("DROP TABLE x")
    con.execute("DROP TABLE IF EXISTS temp.x CASCADE")
    with pytest.raises(NotSupportedError, match='"customers" is a table of the catalog'):
        con.execute("DROP TABLE IF EXISTS customers")
    con.register("r", pa.table({"a": [1]}))
    con.execute("DROP TABLE r")
    with pytest.raises(UnknownName):
        con.execute("FROM r")


def test_closing_frees_it(folder: Path, tmp_path: Path) -> None:
    spill = tmp_path / "spill"
    with shardwise.connect(folder / "cluster.sql", spill_directory=str(spill)) as con:
        con.execute("CREATE TEMP TABLE x AS SELECT 1 AS a")
        running = con.execute("FROM x")
        assert [p.name for p in spill.glob("shardwise-merge-*")]
    assert list(spill.glob("shardwise-merge-*")) == []
    with pytest.raises(InterfaceError):
        running.fetchall()
    with pytest.raises(InterfaceError):
        con.execute("CREATE TEMP TABLE x AS SELECT 1 AS a")


def test_what_does_not_fit_into_memory_spills(folder: Path, tmp_path: Path) -> None:
    limits = {"memory_bytes_max": 64 << 20, "threads": 1, "spill_directory": str(tmp_path)}
    with shardwise.connect(folder / "cluster.sql", **limits) as con:
        con.execute("CREATE TEMP TABLE x AS SELECT i, hash(i) AS h, hash(h) AS g FROM range(5000000) t(i)")
        assert any(f.stat().st_size for f in tmp_path.rglob("*") if f.is_file())
        assert rows(con, "SELECT count(*), sum(i) FROM x") == [(5_000_000, 12_499_997_500_000)]
    with (
        shardwise.connect(folder / "cluster.sql", **limits, spill_bytes_max=1 << 20) as con,
        pytest.raises(shardwise.OperationalError),
    ):
        con.execute("CREATE TEMP TABLE x AS SELECT i, hash(i) AS h, hash(h) AS g FROM range(5000000) t(i)")


def test_it_can_be_cancelled(con: Connection) -> None:
    timer = threading.Timer(0.2, con.interrupt)
    timer.start()
    with pytest.raises(shardwise.Cancelled):
        con.execute("CREATE TEMP TABLE x AS SELECT count(*) FROM range(10000000) a, range(10000000) b")
    timer.join()
    with pytest.raises(shardwise.DeadlineExceeded):
        con.execute(
            "CREATE TEMP TABLE x AS SELECT count(*) FROM range(10000000) a, range(10000000) b", deadline_s=0.1
        )
    assert con.locals == {}


def test_the_time_zone_is_the_statements(con: Connection) -> None:
    con.execute("CREATE TEMP TABLE x AS SELECT TIMESTAMPTZ '2020-01-01 23:00:00+00' AS t")
    sql = "SELECT CAST(t AS VARCHAR) FROM x"
    assert con.execute(sql, time_zone="Europe/Berlin").fetchall() == [("2020-01-02 00:00:00+01",)]
    assert con.execute(sql).fetchall() == [("2020-01-01 23:00:00+00",)]


# -- fewest rows -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sql", "moved"),
    [
        ("SELECT count(*) FROM customers JOIN few USING (id)", 2),  # counted on the shards
        ("SELECT count(*) FROM few LEFT JOIN customers USING (id)", 3),
        ("SELECT count(*) FROM customers WHERE id IN (SELECT id FROM few)", 2),
        ("SELECT count(*) FROM customers c JOIN (SELECT id FROM few WHERE id < 100) f ON f.id = c.id", 2),
        ("SELECT count(*) FROM customers c LEFT JOIN few USING (id)", 2),
        ("SELECT count(*) FROM customers c FULL JOIN few USING (id)", 300),
    ],
)
def test_a_local_table_narrows_what_is_read(con: Connection, sql: str, moved: int) -> None:
    con.execute("CREATE TEMP TABLE few AS SELECT id::BIGINT AS id FROM customers WHERE id IN (7, 8, 299)")
    cursor = con.execute(sql)
    with duckdb.connect() as whole:
        whole.execute("CREATE TABLE few AS FROM (VALUES (7), (8), (299)) t(id)")
        whole.execute("CREATE TABLE customers AS SELECT i::INTEGER AS id FROM range(300) t(i)")
        assert cursor.fetchall() == whole.execute(sql).fetchall()
    assert cursor.stats is not None
    assert cursor.stats.rows_moved == moved


# -- views ---------------------------------------------------------------------------------------------


def test_a_view_is_read_anew(con: Connection) -> None:
    con.execute(f"CREATE TEMP TABLE five AS {FIVE}")
    assert (
        con.execute("CREATE TEMP VIEW v (n, many) AS SELECT city, count(*) FROM five GROUP BY 1").rowcount
        == -1
    )
    con.execute("CREATE TEMP VIEW w AS SELECT v.n FROM v JOIN customers c ON c.city = v.n WHERE c.id = 1")
    assert rows(con, "SELECT * FROM v ORDER BY 1") == [("City 0", 2), ("City 1", 2), ("City 2", 1)]
    assert rows(con, "FROM w") == [("City 1",)]
    con.execute("CREATE OR REPLACE TEMP TABLE five AS SELECT 'City 1' AS city")
    assert rows(con, "FROM v") == [("City 1", 1)]
    con.execute("DROP TABLE five")
    with pytest.raises(UnknownName, match='in the view "v": there is no table "five"') as raised:
        con.execute("FROM w")
    assert raised.value.position is None
    con.execute("CREATE TEMP TABLE five AS SELECT 'City 2' AS city")
    assert rows(con, "FROM v") == [("City 2", 1)]
    con.execute("DROP VIEW v")
    with pytest.raises(UnknownName):
        con.execute("FROM w")


def test_a_view_keeps_to_its_own_names(con: Connection) -> None:
    con.execute("CREATE TEMP VIEW v AS SELECT max(id) AS m FROM customers")
    sql = "WITH customers AS (SELECT 1 AS id) SELECT m, id FROM v, customers"
    assert rows(con, sql) == [(299, 1)]


def test_a_view_is_checked_when_it_is_made(con: Connection) -> None:
    with pytest.raises(UnknownName) as raised:
        con.execute("CREATE TEMP VIEW v AS SELECT citty FROM customers")
    assert raised.value.position == Position(1, 30, 5)
    with pytest.raises(ProgrammingError, match="a view has no parameters"):
        con.execute("CREATE TEMP VIEW v AS SELECT ? AS a", [1])
    with pytest.raises(ProgrammingError, match="2 columns are named"):
        con.execute("CREATE TEMP VIEW v (a, b) AS SELECT 1")
    with pytest.raises(UnknownName):
        con.execute("CREATE TEMP VIEW v AS SELECT * FROM v")
    con.execute("CREATE TEMP VIEW v AS SELECT 1 AS a")
    with pytest.raises(ProgrammingError, match="DROP VIEW v"):
        con.execute("DROP TABLE v")
    con.execute("CREATE TEMP VIEW w AS FROM v")
    with pytest.raises(UnknownName, match='in the view "w": there is no table "v"'):
        con.execute("CREATE OR REPLACE TEMP VIEW v AS FROM w")
    assert rows(con, "FROM w") == [(1,)]


# -- what is refused -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "kind", "message", "position"),
    [
        ("CREATE TABLE x AS SELECT 1", NotSupportedError, "CREATE is not supported", Position(1, 1, 6)),
        ("CREATE VIEW x AS SELECT 1", NotSupportedError, "CREATE is not supported", Position(1, 1, 6)),
        ("CREATE TEMP SEQUENCE x", NotSupportedError, "CREATE is not supported", Position(1, 1, 6)),
        ("CREATE TEMP TABLE main.x AS SELECT 1", NotSupportedError, "in no schema", Position(1, 19, 4)),
        ("CREATE TEMP TABLE x (a INT)", SQLSyntaxError, "named without types", Position(1, 24, 3)),
        ("CREATE TEMP TABLE x", SQLSyntaxError, "is made from a query", Position(1, 19, 1)),
        ("CREATE TEMP TABLE AS SELECT 1", SQLSyntaxError, "is made from a query", Position(1, 22, 6)),
        ("CREATE TEMP TABLE x AS ;", SQLSyntaxError, "a query is missing", Position(1, 24, 1)),
        ("CREATE TEMP TABLE x AS DELETE FROM y", NotSupportedError, "DELETE is not", Position(1, 24, 6)),
        ("CREATE TEMP TABLE x AS SELECT 1; SELECT 2", ProgrammingError, "one statement is wanted", None),
        ("DROP SCHEMA x", NotSupportedError, "DROP is not supported", Position(1, 1, 4)),
        ("DROP TABLE x, y", SQLSyntaxError, "does not read so", Position(1, 13, 1)),
        ("DROP TABLE", SQLSyntaxError, "the name of a table is missing", Position(1, 10, 1)),
    ],
)
def test_what_does_not_read(
    con: Connection, text: str, kind: type[Exception], message: str, position: Position | None
) -> None:
    with pytest.raises(kind, match=message) as raised:
        con.execute(text)
    assert isinstance(raised.value, shardwise.Error)
    assert raised.value.position == position
    assert con.locals == {}
