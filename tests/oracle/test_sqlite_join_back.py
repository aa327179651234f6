"""Join indexes joined back in the sqlite dialect: beside values of any type their keys find what the join
does."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.oracle.sqlite_mixed import MixedWorld
from tests.oracle.test_sqlite_dialect import compare

STATEMENTS = """
SELECT a.id, b.id, quote(a.{0}) FROM a JOIN b ON a.{0} = b.{1}
SELECT a.id, b.id, b.x FROM a JOIN b ON a.{0} = b.{1} WHERE a.v = 1
SELECT a.id, b.n FROM a JOIN b ON a.{0} = b.{1} WHERE b.v > 2 AND a.r IS NULL
SELECT a.n FROM a WHERE EXISTS (SELECT 1 FROM b WHERE a.{0} = b.{1} AND b.v < 3)
SELECT a.n, b.n FROM a JOIN b ON a.{0} = b.{1} WHERE a.{0} = '1' OR b.{1} > 2
SELECT a.n, b.n FROM a JOIN b ON a.{0} = b.{1} WHERE a.{0} || '' = b.{1} || ''
""".strip().splitlines()
PAIRS = ("i i", "i n", "n r", "r i", "t t", "x x", "z x", "t x", "x n", "f t", "t f", "g f")


@pytest.mark.parametrize("pair", PAIRS)
def test_answers_as_one_sqlite(tmp_path: Path, pair: str) -> None:
    one, other = pair.split()
    world = MixedWorld(tmp_path, 3, seed=2, is_measured=False)
    try:
        with world.cluster.connect() as connection:
            include = "INCLUDE (a.v, b.v) SHARD BY one (a.id)"
            connection.execute(f"CREATE JOIN INDEX j ON a.{one} = b.{other} {include}")
        used = 0
        for line in STATEMENTS:
            sql = line.format(one, other)
            compare(world, sql, trust_indexes=True, force=("join_back",))
            with world.cluster.connect(trust_indexes=True, force=("join_back",)) as connection:
                told = connection.execute(f"EXPLAIN {sql}").fetchall()
            used += any("joined back by" in text for (text,) in told)
        assert used > 0
    finally:
        world.close()
