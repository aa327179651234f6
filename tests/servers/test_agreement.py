"""What MariaDB and PostgreSQL are asked to compute for the duckdb dialect; what would go wrong otherwise."""

from __future__ import annotations

import os
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest

import shardwise
from shardwise.catalog import parse
from shardwise.executor.backends.binding import MYSQL, inlined
from shardwise.executor.backends.mysql.literals import literals
from shardwise.plan.run import Request
from shardwise.planner import Planner
from tests.servers import mariadb, postgres

PASSWORD = "SHARDWISE_TEST_AGREEMENT_PASSWORD"
COLUMNS = (
    "k BIGINT, n INTEGER, s VARCHAR, l VARCHAR, long VARCHAR, d DECIMAL(9,2), x DOUBLE, day DATE, "
    "seen TIMESTAMP, b BOOLEAN"
)
DDL = {
    "mariadb": "k BIGINT, n INT, s VARCHAR(200) COLLATE utf8mb4_general_ci, "
    "l VARCHAR(200) CHARACTER SET latin1, `long` LONGTEXT, d DECIMAL(9,2), x DOUBLE, "
    "day DATE NOT NULL, seen DATETIME(6), b BOOLEAN, "
    "KEY k (k), KEY n (n), KEY s (s), KEY l (l), KEY d (d), KEY day (day), KEY seen (seen)",
    "postgres": 'k bigint, n integer, s varchar(200) COLLATE "en-x-icu", l text, long text, d numeric(9,2), '
    "x double precision, day date, seen timestamp, b boolean",
}
TEXTS = [
    "ann",
    "Ann",
    "ANN",
    "ann ",
    " ann",
    "änn",
    "a\\",
    "a'b",
    "%s",
    ":p1",
    "%(p1)s",
    "",
    "a_b",
    "a%b",
    "b|",
]
PREFIX = "x" * 1100


def rows() -> list[tuple[Any, ...]]:
    made = []
    for k in range(400):
        text = TEXTS[k % len(TEXTS)]
        made.append(
            (
                *(k, k % 7 or None, text, text if text.isascii() else "é"),
                *(
                    f"{PREFIX}{'aA bB'[k % 5]}" if k % 3 else "aA bB"[k % 5],
                    k / 4,
                    float(k) if k % 3 else None,
                ),
                *(f"2025-01-{k % 28 + 1:02}", f"2025-01-{k % 28 + 1:02} 10:00:00.5", k % 2 == 0),
            )
        )
    return made


class World:
    """`t` over two databases of a product, and in one DuckDB."""

    def __init__(self, product: str) -> None:
        server: Any = mariadb(0) if product == "mariadb" else postgres()
        os.environ[PASSWORD] = server.password
        self.server, self.databases = server, []
        sources = []
        for shard in range(2):
            database = server.database(f"CREATE TABLE t ({DDL[product]})")
            if product == "postgres":
                server.run(
                    *(f"CREATE INDEX ON t ({c})" for c in ("k", "n", "s", "l", "d", "day", "seen")),
                    database=database,
                )
            server.insert(database, "t", [row for row in rows() if row[0] % 2 == shard])
            server.run("ANALYZE TABLE t" if product == "mariadb" else "ANALYZE t", database=database)
            sources.append(f"CREATE SOURCE s{shard} URL '{server.url(database)}' PASSWORD ENV '{PASSWORD}';")
            self.databases.append(database)
        text = (
            f"CREATE CATALOG c DIALECT duckdb; {''.join(sources)}"
            "CREATE SHARDING by_k USING MOD 2 AS m ON s{m};"
            f"ATTACH TABLE t ({COLUMNS}) SHARD BY by_k (k);"
        )
        self.catalog = parse(text)
        self.cluster = shardwise.open(self.catalog)
        self.con = self.cluster.connect()
        self.duck = duckdb.connect()
        self.duck.execute(f"CREATE TABLE t ({COLUMNS})")
        marks = ", ".join("?" * 10)
        self.duck.executemany(f"INSERT INTO t VALUES ({marks})", [list(row) for row in rows()])

    def sent(self, sql: str, *params: Any) -> Request:
        """What the first shard is sent."""
        return next(Planner(self.catalog).prepare(sql).plan(list(params)).start().ready())

    def answers_alike(self, sql: str, *params: Any) -> list[tuple[Any, ...]]:
        ours = self.con.execute(sql, params).fetchall()
        theirs = self.duck.execute(sql, list(params)).fetchall()
        assert sorted(map(repr, ours)) == sorted(map(repr, theirs))
        return list(ours)

    def close(self) -> None:
        self.con.close()
        self.cluster.close()
        self.duck.close()


@pytest.fixture(scope="module", params=["mariadb", "postgres"])
def world(request: pytest.FixtureRequest) -> Iterator[World]:
    made = World(request.param)
    yield made
    made.close()


@pytest.mark.parametrize("text", TEXTS)
def test_text_is_compared_by_its_bytes(world: World, text: str) -> None:
    quoted = "'" + text.replace("'", "''") + "'"
    for column in ("s", "l"):
        for operator in ("=", "<>", "<", ">="):
            world.answers_alike(f"SELECT k FROM t WHERE {column} {operator} {quoted}")
            world.answers_alike(f"SELECT k FROM t WHERE {column} {operator} ?", text)
        world.answers_alike(f"SELECT k FROM t WHERE {column} IN ({quoted}, 'ann')")
        world.answers_alike(f"SELECT k FROM t WHERE {column} LIKE {quoted}")
        world.answers_alike(f"SELECT k FROM t WHERE {column} LIKE {quoted[:-1]}%'")


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT s, count(*), min(k) FROM t GROUP BY s",
        "SELECT DISTINCT s FROM t",
        "SELECT min(s), max(s), min(l), max(l), count(DISTINCT s) FROM t",
        "SELECT long, count(*) FROM t GROUP BY long",
        "SELECT long, count(DISTINCT n), count(DISTINCT s) FROM t GROUP BY long",
        "SELECT k % 2 AS m, long, count(DISTINCT n) AS c FROM t WHERE k % 2 = 1 GROUP BY ALL HAVING c > 1",
        "SELECT long, s, count(DISTINCT k) FROM t WHERE k IN (2, 4, 8, 10, 14, 16) GROUP BY s, long",
        "SELECT long, k, count(DISTINCT n) FROM t WHERE b GROUP BY k, long",
        "SELECT DISTINCT long FROM t",
        "SELECT max(long) = min(long), count(DISTINCT long) FROM t",
        "SELECT k, long FROM t ORDER BY long DESC, k LIMIT 5",
        "SELECT k, s FROM t ORDER BY s, k LIMIT 7",
        "SELECT k, n FROM t ORDER BY n DESC NULLS FIRST, k LIMIT 7",
        "SELECT k, n FROM t ORDER BY n NULLS FIRST, k DESC LIMIT 7",
        "SELECT n, sum(d), sum(d * (1 - d / 100 * 0)), sum(n), avg(d), sum(x), count(x) FROM t GROUP BY n",
        "SELECT n, sum(d * n), sum(CASE WHEN b THEN d ELSE 0 END) FROM t GROUP BY n HAVING sum(d) > 100",
        "SELECT extract(month FROM seen), year(day), count(*) FROM t GROUP BY 1, 2",
        "SELECT substring(s, 1, 2), count(*) FROM t GROUP BY 1",
        "SELECT CAST(b AS INTEGER), sum(CAST(b AS INTEGER)) FROM t WHERE CAST(b AS BIGINT) < 5 GROUP BY 1",
        "SELECT s = '😀', count(*), max(CASE WHEN s > 'b' THEN s ELSE '😀' END) FROM t GROUP BY 1",
        'SELECT "a " FROM (SELECT max(k) AS "a ", min(s) AS "😀" FROM t GROUP BY s) AS "😁"',
        f"SELECT {'c' * 70} FROM (SELECT max(k) AS {'c' * 70}, min(k) AS {'c' * 69} FROM t GROUP BY s)",
        "SELECT b, bool_and(b), bool_or(b), min(b), max(b) FROM t GROUP BY b",
        "SELECT k FROM t WHERE day IS NULL OR seen IS NULL",
        "SELECT count(*) FROM t q JOIN t p ON q.k = p.k AND q.n = p.n WHERE q.n IS NOT DISTINCT FROM p.n",
        "SELECT count(*) FROM t q JOIN t p ON q.k = p.k WHERE q.n IS NOT DISTINCT FROM p.n AND q.n = p.n",
        "SELECT 'a' AS c FROM t WHERE k < 9 UNION SELECT 'A' FROM t WHERE k > 9",
        "SELECT DISTINCT CASE WHEN n > 3 THEN 'a' ELSE 'A ' END FROM t",
        "SELECT min(CASE WHEN b THEN 'a' ELSE 'B' END), max(CASE WHEN b THEN 'a' ELSE 'B' END) FROM t",
        "SELECT sum(CASE WHEN n > 3 THEN 1 ELSE 0 END), sum(CASE WHEN n > 2 THEN 1 END) FROM t",
        "SELECT k FROM t WHERE d BETWEEN 0.5 + 1.25 AND 10.0 - 0.5 OR d = 2.5 * 10",
        "SELECT k FROM t WHERE CASE WHEN n > 3 THEN 'a' ELSE 'A' END = 'a'",
        "SELECT k FROM t WHERE coalesce(s, 'x') = 'x' OR nullif(s, 'ann') IS NULL",
        "SELECT k FROM t WHERE k NOT IN (SELECT k FROM t WHERE n IS NOT NULL)",
        "SELECT k FROM t q WHERE EXISTS (SELECT 1 FROM t p WHERE p.k = q.k AND p.s = q.l)",
        "SELECT k FROM t q WHERE d > (SELECT avg(d) FROM t p WHERE p.k = q.k)",
        "SELECT k FROM t q WHERE (SELECT count(*) FROM (SELECT p.s FROM t p WHERE p.k = q.k LIMIT 1)) = 1",
        "SELECT k FROM t WHERE k IN (SELECT k FROM t WHERE n = 3 ORDER BY k LIMIT 5)",
        "SELECT s FROM t WHERE k < 50 UNION SELECT l FROM t WHERE k > 350",
        "SELECT s FROM t WHERE k < 50 INTERSECT ALL SELECT s FROM t WHERE k > 350",
        "SELECT s FROM t WHERE k < 50 EXCEPT ALL SELECT s FROM t WHERE k > 350",
    ],
)
def test_answers(world: World, sql: str) -> None:
    world.answers_alike(sql)


def test_a_plan_that_is_kept_takes_any_text(world: World) -> None:
    """A backslash would end no text there, or another: literals are put into the texts of kept plans."""
    for text in [*TEXTS, "x\\' OR 1=1 -- ", "\\", "x'' OR ''1", "é\\"]:
        quoted = "'" + text.replace("'", "''") + "'"
        world.answers_alike(f"SELECT k FROM t WHERE s = {quoted} AND n = 3")
        world.answers_alike(f"SELECT k FROM t WHERE s LIKE {quoted} AND n = 3")
        world.answers_alike("SELECT k FROM t WHERE l = ? OR s = ?", text, text)


@pytest.mark.parametrize(
    ("condition", "params", "index"),
    [
        ("k = 4", [], "k"),
        ("k = ?", [4], "k"),
        ("k IN (2, 4, 6)", [], "k"),
        ("n = 3 AND k BETWEEN 10 AND 20", [], "k"),
        ("s = 'ann '", [], "s"),
        ("s = ?", ["Ann"], "s"),
        ("s IN ('a\\', 'b|')", [], "s"),
        ("d = 1.25", [], "d"),
        ("d = ?", [Decimal("1.25")], "d"),
        ("day = DATE '2025-01-05'", [], "day"),
        ("seen = TIMESTAMP '2025-01-05 10:00:00.5'", [], "seen"),
    ],
)
def test_an_index_may_be_used(world: World, condition: str, params: list[Any], index: str) -> None:
    request = world.sent(f"SELECT k, b FROM t WHERE {condition}", *params)
    plan = explained(world, request)
    assert f"[{index}]" in plan or f"t_{index}_idx" in plan, f"{request.sql}\n{plan}"


def explained(world: World, request: Request) -> str:
    if world.server.product == "mariadb":
        text = inlined(request.sql, request.params, MYSQL, literals("UTC"))
        rows = world.server.run(f"EXPLAIN {text}", database=world.databases[0])
        return " ".join(f"{row[3]} [{name}]" for row in rows for name in str(row[4]).split(","))
    with world.server.connect(world.databases[0]) as con:
        con.execute("SET enable_seqscan = off")
        rows = con.execute(f"EXPLAIN {request.sql}", request.params or None).fetchall()
        return " ".join(row[0] for row in rows)


# -- values that are none --------------------------------------------------------------


@pytest.fixture
def loose(tmp_path: Path) -> Iterator[Any]:
    """A MariaDB table with dates of zeros, a truth of 2 and large numbers."""
    server = mariadb(0)
    database = server.database(
        "CREATE TABLE t (k BIGINT, day DATE NOT NULL, b TINYINT(1), x DOUBLE)",
    )
    with server.connect(database) as con, con.cursor() as cursor:
        cursor.execute("SET SESSION sql_mode = ''")
        cursor.execute(
            "INSERT INTO t VALUES (1, '0000-00-00', 2, 1e308), (2, '2025-01-01', 1, 1e308),"
            " (3, '2025-01-02', 0, 1)"
        )
    os.environ[PASSWORD] = server.password
    catalog = parse(
        "CREATE CATALOG c DIALECT duckdb;"
        f"CREATE SOURCE s URL '{server.url(database)}' PASSWORD ENV '{PASSWORD}';"
        "ATTACH TABLE t (k BIGINT, day DATE, b BOOLEAN, x DOUBLE) ON s;"
    )
    with shardwise.open(catalog) as cluster, cluster.connect() as con:
        yield con


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("SELECT count(*) FROM t WHERE b", 'column "b" of table "t" holds what is no BOOLEAN'),
        ("SELECT b, count(*) FROM t GROUP BY b", "no BOOLEAN"),
        ("SELECT min(day) FROM t", "0000-00-00"),
        ("SELECT sum(x) FROM t", "beyond 1e290"),
        ("SELECT k, b FROM t", "BOOLEAN"),
    ],
)
def test_what_is_no_value_is_an_error(loose: Any, sql: str, words: str) -> None:
    with pytest.raises(shardwise.Error, match=words):
        loose.execute(sql).fetchall()


def test_a_date_of_zeros_is_not_null(loose: Any) -> None:
    assert loose.execute("SELECT k FROM t WHERE day IS NULL").fetchall() == []
    assert loose.execute("SELECT count(*) FROM t WHERE day >= DATE '2025-01-01'").fetchall() == [(2,)]


# -- years --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def years() -> Iterator[World]:
    """To MariaDB a YEAR is 5 if it is 2005."""
    made = World.__new__(World)
    rows = [
        (1, 2005, 5),
        (2, 1999, 99),
        (3, 2000, 0),
        (4, None, 5),
        (5, 1970, 70),
        (6, 0, 0),
        (7, 2005, 2005),
    ]
    made.server = mariadb(0)
    os.environ[PASSWORD] = made.server.password
    database = made.server.database("CREATE TABLE t (k BIGINT, y YEAR, n BIGINT, KEY y (y))")
    made.databases = [database]
    made.server.insert(database, "t", rows)
    made.catalog = parse(
        "CREATE CATALOG c DIALECT duckdb;"
        f"CREATE SOURCE s URL '{made.server.url(database)}' PASSWORD ENV '{PASSWORD}';"
        "ATTACH TABLE t (k BIGINT, y SMALLINT, n BIGINT) ON s;"
    )
    made.cluster = shardwise.open(made.catalog)
    made.con = made.cluster.connect()
    made.duck = duckdb.connect()
    made.duck.execute("CREATE TABLE t (k BIGINT, y SMALLINT, n BIGINT)")
    made.duck.executemany("INSERT INTO t VALUES (?, ?, ?)", rows)
    yield made
    made.close()


@pytest.mark.parametrize(
    "condition",
    [
        *(
            "y = 5",
            "y IN (5, 99)",
            "y > 5",
            "y <> 5",
            "y BETWEEN 0 AND 69",
            "y = n",
            "y = n AND n = 5",
            "y = 0",
        ),
        *(
            "CAST(y AS BIGINT) > 5",
            "nullif(y, 5) IS NULL",
            "y IS DISTINCT FROM 5",
            "y > 4.5",
            "y IN (2005, 1)",
        ),
    ],
)
def test_a_year_is_a_number_of_four_digits(years: World, condition: str) -> None:
    years.answers_alike(f"SELECT k, y FROM t WHERE {condition}")
    years.answers_alike(f"SELECT {condition}, count(*) FROM t GROUP BY 1")


def test_years_are_joined_as_numbers(years: World) -> None:
    years.answers_alike("SELECT o.k, t.k FROM t AS o JOIN t ON o.y = t.n AND t.n = 5")
    years.answers_alike("SELECT o.k, t.k FROM t AS o LEFT JOIN t ON o.y = t.n AND o.y > 5")


def test_a_year_is_found_by_its_index(years: World) -> None:
    years.answers_alike("SELECT k FROM t WHERE y = ?", 5)
    years.answers_alike("SELECT k FROM t WHERE y >= ?", 99)
    request = years.sent("SELECT k FROM t WHERE y = 2005")
    assert "[y]" in explained(years, request), request.sql


def test_a_subquery_is_asked_again_for_another_text() -> None:
    """MariaDB's cache of its results would compare 'a' with 'A' as the column does."""
    server = mariadb(0)
    os.environ[PASSWORD] = server.password
    database = server.database("CREATE TABLE t (k BIGINT, s VARCHAR(20) COLLATE utf8mb4_general_ci)")
    server.insert(database, "t", [(k, ("a", "A", "a ", "á")[k % 4]) for k in range(14)])
    catalog = parse(
        "CREATE CATALOG c DIALECT duckdb;"
        f"CREATE SOURCE s URL '{server.url(database)}' PASSWORD ENV '{PASSWORD}';"
        "ATTACH TABLE t (k BIGINT, s VARCHAR) ON s;"
    )
    with shardwise.open(catalog) as cluster, cluster.connect() as con:
        found = con.execute("SELECT k, (SELECT count(*) FROM t AS o WHERE o.s = t.s) FROM t").fetchall()
    assert sorted(found) == [(k, 4 if k % 4 < 2 else 3) for k in range(14)]


# -- values that PostgreSQL's types hold, and the catalog's do not ---------------------------


@pytest.fixture(scope="module")
def wide() -> Iterator[Any]:
    server = postgres()
    os.environ[PASSWORD] = server.password
    database = server.database(
        "CREATE TABLE t (k bigint, d numeric, e numeric(9,2), u smallint, n bigint)",
        "CREATE INDEX ON t (u)",
        "INSERT INTO t VALUES (1, 1.005, 'NaN', 300, -1), (2, 1.005, 1.5, -1, 4294967296),"
        " (3, 2.5, 2.5, 5, 5), (4, 2.500, 0, 7, NULL), (5, NULL, NULL, NULL, 0)",
    )
    catalog = parse(
        "CREATE CATALOG c DIALECT duckdb;"
        f"CREATE SOURCE s URL '{server.url(database)}' PASSWORD ENV '{PASSWORD}';"
        "ATTACH TABLE t (k BIGINT, d DECIMAL(9,2), e DECIMAL(9,2), u UTINYINT, n UINTEGER) ON s;"
    )
    with shardwise.open(catalog) as cluster, cluster.connect() as con:
        yield con


@pytest.mark.parametrize(
    ("sql", "column"),
    [
        ("SELECT sum(d) FROM t", "d"),
        ("SELECT sum(e) FROM t", "e"),
        ("SELECT sum(d * 2) FROM t", "d"),
        ("SELECT e - 1 FROM t WHERE k < 3", "e"),
        ("SELECT sum(u) FROM t", "u"),
        ("SELECT k FROM t WHERE u > 200", "u"),
        ("SELECT CAST(u AS INTEGER), count(*) FROM t GROUP BY 1", "u"),
        ("SELECT count(*) FROM t WHERE n % 3 = 0", "n"),
    ],
)
def test_what_the_catalogs_type_has_not_is_an_error(wide: Any, sql: str, column: str) -> None:
    with pytest.raises(shardwise.DataError, match=f'column "{column}" of table "t" holds what is no '):
        wide.execute(sql).fetchall()


@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        (
            "SELECT sum(d), sum(e), sum(u), sum(n) FROM t WHERE k > 2",
            [(Decimal("5.00"), Decimal("2.50"), 12, 5)],
        ),
        ("SELECT k FROM t WHERE u = 5", [(3,)]),
        ("SELECT k FROM t WHERE u IN (5, 7) AND n IS NULL", [(4,)]),
        ("SELECT k, d * 2 FROM t WHERE k = 4", [(4, Decimal("5.00"))]),
    ],
)
def test_what_it_has_is_computed_with(wide: Any, sql: str, rows: list[Any]) -> None:
    assert wide.execute(sql).fetchall() == rows


def test_an_infinite_date_has_no_year() -> None:
    server = postgres()
    os.environ[PASSWORD] = server.password
    database = server.database(
        "CREATE TABLE t (k bigint, day date)", "INSERT INTO t VALUES (1, 'infinity'), (2, '2025-03-04')"
    )
    catalog = parse(
        "CREATE CATALOG c DIALECT duckdb;"
        f"CREATE SOURCE s URL '{server.url(database)}' PASSWORD ENV '{PASSWORD}';"
        "ATTACH TABLE t (k BIGINT, day DATE) ON s;"
    )
    with shardwise.open(catalog) as cluster, cluster.connect() as con:
        sql = "SELECT year(day), month(day), count(*) FROM t GROUP BY 1, 2 ORDER BY 1"
        assert con.execute(sql).fetchall() == [(2025, 3, 1), (None, None, 1)]
