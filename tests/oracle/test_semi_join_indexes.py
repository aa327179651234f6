"""EXISTS, IN and semi-joins that a join index answers, against one database, on all sizes of cluster."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.oracle.cluster import Grain
from tests.oracle.compare import difference
from tests.oracle.harness import report, run
from tests.oracle.indexed import PAIRS, IndexedStage, explained, on_sizes

# Sharded as l is, whose shard key has NULLs; r has a primary key, which is its shard key.
INDEXES = {
    PAIRS.name: """
CREATE JOIN INDEX l_r ON l.x = r.x INCLUDE (l.v, r.id, r.w) SHARD BY by_k (l.k);
CREATE JOIN INDEX l_none ON l.x = none.x INCLUDE (l.v) SHARD BY by_k (l.k);
CREATE JOIN INDEX m_r ON m.w = r.w INCLUDE (m.z, m.id) SHARD BY by_k (r.id);
"""
}
BESIDE = """
SELECT s FROM l WHERE EXISTS (SELECT 1 FROM r WHERE r.x = l.x)
SELECT s FROM l WHERE EXISTS (SELECT 1 FROM r WHERE r.x = l.x AND r.w > 1)
SELECT s FROM l WHERE EXISTS (SELECT 1 FROM r WHERE r.x = l.x AND r.w IS NULL)
SELECT s FROM l WHERE EXISTS (SELECT 1 FROM r WHERE r.x = l.x AND r.w < l.v) AND v > 0
SELECT s FROM l WHERE EXISTS (SELECT 1 FROM r WHERE r.x = l.x AND r.w > l.v AND l.s > 'l2')
SELECT s FROM l WHERE x IN (SELECT x FROM r)
SELECT s FROM l WHERE x IN (SELECT x FROM r WHERE w = 2)
SELECT s FROM l WHERE x IN (SELECT x FROM r WHERE r.w = l.v)
SELECT s FROM l SEMI JOIN r ON l.x = r.x
SELECT s FROM l SEMI JOIN r ON l.x = r.x AND r.id > 9 AND l.v < 2
SELECT s FROM l SEMI JOIN (SELECT x AS y, w * 2 AS h FROM r WHERE id < 20) z ON l.x = z.y AND z.h > l.v
SELECT count(*), sum(v), min(s) FROM l WHERE EXISTS (SELECT 1 FROM r WHERE r.x = l.x)
SELECT k, count(*) FROM l WHERE EXISTS (SELECT 1 FROM r WHERE r.x = l.x) GROUP BY k
SELECT s FROM l WHERE k = 2 AND EXISTS (SELECT 1 FROM r WHERE r.x = l.x)
SELECT s FROM l WHERE k IS NULL AND EXISTS (SELECT 1 FROM r WHERE r.x = l.x)
SELECT l.s, c.s FROM l JOIN c ON c.k = l.k WHERE EXISTS (SELECT 1 FROM r WHERE r.x = l.x AND r.w = 2)
SELECT l.s, c.s FROM l LEFT JOIN c ON c.k = l.k WHERE EXISTS (SELECT 1 FROM r WHERE r.x = l.x AND r.w = 2)
SELECT l.s, m.z FROM l JOIN m ON m.w = l.v WHERE EXISTS (SELECT 1 FROM r WHERE r.x = l.x AND r.w = 2)
SELECT c.s, z.s FROM c LEFT JOIN (SELECT k, s FROM l WHERE x IN (SELECT x FROM r WHERE w > 1)) z ON z.k = c.k
SELECT s FROM l WHERE x IN (SELECT x FROM r) AND NOT EXISTS (SELECT 1 FROM c WHERE c.k = l.k)
SELECT s FROM l WHERE EXISTS (SELECT 1 FROM r WHERE r.x = l.x) AND x IN (SELECT x FROM r WHERE id < 9)
SELECT s FROM l WHERE EXISTS (SELECT 1 FROM r WHERE r.x = l.x) ORDER BY s LIMIT 5
SELECT s FROM l WHERE EXISTS (SELECT 1 FROM none n WHERE n.x = l.x)
SELECT p.s, q.s FROM l p JOIN l q ON p.k = q.k WHERE p.x IN (SELECT x FROM r WHERE w = 3)
SELECT s FROM l WHERE x IN (SELECT x FROM r) UNION ALL SELECT s FROM c WHERE k IN (SELECT k FROM l)
SELECT (SELECT count(*) FROM l WHERE EXISTS (SELECT 1 FROM r WHERE r.x = l.x)), (SELECT count(*) FROM l)
WITH z AS (SELECT k, s FROM l WHERE x IN (SELECT x FROM r)) SELECT a.s, b.s FROM z a JOIN z b ON a.k = b.k
SELECT id, w FROM r WHERE w IN (SELECT w FROM m)
SELECT s, id FROM r WHERE EXISTS (SELECT 1 FROM m WHERE m.w = r.w AND m.z > 2)
""".strip().splitlines()
ALONE = """
SELECT id, w FROM r WHERE EXISTS (SELECT 1 FROM l WHERE l.x = r.x)
SELECT w FROM r WHERE EXISTS (SELECT 1 FROM l WHERE l.x = r.x AND l.v = 1)
SELECT w FROM r WHERE x IN (SELECT x FROM l WHERE v > 0) AND w IS NULL
SELECT x FROM r SEMI JOIN l ON l.x = r.x
SELECT count(*), sum(w) FROM r WHERE EXISTS (SELECT 1 FROM l WHERE l.x = r.x AND l.v > r.w)
SELECT w, count(*) FROM r WHERE EXISTS (SELECT 1 FROM l WHERE l.x = r.x) GROUP BY w
SELECT id, y FROM (SELECT id, x, w + 1 AS y FROM r WHERE id > 3) z WHERE x IN (SELECT x FROM l WHERE v < 2)
SELECT c.s, COALESCE(z.y, -1) FROM c LEFT JOIN (SELECT * FROM (SELECT id, x, COALESCE(w, 7) AS y FROM r) q \
SEMI JOIN l ON l.x = q.x) z ON z.id = c.k
SELECT r.id, m.z FROM r JOIN m ON m.id = r.id WHERE r.x IN (SELECT x FROM l WHERE v = 0)
SELECT a.w, b.s FROM r a JOIN r b ON a.id = b.w WHERE a.x IN (SELECT x FROM l) AND b.id > 1
SELECT id FROM r WHERE x IN (SELECT x FROM l) ORDER BY id DESC LIMIT 4 OFFSET 1
""".strip().splitlines()
ELSEWHERE = """
SELECT s FROM l WHERE NOT EXISTS (SELECT 1 FROM r WHERE r.x = l.x)
SELECT s FROM l ANTI JOIN r ON r.x = l.x
SELECT s FROM l WHERE EXISTS (SELECT 1 FROM r WHERE r.x = l.x AND r.w = (SELECT max(w) FROM m))
SELECT s FROM l WHERE x NOT IN (SELECT x FROM r WHERE x IS NOT NULL)
SELECT s, x IN (SELECT x FROM r) FROM l
SELECT s, EXISTS (SELECT 1 FROM r WHERE r.x = l.x) FROM l
SELECT s FROM l WHERE EXISTS (SELECT 1 FROM r WHERE r.x = l.x) OR v = 1
SELECT s FROM l WHERE EXISTS (SELECT 1 FROM r WHERE r.x >= l.x)
SELECT s FROM l WHERE EXISTS (SELECT 1 FROM r WHERE r.x IS NOT DISTINCT FROM l.x)
SELECT s FROM l WHERE EXISTS (SELECT count(*) FROM r WHERE r.x = l.x)
SELECT s FROM l WHERE EXISTS (SELECT 1 FROM r WHERE r.x = l.x LIMIT 1 OFFSET 1)
SELECT s FROM l WHERE x IN (SELECT x FROM r GROUP BY x HAVING count(*) > 4)
SELECT s FROM r WHERE EXISTS (SELECT 1 FROM none n WHERE n.x = r.x)
""".strip().splitlines()
WAYS = {"beside": BESIDE, "alone": ALONE, "": ELSEWHERE}
WAY_OF = {sql: way for way, statements in WAYS.items() for sql in statements}


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[IndexedStage]:
    made = IndexedStage(tmp_path_factory.mktemp("semi"), INDEXES)
    yield made
    made.close()


@pytest.mark.parametrize(("sql", "shards", "grain"), on_sizes(list(WAY_OF)))
def test_semi_joins(stage: IndexedStage, sql: str, shards: int, grain: Grain) -> None:
    way = WAY_OF[sql]
    expected = stage.right(PAIRS, sql)
    assert not isinstance(expected, Exception), expected
    connection = stage.connection(PAIRS, shards, grain)
    actual = run(connection, sql)
    report(difference(actual, expected, ordered="ORDER BY" in sql), sql, shards, grain, actual, expected, way)
    told = explained(connection, sql)
    if shards == 1:
        return
    assert ("answers as of the build" in told and "joined back" not in told) is bool(way), told
    if way:
        assert ("colocated semi-join" in told) is (way == "beside"), told


@pytest.mark.parametrize("sql", [*BESIDE, *ALONE])
def test_without_the_pass_or_trust_or_in_a_scope_the_tables_are_read(stage: IndexedStage, sql: str) -> None:
    for options in ({"disable_passes": ("use_indexes_in_semi_joins", "join_back")}, {"trust_indexes": False}):
        assert "answers as" not in explained(stage.connection(PAIRS, 3, "shard", **options), sql)
    with stage.connection(PAIRS, 3, "shard").scoped(by_k=[1, 2]) as scoped:
        assert "answers as" not in explained(scoped, sql)
