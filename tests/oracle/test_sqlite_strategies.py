"""How joins and subqueries across shards are answered in the sqlite dialect.

Columns of every affinity with values of every type are asked, against one SQLite: with the strategies forced,
with passes off, and as chosen.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import pytest

from tests.oracle.sqlite_mixed import MixedWorld
from tests.oracle.test_sqlite_dialect import compare

WAYS: tuple[dict[str, tuple[str, ...]], ...] = (
    {"force": ("keys", "push_distinct")},
    {"force": ("broadcast", "push_distinct")},
    {"force": ("keys", "range", "broadcast", "push_distinct")},
    {},
    {"disable_passes": ("choose_strategies",), "force": ("push_distinct",)},
    {"disable_passes": ("join_subqueries", "run_first")},
    {"disable_passes": ("order_joins",), "force": ("keys",)},
)
COLUMNS = ("i", "n", "r", "t", "x", "z", "f", "g")
STATEMENTS = (
    """
SELECT id, {0} FROM a WHERE EXISTS (SELECT 1 FROM c WHERE c.{1} = a.{0})
SELECT id, {0} FROM a WHERE NOT EXISTS (SELECT 1 FROM b WHERE b.{1} = a.{0} AND b.v > 1)
SELECT id FROM a WHERE {0} IN (SELECT {1} FROM c)
SELECT id FROM a WHERE {0} NOT IN (SELECT {1} FROM b WHERE {1} IS NOT NULL)
SELECT id FROM a WHERE {0} NOT IN (SELECT {1} FROM b)
SELECT id FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.{1} = a.{0} AND typeof(b.{1}) <> typeof(a.{0}))
SELECT id FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.{1} = a.{0} AND b.{1} || '' = a.{0} || '')
SELECT id FROM a WHERE NOT EXISTS (SELECT 1 FROM b WHERE b.{1} = a.{0} AND quote(b.{1}) = quote(a.{0}))
SELECT id FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.{1} = a.{0} AND b.x = a.x)
SELECT id FROM a WHERE EXISTS (SELECT 1 FROM c WHERE c.{1} = a.{0} AND c.v < a.v)
SELECT id FROM a WHERE id < 6 AND {0} IN (SELECT {1} FROM b WHERE v < 4)
SELECT v, count(*), min(id) FROM s WHERE EXISTS (SELECT 1 FROM b WHERE b.{1} = s.{0}) GROUP BY v
SELECT id FROM b WHERE EXISTS (SELECT 1 FROM s WHERE s.{1} = b.{0}) AND v NOTNULL
SELECT id FROM a WHERE {0} IN (SELECT b.{1} FROM b JOIN c ON b.k = c.k WHERE c.v > 2)
SELECT id FROM a WHERE EXISTS (SELECT 1 FROM b, s WHERE b.{1} = a.{0} AND s.i = b.i)
SELECT id FROM a WHERE EXISTS (SELECT 1 FROM b WHERE +b.{1} = a.{0} AND b.i = a.i)
SELECT id FROM a WHERE {0} = 1 AND EXISTS (SELECT 1 FROM b WHERE b.{1} = a.{0})
SELECT id FROM a WHERE EXISTS (SELECT 1 FROM c WHERE c.{1} IS a.{0} AND c.i = a.i)
SELECT a.id, c.id FROM a LEFT JOIN c ON c.v = a.v WHERE a.{0} IN (SELECT {1} FROM b WHERE k < 3)
SELECT id FROM a WHERE EXISTS (SELECT 1 FROM (SELECT DISTINCT {1} AS y FROM b) q WHERE q.y = a.{0})
SELECT id FROM a WHERE {0} IN (SELECT max({1}) FROM b GROUP BY k)
SELECT a.id, c.id, c.{1}, typeof(c.{1}) FROM a JOIN c ON c.{1} = a.{0}
SELECT a.id, b.id, c.id FROM a JOIN b ON b.{1} = a.{0} JOIN c ON c.k = b.k WHERE a.v < 4
SELECT a.id, b.id, c.id FROM a, b, c WHERE b.k = a.{0} AND c.k = a.{0} AND c.v < 5
SELECT b.id, c.id, s.id FROM b JOIN s ON s.{0} = b.{1} JOIN c ON c.{1} = s.{0} AND c.k = b.k
SELECT a.id, s.id FROM a JOIN c ON c.{1} = a.{0} JOIN s ON s.id = a.id AND s.x = c.x
SELECT c.v, count(*), min(a.id) FROM a JOIN c ON c.{1} = a.{0} WHERE c.id < 12 GROUP BY c.v
SELECT typeof(c.{1}), count(*), sum(c.{1} = '1'), sum(c.{1} < a.{0}), sum(c.{1} = 1) FROM a JOIN c ON
    c.i = a.i GROUP BY 1
SELECT sum(c.{1} = '1'), sum(c.{1} < a.{0}), sum(a.{0} IN (c.{1}, 5)) FROM c, a WHERE c.v = a.v AND c.id
    < 9
SELECT a.v, count(c.id), sum(c.{1} > '1') FROM a LEFT JOIN c ON c.{1} = a.{0} AND c.v < 5 GROUP BY a.v
SELECT c.v, count(*), sum(a.{0} = c.{1}) FROM c RIGHT JOIN a ON c.{1} = a.{0} GROUP BY c.v
SELECT count(*), sum(a.{0} = c.{1}), sum(a.id * c.id) FROM c FULL JOIN a ON c.{1} = a.{0}
SELECT a.id, c.id, quote(c.{1}) FROM a JOIN c ON c.{1} = a.{0} AND c.v = a.v AND c.i = a.i
SELECT a.id, c.id, c.{1} || '' FROM a JOIN c ON c.t = a.t AND c.x = a.x AND c.{1} >= a.{0}
SELECT a.v, count(*), max(q.n) FROM a JOIN (SELECT {1} AS y, count(*) AS n FROM c GROUP BY {1}) q ON q.y
    = a.{0} GROUP BY a.v
SELECT a.v, count(*), sum(q.n = '2'), sum(q.n < a.{0}) FROM a JOIN (SELECT v, count(*) AS n FROM c GROUP
    BY v) q ON q.v = a.v GROUP BY a.v
SELECT a.v, sum(q.m < a.{0}), sum(q.m = a.{0}), sum(q.m = '1') FROM a JOIN (SELECT v, max({1}) AS m FROM
    c GROUP BY v) q ON q.v = a.v GROUP BY a.v
SELECT id FROM a WHERE {0} = (SELECT {1} FROM c WHERE id = 3)
SELECT id, {0} < (SELECT {1} FROM b WHERE id = 5) FROM a
SELECT id FROM a WHERE {0} <= (SELECT max({1}) FROM c) AND v > 1
SELECT id, {0} IN (SELECT {1} FROM c WHERE id < 6) FROM a
SELECT id, typeof((SELECT {1} FROM b WHERE id = 7)), quote((SELECT {1} FROM b WHERE id = 7)) FROM a
    WHERE v = 2 OR {0} NOT IN (SELECT {1} FROM c WHERE id > 9)
SELECT id FROM s WHERE (SELECT {1} FROM c WHERE id = 4) = {0} OR EXISTS (SELECT 1 FROM b WHERE {1} = 1)
""".replace("\n    ", " ")
    .strip()
    .splitlines()
)


SHARDS = (3, 1, 2, 7)


@pytest.fixture(
    scope="module",
    params=[3, *(pytest.param(shards, marks=pytest.mark.slow) for shards in SHARDS[1:])],
    ids="{} shards".format,
)
def world(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[MixedWorld]:
    shards = request.param
    folder = tmp_path_factory.mktemp("mixed")
    world = MixedWorld(folder, shards, seed=shards, is_measured=shards != 2)
    yield world
    world.close()


@pytest.mark.parametrize(("turn", "pair"), [*enumerate(product(COLUMNS, repeat=2))])
def test_answers_as_one_sqlite(world: MixedWorld, turn: int, pair: tuple[str, str]) -> None:
    """By turns every second statement, in one of the ways; on other shards than three every eighth."""
    step = 2 if len(list(world.cluster.catalog.shards())) == 3 else 8
    for number in range(turn % step, len(STATEMENTS), step):
        compare(world, STATEMENTS[number].format(*pair), **WAYS[(turn + number // step) % len(WAYS)])
