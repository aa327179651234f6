"""That of texts that are equal any may stand for them, where one database says so, and none elsewhere."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.fuzz.build import Built
from tests.fuzz.collations import TEXTS, fold
from tests.fuzz.oracles import expected, wrong
from tests.fuzz.schema import Sharding, Table, World

COLUMNS = {
    "mysql": "k INT, s VARCHAR(9) COLLATE utf8mb4_general_ci",
    "postgres": 'k INT, s TEXT COLLATE "folding"',
}
ROWS = ((1, "a"), (2, "A"), (3, "b"), (4, "a"), (5, "A"))


def test_fold() -> None:
    assert {fold(text) for text in ("a", "A ", "á", "a\t")} == {"a"}
    assert fold("ß") == fold("SS")
    assert fold(["B", 1]) == ["b", 1]
    assert len({fold(text) for text in TEXTS}) < len(set(TEXTS)) / 2


@pytest.mark.slow
@pytest.mark.parametrize("dialect", ["mysql", "postgres"])
def test_which_of_equal_texts(dialect: str, tmp_path: Path) -> None:
    tables = (Table("t0", COLUMNS[dialect], "SHARD BY h0 (k)", rows=ROWS),)
    world = World(2, (Sharding("h0", "MOD 2"),), tables, dialect=dialect, products=(dialect,))
    built = Built(world, tmp_path)
    try:

        def says(sql: str, *rows: tuple[object, ...]) -> str | None:
            right = expected(built, sql)
            assert right is not None
            return wrong(built, sql, replace(right, rows=list(rows)), right)

        assert says("SELECT DISTINCT s FROM t0", ("a",), ("b",)) is None
        assert says("SELECT DISTINCT s FROM t0", ("A",), ("b",)) is None
        assert says("SELECT DISTINCT s FROM t0", ("a",), ("c",)) is not None
        assert says("SELECT DISTINCT s FROM t0", ("a",), ("A",), ("b",)) is not None
        assert says("SELECT k, s FROM t0 WHERE k < 3", (1, "a"), (2, "A")) is None
        assert says("SELECT k, s FROM t0 WHERE k < 3", (1, "A"), (2, "A")) is not None
        sql = "SELECT s, k FROM t0 WHERE k < 4 ORDER BY 1"
        assert says(sql, ("A", 2), ("a", 1), ("b", 3)) is None
        assert says(sql, ("a", 1), ("A", 2), ("b", 3)) is None
        assert says(sql, ("b", 3), ("a", 1), ("A", 2)) is not None
        assert says("SELECT k, s FROM t0 ORDER BY 1 DESC", *reversed(ROWS)) is None
        assert says("SELECT k, s FROM t0 ORDER BY 1 DESC", *ROWS) is not None
    finally:
        built.close()
