"""Join indexes that lack columns, joined back wherever that is right, against one database."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.oracle.cases import Case
from tests.oracle.cluster import Grain
from tests.oracle.compare import difference
from tests.oracle.harness import report, run, run_case
from tests.oracle.indexed import PAIRS, IndexedStage, cases, check_random, explained, in_turn, on_sizes
from tests.oracle.worlds import LETTERS, SHOP

WORLDS = {world.name: world for world in (LETTERS, SHOP, PAIRS)}
INDEXES = {
    LETTERS.name: """
CREATE JOIN INDEX a_b ON a.x = b.x INCLUDE (a.v) SHARD BY by_k (a.k);
CREATE JOIN INDEX b_a ON b.v = a.x SHARD BY by_k (a.k);
CREATE JOIN INDEX a_k_b_x ON a.k = b.x INCLUDE (b.v) SHARD BY by_k (b.k);
CREATE JOIN INDEX a_to_t ON a.x = t.k INCLUDE (t.id) SHARD BY by_text (a.t);
CREATE JOIN INDEX b_e ON b.x = e.dst SHARD BY by_k (e.src);
CREATE JOIN INDEX e_o ON e.dst = o.c INCLUDE (o.id) SHARD BY by_k (e.src);
CREATE JOIN INDEX t1_t2 ON t1.w = t2.w INCLUDE (t1.q) SHARD BY by_k (t1.p);
CREATE JOIN INDEX rg_a ON rg.v = a.x INCLUDE (a.v) SHARD BY by_range (rg.k);
""",
    SHOP.name: """
CREATE JOIN INDEX cities_countries ON cities.country = countries.code INCLUDE (cities.pop)
  SHARD BY by_code (cities.code);
CREATE JOIN INDEX few_colors ON few.v = colors.id SHARD BY by_id (few.id);
CREATE JOIN INDEX users_temps ON users.grp = temps.n SHARD BY by_id (users.id);
CREATE JOIN INDEX users_cells ON users.grp = cells.v INCLUDE (cells.i) SHARD BY by_id (users.id);
CREATE JOIN INDEX events_cities ON events.kind = cities.country INCLUDE (cities.code)
  SHARD BY by_id (events.uid);
""",
    PAIRS.name: """
CREATE JOIN INDEX l_r ON l.x = r.x INCLUDE (l.v, r.id, r.w) SHARD BY by_k (l.k);
CREATE JOIN INDEX l_none ON l.x = none.x INCLUDE (l.v) SHARD BY by_k (none.id);
CREATE JOIN INDEX r_m ON r.w = m.w INCLUDE (m.z) SHARD BY by_k (r.id);
""",
}
CASES = [case for case in cases(tuple(WORLDS)) if " join " in case.sql.lower()]
COUNT = int(os.environ.get("SHARDWISE_FUZZ", "30"))
FIRST = int(os.environ.get("SHARDWISE_FUZZ_SEED", "47000"))


@pytest.fixture(scope="module")
def joined(tmp_path_factory: pytest.TempPathFactory) -> Iterator[IndexedStage]:
    """Connections that join back whatever it costs."""
    stage = IndexedStage(tmp_path_factory.mktemp("joined"), INDEXES, force=("join_back",))
    yield stage
    stage.close()


@pytest.mark.parametrize(("case", "shards", "grain"), in_turn(CASES, every=9))
def test_every_join_of_the_cases(joined: IndexedStage, case: Case, shards: int, grain: Grain) -> None:
    run_case(joined, WORLDS[case.world], case, shards, grain)


@pytest.mark.parametrize("seed", range(FIRST, FIRST + COUNT))
def test_random_statements(joined: IndexedStage, seed: int) -> None:
    check_random(joined, seed)


BACK = """
SELECT l.s, r.s FROM l JOIN r ON l.x = r.x
SELECT l.s, r.s FROM l JOIN r ON l.x = r.x WHERE l.v = 1 AND r.w > 1
SELECT l.s, r.s FROM l JOIN r ON l.x = r.x WHERE r.w IS NULL
SELECT l.s, r.s FROM l JOIN r ON l.x = r.x WHERE l.v = 99
SELECT l.s, r.s FROM l JOIN r ON l.x = r.x AND l.v < r.w
SELECT l.s, r.s FROM l JOIN r ON l.x = r.x WHERE l.k IS NULL OR r.id < 5
SELECT l.s, r.s FROM r, l WHERE l.x = r.x AND l.s > 'l2' AND r.s < 'r2'
SELECT l.s, r.s FROM l JOIN r ON l.x = r.x ORDER BY l.id, r.id LIMIT 5 OFFSET 3
SELECT l.s, count(*), sum(r.w) FROM l JOIN r ON l.x = r.x WHERE l.v = 2 GROUP BY l.s
SELECT DISTINCT l.s FROM l JOIN r ON l.x = r.x WHERE r.w = 3
SELECT l.s, n.s FROM l JOIN none n ON l.x = n.x
SELECT c.s, count(z.s) FROM c LEFT JOIN (SELECT k, n.s FROM l JOIN none n USING (x)) z ON z.k = c.k GROUP BY 1
SELECT l.s, r.s, m.id FROM l JOIN r ON l.x = r.x JOIN m ON r.w = m.w WHERE m.z > 2
SELECT l.s, r.s, m.id FROM l JOIN r ON l.x = r.x JOIN m ON r.w = m.w WHERE v = 0 AND m.z < 2 AND r.s > 'r1'
SELECT l.s, r.s, c.s FROM l JOIN c ON c.k = l.k JOIN r ON l.x = r.x WHERE r.w = 2
SELECT l.s, r.s, c.s FROM l JOIN r ON l.x = r.x LEFT JOIN c ON c.k = l.k WHERE l.v = 0
SELECT c.s, z.s FROM c LEFT JOIN (SELECT l.k, r.s FROM l JOIN r ON l.x = r.x WHERE r.w = 1) z ON z.k = c.k
SELECT p.s, q.s, t.s FROM l p JOIN r q ON p.x = q.x JOIN r t ON p.x = t.x WHERE q.w = 1 AND t.w = 2
SELECT l.s FROM l JOIN r ON l.x = r.x WHERE l.v = (SELECT min(w) FROM m) AND r.s > 'a'
SELECT l.s FROM l JOIN r ON l.x = r.x WHERE r.w IN (SELECT w FROM m WHERE z > 3) AND r.s > 'a'
SELECT r.s FROM r SEMI JOIN l ON l.x = r.x
SELECT r.s FROM r WHERE EXISTS (SELECT 1 FROM l WHERE l.x = r.x AND l.v = 1)
SELECT r.s, m.z FROM r JOIN m ON m.w = r.w WHERE r.x IN (SELECT x FROM l WHERE v = 1) AND m.z > 1
SELECT r.s, c.s FROM r LEFT JOIN c ON c.k = r.id WHERE EXISTS (SELECT 1 FROM l WHERE l.x = r.x AND l.v > r.w)
SELECT l.s FROM l WHERE EXISTS (SELECT 1 FROM r WHERE l.x = r.x AND r.s > l.s)
SELECT l.s FROM l JOIN r ON l.x = r.x WHERE EXISTS (SELECT 1 FROM c WHERE c.k = l.k AND r.s > c.s)
SELECT k, s FROM c WHERE k IN (SELECT l.k FROM l JOIN r ON l.x = r.x WHERE r.s > 'r1')
SELECT l.s FROM l JOIN r ON l.x = r.x WHERE r.w = 1 UNION ALL SELECT r.s FROM l JOIN r USING (x) WHERE v = 1
WITH j AS (SELECT l.s, r.w FROM l JOIN r ON l.x = r.x WHERE k > 1) SELECT a.s, b.s FROM j a JOIN j b USING (w)
SELECT l.s, sum(r.w) OVER (PARTITION BY l.k ORDER BY l.id, r.id) FROM l JOIN r ON l.x = r.x WHERE r.s > 'r1'
SELECT z.s, r.s FROM (SELECT s, x AS y FROM l WHERE v = 1) z JOIN r ON z.y = r.x
SELECT l.s, r._shard IS NULL AS no FROM l JOIN r ON l.x = r.x WHERE l.v = 1
""".strip().splitlines()
ELSEWHERE = """
SELECT l.s, r.s FROM l LEFT JOIN r ON l.x = r.x
SELECT l.s, r.s FROM l FULL JOIN r ON l.x = r.x
SELECT l.s FROM l ANTI JOIN r ON l.x = r.x
SELECT l.s, r.s FROM l JOIN r ON l.x = r.x + 0
SELECT l.s, r.s FROM l JOIN (SELECT max(x) AS x, s FROM r GROUP BY s) r ON l.x = r.x
""".strip().splitlines()


@pytest.mark.parametrize(("sql", "shards", "grain"), on_sizes(BACK + ELSEWHERE))
def test_pairs(joined: IndexedStage, sql: str, shards: int, grain: Grain) -> None:
    expected = joined.right(PAIRS, sql.replace("r._shard IS NULL", "false"))
    assert not isinstance(expected, Exception), expected
    connection = joined.connection(PAIRS, shards, grain)
    actual = run(connection, sql)
    report(
        difference(actual, expected, ordered="LIMIT" in sql), sql, shards, grain, actual, expected, "forced"
    )
    told = explained(connection, sql)
    if shards > 1:
        assert ("joined back by" in told) is (sql in BACK), told


@pytest.mark.parametrize("sql", BACK)
def test_without_the_pass_or_trust_the_tables_are_read(joined: IndexedStage, sql: str) -> None:
    cluster = joined.cluster(PAIRS, 3, "shard")
    for options in ({"disable_passes": ("join_back",), "trust_indexes": True}, {"trust_indexes": False}):
        with cluster.connect(force=("join_back",), **options) as con:
            assert "joined back" not in explained(con, sql)


@pytest.mark.parametrize("sql", BACK)
def test_in_a_scope_the_tables_are_read(joined: IndexedStage, sql: str) -> None:
    with joined.connection(PAIRS, 3, "shard").scoped(by_k=[1, 2]) as scoped:
        assert "joined back" not in explained(scoped, sql)


def test_explain_says_as_of_when_and_how(joined: IndexedStage) -> None:
    sql = "SELECT l.s, r.s FROM l JOIN r ON l.x = r.x WHERE l.v = 1"
    told = explained(joined.connection(PAIRS, 3, "shard"), sql)
    assert "join index l_r answers as of the build, 2026-12-01T00:00:00Z; joined back by" in told
    assert "is not used" not in told
