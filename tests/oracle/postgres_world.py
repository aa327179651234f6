"""One PostgreSQL database, and the same rows over 1, 2, 3 or 7 databases, for the postgres dialect.

Columns are of the types that behave otherwise than elsewhere: texts of several collations, one of them
nondeterministic, padded CHAR, numbers of any scale with NaN, intervals, arrays, JSON and ranges.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import shardwise
from shardwise.catalog import Catalog, parse
from tests.oracle.measured import statistics
from tests.servers import postgres
from tests.servers.postgres_server import Postgres
from tests.servers.running import new_name

SETUP = ("CREATE COLLATION folding (provider = icu, locale = 'und-u-ks-level2', deterministic = false)",)
TABLES = {
    "t": 'id integer PRIMARY KEY, k integer, name text, email text COLLATE "folding", title text COLLATE '
    '"en-x-icu", code char(4), price numeric(10,2), qty numeric, f double precision, r real, b boolean, '
    "d date, at timestamp, tz timestamptz, iv interval, tags text[], nums integer[], j jsonb, js json, "
    "u uuid, raw bytea, s smallint, big bigint, clock time, span int4range, addr inet",
    "u": "id integer, t_id integer, note text, v bigint, w numeric(8,3), at date",
    "r": "code text, label text, n integer",
    "w": "name text, x integer, y double precision",
    "p": "name text, z integer",
}
PLACES = {
    "t": "SHARD BY by_id (id)",
    "u": "SHARD BY by_id (t_id)",
    "r": "REFERENCE ON by_id",
    "w": "SCATTERED ON by_id",
    "p": "SHARD BY by_name (name)",
}
Row = tuple[Any, ...]
Tables = dict[str, list[Row]]


def rows(seed: int = 5) -> Tables:
    pick = random.Random(seed).choice
    names = [None, "a", "A", "b", "B", "ab", "", " a", "é", "ä", "z", "Z", "a_b", "a%b", "10", "9"]
    numbers = [None, Decimal("1"), Decimal("1.0"), Decimal("1.00"), Decimal("2.5"), Decimal("-0.125")]
    day = date(2024, 1, 31)
    return {
        "t": [
            (
                i,
                pick([None, 1, 2, 3, 3, 5, -7]),
                pick(names),
                pick([None, "ann@x", "Ann@X", "ÁNN@x", "bob@x", "Bob@x"]),
                pick([None, "côte", "coté", "cote", "Zebra", "apple", "Apple", "-dash", "zebra"]),
                pick([None, "a", "ab", "abcd", "A"]),
                pick([None, Decimal("1.50"), Decimal("2.25"), Decimal("-0.50"), Decimal("99999999.99")]),
                pick([*numbers, Decimal("NaN"), Decimal("12345678901234567890.123456789")]),
                pick([None, 1.0, 1.5, 2.25, -0.5, 1e300, 0.1, float("nan"), float("inf")]),
                pick([None, 0.1, 1.5, -2.25, 3e10]),
                pick([None, True, False]),
                pick([None, day, date(2024, 2, 29), date(2023, 12, 31), date(1999, 7, 4)]),
                pick(
                    [
                        None,
                        datetime(2024, 1, 31, 13, 5, 9, 250000),
                        datetime(2024, 2, 29),
                        datetime(2023, 12, 31, 23, 59, 59),
                    ]
                ),
                pick(
                    [None, datetime(2024, 3, 10, 9, 30, tzinfo=UTC), datetime(2024, 11, 3, 6, 0, tzinfo=UTC)]
                ),
                pick([None, timedelta(days=1, hours=2), timedelta(minutes=-5), timedelta(days=40)]),
                pick([None, [], ["x"], ["x", "y"], ["y", None, "z"]]),
                pick([None, [], [1, 2, 3], [3, 1], [2]]),
                pick(
                    [
                        None,
                        '{"a": 1, "b": {"c": [1, 2]}}',
                        '{"a": "x", "n": null}',
                        '[1, 2, "three"]',
                        '"text"',
                        '{"a": 2}',
                    ]
                ),
                pick([None, '{"b":1,"a":[true,null]}', '{"k":  "v"}']),
                pick([None, UUID(int=i % 4), UUID("6ba7b810-9dad-11d1-80b4-00c04fd430c8")]),
                pick([None, b"", b"\x00\xff", b"abc"]),
                pick([None, 1, 2, 300, -5]),
                pick([None, 1, 10**15, -(10**18), 9 * 10**18]),
                pick([None, time(9, 30), time(23, 59, 59, 999999)]),
                pick([None, "[1,5)", "[3,9)", "empty", "(,4]"]),
                pick([None, "10.0.0.1", "10.0.0.0/8", "::1"]),
            )
            for i in range(1, 61)
        ],
        "u": [
            (
                pick([1, 2, 3, None]),
                pick([None, *range(1, 80)]),
                pick([None, "n1", "N1", "n2", "5", "a"]),
                pick([None, 1, 2, 3, 10**15, 9 * 10**18]),
                pick([None, Decimal("1.500"), Decimal("0.001"), Decimal("-3.250")]),
                pick([None, day, date(2024, 2, 29)]),
            )
            for _ in range(90)
        ],
        "r": [("a", "Alpha", 1), ("A", "ALPHA", 2), ("b", "beta", None), ("5", "five", 5), (None, "none", 0)],
        "w": [
            (pick(["a", "A", "b", "5", "05", None, "ab"]), pick([1, None, 2, 7]), pick([1.0, 2.5, None, 0.1]))
            for _ in range(25)
        ],
        "p": [(pick(["a", "A", "b", "5", "05", None, "7", "é"]), pick([1, 2, None, 40])) for _ in range(30)],
    }


class PostgresWorld:
    """`one` has all rows; `cluster` has them over `shards` databases of the same server."""

    def __init__(self, shards: int, tables: Tables | None = None, *, is_measured: bool = False) -> None:
        self.tables = tables or rows()
        self.server = postgres()
        self.names = {name: new_name("world") for name in ("one", *(f"s{n}" for n in range(shards)))}
        told = (statistics(name, TABLES[name], found) for name, found in self.tables.items() if is_measured)
        self.catalog = parse(catalog_text(self.server, self.names) + "\n".join(told))
        fill(self.server, self.names["one"], self.tables)
        for n in range(shards):
            found = {name: part(name, all_, self.catalog, n, shards) for name, all_ in self.tables.items()}
            fill(self.server, self.names[f"s{n}"], found)
        self.one = self.server.connect(self.names["one"])
        self.cluster = shardwise.open(self.catalog, secrets=lambda _: self.server.password)

    def close(self) -> None:
        self.cluster.close()
        self.one.close()
        for database in self.names.values():
            self.server.run(f'DROP DATABASE "{database}" WITH (FORCE)')


def fill(server: Postgres, database: str, tables: Tables) -> None:
    """Makes a database that has these rows."""
    server.database(*SETUP, *(f"CREATE TABLE {name} ({TABLES[name]})" for name in TABLES), name=database)
    server.fill(database, tables)


def catalog_text(server: Postgres, names: Mapping[str, str]) -> str:
    shards = [name for name in names if name != "one"]
    sources = "".join(f"CREATE SOURCE {shard} URL '{server.url(names[shard])}';\n" for shard in shards)
    tables = "".join(f"ATTACH TABLE {name} ({TABLES[name]}) {PLACES[name]};\n" for name in TABLES)
    slots = ", ".join(f"{shard} = {n}" for n, shard in enumerate(shards))
    return (
        f"CREATE CATALOG world DIALECT postgres;\n{sources}"
        f"CREATE SHARDING by_id USING MOD {len(shards)} AS n ON s{{n}};\n"
        f"CREATE SHARDING by_name USING HASH(crc32) SLOTS {len(shards)} ({slots});\n{tables}"
        "CREATE VIEW big AS SELECT id, k FROM t WHERE id > 30;\n"
    )


def part(name: str, all_: Sequence[Row], catalog: Catalog, shard: int, shards: int) -> list[Row]:
    """The rows of a table on one shard."""
    if name == "r":
        return list(all_)
    if name == "w":
        return list(all_[shard::shards])
    sharding = catalog.sharding("by_name" if name == "p" else "by_id")
    assert sharding is not None
    key = 1 if name == "u" else 0
    return [row for row in all_ if sharding.function.slot((row[key],)) == shard]
