"""information_schema says of the catalog what DuckDB says of one database with the same tables."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import duckdb
import pytest

import shardwise
from shardwise.catalog.language import parse
from shardwise.dbapi import Connection
from shardwise.errors import CatalogError, Position, UnknownName

CATALOG: Final = """\
CREATE CATALOG shop DIALECT duckdb;
CREATE SOURCE s{n} FOR n IN 0-1 URL 'duckdb:///s{n}.duckdb' READ ONLY;
CREATE SHARDING by_id USING MOD 2 AS n ON s{n};
ATTACH TABLE t (id INTEGER PRIMARY KEY, d DECIMAL(9,2) NOT NULL DEFAULT 1.5, n VARCHAR, x BIGINT, f FLOAT,
  ts TIMESTAMP WITH TIME ZONE, s STRUCT(a INTEGER), l INTEGER[], h HUGEINT, UNIQUE (n, x))
  SHARD BY by_id (id);
ATTACH TABLE crm.contacts (id INTEGER, "Odd Name" VARCHAR) SHARD BY by_id (id);
ATTACH TABLE kinds (k VARCHAR PRIMARY KEY) REFERENCE ON by_id;
CREATE VIEW v (a, b) AS SELECT id, d FROM t;
CREATE VIEW crm.w AS SELECT * FROM contacts;
CREATE VIEW names AS SELECT table_name FROM information_schema.tables WHERE table_schema = 'crm';
"""
ONE: Final = """\
ATTACH ':memory:' AS shop; USE shop; CREATE SCHEMA crm;
CREATE TABLE t (id INTEGER PRIMARY KEY, d DECIMAL(9,2) NOT NULL DEFAULT 1.5, n VARCHAR, x BIGINT, f FLOAT,
  ts TIMESTAMP WITH TIME ZONE, s STRUCT(a INTEGER), l INTEGER[], h HUGEINT, UNIQUE (n, x));
CREATE TABLE crm.contacts (id INTEGER, "Odd Name" VARCHAR);
CREATE TABLE kinds (k VARCHAR PRIMARY KEY);
CREATE VIEW v (a, b) AS SELECT id, d FROM t;
CREATE VIEW crm.w AS SELECT * FROM crm.contacts;
CREATE VIEW names AS SELECT table_name FROM information_schema.tables WHERE table_schema = 'crm';
"""
LOCAL: Final = (
    "CREATE TEMP TABLE best AS SELECT 1::DECIMAL(5,2) AS a; CREATE TEMP VIEW mine AS SELECT a FROM best"
)
OWN: Final = "IN ('shop', 'temp')"


@pytest.fixture(scope="module")
def cluster() -> Iterator[shardwise.Cluster]:
    with shardwise.open(parse(CATALOG)) as cluster:
        yield cluster


@pytest.fixture
def con(cluster: shardwise.Cluster) -> Iterator[Connection]:
    with cluster.connect() as con:
        for statement in LOCAL.split(";"):
            con.execute(statement)
        yield con


@pytest.fixture(scope="module")
def one() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as db:
        db.execute(ONE + LOCAL)
        yield db


@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT * EXCLUDE (is_insertable_into) FROM information_schema.tables WHERE table_catalog {OWN}",
        f"SELECT * FROM information_schema.columns WHERE table_catalog {OWN}",
        f"SELECT * FROM information_schema.schemata WHERE catalog_name {OWN}",
        f"SELECT * FROM information_schema.table_constraints WHERE table_catalog {OWN}",
        f"SELECT * FROM information_schema.key_column_usage WHERE table_catalog {OWN}",
        f"SELECT * FROM information_schema.constraint_column_usage WHERE table_catalog {OWN}",
        f"SELECT * FROM information_schema.check_constraints WHERE constraint_catalog {OWN}",
        "SELECT * FROM information_schema.referential_constraints",
        "SELECT * FROM information_schema.character_sets",
        f"SELECT table_name, check_option FROM INFORMATION_SCHEMA.VIEWS WHERE table_catalog {OWN}",
        """SELECT t.table_type, count(*) AS n FROM information_schema.tables t
           JOIN information_schema.columns c USING (table_catalog, table_schema, table_name)
           WHERE table_schema = 'crm' GROUP BY 1 HAVING n > 1""",
        """SELECT information_schema.tables.table_name FROM information_schema.tables
           WHERE table_schema = 'crm' OR table_name =
             (SELECT max(table_name) FROM information_schema.tables WHERE table_schema = 'crm')""",
        "SELECT table_name FROM names",
        """WITH tables AS (SELECT 1 AS one) SELECT one, table_name FROM tables, information_schema.tables
           WHERE table_catalog = 'temp'""",
        "DESCRIBE information_schema.columns",
        "DESCRIBE SELECT table_name, ordinal_position + 1 FROM information_schema.columns",
        "SELECT current_catalog(), current_database()",
    ],
)
def test_as_one_database_says(con: Connection, one: duckdb.DuckDBPyConnection, sql: str) -> None:
    cursor, wanted = con.execute(sql), one.execute(sql)
    assert [c[:2] for c in cursor.description or ()] == [(c[0], str(c[1])) for c in wanted.description or ()]
    assert sorted(cursor.fetchall(), key=repr) == sorted(wanted.fetchall(), key=repr)


def test_nothing_is_asked_of_a_shard(con: Connection) -> None:
    cursor = con.execute("SELECT count(*) FROM information_schema.tables")
    assert cursor.fetchall() == [(8,)]
    assert cursor.stats is not None
    assert cursor.stats.rows_moved == 0


def test_local_relations_are_the_connections(con: Connection, cluster: shardwise.Cluster) -> None:
    sql = "SELECT table_name FROM information_schema.tables WHERE table_catalog = 'temp' ORDER BY 1"
    con.register("data", con.execute("SELECT 1 AS a").to_arrow_table())
    assert con.execute(sql).fetchall() == [("best",), ("data",), ("mine",)]
    with cluster.connect() as other:
        assert other.execute(sql).fetchall() == []
    con.execute("CREATE OR REPLACE TEMP TABLE best AS SELECT 'x' AS a, * FROM best AS b(c)")
    columns = "SELECT column_name, data_type FROM information_schema.columns WHERE table_name = 'best'"
    assert con.execute(columns).fetchall() == [("a", "VARCHAR"), ("c", "DECIMAL(5,2)")]


def test_it_can_be_kept_and_filtered(con: Connection) -> None:
    con.execute(
        "CREATE TEMP TABLE kept AS SELECT * FROM information_schema.columns WHERE table_name = ?", ["t"]
    )
    assert con.execute("SELECT count(*) FROM kept").fetchall() == [(9,)]
    con.execute(
        "CREATE TEMP VIEW of_crm AS SELECT * FROM information_schema.tables WHERE table_schema = 'crm'"
    )
    assert con.execute("SELECT count(*) FROM of_crm").fetchall() == [(2,)]


def test_what_is_not_there(con: Connection) -> None:
    with pytest.raises(UnknownName, match='no table "colums" in information_schema') as raised:
        con.execute("SELECT * FROM information_schema.colums")
    assert raised.value.position == Position(1, 34, 6)
    assert "columns" in str(raised.value.hint)
    with pytest.raises(UnknownName):
        con.execute("SELECT nope FROM information_schema.tables")


def test_a_table_whose_columns_are_not_known_is_an_error(tmp_path: Path) -> None:
    text = (
        "CREATE SOURCE s URL 'duckdb:///gone.duckdb'; ATTACH TABLE x ON s; ATTACH TABLE y (a INTEGER) ON s;"
    )
    (tmp_path / "cluster.sql").write_text(text, encoding="utf-8")
    with (
        shardwise.connect(tmp_path / "cluster.sql") as con,
        pytest.raises(CatalogError, match='the columns of table "x" are not known'),
    ):
        con.execute("SELECT * FROM information_schema.tables")


def test_a_schema_of_the_view_does_not_matter(con: Connection) -> None:
    con.execute("USE crm")
    found: list[Any] = con.execute("SELECT count(*) FROM information_schema.schemata").fetchall()
    assert found == [(3,)]
    assert con.execute("SELECT count(*) FROM names").fetchall() == [(2,)]


def test_texts_of_views_are_not_for_pinned_connections(cluster: shardwise.Cluster) -> None:
    sql = "SELECT table_name, view_definition IS NULL FROM information_schema.views WHERE table_name = 'v'"
    with cluster.connect() as con, cluster.connect(scope={"id": 1}, pinned=True) as pinned:
        assert con.execute(sql).fetchall() == [("v", False)]
        assert pinned.execute(sql).fetchall() == [("v", True)]
