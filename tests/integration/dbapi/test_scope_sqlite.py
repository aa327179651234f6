"""Scopes over SQLite files that tenants share, one of whom has values of other types than their columns'."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Any

import pytest

import shardwise

CATALOG = """
CREATE CATALOG shared DIALECT {dialect};
CREATE SOURCE s{n} FOR n IN 0-1 URL 'sqlite:///s{n}.db' READ ONLY;
CREATE SHARDING by_tenant USING LIST (s0 = IN ('acme', 'globex'), s1 = DEFAULT);
CREATE TABLE notes (id INTEGER PRIMARY KEY, tenant TEXT NOT NULL, n INTEGER, day TEXT)
    SHARD BY by_tenant (tenant) UNIQUE ACROSS SHARDS (id);
CREATE TABLE parts (note_id INTEGER, v INTEGER) SHARD WITH notes ON note_id = notes.id;
CREATE TABLE owners (tenant TEXT) SHARD BY by_tenant (tenant);
"""

QUERIES = """
SELECT count(*), sum(n), max(id) FROM notes
SELECT * FROM notes ORDER BY n
SELECT n FROM notes WHERE n > 3 ORDER BY n
SELECT count(*) FROM notes WHERE n + 1 > 3
SELECT n FROM notes WHERE n > 3 OR day > '2026' ORDER BY n
SELECT sum(n) FROM notes WHERE CAST(n AS TEXT) <> '4'
SELECT * FROM parts ORDER BY note_id, v
SELECT sum(v) FROM parts WHERE v > 2
SELECT v FROM parts WHERE v * 2 > 4 ORDER BY v
SELECT n.n FROM notes n JOIN parts p ON n.n = p.v ORDER BY n.n
SELECT n.n FROM notes n JOIN parts p ON n.id = p.note_id WHERE p.v BETWEEN 2 AND 12 ORDER BY n.n
SELECT n FROM notes WHERE n IN (SELECT v FROM parts) ORDER BY n
SELECT tenant, sum(n) FROM notes GROUP BY tenant HAVING sum(n) > 0
SELECT count(*) FROM notes WHERE tenant <> 'acme' OR tenant = 'globex'
SELECT a.n FROM notes a LEFT JOIN notes b ON a.n = b.n AND b.tenant = 'globex' ORDER BY a.n
"""
TABLES_AFTER_IN = """
SELECT 'globex' IN owners, 'initech' IN main.owners, 'acme' IN 'owners', 'acme' NOT IN [owners]
SELECT count(*) FROM notes WHERE 'globex' IN owners
SELECT n FROM notes WHERE n > 7 AND tenant IN owners AND 'globex' NOT IN main.'owners' ORDER BY n
SELECT sum('initech' IN "owners") OVER (), group_concat(v) FROM parts
WITH o AS (SELECT 'globex' AS tenant), p AS (SELECT tenant FROM owners) SELECT 'globex' IN o, 'globex' IN p
"""


@pytest.fixture(scope="module", params=["sqlite", "duckdb"])
def pinned(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    folder = tmp_path_factory.mktemp(request.param)
    for shard in range(2):
        with sqlite3.connect(folder / f"s{shard}.db") as con:
            fill(con, ("acme", "globex") if shard == 0 else ("initech",))
        con.close()
    path = folder / "cluster.sql"
    path.write_text(CATALOG.replace("{dialect}", request.param), encoding="utf-8")
    with shardwise.connect(path, scope={"tenant": "acme"}, pinned=True) as con:
        yield con


def fill(con: sqlite3.Connection, tenants: tuple[str, ...]) -> None:
    con.execute("CREATE TABLE notes (id INTEGER PRIMARY KEY, tenant TEXT NOT NULL, n INTEGER, day TEXT)")
    con.execute("CREATE INDEX by_n ON notes (n)")
    con.execute("CREATE TABLE parts (note_id INTEGER, v INTEGER)")
    con.execute("CREATE INDEX by_v ON parts (v)")
    con.execute("CREATE TABLE owners (tenant TEXT)")
    con.executemany("INSERT INTO owners VALUES (?)", [(tenant,) for tenant in tenants])
    for number, tenant in enumerate(tenants):
        for i in range(number * 100, number * 100 + 10):
            is_mine = tenant == "acme"
            n = i if is_mine else f"secret of {tenant}"
            con.execute("INSERT INTO notes VALUES (?, ?, ?, '2025-01-01')", (i, tenant, n))
            con.execute("INSERT INTO parts VALUES (?, ?)", (i, n))


@pytest.mark.parametrize("sql", [line for line in QUERIES.splitlines() if line])
def test_anothers_values_neither_show_nor_fail(pinned: Any, sql: str) -> None:
    alone = sqlite3.connect(":memory:")
    fill(alone, ("acme",))
    assert pinned.execute(sql).fetchall() == alone.execute(sql).fetchall()
    alone.close()


@pytest.mark.parametrize("pinned", ["sqlite"], indirect=True)
@pytest.mark.parametrize("sql", [line for line in TABLES_AFTER_IN.splitlines() if line])
def test_a_table_named_after_in_is_in_the_scope(pinned: Any, sql: str) -> None:
    test_anothers_values_neither_show_nor_fail(pinned, sql)
