"""The sqlite dialect against one SQLite: names, rows, and the Python types of values."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from shardwise.errors import Error, Unplannable
from tests.oracle.compare import matching, same
from tests.oracle.sqlite_world import SQLiteWorld

CASES = [
    line for line in (Path(__file__).parent / "cases" / "sqlite_dialect.sql").read_text().splitlines() if line
]
SHARDS = (1, 2, 3, 7)
# Which row of a group whose members are equal but not the same stands for it is for the order of rows to say.
ANY_OF_EQUALS = (
    "GROUP BY email",
    "DISTINCT email",
    "GROUP BY name COLLATE NOCASE",
    "max(email)",
    "max(name COLLATE NOCASE)",
)


@pytest.fixture(scope="module", params=SHARDS, ids=lambda n: f"{n} shards")
def world(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SQLiteWorld]:
    world = SQLiteWorld(tmp_path_factory.mktemp("sqlite"), request.param)
    yield world
    world.close()


def compare(world: SQLiteWorld, sql: str, params: Any = (), **options: Any) -> None:
    expected = world.one.execute(sql, params)
    wanted = expected.fetchall()
    with world.cluster.connect(**options).execute(sql, params) as cursor:
        found = cursor.fetchall()
        assert [c[0] for c in cursor.description or ()] == [c[0] for c in expected.description]
    if any(part in sql for part in ANY_OF_EQUALS):
        found, wanted = [_folded(row) for row in found], [_folded(row) for row in wanted]
    if is_ordered(sql):
        assert len(found) == len(wanted) and all(map(same, found, wanted)), (found, wanted)  # noqa: PT018
    else:
        assert matching(found, wanted) == ([], [])


def is_ordered(sql: str) -> bool:
    return "ORDER BY" in sql.rpartition(")")[2]


def _folded(row: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(value.casefold() if isinstance(value, str) else value for value in row)


@pytest.mark.parametrize("sql", CASES)
def test_answers_as_one_sqlite_does(world: SQLiteWorld, sql: str) -> None:
    compare(world, sql)


@pytest.mark.parametrize(
    ("sql", "params"),
    [
        ("SELECT id, name FROM t WHERE id = ? AND k IS NOT ?", (7, 99)),
        ("SELECT id FROM t WHERE id = :id OR name = :name", {"id": 3, "name": "a"}),
        ("SELECT ?1, ?, ?1", ("a", 2.5)),
        ("SELECT @a, $b", {"a": b"x", "b": None}),
        ("SELECT typeof(?), typeof(?), typeof(?)", (True, 1.5, b"")),
        ("SELECT id FROM t WHERE id = ?", ("7",)),
        ("SELECT id FROM t WHERE id = ?", (7.0,)),
        ("SELECT id FROM t WHERE name = ?", (5,)),
        ("SELECT name, z FROM p WHERE name = ?", (5,)),
        ("SELECT name, z FROM p WHERE name = ?", ("5",)),
        ("SELECT id FROM t WHERE k > ? ORDER BY id LIMIT ?", (1, 3)),
    ],
)
def test_parameters(world: SQLiteWorld, sql: str, params: Any) -> None:
    compare(world, sql, params)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT nothing FROM t",
        "SELECT * FROM nowhere",
        "SELECT nofunction(1)",
        "SELECT json_extract(name, '$[') FROM t",
        "SELECT sum(id + 9223372036854775000) FROM t",
        "SELECT k FROM t UNION SELECT k, name FROM t",
        "SELECT id FROM t LIMIT 'x'",
        "SELECT abs(-9223372036854775808)",
    ],
)
def test_what_one_sqlite_refuses_is_an_error_here_too(world: SQLiteWorld, sql: str) -> None:
    with pytest.raises(sqlite3.Error):
        world.one.execute(sql).fetchall()
    with pytest.raises(Error):
        world.cluster.connect().execute(sql).fetchall()


@pytest.mark.parametrize(
    ("sql", "params", "said"),
    [
        ("SELECT ?", ("\ud800",), "no valid Unicode"),
        ("SELECT id FROM t WHERE name IN (?)", (["a", "\ud800"],), "no valid Unicode"),
        ("SELECT k::INT FROM t", (), "syntax error"),
        ("SELECT $a::b(c)", {"a": 1}, "syntax error"),
        ("SELECT * FROM information_schema.tables", (), "SHOW TABLES"),
    ],
)
def test_what_is_refused_says_so_in_our_words(world: SQLiteWorld, sql: str, params: Any, said: str) -> None:
    with world.cluster.connect() as con, pytest.raises(Error, match=said):
        con.execute(sql, params)


def test_a_view_and_the_statement_s_moment(world: SQLiteWorld) -> None:
    con = world.cluster.connect()
    assert con.execute("SELECT count(*) FROM big b JOIN t ON t.id = b.id").fetchall() == [(30,)]
    (row,) = con.execute("SELECT DISTINCT CURRENT_TIMESTAMP, date('now'), datetime() FROM t").fetchall()
    assert row[0] == row[2]


@pytest.mark.parametrize("name", ["rowid", "t._rowid_", "oid", '"rowid"'])
def test_row_numbers_are_refused(world: SQLiteWorld, name: str) -> None:
    with pytest.raises(Unplannable, match="no meaning over shards"):
        world.cluster.connect().execute(f"SELECT {name} FROM t")


@pytest.mark.parametrize("where", ["", " WHERE id = 7"])
def test_hidden_columns_beside_a_star(world: SQLiteWorld, where: str) -> None:
    with world.cluster.connect().execute(f"SELECT *, _table, _shard FROM t{where} ORDER BY id") as cursor:
        names = [column[0] for column in cursor.description or ()]
        rows = cursor.fetchall()
    wanted = world.one.execute(f"SELECT * FROM t{where} ORDER BY id")
    assert names == [*(column[0] for column in wanted.description), "_table", "_shard"]
    assert [row[:-2] for row in rows] == wanted.fetchall()
    assert {row[-2] for row in rows} == {"t"}
