"""Keys of text in the mysql and postgres dialects: a list of them finds what the join's own `=` does."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any
from uuid import UUID

import psycopg
import pymysql
import pytest

from tests.servers import mariadb, postgres
from tests.servers.served import Served, served

VALUES = (
    *("", " ", "a", "A", "a ", "a  ", " a", "á", "Á", "ä", "ae", "æ", "ß", "ss", "SS", "ẞ", "ſ", "s"),
    *("i", "I", "ı", "İ", "n", "ñ", "n\u0303", "e\u0301", "é", "o", "ø", "ö", "œ", "oe", "Å", "\u212b"),
    *("a\tb", "a\t", "a\n", "a\x01", "a\x00", "\x00", "\x1a", "a\u00a0", "a\u200b", "a\u00ad", "\ufeff"),
    *("\\", "'", '"', "%", "_", "日本", "にほん", "ニホン", "ﾆﾎﾝ", "😀", "😁", "𝒜", "ǆ", "dž", "ch", "CH"),
    *("Ж", "ж", "ﬁ", "fi", "5", "５", "05", "1e1", "0x41", "א", "\u05b0א", "σ", "ς", "Σ", "K", "\u212a"),
    *("€", "\u0080", "\x81", "Ÿ", "y", "ü", "ue", "x" * 9, "-", "a-", "aé", "ae\u0301"),
)
OTHER = "zz9"

CHARSETS = ("ascii", "latin1", "utf8mb3", "utf8mb4")
MYSQL_TYPES = ("VARCHAR(10)", "CHAR(10)")
POSTGRES_TYPES = {"text": "text", "varchar(10)": "text", "varchar": "text", "char(10)": "bpchar"}
POSTGRES_COLLATIONS = (None, "C", "POSIX", "ucs_basic", "en-x-icu", "de-x-icu", "book", "one", "two", "blank")
OWN = (
    "CREATE COLLATION book (provider = icu, locale = 'de-u-co-phonebk')",
    "CREATE COLLATION one (provider = icu, locale = 'und-u-ks-level1', deterministic = false)",
    "CREATE COLLATION two (provider = icu, locale = 'und-u-ks-level2', deterministic = false)",
    "CREATE COLLATION blank (provider = icu, locale = 'und-u-ka-shifted-ks-level3', deterministic = false)",
)


def _differing(cursor: Any, listed: str) -> list[tuple[str, set[int], set[int]]]:
    """Of each value in t.x, the rows that `=` with that row finds and those that a list with it finds, where
    these are not the same. All lists are asked for in one statement."""
    cursor.execute("SELECT id, x FROM t")
    rows = cursor.fetchall()
    cursor.execute("SELECT a.id, b.id FROM t a JOIN t b ON a.x = b.x")
    meets: dict[int, set[int]] = {}
    for one, other in cursor.fetchall():
        meets.setdefault(one, set()).add(other)
    lists = " UNION ALL ".join(f"SELECT {int(id)}, id FROM t WHERE {listed}" for id, _ in rows)
    cursor.execute(lists, tuple([value, OTHER] for _, value in rows))
    found: dict[int, set[int]] = {}
    for one, other in cursor.fetchall():
        found.setdefault(one, set()).add(other)
    assert len(rows) > 25
    return [
        (value, found.get(id, set()), meets.get(id, set()))
        for id, value in rows
        if found.get(id, set()) != meets.get(id, set())
    ]


@pytest.mark.slow
@pytest.mark.parametrize("charset", CHARSETS)
def test_every_collation_of_mariadb_compares_a_list_as_columns(charset: str) -> None:
    server = mariadb()
    with closing(server.connect(server.database())) as connection, connection.cursor() as cursor:
        cursor.execute("SET sql_mode = 'STRICT_ALL_TABLES'")
        cursor.execute(
            "SELECT full_collation_name FROM information_schema.collation_character_set_applicability "
            "WHERE character_set_name = %s",
            (charset,),
        )
        collations = [name for (name,) in cursor.fetchall()]
        assert len(collations) > 3
        kept = [(id, value) for id, value in enumerate(VALUES) if _is_of(cursor, charset, value)]
        for collation in collations:
            for type_ in MYSQL_TYPES if "uca1400" not in collation else MYSQL_TYPES[:1]:
                cursor.execute(f"CREATE OR REPLACE TEMPORARY TABLE t (id INT, x {type_} COLLATE {collation})")
                cursor.executemany("INSERT INTO t VALUES (%s, %s)", kept)
                assert _differing(cursor, "x IN %s") == [], (collation, type_)


def _is_of(cursor: Any, charset: str, value: str) -> bool:
    cursor.execute(f"CREATE OR REPLACE TEMPORARY TABLE one (x VARCHAR(10) CHARACTER SET {charset})")
    try:
        cursor.execute("INSERT INTO one VALUES (%s)", (value,))
    except pymysql.DataError:
        return False
    return True


@pytest.mark.parametrize("collation", POSTGRES_COLLATIONS)
def test_collations_of_postgres_compare_a_list_as_columns(collation: str | None) -> None:
    server = postgres()
    with closing(server.connect(server.database(*OWN))) as connection, connection.cursor() as cursor:
        connection.prepare_threshold = None
        of_column = f' COLLATE "{collation}"' if collation else ""
        for type_, of_list in POSTGRES_TYPES.items():
            cursor.execute(f"DROP TABLE IF EXISTS t; CREATE TABLE t (id INT, x {type_}{of_column})")
            kept = [(id, value) for id, value in enumerate(VALUES) if "\x00" not in value]
            cursor.executemany("INSERT INTO t VALUES (%s, %s)", kept)
            assert _differing(cursor, f"x = ANY (CAST(%s AS {of_list}[]))") == [], type_


def test_names_of_postgres_have_a_collation_of_their_own() -> None:
    """Why columns of type `name` give no keys."""
    server = postgres()
    with closing(server.connect(server.database())) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE TABLE t (x name COLLATE \"en-x-icu\"); INSERT INTO t VALUES ('a')")
        with pytest.raises(psycopg.errors.IndeterminateCollation):
            cursor.execute("SELECT 1 FROM t WHERE x = ANY (CAST(%s AS name[]))", (["a"],))


# ------------------------------------------------------------------ joins over shards

COLUMNS = {
    "mysql": {
        "ci": "VARCHAR(20) COLLATE utf8mb4_general_ci",
        "uca": "VARCHAR(20) COLLATE utf8mb4_unicode_ci",
        "bin": "VARCHAR(20) COLLATE utf8mb4_bin",
        "nopad": "VARCHAR(20) COLLATE utf8mb4_nopad_bin",
        "mb3": "VARCHAR(20) COLLATE utf8mb3_general_ci",
        "latin": "VARCHAR(20) COLLATE latin1_swedish_ci",
        "padded": "CHAR(20) COLLATE utf8mb4_general_nopad_ci",
        "long_one": "VARCHAR(255) COLLATE utf8mb4_general_ci",
        "raw": "VARBINARY(80)",
        "fixed": "BINARY(40)",
        "big": "BIGINT UNSIGNED",
    },
    "postgres": {
        "ci": 'text COLLATE "two"',
        "uca": 'varchar(20) COLLATE "one"',
        "bin": 'text COLLATE "C"',
        "nopad": "varchar(20)",
        "mb3": 'varchar(20) COLLATE "en-x-icu"',
        "latin": 'text COLLATE "blank"',
        "padded": "char(20)",
        "long_one": "text",
        "raw": "bytea",
        "fixed": "uuid",
        "big": "boolean",
    },
}
WORDS = (
    None,
    "Ann",
    "ann",
    "ANN",
    "ann ",
    "Änn",
    "bob",
    "Bob ",
    "",
    " ",
    "strasse",
    "straße",
    "a-b",
    "ab",
    "é",
)


def _value(dialect: str, name: str, n: int) -> Any:
    word = WORDS[n % len(WORDS)]
    if word is None:
        return None
    if name == "big":
        return 2**64 - 1 - n % 5 if dialect == "mysql" else n % 3 == 0
    if name in ("raw", "fixed") and dialect == "mysql":
        return word.encode()
    if name == "raw":
        return word.encode()
    return UUID(int=n % 7) if name == "fixed" else word


def _rows(dialect: str, count: int, step: int) -> list[tuple[Any, ...]]:
    return [(n, n % 5, *(_value(dialect, name, n * step) for name in COLUMNS[dialect])) for n in range(count)]


def _made(dialect: str, shards: int) -> Any:
    columns = "id BIGINT PRIMARY KEY, v INT, " + ", ".join(f"{n} {t}" for n, t in COLUMNS[dialect].items())
    return served(
        dialect,
        {"t": (columns, _rows(dialect, 61, 7)), "u": (columns, _rows(dialect, 40, 4)), "e": (columns, [])},
        shards=shards,
        before=OWN if dialect == "postgres" else (),
    )


@pytest.fixture(
    scope="module",
    params=[
        ("mysql", 3),
        ("postgres", 3),
        pytest.param(("mysql", 7), marks=pytest.mark.slow),
        pytest.param(("mysql", 1), marks=pytest.mark.slow),
        pytest.param(("postgres", 7), marks=pytest.mark.slow),
        pytest.param(("postgres", 1), marks=pytest.mark.slow),
    ],
    ids="{0[0]}-{0[1]}".format,
)
def world(request: pytest.FixtureRequest) -> Iterator[Served]:
    with _made(*request.param) as made:
        yield made


STATEMENTS = """
SELECT t.id, u.id FROM t JOIN u ON t.{0} = u.{0} WHERE u.v = 1
SELECT t.id, u.id FROM u LEFT JOIN t ON u.{0} = t.{0} AND t.v < 3 WHERE u.v = 2
SELECT t.id, u.id FROM u RIGHT JOIN t ON u.{0} = t.{0} WHERE t.v = 2
SELECT id FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.{0} = t.{0} AND u.v = 3)
SELECT id FROM t WHERE NOT EXISTS (SELECT 1 FROM u WHERE u.{0} = t.{0}) AND t.v = 4
SELECT id FROM t WHERE {0} IN (SELECT {0} FROM u WHERE v = 1)
SELECT t.v, count(*), count(DISTINCT u.id) FROM t JOIN u USING ({0}) WHERE u.v IN (0, 1) GROUP BY t.v
SELECT u.id, g.n FROM u JOIN (SELECT {0}, count(*) AS n FROM t GROUP BY {0}) g ON g.{0} = u.{0} WHERE u.v = 2
SELECT a.id, c.id FROM t a JOIN u b ON a.{0} = b.{0} JOIN t c ON c.{0} = b.{0} WHERE b.id = 3 AND c.v = 1
SELECT t.id FROM t JOIN (SELECT {0} FROM u UNION ALL SELECT {0} FROM t) x ON x.{0} = t.{0} WHERE t.v = 1
SELECT t.id FROM t JOIN e ON e.{0} = t.{0}
SELECT u.id, e.id FROM u LEFT JOIN e ON e.{0} = u.{0} WHERE u.v = 1
SELECT id FROM t WHERE (SELECT max(u.v) FROM u WHERE u.{0} = t.{0}) = 4
SELECT id, (SELECT count(*) FROM u WHERE u.{0} = t.{0} AND u.v < 3) FROM t WHERE v = 1
""".strip().splitlines()


@pytest.mark.parametrize("column", COLUMNS["mysql"])
def test_joins_by_text_answer_as_one_server(world: Served, column: str) -> None:
    """All statements on three shards, on 1 and 7 every third by turns."""
    shards = len(list(world.cluster.catalog.shards()))
    turn = list(COLUMNS["mysql"]).index(column) + shards
    asked = STATEMENTS if shards == 3 else STATEMENTS[turn % 3 :: 3]
    narrowed = 0
    with world.cluster.connect(verify_passes=True) as connection:
        for line in asked:
            sql = line.format(column)
            names, rows = world.expected(sql)
            for force in ((), ("keys",)):
                with connection.execute(sql, force=force) as cursor:
                    assert [each[0] for each in cursor.description or ()] == names
                    found = sorted(map(repr, cursor.fetchall()))
                    assert found == sorted(map(repr, rows)), (sql, force)
                    narrowed += bool(force and cursor.stats and cursor.stats.first)
    assert narrowed >= len(asked) * 9 // 14 or shards == 1
