"""Statements that trust lookup and join indexes have one database's answer, on all sizes of cluster."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

import shardwise
from tests.oracle.cases import Case
from tests.oracle.cluster import Grain, sizes
from tests.oracle.compare import answer_of, difference
from tests.oracle.harness import report, run, run_case
from tests.oracle.indexed import IndexedStage, cases, check_random, explained, in_turn, on_sizes
from tests.oracle.worlds import LETTERS, SHOP

WORLDS = {world.name: world for world in (LETTERS, SHOP)}
CASES = cases(tuple(WORLDS))
COUNT = int(os.environ.get("SHARDWISE_FUZZ", "60"))
FIRST = int(os.environ.get("SHARDWISE_FUZZ_SEED", "41000"))


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[IndexedStage]:
    stage = IndexedStage(tmp_path_factory.mktemp("indexed"))
    yield stage
    stage.close()


@pytest.mark.parametrize(("case", "shards", "grain"), in_turn(CASES, every=4))
def test_every_case_with_indexes(indexed: IndexedStage, case: Case, shards: int, grain: Grain) -> None:
    run_case(indexed, WORLDS[case.world], case, shards, grain)


@pytest.mark.parametrize("seed", range(FIRST, FIRST + COUNT))
def test_random_statements_with_indexes(indexed: IndexedStage, seed: int) -> None:
    check_random(indexed, seed)


LOOKED_UP = """
SELECT a.k, b.k, b.v FROM a JOIN b ON a.x = b.x WHERE a.v > 4
SELECT a.k, b.k FROM b LEFT JOIN a ON a.x = b.x WHERE b.v < 9
SELECT a.k, b.k FROM b RIGHT JOIN a ON a.x = b.x WHERE a.v = 10
SELECT k, v FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.x = a.x AND b.v > 2)
SELECT k, v FROM a WHERE NOT EXISTS (SELECT 1 FROM b WHERE b.x = a.x) AND v > 1
SELECT b.k, a.t FROM b JOIN a ON b.v = a.x WHERE a.t = 'n'
SELECT e.src, o.v FROM e JOIN o ON e.dst = o.c WHERE e.src = 2
SELECT t.g1, count(*) FROM t JOIN a ON t.g1 = a.t WHERE a.v = 10 GROUP BY t.g1
SELECT t1.p, t2.q FROM t1 JOIN t2 ON t1.w = t2.w WHERE t1.q < 3
SELECT p.k, q.k, r.k FROM a p JOIN b q ON p.x = q.x JOIN a r ON r.x = q.v WHERE p.v > 6
""".strip().splitlines()


@pytest.mark.parametrize("sql", LOOKED_UP)
def test_keys_that_are_looked_up(indexed: IndexedStage, sql: str) -> None:
    expected = indexed.right(LETTERS, sql)
    asked = 0
    without = ("use_join_indexes", "use_indexes_in_semi_joins", "join_back")
    for shards, grain in sizes():
        connection = indexed.connection(LETTERS, shards, grain, without)
        cursor = connection.execute(sql, force=("keys", "look_up_keys"))
        actual = answer_of(cursor)
        report(difference(actual, expected), sql, shards, grain, actual, expected)
        told = connection.execute(f"EXPLAIN ANALYZE {sql}", force=("keys", "look_up_keys")).fetchall()
        asked += any("it says where keys of" in line for (line,) in told)
    assert asked >= 2


# ------------------------------------------------------------------ statements that use them

USING = """
SELECT a.v, b.v FROM a JOIN b ON a.x = b.x
SELECT a.k, count(*), sum(b.v) FROM a JOIN b ON a.x = b.x GROUP BY a.k
SELECT b.x, count(*), max(a.t), count(DISTINCT a.v) FROM b, a WHERE b.x = a.x GROUP BY b.x HAVING count(*) > 0
SELECT a.k, b.k FROM a JOIN b ON a.x = b.x ORDER BY a.k, b.k, a.v, b.v LIMIT 4
SELECT a.k, b.k, a.v, b.v FROM a JOIN b ON a.x = b.x ORDER BY a.k DESC NULLS LAST, 2, 3, 4 LIMIT 3 OFFSET 2
SELECT DISTINCT a.t, b.v FROM a JOIN b ON a.x = b.x
SELECT count(*) FROM a JOIN b ON a.x = b.x WHERE a.k IS NULL OR b.k IS NULL
SELECT a.k, b.k FROM a JOIN b ON a.x = b.x AND a.v < b.v * 10
SELECT a.v FROM a JOIN b ON a.x = b.x WHERE a.k = 2
SELECT a.v FROM a JOIN b ON a.x = b.x AND a.v = b.v
SELECT a.v FROM a JOIN b ON a.x = b.x WHERE a.v = a.v AND b.v IN (2, 4, 8, NULL)
SELECT a.v, c.k FROM a JOIN b ON a.x = b.x JOIN c ON c.k = a.k
SELECT a.v, c.k FROM c JOIN b ON c.k = b.k JOIN a ON a.x = b.x
SELECT a.v, c.k FROM a JOIN b ON a.x = b.x LEFT JOIN c ON c.k = b.k
SELECT p.k, q.v, r.k, s.v FROM a p JOIN b q ON p.x = q.x JOIN a r ON r.k = p.k JOIN b s ON s.x = r.x
SELECT z.v, b.k FROM (SELECT v, x AS y FROM a WHERE v > 4) z JOIN b ON z.y = b.x
SELECT * FROM (SELECT a.k AS ak, b.k AS bk FROM a JOIN b ON a.x = b.x) z JOIN c ON c.k = z.ak
SELECT a.k FROM a JOIN b ON a.x = b.x WHERE EXISTS (SELECT 1 FROM c WHERE c.k = a.k)
SELECT a.k, (SELECT max(t.v) FROM t WHERE t.k = a.k) FROM a JOIN b ON a.x = b.x
SELECT k FROM c WHERE k IN (SELECT a.k FROM a JOIN b ON a.x = b.x)
SELECT a.k FROM a JOIN b ON a.x = b.x UNION ALL SELECT b.k FROM a JOIN b ON a.x = b.x
SELECT a.k, sum(b.v) OVER (PARTITION BY a.k) FROM a JOIN b ON a.x = b.x
WITH j AS (SELECT a.k, b.v FROM a JOIN b ON a.x = b.x) SELECT l.k, m.v FROM j l JOIN j m ON l.k = m.k
SELECT a.v, n.name FROM a JOIN n ON a.x = n.c JOIN b ON b.x = n.c
SELECT b.v, e.src FROM b JOIN e ON b.x = e.dst
SELECT e.src, sum(o.v) FROM e JOIN o ON e.dst = o.c GROUP BY e.src
SELECT t1.p, t2.q FROM t1 JOIN t2 ON t1.w = t2.w WHERE t1.q < 3
SELECT rg.k, a.v FROM rg JOIN a ON rg.v = a.x WHERE rg.k BETWEEN 1 AND 11
SELECT a.v, t.g1 FROM a JOIN t ON a.x = t.k WHERE a.t = 'n' ORDER BY a.v, t.id LIMIT 3
SELECT count(*) FROM a CROSS JOIN b WHERE a.x = b.x
SELECT a.v FROM a SEMI JOIN b ON a.x = b.x
SELECT a.v FROM a ANTI JOIN b ON a.x = b.x
SELECT a.v, b.v FROM a LEFT JOIN b ON a.x = b.x
SELECT a.v, b.v FROM a FULL JOIN b ON a.x = b.x
SELECT l.k, r.k FROM a l JOIN a r ON l.x = r.x
SELECT b.k FROM b JOIN a ON b.v = a.x
SELECT a.v FROM a WHERE x = 1
SELECT a.v FROM a WHERE x IN (1, 9) AND v > 5
SELECT a.k FROM a WHERE v = 10 AND t = 'n'
SELECT a.k, b.v FROM a JOIN b ON a.k = b.k WHERE a.x = 1
SELECT a.k, b.v FROM b LEFT JOIN a ON a.k = b.k AND a.x = 1
SELECT count(*) FROM t WHERE id = 9
SELECT count(*), max(v) FROM t WHERE id = 99
SELECT v FROM t WHERE id IN (1, 9, 13)
SELECT k FROM t WHERE s = 'Ann' AND g2 = 1
SELECT w FROM t1 WHERE w IN (3, 4)
SELECT k FROM dec WHERE v = 2
""".strip().splitlines()
UNUSED = ("LEFT JOIN b", "ANTI", "FULL", "l.x = r.x")


@pytest.mark.parametrize(("sql", "shards", "grain"), on_sizes(USING))
def test_statements_that_use_an_index(indexed: IndexedStage, sql: str, shards: int, grain: Grain) -> None:
    expected = indexed.right(LETTERS, sql)
    assert not isinstance(expected, Exception), expected
    for trust in (True, False) if (shards, grain) == (3, "shard") else (True,):
        connection = indexed.connection(LETTERS, shards, grain, trust_indexes=trust)
        actual = run(connection, sql)
        ordered = "LIMIT" in sql
        report(
            difference(actual, expected, ordered=ordered), sql, shards, grain, actual, expected, f"{trust}"
        )
    told = explained(indexed.connection(LETTERS, shards, grain), sql)
    is_used = "answers as of the build" in told
    if shards > 1 and not any(words in sql for words in UNUSED):
        assert is_used, told
    if any(words in sql for words in UNUSED):
        assert not is_used, told


@pytest.mark.parametrize("sql", USING)
def test_in_a_scope_no_index_is_read(indexed: IndexedStage, sql: str) -> None:
    """Not even what it holds of others is counted."""
    answers = []
    for trust in (True, False):
        connection = indexed.connection(LETTERS, 3, "shard", trust_indexes=trust)
        with connection.scoped(by_k=[2, 5]) as scoped:
            try:
                answers.append(sorted(map(repr, scoped.execute(sql).fetchall())))
            except shardwise.NotSupportedError as error:
                answers.append([str(error)])
                continue
            told = explained(scoped, sql)
            assert "answers as of" not in told
            first = [line for line in told.splitlines() if line.strip().startswith("SELECT")]
            assert not any(f" {index}" in line for line in first for index in ("a_b", "a_x", "t_id", "b_e"))
    assert answers[0] == answers[1]
