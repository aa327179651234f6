"""Rows and keys that run first, in the duckdb dialect, sent to sources of other products.

Each type with its extreme values, read, compared and grouped by, in each kind of join, against one DuckDB.
Values that stay are asked for by rows and by keys, by turns.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID

import pytest

from shardwise.planner import firsts
from tests.oracle.cluster import Alone, By, Cluster, Files, Table, mod
from tests.oracle.compare import matching
from tests.oracle.measured import statistics

Rows = list[tuple[Any, ...]]
TEXTS = [
    *("a", "A", "a ", " a", "á", "a\u0301", "", "it's", '"', "a\\", "\\'", "%s", ":p1", "$1", "ß", "ss"),
    *(
        "x\ty\nz",
        "\x01\x7f",
        "\U0001f600",
        "\uffff",
        "null",
        "1",
        "01",
        "[1,2]",
        "2024-01-01",
        "x" * 290,
        "x" * 290 + "a",
        "x" * 290 + "A",
    ),
]
SENT: dict[str, tuple[str, list[Any]]] = {
    "tiny": ("TINYINT", [-128, 127, 0]),
    "small": ("SMALLINT", [-32768, 32767]),
    "i": ("INTEGER", [-(2**31), 2**31 - 1, 7]),
    "big": ("BIGINT", [-(2**63), 2**63 - 1, 2**53 + 1, 2**53, -1]),
    "uint": ("UINTEGER", [2**32 - 1, 2**31, 0]),
    "d": ("DECIMAL(9,2)", [Decimal("9999999.99"), Decimal("-0.01"), Decimal("0.10"), Decimal(0)]),
    "d18": ("DECIMAL(18,6)", [Decimal("999999999999.999999"), Decimal("-0.000001"), Decimal("1.5")]),
    "f": ("DOUBLE", [1.7976931348623157e308, 5e-324, 0.1, 1 / 3, -2.5, 1e15, 0.0, 123456789.123456789]),
    "b": ("BOOLEAN", [True, False]),
    "day": ("DATE", [date(1, 1, 2), date(9999, 12, 30), date(2024, 2, 29), date(1969, 12, 31)]),
    "seen": ("TIMESTAMP", [datetime(2024, 3, 31, 2, 30), datetime(9999, 12, 30, 23, 59, 59, 999999)]),
    "s": ("VARCHAR", TEXTS),
}
"""Types that every product takes."""
KEPT: dict[str, tuple[str, list[Any]]] = {
    "ubig": ("UBIGINT", [2**64 - 1, 2**63, 0]),
    "d38": ("DECIMAL(38,10)", [Decimal("1" * 28 + "." + "2" * 10), Decimal("-0.0000000001")]),
    "u": ("UUID", [UUID(int=0), UUID(int=2**128 - 1)]),
    "raw": ("BLOB", [b"\x00\xff", b"", b"a"]),
    "doc": ("JSON", ['{"a": 1}', "[]"]),
    "tz": ("TIMESTAMPTZ", [datetime(2024, 3, 10, 9, 30, tzinfo=UTC), datetime(2024, 1, 1, tzinfo=UTC)]),
}
"""Types that stay: the answer is right without."""
NOT_HELD = {"sqlite": ("ubig",), "mariadb": ("u",), "servers": ("ubig", "u")}
BY_ONE: dict[str, tuple[str, list[Any], Any]] = {
    "nan": ("DOUBLE", [math.nan, 1.0, 2.0], 1.0),
    "infinite": ("DOUBLE", [math.inf, -math.inf, 1.0], 1.0),
    "zero": ("DOUBLE", [-0.0, 1.0], 0.0),
    "nul": ("VARCHAR", ["a\0b", "a", "b"], "a"),
    "forever": ("DATE", [date(9999, 12, 31), date(2024, 1, 1)], date(2024, 1, 1)),
    "first": ("TIMESTAMP", [datetime(1, 1, 1), datetime(2024, 1, 1)], datetime(2024, 1, 1)),
    "clock": ("TIME", [time(0), time(23, 59, 59, 999999)], None),
    "en": ("ENUM('small', 'large')", ["small", "large"], None),
    "huge": ("HUGEINT", [2**126, -1], None),
}
"""Values that not every product holds: in a table on a DuckDB file. The last one all may hold."""
WORLDS: list[tuple[Files, int]] = [("sqlite", 3), ("servers", 4)]
WITH_A_FILE: list[tuple[Files, int]] = [("mixed", 2), ("servers", 3)]
"""Whose last shard is a DuckDB file."""
STATEMENTS = (
    "SELECT m.id, f.id, f.{c} FROM {many} m JOIN {few} f ON m.j = f.j",
    "SELECT m.id, f.{c}, coalesce(f.{c}, m.{c}) FROM {many} m LEFT JOIN {few} f ON m.j = f.j AND f.id < 4",
    "SELECT m.id, f.id, f.{c} FROM {few} f RIGHT JOIN {many} m ON m.j = f.j AND m.id > 3",
    "SELECT f.{c}, f.j, count(*), min(m.id) FROM {many} m JOIN {few} f ON m.j = f.j GROUP BY ALL",
    "SELECT f.j, count(f.{c}), max(f.{c}) FROM {many} m LEFT JOIN {few} f ON m.j = f.j GROUP BY f.j",
    "SELECT DISTINCT f.{c} FROM {many} m JOIN {few} f ON m.j = f.j",
    "SELECT m.id, f.{c} FROM {many} m JOIN {few} f ON m.j = f.j ORDER BY f.{c}, m.id, f.id LIMIT 5",
)
COMPARING = (
    "SELECT m.id, f.id FROM {many} m JOIN {few} f ON f.{c} = m.{c}",
    "SELECT m.id, f.id FROM {many} m JOIN {few} f ON f.{c} = m.{c} AND f.j = m.j",
    "SELECT m.id FROM {many} m SEMI JOIN {few} f ON f.{c} = m.{c} AND f.j = m.j",
    "SELECT m.id FROM {many} m WHERE NOT EXISTS (SELECT 1 FROM {few} f WHERE f.{c} = m.{c} AND f.j = m.j)",
    "SELECT m.id, f.id FROM {many} m LEFT JOIN {few} f ON f.{c} = m.{c} AND f.j = m.j",
    "SELECT m.id, f.id FROM {many} m JOIN {few} f ON m.j = f.j AND f.{c} < m.{c}",
    "SELECT m.id, f.id FROM {many} m JOIN {few} f ON m.j = f.j AND f.{c} IS DISTINCT FROM m.{c}",
    "SELECT m.{c}, count(*) FROM {many} m JOIN {few} f ON f.{c} = m.{c} GROUP BY ALL",
    # Rows compare NULL with NULL as equal: of j both 97 and 99 have none.
    "SELECT m.id, f.id, m.{c} FROM {many} m JOIN {few} f ON (f.j, f.id + 2) = (m.j, m.id)",
)
FORCES = (("broadcast",), ("keys",))


def rows_of(values: Sequence[Any]) -> tuple[Rows, Rows]:
    """Many rows and few: with duplicates, and with NULLs in each column but the id."""
    many = [(n, n % 7, value) for n, value in enumerate([*values, *values])]
    few = [(n, n % 7, value) for n, value in enumerate(values)]
    return [*many, (99, None, None), (98, 7, values[0])], [*few, (97, None, values[0]), (96, 3, None)]


class Asked(NamedTuple):
    """The columns' tables over shards, and in one DuckDB."""

    cluster: Cluster

    def ask(self, sql: str, force: tuple[str, ...]) -> int:
        """Asks both; how many rows and keys were sent."""
        expected = self.cluster.whole().execute(sql).fetchall()
        with self.cluster.session() as con, con.cursor() as cursor:
            cursor.execute(sql, force=force)
            found = [tuple(row) for row in cursor.fetchall()]
            assert matching(shown(found), shown(expected)) == ([], []), (sql, force)
            sent: int = cursor.stats.rows_sent
        return sent


def shown(rows: Sequence[Sequence[Any]]) -> Rows:
    """Values with their types, to the last bit."""
    return [tuple(f"{type(value).__name__} {value!r}" for value in row) for row in rows]


def built(folder: Path, files: Files, shards: int) -> Cluster:
    kept = {name: of for name, of in KEPT.items() if name not in NOT_HELD.get(files, ())}
    columns = SENT | kept
    tables = []
    for name, (type_, values) in columns.items():
        for table, rows in zip((f"many_{name}", f"few_{name}"), rows_of(values), strict=True):
            tables.append(Table(table, f"id INTEGER, j INTEGER, {name} {type_}", By("by_id", "id"), rows))
    cluster = Cluster.build(folder, tables, [mod("by_id")], shards=shards, files=files)
    measure(cluster, tables)
    return cluster


def measure(cluster: Cluster, tables: Sequence[Table]) -> None:
    told = (statistics(table.name, table.columns, table.rows) + "\n" for table in tables)
    cluster.catalog_path.with_name("cluster.lock.sql").write_text("".join(told), encoding="utf-8")


@pytest.fixture(scope="module", params=WORLDS, ids=lambda world: f"{world[0]}-{world[1]}")
def world(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asked]:
    files, shards = request.param
    cluster = built(tmp_path_factory.mktemp("sent"), files, shards)
    yield Asked(cluster)
    cluster.close()


@pytest.mark.parametrize("column", SENT)
def test_values_are_the_same_again(world: Asked, column: str) -> None:
    names = {"c": column, "many": f"many_{column}", "few": f"few_{column}"}
    for statement in STATEMENTS:
        assert world.ask(statement.format(**names), ("broadcast",)) > 0, statement
    for statement in COMPARING:
        for force in FORCES:
            world.ask(statement.format(**names), force)


@pytest.mark.parametrize("column", KEPT)
def test_what_has_no_form_there_stays(world: Asked, column: str) -> None:
    if f"many_{column} " not in world.cluster.catalog_path.read_text():
        pytest.skip("not on these servers")
    names = {"c": column, "many": f"many_{column}", "few": f"few_{column}"}
    for number, statement in enumerate(STATEMENTS + COMPARING, list(KEPT).index(column)):
        world.ask(statement.format(**names), FORCES[number % 2])


@pytest.fixture(scope="module", params=WITH_A_FILE, ids=lambda world: f"{world[0]}-{world[1]}")
def by_one(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asked]:
    files, shards = request.param
    tables = []
    for name, (type_, values, held) in BY_ONE.items():
        _, few = rows_of(values)
        tables.append(Table(f"few_{name}", f"id INTEGER, j INTEGER, {name} {type_}", Alone(), few))
        columns = "id INTEGER, j INTEGER" + (f", {name} {type_}" if held is not None else "")
        many = [(n, n % 4, *((held,) if held is not None else ())) for n in range(12)]
        tables.append(Table(f"many_{name}", columns, By("by_id", "id"), many))
    cluster = Cluster.build(
        tmp_path_factory.mktemp("one"), tables, [mod("by_id")], shards=shards, files=files
    )
    measure(cluster, tables)
    yield Asked(cluster)
    cluster.close()


@pytest.mark.parametrize("column", BY_ONE)
def test_values_that_not_every_product_holds(by_one: Asked, column: str) -> None:
    names = {"c": column, "many": f"many_{column}", "few": f"few_{column}"}
    has_column = BY_ONE[column][2] is not None
    asked = (*STATEMENTS, *COMPARING) if has_column else STATEMENTS
    for number, statement in enumerate(asked, list(BY_ONE).index(column)):
        if has_column or "m.{c}" not in statement:
            by_one.ask(statement.format(**names), FORCES[number % 2])


SIDES = {"no rows": "f.id < 0", "one row": "f.id = 2", "NULL alone": "f.j IS NULL", "all": "f.id >= 0"}


@pytest.mark.parametrize("side", SIDES)
def test_sides_of_any_size(world: Asked, side: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of no rows, of one, and of more than may come ahead."""
    if side == "all":
        monkeypatch.setattr(firsts, "ROWS_MAX", 3)
        monkeypatch.setattr(firsts, "_ROWS_MAX", {**firsts._ROWS_MAX, "rows": 3})
    names = {"c": "s", "many": "many_s", "few": f"(SELECT * FROM few_s f WHERE {SIDES[side]})"}
    for statement in STATEMENTS + COMPARING:
        world.ask(statement.format(**names), ("broadcast",))


BY_SHARD_KEY = (
    "SELECT m.id, f.id FROM many_s m JOIN few_s f ON m.id = f.j",
    "SELECT m.id FROM many_s m SEMI JOIN few_s f ON m.id = f.j",
    "SELECT f.id, m.s FROM few_s f LEFT JOIN many_s m ON m.id = f.j",
    "SELECT m.s, count(*) FROM many_s m JOIN few_s f ON m.id = f.j GROUP BY m.s",
)
ROWS_BY_SHARD_KEY = (
    "SELECT m.id, f.id, f.s FROM many_s m JOIN few_s f ON m.id = f.j",
    "SELECT m.id FROM many_s m SEMI JOIN few_s f ON m.id = f.j AND f.id >= 0",
    "SELECT m.id, f.s FROM many_s m LEFT JOIN few_s f ON m.id = f.j",
    "SELECT m.id, f.s FROM few_s f RIGHT JOIN many_s m ON m.id = f.j AND f.id >= 0",
    "SELECT m.id FROM many_s m ANTI JOIN few_s f ON m.id = f.j AND f.id >= 0",
    "SELECT m.s, f.s, count(*) FROM many_s m JOIN few_s f ON m.id = f.j GROUP BY ALL",
)


@pytest.mark.parametrize("sql", BY_SHARD_KEY)
def test_each_shard_is_sent_its_own_keys(world: Asked, sql: str) -> None:
    """0 to 6 are the values of `j`, and the shard key has all of them."""
    assert world.ask(sql, ("keys",)) == 7
    assert world.ask(sql.replace("few_s f", "(SELECT * FROM few_s WHERE j = 5) f"), ("keys",)) == 1


@pytest.mark.parametrize("sql", ROWS_BY_SHARD_KEY)
def test_each_shard_is_sent_its_own_rows(world: Asked, sql: str) -> None:
    assert world.ask(sql, ("broadcast",)) == len([j for _, j, _ in rows_of(TEXTS)[1] if j is not None])
    world.ask(sql.replace("few_s f", "(SELECT * FROM few_s WHERE j = 5) f"), ("broadcast",))
