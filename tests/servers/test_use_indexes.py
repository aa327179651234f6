"""Statements that trust indexes, on MariaDB and PostgreSQL in their own dialects, beside one database."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from tests.servers.served import Served, served

TEXT = {"mysql": "VARCHAR(20) COLLATE utf8mb4_general_ci", "postgres": "VARCHAR(20)"}
VISITS = (
    "CREATE JOIN INDEX visits ON t.who = o.name INCLUDE (t.id, t.v, t.d, t.amount, o.id, o.city) "
    "SHARD BY k (t.id)"
)
INDEXES = (
    VISITS,
    "CREATE JOIN INDEX by_v ON t.v = o.w INCLUDE (t.id, o.id, o.name) SHARD BY k (o.id)",
    "CREATE LOOKUP INDEX t_v ON t (v)",
    "CREATE LOOKUP INDEX t_who ON t (who, d)",
    "CREATE LOOKUP INDEX t_amount ON t (amount)",
    "CREATE UNIQUE LOOKUP INDEX o_w ON o (w)",
)
NAMES = (None, "Ann", "ann", "ANN", "bob", "Bob", "zoë", "zoe", "", "cyd")

FORCED = ("join_back", "keys", "look_up_keys")


def tables(dialect: str) -> dict[str, tuple[str, list[tuple[Any, ...]]]]:
    text = TEXT[dialect]
    return {
        "t": (
            f"id BIGINT PRIMARY KEY, who {text}, v INT, d DATE, amount DECIMAL(12,2)",
            [
                (
                    n,
                    NAMES[n * 7 % len(NAMES)],
                    None if n % 6 == 0 else n % 13,
                    None if n % 5 == 0 else date(2026, 1, 1 + n % 9),
                    None if n % 8 == 0 else Decimal(n * 5) / 100,
                )
                for n in range(60)
            ],
        ),
        "o": (
            f"id BIGINT PRIMARY KEY, name {text}, w INT, city {text}",
            [(n, NAMES[n % len(NAMES)], None if n % 9 == 0 else n, f"c{n % 4}") for n in range(25)],
        ),
    }


# What an index answers; "-": where it may not be used.
STATEMENTS = """
SELECT t.id, o.city FROM t JOIN o ON t.who = o.name
SELECT t.id, count(*), sum(t.amount) FROM t JOIN o ON o.name = t.who GROUP BY t.id
SELECT o.city, count(*), min(t.d), avg(t.amount) FROM t JOIN o ON t.who = o.name GROUP BY o.city
SELECT t.id, o.id, t.d FROM t, o WHERE t.who = o.name AND t.v > 3 ORDER BY 1, 2 LIMIT 7 OFFSET 3
SELECT t.id, o.id FROM t JOIN o ON t.who = o.name WHERE t.id = 7
SELECT t.id, o.id FROM t JOIN o ON t.who = o.name WHERE o.city = 'C1' OR t.v IS NULL
SELECT a.id, b.id FROM t a JOIN o b ON a.who = b.name JOIN t d ON d.id = a.id JOIN o c ON c.name = d.who
SELECT x.id FROM (SELECT id, who AS w FROM t WHERE v < 9) x JOIN o ON x.w = o.name
SELECT count(*) FROM t JOIN o ON t.v = o.w WHERE o.name = 'ANN'
SELECT o.name, t.id FROM t JOIN o ON t.v = o.w
SELECT id, d FROM t WHERE v = 5
SELECT id, d FROM t WHERE v IN (5, 7, NULL)
SELECT id FROM t WHERE who = 'ann' AND d = '2026-01-03'
SELECT id FROM t WHERE amount = 0.55
SELECT name, city FROM o WHERE w = 17
SELECT count(*), max(city) FROM o WHERE w = 99
SELECT o.city, t.id FROM o LEFT JOIN t ON t.id = o.id WHERE o.w = 4
- SELECT t.id, o.city FROM t LEFT JOIN o ON t.who = o.name
SELECT t.id, o.w FROM t JOIN o ON t.who = o.name
SELECT t.id, o.w FROM t JOIN o ON t.who = o.name WHERE o.city = 'C1' AND t.v > 2 AND o.w < 20
SELECT o.w, count(*), max(t.d) FROM t JOIN o ON who = name WHERE t.v IN (1, 2) AND amount > 0.5 GROUP BY o.w
SELECT t.who, o.city FROM t JOIN o ON t.v = o.w WHERE o.name = 'ann' ORDER BY t.id LIMIT 3
SELECT t.id, o.w FROM t JOIN o ON t.who = o.name WHERE t.v = 99
SELECT id, amount FROM t WHERE EXISTS (SELECT 1 FROM o WHERE o.name = t.who)
SELECT id, amount FROM t WHERE EXISTS (SELECT 1 FROM o WHERE o.name = t.who AND o.city = 'C1' AND o.id > t.v)
SELECT v, count(*) FROM t WHERE who IN (SELECT name FROM o WHERE city = 'c2') GROUP BY v
SELECT id, who FROM t WHERE v > 3 AND EXISTS (SELECT 1 FROM o WHERE o.name = t.who) ORDER BY id LIMIT 4
SELECT id, v FROM t WHERE v IN (SELECT w FROM o WHERE name = 'ann')
SELECT v FROM t WHERE EXISTS (SELECT 1 FROM o WHERE o.w = t.v)
SELECT t.d FROM t WHERE EXISTS (SELECT 1 FROM o WHERE o.w = t.v AND o.name <> 'bob')
SELECT city FROM o WHERE EXISTS (SELECT 1 FROM t WHERE t.who = o.name AND t.v > 2)
SELECT city, count(*) FROM o WHERE EXISTS (SELECT 1 FROM t WHERE who = name AND amount > 1) GROUP BY city
SELECT name FROM o WHERE w IN (SELECT v FROM t WHERE id > 5)
- SELECT id FROM t WHERE NOT EXISTS (SELECT 1 FROM o WHERE o.name = t.who)
SELECT t.id, o.city FROM o JOIN t ON t.v = o.w WHERE o.city = 'C1' AND length(t.who) = 3
SELECT id FROM t WHERE EXISTS (SELECT 1 FROM o WHERE o.w = t.v AND o.city = 'c2')
- SELECT id FROM t WHERE who = 'ann'
- SELECT id FROM t WHERE v > 10
""".strip().splitlines()


@pytest.fixture(scope="module", params=["mysql", "postgres"])
def world(request: pytest.FixtureRequest) -> Iterator[Served]:
    with served(request.param, tables(request.param)) as made:
        with made.cluster.connect() as connection:
            for statement in INDEXES:
                connection.execute(statement).fetchall()
        yield made


@pytest.mark.parametrize("line", STATEMENTS)
def test_statements_that_trust_indexes(world: Served, line: str) -> None:
    sql = line.removeprefix("- ")
    names, rows = world.expected(sql)
    for trust in (True, False):
        found_names, found = world.found(sql, trust_indexes=trust, force=FORCED)
        assert found_names == names
        if "ORDER BY" in sql:
            assert found == rows
        else:
            assert sorted(map(repr, found)) == sorted(map(repr, rows)), trust
        _, plan = world.found(f"EXPLAIN {sql}", trust_indexes=trust, force=FORCED)
        told = "\n".join(each[0] for each in plan)
        assert ("answers as of the build" in told) is (trust and not line.startswith("-")), told


def test_a_lookup_goes_to_one_shard(world: Served) -> None:
    with world.cluster.connect(trust_indexes=True) as connection:
        cursor = connection.execute("SELECT name FROM o WHERE w = ?", [17])
        assert cursor.fetchall() == [(world.expected("SELECT name FROM o WHERE w = 17")[1][0][0],)]
        plan = "\n".join(
            row[0] for row in connection.execute("EXPLAIN ANALYZE SELECT name FROM o WHERE w = 17")
        )
    assert "Ran first: $keys_1" in plan
    assert plan.count("on 1 of 3 shards") == 2, plan
