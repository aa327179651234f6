"""Rows that run first and are sent, in the mysql and postgres dialects: what a value is again on a shard.

Each type with its extreme values, both sides of a comparison, in each kind of join, against one server.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest

import shardwise
from shardwise.catalog import parse
from tests.oracle.compare import matching
from tests.oracle.measured import statistics
from tests.oracle.mysql_world import MySQLWorld, Table
from tests.servers import postgres
from tests.servers.postgres_server import Postgres
from tests.servers.running import new_name

MYSQL: dict[str, tuple[str, list[Any]]] = {
    "tiny": ("TINYINT", [-128, 127, 0]),
    "utiny": ("TINYINT UNSIGNED", [255, 0]),
    "flag": ("BOOLEAN", [True, False]),
    "small": ("SMALLINT", [-32768, 32767]),
    "medium": ("MEDIUMINT UNSIGNED", [16777215, 1]),
    "i": ("INT UNSIGNED", [4294967295, 7]),
    "big": ("BIGINT", [-(2**63), 2**63 - 1, 2**53 + 1]),
    "ubig": ("BIGINT UNSIGNED", [2**64 - 1, 2**63, 0]),
    "exact": (
        "DECIMAL(65,30)",
        [Decimal("1" * 35 + "." + "2" * 30), Decimal("-0." + "0" * 29 + "1"), Decimal(0)],
    ),
    "whole": ("DECIMAL(10)", [Decimal(-9999999999), Decimal(5)]),
    "udec": ("DECIMAL(5,2) UNSIGNED", [Decimal("999.99"), Decimal("0.10")]),
    "dbl": ("DOUBLE", [1.7976931348623157e308, 5e-324, 0.1, 1 / 3, -2.5, 1e15, -0.0]),
    "d": ("DATE", [date(1, 1, 1), date(9999, 12, 31), date(2024, 2, 29)]),
    "dt": ("DATETIME", [datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59), datetime(2024, 3, 31, 2, 30)]),
    "dt6": ("DATETIME(6)", [datetime(9999, 12, 31, 23, 59, 59, 999999), datetime(2024, 3, 31, 2, 30, 0, 1)]),
    "t": ("TIME", [timedelta(hours=838, minutes=59, seconds=59), timedelta(hours=-838), timedelta(0)]),
    "txt": (
        "VARCHAR(9) COLLATE utf8mb4_general_ci",
        ["a", "A", "ä ", "", "'\"\\", "\x01\x7f\n", "\U0001f600"],
    ),
    "acc": ("VARCHAR(9) COLLATE utf8mb4_unicode_ci", ["strasse", "straße", "a", "A "]),
    "bin": ("VARCHAR(9) COLLATE utf8mb4_bin", ["a", "A", "a "]),
    "nopad": ("VARCHAR(9) COLLATE utf8mb4_nopad_bin", ["a", "A", "a "]),
    "lat": ("VARCHAR(9) COLLATE latin1_swedish_ci", ["ann", "änn", "ANN"]),
    "fixed": ("CHAR(4) COLLATE utf8mb4_general_ci", ["a", "abcd"]),
    "note": ("TEXT COLLATE utf8mb4_general_ci", ["x" * 300, "X  y", "a,b"]),
    "t6": ("TIME(6)", [timedelta(microseconds=-1), timedelta(hours=25, microseconds=999999)]),
}
"""Types of the mysql dialect that travel."""
MYSQL_KEPT: dict[str, tuple[str, list[Any]]] = {
    "rounded": ("DOUBLE(10,2)", [0.1, 2.35]),
    "flt": ("FLOAT", [0.1, 16777216.0]),
    "y": ("YEAR", [1901, 2024, 2155]),
    "ts": ("TIMESTAMP(6) NULL", [datetime(2024, 3, 31, 2, 30, 0, 1), datetime(2037, 1, 1)]),
    "plain": ("VARCHAR(9)", ["a", "A"]),
    "wide": ("TEXT COLLATE utf8mb4_general_ci", ["x" * 20_000, "y"]),
    "en": ("ENUM('small','large')", ["small", "large"]),
    "st": ("SET('x','y')", ["x", "x,y", ""]),
    "bits": ("BIT(10)", [b"\x00\x01", b"\x03\xff"]),
    "raw": ("VARBINARY(9)", [b"\x00\xff", b"a"]),
    "u": ("UUID", ["6ba7b810-9dad-11d1-80b4-00c04fd430c8"]),
    "zero": ("DATE", ["0000-00-00", date(2024, 1, 1)]),
}
"""Types, or values, that stay where they are: the answer is right without."""
POSTGRES: dict[str, tuple[str, list[Any]]] = {
    "small": ("smallint", [-32768, 32767]),
    "i": ("integer", [-(2**31), 2**31 - 1]),
    "big": ("bigint", [-(2**63), 2**63 - 1, 2**53 + 1]),
    "n": (
        "numeric",
        [Decimal("1.0"), Decimal("1.00"), Decimal("1" * 60 + "." + "2" * 30), Decimal(10) ** 40],
    ),
    "fixed": ("numeric(10,2)", [Decimal("99999999.99"), Decimal("-0.10")]),
    "f": ("double precision", [1.7976931348623157e308, 5e-324, 0.1, 1 / 3, 1e15]),
    "b": ("boolean", [True, False]),
    "d": ("date", [date(1, 1, 1), date(9999, 12, 31), date(2024, 2, 29)]),
    "at": ("timestamp", [datetime(9999, 12, 31, 23, 59, 59, 999999), datetime(2024, 3, 31, 2, 30, 0, 1)]),
    "at3": ("timestamp(3)", [datetime(1, 1, 1), datetime(2024, 3, 31, 2, 30, 0, 1000)]),
    "clock": ("time", [time(0), time(23, 59, 59, 999999)]),
    "u": ("uuid", [UUID(int=0), UUID(int=2**128 - 1)]),
}
POSTGRES_KEPT: dict[str, tuple[str, list[Any]]] = {
    "nan": ("numeric", [Decimal("NaN"), Decimal(1)]),
    "infinite": ("double precision", [math.inf, -math.inf, math.nan, 1.0]),
    "forever": ("date", ["infinity", "-infinity", "2024-01-01"]),
    "before": ("timestamp", ["4713-01-01 BC", "2024-01-01"]),
    "midnight": ("time", ["24:00:00", "00:00:00"]),
    "r": ("real", [0.1, 16777216.0]),
    "cash": ("money", ["12.34"]),
    "tz": ("timestamptz", [datetime(2024, 3, 10, 9, 30, tzinfo=UTC), datetime(2024, 11, 3, 6, tzinfo=UTC)]),
    "iv": ("interval", [timedelta(days=40), timedelta(microseconds=-1)]),
    "txt": ('text COLLATE "C"', ["a", "A", "ä", ""]),
    "code": ("char(4)", ["a", "ab"]),
    "raw": ("bytea", [b"\x00\xff", b""]),
    "tags": ("text[]", [["x"], []]),
    "doc": ("jsonb", ['{"a": 1}']),
    "v": ("oid", [4294967295]),
    "addr": ("inet", ["10.0.0.1"]),
}
UNREADABLE = ("forever", "before", "midnight")
"""Values that the driver has no object for."""
SHARDS = 3
Ask = Callable[..., tuple[list[tuple[Any, ...]], int]]


def _rows(values: list[Any]) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    """Of a table of many rows, and of one of few: each value meets each, and NULL, and nothing at all."""
    values = [*values, None]
    many = [(n, n % 4, value) for n, value in enumerate(values * 4)]
    few = [(n, n % 3, value) for n, value in enumerate(values * 2)]
    return [*many, (99, None, None), (98, 7, values[0])], [*few, (97, None, values[0]), (96, 9, None)]


def _statements(column: str, *, is_mysql: bool) -> list[str]:
    same = "<=>" if is_mysql else "IS NOT DISTINCT FROM"
    text = f"CONCAT(f.{column})" if is_mysql else f"f.{column}::text"
    text = text if column != "rounded" else "1"  # its decimals are not shown by a merge
    own = "" if column in UNREADABLE else f"f.{column}, COALESCE(f.{column}, m.{column}), "
    shown = f"{own}f.{column} {same} m.{column}, {text}"
    few = f"few_{column} AS f"
    many = f"many_{column} AS m"
    return [
        f"SELECT m.id, f.id, {shown} FROM {many} JOIN {few} ON m.j = f.j",
        f"SELECT m.id, f.id, {shown} FROM {many} LEFT JOIN {few} ON m.j = f.j AND f.id < 4",
        f"SELECT m.id, f.id, {shown} FROM {few} RIGHT JOIN {many} ON m.j = f.j",
        f"SELECT f.j, count(*) FROM {many} JOIN {few} ON m.j = f.j GROUP BY f.{column}, f.j",
        f"SELECT f.j, count(f.{column}), count(*) FROM {many} LEFT JOIN {few} ON m.j = f.j GROUP BY f.j",
        f"SELECT m.id, f.id, {shown} FROM {many} LEFT JOIN {few} ON m.id = f.j",
    ]


def _comparing(column: str) -> list[str]:
    """By the values themselves, and by two columns of a row together."""
    few, many = f"few_{column}", f"many_{column}"
    both = f"f.{column} = m.{column} AND f.j = m.j"
    return [
        f"SELECT m.id, f.id FROM {many} AS m JOIN {few} AS f ON f.{column} = m.{column}",
        f"SELECT m.id FROM {many} AS m WHERE EXISTS (SELECT 1 FROM {few} AS f WHERE {both})",
        f"SELECT m.id FROM {many} AS m WHERE NOT EXISTS (SELECT 1 FROM {few} AS f WHERE {both})",
        f"SELECT m.id, f.id FROM {many} AS m LEFT JOIN {few} AS f ON {both}",
        f"SELECT m.id, f.id FROM {many} AS m JOIN {few} AS f ON m.j = f.j AND f.{column} < m.{column}",
    ]


BY_SHARD_KEY = (
    "SELECT m.id, f.id, f.{c} FROM many_{c} AS m JOIN few_{c} AS f ON m.id = f.j",
    "SELECT m.id, f.{c} FROM few_{c} AS f RIGHT JOIN many_{c} AS m ON m.id = f.j",
    "SELECT f.id, count(f.{c}) FROM many_{c} AS m JOIN few_{c} AS f ON m.id = f.j GROUP BY f.id",
    "SELECT id FROM many_{c} AS m WHERE NOT EXISTS (SELECT 1 FROM few_{c} AS f WHERE j = m.id AND f.id < 5)",
)


def _each_to_its_own(ask: Ask, column: str, values: list[Any]) -> None:
    """No row goes to two shards; 0, 1 and 2 are on one each."""
    rows = [row for row in _rows(values)[1] if row[1] is not None]
    for sql in BY_SHARD_KEY:
        sent = ask(sql.format(c=column), ("broadcast",))
        assert sent == len([row for row in rows if row[0] < 5 or "EXISTS" not in sql]), sql
        ask(sql.format(c=column), ("keys",))


# ------------------------------------------------------------------ the mysql dialect


@pytest.fixture(scope="module")
def mysql() -> Iterator[Ask]:
    tables = {}
    for name, (type_, values) in (MYSQL | MYSQL_KEPT).items():
        for table, rows in zip((f"many_{name}", f"few_{name}"), _rows(values), strict=True):
            place = "SHARD BY by_id (id)"
            tables[table] = Table(f"id INT PRIMARY KEY, j INT, {name} {type_}", place, rows, 0)
    world = MySQLWorld(SHARDS, tables, is_measured=True)

    def ask(sql: str, force: tuple[str, ...]) -> int:
        names, expected = world.expected(sql)
        return _compared(world.cluster, sql, force, names, expected)

    yield ask
    world.close()


@pytest.mark.parametrize("column", MYSQL)
def test_values_are_the_same_again_on_mariadb(mysql: Ask, column: str) -> None:
    for sql in _statements(column, is_mysql=True):
        assert mysql(sql, ("broadcast",)) > 0, sql
    for sql in _comparing(column):
        for force in (("broadcast",), ("keys",)):
            mysql(sql, force)


@pytest.mark.parametrize("column", ["big", "txt", "dt6"])
def test_each_shard_of_mariadb_is_sent_its_own_rows(mysql: Ask, column: str) -> None:
    _each_to_its_own(mysql, column, MYSQL[column][1])


@pytest.mark.parametrize("column", MYSQL_KEPT)
def test_what_would_not_be_stays_on_mariadb(mysql: Ask, column: str) -> None:
    for sql in _statements(column, is_mysql=True) + _comparing(column):
        try:
            mysql(sql, ("broadcast",))
        except shardwise.NotSupportedError:
            assert column in ("en", "st"), sql  # in a merge they are texts


# ------------------------------------------------------------------ the postgres dialect


@pytest.fixture(scope="module")
def postgresql() -> Iterator[Ask]:
    server = postgres()
    names = [new_name("sent") for _ in range(SHARDS + 1)]
    declared, rows = {}, {}
    for name, (type_, values) in (POSTGRES | POSTGRES_KEPT).items():
        for table, found in zip((f"many_{name}", f"few_{name}"), _rows(values), strict=True):
            declared[table] = f"id integer PRIMARY KEY, j integer, {name} {type_}"
            rows[table] = found
    for n, database in enumerate(names):
        _fill(server, database, declared, rows, None if n == SHARDS else n)
    text = "CREATE CATALOG sent DIALECT postgres;\n"
    text += "".join(f"CREATE SOURCE s{n} URL '{server.url(names[n])}';\n" for n in range(SHARDS))
    text += f"CREATE SHARDING by_id USING MOD {SHARDS} AS n ON s{{n}};\n"
    for table, columns in declared.items():
        text += f"ATTACH TABLE {table} ({columns}) SHARD BY by_id (id);\n"
        text += statistics(table, columns, rows[table]) + "\n"
    cluster = shardwise.open(parse(text), secrets=lambda _: server.password)
    one = server.connect(names[-1])

    def ask(sql: str, force: tuple[str, ...]) -> int:
        asked = one.execute(sql)
        names = [column.name for column in asked.description or ()]
        return _compared(cluster, sql, force, names, asked.fetchall())

    yield ask
    cluster.close()
    one.close()
    for database in names:
        server.run(f'DROP DATABASE "{database}" WITH (FORCE)')


def _fill(
    server: Postgres,
    database: str,
    declared: dict[str, str],
    rows: dict[str, list[tuple[Any, ...]]],
    shard: int | None,
) -> None:
    server.database(
        *(f"CREATE TABLE {name} ({columns})" for name, columns in declared.items()), name=database
    )
    server.fill(
        database,
        {
            name: [row for row in found if shard is None or row[0] % SHARDS == shard]
            for name, found in rows.items()
        },
    )


@pytest.mark.parametrize("column", POSTGRES)
def test_values_are_the_same_again_on_postgresql(postgresql: Ask, column: str) -> None:
    for sql in _statements(column, is_mysql=False):
        assert postgresql(sql, ("broadcast",)) > 0, sql
    for sql in _comparing(column):
        for force in (("broadcast",), ("keys",)):
            postgresql(sql, force)


@pytest.mark.parametrize("column", ["n", "f", "clock"])
def test_each_shard_of_postgresql_is_sent_its_own_rows(postgresql: Ask, column: str) -> None:
    _each_to_its_own(postgresql, column, POSTGRES[column][1])


@pytest.mark.parametrize("column", POSTGRES_KEPT)
def test_what_would_not_be_stays_on_postgresql(postgresql: Ask, column: str) -> None:
    statements = _statements(column, is_mysql=False) + (_comparing(column) if column != "doc" else [])
    for sql in statements:
        postgresql(sql, ("broadcast",))


@pytest.mark.parametrize("column", UNREADABLE)
@pytest.mark.parametrize("force", [("keys",), ("keys", "range")], ids="-".join)
def test_a_side_whose_keys_cannot_be_read_narrows_nothing(
    postgresql: Ask, column: str, force: tuple[str, ...]
) -> None:
    """The keys' error was nobody's, and then they were taken for none at all: no row met any."""
    for sql in _comparing(column):
        postgresql(sql, force)


def _compared(
    cluster: shardwise.Cluster,
    sql: str,
    force: tuple[str, ...],
    names: list[str],
    expected: list[tuple[Any, ...]],
) -> int:
    """How many rows a cluster sent for an answer that is that of one database."""
    with cluster.connect(force=force) as con, con.execute(sql) as cursor:
        found = [tuple(row) for row in cursor.fetchall()]
        assert [column[0] for column in cursor.description or ()] == names
        assert matching(_shown(found), _shown(expected)) == ([], [])
        return cursor.stats.rows_sent


def _shown(rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Values with their Python types: 1 is not 1.0, nor is 1.0 the 1.00 of a DECIMAL."""
    return [tuple(f"{type(value).__name__} {value!r}" for value in row) for row in rows]
