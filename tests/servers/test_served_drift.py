"""A shard whose table is not as the others', or as the catalog says, is an error: never another answer."""

from __future__ import annotations

from pathlib import Path

import pytest

from shardwise.catalog import parse
from shardwise.errors import NotSupportedError, OperationalError, Reason
from shardwise.session.cluster import Cluster
from tests.servers import postgres
from tests.servers.served import served

_ROWS = [(i, f"n{i}", i) for i in range(9)]
_MYSQL = "id BIGINT PRIMARY KEY, name VARCHAR(40) COLLATE utf8mb4_general_ci, x DECIMAL(10,2)"
_POSTGRES = "id BIGINT PRIMARY KEY, name VARCHAR(40), x DECIMAL(10,2)"
_PLAIN = "id BIGINT PRIMARY KEY, name VARCHAR(40), x DECIMAL(10,2)"

_CASES = [
    ("mysql", _MYSQL, None, _MYSQL.replace("general_ci", "bin"), "name"),
    ("mysql", _MYSQL, _PLAIN, _MYSQL.replace("general_ci", "bin"), "name"),
    ("mysql", _MYSQL, None, _MYSQL.replace("(10,2)", "(10,3)"), "x"),
    ("mysql", _MYSQL, None, _MYSQL.replace("DECIMAL(10,2)", "DOUBLE"), "x"),
    ("mysql", _MYSQL, None, _MYSQL.replace("VARCHAR(40)", "CHAR(40)"), "name"),
    ("mysql", _MYSQL, None, _MYSQL.replace(" x DECIMAL(10,2)", " y DECIMAL(10,2)"), "x"),
    ("mysql", _MYSQL, _PLAIN.replace("BIGINT", "INT"), _MYSQL, "id"),
    ("postgres", _POSTGRES, None, _POSTGRES.replace("(40)", '(40) COLLATE "C"'), "name"),
    ("postgres", _POSTGRES, None, _POSTGRES.replace("(10,2)", "(10,3)"), "x"),
    ("postgres", _POSTGRES, None, _POSTGRES.replace("VARCHAR(40)", "CHAR(40)"), "name"),
    ("postgres", _POSTGRES, _PLAIN.replace("BIGINT", "INT"), _POSTGRES, "id"),
]


@pytest.mark.parametrize(("dialect", "columns", "declared", "odd", "name"), _CASES)
def test_an_odd_shard_is_an_error(
    dialect: str, columns: str, declared: str | None, odd: str, name: str
) -> None:
    with (
        served(dialect, {"t": (columns, _ROWS)}, declared=declared, odd={1: {"t": odd}}) as world,
        pytest.raises(OperationalError) as raised,
    ):
        world.found(f"SELECT max({name}) FROM t")
    assert raised.value.reason == Reason.SCHEMA_DRIFT
    assert f'"{name}"' in raised.value.message
    assert raised.value.shard is not None


@pytest.mark.parametrize(
    ("dialect", "columns", "odd"),
    [
        ("mysql", _MYSQL, _MYSQL.replace("VARCHAR(40)", "VARCHAR(60)")),
        ("postgres", _POSTGRES, _POSTGRES.replace("VARCHAR(40)", "VARCHAR(60)")),
        ("postgres", _POSTGRES, _POSTGRES.replace("VARCHAR(40)", "TEXT")),
    ],
)
def test_a_length_is_no_difference(dialect: str, columns: str, odd: str) -> None:
    with served(dialect, {"t": (columns, _ROWS)}, odd={1: {"t": odd}}) as world:
        for sql in ("SELECT max(name), count(*) FROM t", "SELECT * FROM t ORDER BY id"):
            assert world.found(sql) == world.expected(sql)


def test_texts_longer_than_the_catalog_says_are_merged_in_their_order() -> None:
    """Blanks come after the shorter one, however long: they were put to the declared length."""
    columns = "id BIGINT PRIMARY KEY, name VARCHAR(40) COLLATE utf8mb4_bin"
    texts = ["abcd", "abcd\t", "abcd ", "abcd!", "ab", "ab\t", "abcd\t\t"]
    rows = [(i, texts[i % 7]) for i in range(28)]
    with served("mysql", {"t": (columns, rows)}, declared=columns.replace("40", "3")) as world:
        sql = "SELECT id, name FROM t ORDER BY name, id"
        assert world.found(sql) == world.expected(sql)


def test_members_in_another_order() -> None:
    columns = "id BIGINT PRIMARY KEY, e ENUM('b', 'a')"
    rows = [(i, "ab"[i % 2]) for i in range(6)]
    odd = {1: {"t": columns.replace("'b', 'a'", "'a', 'b'")}}
    with (
        served("mysql", {"t": (columns, rows)}, odd=odd) as world,
        pytest.raises(OperationalError, match=r"(?i)enum"),
    ):
        world.found("SELECT e FROM t")


def test_members_of_a_type_of_the_databases_own() -> None:
    columns = "id BIGINT PRIMARY KEY, m mood"
    rows = [(i, "ab"[i % 2]) for i in range(6)]
    declared = "id BIGINT PRIMARY KEY, m ENUM('b', 'a')"
    before = ["CREATE TYPE mood AS ENUM ('b', 'a')"]
    with served("postgres", {"t": (columns, rows)}, before=before, declared=declared) as world:
        for sql in ("SELECT m, count(*) FROM t GROUP BY m ORDER BY m", "SELECT id, m FROM t ORDER BY id"):
            assert world.found(sql) == world.expected(sql)


@pytest.mark.parametrize("encoding", ["UTF8", "LATIN1", "SQL_ASCII", "WIN1252", "EUC_JP"])
def test_rows_in_the_order_of_an_encoding_s_bytes(encoding: str) -> None:
    """By bytes of WIN1252 the sign of the euro is before ÿ, by code points behind it."""
    server = postgres()
    table = 'CREATE TABLE t (id bigint, own text COLLATE "C")'
    options = f"TEMPLATE template0 ENCODING '{encoding}' LOCALE 'C'"
    texts = {"WIN1252": "é€ÿ", "EUC_JP": "abc"}.get(encoding, "aÿé")
    names = [server.database(table, options=o) for o in (options, "")]
    for id_, text in enumerate(texts):
        server.insert(names[id_ % 2 if encoding == "UTF8" else 0], "t", [(id_, text)])
    sources = "".join(f"CREATE SOURCE s{n} URL '{server.url(name)}';" for n, name in enumerate(names))
    catalog = parse(
        f"CREATE CATALOG c DIALECT postgres; {sources} CREATE SHARDING k USING MOD 2 AS m ON s{{m}};"
        'ATTACH TABLE t (id BIGINT, own TEXT COLLATE "C") SCATTERED ON k;'
    )
    sql = "SELECT own FROM t ORDER BY own"
    with Cluster(catalog, Path.cwd(), lambda _: server.password, {}) as cluster, cluster.connect() as con:
        if encoding in ("WIN1252", "EUC_JP"):
            with pytest.raises(NotSupportedError, match=f"is in {encoding}.* merged"):
                con.execute(sql).fetchall()
        else:
            assert con.execute(sql).fetchall() == [(text,) for text in sorted(texts)]
    with (
        Cluster(catalog, Path.cwd(), lambda _: server.password, {}) as cluster,
        cluster.connect(disable_passes=["merge_sorted"]) as con,
    ):
        by_bytes = sorted(texts, key=lambda text: text.encode("cp1252"))
        assert con.execute(sql).fetchall() == [(text,) for text in by_bytes]


def test_databases_that_order_texts_otherwise() -> None:
    """One by bytes, one by a language: the first rows of each are not the first of all."""
    server = postgres()
    names = [
        server.database(
            'CREATE TABLE t (id bigint, name text, own text COLLATE "C")', options=f"TEMPLATE template0 {o}"
        )
        for o in ("", "LOCALE_PROVIDER icu ICU_LOCALE 'en'")
    ]
    sources = "".join(f"CREATE SOURCE s{n} URL '{server.url(name)}';" for n, name in enumerate(names))
    catalog = parse(
        f"CREATE CATALOG c DIALECT postgres; {sources} CREATE SHARDING k USING MOD 2 AS m ON s{{m}};"
        'ATTACH TABLE t (id BIGINT, name TEXT, own TEXT COLLATE "C") SHARD BY k (id);'
    )
    with Cluster(catalog, Path.cwd(), lambda _: server.password, {}) as cluster, cluster.connect() as con:
        for _ in range(2):
            with pytest.raises(OperationalError, match="orders texts by") as raised:
                con.execute("SELECT name FROM t ORDER BY name").fetchall()
            assert raised.value.reason == Reason.SCHEMA_DRIFT
        assert con.execute("SELECT own, count(*) FROM t GROUP BY own ORDER BY own").fetchall() == []
