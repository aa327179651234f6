"""Logical schemas: USE, names in and without a schema, views in one; SHOW and DESCRIBE of all that."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import duckdb
import pytest

import shardwise
from shardwise.catalog.language import parse
from shardwise.dbapi import Connection
from shardwise.dbapi.statements import parse as kind_of
from shardwise.dbapi.statements.use import Use
from shardwise.errors import NotSupportedError, Position, ProgrammingError, SQLSyntaxError, UnknownName

CATALOG: Final = """\
CREATE CATALOG shop DIALECT duckdb;
CREATE SOURCE s{n} FOR n IN 0-1 URL 'duckdb:///s{n}.duckdb' READ ONLY;
CREATE SHARDING by_id USING MOD 2 AS n ON s{n};
ATTACH TABLE contacts (id INTEGER, z VARCHAR) SHARD BY by_id (id);
ATTACH TABLE crm.contacts (id INTEGER PRIMARY KEY, name VARCHAR NOT NULL) SHARD BY by_id (id);
ATTACH TABLE crm.calls (id INTEGER) SHARD BY by_id (id);
ATTACH TABLE "odd, 'one".x (id INTEGER) SHARD BY by_id (id);
"""
VIEWS: Final = """\
CREATE VIEW crm.named AS SELECT name FROM contacts WHERE id < 3;
CREATE VIEW zs (zed) AS SELECT z FROM contacts WHERE id < 3;
CREATE VIEW crm.pairs AS SELECT name, zed FROM named, zs;
"""
TABLES: Final = """\
CREATE SCHEMA crm; CREATE SCHEMA "odd, 'one";
CREATE TABLE contacts (id INTEGER, z VARCHAR);
CREATE TABLE crm.contacts (id INTEGER PRIMARY KEY, name VARCHAR NOT NULL);
CREATE TABLE crm.calls (id INTEGER);
CREATE TABLE "odd, 'one".x (id INTEGER);
"""


def fill(db: duckdb.DuckDBPyConnection, start: int, step: int) -> None:
    db.execute(TABLES)
    for table, value in (("contacts", "'z' || i"), ("crm.contacts", "'c' || i")):
        db.execute(f"INSERT INTO {table} SELECT i, {value} FROM range({start}, 10, {step}) t(i)")
    for table in ("crm.calls", '"odd, \'one".x'):
        db.execute(f"INSERT INTO {table} SELECT i FROM range({start}, 10, {step}) t(i)")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[shardwise.Cluster]:
    folder = tmp_path_factory.mktemp("schemas")
    for n in range(2):
        with duckdb.connect(str(folder / f"s{n}.duckdb")) as db:
            fill(db, n, 2)
    path = Path(folder / "cluster.sql")
    path.write_text(CATALOG + VIEWS, encoding="utf-8")
    with shardwise.open(path) as cluster:
        yield cluster


@pytest.fixture
def con(cluster: shardwise.Cluster) -> Iterator[Connection]:
    with cluster.connect() as con:
        yield con


@pytest.fixture(scope="module")
def whole() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as db:
        fill(db, 0, 1)
        for view in VIEWS.split(";\n")[:-1]:
            db.execute("SET search_path = 'crm,main'" if "crm." in view else "SET search_path = 'main'")
            db.execute(view)
        yield db


def rows(con: Any, sql: str, *params: object) -> list[tuple[Any, ...]]:
    found: list[tuple[Any, ...]] = con.execute(sql, params or None).fetchall()
    return found


@pytest.mark.parametrize("schema", ["main", "crm", "odd, 'one"])
@pytest.mark.parametrize(
    "sql",
    [
        "FROM contacts",
        "SELECT contacts.id FROM contacts",
        "FROM calls",
        "FROM x",
        "FROM crm.contacts",
        "FROM main.contacts",
        "SELECT crm.contacts.name FROM crm.contacts",
        "SELECT crm.contacts.name FROM contacts",
        "SELECT main.contacts.z FROM contacts",
        "SELECT a.id, b.id FROM contacts a JOIN main.contacts b USING (id) JOIN crm.calls c ON c.id = a.id",
        "FROM named",
        "FROM crm.named",
        "FROM zs",
        "FROM main.zs",
        "FROM crm.pairs",
        "FROM pairs",
        "WITH contacts AS (SELECT 1 AS one) FROM contacts, crm.named",
        "WITH named AS (SELECT 1 AS one) FROM crm.pairs, named",
        "SELECT current_schema(), count(*) FROM contacts WHERE current_schema() = 'crm'",
        "SELECT id FROM contacts WHERE id IN (SELECT id FROM crm.calls WHERE id < 3)",
    ],
)
def test_names_mean_what_they_do_in_one_database(
    con: Connection, whole: duckdb.DuckDBPyConnection, schema: str, sql: str
) -> None:
    quoted = '"' + schema.replace('"', '""') + '"'
    one = whole.cursor()
    one.execute("SET search_path = '" + f"{quoted},main".replace("'", "''") + "'")
    con.execute(f"USE {quoted}")
    try:
        wanted = sorted(one.execute(sql).fetchall())
    except (duckdb.CatalogException, duckdb.BinderException):
        with pytest.raises(UnknownName):
            con.execute(sql)
        return
    cursor = con.execute(sql)
    assert sorted(cursor.fetchall()) == wanted
    assert [c.name for c in cursor.description or ()] == [c[0] for c in one.description or ()]


def test_of_a_statement_and_of_a_connection(con: Connection, cluster: shardwise.Cluster) -> None:
    assert con.execute("SELECT * FROM contacts WHERE id = 1", schema="crm").fetchall() == [(1, "c1")]
    assert rows(con, "SELECT * FROM contacts WHERE id = 1") == [(1, "z1")]
    with cluster.connect(schema="crm") as other:
        assert rows(other, "SELECT * FROM contacts WHERE id = 1") == [(1, "c1")]
        other.execute("RESET schema")
        assert rows(other, "SELECT * FROM contacts WHERE id = 1") == [(1, "z1")]
    with pytest.raises(UnknownName, match='there is no schema "crn"') as raised:
        con.execute("SELECT 1", schema="crn")
    assert 'Did you mean "crm"?' in str(raised.value.hint) or "crm" in str(raised.value.hint)


def test_local_relations_keep_the_schema_they_were_made_in(con: Connection) -> None:
    con.execute("USE crm")
    con.execute("CREATE TEMP VIEW mine AS SELECT * FROM contacts WHERE id = 1")
    con.execute("CREATE TEMP TABLE kept AS FROM mine")
    with pytest.raises(ProgrammingError, match='"calls" is a table of the catalog'):
        con.execute("CREATE TEMP TABLE calls AS SELECT 1")
    con.execute("USE main")
    assert rows(con, "FROM mine") == rows(con, "FROM kept") == [(1, "c1")]
    con.execute("CREATE TEMP TABLE calls AS SELECT 1 AS a")
    assert rows(con, "FROM calls") == [(1,)]
    assert rows(con, "SELECT count(*) FROM crm.calls") == [(10,)]


def test_unknown_names_say_where_to_look(con: Connection) -> None:
    with pytest.raises(UnknownName) as raised:
        con.execute("SELECT * FROM calls")
    assert raised.value.hint == "Write crm.calls, or USE its schema first"
    assert raised.value.position == Position(1, 15, 5)
    with pytest.raises(UnknownName) as raised:
        con.execute("SELECT * FROM nope.zzz")
    assert "schemas are main, crm" in str(raised.value.hint)


@pytest.mark.parametrize(
    ("text", "schema"),
    [
        ("USE crm;", "crm"),
        ("USE main", None),
        ('use "My, One"', "My, One"),
        ("SET schema = 'crm'", "crm"),
        ("SET SCHEMA TO crm", "crm"),
        ("SET search_path = 'crm,main'", "crm"),
        ("SET search_path TO crm, main", "crm"),
        ("RESET search_path", None),
    ],
)
def test_ways_to_write_it(text: str, schema: str | None) -> None:
    assert kind_of(text) == Use(schema=schema)


@pytest.mark.parametrize(
    ("text", "kind", "position"),
    [
        ("USE", SQLSyntaxError, Position(1, 3, 1)),
        ("USE crm.main", SQLSyntaxError, Position(1, 8, 1)),
        ("USE a, b", NotSupportedError, Position(1, 5, 1)),
        ("SET search_path = 'a,b,main'", NotSupportedError, Position(1, 19, 8)),
        ("RESET schema x", SQLSyntaxError, Position(1, 14, 1)),
    ],
)
def test_what_does_not_read(text: str, kind: type[shardwise.Error], position: Position) -> None:
    with pytest.raises(kind) as raised:
        kind_of(text)
    assert raised.value.position == position


def test_a_views_schema_is_in_the_catalogs_text() -> None:
    catalog = parse(CATALOG + VIEWS)
    assert catalog.schemas() == ("main", "crm", "odd, 'one")
    assert parse(catalog.to_sql()) == catalog
    assert catalog.table("named") is None
    assert catalog.table("NAMED", "CRM") is not None
    with pytest.raises(shardwise.CatalogError, match="declared twice"):
        parse(f"{CATALOG}CREATE VIEW crm.calls AS SELECT 1;")
    assert parse(f"{CATALOG}CREATE VIEW calls AS SELECT 1;").table("calls") is not None


def test_views_that_read_themselves_are_refused() -> None:
    text = CATALOG + "CREATE VIEW a AS SELECT * FROM b; CREATE VIEW b AS SELECT * FROM a;"
    with (
        shardwise.open(parse(text)) as other,
        other.connect() as con,
        pytest.raises(ProgrammingError, match='the view "a" reads itself'),
    ):
        con.execute("SELECT * FROM a")


# -- SHOW and DESCRIBE -----------------------------------------------------------------------------


def names(con: Connection, sql: str, *params: object) -> list[str]:
    return [row[0] for row in rows(con, sql, *params)]


def test_show_schemas_and_views(con: Connection) -> None:
    con.execute("USE crm")
    con.execute("CREATE TEMP VIEW mine (a) AS SELECT 1")
    assert rows(con, "SHOW SCHEMAS") == [
        ("main", False, 1, 1),
        ("crm", True, 2, 2),
        ("odd, 'one", False, 1, 0),
    ]
    assert rows(con, "SHOW VIEWS")[-2:] == [
        ("crm.pairs", "view", None, "SELECT name, zed FROM named, zs"),
        ("mine", "local view", "a", "SELECT 1"),
    ]


def test_show_tables_has_local_ones(con: Connection) -> None:
    con.execute("CREATE TEMP TABLE kept AS SELECT * FROM contacts WHERE id < 4")
    con.execute("CREATE TEMP VIEW v AS SELECT 1 AS a")
    assert rows(con, "SHOW TABLES")[-2:] == [
        ("kept", "local", "in this connection", None, 4),
        ("v", "local view", None, None, None),
    ]


@pytest.mark.parametrize(
    ("sql", "params", "found"),
    [
        ("SHOW TABLES LIKE 'crm.c%'", [], ["crm.contacts", "crm.calls"]),
        ("SHOW ALL TABLES LIKE 'CONTACTS'", [], ["contacts"]),
        ("show tables like ?;", ["%z%"], ["zs"]),
        ("SHOW TABLES WHERE kind = 'view' AND name LIKE 'crm.%'", [], ["crm.named", "crm.pairs"]),
        ("SHOW TABLES WHERE shards > ? ORDER BY name DESC LIMIT 1", [1], ["odd, 'one.x"]),
        ("SHOW TABLES WHERE name IN (SELECT 'zs')", [], ["zs"]),
        ("SHOW SHARDS WHERE source = 's1'", [], ["s1"]),
        ("SHOW SOURCES WHERE read_only AND source LIKE '%0'", [], ["s0"]),
        ("SHOW SCHEMAS LIKE 'c%'", [], ["crm"]),
        ("SHOW COLUMNS FROM crm.contacts LIKE 'n%'", [], ["name"]),
        ("SHOW COLUMNS FROM crm.contacts WHERE key = 'PRI'", [], ["id"]),
        ("SHOW COLUMNS FROM crm.pairs WHERE column_type = 'VARCHAR'", [], ["name", "zed"]),
    ],
)
def test_like_and_where(con: Connection, sql: str, params: list[object], found: list[str]) -> None:
    assert names(con, sql, *params) == found


def test_where_keeps_the_columns_and_types(con: Connection) -> None:
    for what in ("TABLES", "SOURCES", "SHARDS", "SHARDINGS", "SCHEMAS", "VIEWS", "COLUMNS FROM contacts"):
        plain, filtered = con.execute(f"SHOW {what}"), con.execute(f"SHOW {what} WHERE true")
        assert [c[:2] for c in plain.description or ()] == [c[:2] for c in filtered.description or ()]
        assert plain.fetchall() == filtered.fetchall()


@pytest.mark.parametrize(
    ("sql", "kind", "position"),
    [
        ("SHOW SHARDS WHERE sorce = 's1'", UnknownName, Position(1, 19, 5)),
        ("SHOW SHARDS\n  WHERE sorce = 's1'", UnknownName, Position(2, 9, 5)),
        ("SHOW TABLES LIKE", SQLSyntaxError, Position(1, 16, 1)),
        ("SHOW TABLES LIKE 'a' 'b'", SQLSyntaxError, Position(1, 18, 1)),
        ("SHOW TABLES LIKE name", SQLSyntaxError, Position(1, 18, 4)),
        ("SHOW TABLES WHERE true) UNION SELECT (1", SQLSyntaxError, Position(1, 23, 1)),
        ("SHOW TABLES WHERE read_text('x') = 'y'", NotSupportedError, None),
        ("SHOW CREATE TABLE zs LIKE 'x'", SQLSyntaxError, Position(1, 6, 6)),
    ],
)
def test_where_that_is_wrong(
    con: Connection, sql: str, kind: type[shardwise.Error], position: Position | None
) -> None:
    with pytest.raises(kind) as raised:
        con.execute(sql)
    assert raised.value.position == position


def test_describe(con: Connection) -> None:
    con.execute("CREATE TEMP TABLE kept AS SELECT id, 'a'::ENUM('a') AS e FROM contacts")
    con.execute("CREATE TEMP VIEW v AS SELECT * FROM kept")
    kept = [
        ("id", "INTEGER", "YES", None, None, None),
        ("e", "ENUM('a')", "YES", None, None, None),
    ]
    for what in ("kept", "v", "TABLE temp.kept", "SELECT * FROM v"):
        assert rows(con, f"DESCRIBE {what}") == kept
    assert rows(con, "DESCRIBE crm.named") == [("name", "VARCHAR", "NO", None, None, None)]
    assert names(con, "DESCRIBE contacts") == ["id", "z"]
    con.execute("USE crm")
    assert names(con, "DESCRIBE contacts") == names(con, "SHOW COLUMNS FROM contacts") == ["id", "name"]
    assert names(con, "DESCRIBE main.contacts") == ["id", "z"]
    with pytest.raises(UnknownName, match=r'there is no table "main\.calls"'):
        con.execute("DESCRIBE main.calls")


def test_show_create(con: Connection) -> None:
    text = "ATTACH TABLE crm.calls (id INTEGER) SHARD BY by_id (id);"
    assert rows(con, "SHOW CREATE TABLE crm.calls") == [("crm.calls", text)]
    con.execute("CREATE TEMP VIEW v (a) AS SELECT 1")
    assert rows(con, "SHOW CREATE VIEW v") == [("v", 'CREATE TEMP VIEW "v" ("a") AS SELECT 1;')]
    view = "CREATE VIEW crm.named AS SELECT name FROM contacts WHERE id < 3;"
    assert rows(con, "SHOW CREATE TABLE crm.named") == [("crm.named", view)]
    con.execute("CREATE TEMP TABLE kept AS SELECT 1")
    with pytest.raises(ProgrammingError, match="no text says how it was made"):
        con.execute("SHOW CREATE TABLE kept")
