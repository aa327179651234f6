"""DRIFT FILL: a column that is missing on some partition reads as its default."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import duckdb
import pytest

from shardwise.errors import OperationalError, Reason
from shardwise.session import Cluster
from shardwise.session import open as open_cluster
from tests.integration.session.tenants import SUFFIX, answer, cluster

PRODUCTS = ("duckdb", "sqlite", "parquet")
OLD, NEW = (
    "id BIGINT, big INTEGER",
    "id BIGINT, big BIGINT, tag TEXT, price DECIMAL(9, 2), day DATE, ok BOOLEAN",
)
NOTES = (
    "notes (id BIGINT, big BIGINT, tag TEXT DEFAULT 'none', price DECIMAL(9, 2) DEFAULT -1.5, "
    "day DATE DEFAULT DATE '2026-01-02', ok BOOLEAN DEFAULT true, note TEXT NOT NULL, made TIMESTAMP DEFAULT now()) "  # noqa: E501
    "SHARD BY by_file (tenant TEXT VIRTUAL)"
)


def write(folder: Path, tenant: str, columns: str, product: str) -> None:
    path = folder / f"{tenant}{SUFFIX[product]}"
    statements = (f"CREATE TABLE notes ({columns})", "INSERT INTO notes (id, big) VALUES (1, 7), (2, 8)")
    if product == "sqlite":
        con = sqlite3.connect(path)
        for statement in statements:
            con.execute(statement)
        con.commit()
        con.close()
        return
    with duckdb.connect(":memory:" if product == "parquet" else str(path)) as db:
        for statement in statements:
            db.execute(statement)
        if product == "parquet":
            path.mkdir()
            db.execute(f"COPY notes TO '{path}/notes.parquet'")


@pytest.fixture(params=PRODUCTS)
def product(request: Any) -> str:
    return str(request.param)


def families(folder: Path, product: str, drift: str = "DRIFT FILL") -> Cluster:
    write(folder, "new", NEW, product)
    write(folder, "old", OLD, product)
    return cluster(folder, product=product, tables=(f"{NOTES} {drift}",))


@pytest.fixture
def oracle() -> duckdb.DuckDBPyConnection:
    """One database whose old rows were there before the migration."""
    con = duckdb.connect()
    con.execute("CREATE TABLE notes (id BIGINT, big BIGINT)")
    con.execute("INSERT INTO notes VALUES (1, 7), (2, 8)")
    for added in (
        "tag TEXT DEFAULT 'none'", "price DECIMAL(9, 2) DEFAULT -1.5", "day DATE DEFAULT DATE '2026-01-02'",
        "ok BOOLEAN DEFAULT true", "note TEXT", "tenant TEXT DEFAULT 'old'",
    ):  # fmt: skip
        con.execute(f"ALTER TABLE notes ADD COLUMN {added}")
    con.execute("INSERT INTO notes VALUES (1, 7, NULL, NULL, NULL, NULL, NULL, 'new')")
    con.execute("INSERT INTO notes VALUES (2, 8, NULL, NULL, NULL, NULL, NULL, 'new')")
    return con


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT id, big, tag, price, day, ok, note, tenant FROM notes ORDER BY ALL",
        "SELECT tag, count(*), sum(price), max(day), count(note), sum(big) FROM notes GROUP BY tag ORDER BY ALL",  # noqa: E501
        "SELECT id, tag FROM notes WHERE tenant = 'old' AND tag = 'none' ORDER BY id",
        "SELECT count(*) FROM notes WHERE price = -1.5 AND day = DATE '2026-01-02' AND ok",
        "SELECT count(*), count(note), count(DISTINCT tag) FROM notes",
        "SELECT count(*) FROM notes WHERE note IS NULL",
        "SELECT a.tag, b.id FROM notes a JOIN notes b ON a.tenant = b.tenant AND a.price = b.price ORDER BY ALL",  # noqa: E501
        "SELECT tag, tenant, row_number() OVER (PARTITION BY tag ORDER BY id, tenant) FROM notes ORDER BY ALL",  # noqa: E501
    ],
)
def test_answers_are_those_after_the_migration(
    sql: str, product: str, tmp_path: Path, oracle: duckdb.DuckDBPyConnection
) -> None:
    with families(tmp_path, product) as con:
        assert answer(con, sql) == oracle.execute(sql).fetchall()


def test_without_fill_it_is_an_error_that_names_shard_and_column(product: str, tmp_path: Path) -> None:
    with families(tmp_path, product, "DRIFT ERROR") as con:
        with pytest.raises(OperationalError, match=r'column "tag".*missing on shard "file_old"') as caught:
            answer(con, "SELECT tag FROM notes")
        assert caught.value.reason == Reason.SCHEMA_DRIFT
        assert answer(con, "SELECT count(*), sum(id) FROM notes") == [(4, 6)]


def test_a_default_that_is_no_constant_fills_nothing(product: str, tmp_path: Path) -> None:
    with families(tmp_path, product) as con, pytest.raises(OperationalError, match=r'column "made".*missing'):
        answer(con, "SELECT made FROM notes")


@pytest.mark.parametrize("more", ["PRIMARY KEY (tag)", "UNIQUE (tag)"])
def test_columns_of_keys_are_not_filled(more: str, product: str, tmp_path: Path) -> None:
    write(tmp_path, "old", OLD, product)
    table = f"notes (id BIGINT, tag TEXT, {more}) SHARD BY by_file (tenant TEXT VIRTUAL) DRIFT FILL"
    with (
        cluster(tmp_path, product=product, tables=(table,)) as con,
        pytest.raises(OperationalError, match=r'column "tag".*missing'),
    ):
        answer(con, "SELECT tag FROM notes")


def test_a_missing_table_is_an_error_under_fill(product: str, tmp_path: Path) -> None:
    with families(tmp_path, product) as con:
        if product == "sqlite":
            sqlite3.connect(tmp_path / "bare.db").execute("CREATE TABLE other (x)").connection.close()
        elif product == "duckdb":
            duckdb.connect(str(tmp_path / "bare.duckdb")).close()
        else:
            (tmp_path / "bare").mkdir()
        with pytest.raises(OperationalError) as caught:
            answer(con, "SELECT id FROM notes")
        assert caught.value.shard == "file_bare"


def test_explain_analyze_names_what_was_filled(product: str, tmp_path: Path) -> None:
    with families(tmp_path, product) as con:
        text = "\n".join(row[0] for row in answer(con, "EXPLAIN ANALYZE SELECT id, tag, day FROM notes"))
        assert "notes on file_old lacks day, tag: read as the default" in text
        assert "file_new lacks" not in text
        text = "\n".join(row[0] for row in answer(con, "EXPLAIN ANALYZE SELECT id FROM notes"))
        assert "lacks" not in text


def test_a_migration_that_ends_is_seen(tmp_path: Path) -> None:
    sql = "SELECT tag FROM notes WHERE tenant = 'old' AND id = 1"
    with families(tmp_path, "sqlite") as con:
        assert answer(con, sql) == [("none",)]
        with sqlite3.connect(tmp_path / "old.db") as db:
            db.execute("ALTER TABLE notes ADD COLUMN tag TEXT")
            db.execute("UPDATE notes SET tag = 'set'")
        db.close()
        assert answer(con, sql) == [("set",)]


def test_types_are_widened(tmp_path: Path) -> None:
    for tenant, types in (
        ("a", "id BIGINT, v FLOAT, p DECIMAL(5, 1)"),
        ("b", "id BIGINT, v DOUBLE, p DECIMAL(9, 2)"),
    ):
        with duckdb.connect(str(tmp_path / f"{tenant}.duckdb")) as db:
            db.execute(f"CREATE TABLE notes ({types})")
            db.execute("INSERT INTO notes VALUES (1, 0.5, 2.5)")
    table = "notes (id BIGINT, v DOUBLE, p DECIMAL(9, 2)) SHARD BY by_file (tenant TEXT VIRTUAL)"
    with cluster(tmp_path, tables=(f"{table} DRIFT FILL",)) as con:
        assert answer(con, "SELECT v, p, count(*) FROM notes GROUP BY v, p") == [(0.5, 2.5, 2)]
        assert answer(con, "SELECT count(*) FROM notes a JOIN notes b ON a.p = b.p") == [(4,)]
    with cluster(tmp_path, tables=(table,)) as con, pytest.raises(OperationalError, match="FLOAT"):
        answer(con, "SELECT v FROM notes")


def test_hash_sharded_tables_fill_too(tmp_path: Path) -> None:
    for n, columns in enumerate(("id BIGINT", "id BIGINT, tag TEXT")):
        with duckdb.connect(str(tmp_path / f"s{n}.duckdb")) as db:
            db.execute(f"CREATE TABLE t ({columns})")
            db.execute(f"INSERT INTO t (id) SELECT * FROM range({n}, 10, 2)")
    (tmp_path / "cluster.sql").write_text(
        "CREATE SOURCE s{n} FOR n IN 0-1 URL 'duckdb:///s{n}.duckdb';"
        "CREATE SHARDING f USING MOD 2 AS n ON s{n};"
        "ATTACH TABLE t (id BIGINT, tag TEXT DEFAULT 'x') SHARD BY f (id) DRIFT FILL;"
    )
    with open_cluster(tmp_path / "cluster.sql") as con:
        assert answer(con, "SELECT tag, count(*) FROM t GROUP BY tag ORDER BY ALL") == [("x", 5), (None, 5)]
        assert answer(con, "SELECT tag FROM t WHERE id = 4") == [("x",)]
