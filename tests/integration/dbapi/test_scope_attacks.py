"""Whoever has a pinned connection tries to see another tenant: by rows, names, counts, plans or errors.

Each trick is sent to a connection pinned to acme. It fails, or answers as a database does that holds acme's
rows alone; and nothing of what comes back, an error's text included, has a word of another tenant's in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

import shardwise
from tests.integration import tenants

READS = """
SELECT * FROM orders
SELECT * FROM "ORDERS"
SELECT * FROM main.orders
SELECT * FROM Orders AS tenants
SELECT * FROM items
SELECT * FROM every_order
SELECT * FROM by_plan
SELECT * FROM tenants
SELECT count(*), max(id), min(total) FROM orders
SELECT * FROM orders WHERE tenant = 'globex'
SELECT * FROM orders WHERE tenant <> 'acme'
SELECT * FROM orders WHERE tenant = 'acme' OR TRUE
SELECT * FROM orders WHERE tenant = 'globex' OR tenant = 'acme'
SELECT * FROM orders WHERE NOT (tenant = 'acme')
SELECT * FROM orders WHERE tenant IS NULL OR 1 = 1
SELECT * FROM orders WHERE "TENANT" = 'globex'
SELECT * FROM orders WHERE "tenant" IN ('globex', 'initech')
SELECT * FROM orders WHERE (SELECT tenant) = 'globex'
SELECT * FROM orders o WHERE EXISTS (SELECT 1 FROM orders p WHERE p.tenant <> o.tenant)
SELECT (SELECT max(note) FROM orders)
SELECT (SELECT count(*) FROM orders o WHERE o.id > t.id) FROM orders t
SELECT * FROM orders WHERE id IN (SELECT order_id FROM items WHERE sku LIKE 'globex%')
SELECT * FROM orders WHERE id NOT IN (SELECT order_id FROM items)
SELECT * FROM orders WHERE id > ALL (SELECT id FROM orders WHERE tenant = 'globex')
SELECT * FROM cities LEFT JOIN orders ON TRUE
SELECT * FROM cities FULL JOIN orders ON orders.note = cities.name
SELECT * FROM orders RIGHT JOIN cities ON FALSE
SELECT * FROM (VALUES ('globex'), ('acme')) v(t) LEFT JOIN orders o ON o.tenant = v.t
SELECT * FROM (VALUES ('globex')) v(t) LEFT JOIN LATERAL (FROM orders o WHERE o.tenant = v.t) q ON TRUE
SELECT * FROM (VALUES ('globex')) v(t), LATERAL (SELECT count(*) FROM orders) q
SELECT * FROM orders a JOIN orders b ON a.tenant <> b.tenant
SELECT * FROM orders a CROSS JOIN orders b
SELECT * FROM tenants t FULL JOIN orders o ON o.tenant = t.name
SELECT * FROM orders SEMI JOIN items ON orders.id = items.order_id
SELECT * FROM items ANTI JOIN orders ON orders.id = items.order_id
SELECT * FROM orders POSITIONAL JOIN items
SELECT * FROM orders ASOF JOIN items ON orders.id >= items.order_id
SELECT * FROM orders NATURAL JOIN items
WITH orders AS (SELECT * FROM main.orders) SELECT * FROM orders
WITH orders AS (SELECT * FROM orders) SELECT * FROM orders
WITH tenant AS (SELECT 'globex' AS tenant) SELECT o.* FROM orders o, tenant t WHERE o.tenant = t.tenant
WITH scope_tenant AS (SELECT 'globex' AS v) SELECT * FROM orders, scope_tenant
WITH RECURSIVE r AS (SELECT id FROM orders UNION SELECT o.id FROM orders o JOIN r ON o.id = r.id + 1) FROM r
WITH RECURSIVE orders AS (SELECT 1 AS x UNION ALL SELECT x + 1 FROM orders WHERE x < 3) SELECT * FROM orders
WITH a AS MATERIALIZED (SELECT * FROM orders), b AS (FROM a) SELECT * FROM b UNION ALL SELECT * FROM a
SELECT * FROM orders UNION SELECT * FROM every_order
SELECT id FROM orders EXCEPT SELECT order_id FROM items
SELECT tenant FROM orders INTERSECT SELECT name FROM tenants
SELECT * FROM orders UNION ALL BY NAME SELECT * FROM items
SELECT tenant, count(*) FROM orders GROUP BY ALL
SELECT tenant, plan, count(*) FROM orders JOIN tenants ON name = tenant GROUP BY CUBE (tenant, plan)
SELECT tenant, count(*) FROM orders GROUP BY GROUPING SETS ((tenant), ())
SELECT DISTINCT ON (tenant) tenant, note FROM orders ORDER BY tenant, note
SELECT id, count(*) OVER () FROM orders
SELECT note FROM orders QUALIFY row_number() OVER (ORDER BY note DESC) < 99
SELECT list(note ORDER BY note), string_agg(note, ',' ORDER BY note), histogram(tenant) FROM orders
SELECT approx_count_distinct(tenant) FROM orders
SELECT COLUMNS(*) FROM orders
SELECT COLUMNS('.*') FROM orders
SELECT orders FROM orders
SELECT o FROM orders AS o
SELECT struct_pack(o) FROM orders AS o
SELECT to_json(o) FROM orders o
SELECT unnest(list(note)) FROM orders
SELECT * FROM orders ORDER BY tenant DESC LIMIT 5
SELECT * FROM orders ORDER BY tenant DESC LIMIT 50%
SELECT * FROM orders LIMIT (SELECT count(*) FROM orders)
SELECT * FROM orders OFFSET 3
FROM orders
FROM orders SELECT note
(SELECT * FROM orders)
((FROM every_order))
TABLE orders
PIVOT orders ON tenant USING count(*)
PIVOT (SELECT * FROM orders) ON note USING sum(id) GROUP BY tenant
UNPIVOT (SELECT id, total::BIGINT AS t FROM orders) ON id, t
SELECT * FROM orders USING SAMPLE 100%
SELECT * FROM orders TABLESAMPLE reservoir(50)
SUMMARIZE orders
SUMMARIZE SELECT * FROM orders
SELECT * FROM (SELECT * FROM (SELECT * FROM orders) WHERE tenant = 'globex')
SELECT * FROM (SELECT id, 'acme' AS tenant, note FROM orders) WHERE tenant = 'acme'
SELECT id AS tenant, tenant AS id FROM orders WHERE tenant = 'globex'
SELECT 'acme' AS tenant, note FROM orders WHERE tenant <> 'acme'
SELECT t.tenant FROM orders AS t(tenant, id, a, b, c)
SELECT t.* FROM orders AS t(tenant, id) WHERE t.id = 'globex'
SELECT * FROM orders WHERE note = note AND CAST(note AS INTEGER) >= 0
SELECT * FROM orders WHERE CAST(note AS INTEGER) + id >= 0
SELECT * FROM items WHERE CAST(note AS INTEGER) >= 0
SELECT sum(CAST(note AS INTEGER)) FROM orders
SELECT sum(CAST(note AS INTEGER)) FROM items WHERE CAST(note AS INTEGER) < 100
SELECT CAST(note AS DATE) FROM orders
SELECT * FROM orders WHERE CASE WHEN note LIKE 'secret%' THEN error(note) END IS NULL
SELECT * FROM items WHERE CASE WHEN note LIKE 'secret%' THEN error(note) END IS NULL
SELECT * FROM items JOIN cities ON CAST(items.note AS INTEGER) = length(cities.name)
SELECT * FROM orders JOIN items ON orders.id = items.order_id WHERE CAST(orders.note AS INTEGER) >= 0
SELECT * FROM orders WHERE big + 4611686018427387904 > 0
SELECT sum(big), max(big * 2) FROM orders WHERE big * 4 > 0
SELECT * FROM orders WHERE strptime(note, '%d') IS NOT NULL OR TRUE
SELECT * FROM orders WHERE error(tenant || note) IS NULL
SELECT * FROM orders WHERE tenant = 'globex' AND error(note) IS NULL
SELECT * FROM orders WHERE tenant NOT LIKE 'acm_' AND 1 = CAST(note AS INTEGER)
SELECT * FROM orders WHERE tenant COLLATE NOCASE = 'GLOBEX'
SELECT * FROM orders WHERE lower(tenant) = 'globex' OR upper(tenant) = 'GLOBEX'
SELECT max(id) FILTER (tenant = 'globex') FROM orders
SELECT count(*) FROM orders -- WHERE tenant = 'acme'
SELECT count(*) FROM orders /* SET SCOPE tenant = 'globex' */
/* RESET SCOPE */ SELECT count(*) FROM orders
SELECT * FROM audit
SELECT * FROM clicks
SELECT * FROM orders JOIN clicks USING (tenant)
SELECT (SELECT count(*) FROM clicks)
SELECT 1 WHERE EXISTS (FROM audit)
WITH c AS (FROM clicks) SELECT 1
SELECT * FROM cities
SELECT * FROM settings
SELECT * FROM orders, settings
"""
"""Each is answered as by acme's rows alone, or fails."""

TELLS = """
SELECT *, _shard, _source, _table FROM orders
SELECT _shard, count(*) FROM orders GROUP BY _shard
SELECT count(*) FROM orders WHERE _shard = 'globex_db'
SELECT * FROM orders WHERE _shard <> 'acme_db' AND _shard <> 'h0'
SELECT DISTINCT "_SHARD", "_Source" FROM items
SELECT _shard, _source FROM cities
SELECT o._shard, c._shard FROM orders o JOIN cities c ON TRUE
SELECT * FROM globex_db.orders
SELECT * FROM globex_db.main.orders
SELECT * FROM ordres
SELECT tenat FROM orders
SELECT * FROM orders_1
SELECT * FROM 'globex_db.duckdb'
SELECT * FROM read_text('*.duckdb')
SELECT * FROM glob('*')
SELECT * FROM query('SELECT * FROM orders')
SELECT * FROM query_table('orders')
SELECT * FROM query_table(['orders', 'items'])
SELECT * FROM duckdb_tables()
SELECT * FROM duckdb_databases()
SELECT * FROM pragma_storage_info('orders')
SELECT * FROM information_schema.tables
SELECT * FROM pg_catalog.pg_tables
SELECT * FROM sqlite_master
SELECT current_database(), current_query()
SELECT getvariable('scope')
SELECT current_setting('search_path')
ATTACH 'globex_db.duckdb' AS g
COPY orders TO 'x.csv'
CREATE VIEW mine AS SELECT * FROM orders
CREATE TABLE mine AS SELECT * FROM orders
CREATE MACRO m() AS TABLE SELECT * FROM orders
PREPARE p AS SELECT * FROM orders
USE globex_db
PRAGMA show_tables
SELECT * FROM orders; RESET SCOPE
RESET SCOPE; SELECT * FROM orders
RESET SCOPE
reset   scope
/* x */ RESET /* y */ SCOPE
SET SCOPE tenant = 'globex'
SET SCOPE tenant = 'acme'
SET SCOPE "TENANT" IN ('acme', 'globex')
SET SCOPE by_tenant = 'globex'
SET SCOPE shard IN (globex_db)
SET SCOPE shard = globex
SET SCOPE globex = 1
set scope tenant = 'x'' OR 1=1 --'
SET scope_tenant = 'globex'
RESET ALL
SET SESSION SCOPE tenant = 'globex'
SHOW SCOPE
SHOW TABLES
SHOW ALL TABLES
SHOW TABLES LIKE '%'
SHOW TABLES WHERE name IN (SELECT tenant FROM orders)
SHOW SHARDS WHERE TRUE
SHOW SHARDS WHERE EXISTS (SELECT 1 FROM orders WHERE tenant = 'globex')
SHOW VIEWS
SHOW SCHEMAS
SHOW CREATE TABLE orders
SHOW CREATE TABLE tenants
SHOW CREATE TABLE cities
SHOW CREATE VIEW every_order
SELECT * FROM information_schema.tables
SELECT * FROM information_schema.columns
SELECT * FROM information_schema.views
CREATE TEMP TABLE leak AS SELECT * FROM orders
CREATE TEMP VIEW leaking AS SELECT * FROM orders WHERE tenant <> 'acme'
SELECT * FROM leak
SELECT * FROM leaking
SHOW SOURCES
SHOW SHARDS
SHOW SHARDINGS
SHOW VIEWS
SHOW SCHEMAS
SHOW TABLES LIKE '%'
SHOW SHARDS WHERE shard <> 'x'
SHOW SOURCES WHERE url LIKE '%duckdb%'
SHOW CREATE TABLE orders
SHOW CREATE TABLE cities
SHOW CREATE TABLE settings
SHOW CREATE VIEW every_order
SHOW MEMBERS
SHOW CACHE
SHOW CACHED STATEMENTS
SHOW CACHE STATEMENTS
SHOW STATEMENTS
USE globex
SET search_path = globex
SELECT * FROM information_schema.columns
SELECT table_name FROM information_schema.tables
DESCRIBE cities
SHOW COLUMNS FROM orders
SHOW ROUTE FOR orders KEY ('globex')
SHOW ROUTE FOR orders KEY ('acme')
SHOW ROUTE FOR orders KEY ('acme' OR TRUE)
SHOW ROUTE FOR tenants KEY (name)
SHOW ROUTE FOR clicks KEY ('/secret')
SHOW ROUTE FOR items KEY (1)
DESCRIBE orders
DESCRIBE SELECT * FROM orders
DESCRIBE SELECT * FROM clicks
EXPLAIN SELECT * FROM orders
EXPLAIN SELECT * FROM orders WHERE tenant = 'acme' OR TRUE
EXPLAIN SELECT count(*) FROM items
EXPLAIN SELECT * FROM cities
EXPLAIN SELECT * FROM settings
EXPLAIN SELECT * FROM orders JOIN cities ON TRUE JOIN settings ON TRUE
EXPLAIN SELECT * FROM clicks
EXPLAIN SELECT * FROM audit
EXPLAIN (ROUTE) SELECT * FROM orders
EXPLAIN (ROUTE) SELECT * FROM cities
EXPLAIN (ROUTE) SELECT * FROM items
EXPLAIN (SHARDS) SELECT * FROM orders
EXPLAIN (STEPS) SELECT * FROM orders o JOIN items i ON i.order_id = o.id JOIN cities ON TRUE WHERE o.id > 1
EXPLAIN (STEPS) SELECT * FROM by_plan
EXPLAIN (ANALYZE) SELECT count(*) FROM orders JOIN items ON id = order_id
EXPLAIN (ANALYZE, FORMAT json) SELECT * FROM orders
EXPLAIN (FORMAT json) SELECT * FROM orders
EXPLAIN ANALYZE SELECT * FROM cities
"""
"""Each fails, or tells nothing of others; a database of acme's rows cannot say it."""


def statements(text: str) -> list[str]:
    return [line for line in text.splitlines() if line]


_LAYOUTS = [pytest.param(each, marks=[pytest.mark.slow] * (each != "files")) for each in tenants.LAYOUTS]


@pytest.fixture(scope="module", params=_LAYOUTS)
def cluster(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    path = tenants.make(tmp_path_factory.mktemp(request.param), request.param)
    with shardwise.open(path) as opened:
        yield opened


@pytest.fixture(scope="module")
def pinned(cluster: Any) -> Iterator[Any]:
    with cluster.connect(scope={"tenant": "acme"}, pinned=True) as con:
        yield con


@pytest.fixture(scope="module")
def alone() -> Iterator[duckdb.DuckDBPyConnection]:
    with tenants.alone() as engine:
        yield engine


def assert_no_secret(said: Any, asked: str) -> None:
    """What the attacker wrote may come back."""
    text = repr(said).lower()
    for word in asked.lower().replace("'", " ").replace('"', " ").split():
        text = text.replace(word, "")
    found = [word for word in tenants.SECRETS if word in text]
    assert not found, f"{asked}\ntells {found}: {said}"


def told(con: Any, sql: str) -> tuple[Any, str]:
    """All that a statement lets be known: its rows, or None, and what its error says."""
    try:
        with con.cursor() as cursor:
            cursor.execute(sql)
            rows = cursor.fetchall() if cursor.description else []
            return rows, repr((cursor.description, cursor.stats))
    except shardwise.Error as error:
        return None, repr((str(error), error.hint, error.shard, error.__cause__, error.__context__))


@pytest.mark.parametrize("sql", statements(READS))
def test_rows_are_those_of_the_scope_alone(pinned: Any, alone: Any, sql: str) -> None:
    rows, said = told(pinned, sql)
    assert_no_secret((rows, said), sql)
    if rows is None:
        return
    expected = alone.execute(sql).fetchall()
    assert sorted(map(repr, rows)) == sorted(map(repr, expected))


@pytest.mark.parametrize("sql", statements(TELLS))
def test_nothing_is_told_of_others(pinned: Any, sql: str) -> None:
    rows, said = told(pinned, sql)
    assert_no_secret((rows, said), sql)
    assert pinned.execute("SELECT count(*) FROM orders").fetchone() == (4,)


ANSWERED = [
    sql for sql in statements(READS) if not any(w in sql for w in ("audit", "clicks", "error(", "AS DATE"))
]


def test_the_tricks_are_read_and_not_only_refused(pinned: Any) -> None:
    """A table of tricks that all fail for a typing error would prove nothing."""
    answered = [sql for sql in ANSWERED if told(pinned, sql)[0] is not None]
    assert len(answered) > 0.8 * len(ANSWERED), [sql for sql in ANSWERED if sql not in answered]


UNLISTED = """
CREATE SOURCE globex_db URL 'duckdb:///globex_db.duckdb' READ ONLY;
CREATE SOURCE acme_db URL 'duckdb:///acme_db.duckdb' READ ONLY;
CREATE SHARDING by_tenant USING LIST (globex_db = IN ('globex'), acme_db = IN ('acme'));
ATTACH TABLE orders SHARD BY by_tenant (tenant);
ATTACH TABLE tenants (name VARCHAR, plan VARCHAR) SHARD BY by_tenant (name);
"""


def test_a_missing_shard_of_anothers_is_not_named(tmp_path: Path) -> None:
    """Columns that nobody listed are read off the first shard."""
    path = tenants.make(tmp_path, "list")
    path.write_text(UNLISTED, encoding="utf-8")
    (tmp_path / "globex_db.duckdb").unlink()
    with shardwise.connect(path, scope={"tenant": "acme"}, pinned=True) as con:
        for sql in (
            "SELECT count(*) FROM orders",
            "EXPLAIN SELECT * FROM orders",
            "SHOW COLUMNS FROM orders",
        ):
            rows, said = told(con, sql)
            assert rows is None
            assert_no_secret(said, "")
        assert con.execute("SELECT plan FROM tenants").fetchall() == [("gold",)]


@pytest.mark.parametrize(
    ("sql", "params"),
    [
        ("SELECT tenant FROM orders WHERE tenant = :scope_tenant", {"scope_tenant": "globex"}),
        ("SELECT tenant FROM orders WHERE tenant <> :scope_tenant", {"scope_tenant": "acme"}),
        ("SELECT tenant FROM orders WHERE id >= :id", {"id": 0, "scope_tenant": "globex"}),
        (
            "SELECT tenant FROM orders WHERE id >= $id",
            {"id": 0, "scope_tenant_": "globex", "tenant": "globex"},
        ),
        ("SELECT tenant FROM orders WHERE tenant = $scope_tenant", {}),
        ("SELECT tenant FROM orders WHERE tenant IN (?)", [["acme", "globex"]]),
        ("SELECT tenant FROM orders WHERE tenant = ? OR ?", ["globex", True]),
        ("SELECT tenant FROM orders WHERE note = ?", ["' OR tenant = 'globex"]),
    ],
)
def test_parameters_do_not_reach_the_scope(pinned: Any, sql: str, params: Any) -> None:
    try:
        rows = pinned.execute(sql, params).fetchall()
    except shardwise.ProgrammingError as error:
        assert_no_secret(str(error), "")
        return
    assert set(rows) <= {("acme",)}


SEQUENCES = """
CREATE TEMP VIEW v AS SELECT * FROM orders; SELECT * FROM v
CREATE TEMP VIEW v AS SELECT * FROM orders; CREATE TEMP VIEW w AS SELECT * FROM v; SELECT * FROM w, orders
CREATE TEMP VIEW v AS SELECT * FROM clicks; SELECT * FROM v
CREATE TEMP TABLE t AS SELECT * FROM orders; SELECT * FROM t
CREATE TEMP TABLE t AS SELECT * FROM items; SELECT * FROM t JOIN orders ON t.order_id = orders.id
CREATE TEMP TABLE t AS SELECT * FROM audit; SELECT * FROM t
CREATE TEMP TABLE t AS SELECT 'globex' AS tenant; SELECT * FROM orders JOIN t USING (tenant)
CREATE TEMP TABLE t AS SELECT 'globex' AS tenant; SELECT * FROM orders WHERE tenant IN (SELECT tenant FROM t)
CREATE TEMP TABLE scope_tenant AS SELECT 'globex' AS tenant; SELECT * FROM orders, scope_tenant
CREATE TEMP VIEW orders AS SELECT * FROM main.orders; SELECT * FROM orders
CREATE TEMP TABLE orders AS SELECT * FROM main.orders; SELECT * FROM orders
CREATE OR REPLACE TEMP VIEW every_order AS SELECT * FROM orders; SELECT * FROM every_order
CREATE TEMP VIEW v AS RESET SCOPE; SELECT * FROM orders
"""


@pytest.mark.parametrize("sql", statements(SEQUENCES))
def test_views_and_tables_of_ones_own_stay_in_the_scope(cluster: Any, sql: str) -> None:
    *before, last = sql.split("; ")
    with cluster.connect(scope={"tenant": "acme"}, pinned=True) as con:
        failed = [said for rows, said in (told(con, each) for each in before) if rows is None]
        assert_no_secret(failed, sql)
        rows, said = told(con, last)
        assert_no_secret((rows, said), sql)
        if rows is not None and not failed:
            with tenants.alone() as engine:
                for each in before:
                    engine.execute(each)
                expected = engine.execute(last).fetchall()
            assert sorted(map(repr, rows)) == sorted(map(repr, expected))


def test_statements_of_others_are_not_shown(cluster: Any) -> None:
    """The cache is the cluster's: it has the texts of all connections."""
    with cluster.connect() as con:
        con.execute("SELECT count(*) FROM orders WHERE tenant = 'globex' LIMIT 1").fetchall()
    with cluster.connect(scope={"tenant": "acme"}, pinned=True) as con:
        assert con.execute("SHOW CACHE STATEMENTS").fetchall() == []
