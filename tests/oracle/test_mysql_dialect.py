"""The mysql dialect against one MariaDB: names, rows, their order, and the Python types of values."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pymysql
import pytest

from shardwise.errors import Error
from tests.oracle.cases import Case, read
from tests.oracle.cluster import in_turn
from tests.oracle.compare import matching, same
from tests.oracle.mysql_world import MySQLWorld, copied
from tests.oracle.worlds import LETTERS, MEMBERS

SHARDS = (3, *(pytest.param(n, marks=pytest.mark.slow) for n in (1, 2, 7)))
CASES = Path(__file__).parent / "cases" / "mysql.sql"
STATEMENTS = [line for line in CASES.read_text().splitlines() if line and not line.startswith("--")]
PITFALLS = [*read("mysql_members"), *read("mysql_forty")]
WORLDS = {world.name: world for world in (LETTERS, MEMBERS)}
Worlds = Callable[[str, int], MySQLWorld]
VIEW = "CREATE VIEW late AS SELECT id, k, name FROM t WHERE id > 30;"


def _by_shards(number: int) -> str:
    return f"{number} shards"


@pytest.fixture(scope="module")
def worlds() -> Iterator[Worlds]:
    """Made when first asked for, by name and number of shards, and kept: tests come in any order."""
    made: dict[tuple[str, int], MySQLWorld] = {}

    def get(name: str, shards: int) -> MySQLWorld:
        if (name, shards) not in made:
            found = copied(WORLDS[name]) if name in WORLDS else None
            made[name, shards] = MySQLWorld(shards, found, "" if found else VIEW)
        return made[name, shards]

    yield get
    for world in made.values():
        world.close()


@pytest.fixture(params=SHARDS, ids=_by_shards)
def world(request: pytest.FixtureRequest, worlds: Worlds) -> MySQLWorld:
    return worlds("own", request.param)


def compare(
    world: MySQLWorld, sql: str, params: Any = (), theirs: Any = None, *, ordered: bool | None = None
) -> None:
    names, rows = world.expected(sql if theirs is None else theirs[0], None if theirs is None else theirs[1])
    found_names, found = world.found(sql, params)
    assert found_names == names
    ours, wanted = [_folded(row) for row in found], [_folded(row) for row in rows]
    if is_ordered(sql) if ordered is None else ordered:
        assert len(ours) == len(wanted) and all(map(same, ours, wanted)), (found, rows)  # noqa: PT018
    else:
        assert matching(ours, wanted) == ([], [])


def is_ordered(sql: str) -> bool:
    """Whether the outermost query has an ORDER BY."""
    while (inner := re.sub(r"\([^()]*\)", "", sql)) != sql:
        sql = inner
    return "ORDER BY" in sql


def _folded(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """Which of the members of a group that are equal stands for it is for the order of rows to say."""
    return tuple(_plain(value) if isinstance(value, str) else value for value in row)


def _plain(text: str) -> str:
    """Without letter case, accents and blanks at the end."""
    parts = unicodedata.normalize("NFD", text.replace("ß", "ss"))
    return "".join(c for c in parts if not unicodedata.combining(c)).casefold().rstrip(" ")


@pytest.mark.parametrize(("sql", "shards"), in_turn(STATEMENTS))
def test_answers_as_one_mariadb_does(worlds: Worlds, sql: str, shards: int) -> None:
    compare(worlds("own", shards), sql)


@pytest.mark.parametrize("shards", SHARDS, ids=_by_shards)
@pytest.mark.parametrize("case", PITFALLS, ids=lambda case: case.id)
def test_pitfalls(worlds: Worlds, case: Case, shards: int) -> None:
    world = worlds(case.world, shards)
    if case.any:
        names, rows = world.expected(case.sql)
        found_names, found = world.found(case.sql)
        assert (found_names, len(found)) == (names, len(rows))
        return
    theirs = None if case.params is None else (case.sql.replace("%", "%%").replace("?", "%s"), case.params)
    compare(world, case.sql, case.params or (), theirs, ordered=case.ordered)


@pytest.mark.parametrize(
    ("sql", "params"),
    [
        ("SELECT id, name FROM t WHERE id = ? AND k IS NOT NULL", (7,)),
        ("SELECT id FROM t WHERE id = ? OR name = ? ORDER BY id", (3, "ANN")),
        ("SELECT id FROM t WHERE id = ?", ("7",)),
        ("SELECT id FROM t WHERE id = ?", (7.0,)),
        ("SELECT id FROM t WHERE id = ?", (Decimal("7.0"),)),
        ("SELECT id FROM t WHERE id = ?", (True,)),
        ("SELECT name, z FROM p WHERE name = ? ORDER BY z, BINARY name", (5,)),
        ("SELECT name, z FROM p WHERE name = ? ORDER BY z, BINARY name", ("5",)),
        ("SELECT name, z FROM q WHERE name = ? ORDER BY z", ("ann",)),
        ("SELECT name, z FROM q WHERE name = ? ORDER BY z", (5,)),
        ("SELECT id FROM t WHERE d = ? ORDER BY id", (date(2024, 1, 1),)),
        ("SELECT id FROM t WHERE at <= ? ORDER BY id", (datetime(2024, 1, 1),)),
        ("SELECT id FROM t WHERE dur > ? ORDER BY id", (timedelta(hours=1),)),
        ("SELECT id FROM t WHERE b = ? ORDER BY id", (b"\xff\x00",)),
        ("SELECT id FROM t WHERE k > ? ORDER BY id LIMIT 3", (1,)),
        ("SELECT id, ? FROM t WHERE note LIKE ? ORDER BY id", (None, "%,%")),
        ("SELECT ? + ?, concat(?, 'x')", (1, 2.5, "a'b\\")),
    ],
)
def test_parameters(world: MySQLWorld, sql: str, params: tuple[Any, ...]) -> None:
    _, rows = world.expected(sql.replace("%", "%%").replace("?", "%s"), params)
    _, found = world.found(sql, params)
    assert len(found) == len(rows) and all(map(same, map(_folded, found), map(_folded, rows)))  # noqa: PT018


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT nothing FROM t",
        "SELECT * FROM nowhere",
        "SELECT nofunction(1)",
        "SELECT id FROM t WHERE",
        "SELECT k FROM t UNION SELECT k, name FROM t",
        "SELECT sum(big + 9223372036854775807) FROM t",
        "SELECT (SELECT id FROM t)",
        "SELECT name = acc FROM t",
        "SELECT t.id FROM t, t",
        "SELECT id FROM t, u",
        "SELECT count(*) FROM t GROUP BY nothing",
        "SELECT id FROM t LIMIT 'x'",
    ],
)
def test_what_one_mariadb_refuses_is_an_error_here_too(world: MySQLWorld, sql: str) -> None:
    with pytest.raises(pymysql.MySQLError):
        world.expected(sql)
    with pytest.raises(Error):
        world.found(sql)


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("SELECT sleep(1)", "not available here"),
        ("SELECT benchmark(1, 1)", "not available here"),
        ("SELECT load_file('/etc/passwd')", "not available here"),
        ("SELECT get_lock('a', 1)", "not available here"),
        ("SELECT id FROM t WHERE id = (SELECT connection_id())", "one connection"),
        ("SELECT database()", "one connection"),
        ("SELECT @x", "session's variables"),
        ("SELECT @@version", "session's variables"),
        ("SELECT @x := 1", "session's variables"),
        ("SELECT id INTO OUTFILE '/tmp/x' FROM t", "syntax error"),
        ("SELECT id FROM t FOR UPDATE", "not read here"),
        ("SELECT /*!50000 id */ FROM t", "whose text MySQL runs"),
        ("SELECT /*M! id */ FROM t", "whose text MySQL runs"),
        ("SELECT my_own(id) FROM t", "not known here"),
        ("SELECT t.id FROM t FULL JOIN u ON t.id = u.t_id", "takes FULL for the table"),
        ("SELECT * FROM information_schema.tables", "SHOW TABLES"),
        ("DELETE FROM t", "reads only"),
    ],
)
def test_what_is_refused_says_so(world: MySQLWorld, sql: str, said: str) -> None:
    with pytest.raises(Error, match=said):
        world.found(sql)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT late.id, t.k FROM late JOIN t ON t.id = late.k ORDER BY 1",
        "SELECT count(*) FROM late l WHERE l.name = 'ann'",
        "SELECT k, count(*) FROM late GROUP BY k WITH ROLLUP",
    ],
)
def test_views(world: MySQLWorld, sql: str) -> None:
    compare(world, sql)


def test_a_statement_has_one_moment(world: MySQLWorld) -> None:
    _, rows = world.found(
        "SELECT DISTINCT now(6), current_timestamp(6), sysdate(6), utc_timestamp(6), unix_timestamp(), "
        "curdate(), curtime(3) FROM t"
    )
    assert len(rows) == 1
    assert [type(value) for value in rows[0]] == [datetime] * 4 + [int, date, timedelta]
    _, (theirs,) = world.expected("SELECT now(), utc_timestamp(), unix_timestamp(), curdate()")
    assert abs(rows[0][0] - theirs[0]) < timedelta(seconds=60)
    assert abs(rows[0][3] - theirs[1]) < timedelta(seconds=60)
    assert abs(rows[0][4] - theirs[2]) < 60


@pytest.mark.parametrize(
    "sql", ["SELECT rand() FROM t", "SELECT id FROM t ORDER BY rand()", "SELECT uuid() FROM t"]
)
def test_what_is_volatile_differs_from_row_to_row(world: MySQLWorld, sql: str) -> None:
    _, rows = world.found(sql)
    assert len(set(rows)) == 60


@pytest.mark.parametrize("where", ["", " WHERE id = 7"])
def test_hidden_columns_beside_a_star(world: MySQLWorld, where: str) -> None:
    names, rows = world.found(f"SELECT t.*, _table, _shard FROM t{where} ORDER BY id")
    wanted, theirs = world.expected(f"SELECT * FROM t{where} ORDER BY id")
    assert names == [*wanted, "_table", "_shard"]
    assert [row[:-2] for row in rows] == theirs
    assert {row[-2] for row in rows} == {"t"}


@pytest.mark.parametrize("shards", SHARDS, ids=_by_shards)
def test_groups_that_rows_are_looked_up_in_before_they_are_joined(worlds: Worlds, shards: int) -> None:
    """An IN that is no semi-join: NULLs on both of its sides, and a row that is joined with many."""
    world = worlds("own", shards)
    sql = (
        "SELECT a.t_id, a.v, t.name FROM u AS a LEFT JOIN t ON t.id = a.t_id"
        " WHERE a.t_id IN (SELECT t_id FROM u GROUP BY t_id HAVING sum(v) > 3)"
    )
    forced = {"force": ("probe_groups_early",)}
    names, rows = world.expected(sql)
    found_names, found = world.found(sql, **forced)
    assert rows
    assert found_names == names
    assert matching(found, rows) == ([], [])
    sent = world.found(f"EXPLAIN (ROUTE) {sql}", **forced)[1]
    assert shards == 1 or all("IS TRUE" in text for _, _, text in sent)
