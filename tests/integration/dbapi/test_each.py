"""con.each(): the answers of all members one after the other, as a loop over scoped connections has them."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest

import shardwise
from shardwise.errors import (
    BudgetExceeded,
    Cancelled,
    DataError,
    DeadlineExceeded,
    InterfaceError,
    NotSupportedError,
    ProgrammingError,
    UnknownName,
)
from shardwise.planner import Planner
from tests.integration import tenants

ENDLESS = "SELECT count(*) FROM orders a, orders b, range(100000000) r(x) WHERE a.id + b.id * x = 1.5"

QUERIES = """
SELECT count(*) FROM orders
SELECT count(*) AS n, min(tenant), max(note) FROM orders WHERE id > 10
SELECT * FROM orders ORDER BY id DESC LIMIT 3
SELECT id, row_number() OVER (ORDER BY id DESC) FROM orders QUALIFY row_number() OVER (ORDER BY id) = 1
SELECT tenant, count(*) FROM orders GROUP BY tenant ORDER BY tenant
SELECT tenant FROM orders WHERE tenant = 'hooli'
SELECT count(*) FROM orders WHERE tenant = 'hooli'
SELECT count(*) FROM orders WHERE _shard = 'acme_db'
SELECT DISTINCT _shard, _source FROM orders
SELECT count(*) FROM cities
SELECT o.id, c.name FROM orders o JOIN cities c ON TRUE ORDER BY o.id, c.name OFFSET 1
SELECT count(*), (SELECT value FROM settings) FROM orders
SELECT id, value FROM orders, settings ORDER BY id
SELECT count(*) FROM orders o JOIN clicks c USING (tenant)
SELECT sku FROM items JOIN orders ON order_id = id ORDER BY ALL
SELECT what FROM audit ORDER BY what
SELECT plan, count(*) FROM by_plan GROUP BY ALL ORDER BY ALL
WITH big AS (SELECT * FROM orders WHERE total > 12) SELECT sum(total) FROM big
SELECT id FROM orders WHERE id IN (SELECT order_id FROM items WHERE sku LIKE '%0') ORDER BY id
SELECT 1 AS one
SELECT id FROM orders WHERE FALSE
(SELECT id FROM orders) UNION ALL (SELECT order_id FROM items) ORDER BY id
"""


@pytest.fixture(scope="module", params=tenants.LAYOUTS)
def cluster(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with shardwise.open(tenants.make(tmp_path_factory.mktemp(request.param), request.param)) as opened:
        yield opened


@pytest.fixture
def con(cluster: Any) -> Iterator[Any]:
    with cluster.connect() as connection:
        yield connection


def members_of(con: Any) -> tuple[str, list[str]]:
    """The name of the first column, and its values in order."""
    sharding = con.cluster.catalog.sharding("by_tenant")
    if sharding.is_open:
        return "tenant", sorted(tenants.TENANTS)
    return "shard", list(con.cluster.catalog.ordered(sharding.shards()))


def by_loop(con: Any, sql: str, params: Any = None) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    name, members = members_of(con)
    for member in members:
        with con.scoped(**{name: member}) as one:
            rows += [(member, *row) for row in one.execute(sql, params).fetchall()]
    return rows


@pytest.mark.parametrize("sql", [line for line in QUERIES.splitlines() if line])
def test_as_a_loop_over_the_members(con: Any, sql: str) -> None:
    expected = by_loop(con, sql)
    cursor = con.each("by_tenant").execute(sql)
    assert cursor.description[0][:2] == (members_of(con)[0], "VARCHAR")
    rows = cursor.fetchall()
    assert rows == expected or ("ORDER BY" not in sql and sorted(rows) == sorted(expected))
    table = con.each("by_tenant").execute(sql).to_arrow_table()
    assert table.num_rows == len(expected)
    assert table.column(0).to_pylist() == [row[0] for row in expected]
    assert [row[0] for row in con.each("by_tenant").execute(sql)] == [row[0] for row in expected]


def test_one_plan_serves_where_it_can(con: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    planned: list[str] = []
    prepare = Planner.prepare
    monkeypatch.setattr(
        Planner, "prepare", lambda self, sql, **k: planned.append(sql) or prepare(self, sql, **k)
    )
    members = len(
        con.each("by_tenant").execute("SELECT count(*), sum(total) FROM orders WHERE id > 0").fetchall()
    )
    assert members > 1
    assert len(planned) == 1


def test_parameters_members_and_locals(con: Any) -> None:
    one = members_of(con)[1][1]
    rows = con.each("by_tenant", members=[one]).execute("SELECT id FROM orders WHERE id > ? ORDER BY id", [2])
    assert rows.fetchall() == [
        row for row in by_loop(con, "SELECT id FROM orders WHERE id > 2 ORDER BY id") if row[0] == one
    ]
    con.register("mine", pa.table({"id": [0, 1, 10]}))
    sql = "SELECT count(*) FROM orders JOIN mine USING (id)"
    assert con.each("by_tenant").execute(sql).fetchall() == by_loop(con, sql)


def test_no_members_have_no_rows_but_columns(con: Any) -> None:
    cursor = con.each("by_tenant", members=[]).execute("SELECT count(*) AS n, 'x' AS x FROM orders")
    assert [column[:2] for column in cursor.description] == [
        (members_of(con)[0], "VARCHAR"),
        ("n", "BIGINT"),
        ("x", "VARCHAR"),
    ]
    assert cursor.fetchall() == []
    table = con.each("by_tenant", members=[]).execute("SELECT count(*) AS n FROM orders").to_arrow_table()
    assert (table.column_names, table.num_rows) == ([members_of(con)[0], "n"], 0)


def test_it_keeps_to_the_connections_scope(con: Any) -> None:
    con.execute("SET SCOPE tenant = 'acme'")
    assert sum(row[1] for row in con.each("by_tenant").execute("SELECT count(*) FROM orders").fetchall()) == 4
    con.execute("RESET SCOPE")
    name, members = members_of(con)
    con.execute("SET SCOPE shard = ?", [members[0] if name == "shard" else f"file_{members[0]}"])
    found = con.each("by_tenant").execute("SELECT count(*) FROM orders").fetchall()
    assert [row[0] for row in found] == members[:1]


@pytest.mark.parametrize(
    ("by", "members", "sql", "error", "says"),
    [
        ("by_tenat", None, "SELECT 1", UnknownName, 'Did you mean "by_tenant"'),
        ("by_page", ["nowhere"], "SELECT 1", ProgrammingError, 'no shard "nowhere"'),
        ("by_tenant", None, "EXPLAIN SELECT 1", NotSupportedError, "queries"),
        ("by_tenant", None, "SHOW TABLES", NotSupportedError, "queries"),
        ("by_tenant", None, "SELECT nothing FROM orders", UnknownName, "nothing"),
        ("by_tenant", None, "SELECT ? FROM orders", ProgrammingError, "parameter"),
    ],
)
def test_what_it_refuses(
    con: Any, by: str, members: Any, sql: str, error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says):
        con.each(by, members=members).execute(sql)


def test_a_pinned_connection_has_no_each(cluster: Any) -> None:
    pinned = cluster.connect(scope={"tenant": "acme"}, pinned=True)
    with pinned, pytest.raises(ProgrammingError, match="pinned"):
        pinned.each("by_tenant")


@pytest.mark.parametrize(
    "sql", ["SELECT CAST(note AS INTEGER) FROM orders", "SELECT note::INTEGER FROM orders, settings"]
)
def test_an_error_names_its_member(con: Any, sql: str) -> None:
    for _ in range(2):
        with pytest.raises(DataError, match=r'^(shard|tenant) "\w+": .*Could not convert'):
            con.each("by_tenant").execute(sql).fetchall()


def test_an_error_amid_the_rows_stays_the_cursor_s(con: Any) -> None:
    late = "SELECT CASE WHEN x = 200000 THEN CAST(note AS INTEGER) ELSE x END FROM orders, range(300000) r(x)"
    cursor = con.each("by_tenant").execute(late)
    for _ in range(2):
        with pytest.raises(DataError, match="Could not convert"):
            cursor.fetchall()


def test_the_budget_is_that_of_the_whole(con: Any) -> None:
    rows = con.each("by_tenant").execute("SELECT id FROM orders", rows_max=24).fetchall()
    assert len(rows) == 24
    with pytest.raises(BudgetExceeded):
        con.each("by_tenant").execute("SELECT id FROM orders", rows_max=23).fetchall()


def test_the_deadline_is_that_of_the_whole(con: Any) -> None:
    started = time.perf_counter()
    with pytest.raises(DeadlineExceeded):
        con.each("by_tenant").execute(ENDLESS, deadline_s=0.3).fetchall()
    assert time.perf_counter() - started < 5


@pytest.mark.parametrize("sql", [ENDLESS, "SELECT a.id FROM orders a, range(1000000000000)"])
@pytest.mark.parametrize("as_arrow", [False, True])
def test_cancel_stops_all_members(con: Any, sql: str, as_arrow: bool) -> None:
    """Before the answer begins, and in the midst of it."""

    def ask() -> None:
        cursor = con.each("by_tenant").execute(sql)
        cursor.to_arrow_table() if as_arrow else cursor.fetchall()

    timer = threading.Timer(0.2, con.interrupt)
    timer.start()
    with pytest.raises(Cancelled):
        ask()
    timer.join()
    assert not [t for t in threading.enumerate() if t.name.startswith("shardwise-each")]


def test_closing_early_stops_what_runs_ahead(con: Any) -> None:
    sql = "SELECT a.id FROM orders a, range(200000)"
    cursor = con.each("by_tenant").execute(sql)
    assert cursor.fetchone() is not None
    cursor.close()
    assert not [t for t in threading.enumerate() if t.name.startswith("shardwise-each")]
    reader = con.each("by_tenant").execute(sql).to_arrow_reader(1000)
    assert reader.read_next_batch().num_rows <= 1000
    del reader


def test_rows_are_handed_out_once(con: Any) -> None:
    cursor = con.each("by_tenant").execute("SELECT id FROM orders")
    cursor.fetchone()
    with pytest.raises(InterfaceError):
        cursor.to_arrow_table()
    assert len(cursor.fetchall()) == 23
    assert cursor.fetchone() is None
    assert cursor.rowcount == 24
    assert cursor.stats.rows_moved == 24
