"""Local tables and views: what a cluster's connection makes of them, and one DuckDB, is the same."""

from __future__ import annotations

import pytest

from tests.oracle.cluster import By, Everywhere, Grain, Table, mod, sizes
from tests.oracle.compare import answer_of, difference
from tests.oracle.harness import Stage, report, run
from tests.oracle.worlds import World

LOCAL = World(
    "local",
    [
        Table(
            "orders",
            "id INTEGER, customer INTEGER, total DECIMAL(9,2), placed TIMESTAMPTZ",
            By("by_customer", "customer"),
            [
                (n, n % 11 if n % 5 else None, n * 1.25, f"2025-01-{1 + n % 28:02} 10:00:00+00")
                for n in range(1, 60)
            ],
        ),
        Table(
            "customers",
            "id INTEGER, name VARCHAR, region VARCHAR",
            By("by_customer", "id"),
            [(n, f"c{n}", "eu" if n % 3 else None) for n in range(11)],
        ),
        Table("empty", "id INTEGER, x VARCHAR", By("by_customer", "id")),
        Table(
            "regions", "name VARCHAR, head VARCHAR", Everywhere("by_customer"), [("eu", "Ann"), ("us", "Bob")]
        ),
    ],
    shardings=(mod("by_customer"),),
)

SETUP = """
CREATE TEMP TABLE big AS SELECT customer, sum(total) AS total, count(*) AS n FROM orders GROUP BY customer;
CREATE TEMP TABLE few (id, label) AS SELECT id, name FROM customers WHERE id IN (2, 3, 7);
CREATE TEMP TABLE nulls AS SELECT NULL::INTEGER AS id, 'x'::ENUM('x', 'y') AS e UNION ALL SELECT 3, 'y';
CREATE TEMP TABLE none AS SELECT * FROM empty;
CREATE TEMP TABLE nested AS SELECT customer, list(total ORDER BY id) AS totals, {'at': max(placed)} AS s
  FROM orders GROUP BY ALL;
CREATE TEMP VIEW rich AS SELECT customer FROM big WHERE total > 200;
CREATE TEMP VIEW rich_names (who) AS SELECT name FROM customers WHERE id IN (FROM rich);
CREATE OR REPLACE TEMP TABLE few AS SELECT * FROM few WHERE id <> 7;
"""

QUERIES = [
    "SELECT * FROM big",
    "SELECT c.name, b.total, b.n FROM customers c JOIN big b ON b.customer = c.id",
    "SELECT c.name, b.total FROM customers c LEFT JOIN big b ON b.customer = c.id",
    "SELECT c.name, b.total FROM customers c FULL JOIN big b ON b.customer = c.id",
    "SELECT c.name, f.label FROM few f LEFT JOIN customers c USING (id)",
    "SELECT o.id, f.label FROM orders o JOIN few f ON o.customer = f.id",
    "SELECT o.id FROM orders o SEMI JOIN few f ON o.customer = f.id",
    "SELECT o.id FROM orders o ANTI JOIN few f ON o.customer = f.id",
    "SELECT o.id FROM orders o ANTI JOIN nulls f ON o.customer = f.id",
    "SELECT o.id FROM orders o WHERE o.customer NOT IN (SELECT id FROM few)",
    "SELECT o.id FROM orders o WHERE o.customer NOT IN (SELECT id FROM nulls)",
    "SELECT o.id FROM orders o WHERE o.customer IN (SELECT id FROM nulls)",
    "SELECT o.id FROM orders o WHERE o.customer IN (SELECT id FROM none)",
    "SELECT o.id FROM orders o WHERE o.customer NOT IN (SELECT id FROM none)",
    "SELECT o.id FROM orders o JOIN none USING (id)",
    "SELECT o.id FROM orders o LEFT JOIN none n ON n.id = o.customer",
    "SELECT count(*) FROM orders WHERE EXISTS (FROM none)",
    "SELECT count(*) FROM orders WHERE total > (SELECT avg(total) FROM big)",
    "SELECT name, (SELECT total FROM big WHERE customer = c.id) FROM customers c",
    "SELECT e, count(*) FROM nulls n JOIN customers c ON c.id = n.id OR n.id IS NULL GROUP BY e ORDER BY e",
    "SELECT id FROM customers UNION ALL SELECT id FROM few",
    "SELECT id FROM customers EXCEPT SELECT id FROM few",
    "SELECT id FROM few INTERSECT SELECT customer FROM orders",
    "SELECT n.s, len(n.totals), c.name FROM nested n JOIN customers c ON c.id = n.customer",
    "FROM rich_names",
    "SELECT count(*), max(o.total) FROM orders o, rich r WHERE o.customer = r.customer",
    "WITH few AS (SELECT 1 AS id) SELECT c.name FROM customers c JOIN few USING (id)",
    "SELECT f.id, r.head FROM few f JOIN customers c USING (id) JOIN regions r ON r.name = c.region",
    "SELECT f.id, o.m FROM few f, LATERAL (SELECT max(id) AS m FROM orders WHERE customer = f.id) o",
    "SELECT a.id, b.id FROM few a, few b",
    "SELECT label, rank() OVER (ORDER BY id DESC) FROM few",
    "PIVOT (SELECT region, b.n FROM big b JOIN customers c ON c.id = b.customer) ON region USING sum(n)",
    "DESCRIBE SELECT *, b.n * 2 FROM nested JOIN big b USING (customer)",
]


@pytest.mark.parametrize(("shards", "grain"), sizes())
def test_local_tables(stage: Stage, shards: int, grain: Grain) -> None:
    whole = stage.cluster(LOCAL, 1, "shard").whole().cursor()
    with stage.cluster(LOCAL, shards, grain).connect() as connection:
        for statement in SETUP.split(";")[:-1]:
            whole.execute(statement)
            connection.execute(statement)
        for sql in QUERIES:
            expected = answer_of(whole.execute(sql))
            actual = run(connection, sql)
            report(difference(actual, expected), sql, shards, grain, actual, expected)
    whole.close()
