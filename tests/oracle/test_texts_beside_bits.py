"""Texts that meet in a merge beside a BIT column, for which the rows' JSON is in Latin-1."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from shardwise.errors import Unplannable
from tests.oracle.mysql_world import MySQLWorld, Table

TEXTS = [None, "", "b", "B", "é", "e\u0301", "\u0301", "č", "Č ", "€", "\x80", "\xff", "ж", "Ж", "日本", "😀"]
OF_THREE_BYTES = [text for text in TEXTS if text != "😀"]
CYRILLIC = [None, "", "b", "B", "€", "ж", "Ж ", "я"]
LATIN = [None, "", "b", "B", "é", "É ", "€", "\xff", "ä"]
COLUMNS = (
    "id INT PRIMARY KEY, bits BIT(9), plain VARCHAR(9), any_case VARCHAR(9) COLLATE utf8mb4_unicode_ci, "
    "bin VARCHAR(9) COLLATE utf8mb4_bin, old VARCHAR(9) COLLATE utf8mb3_general_ci, "
    "exact CHAR(9) COLLATE utf8mb3_bin, east VARCHAR(9) COLLATE cp1251_general_ci, "
    "lat VARCHAR(9) COLLATE latin1_swedish_ci"
)
TEXT_COLUMNS = ("plain", "any_case", "bin", "old", "exact", "east", "lat")


OF_COLUMNS = (TEXTS, TEXTS, TEXTS, OF_THREE_BYTES, OF_THREE_BYTES, CYRILLIC, LATIN)
BITS = [None, b"\0\1", b"\1\xff", b"\0\xe9"]
ROWS = [(n, BITS[n // 16 % 4], *(texts[n % len(texts)] for texts in OF_COLUMNS)) for n in range(64)]


@pytest.fixture(scope="module")
def world() -> Iterator[MySQLWorld]:
    made = MySQLWorld(3, {"t": Table(COLUMNS, "SHARD BY by_id (id)", ROWS, 0)})
    yield made
    made.close()


@pytest.mark.parametrize("column", TEXT_COLUMNS)
def test_they_are_the_same_and_sorted_by_their_collation(world: MySQLWorld, column: str) -> None:
    for sql in (
        f"SELECT bits, {column}, id FROM t ORDER BY bits, {column}, id",
        f"SELECT bits, {column}, id FROM t ORDER BY {column} DESC, bits DESC, id LIMIT 20",
        f"SELECT {column}, id FROM t ORDER BY bits DESC, id",
    ):
        assert world.found(sql) == world.expected(sql), sql


@pytest.mark.parametrize("column", TEXT_COLUMNS)
def test_they_are_grouped_by_their_collation(world: MySQLWorld, column: str) -> None:
    sql = f"SELECT bits, count(*) AS n, min(id) AS least FROM t GROUP BY bits, {column} ORDER BY least"
    assert world.found(sql) == world.expected(sql)


def test_a_set_operation_that_would_pad_them_is_refused(world: MySQLWorld) -> None:
    with pytest.raises(Unplannable, match="BIT in one arm and CHAR in another"):
        world.found("SELECT bits FROM t UNION SELECT exact FROM t")
    sql = "SELECT hex(bits) AS h FROM t UNION SELECT hex(exact) FROM t ORDER BY h"
    assert world.found(sql) == world.expected(sql)
