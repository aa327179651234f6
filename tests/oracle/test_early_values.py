"""What runs first in the mysql and postgres dialects: the same answers with each of the passes off."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

import shardwise
from shardwise.errors import DataError, ProgrammingError
from tests.servers import mariadb, postgres

A = "(id INT PRIMARY KEY, x INT, v DECIMAL(8,2), at DATE, name VARCHAR(20))"
B = "(id INT PRIMARY KEY, aid INT, y DECIMAL(8,2), f DOUBLE PRECISION, on_day DATE)"
STATEMENTS = """
SELECT count(*), sum(b.y) FROM a JOIN b ON a.id = b.aid WHERE a.x = 3
SELECT a.id, b.id FROM a LEFT JOIN b ON a.id = b.aid WHERE a.x = 3 ORDER BY a.id, b.id
SELECT b.id, a.v FROM b LEFT JOIN a ON a.id = b.aid AND a.x = 2 ORDER BY b.id
SELECT id FROM a WHERE EXISTS (SELECT 1 FROM b WHERE aid = a.id AND on_day = DATE '2024-01-05') ORDER BY 1
SELECT a.id FROM a WHERE NOT EXISTS (SELECT 1 FROM b WHERE b.aid = a.id) AND a.x IN (1,2) ORDER BY 1
SELECT id FROM a WHERE v > (SELECT avg(y) FROM b) ORDER BY id
SELECT id FROM a WHERE v > (SELECT avg(y) FROM b WHERE id < 0) ORDER BY id
SELECT id FROM a WHERE id IN (SELECT aid FROM b WHERE y < 10) ORDER BY id
SELECT id FROM a WHERE id NOT IN (SELECT aid FROM b WHERE y < 10) ORDER BY id
SELECT id FROM a WHERE id NOT IN (SELECT aid FROM b) ORDER BY id
SELECT id FROM a WHERE at = (SELECT max(on_day) FROM b) ORDER BY id
SELECT id FROM a WHERE at IN (SELECT on_day FROM b WHERE y < 5) ORDER BY id
SELECT id FROM a WHERE EXISTS (SELECT 1 FROM b WHERE y > 50) AND x = 1 ORDER BY id
SELECT id, (SELECT max(f) FROM b) FROM a WHERE x = 1 ORDER BY id
SELECT id FROM a WHERE v / 3 > (SELECT max(f) FROM b) ORDER BY id
SELECT id FROM a WHERE name = (SELECT min(name) FROM a) ORDER BY id
SELECT count(*) FROM b, a, a c WHERE b.aid = a.id AND c.id = a.x AND a.at = DATE '2024-01-03'
SELECT b.id FROM b JOIN a ON a.at = b.on_day WHERE a.x = 2 AND a.id = 5 ORDER BY b.id
SELECT b.id FROM b JOIN a ON a.v = b.y WHERE a.x = 2 ORDER BY b.id
SELECT x, count(*) FROM a GROUP BY x HAVING count(*) > (SELECT count(*) FROM b WHERE y < 8) ORDER BY x
"""
RUN_FIRST = {
    "SELECT id FROM a WHERE at = (SELECT max(on_day) FROM b) ORDER BY id",
    "SELECT id FROM a WHERE id NOT IN (SELECT aid FROM b WHERE y < 10) ORDER BY id",
    "SELECT b.id FROM b JOIN a ON a.at = b.on_day WHERE a.x = 2 AND a.id = 5 ORDER BY b.id",
}
UNASKED = """
SELECT id, CASE WHEN id < 0 THEN (SELECT y FROM b) END FROM a ORDER BY id
SELECT id FROM a WHERE id < 0 AND x > (SELECT id FROM b) ORDER BY id
SELECT id, COALESCE(id, (SELECT id FROM b)) FROM a ORDER BY id
SELECT id FROM a WHERE (id, x) = (SELECT id, x FROM a WHERE x IS NOT NULL ORDER BY id LIMIT 1)
"""
"""Subqueries whose errors no row asks for, and one that is a row."""
ENDLESS = """
SELECT id FROM a WHERE at > (SELECT min(at) FROM a) ORDER BY id
SELECT id FROM a WHERE at = (SELECT max(at) FROM a) ORDER BY id
SELECT id FROM a WHERE at IN (SELECT on_day FROM b WHERE y < 5) ORDER BY id
SELECT a.id, b.id FROM a JOIN b ON a.at = b.on_day WHERE a.x = 3 ORDER BY a.id, b.id
"""
AVERAGE = "SELECT id FROM a WHERE v > (SELECT avg(y) FROM b) ORDER BY id"
PASSES = ("choose_strategies", "run_first", "order_joins")


def rows() -> tuple[list[Any], list[Any]]:
    rng = random.Random(5)
    a = [
        (
            i,
            rng.choice([None, 1, 2, 3, 4, 5]),
            rng.choice([None, f"{i}.25"]),
            f"2024-01-{i % 28 + 1:02}",
            name,
        )
        for i, name in ((i, rng.choice(["ann", "Bob", None])) for i in range(60))
    ]
    b = [
        (i, rng.choice([None, *range(70)]), f"{i}.50", i * 0.1, f"2024-01-{i % 28 + 1:02}")
        for i in range(200)
    ]
    return a, b


def made(dialect: str, shards: int, folder: Path, a: list[Any], b: list[Any]) -> tuple[Any, str]:
    """A server, and the database on it that has all rows; `folder` has the catalog of the shards."""
    servers: list[Any] = [mariadb(0), mariadb(1)] if dialect == "mysql" else [postgres()]

    def database(server: Any, n: int | None) -> str:
        made: str = server.database(f"CREATE TABLE a {A}", f"CREATE TABLE b {B}")
        for name, all_rows in (("a", a), ("b", b)):
            server.insert(made, name, [r for r in all_rows if n is None or r[0] % shards == n])
        return made

    whole = database(servers[0], None)
    (folder / "password").write_text(servers[0].password, encoding="utf-8")
    text = f"CREATE CATALOG c DIALECT {dialect};\n"
    for n in range(shards):
        server = servers[n % len(servers)]
        text += f"CREATE SOURCE s{n} URL '{server.url(database(server, n))}' PASSWORD FILE 'password';\n"
    text += f"CREATE SHARDING m USING MOD {shards} AS n ON s{{n}};\n"
    text += f"ATTACH TABLE a {A} SHARD BY m (id);\nATTACH TABLE b {B} SHARD BY m (id);\n"
    (folder / "cluster.sql").write_text(text, encoding="utf-8")
    return servers[0], whole


@pytest.mark.slow
@pytest.mark.parametrize("shards", [1, 3, 7])
@pytest.mark.parametrize("dialect", ["mysql", "postgres"])
def test_answers_are_one_servers_with_any_pass_off(dialect: str, shards: int, tmp_path: Path) -> None:
    server, whole = made(dialect, shards, tmp_path, *rows())
    with shardwise.connect(tmp_path / "cluster.sql", verify_passes=True) as con:
        for sql in STATEMENTS.strip().splitlines():
            wanted = server.run(sql, database=whole)
            for off in ((), *((name,) for name in PASSES), PASSES):
                assert con.execute(sql, disable_passes=off).fetchall() == wanted, (sql, off)
            if sql in RUN_FIRST and shards > 1:
                assert "Runs first" in str(con.explain(sql))
            # MySQL's quotients have more digits than they show: they do not leave their statement.
            if sql == AVERAGE and shards > 1:
                assert ("Runs first" in str(con.explain(sql))) == (dialect != "mysql")


@pytest.mark.parametrize("dialect", ["mysql", "postgres"])
def test_an_error_that_no_row_asks_for_is_none(dialect: str, tmp_path: Path) -> None:
    server, whole = made(dialect, 2, tmp_path, *rows())
    with shardwise.connect(tmp_path / "cluster.sql") as con:
        for sql in UNASKED.strip().splitlines():
            assert con.execute(sql).fetchall() == server.run(sql, database=whole), sql
        with pytest.raises((ProgrammingError, DataError), match=r"more than (one|1) row"):
            con.execute("SELECT id, (SELECT id FROM b) FROM a").fetchall()


def test_values_that_the_driver_has_no_object_for_stay(tmp_path: Path) -> None:
    a, b = rows()
    a = [(*r[:3], "infinity" if r[0] % 4 == 1 else "-infinity" if r[0] % 4 == 2 else r[3], r[4]) for r in a]
    b = [(*r[:4], "infinity" if r[0] % 5 == 1 else r[4]) for r in b]
    server, whole = made("postgres", 2, tmp_path, a, b)
    with shardwise.connect(tmp_path / "cluster.sql") as con:
        for sql in ENDLESS.strip().splitlines():
            assert con.execute(sql).fetchall() == server.run(sql, database=whole), sql
