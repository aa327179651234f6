"""The merge on a server of the dialect gives what one such server with all rows gives."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from decimal import Decimal

import pyarrow as pa
import pytest

from shardwise.errors import Error, SQLSyntaxError, UnknownName
from tests.servers.served import Served, served

_NAMES = ("ann", "Ann", "bob", "Bob", "é", "e", "x\\y", 'a"b', "line\nbreak", "")
_ROWS = [
    (
        i,
        None if i % 11 == 10 else _NAMES[i % len(_NAMES)],
        None if i % 13 == 5 else Decimal(i) / 4,
        i / 8,
        None if i % 5 == 3 else bytes((i, 0, 255)),
        datetime.datetime(2024, 1, 1 + i % 28, i % 24, 5, 0, 1000 * i),
    )
    for i in range(60)
]
_COLUMNS = {
    "mysql": "id BIGINT PRIMARY KEY, name VARCHAR(40) COLLATE utf8mb4_general_ci, x DECIMAL(10,2), f FLOAT, "
    "b VARBINARY(10), d DATETIME(6)",
    "postgres": "id BIGINT PRIMARY KEY, name VARCHAR(40), x DECIMAL(10,2), f REAL, b BYTEA, d TIMESTAMP",
}
_BOTH = (
    "SELECT id, name, avg(x)/3 FROM t GROUP BY id, name ORDER BY id LIMIT 7",
    "SELECT count(*), count(name), sum(x), avg(x), sum(f), min(d), max(d) FROM t",
    "SELECT * FROM t",
    "SELECT b, x FROM t WHERE id > 10",
    "SELECT a.id, b.id FROM t AS a JOIN t AS b ON a.name = b.name AND a.id < b.id",
    "SELECT a.id FROM t AS a LEFT JOIN t AS b ON a.x = b.x + 1 WHERE b.id IS NULL",
    "SELECT id, x / 7, f * 3 FROM t ORDER BY x DESC, id LIMIT 9",
    "SELECT b, max(f), min(d) FROM t WHERE b IS NOT NULL GROUP BY b ORDER BY b",
    "SELECT id FROM t WHERE x > (SELECT avg(x) FROM t)",
    "SELECT id + 1 FROM t WHERE id = 7",
    "SELECT count(*) FROM t WHERE id = 100 + 3",
    "SELECT sum(x) FROM t WHERE id > 10000",
    "SELECT id, row_number() OVER (ORDER BY x, id) FROM t",
    "WITH w AS (SELECT id % 4 AS g, x FROM t) SELECT g, sum(x) FROM w GROUP BY g ORDER BY g",
    "SELECT id FROM t WHERE id < 4 UNION ALL SELECT id + 100 FROM t WHERE id < 4",
    "SELECT DISTINCT x FROM t WHERE x < 3",
)
_OWN = {
    "mysql": (
        "SELECT max(length(name)), count(*), avg(x)/3 FROM t GROUP BY name ORDER BY 2 DESC, 3 LIMIT 3",
        "SELECT count(DISTINCT name) FROM t",
        "SELECT x, count(*) FROM t WHERE id < 9 GROUP BY x WITH ROLLUP",
        "SELECT b, group_concat(id ORDER BY id SEPARATOR '-') FROM t GROUP BY b",
        "SELECT id DIV 7, 1/3, concat(name, NULL), id || 0 FROM t",
    ),
    "postgres": (
        "SELECT name, count(*), avg(x)/3 FROM t GROUP BY name ORDER BY 2 DESC, 1 LIMIT 3",
        "SELECT count(DISTINCT name) FROM t",
        "SELECT x, count(*) FROM t WHERE id < 9 GROUP BY ROLLUP (x)",
        "SELECT b, string_agg(id::text, '-' ORDER BY id) FROM t GROUP BY b",
        "SELECT array_agg(id ORDER BY id DESC) FROM t",
    ),
}


@pytest.fixture(scope="module", params=("mysql", "postgres"))
def world(request: pytest.FixtureRequest) -> Iterator[Served]:
    with served(request.param, {"t": (_COLUMNS[request.param], _ROWS)}) as found:
        yield found


def _is_ordered(sql: str) -> bool:
    return " ORDER BY " in sql and "OVER" not in sql


def _check(world: Served, sql: str, params: tuple[object, ...] = ()) -> None:
    names, rows = world.expected(sql, params)
    found_names, found = world.found(sql, params)
    assert found_names == names
    if not _is_ordered(sql):
        rows, found = sorted(rows, key=repr), sorted(found, key=repr)
    assert [list(map(repr, row)) for row in found] == [list(map(repr, row)) for row in rows]


@pytest.mark.parametrize("sql", _BOTH)
def test_as_one_server(world: Served, sql: str) -> None:
    _check(world, sql)


@pytest.mark.parametrize("number", range(5))
def test_as_one_server_of_its_own_kind(world: Served, number: int) -> None:
    _check(world, _OWN[world.cluster.catalog.dialect][number])


def test_parameters(world: Served) -> None:
    _check(world, "SELECT id, name FROM t WHERE id = ?", (5,))
    _check(world, "SELECT id FROM t WHERE x > ? AND name = ?", (Decimal("3.5"), "bob"))
    _, found = world.found("SELECT id FROM t WHERE id IN (?) ORDER BY id", ([3, 4, 5],))
    assert found == [(3,), (4,), (5,)]


def test_streams_that_meet(world: Served) -> None:
    _check(world, "SELECT count(*), sum(a.x) FROM t AS a, t AS b, t AS c WHERE a.id <> b.id AND b.x > c.x")


@pytest.mark.parametrize(
    ("sql", "kind", "word"),
    [
        ("SELECT nam FROM t", UnknownName, "nam"),
        ("SELECT id FROM t WHERE t.xx = 1", UnknownName, "xx"),
        ("SELECT id FROM tt", UnknownName, "tt"),
        ("SELECT id FROM t WHERE", SQLSyntaxError, ""),
    ],
)
def test_mistakes_are_found_before_shards_are_asked(
    world: Served, sql: str, kind: type[Error], word: str
) -> None:
    with pytest.raises(kind) as raised:
        world.found(sql)
    assert word in str(raised.value)
    assert raised.value.position is not None
    assert raised.value.shard is None


def test_arrow_has_the_servers_types(world: Served) -> None:
    with world.cluster.connect() as connection, connection.cursor() as cursor:
        cursor.execute("SELECT * FROM t")
        table = cursor.to_arrow_table().sort_by("id")
        cursor.execute("SELECT * FROM t ORDER BY id")
        merged = cursor.to_arrow_table()
        cursor.execute("SELECT * FROM t WHERE id = 7")
        direct = cursor.to_arrow_table()
    types = ["int64", "string", "decimal128(10, 2)", "float", "binary", "timestamp[us]"]
    assert [str(type_) for type_ in table.schema.types] == types
    assert merged.schema.types == table.schema.types == direct.schema.types
    assert table.to_pylist() == merged.to_pylist()
    assert [tuple(row.values()) for row in table.to_pylist()] == _ROWS
    assert direct.to_pylist() == merged.to_pylist()[7:8]


def test_nothing_moved_beyond_a_budget(world: Served) -> None:
    with pytest.raises(Error, match="memory_bytes_max"):
        world.found("SELECT a.id FROM t AS a JOIN t AS b ON a.x = b.x", memory_bytes_max=100)


def test_names_are_those_of_the_text(world: Served) -> None:
    for sql in (
        "SELECT id, (SELECT max(x) FROM t AS o WHERE o.id <> t.id) FROM t WHERE id < 9",
        "WITH w AS (SELECT * FROM t) SELECT id + 1, (SELECT count(*) FROM t) FROM w WHERE id < 3",
        "SELECT count(*), id, id FROM t WHERE id < 3 GROUP BY id",
    ):
        _check(world, sql)


def test_registered_rows_are_shipped_too(world: Served) -> None:
    data = pa.table({"k": [1, 2, 3], "v": ["x", 'q"\\', None], "z": [1.5, None, 0.1]})
    with world.cluster.connect() as connection, connection.cursor() as cursor:
        connection.register("mine", data)
        cursor.execute("SELECT t.id, mine.v, mine.z FROM t JOIN mine ON t.id = mine.k ORDER BY t.id")
        assert cursor.fetchall() == [(1, "x", 1.5), (2, 'q"\\', None), (3, None, 0.1)]


def test_show(world: Served) -> None:
    dialect = world.cluster.catalog.dialect
    name = "`t`" if dialect == "mysql" else '"t"'
    with world.cluster.connect() as connection:

        def shown(sql: str) -> list[tuple[object, ...]]:
            return [tuple(row) for row in connection.execute(sql).fetchall()]

        assert len(shown(f"SHOW ROUTE FOR {name} KEY (5)")) == 1
        assert len(shown(f"SHOW COLUMNS FROM {name}")) == 6
        assert shown(f"SHOW COLUMNS FROM {name} LIKE 'N%'") == shown(f"DESCRIBE {name}")[1:2]
        assert [row[0] for row in shown("SHOW COLUMNS FROM t WHERE column_name IN ('id', 'x')")] == [
            "id",
            "x",
        ]
        assert [row[0] for row in shown(f"SHOW CREATE TABLE {name}")] == ["t"]


def test_nothing_to_ask(world: Served) -> None:
    for sql in (
        "SELECT 1 + 1",
        "SELECT id, name FROM t WHERE id = 1 AND id = 2",
        "SELECT count(*), max(x) FROM t WHERE id = 1 AND id = 2",
    ):
        _check(world, sql)
