"""One MariaDB database, and the same rows over 1, 2, 3 or 7 databases on two servers, for the mysql dialect.

The rows are what makes MySQL differ: texts that are equal but for case, accents or blanks at the end, under
four collations; numbers as texts; NULLs everywhere; DECIMALs, dates, durations, bytes.
"""

from __future__ import annotations

import os
import random
import re
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

import shardwise
from shardwise.catalog import parse
from tests.oracle import cluster
from tests.oracle.measured import statistics
from tests.oracle.worlds import World
from tests.servers import mariadb

PASSWORD = "SHARDWISE_TEST_MYSQL_WORLD"
MODE = "STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION"
Row = tuple[Any, ...]


@dataclass(frozen=True)
class Table:
    """`place` is what the catalog says after the columns; `key` the position of the shard key."""

    columns: str
    place: str
    rows: list[Row]
    key: int | None = None


def tables(seed: int = 5) -> dict[str, Table]:
    pick = random.Random(seed).choice
    names = [
        None,
        "ann",
        "Ann",
        "ANN ",
        "bob",
        "Böb",
        "straße",
        "strasse",
        "5",
        "05",
        "5x",
        "",
        "éa",
        "ea",
        "zoë",
    ]
    days = [None, date(2024, 1, 1), date(2024, 2, 29), date(2023, 12, 31), date(2024, 12, 30)]
    moments = [None, datetime(2024, 1, 1), datetime(2024, 2, 29, 23, 59, 59), datetime(2023, 7, 1, 12, 30)]
    return {
        "t": Table(
            "id BIGINT UNSIGNED NOT NULL PRIMARY KEY, k INT, name VARCHAR(20) COLLATE utf8mb4_general_ci, "
            "acc VARCHAR(20) COLLATE utf8mb4_unicode_ci, bin VARCHAR(20) COLLATE utf8mb4_bin, "
            "price DECIMAL(10,2), qty DOUBLE, d DATE, at DATETIME(3), dur TIME, flag TINYINT(1), "
            "b VARBINARY(10), big BIGINT, note TEXT COLLATE utf8mb4_general_ci",
            "SHARD BY by_id (id)",
            [
                (
                    i,
                    pick([None, 1, 2, 3, 3, 5, -7]),
                    pick(names),
                    pick(names),
                    pick(names),
                    pick([None, Decimal("1.10"), Decimal("2.25"), Decimal("-0.50"), Decimal("1000.01")]),
                    pick([None, 1.0, 1.5, 2.25, -0.5, 1e15]),
                    pick(days),
                    pick(moments),
                    pick([None, timedelta(0), timedelta(hours=25), timedelta(hours=-3, minutes=-5)]),
                    pick([None, 0, 1, 1, 7]),
                    pick([None, b"a", b"A", b"", b"\xff\x00"]),
                    pick([None, 0, 1, 2**53 + 1, -(2**62), 10**18]),
                    pick([None, "x y", "X  y", "long " * 20, "a,b", ""]),
                )
                for i in range(1, 61)
            ],
            0,
        ),
        "u": Table(
            "id INT, t_id BIGINT UNSIGNED, note VARCHAR(30) COLLATE utf8mb4_general_ci, v INT, "
            "w DECIMAL(12,4), at DATE",
            "SHARD BY by_id (t_id)",
            [
                (
                    pick([1, 2, 3, 4, None]),
                    pick([None, *range(1, 80)]),
                    pick([None, "n1", "N1", "n2", "Ann", "bob", "5"]),
                    pick([None, 1, 2, 3, 3, 100]),
                    pick([None, Decimal("0.3333"), Decimal("2.5000"), Decimal("-7.1250")]),
                    pick(days),
                )
                for _ in range(90)
            ],
            1,
        ),
        "r": Table(
            "code VARCHAR(9) COLLATE utf8mb4_general_ci, label VARCHAR(20) COLLATE utf8mb4_unicode_ci, n INT",
            "REFERENCE ON by_id",
            [
                ("ann", "Alpha", 1),
                ("ANN", "ALPHA", 2),
                ("bob", "beta", None),
                ("5", "five", 5),
                (None, "none", 0),
            ],
        ),
        "w": Table(
            "name VARCHAR(10) COLLATE utf8mb4_general_ci, x INT, y DOUBLE",
            "SCATTERED ON by_id",
            [
                (pick(["ann", "Ann", "bob", "5", None]), pick([1, 2, None]), pick([1.0, 2.5, None]))
                for _ in range(25)
            ],
        ),
        "p": Table(
            "name VARCHAR(10) COLLATE utf8mb4_general_ci, z INT",
            "SHARD BY by_name (name)",
            [
                (pick(["ann", "Ann", "ANN", "bob", "5", "05", "5 ", None]), pick([1, 2, None]))
                for _ in range(30)
            ],
            0,
        ),
        "q": Table(
            "name VARCHAR(10) COLLATE utf8mb4_nopad_bin, z INT",
            "SHARD BY by_name (name)",
            [(pick(["ann", "Ann", "ann ", "bob", "5", None]), pick([1, 2, None])) for _ in range(30)],
            0,
        ),
        "o": Table(
            "id INT PRIMARY KEY, bits BIT(10), lat VARCHAR(9) COLLATE latin1_swedish_ci, "
            "uni VARCHAR(9) COLLATE utf8mb4_unicode_ci, bin VARCHAR(9) COLLATE utf8mb4_bin, j JSON",
            "SHARD BY by_id (id)",
            [
                (
                    i,
                    pick([None, b"\x00\x01", b"\x03\xff"]),
                    pick([None, "ann", "Ann", "änn", "zoë", "it's"]),
                    pick([None, "ann", "Ann", "änn", 'a"b', "\t"]),
                    pick([None, "ann", "Ann", "änn", "a\\b", "\x01\x7f"]),
                    pick([None, '{"a":  [1, 2]}', '"x"']),
                )
                for i in range(30)
            ],
            0,
        ),
        **{
            name: Table(
                "name VARCHAR(20) COLLATE utf8mb4_general_ci, z INT",
                "SHARD BY by_name (name) EXACT LOWER (name)",
                [
                    (pick(["ann", "bob", "5", "05", "ea", "strasse", "", None]), pick([1, 2, None]))
                    for _ in range(25)
                ],
                0,
            )
            for name in ("e", "f")
        },
    }


class MySQLWorld:
    """`one` has all rows; `cluster` has them over `shards` databases."""

    def __init__(
        self,
        shards: int,
        found: Mapping[str, Table] | None = None,
        view: str = "",
        *,
        is_measured: bool = False,
    ) -> None:
        self.is_measured = is_measured
        self.tables = dict(found or tables())
        ddl = [f"CREATE TABLE {name} ({table.columns})" for name, table in self.tables.items()]
        whole = mariadb(0).database(*ddl)
        mariadb(0).fill(whole, {name: table.rows for name, table in self.tables.items()})
        self.one = mariadb(0).connect(whole)
        with self.one.cursor() as cursor:
            cursor.execute("SET SESSION sql_mode = %s", (MODE,))
        servers = [mariadb(n % 2) for n in range(shards)]
        databases = [server.database(*ddl) for server in servers]
        os.environ[PASSWORD] = servers[0].password
        self.catalog = parse(self._catalog([s.url(d) for s, d in zip(servers, databases, strict=True)], view))
        for shard, (server, database) in enumerate(zip(servers, databases, strict=True)):
            server.fill(database, {name: self.part(name, shard, shards) for name in self.tables})
        if view:
            with self.one.cursor() as cursor:
                cursor.execute(view.rstrip().rstrip(";"))
        self.databases = [(servers[0], whole), *zip(servers, databases, strict=True)]
        self.cluster = shardwise.open(self.catalog)

    def close(self) -> None:
        self.cluster.close()
        self.one.close()
        for server, database in self.databases:
            server.run(f"DROP DATABASE `{database}`")

    def _catalog(self, urls: list[str], view: str) -> str:
        slots = ", ".join(f"s{n} = {n}" for n in range(len(urls)))
        return "\n".join(
            [
                "CREATE CATALOG world DIALECT mysql;",
                *(f"CREATE SOURCE s{n} URL '{url}' PASSWORD ENV '{PASSWORD}';" for n, url in enumerate(urls)),
                f"CREATE SHARDING by_id USING MOD {len(urls)} AS n ON s{{n}};",
                f"CREATE SHARDING by_name USING HASH(crc32) SLOTS {len(urls)} ({slots});",
                *(f"ATTACH TABLE {name} ({t.columns}) {t.place};" for name, t in self.tables.items()),
                view,
                *(statistics(name, t.columns, t.rows) for name, t in self.tables.items() if self.is_measured),
            ]
        )

    def part(self, name: str, shard: int, shards: int) -> list[Row]:
        """The rows of a table on one shard."""
        table = self.tables[name]
        if table.place.startswith("REFERENCE"):
            return table.rows
        if table.place.startswith("ON "):
            return table.rows if table.place == f"ON s{shard}" else []
        if table.key is None:
            return table.rows[shard::shards]
        sharding = self.catalog.sharding("by_name" if "by_name" in table.place else "by_id").function
        key = table.key
        slot: Callable[[Row], int] = lambda row: sharding.slot((row[key],))  # noqa: E731
        return [row for row in table.rows if slot(row) == shard]

    def expected(self, sql: str, params: Any = None) -> tuple[list[str], list[Row]]:
        """What one MariaDB says; raises what it raises."""
        with closing(self.one.cursor()) as cursor:
            cursor.execute(sql, params)
            return [column[0] for column in cursor.description], list(cursor.fetchall())

    def found(self, sql: str, params: Any = (), **options: Any) -> tuple[list[str], list[Row]]:
        with self.cluster.connect(**options) as con, con.execute(sql, params) as cursor:
            rows = [tuple(row) for row in cursor.fetchall()]
            return [column[0] for column in cursor.description or ()], rows


def copied(world: World) -> dict[str, Table]:
    """The tables of a DuckDB world, for MySQL: keys of one whole number or text stay keys; NaN is NULL."""
    return {NAMES.get(table.name, table.name): _copied(table) for table in world.tables}


NAMES = {"dec": "de"}
"""Words of MySQL's that are tables' names there."""


def _copied(table: cluster.Table) -> Table:
    columns = re.sub(r"\bVARCHAR\b", "VARCHAR(20)", table.columns)
    names = [column.split()[0] for column in table.columns.split(", ")]
    decimals = {i for i, column in enumerate(table.columns.split(", ")) if " DECIMAL" in column}
    rows = [
        tuple(
            None if value is None or value != value else Decimal(value) if i in decimals else value
            for i, value in enumerate(row)
        )
        for row in table.rows
    ]
    place, key = "SCATTERED ON by_id", None
    match table.place:
        case cluster.Everywhere():
            place = "REFERENCE ON by_id"
        case cluster.Alone():
            place = "ON s0"
        case cluster.By(keys=(column,)) if column in names:
            kinds = {type(row[names.index(column)]) for row in rows} - {type(None)}
            if kinds <= {int} or kinds in ({str}, {Decimal}):
                key = names.index(column)
                place = f"SHARD BY {'by_id' if kinds <= {int} else 'by_name'} ({column})"
    return Table(columns, place, rows, key)
