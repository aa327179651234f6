"""catalog import and catalog check, over SQLite files."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from shardwise.catalog.shardings import hash_function
from shardwise.errors import CatalogError
from shardwise.inspection import Extent, Finding, Kind, check, import_tables
from shardwise.inspection.sqlite import collations_of
from shardwise.session import Cluster
from shardwise.session import open as open_cluster

CATALOG = """
CREATE CATALOG c {dialect};
CREATE SOURCE s{{n}} FOR n IN 0-1 URL 'sqlite:///s{{n}}.db';
CREATE SHARDING by_id USING MOD 2 AS n ON s{{n}};
CREATE SHARDING by_name USING HASH(crc32) SLOTS 2 (s0 = 0, s1 = 1);
ATTACH TABLE users SHARD BY by_id (id) UNIQUE ACROSS SHARDS (email);
ATTACH TABLE notes SHARD WITH users ON user_id = users.id;
ATTACH TABLE kinds REFERENCE ON by_id;
ATTACH TABLE events (id BIGINT, at TIMESTAMP EPOCH, day DATE NOT NULL, price DECIMAL(9,2))
  SHARD BY by_id (id);
ATTACH TABLE * ON s0;
"""
TABLES = """
CREATE TABLE users (id INTEGER PRIMARY KEY, email VARCHAR(80) COLLATE NOCASE UNIQUE, born DATE NOT NULL,
  paid DECIMAL(9, 2) UNIQUE, is_on BOOL, at DATETIME DEFAULT CURRENT_TIMESTAMP, x REAL, raw BLOB,
  half REAL AS (x / 2) STORED);
CREATE TABLE notes (user_id INT, body TEXT, PRIMARY KEY (user_id, body)) WITHOUT ROWID;
CREATE TABLE kinds (k TEXT PRIMARY KEY, v FLOAT) STRICT;
CREATE TABLE events (id INT, at INTEGER, day TEXT NOT NULL, price TEXT);
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for n in range(2):
        run(tmp_path, n, TABLES.replace("v FLOAT", "v REAL"))
        for i in range(n, 20, 2):
            run(tmp_path, n, f"INSERT INTO users (id, email, born) VALUES ({i}, 'u{i}', '2000-01-01')")
            run(tmp_path, n, f"INSERT INTO notes VALUES ({i}, 'hi')")
            run(tmp_path, n, f"INSERT INTO events VALUES ({i}, {i}, '2026-01-05', '{i}.5')")
    for n, order in ((0, "ASC"), (1, "DESC")):
        run(tmp_path, n, f"INSERT INTO kinds SELECT * FROM (VALUES ('a', 1), ('b', 2)) ORDER BY 1 {order}")
    run(
        tmp_path,
        0,
        """CREATE VIRTUAL TABLE words USING fts5(word); CREATE TABLE "Odd one" (a, b NUMERIC);
        CREATE VIEW broken AS SELECT * FROM nowhere;""",
    )
    (tmp_path / "cluster.sql").write_text(CATALOG.format(dialect=""))
    return tmp_path


def run(folder: Path, n: int, sql: str) -> None:
    with closing(sqlite3.connect(folder / f"s{n}.db")) as con:
        con.executescript(sql)


@pytest.fixture
def cluster(folder: Path) -> Iterator[Cluster]:
    with open_cluster(folder / "cluster.sql") as cluster:
        yield cluster


def found(cluster: Cluster, *, keys: bool = True) -> list[Finding]:
    return [f for f in check(cluster.catalog, cluster.open_source, Extent(keys=keys)) if f.is_error]


def test_import(cluster: Cluster) -> None:
    """Types are what the declared ones stand for; keys are kept where equal values are equal in the file."""
    imported = import_tables(cluster.catalog, cluster.open_source)
    tables = {table.name: table for table in imported.tables}
    assert list(tables) == ["users", "notes", "kinds", "events"]
    users = tables["users"]
    assert [(c.name, c.type, c.nullable) for c in users.columns] == [
        ("id", "BIGINT", False),
        ("email", "VARCHAR", True),
        ("born", "DATE", False),
        ("paid", "DECIMAL(9,2)", True),
        ("is_on", "BOOLEAN", True),
        ("at", "TIMESTAMP", True),
        ("x", "DOUBLE", True),
        ("raw", "BLOB", True),
        ("half", "DOUBLE", True),
    ]
    assert all(c.collation is None for c in users.columns)
    assert users.primary_key == ("id",)
    assert users.unique == (("id",), ("email",))
    assert users.rows == 20
    assert tables["notes"].primary_key == ("user_id", "body")
    assert [c.nullable for c in tables["notes"].columns] == [False, False]
    assert [(f.table, f.column, f.found) for f in imported.findings] == [
        ("Odd one", "a", "declared without a type"),
        ("Odd one", "b", "declared NUMERIC"),
    ]


def test_import_in_sqlites_own_dialect(folder: Path) -> None:
    (folder / "cluster.sql").write_text(CATALOG.format(dialect="DIALECT sqlite"))
    with open_cluster(folder / "cluster.sql") as cluster:
        imported = import_tables(cluster.catalog, cluster.open_source)
    assert imported.findings == ()
    users, *_, odd = imported.tables
    assert [(c.type, c.collation) for c in users.columns][:4] == [
        ("INTEGER", None),
        ("VARCHAR(80)", "NOCASE"),
        ("DATE", None),
        ("DECIMAL(9, 2)", None),
    ]
    assert [c.type for c in odd.columns] == ["", "NUMERIC"]


def test_columns_are_learned_when_the_catalog_lists_none(cluster: Cluster) -> None:
    with cluster.run("SELECT id, email, born, paid FROM users ORDER BY id LIMIT 1") as result:
        assert [type_ for _, type_ in result.columns] == ["BIGINT", "VARCHAR", "DATE", "DECIMAL(9,2)"]
        assert len(result.fetchall()) == 1
    with pytest.raises(CatalogError, match='column "a" of table "Odd one" is declared without a type'):
        cluster.run('SELECT * FROM "Odd one"')


def test_check_finds_nothing_where_all_is_well(cluster: Cluster) -> None:
    assert found(cluster) == []


@pytest.mark.parametrize(
    ("sql", "kind", "says"),
    [
        ("ALTER TABLE events DROP price", Kind.MISSING_COLUMN, "DECIMAL(9,2)"),
        ("DROP TABLE events", Kind.MISSING_TABLE, "events"),
        (
            "DROP TABLE events; CREATE TABLE events (id TEXT, at INTEGER, day TEXT NOT NULL, price TEXT)",
            Kind.COLUMN_TYPE,
            "declared TEXT (affinity TEXT",
        ),
        (
            "DROP TABLE events; CREATE TABLE events (id INT, at TEXT, day TEXT NOT NULL, price TEXT)",
            Kind.COLUMN_TYPE,
            "a type of affinity INTEGER would do",
        ),
        (
            "DROP TABLE events; CREATE TABLE events (id INT, at INT, day TEXT, price TEXT)",
            Kind.NULLABILITY,
            "NOT NULL",
        ),
        ("INSERT INTO events VALUES (2, 0, '2026-01-01', '1')", Kind.WRONG_SHARD, "such as id = 2"),
        ("INSERT INTO notes VALUES (99, 'no parent')", Kind.WRONG_SHARD, "1 of 11 rows"),
        ("UPDATE kinds SET v = 3 WHERE k = 'a'", Kind.REFERENCE_DIFFERS, "other values"),
        ("UPDATE users SET email = 'u2' WHERE id = 3", Kind.DUPLICATE_KEY, "such as u2"),
        ("UPDATE events SET id = 'x' WHERE id = 3", Kind.WRONG_SHARD, "holds 'x', which is no BIGINT"),
    ],
)
def test_check_finds(folder: Path, cluster: Cluster, sql: str, kind: Kind, says: str) -> None:
    run(folder, 1, sql)
    (finding,) = found(cluster)
    assert finding.kind is kind
    assert says in str(finding)


def test_collations_are_read_off_the_create_text() -> None:
    sql = """CREATE TABLE "t (" ( -- a, COLLATE x
        a TEXT DEFAULT 'COLLATE, b' COLLATE nocase NOT NULL, [b c] text collate "rtrim", /* d COLLATE y */
        d AS (a COLLATE binary), e CHECK (e COLLATE nocase = 'x'), PRIMARY KEY (a COLLATE binary)
    ) WITHOUT ROWID"""
    assert collations_of(sql) == {"a": "nocase", "b c": "rtrim"}


EXACT = """
CREATE CATALOG c DIALECT sqlite;
CREATE SOURCE s{n} FOR n IN 0-1 URL 'sqlite:///s{n}.db';
CREATE SHARDING by_mail USING HASH(crc32) SLOTS 2 (s0 = 0, s1 = 1);
ATTACH TABLE mails SHARD BY by_mail (mail) EXACT;
"""


@pytest.mark.parametrize(
    ("exact", "more", "says"),
    [
        ("EXACT LOWER (mail)", (), []),
        ("EXACT LOWER (mail)", ("A@x",), ["spelling", "1 of", "such as 'A@x'"]),
        ("EXACT (mail)", ("A@x", "É@x", "é@x"), []),
        ("EXACT (mail)", ("U7",), ["spelling", "'u7'"]),
        ("", (), ["not-exact", "EXACT LOWER (mail)"]),
        ("", ("A@x",), ["not-exact", "EXACT (mail)"]),
        ("", ("U7",), []),
    ],
)
def test_how_a_key_is_spelled(tmp_path: Path, exact: str, more: tuple[str, ...], says: list[str]) -> None:
    slot = hash_function("crc32", 2).slot
    for n in range(2):
        run(tmp_path, n, "CREATE TABLE mails (mail TEXT COLLATE NOCASE)")
        for mail in (*(f"u{i}" for i in range(30)), *more):
            if slot((mail,)) == n:
                run(tmp_path, n, f"INSERT INTO mails VALUES ('{mail}')")
    (tmp_path / "cluster.sql").write_text(EXACT.replace("EXACT", exact))
    with open_cluster(tmp_path / "cluster.sql") as cluster:
        told = [
            f"{f.kind}: {f.expected} {f.found}" for f in check(cluster.catalog, cluster.open_source, Extent())
        ]
    assert len(told) == bool(says), told
    assert all(part in told[0] for part in says)
