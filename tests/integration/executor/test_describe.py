"""Names and types as DuckDB gives them, and its objections with positions in the user's text."""

from __future__ import annotations

import threading
import time
from decimal import Decimal

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from shardwise.catalog.language import parse
from shardwise.errors import (
    CatalogError,
    NotSupportedError,
    Position,
    ProgrammingError,
    Reason,
    SQLSyntaxError,
    UnknownName,
)
from shardwise.executor import duck
from shardwise.executor.describe import Describer

CATALOG = """
CREATE SOURCE s{n} FOR n IN 0-1 URL 'duckdb:///s{n}.duckdb';
CREATE SHARDING by_id USING MOD 2 AS n ON s{n};
CREATE TABLE users (id BIGINT PRIMARY KEY, "Full Name" VARCHAR COLLATE nocase NOT NULL, kind ENUM('a', 'b'),
  price DECIMAL(12, 2), born DATE) SHARD BY by_id (id);
CREATE TABLE AB (AB INTEGER, x UUID) ON s0;
ATTACH TABLE erp.orders (id BIGINT, user_id BIGINT) SHARD BY by_id (user_id);
ATTACH TABLE unknown ON s0;
CREATE VIEW people (nr, name) AS SELECT id, "Full Name" FROM users;
CREATE VIEW few AS SELECT * FROM people WHERE nr < 3;
"""


@pytest.fixture
def describer() -> Describer:
    return Describer(parse(CATALOG))


@pytest.mark.parametrize(
    ("sql", "params", "columns"),
    [
        (
            "SELECT count(*), max(AB) + 1 FROM AB",
            (),
            [("count_star()", "BIGINT"), ("(max(AB) + 1)", "INTEGER")],
        ),
        (
            "FROM users",
            (),
            [
                ("id", "BIGINT"),
                ("Full Name", "VARCHAR"),
                ("kind", "ENUM('a', 'b')"),
                ("price", "DECIMAL(12,2)"),
                ("born", "DATE"),
            ],
        ),
        (
            "SELECT sum(price), avg(price), sum(id) FROM users;",
            (),
            [("sum(price)", "DECIMAL(38,2)"), ("avg(price)", "DOUBLE"), ("sum(id)", "HUGEINT")],
        ),
        (
            "select u.ID, o.id FROM erp.orders o JOIN users U ON u.id = user_id -- all",
            (),
            [("id", "BIGINT"), ("id", "BIGINT")],
        ),
        ("SELECT * FROM few", (), [("nr", "BIGINT"), ("name", "VARCHAR")]),
        ("SELECT id FROM people JOIN users ON id = nr WHERE price = ?", [Decimal("1.5")], [("id", "BIGINT")]),
        ("SELECT $p AS a, $q b", {"p": 1, "q": "x", "more": 2}, [("a", "INTEGER"), ("b", "VARCHAR")]),
        ("SELECT $1 + 1 AS a", [1 << 40], [("a", "BIGINT")]),
        ("SELECT id FROM users WHERE id IN ($a, '$b')", {"a": 1, "b": 2}, [("id", "BIGINT")]),
        (
            "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 3) FROM r",
            (),
            [("n", "INTEGER")],
        ),
        ("(SELECT 1 AS a) UNION ALL SELECT 2.5", (), [("a", "DECIMAL(11,1)")]),
        ("VALUES (1, 'x')", (), [("col0", "INTEGER"), ("col1", "VARCHAR")]),
        (
            "SELECT id, _shard, t._table FROM users t",
            (),
            [("id", "BIGINT"), ("_shard", "VARCHAR"), ("_table", "VARCHAR")],
        ),
    ],
)
def test_columns(describer: Describer, sql: str, params: duck.Params, columns: list[tuple[str, str]]) -> None:
    assert list(describer.describe(sql, params)) == columns
    assert list(describer.describe(sql, params)) == columns


@pytest.mark.parametrize(
    ("sql", "kind", "position", "message"),
    [
        ("SELECT nam FROM people", UnknownName, (1, 8, 3), 'column "nam" does not exist. Did you mean name'),
        ("SELECT 'ä€😀',\n\n  p.nam FROM people p", UnknownName, (3, 3, 5), 'column "nam" does not exist'),
        ("SELECT * FROM user", UnknownName, (1, 15, 4), 'table "user" does not exist. Did you mean "users"?'),
        ("SELECT x.id FROM users", UnknownName, (1, 8, 4), 'table "x" is not in this query'),
        ("SELECT id FROM users a, users b", UnknownName, (1, 8, 2), 'column "id" is ambiguous'),
        ("SELECT nofunc(id) FROM users", UnknownName, (1, 8, 6), 'function "nofunc" does not exist'),
        ("SELECT id FROM users WHERE", SQLSyntaxError, None, "syntax error"),
        ("SELECT id,, id FROM users", SQLSyntaxError, (1, 11, 1), "syntax error"),
        (
            "SELECT id FROM users GROUP BY price",
            ProgrammingError,
            (1, 8, 2),
            'column "id" must appear in the GROUP BY',
        ),
        ("SELECT sum(kind) FROM users", ProgrammingError, (1, 8, 3), "sum"),
    ],
)
def test_objections(
    describer: Describer,
    sql: str,
    kind: type[ProgrammingError],
    position: tuple[int, int, int] | None,
    message: str,
) -> None:
    with pytest.raises(kind) as caught:
        describer.describe(sql)
    assert message.lower() in str(caught.value).lower()
    if position is not None:
        assert caught.value.position == Position(*position)
    assert type(caught.value) is kind


def test_reasons(describer: Describer) -> None:
    for sql, reason in (
        ("SELECT nam FROM people", Reason.UNKNOWN_COLUMN),
        ("SELECT * FROM user", Reason.UNKNOWN_TABLE),
        ("SELECT id FROM users a, users b", Reason.AMBIGUOUS_COLUMN),
        ("SELECT 1 +", Reason.SYNTAX),
    ):
        with pytest.raises(ProgrammingError) as caught:
            describer.describe(sql)
        assert caught.value.reason == reason


def test_parameters_that_are_not_given(describer: Describer) -> None:
    with pytest.raises(ProgrammingError, match="no value was given for parameter") as caught:
        describer.describe("SELECT id FROM users WHERE id = ?")
    assert caught.value.reason == Reason.PARAMETERS


@pytest.mark.parametrize(
    "data",
    [
        pd.DataFrame({"id": [1], "name": ["x"]}),
        pl.DataFrame({"id": [1], "name": ["x"]}),
        pa.table({"id": pa.array([1], pa.int64()), "name": ["x"]}),
    ],
    ids=["pandas", "polars", "arrow"],
)
def test_local_tables(describer: Describer, data: object) -> None:
    found = describer.describe("SELECT c.*, price FROM cohort c JOIN users USING (id)", (), {"cohort": data})
    assert found == (("id", "BIGINT"), ("name", "VARCHAR"), ("price", "DECIMAL(12,2)"))
    with pytest.raises(UnknownName):
        describer.describe("SELECT * FROM cohort")


def test_a_table_whose_columns_nobody_knows(describer: Describer) -> None:
    with pytest.raises(UnknownName, match='table "unknown" does not exist'):
        describer.describe("SELECT * FROM unknown")


def test_a_view_that_is_wrong_is_the_catalogs_fault() -> None:
    describer = Describer(parse(CATALOG + "CREATE VIEW wrong AS SELECT nothing FROM users;"))
    with pytest.raises(CatalogError, match='"wrong" cannot be described: column "nothing" does not exist'):
        describer.describe("SELECT * FROM wrong")
    assert describer.describe("SELECT id FROM users")


def test_a_fragments_stream(describer: Describer) -> None:
    sql = "SELECT sum(id), kind, count(*) > 0, {'k': kind} FROM users GROUP BY ALL"
    columns = (("p0", None), ("g0", None), ("p1", None), ("p2", None))
    schema, types = describer.schema(columns, sql)
    assert schema.names == ["p0", "g0", "p1", "p2"]
    assert schema.field("g0").type == pa.string()
    assert schema.field("p2").type == pa.struct({"k": pa.string()})
    assert types == (
        ("p0", "HUGEINT"),
        ("g0", "ENUM('a', 'b')"),
        ("p1", "BOOLEAN"),
        ("p2", "STRUCT(k ENUM('a', 'b'))"),
    )
    assert describer.batches(sql, (), schema) == []
    schema, _ = describer.schema((("n", None),), "SELECT count(*) FROM users")
    (batch,) = describer.batches("SELECT count(*) FROM users", (), schema)
    assert batch.to_pydict() == {"n": [0]}


def test_a_type_without_a_name(describer: Describer) -> None:
    schema, _ = describer.schema((("r", None),), "SELECT row(id, 'x') FROM users")
    assert schema.field("r").type.num_fields == 2


def test_only_queries_are_described(describer: Describer) -> None:
    for sql in ("DELETE FROM users", "CREATE TABLE x (a INT)", "SET threads = 1"):
        with pytest.raises((ProgrammingError, NotSupportedError)):
            describer.describe(sql)
    assert describer.describe("SELECT id FROM users") == (("id", "BIGINT"),)


def test_threads_share_it(describer: Describer) -> None:
    found: list[object] = []

    def ask(n: int) -> None:
        found.extend(
            describer.describe(f"SELECT {n} AS n, id FROM few JOIN users ON id = nr") for _ in range(20)
        )

    threads = [threading.Thread(target=ask, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [(("n", "INTEGER"), ("id", "BIGINT"))] * 160


def test_it_is_cheap(describer: Describer) -> None:
    """About half a millisecond on an idle machine, and 10,000 tables that nobody mentions cost nothing."""
    describer.describe("SELECT id, sum(price) FROM users WHERE id = 0 GROUP BY id")
    started = time.process_time()
    for n in range(100):
        describer.describe(f"SELECT id, sum(price) FROM users WHERE id = {n} GROUP BY id")
    assert time.process_time() - started < 1.0
    assert duckdb.__version__
