"""Columns of every type of MySQL through the merge: what one server gives, or an error that says why."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pytest

from shardwise.errors import DataError, NotSupportedError, OperationalError, Unplannable
from shardwise.executor.served.mysql import MySQL
from shardwise.executor.served.mysql_values import is_told_twice
from shardwise.executor.served.product import StreamColumn
from tests.servers.served import Served, served

_COLUMNS = """
    id BIGINT PRIMARY KEY, e ENUM('small','medium','large'), s SET('z','y','x'), n TINYINT UNSIGNED, b BIT(9),
    tt TIME(2), y YEAR, f FLOAT, dd DOUBLE(12,3), d DATE, ts TIMESTAMP(3) NULL, j JSON, c CHAR(6),
    uu UUID, i6 INET6, bi BINARY(4), bl BLOB, u BIGINT UNSIGNED, big DECIMAL(40,10),
    l VARCHAR(10) COLLATE latin1_swedish_ci
"""
_ROWS = [
    (
        i,
        (None, "small", "large", "medium")[i % 4],
        "x,y" if i % 2 else "z",
        i * 20,
        (i * 43 % 512).to_bytes(2, "big"),
        f"{'-' if i % 3 == 1 else ''}{i * 60}:{i:02}:00.25",
        2000 + i,
        1.1 * i,
        2.25 * i,
        ("2024-02-29", "0000-00-00", "1000-01-01", None)[i % 4],
        None if i == 3 else f"2024-05-{i + 1:02} 10:00:00.123",
        f'{{"a": {i}}}',
        f"c{i}" if i % 2 else "",
        None if i == 7 else f"{i % 5:08x}-0000-{1 + i % 4}000-8000-0000000000{99 - i}",
        f"::{i}" if i % 2 else f"::ffff:10.0.0.{i}",
        bytes((i, 0)),
        None if i == 5 else bytes(range(i)) + b"\xff",
        (1 << 64) - 1 - i,
        f"{i}.0000000001",
        "é" if i % 2 else "z",
    )
    for i in range(12)
]


@pytest.fixture(scope="module")
def world() -> Iterator[Served]:
    with served("mysql", {"t": (_COLUMNS, _ROWS)}) as found:
        yield found


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM t",
        "SELECT * FROM t ORDER BY id",
        "SELECT e, count(*) FROM t GROUP BY e ORDER BY e",
        "SELECT DISTINCT e FROM t ORDER BY 1",
        "SELECT id, e FROM t ORDER BY e DESC, id LIMIT 3",
        "SELECT e AS size, count(*) AS n FROM t GROUP BY e ORDER BY size",
        "SELECT q.e FROM (SELECT e, id FROM t ORDER BY id LIMIT 7) AS q ORDER BY q.e, q.id",
        "SELECT max(e), min(e) FROM t",
        "SELECT e + 0, count(*) FROM t GROUP BY e + 0 ORDER BY 1",
        "SELECT id FROM t WHERE e > 1 ORDER BY id",
        "SELECT a.id, o.id FROM t AS a JOIN t AS o ON a.e = o.e AND a.id < o.id ORDER BY 1, 2",
        "SELECT id, row_number() OVER (ORDER BY e, id) FROM t",
        "SELECT group_concat(e ORDER BY e) FROM t",
        "SELECT e FROM t UNION SELECT e FROM t ORDER BY 1",
        "SELECT s, count(*) FROM t GROUP BY s ORDER BY s",
        "SELECT concat(s, '!'), upper(e) FROM t ORDER BY s, id",
        "SELECT b, count(*) FROM t GROUP BY b ORDER BY b",
        "SELECT id, b, l FROM t ORDER BY b DESC LIMIT 5",
        "SELECT a.id FROM t AS a JOIN t AS o ON a.b = o.b AND a.id = o.id ORDER BY 1",
        "SELECT tt FROM t ORDER BY tt DESC LIMIT 4",
        "SELECT max(tt), min(y), avg(dd), max(d), min(ts) FROM t",
        "SELECT dd / 3, f FROM t ORDER BY dd DESC LIMIT 5",
        "SELECT f, count(*) FROM t GROUP BY f ORDER BY f",
        "SELECT sum(u), sum(big), max(u), avg(big) FROM t",
        "SELECT d, count(*) FROM t GROUP BY d ORDER BY d",
        "SELECT j, c, bi, bl FROM t ORDER BY id",
        "SELECT c, count(*) FROM t GROUP BY c ORDER BY c",
        "SELECT l, count(*) FROM t GROUP BY l ORDER BY l",
        "SELECT bl, count(*) FROM t GROUP BY bl ORDER BY bl",
        "SELECT id, uu FROM t ORDER BY uu",
        "SELECT min(uu), max(uu), min(i6), max(i6) FROM t",
        "SELECT a.uu, o.id FROM t AS a JOIN t AS o ON a.uu < o.uu ORDER BY 1, 2 LIMIT 30",
        "SELECT coalesce(i6, i6), count(*) FROM t GROUP BY i6 ORDER BY i6",
        "SELECT json_value(j, '$.a') FROM t ORDER BY id",
    ],
)
def test_as_one_server(world: Served, sql: str) -> None:
    (names, rows), (found_names, found) = world.expected(sql), world.found(sql)
    assert found_names == names
    if "ORDER BY" not in sql or "OVER" in sql:
        rows, found = sorted(rows, key=repr), sorted(found, key=repr)
    assert [list(map(repr, row)) for row in found] == [list(map(repr, row)) for row in rows]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT a.id FROM t AS a JOIN t AS o ON a.e < o.e",
        "SELECT a.id FROM t AS a JOIN t AS o ON a.e = o.id",
        "SELECT a.id, a.e + o.e FROM t AS a JOIN t AS o ON a.id = o.id + 1",
        "SELECT a.id FROM t AS a JOIN t AS o ON a.s > o.s",
    ],
)
def test_what_takes_members_for_numbers_in_the_merge(world: Served, sql: str) -> None:
    with pytest.raises(Unplannable, match="text"):
        world.found(sql)


def test_a_moment_that_clocks_show_twice_is_not_moved() -> None:
    columns = (StreamColumn("id", "BIGINT"), StreamColumn("ts", "TIMESTAMP"))
    batch = pa.RecordBatch.from_pydict({"id": ["1", "2"], "ts": ["2024-10-27 02:30:00", None]})
    with pytest.raises(DataError, match=r'"ts".* twice'):
        MySQL().check_moments(columns, [batch], "Europe/Berlin")
    MySQL().check_moments(columns, [batch], "UTC")


def test_a_day_that_there_is_not_is_not_moved(world: Served) -> None:
    def check(*days: str | None) -> None:
        batch = pa.RecordBatch.from_pydict({"d": [day and f"{day} 10:00:00" for day in days]})
        MySQL().check_moments((StreamColumn("d", "DATETIME"),), [batch], "UTC")

    check("2024-02-29", "0000-00-00", "2024-00-15", "2024-02-00", None)
    with pytest.raises(DataError, match=r'"d" holds 2023-02-29, a day that there is not'):
        check("2023-02-29")
    days = "SELECT id, str_to_date(concat('2024-02-', 28 + id % 3), '%Y-%m-%d') AS day FROM t"
    with pytest.raises(DataError, match="2024-02-30, a day that there is not"):
        world.found(f"SELECT q.day FROM ({days}) AS q JOIN t AS o ON o.id = q.id + 1")


def test_which_moments_clocks_show_twice() -> None:
    found = ["2024-10-27 02:30:00.5", None, "0000-00-00 00:00:00"]
    assert is_told_twice(pa.array(found), "Europe/Berlin")
    assert not is_told_twice(pa.array(found[1:]), "Europe/Berlin")
    assert not is_told_twice(pa.array(found), "+02:00")


_SHOWN = """
    id BIGINT PRIMARY KEY, a DOUBLE(10,2), b FLOAT(7,3), c DOUBLE(10,2) UNSIGNED, d INT(5) ZEROFILL,
    e DECIMAL(8,2) ZEROFILL, f FLOAT, g FLOAT ZEROFILL, h DOUBLE(10,3) ZEROFILL, y YEAR, tt TIME(3),
    dt DATETIME(2), t1 TINYINT(1), big BIGINT ZEROFILL, r REAL(9,4), z DOUBLE(40,30), nc NATIONAL CHAR(4),
    i6 INET6, bi BIT(5)
"""
_OF_SHOWN = ["a", "b", "c", "d", "e", "f", "g", "h", "y", "tt", "dt", "t1", "big", "r", "z", "nc", "i6", "bi"]
_SHOWN_ROWS = [
    (
        *(i, 0.1 * i, 1.5 * i, 0.1 * i, 7 * i, 1.5 * i, 1.1 * i, 1.25 * i, 0.5 * i, 2000 + i),
        *(
            f"10:00:{i:02}.5",
            f"2024-01-{i + 1:02} 00:00:00.5",
            i,
            12 * i,
            1.5 * i,
            0.1 * i,
            "ab",
            f"::{i}",
            bytes([i]),
        ),
    )
    for i in range(10)
] + [(10, *(None for _ in _OF_SHOWN))]


@pytest.fixture(scope="module")
def shown() -> Iterator[Served]:
    with served("mysql", {"t": (_SHOWN, _SHOWN_ROWS)}) as found:
        yield found


@pytest.mark.parametrize("column", _OF_SHOWN)
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT concat(o.{c}), length(o.{c}) FROM t JOIN t AS o ON o.id = t.id + 1 ORDER BY t.id",
        "SELECT coalesce(o.{c}, 'none') FROM t JOIN t AS o ON o.id = t.id + 1 ORDER BY t.id",
        "SELECT o.{c}, greatest(o.{c}, t.{c}) FROM t JOIN t AS o ON o.id = t.id + 1 ORDER BY t.id",
        "SELECT {c}, concat({c}), count(*) FROM t GROUP BY {c} ORDER BY {c}, 2",
        "SELECT concat(q.{c}) FROM (SELECT {c} FROM t ORDER BY id LIMIT 6) AS q ORDER BY 1",
        "SELECT group_concat({c} ORDER BY id) FROM t",
        "SELECT if(t.id > 3, t.{c}, 'z') FROM t JOIN t AS o ON o.id = t.id + 1 ORDER BY t.id",
        "SELECT json_array(t.{c}) FROM t JOIN t AS o ON o.id = t.id + 1 ORDER BY t.id",
        "SELECT concat(min({c}), max({c})) FROM t",
        "SELECT min({c}), max({c}) FROM t",
        "SELECT o.id, concat(coalesce(t.{c}, t.{c})) FROM t JOIN t AS o ON o.id = t.id + 1 ORDER BY t.id",
        "SELECT concat(q.x) FROM (SELECT coalesce({c}, {c}) AS x FROM t ORDER BY id LIMIT 6) AS q ORDER BY 1",
        "SELECT concat((SELECT {c} FROM t WHERE id = 3)) FROM t LIMIT 2",
        "SELECT concat((SELECT max({c}) FROM t)) FROM t LIMIT 2",
        "SELECT concat((SELECT max(x) FROM (SELECT {c} AS x FROM t) AS q)) FROM t WHERE id < 3",
        "SELECT id, {c} FROM t ORDER BY {c} DESC, id",
        "SELECT concat({c}) FROM t UNION SELECT {c} FROM t ORDER BY 1",
    ],
)
def test_texts_of_columns_that_are_shown_otherwise(shown: Served, sql: str, column: str) -> None:
    """A DOUBLE(10,2) is 0.10 as a text, an INT(5) ZEROFILL 00007, on the shards and where rows meet."""
    asked = sql.format(c=column)
    assert repr(shown.found(asked)) == repr(shown.expected(asked))


@pytest.mark.parametrize("column", ["a", "c", "e", "h", "r", "d", "big"])
def test_sums_are_shown_as_their_columns_are(shown: Served, column: str) -> None:
    """Adding up changes last digits, which a sum of such a column does not show."""
    sql = f"SELECT concat(sum({column})), concat(avg({column})) FROM t"
    assert shown.found(sql) == shown.expected(sql)


def test_what_is_computed_of_such_columns_keeps_its_digits(shown: Served) -> None:
    """0.1 / 3 is shown with six decimals, and has more: a text of it would have other ones in the merge."""
    thirds = "FROM (SELECT id, a / 3 AS x FROM t) AS q JOIN t AS o ON o.id = q.id + 1"
    (exact,) = shown.found(f"SELECT sum(q.x * 1e6) {thirds}")[1][0]
    assert exact == pytest.approx(1_500_000, abs=1e-6)
    for text in ("concat(q.x)", "cast(q.x AS CHAR)", "coalesce(q.x, 'none')", "q.x LIKE o.id"):
        with pytest.raises(NotSupportedError, match='"x" is computed of a DOUBLE'):
            shown.found(f"SELECT {text} {thirds}")


@pytest.mark.parametrize(
    ("said", "there"),
    [
        ("DOUBLE", "DOUBLE(10,2)"),
        ("DOUBLE(10,2)", "DOUBLE"),
        ("DOUBLE(10,3)", "DOUBLE(10,2)"),
        ("FLOAT", "FLOAT(7,3)"),
        ("INT UNSIGNED", "INT(5) ZEROFILL"),
        ("BIGINT UNSIGNED", "INT ZEROFILL"),
        ("DECIMAL(8,2) UNSIGNED", "DECIMAL(8,2) ZEROFILL"),
    ],
)
def test_the_catalog_has_to_say_how_a_number_is_shown(said: str, there: str) -> None:
    """Rows that were sent ahead had lost the zeros of their texts: 4.00 was 4."""
    columns = "id BIGINT PRIMARY KEY, d {}"
    rows = [(i, i) for i in range(4)]
    odd = {shard: {"t": columns.format(there)} for shard in (0, 1)}
    with (
        served("mysql", {"t": (columns.format(said), rows)}, odd=odd) as world,
        pytest.raises(OperationalError, match=r'column "d".* on shard'),
    ):
        world.found("SELECT concat(d) FROM t")


def test_shards_that_show_a_number_otherwise() -> None:
    columns = "id BIGINT PRIMARY KEY, d {}"
    rows = [(i, i) for i in range(4)]
    for here, there in (("INT(5) ZEROFILL", "INT(7) ZEROFILL"), ("DOUBLE(10,2)", "DOUBLE(10,3)")):
        tables, odd = {"t": (columns.format(here), rows)}, {1: {"t": columns.format(there)}}
        with served("mysql", tables, odd=odd) as world, pytest.raises(OperationalError, match="on shard"):
            world.found("SELECT d, count(*) FROM t GROUP BY d")
