"""EXACT keys against one MariaDB: constants in any spelling, rows in the one that the catalog promises."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import closing
from itertools import product
from typing import Any

import pytest

from shardwise.catalog.model import Column
from shardwise.planner.dialects import query_dialect
from shardwise.planner.spellings import Folds
from tests.oracle.mysql_world import MySQLWorld, Table
from tests.oracle.test_mysql_dialect import compare
from tests.servers import mariadb

SHARDS = (3, *(pytest.param(n, marks=pytest.mark.slow) for n in (1, 2, 7)))
LOWER = ("acme", "globex", "a-1", "ab", "", "5", "05", "x y", "straße"[:4], "zoe", "by")
NAMES = ("acme", "ACME", "Acme ", "ácme", "globex", "Zoë", "5", "", None)
MIXED = ("Acme", "GLOBEX", "a-1", "北京", "Zoe", "5", "05", "")
BINARY = ("Acme", "acme", "ácme", "zoë", "5", "05", "", "\x01")
ASKED = (
    *("acme", "ACME", "acme ", "aCmE   ", "ácme", "ａcme", "globex", "GlobEx", "nobody", "ab", "AB", "a-1"),
    *(
        "A-1",
        "a_1",
        "",
        " ",
        " acme",
        "5",
        "05",
        "5 ",
        "x y",
        "X Y ",
        "zoe",
        "ZOË",
        "stra",
        "by",
        "bi",
        "acme\t",
    ),
    *("acme\x01", "\x01", "北京", "🍣"),
)
CI = "COLLATE utf8mb4_general_ci"
FORMS = (
    "SELECT k, name, n FROM {table} WHERE k = {asked}",
    "SELECT COUNT(*), MAX(n) FROM {table} WHERE k <=> {asked} AND n > 0",
    "SELECT n, COUNT(*) FROM {table} WHERE k IN ('globex', {asked}, NULL) GROUP BY n",
    "SELECT k, n FROM {table} WHERE (k, n) IN (({asked}, 1), ('Zoe', 2))",
    "SELECT k, n FROM {table} WHERE NOT (k <> {asked} OR n IS NULL)",
    "SELECT name, COUNT(*) FROM {table} WHERE k = {asked} GROUP BY name WITH ROLLUP",
)
"""All are asked on three shards, on 1, 2 and 7 every third by turns."""


def tables() -> dict[str, Table]:
    pick = random.Random(11).choice

    def rows(keys: tuple[str, ...], count: int, *, nulls: bool = True) -> list[tuple[Any, ...]]:
        found = (*keys, None) if nulls else keys
        return [(pick(found), pick(NAMES), pick([None, 1, 2, 3])) for _ in range(count)]

    def keyed(collation: str, exact: str, keys: tuple[str, ...], count: int = 40) -> Table:
        columns = f"k VARCHAR(20) COLLATE {collation}, name VARCHAR(20) {CI}, n INT"
        return Table(columns, f"SHARD BY by_name (k) {exact}", rows(keys, count), 0)

    upper = tuple(key.upper() for key in LOWER)
    return {
        "a": keyed("utf8mb4_general_ci", "EXACT LOWER (k)", LOWER),
        "b": keyed("utf8mb4_general_ci", "EXACT LOWER (k)", LOWER, 30),
        "e": keyed("utf8mb4_unicode_ci", "EXACT UPPER (k)", upper),
        "w": keyed("latin1_swedish_ci", "EXACT LOWER (k)", LOWER),
        "v": keyed("utf8mb4_lithuanian_ci", "EXACT LOWER (k)", LOWER),
        "f": keyed("utf8mb4_bin", "EXACT (k)", BINARY),
        "m": keyed("utf8mb4_general_ci", "EXACT (k)", MIXED),
        "o": keyed("utf8mb4_general_ci", "EXACT (k)", MIXED, 20),
        "r": Table(
            f"k VARCHAR(20) {CI}, name VARCHAR(20) {CI}, n INT",
            "REFERENCE ON by_id EXACT LOWER (k)",
            rows(LOWER, 12),
        ),
        "h": Table(
            f"k VARCHAR(20) {CI} PRIMARY KEY, n INT",
            "SHARD BY by_name (k) EXACT LOWER (k)",
            [(key, len(key)) for key in LOWER],
            0,
        ),
        "l": Table(
            f"k VARCHAR(20) {CI}, name VARCHAR(20) {CI}, n INT",
            "SHARD WITH h ON k = h.k EXACT LOWER (k) /* by_name of their parents */",
            rows(LOWER, 30, nulls=False),
            0,
        ),
        "p": keyed("utf8mb4_general_ci", "", ("acme", "ACME", "acme ", "ácme", "globex", "5", "5x"), 30),
    }


def _by_shards(number: int) -> str:
    return f"{number} shards"


@pytest.fixture(scope="module", params=SHARDS, ids=_by_shards)
def world(request: pytest.FixtureRequest) -> Iterator[MySQLWorld]:
    world = MySQLWorld(request.param, tables())
    yield world
    world.close()


@pytest.mark.parametrize("table", ["a", "e", "w", "v", "f", "p"])
@pytest.mark.parametrize("asked", ASKED)
def test_however_a_constant_is_spelled(world: MySQLWorld, table: str, asked: str) -> None:
    if table == "w" and not _is_latin(asked):
        pytest.skip("MariaDB refuses to compare them")
    sql = f"SELECT k, name, n FROM {table} WHERE k = "
    compare(world, sql + "?", (asked,), (sql + "%s", (asked,)))
    shards = len(list(world.cluster.catalog.shards()))
    for form in FORMS if shards == 3 else FORMS[ASKED.index(asked) % 3 :: 3]:
        compare(world, form.format(table=table, asked=_text(asked)))


@pytest.mark.parametrize("table", ["a", "f", "m", "p"])
@pytest.mark.parametrize("asked", ["acme", "ACME ", "ácme", "a%", "", "5"], ids=ascii)
def test_what_goes_by_the_collation(world: MySQLWorld, table: str, asked: str) -> None:
    compare(world, f"SELECT COUNT(*) FROM {table} WHERE k <> {_text(asked)}")
    compare(world, f"SELECT COUNT(*) FROM {table} WHERE k NOT IN ({_text(asked)}, 'ab')")
    compare(world, f"SELECT COUNT(*) FROM {table} WHERE k LIKE {_text(asked)}")
    compare(world, f"SELECT COUNT(*) FROM {table} WHERE k >= {_text(asked)}")
    compare(world, f"SELECT COUNT(*) FROM {table} WHERE k BETWEEN 'a' AND {_text(asked)}")


@pytest.mark.parametrize("asked", [*MIXED, "acme ", "nobody", "ácme", "ＡCME", "Zoë", "acme\x01", "🍣"])
@pytest.mark.parametrize("table", ["m", "o"])
def test_as_the_rows_spell_it_or_as_nobody_does(world: MySQLWorld, table: str, asked: str) -> None:
    """EXACT alone: what is asked for in another spelling that prints is the one thing that it gives away."""
    if asked == "acme ":
        asked = "Acme "
    compare(world, f"SELECT k, name, n FROM {table} WHERE k = {_text(asked)}")
    compare(world, f"SELECT COUNT(*) FROM {table} WHERE k IN ({_text(asked)}, 'GLOBEX')")


STATEMENTS = [
    "SELECT k, n FROM a WHERE k = 5",
    "SELECT k, n FROM a WHERE k IN (5, 'acme')",
    "SELECT k, n FROM a WHERE k = NULL",
    "SELECT k, n FROM a WHERE k <=> NULL",
    "SELECT k, n FROM a WHERE k IS NULL OR k = 'ACME'",
    "SELECT COUNT(*) FROM a WHERE k IS NOT NULL",
    "SELECT k, n FROM a WHERE k = TRUE",
    "SELECT k, n FROM a WHERE k = 0x61636D65",
    "SELECT k, n FROM a WHERE k = BINARY 'ACME'",
    "SELECT k, n FROM a WHERE BINARY k = 'acme'",
    "SELECT k, n FROM a WHERE k COLLATE utf8mb4_bin = 'ACME'",
    "SELECT k, n FROM a WHERE k = 'ACME' COLLATE utf8mb4_bin",
    "SELECT k, n FROM a WHERE k = CONCAT('AC', 'me')",
    "SELECT k, n FROM a WHERE UPPER(k) = 'acme'",
    "SELECT k, n FROM a WHERE k = name",
    "SELECT k, n FROM a WHERE k = name AND name = 'ÁCME'",
    "SELECT k, n FROM a WHERE k = (SELECT MAX(name) FROM p WHERE name LIKE 'a%')",
    "SELECT k, n FROM a WHERE k IN (SELECT name FROM p WHERE n = 1)",
    "SELECT k, n FROM a WHERE k IN (SELECT k FROM b WHERE n = 1)",
    "SELECT k, n FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.k = a.k AND b.n = 2)",
    "SELECT k, n FROM a WHERE k NOT IN (SELECT k FROM b WHERE n = 1 AND k IS NOT NULL)",
    "SELECT a.k, a.n, b.n FROM a JOIN b ON a.k = b.k",
    "SELECT a.k, a.n, b.n FROM a LEFT JOIN b ON a.k = b.k AND b.n = 1",
    "SELECT a.k, a.n, b.n FROM a RIGHT JOIN b ON a.k = b.k",
    "SELECT a.n, b.n FROM a JOIN b ON a.k <=> b.k WHERE a.n = 1",
    "SELECT a.n, b.n FROM a JOIN b USING (k) WHERE a.k = 'GLOBEX'",
    "SELECT a.n, b.n FROM a, b WHERE a.k = b.k AND b.k IN ('AB', 'Zoe ', 'nobody')",
    "SELECT a.n, m.n FROM a JOIN m ON a.k = m.k",
    "SELECT a.n, m.n FROM a JOIN m ON a.k = m.k WHERE a.k = 'acme'",
    "SELECT a.n, p.n FROM a JOIN p ON a.k = p.k WHERE a.k = 'acme'",
    "SELECT a.n, p.n FROM a JOIN p ON a.k = p.k WHERE p.k = 'ácme'",
    "SELECT a.n, p.n FROM a LEFT JOIN p ON a.k = p.k",
    "SELECT a.n, e.n FROM a JOIN e ON a.k = e.k COLLATE utf8mb4_general_ci",
    "SELECT a.n, f.n FROM a JOIN f ON a.k = f.k COLLATE utf8mb4_general_ci",
    "SELECT m.n, o.n FROM m JOIN o ON m.k = o.k",
    "SELECT m.k, COUNT(*), SUM(o.n) FROM m JOIN o ON m.k = o.k GROUP BY m.k",
    "SELECT a.n, b.n, c.n FROM a JOIN m c ON a.k = c.k JOIN b ON b.k = c.k",
    "SELECT k, COUNT(*), COUNT(DISTINCT name), MIN(name) FROM a GROUP BY k",
    "SELECT k, COUNT(*) FROM e GROUP BY k HAVING COUNT(*) > 1",
    "SELECT k, COUNT(*) FROM v GROUP BY k",
    "SELECT k, COUNT(*) FROM m GROUP BY k",
    "SELECT k, COUNT(*) FROM p GROUP BY k",
    "SELECT DISTINCT k FROM a",
    "SELECT DISTINCT k, name FROM a",
    "SELECT COUNT(DISTINCT k) FROM a",
    "SELECT COUNT(DISTINCT k, name) FROM b",
    "SELECT k, name, ROW_NUMBER() OVER (PARTITION BY k ORDER BY name, n) FROM a WHERE n IS NOT NULL",
    "SELECT k, COUNT(*) FROM (SELECT k FROM a UNION ALL SELECT k FROM b) t GROUP BY k",
    "SELECT k, COUNT(*) FROM (SELECT k FROM a UNION ALL SELECT k FROM m) t GROUP BY k",
    "SELECT k, COUNT(*) FROM (SELECT k FROM a UNION ALL SELECT k FROM p) t GROUP BY k",
    "SELECT k, COUNT(*) FROM (SELECT k FROM a UNION ALL SELECT name FROM b) t GROUP BY k",
    "SELECT k FROM a UNION SELECT k FROM b",
    "SELECT k FROM a UNION SELECT k FROM m",
    "SELECT k FROM a INTERSECT SELECT k FROM b",
    "SELECT k FROM a EXCEPT SELECT k FROM b",
    "SELECT k FROM a INTERSECT SELECT k FROM m",
    "SELECT k FROM a EXCEPT SELECT k FROM p",
    "WITH x AS (SELECT k, n FROM a WHERE k = 'ACME') SELECT x.n, b.n FROM x JOIN b ON b.k = x.k",
    "SELECT k, n FROM a ORDER BY k, n LIMIT 7",
    "SELECT k, n FROM a WHERE k = 'Acme' ORDER BY n, name LIMIT 2",
    "SELECT MAX(k), MIN(k) FROM a WHERE k > 'A'",
    "SELECT r.n, a.n FROM r JOIN a ON a.k = r.k WHERE r.k = 'ACME'",
    "SELECT r.n, a.n, b.n FROM a JOIN r ON a.k = r.k JOIN b ON b.k = r.k AND r.k IN ('Globex', 'AB ')",
    "SELECT r.k, COUNT(*) FROM r JOIN a ON a.k = r.k GROUP BY r.k",
    "SELECT r.n, a.n FROM r LEFT JOIN a ON a.k = r.k",
    "SELECT h.n, l.name FROM h JOIN l ON l.k = h.k",
    "SELECT h.n, l.name FROM h JOIN l ON l.k = h.k WHERE h.k = 'ACME '",
    "SELECT l.name, l.n FROM l WHERE l.k = 'ACME'",
    "SELECT h.k, COUNT(l.n) FROM h LEFT JOIN l ON l.k = h.k GROUP BY h.k",
    "SELECT a.n, l.n FROM a JOIN l ON l.k = a.k",
    "SELECT h.n FROM h WHERE EXISTS (SELECT 1 FROM l WHERE l.k = h.k AND l.n = 1)",
]


@pytest.mark.parametrize("sql", STATEMENTS)
def test_answers_of_exact_columns_are_one_servers(world: MySQLWorld, sql: str) -> None:
    compare(world, sql)


def test_collations_of_no_language_fold_nothing_of_ascii_but_case() -> None:
    """By MariaDB's own sort keys, of one sign and of two: EXACT LOWER and UPPER rest on it."""
    server = mariadb(0)
    signs = [chr(code) for code in range(0x20, 0x7F)]
    texts = [text for text in (*signs, *map("".join, product(signs, signs))) if not text.endswith(" ")]
    database = server.database("CREATE TABLE texts (v VARCHAR(2) CHARACTER SET ascii COLLATE ascii_bin)")
    try:
        server.insert(database, "texts", [(text,) for text in texts])
        with closing(server.connect(database)) as con, closing(con.cursor()) as cursor:
            cursor.execute(
                "SELECT CHARACTER_SET_NAME, FULL_COLLATION_NAME "
                "FROM information_schema.COLLATION_CHARACTER_SET_APPLICABILITY"
            )
            found = [(charset, name) for charset, name in cursor.fetchall() if _folds_case(name)]
            assert len(found) > 20
            for charset, name in found:
                cursor.execute(
                    f"SELECT v, HEX(WEIGHT_STRING(CONVERT(v USING {charset}) COLLATE {name})) FROM texts"
                )
                lower: dict[str, str] = {}
                assert all(lower.setdefault(w, v.lower()) == v.lower() for v, w in cursor.fetchall()), name
    finally:
        server.run(f"DROP DATABASE `{database}`")


def _folds_case(collation: str) -> bool:
    column = Column(name="k", type="VARCHAR(20)", collation=collation)
    return query_dialect("mysql").folds(column) is Folds.CASE


def _is_latin(text: str) -> bool:
    return all(character <= "\xff" for character in text)


def _text(value: str) -> str:
    return "'" + value.replace("\\", "\\\\").replace("'", "''") + "'"
