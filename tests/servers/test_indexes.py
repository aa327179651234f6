"""Indexes on MariaDB and PostgreSQL: columns as the base tables have them, stopped, damaged, put right."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest

import shardwise
from shardwise.catalog import parse
from shardwise.errors import DataError, Error, IntegrityError, NotSupportedError
from shardwise.executor.guard import Guard
from shardwise.options import Options
from shardwise.session import Cluster
from shardwise.session.indexes import Asked, Progress, build, declare
from shardwise.session.indexes.kept import ABSENT, INCOMPLETE, SUPERFLUOUS
from tests.servers import mariadb, postgres
from tests.servers.served import PASSWORD, SERVERS, served

MYSQL = (
    "id BIGINT PRIMARY KEY, who VARCHAR(20) COLLATE utf8mb4_general_ci, e ENUM('small','large'),"
    " s SET('z','y'), b BIT(9), tt TIME(2), y YEAR, f FLOAT, g DOUBLE, d DATE, tm DATETIME(6),"
    " ts TIMESTAMP(3) NULL, j JSON, c CHAR(6), u UUID, i INET6, bi BINARY(4), bl BLOB, n BIGINT UNSIGNED,"
    " big DECIMAL(40,10), l VARCHAR(10) COLLATE latin1_bin, t LONGTEXT"
)
POSTGRES = (
    "id BIGINT PRIMARY KEY, who VARCHAR(20), n NUMERIC, m NUMERIC(12,3), f REAL, g DOUBLE PRECISION, d DATE,"
    " ts TIMESTAMP, tz TIMESTAMPTZ, i INTERVAL, j JSON, jb JSONB, c CHAR(6), u UUID, ip INET, b BYTEA,"
    ' a INT[], o BOOL, tt TIME, bi BIT(5), t TEXT COLLATE "C"'
)


def _mysql_row(n: int) -> tuple[Any, ...]:
    return (
        *(
            n,
            (None, "Ann", "ann ", "BOB", "bob")[n % 5],
            "large" if n % 2 else "small",
            "z,y" if n % 3 else "",
        ),
        *((n * 43 % 512).to_bytes(2, "big"), f"-{n * 30}:00:00.25", 2000 + n, 1.1 * n, -2.2 * n),
        *(
            ("2024-02-29", "0000-00-00", None)[n % 3],
            "2024-01-01 10:00:00.123456",
            f"2024-05-{n + 1:02} 10:00:00.5",
        ),
        *(
            f'{{"a": {n}}}',
            f"c{n}",
            f"{n:08x}-0000-1000-8000-000000000000",
            f"::{n}",
            bytes((n, 0)),
            b"\xff'\\\0",
        ),
        *((1 << 64) - 1 - n, Decimal(f"{n}.0000000001"), "é", "it's \\ \n" * n),
    )


def _postgres_row(n: int) -> tuple[Any, ...]:
    return (
        *(
            n,
            (None, "Ann", "ann", "BOB", "bob")[n % 5],
            Decimal(f"{n}.{n}00"),
            Decimal(f"{n}.5"),
            1.1 * n,
            -2.2 * n,
        ),
        *("infinity" if n == 1 else "2024-02-29", "-infinity" if n == 2 else "2024-01-01 10:00:00.123456"),
        *("2024-01-01 10:00:00+03", "1 mon 3 days 04:05:06", '{"a": 1,  "b":2}', '{"b":1}', "ab"),
        *(
            f"{n:08x}-0000-1000-8000-000000000000",
            "10.0.0.1/24",
            b"\x00\\x" + bytes([n]),
            [1, None, n],
            n % 2 == 0,
        ),
        *("10:00:00.5", "10101", "t\tab\\n\n'x'"),
    )


OTHERS = {
    "mysql": "id BIGINT PRIMARY KEY, name VARCHAR(20) COLLATE utf8mb4_general_ci, v INT",
    "postgres": "id BIGINT PRIMARY KEY, name VARCHAR(20), v INT",
}
PEOPLE = [(1, "ANN", 5), (2, "bob", 6), (3, "ann", 7), (4, None, 8), (5, "Bob ", 9)]
DIALECTS = ("mysql", "postgres")


@contextmanager
def _world(dialect: str, shards: int = 3, rows: int = 24) -> Iterator[Any]:
    columns, row = (MYSQL, _mysql_row) if dialect == "mysql" else (POSTGRES, _postgres_row)
    tables = {"t": (columns, [row(n) for n in range(rows)]), "o": (OTHERS[dialect], PEOPLE)}
    with served(dialect, tables, shards=shards) as world:
        yield world


def _included(dialect: str) -> list[str]:
    columns = MYSQL if dialect == "mysql" else POSTGRES
    names = [
        each.split()[0]
        for each in columns.replace("('small','large')", "").replace("('z','y')", "").split(", ")
    ]
    return [name for name in names if name not in ("id", "who")]


def _visits(dialect: str) -> str:
    included = ", ".join(f"t.{name}" for name in _included(dialect))
    return f"CREATE JOIN INDEX visits ON t.who = o.name INCLUDE ({included}, o.v) SHARD BY k (t.id)"


def _on(world: Any, dialect: str, shard: int, *statements: str) -> list[tuple[Any, ...]]:
    """Runs statements on a shard's own database, apart from us."""
    source = list(world.cluster.declared.sources())[shard]
    assert source.url is not None
    with (
        closing(SERVERS[dialect](shard).connect(source.url.rpartition("/")[2])) as con,
        con.cursor() as cursor,
    ):
        for statement in statements:
            cursor.execute(statement)
        con.commit()
        return list(cursor.fetchall()) if cursor.description else []


@pytest.mark.parametrize("shards", [1, 3])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_all_types_are_in_an_index_as_they_are(dialect: str, shards: int) -> None:
    with _world(dialect, shards) as world, world.cluster.connect() as con:
        ((_, count, *_),) = con.execute(_visits(dialect)).fetchall()
        assert con.execute("CHECK JOIN INDEX visits").fetchall() == []
        as_text = "::text" if dialect == "postgres" else ""  # infinity is none of Python's dates
        columns = ", ".join(f"t.{name}{as_text}" for name in _included(dialect))
        _, expected = world.expected(f"SELECT {columns} FROM t JOIN o ON t.who = o.name")
        assert count == len(expected) > 5
        found: list[tuple[Any, ...]] = []
        own = ", ".join(f"t_{name}{as_text}" for name in _included(dialect))
        for shard in range(shards):
            rows = _on(world, dialect, shard, f"SELECT {own} FROM visits")
            placed = _on(
                world, dialect, shard, f"SELECT count(*) FROM visits WHERE t_id % {shards} <> {shard}"
            )
            assert placed[0][0] == 0
            found += rows
        assert sorted(map(repr, found)) == sorted(repr(tuple(row)) for row in expected)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_texts_are_compared_as_in_the_base_table(dialect: str) -> None:
    with _world(dialect) as world, world.cluster.connect() as con:
        con.execute("CREATE LOOKUP INDEX by_who ON t (who, n)")
        _, expected = world.expected("SELECT count(*) FROM t WHERE who = 'ANN'")
        found = sum(
            _on(world, dialect, n, "SELECT count(*) FROM by_who WHERE who = 'ANN'")[0][0] for n in range(3)
        )
        assert found == expected[0][0] == (10 if dialect == "mysql" else 0)
        assert con.execute("CHECK LOOKUP INDEX by_who").fetchall() == []
        with pytest.raises(IntegrityError, match=r"2 values|4 values") as error:
            con.execute("CREATE UNIQUE LOOKUP INDEX once ON t (who)")
        assert "Ann" not in str(error.value)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_build_whose_session_is_killed_is_gone_on_with(dialect: str) -> None:
    kill = {
        "mysql": "SELECT ID FROM information_schema.PROCESSLIST"
        " WHERE DB = DATABASE() AND ID <> CONNECTION_ID()",
        "postgres": "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE datname = current_database() AND pid <> pg_backend_pid()",
    }[dialect]
    with _world(dialect, 2) as world:
        for stop_at in range(8):
            steps: list[Progress] = []

            def watch(
                progress: Progress, steps: list[Progress] = steps, world: Any = world, at: int = stop_at
            ) -> None:
                steps.append(progress)
                if len(steps) == at + 1:
                    for shard in range(2):
                        found = _on(world, dialect, shard, kill)
                        for (number,) in found if dialect == "mysql" else ():
                            SERVERS[dialect](shard).run(f"KILL {number}")

            cluster = world.cluster
            asked = Asked(options=Options(), guard=Guard(Options()), watcher=watch, batch_rows=3)
            try:
                build(cluster, declare(cluster, _visits(dialect)), asked)
            except Error:
                with cluster.connect() as con:
                    assert con.execute("SHOW INDEXES").fetchall()[0][3] == "building"
                    con.execute(_visits(dialect))
            with cluster.connect() as con:
                assert con.execute("SHOW INDEXES").fetchall()[0][3] == "valid"
                assert con.execute("CHECK JOIN INDEX visits").fetchall() == []
                con.execute("DROP JOIN INDEX visits")


@pytest.mark.parametrize("dialect", DIALECTS)
def test_damage_is_put_right_to_the_byte(dialect: str) -> None:
    with _world(dialect) as world, world.cluster.connect() as con:
        con.execute(_visits(dialect))
        whole = "SELECT visits::text FROM visits" if dialect == "postgres" else "SELECT * FROM visits"
        before = [sorted(map(repr, _on(world, dialect, n, whole))) for n in range(3)]
        _on(world, dialect, 0, "DELETE FROM visits")
        _on(world, dialect, 1, "INSERT INTO visits SELECT * FROM visits")
        other = "c" if dialect == "mysql" else "t"
        _on(
            world,
            dialect,
            2,
            f"UPDATE visits SET t_{other} = upper(t_{other})",
            "UPDATE visits SET t_f = t_f + 1",
        )
        found = con.execute("CHECK JOIN INDEX visits").fetchall()
        assert {(shard, what) for shard, what, *_ in found} == {
            ("s0", "missing"),
            ("s1", "superfluous"),
            ("s2", "wrong values"),
        }
        assert con.execute("CHECK JOIN INDEX visits REPAIR").fetchall() == [
            (*each[:3], True) for each in found
        ]
        assert con.execute("CHECK JOIN INDEX visits").fetchall() == []
        after = [sorted(map(repr, _on(world, dialect, n, whole))) for n in range(3)]
        assert after == before


@pytest.mark.parametrize("dialect", DIALECTS)
def test_searched_columns_have_an_index_and_a_drop_leaves_nothing(dialect: str) -> None:
    with _world(dialect) as world, world.cluster.connect() as con:
        con.execute("CREATE LOOKUP INDEX by_text ON t (t, who)")
        con.execute(_visits(dialect))
        indexes = {
            "mysql": "SELECT COUNT(DISTINCT INDEX_NAME) FROM information_schema.STATISTICS"
            " WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME IN ('visits', 'by_text')",
            "postgres": "SELECT count(*) FROM pg_indexes WHERE tablename IN ('visits', 'by_text')",
        }[dialect]
        assert _on(world, dialect, 0, indexes) == [(4,)]
        con.execute("DROP LOOKUP INDEX by_text")
        con.execute("DROP JOIN INDEX visits")
        assert _on(world, dialect, 0, indexes) == [(0,)]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_one_of_the_same_name_with_other_columns_is_looked_at_anew(dialect: str) -> None:
    with _world(dialect, 2) as world, world.cluster.connect() as con:
        for columns in ("n", "who", "g, n"):
            con.execute(f"CREATE LOOKUP INDEX i ON t ({columns})")
            assert con.execute("CHECK LOOKUP INDEX i").fetchall() == []
            con.execute("DROP LOOKUP INDEX i")


def test_a_value_that_no_row_can_be_placed_by_is_said_without_it() -> None:
    with _world("mysql") as world, world.cluster.connect() as con, pytest.raises(DataError) as error:
        con.execute("CREATE LOOKUP INDEX by_day ON t (d)")
    assert "0000" not in str(error.value)
    assert "place by d" in str(error.value)


def test_what_postgres_cannot_search_is_refused() -> None:
    with _world("postgres") as world, world.cluster.connect() as con:
        with pytest.raises(NotSupportedError, match='"j" of "by_json" is JSON, by which'):
            con.execute("CREATE LOOKUP INDEX by_json ON t (j)")
        assert con.execute("SHOW INDEXES").fetchall() == []


@pytest.mark.parametrize("dialect", ["duckdb", "mysql", "postgres"])
def test_products_are_mixed_in_the_duckdb_dialect(tmp_path: Path, dialect: str) -> None:
    """The index is on a server and on files, whoever has the base tables."""
    first = "id BIGINT, name VARCHAR(30), d DATE, m DECIMAL(12,2)"
    columns = f"{first}, ts TIMESTAMP, f DOUBLE, o BOOLEAN, tz TIMESTAMPTZ"
    my, pg = mariadb(), postgres()
    os.environ[PASSWORD], os.environ[PASSWORD + "_PG"] = my.password, pg.password
    mine = my.database(
        f"CREATE TABLE t ({first}, ts DATETIME(6), f DOUBLE, o TINYINT(1), tz TIMESTAMP(6) NULL)"
    )
    theirs = pg.database(
        f"CREATE TABLE t ({first}, ts TIMESTAMP, f DOUBLE PRECISION, o BOOL, tz TIMESTAMPTZ)"
    )
    with duckdb.connect(str(tmp_path / "s0.duckdb")) as engine:
        engine.execute(f"CREATE TABLE t ({columns})")
        engine.execute("CREATE TABLE o (k VARCHAR, v BIGINT)")
        engine.execute("INSERT INTO o VALUES ('ann', 1), ('Ann', 2), ('bob', 3)")
    rows = [
        (
            n,
            ("ann", "Ann", "bob", None)[n % 4],
            "2024-02-29",
            f"{n}.25",
            f"2024-01-01 10:00:{n:02}.5",
            n / 3,
            n % 2 == 0,
        )
        for n in range(24)
    ]
    values = [(*row, "2024-06-01 12:00:00") for row in rows]
    with duckdb.connect(str(tmp_path / "s0.duckdb")) as engine:
        engine.execute("SET TimeZone = 'UTC'")
        engine.executemany(
            "INSERT INTO t VALUES (?, ?, ?, ?, ?, ?, ?, ?)", [r for r in values if r[0] % 4 == 0]
        )
    with closing(sqlite3.connect(tmp_path / "s3.db")) as con:
        con.execute(
            "CREATE TABLE t (id BIGINT, name TEXT, d TEXT, m TEXT, ts TEXT, f REAL, o BOOLEAN, tz TEXT)"
        )
        con.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?, ?, ?, ?)", [r for r in values if r[0] % 4 == 3])
        con.commit()
    my.insert(mine, "t", [r for r in values if r[0] % 4 == 1])
    pg.insert(theirs, "t", [(*r[:7], "2024-06-01 12:00:00+00") for r in values if r[0] % 4 == 2])
    catalog = parse(
        f"CREATE SOURCE s0 URL 'duckdb:///{tmp_path}/s0.duckdb';"
        f"CREATE SOURCE s1 URL '{my.url(mine)}' PASSWORD ENV '{PASSWORD}';"
        f"CREATE SOURCE s2 URL '{pg.url(theirs)}' PASSWORD ENV '{PASSWORD}_PG';"
        f"CREATE SOURCE s3 URL 'sqlite:///{tmp_path}/s3.db';"
        "CREATE SHARDING k USING MOD 4 AS m ON s{m};"
        f"CREATE TABLE t ({columns}) SHARD BY k (id);"
        "CREATE TABLE o (k VARCHAR, v BIGINT) ON s0;"
    )
    place = {"duckdb": "k (t.id)", "mysql": "k (o.v)", "postgres": "k (o.v)"}[dialect]
    with Cluster(catalog, tmp_path, None, {}) as cluster, cluster.connect() as con:
        con.execute(
            "CREATE JOIN INDEX j ON t.name = o.k INCLUDE (t.d, t.m, t.ts, t.f, t.o, t.tz, o.v)"
            f" SHARD BY {place}"
        )
        assert con.execute("CHECK JOIN INDEX j").fetchall() == []
        con.execute("CREATE LOOKUP INDEX by_name ON t (name, d)")
        assert con.execute("CHECK LOOKUP INDEX by_name REPAIR").fetchall() == []
        assert {each[3] for each in con.execute("SHOW INDEXES").fetchall()} == {"valid"}


def test_no_password_is_in_an_error() -> None:
    with _world("mysql", 2) as world:
        text = world.cluster.declared.to_sql()
    del os.environ[PASSWORD]
    os.environ[PASSWORD] = "not the password"
    with Cluster(parse(text), Path.cwd(), None, {}) as cluster, cluster.connect() as con:
        with pytest.raises(shardwise.Error) as error:
            con.execute(_visits("mysql"))
        assert "not the password" not in str(error.value)


def test_an_enumeration_of_postgres_is_of_its_type() -> None:
    columns = "id BIGINT PRIMARY KEY, mood mood"
    rows = [(n, ("sad", "ok")[n % 2]) for n in range(12)]
    declared = "id BIGINT PRIMARY KEY, mood ENUM('sad', 'ok')"
    before = ["CREATE TYPE mood AS ENUM ('sad', 'ok')"]
    with (
        served("postgres", {"t": (columns, rows)}, before=before, declared=declared) as world,
        world.cluster.connect() as con,
    ):
        con.execute("CREATE LOOKUP INDEX by_mood ON t (mood)")
        assert con.execute("CHECK LOOKUP INDEX by_mood").fetchall() == []
        types = "SELECT DISTINCT pg_typeof(mood)::text FROM by_mood"
        assert {row for n in range(3) for row in _on(world, "postgres", n, types)} == {("mood",)}


@pytest.mark.parametrize("dialect", ["mysql", "postgres"])
def test_a_table_that_the_application_keeps_is_compared(dialect: str) -> None:
    text = "VARCHAR(20) COLLATE utf8mb4_general_ci" if dialect == "mysql" else "VARCHAR(20)"
    people = [(n, None if n % 5 == 0 else f"w{n}") for n in range(20)]
    kept = [(n, who, 99 if n == 4 else n) for n, who in people if who is not None and n != 3]
    tables = {
        "t": (f"id BIGINT PRIMARY KEY, who {text}", people),
        "m": (f"id BIGINT PRIMARY KEY, who {text}, t_id BIGINT", [*kept, (40, "x", 7)]),
    }
    with served(dialect, tables) as world:
        declared = world.cluster.declared.apply(
            "ATTACH LOOKUP INDEX people ON t (who) USING TABLE m (who, t_id);"
        )
        with Cluster(declared, Path.cwd(), None, {}) as cluster, cluster.connect() as con:
            found = con.execute("CHECK LOOKUP INDEX people").fetchall()
    assert found == [(None, ABSENT, 1, False), (None, INCOMPLETE, 1, False), (None, SUPERFLUOUS, 2, False)]
