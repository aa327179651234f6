"""The postgres dialect against one PostgreSQL: names, rows, and the Python types of values."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from shardwise.errors import DataError, Error, NotSupportedError, Unplannable
from shardwise.planner.dialects.postgres_words import AGGREGATES, SCALARS, SETS, WINDOWS
from tests.oracle.cluster import in_turn
from tests.oracle.compare import matching, same
from tests.oracle.postgres_world import PostgresWorld
from tests.servers import postgres

_STATEMENTS = (Path(__file__).parent / "cases" / "postgres.sql").read_text().splitlines()
CASES = [line for line in _STATEMENTS if line and not line.startswith("--")]
SHARDS = (3, *(pytest.param(n, marks=pytest.mark.slow) for n in (1, 2, 7)))


@pytest.fixture(scope="module")
def worlds() -> Iterator[Callable[[int], PostgresWorld]]:
    """By number of shards: made when first asked for, and kept."""
    made: dict[int, PostgresWorld] = {}

    def get(shards: int) -> PostgresWorld:
        if shards not in made:
            made[shards] = PostgresWorld(shards)
        return made[shards]

    yield get
    for world in made.values():
        world.close()


@pytest.fixture(params=SHARDS, ids=lambda n: f"{n} shards")
def world(request: pytest.FixtureRequest, worlds: Callable[[int], PostgresWorld]) -> PostgresWorld:
    return worlds(request.param)


def compare(world: PostgresWorld, sql: str, params: Any = None, **options: Any) -> None:
    expected = world.one.execute(sql, params)
    wanted = expected.fetchall()
    ours = world.cluster.connect(paramstyle="qmark" if params is None else "format", **options)
    with ours.execute(sql, params) as cursor:
        found = [tuple(row) for row in cursor.fetchall()]
        assert [c[0] for c in cursor.description or ()] == [c.name for c in expected.description or ()]
    if is_ordered(sql):
        assert len(found) == len(wanted) and all(map(same, found, wanted)), (found, wanted)  # noqa: PT018
    else:
        assert matching(found, wanted) == ([], [])


def is_ordered(sql: str) -> bool:
    return "ORDER BY" in sql.rpartition(")")[2]


@pytest.mark.parametrize(("sql", "shards"), in_turn(CASES))
def test_answers_as_one_postgres_does(worlds: Callable[[int], PostgresWorld], sql: str, shards: int) -> None:
    compare(worlds(shards), sql)


@pytest.mark.parametrize(
    ("sql", "params"),
    [
        ("SELECT id, name FROM t WHERE id = %s AND k IS DISTINCT FROM %s", (7, 99)),
        ("SELECT id FROM t WHERE id = %(id)s OR name = %(name)s", {"id": 3, "name": "a"}),
        ("SELECT %s, %s, %s", ("a", 2.5, None)),
        ("SELECT id FROM t WHERE id = %s", ("7",)),
        ("SELECT id FROM t WHERE k > %s ORDER BY id LIMIT %s", (1, 3)),
        ("SELECT name, z FROM p WHERE name = %s", ("a",)),
        ("SELECT id FROM t WHERE tags @> %s ORDER BY id", (["x"],)),
        ("SELECT id FROM t WHERE name LIKE %s AND j ? 'a' AND j ? %s", ("a%", "b")),
    ],
)
def test_parameters(world: PostgresWorld, sql: str, params: Any) -> None:
    compare(world, sql, params)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT nothing FROM t",
        "SELECT * FROM nowhere",
        "SELECT lower(1, 2)",
        "SELECT name + 1 FROM t",
        "SELECT id FROM t WHERE name = 5",
        "SELECT 1 / (id - id) FROM t",
        "SELECT k FROM t UNION SELECT name FROM t",
        "SELECT x + 1 FROM (SELECT '5' AS x) q",
        "SELECT id, count(*) FROM t",
        "SELECT (SELECT id FROM t)",
        "SELECT name::int FROM t",
        "SELECT r.nothing FROM r",
        "SELECT *, id + 1 FROM r, t WHERE t.id = 2 ORDER BY code",
        "SELECT 'a' 'b'",
    ],
)
def test_what_one_postgres_refuses_is_an_error_here_too(world: PostgresWorld, sql: str) -> None:
    with pytest.raises(psycopg.Error):
        world.one.execute(sql).fetchall()  # type: ignore[call-overload]
    with pytest.raises(Error):
        world.cluster.connect().execute(sql).fetchall()


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("SELECT pg_sleep(10)", "not available here"),
        ("SELECT pg_read_file('/etc/passwd')", "not available here"),
        ("SELECT * FROM pg_ls_dir('.')", "not available here"),
        ("SELECT query_to_xml('SELECT 1', true, true, '')", "not available here"),
        ("SELECT my_own_function(1)", "not available here"),
        ("SELECT public.f(1)", "not available here"),
        ("SELECT current_user", "one server's session"),
        ("SELECT 'pg_class'::regclass", "catalog"),
        ("SELECT id FROM t FOR UPDATE", "only reading"),
        ("SELECT id FROM t TABLESAMPLE SYSTEM (10)", "sample"),
        ("SELECT |/ 25", "dsqrt"),
        ("SELECT @ -5", "abs"),
        ("DELETE FROM t", "reads only"),
        (
            'SELECT 1 FROM (SELECT id AS "Name" FROM t) q WHERE EXISTS (SELECT 1 FROM p WHERE p.z = "Name")',
            "letter case",
        ),
        ("SELECT * FROM pg_class", "no table"),
    ],
)
def test_what_is_refused_says_so_in_our_words(world: PostgresWorld, sql: str, said: str) -> None:
    with world.cluster.connect() as con, pytest.raises(Error, match=said):
        con.execute(sql)


def test_a_value_that_a_type_has_not_is_an_error_of_data(world: PostgresWorld) -> None:
    con = world.cluster.connect(paramstyle="format")
    sql = "SELECT count(*) FROM t WHERE u = %s"
    con.execute(sql, ("6ba7b810-9dad-11d1-80b4-00c04fd430c8",))  # its columns are known then
    with pytest.raises(DataError, match="invalid input syntax for type uuid"):
        con.execute(sql, ("nope",)).fetchall()


@pytest.mark.parametrize("name", ["ctid", "t.xmin", "tableoid"])
def test_what_a_server_numbers_is_refused(world: PostgresWorld, name: str) -> None:
    with pytest.raises(Unplannable, match="no meaning over shards"):
        world.cluster.connect().execute(f"SELECT {name} FROM t")


def test_a_view_and_the_statement_s_moment(world: PostgresWorld) -> None:
    con = world.cluster.connect()
    assert con.execute("SELECT count(*) FROM big b JOIN t ON t.id = b.id").fetchall() == [(30,)]
    (row,) = con.execute(
        "SELECT DISTINCT now(), current_timestamp, transaction_timestamp() FROM t"
    ).fetchall()
    assert row[0] == row[1] == row[2]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT r FROM r",
        # t has a column u, which is not in reach there
        "SELECT u, (SELECT count(*) FROM t WHERE t.k = u.v) FROM u WHERE t_id = 7",
        "SELECT u FROM u WHERE EXISTS (SELECT t.u FROM t WHERE t.k = u.v)",
    ],
)
def test_a_row_of_a_table_is_no_value_of_ours(world: PostgresWorld, sql: str) -> None:
    with pytest.raises(NotSupportedError, match="row_to_json"):
        world.cluster.connect().execute(sql)


def test_a_column_that_is_named_as_a_table_is_a_value(world: PostgresWorld) -> None:
    compare(world, "SELECT u FROM t JOIN u ON u.t_id = t.id")


def test_the_functions_are_postgres_s_own() -> None:
    """None that reads or changes what is not the statement's data; volatile ones are known as such."""
    asked = "SELECT proname, provolatile, proretset, prokind FROM pg_proc WHERE pronamespace = "
    found: dict[str, set[tuple[str, bool, str]]] = {}
    for name, *kind in postgres().run(f"{asked} 'pg_catalog'::regnamespace"):
        found.setdefault(name, set()).add(tuple(kind))
    spelled = {"greatest", "least", "nullif", "row", "time", "trim"}
    assert set() == SCALARS - spelled - found.keys()
    assert {name for name in SCALARS & found.keys() if any(v == "v" for v, _, _ in found[name])} == set()
    assert {name for name in SCALARS & found.keys() if all(s for _, s, _ in found[name])} == set()
    assert all(any(k == "a" for _, _, k in found[name]) for name in AGGREGATES)
    assert all(any(k == "w" for _, _, k in found[name]) for name in WINDOWS)
    assert all(any(s for _, s, _ in found[name]) or name.endswith("_to_record") for name in SETS)
    assert {name for name in found if any(k == "a" for _, _, k in found[name])} - WINDOWS == AGGREGATES
