"""Columns of PostgreSQL's types through the merge: what one server gives."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from shardwise.errors import DataError
from tests.servers.served import Served, served

_COLUMNS = """
    id BIGINT PRIMARY KEY, n NUMERIC, n2 NUMERIC(12,3), r REAL, f DOUBLE PRECISION, ok BOOLEAN, c CHAR(5),
    v VARCHAR(20) COLLATE "C", t TEXT, b BYTEA, d DATE, tm TIME, ts TIMESTAMP, tz TIMESTAMPTZ, iv INTERVAL,
    u UUID, j JSON, jb JSONB, a INT[], ta TEXT[], ip INET, rg INT4RANGE, si SMALLINT, bt BIT(5), mo MONEY
"""
_NUMBERS = ("NaN", "Infinity", "-1.50", "123456789012345678901234567890.123456789", None)
_ROWS = [
    (
        i,
        _NUMBERS[i % 5],
        None if i == 4 else f"{i}.125",
        ("NaN", "Infinity", 0.1, 16777216, None)[i % 5],
        (0.1, 1 / 3, "-Infinity", 1e300, None)[i % 5],
        (True, False, None)[i % 3],
        f"c{i}",
        ("b", "B", "a", "é", "")[i % 5],
        f'q"\\{{}},\n{i}' if i % 2 else None,
        bytes(range(i)),
        ("2024-02-29", "infinity", "0044-03-15 BC", None)[i % 4] if i > 20 else "2024-02-29",
        f"10:{i:02}:00.5",
        f"2024-01-{i + 1:02} 10:00:00.123456",
        f"2024-07-{i + 1:02} 10:00:00+02",
        f"{i} days {i} hours",
        f"123e4567-e89b-12d3-a456-4266554400{i:02}",
        f'{{"a":  {i}, "b": [1.50]}}',
        f'{{"b": {i}, "a": null}}',
        [i, None, 3] if i % 2 else None,
        ["x,y", 'q"', None, ""],
        f"10.0.0.{i}/24",
        f"[{i},{i + 5})",
        i - 5,
        f"{i:05b}",
        i * 1.5,
    )
    for i in range(12)
]


@pytest.fixture(scope="module")
def world() -> Iterator[Served]:
    with served("postgres", {"t": (_COLUMNS, _ROWS)}) as found:
        yield found


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM t",
        "SELECT * FROM t ORDER BY id",
        "SELECT n, count(*) FROM t GROUP BY n ORDER BY n",
        "SELECT sum(n2), avg(n2), max(n), min(n) FROM t",
        "SELECT r, f FROM t ORDER BY f DESC NULLS LAST, id",
        "SELECT ok, count(*) FROM t GROUP BY ok ORDER BY ok",
        "SELECT c, length(c), c || 'x' FROM t ORDER BY c DESC LIMIT 4",
        "SELECT v, count(*) FROM t GROUP BY v ORDER BY v",
        "SELECT a.id, o.id FROM t AS a JOIN t AS o ON a.v < o.v ORDER BY 1, 2 LIMIT 9",
        "SELECT max(v), min(v), max(t) FROM t",
        "SELECT b, md5(b) FROM t ORDER BY b DESC LIMIT 3",
        "SELECT d, tm, ts, tz FROM t ORDER BY tz DESC LIMIT 5",
        "SELECT max(tz), min(ts), max(tm) FROM t",
        "SELECT sum(iv), max(iv) FROM t",
        "SELECT u, jb -> 'b', j ->> 'a' FROM t ORDER BY u LIMIT 5",
        "SELECT a.id FROM t AS a JOIN t AS o ON a.jb = o.jb ORDER BY 1",
        "SELECT a, count(*) FROM t GROUP BY a ORDER BY a",
        "SELECT array_agg(id ORDER BY id), string_agg(t, '|' ORDER BY id) FROM t",
        "SELECT a.a || o.a FROM t AS a JOIN t AS o ON a.id = o.id ORDER BY a.id",
        "SELECT ta, ip, rg, si, bt, mo FROM t ORDER BY id LIMIT 5",
        "SELECT max(ip), sum(mo), sum(si) FROM t",
        "SELECT a.id FROM t AS a JOIN t AS o ON a.rg && o.rg AND a.id < o.id ORDER BY 1, o.id LIMIT 7",
        "SELECT t.name FROM (SELECT id AS k, v AS name FROM t) AS t ORDER BY t.name, t.k",
        "SELECT DISTINCT ON (v) v, id FROM t ORDER BY v, id DESC",
        "SELECT v, id FROM t GROUP BY id ORDER BY id",
        "SELECT o.v, count(a.id) FROM t AS a RIGHT JOIN t AS o ON a.v < o.v GROUP BY o.id ORDER BY o.t, o.id",
        "SELECT upper(v) AS w, id AS k, sum(si) FROM t GROUP BY k HAVING max(f) > 0 OR c > '' ORDER BY k",
        "SELECT NULL AS nothing, 'x' AS word, id FROM t ORDER BY id LIMIT 2",
    ],
)
def test_as_one_server(world: Served, sql: str) -> None:
    (names, rows), (found_names, found) = world.expected(sql), world.found(sql)
    assert found_names == names
    if "ORDER BY" not in sql:
        rows, found = sorted(rows, key=repr), sorted(found, key=repr)
    assert [list(map(repr, row)) for row in found] == [list(map(repr, row)) for row in rows]


@pytest.mark.parametrize("suffix", ["", " WHERE id = 3"])
def test_as_arrow(world: Served, suffix: str) -> None:
    """What Arrow has a type for is the value that a row has."""
    sql = f"SELECT id, n2, r, f, ok, d, tm, ts, tz, b, t, si FROM t{suffix} ORDER BY id"
    with world.cluster.connect().execute(sql) as cursor:
        table = cursor.to_arrow_table()
    assert str(table.schema.field("tm").type) == "time64[us]"
    found = [tuple(row.values()) for row in table.to_pylist()]
    rows = [tuple(row) for row in world.found(sql)[1]]
    assert [(*row[:2], *row[4:]) for row in found] == [(*row[:2], *row[4:]) for row in rows]


def test_what_arrow_has_no_value_for_says_what_to_do(world: Served) -> None:
    with world.cluster.connect() as con, pytest.raises(DataError) as caught:
        con.execute("SELECT id, tm, '24:00'::time AS late FROM t").to_arrow_table()
    assert "CAST(late AS text)" in str(caught.value.hint)
