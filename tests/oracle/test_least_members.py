"""MIN and MAX of an ENUM or SET, which are texts of members and sort by their places; pages by members."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import shardwise
from tests.oracle.mysql_world import MySQLWorld, Table
from tests.oracle.test_next_page import read

SIZES = [
    (i, i % 12, i % 7, [None, "small", "a", "big"][i % 4], ["x", "b", "c", "x,b"][i % 4]) for i in range(40)
]
STATEMENTS = """
SELECT k, MAX(size) AS m FROM t GROUP BY k ORDER BY m, k
SELECT k, MIN(size) AS m FROM t GROUP BY k ORDER BY MIN(size) DESC, k LIMIT 4
SELECT id, MAX(size) AS m FROM t GROUP BY id ORDER BY m, id
SELECT id, MIN(tags) AS m FROM t GROUP BY id ORDER BY m DESC, id LIMIT 7
SELECT k, MIN(tags) AS m FROM t GROUP BY k ORDER BY 2, k
SELECT * FROM (SELECT id, MAX(size) AS m FROM t GROUP BY id) q ORDER BY m, id
SELECT j, MAX(m) AS n FROM (SELECT k, j, MIN(size) AS m FROM t GROUP BY k, j) q GROUP BY j ORDER BY n, j
SELECT k, MAX(size) AS m FROM t GROUP BY k HAVING MAX(size) > 'b' ORDER BY m DESC, k
SELECT k FROM t GROUP BY k HAVING MAX(size) = 'a' OR MIN(size) IN ('big') ORDER BY k
SELECT k, CONCAT(MAX(size)) AS m FROM t GROUP BY k ORDER BY m, k
SELECT k, COALESCE(MAX(size), 'none') AS m FROM t GROUP BY k ORDER BY m, k
SELECT MAX(m) FROM (SELECT k, MIN(size) AS m FROM t GROUP BY k) q
SELECT id, MAX(size) + 0 AS n FROM t GROUP BY id ORDER BY id
SELECT k, MAX(size) OVER (PARTITION BY k) AS m, id FROM t ORDER BY m, id
""".strip().splitlines()
NUMBERS = """
SELECT k, MAX(size) + 0 AS m FROM t GROUP BY k ORDER BY k
SELECT k FROM t GROUP BY k HAVING MAX(size) > 1 ORDER BY k
SELECT * FROM (SELECT k, MAX(size) AS m FROM t GROUP BY k) q WHERE m > 2 ORDER BY k
SELECT k FROM t GROUP BY k HAVING MIN(tags) = 3
""".strip().splitlines()
"""Of groups that the merge makes: 0 of a text."""
BY_MEMBERS = """
SELECT id FROM t ORDER BY size, id
SELECT id, tags FROM t ORDER BY tags DESC, id
SELECT z FROM (SELECT id, size AS z FROM t) q ORDER BY z, id
SELECT id, MAX(size) AS m FROM t GROUP BY id ORDER BY m, id
SELECT DISTINCT size FROM t ORDER BY size
""".strip().splitlines()


@pytest.fixture(scope="module", params=[3, 1])
def world(request: pytest.FixtureRequest) -> Iterator[MySQLWorld]:
    columns = "id INT PRIMARY KEY, k INT, j INT, size ENUM('small','a','A1','big'), tags SET('x','b','c')"
    made = MySQLWorld(request.param, {"t": Table(columns, "SHARD BY by_id (id)", SIZES, 0)})
    yield made
    made.close()


@pytest.mark.parametrize("sql", STATEMENTS)
def test_the_order_is_one_databases(world: MySQLWorld, sql: str) -> None:
    assert world.found(sql) == world.expected(sql)


@pytest.mark.parametrize("sql", NUMBERS)
def test_a_merge_takes_none_for_a_number(world: MySQLWorld, sql: str) -> None:
    if len(world.databases) == 2:  # the whole, and one shard
        assert world.found(sql) == world.expected(sql)
        return
    with pytest.raises(shardwise.NotSupportedError, match="is taken for a number"):
        world.found(sql)


@pytest.mark.parametrize("sql", BY_MEMBERS)
def test_pages_do_not_end_before_their_rows(world: MySQLWorld, sql: str) -> None:
    """The next page was of members after the last one by their letters."""
    with world.cluster.connect() as con, pytest.raises(shardwise.NotSupportedError, match="ENUM or SET"):
        read(con, f"{sql} LIMIT 4")


def test_pages_by_their_texts(world: MySQLWorld) -> None:
    sql = "SELECT id FROM t ORDER BY CONCAT(size), id"
    with world.cluster.connect() as con:
        assert read(con, f"{sql} LIMIT 4")[0] == world.expected(sql)[1]
