"""What `make fuzz` found, as it printed it: each was wrong once."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal

import pytest

from tests.fuzz.dialects import DIALECTS
from tests.fuzz.harness import agree
from tests.fuzz.schema import Sharding, Table, World


def test_a_parameter_in_a_with_item_that_is_not_read() -> None:
    """ProgrammingError: the statement takes 0 parameters, 1 was given."""
    shardings = (Sharding("h0", "MOD 2"),)
    tables = (Table("t0", "k BIGINT", "SHARD BY h0 (k)", rows=((1,), (2,))),)
    agree(
        World(2, shardings, tables),
        "WITH w AS (SELECT 1 AS c FROM t0 WHERE t0.k >= 2) SELECT t0.k FROM t0",
        parameters=True,
    )


@pytest.mark.parametrize(
    "call", ["var_pop(q2.n)", "stddev_samp(q2.n)", "corr(q2.n, q2.r)", "regr_slope(q2.n, q2.r)"]
)
@pytest.mark.parametrize("shards", [2, 3])
def test_a_variance_of_a_side_whose_groups_span_shards(call: str, shards: int) -> None:
    """InternalError: the pass split_aggregates broke the plan: its mean was taken for no aggregate."""
    shardings = (Sharding("h0", "MOD 6"),)
    tables = (
        Table(
            "t1",
            "n INTEGER, r DOUBLE",
            "SHARD BY h0 (n)",
            rows=((1, 1.0), (2, 1.0), (3, 2.0), (8, 1.0), (None, 2.0), (3, None)),
        ),
    )
    for join in (
        ", t1 q2",
        "JOIN t1 q2 ON q1.n < q2.r",
        "LEFT JOIN t1 q2 ON q1.r = q2.r",
        "FULL JOIN t1 q2 ON q1.n = q2.r",
    ):
        for force in ((), ("group_before_joins",)):
            sql = f"SELECT {call} AS c, count(*) AS n, q2.r FROM t1 q1 {join} GROUP BY q2.r"
            agree(World(shards, shardings, tables), sql, force=force)


@pytest.mark.parametrize("seed", [2, 120014])
def test_a_side_of_no_rows_that_reads_an_outer_row_does_not_come_ahead(seed: int) -> None:
    """InternalError: place_gathers broke the plan: nothing makes the columns q1.id."""
    shardings = (Sharding("h0", "MOD 2"),)
    tables = (
        Table("t1", "c INTEGER, id BIGINT, a INTEGER, k INTEGER", "SHARD BY h0 (a)"),
        Table("t2", "k INTEGER", "ON s0", rows=((0,),)),
    )
    for inner in ("t1 q2 JOIN t2 q3 ON q2.k = q3.k", "t2 q3 LEFT JOIN t1 q2 ON q2.k = q3.k"):
        for on in ("JOIN", "LEFT JOIN"):
            lateral = f"LATERAL (SELECT q3.k FROM {inner} WHERE q2.c = q1.id)"
            sql = f"SELECT q1.id FROM t1 q1 {on} {lateral} q4 ON TRUE"
            agree(World(2, shardings, tables), sql, statistics=seed)


@pytest.mark.parametrize("kind", ["JOIN", "RIGHT JOIN", "LEFT JOIN", "SEMI JOIN"])
def test_a_column_twice_in_what_runs_first(kind: str) -> None:
    """KeyError: the one that is read was looked for under the name of the one that is not."""
    shardings = (Sharding("h0", "MOD 2"),)
    tables = (
        Table("t0", "b SMALLINT, f BOOLEAN", "REFERENCE ON h0", rows=((-1, True), (2, False))),
        Table("t1", "a SMALLINT, k INTEGER", "SHARD BY h0 (a)", rows=((1, -1), (2, 3), (3, -1), (4, None))),
    )
    view = "v0 AS SELECT q1.f AS c2, q1.b AS c3, q1.b AS c4 FROM t0 q1 WHERE q1.b IS NOT DISTINCT FROM -1"
    for column in ("c3", "c4"):
        sql = f"SELECT q1.k FROM t1 AS q1 {kind} v0 AS q2 ON q1.k = q2.{column}"
        agree(World(2, shardings, tables, views=(view,)), sql)
        agree(World(2, shardings, tables, views=(view,)), sql, force=("broadcast",))


@pytest.mark.slow
@pytest.mark.parametrize("dialect", ["mysql", "postgres", "duckdb", "sqlite"])
def test_equal_and_equal_with_nulls(dialect: str) -> None:
    """rows: MariaDB took NULLs for equal where a merge's join has `=` and `<=>` of the same columns."""
    shardings = (Sharding("h0", "MOD 2"),)
    rows = ((None, 8), (None, None), (1, 1), (1, 3), (2, 1))
    tables = (Table("t1", "c INT, k INT", "SHARD BY h0 (k)", rows=rows),)
    world = World(2, shardings, tables, dialect=dialect, products=(dialect,))
    same = DIALECTS[dialect].same.format("p.c", "q.c")
    for sql in (
        f"SELECT p.k, q.k AS j FROM t1 p JOIN t1 q ON p.c = q.c AND {same}",
        f"SELECT p.k, q.k AS j FROM t1 p JOIN t1 q ON {same} AND q.c = p.c",
        f"SELECT p.k, q.k AS j FROM t1 p JOIN t1 q ON p.c = q.c WHERE {same}",
        f"SELECT p.k, q.k AS j FROM t1 p JOIN t1 q USING (c) WHERE {same}",
        f"SELECT p.k, q.k AS j FROM t1 p LEFT JOIN t1 q ON p.c = q.c AND {same}",
        f"SELECT p.k FROM t1 p WHERE EXISTS (SELECT 1 FROM t1 q WHERE p.c = q.c AND {same})",
        f"SELECT p.k FROM t1 p WHERE NOT EXISTS (SELECT 1 FROM t1 q WHERE p.c = q.c AND {same})",
        f"SELECT p.k FROM t1 p WHERE p.c IN (SELECT q.c FROM t1 q WHERE {same})",
        f"SELECT p.k FROM t1 p WHERE p.c NOT IN (SELECT q.c FROM t1 q WHERE {same})",
    ):
        agree(world, sql)


@pytest.mark.slow
@pytest.mark.parametrize("dialect", ["mysql", "postgres", "duckdb", "sqlite"])
def test_groups_of_groups_that_are_filtered_by_an_outer_row(dialect: str) -> None:
    """UnknownName: column "f1.c" does not exist: MariaDB sees no outer row in a derived table."""
    shardings = (Sharding("h0", "MOD 3"),)
    rows = ((1, 8), (2, 1), (2, 2), (None, 3), (3, None))
    tables = (
        Table("t0", "id BIGINT, b INT", "SHARD BY h0 (b)", rows=rows),
        Table("t1", "c INT, b INT", "SCATTERED ON h0", rows=((2, 1), (1, 1), (2, 3), (None, 5))),
    )
    world = World(2, shardings, tables, dialect=dialect, products=(dialect,))
    one, some = "SELECT count(*) FROM t0 q", "EXISTS (SELECT 1 FROM t1 r WHERE r.b > 2)"
    for sql in (
        f"SELECT p.c, ({one} WHERE q.id = p.c AND {some}) AS n FROM t1 p",
        f"SELECT p.c, ({one} WHERE q.id = p.c AND {some}) AS n, ({one} WHERE q.b = p.c) AS m FROM t1 p",
        f"SELECT p.c, ({one} WHERE q.id = p.c AND {some} HAVING count(*) > p.b) AS n FROM t1 p",
        f"SELECT p.c FROM t1 p WHERE EXISTS ({one} WHERE q.id = p.c GROUP BY q.b HAVING max(q.id) >= p.c)",
        "SELECT p.c FROM t1 p WHERE p.c IN (SELECT max(q.id) FROM t0 q GROUP BY q.b HAVING avg(q.id) < p.b)",
        "SELECT p.c FROM t1 p WHERE p.c IN (SELECT max(q.id) FROM t0 q GROUP BY q.b HAVING max(q.b) > p.b)",
    ):
        agree(world, sql)


@pytest.mark.parametrize("shards", [1, 2])
def test_a_column_is_called_as_the_planner_calls_what_an_inner_query_reads(shards: int) -> None:
    """OperationalError: table "q1_2" is not in this query: q.c4 was read as a field of the column q."""
    shardings = (Sharding("h0", "MOD 6"),)
    rows = ((4, 1, 1), (4, 2, None), (5, None, 3), (6, 7, 8), (None, 7, 2))
    tables = (
        Table("t2", "k INTEGER, b SMALLINT, q DECIMAL(9,2)", "SHARD BY h0 (k)", rows=rows),
        Table(
            "t3",
            "f1 INTEGER, f2 INTEGER, agg INTEGER, p INTEGER",
            "SCATTERED ON h0",
            rows=((7, 2, 1, 4), (1, 2, 3, 4)),
        ),
    )
    view = "v0 AS SELECT min(r.k) AS c3, bit_xor(r.b) AS c4 FROM t2 r WHERE r.k >= 4 HAVING count(*) < 9"
    count = "v2 AS SELECT count(*) AS n, b AS c FROM t2 GROUP BY b"
    world = World(
        shards, shardings, tables, views=(view, "v1 AS SELECT b, k AS c FROM t2 WHERE b > 1", count)
    )
    for sql in (
        "SELECT 1 AS x FROM v0 a WHERE NOT EXISTS (SELECT 1 FROM v0 b WHERE a.c4 = b.c4)",
        "SELECT a.c FROM v1 a WHERE NOT EXISTS (SELECT 1 FROM t2 WHERE t2.k < a.c OR t2.q = a.b)",
        "SELECT a.c, (SELECT max(t3.p) FROM t3 WHERE t3.p >= a.c) AS m FROM v1 a",
        "SELECT a.c, (SELECT max(t3.p) FROM t3 WHERE t3.f1 < a.n) AS m FROM v2 a",
        "SELECT a.k, z.b FROM t2 a, LATERAL (SELECT max(v1.b) AS b FROM v1, t3 WHERE v1.c <> a.k) z",
        "SELECT q.k FROM t2 q WHERE q.b IN (SELECT t3.f2 FROM t3 WHERE t3.agg < q.k)",
    ):
        agree(world, sql)


@pytest.mark.slow
def test_a_window_over_a_table_that_a_subquery_is_asked_of() -> None:
    """rows: 0 rows, expected 1: MariaDB loses them where the table became a derived one, which it merges."""
    shardings = (Sharding("h0", "MOD 2"),)
    rows = ((1, 2), (2, 2), (3, None))
    tables = (
        Table("t0", "c INT, b INT", "ON s1", rows=rows),
        Table("t1", "c INT, b INT", "SHARD BY h0 (c)", rows=rows),
    )
    world = World(2, shardings, tables, dialect="mysql", products=("mysql",))
    for name in ("t0", "t1"):
        for where in (f"c <= ANY (SELECT b FROM {name})", f"c IN (SELECT x.c FROM {name} x)", "c <= 2"):
            for over in ("PARTITION BY q.b", "PARTITION BY 1", ""):
                agree(world, f"SELECT max(c) OVER ({over}) AS m FROM {name} q WHERE {where}")
                agree(
                    world, f"SELECT max(c) OVER ({over}) AS m FROM {name} q JOIN t0 r USING (c) WHERE {where}"
                )


@pytest.mark.slow
@pytest.mark.parametrize("force", [(), ("keys",), ("group_before_joins",)])
def test_a_full_join_that_a_later_join_makes_one_that_postgres_has(force: tuple[str, ...]) -> None:
    """ProgrammingError: FULL JOIN is only supported with …: the later join was in another statement."""
    shardings = (
        Sharding("h0", "MOD 2"),
        Sharding("h1", "LIST", (("a", "b"), ("ab",), ("x y", "")), text=True),
    )
    rows = ((1, 2), (7, 7), (7, 1), (None, 3), (2, None))
    others = (("a", 7), ("b", 1), ("a", None), ("ab", 2))
    tables = (
        Table("t0", "b INTEGER, k BIGINT", "SHARD BY h0 (b)", rows=rows),
        Table("t1", "s TEXT, c BIGINT", "SHARD BY h1 (s)", rows=others),
        Table("t3", "q NUMERIC", "REFERENCE ON h0", rows=((1,), (0,), (None,), (7,), (2,))),
        Table("t4", "s TEXT, k BIGINT", "ON s1", rows=(("a", 1), ("b", None), (None, 7))),
    )
    seven = "(SELECT b FROM t0 WHERE b IS NOT DISTINCT FROM 7)"
    reference = "(SELECT 1 AS one FROM t3)"
    agree(
        World(2, shardings, tables, dialect="postgres", products=("postgres",)),
        f"SELECT 1 AS x FROM t3 a FULL JOIN {seven} b ON a.q >= 1 JOIN t1 c ON b.b = c.c",
        f"SELECT 1 AS x FROM t3 a FULL JOIN {seven} b ON a.q >= 1 WHERE b.b IN (SELECT c FROM t1)",
        f"SELECT a.q FROM t3 a FULL JOIN {seven} b ON a.q >= 1 WHERE a.q IN (SELECT c FROM t1)",
        f"SELECT c.c, sum(1) AS n FROM t3 a FULL JOIN {seven} b ON a.q > 1 JOIN t1 c ON b.b = c.c GROUP BY 1",
        f"SELECT 1 AS x FROM {reference} a FULL JOIN {seven} b ON b.b > 1 JOIN t1 c ON c.c = b.b",
        f"SELECT b.b FROM {seven} b FULL JOIN {reference} a ON b.b > 1 JOIN t1 c ON c.c = b.b",
        "SELECT a.b FROM t0 a FULL JOIN t0 b ON a.b IS NOT DISTINCT FROM b.b JOIN t1 c ON c.c = b.b",
        "SELECT count(*) AS n FROM t0 a FULL JOIN t1 b ON a.b > b.c JOIN t1 c ON c.c = b.c",
        "SELECT count(*) AS n FROM t0 a FULL JOIN t1 b ON a.b = b.c OR a.b < 3 JOIN t1 c ON c.c = a.b",
        "SELECT a.b FROM t0 a FULL JOIN t0 b ON a.b = (SELECT max(c) FROM t1) JOIN t1 c ON c.c = b.b",
        "SELECT 1 AS x FROM t0 a FULL JOIN t1 b ON 1 IS NOT DISTINCT FROM b.c JOIN t4 c ON b.s = c.s",
        "SELECT a.b FROM t0 a FULL JOIN t1 b ON a.b > 1 RIGHT JOIN t4 c ON c.k = a.b AND c.s = b.s",
        force=force,
    )


@pytest.mark.parametrize("shards", [1, 2])
def test_sqlite_keeps_partitions_together_beside_right_and_full_joins(shards: int) -> None:
    """OperationalError: ON clause references tables to its right: SQLite joined each partition by itself."""
    shardings = (Sharding("h0", "LIST", ((1, 2), (3,))),)
    rows = ((1,), (2,), (3,), (None,), (3,))
    tables = (
        Table("t1", "k BIGINT", "SHARD BY h0 (k)", rows=rows, by_slot=True),
        Table("t2", "a BIGINT", "SHARD BY h0 (a)", rows=rows),
        Table("t4", "b INTEGER", "ON s0", rows=((1,), (7,))),
    )
    world = World(shards, shardings, tables, dialect="sqlite", products=("sqlite",))
    agree(
        world,
        "SELECT 1 AS x FROM t1 a FULL JOIN t4 b ON 1 JOIN t1 c ON 1 JOIN t2 d ON NULL",
        "SELECT c.k FROM t4 b RIGHT JOIN t1 a ON a.k = b.b JOIN t1 c ON c.k = b.b JOIN t2 d ON d.a = c.k",
        "SELECT d.k FROM t1 a JOIN t1 b ON a.k = b.k RIGHT JOIN t2 c ON b.k = c.a JOIN t1 d ON d.k > 1",
        "SELECT d.k FROM t1 a LEFT JOIN t1 b ON a.k = b.k FULL JOIN t2 c ON b.k = c.a LEFT JOIN t1 d ON 1",
    )


@pytest.mark.parametrize("shards", [1, 3])
def test_grouping_of_a_key_in_parentheses(shards: int) -> None:
    """ProgrammingError: GROUPING child must be a grouping column: the key was computed below the groups."""
    shardings = (Sharding("h0", "MOD 3"),)
    rows = ((1, 0, 1), (None, 1, 2), (4, 2, 3), (2, 0, 4), (None, 1, 5), (5, None, None))
    tables = (Table("t0", "a INTEGER, b INTEGER, k BIGINT", "SHARD BY h0 (k)", rows=rows),)
    inner = "SELECT {} AS g, sum(q.b) AS s FROM t0 q WHERE q.k = x.b GROUP BY"
    agree(
        World(shards, shardings, tables),
        f"SELECT x.k, y.g FROM t0 x, LATERAL ({inner.format('GROUPING((q.a % 3))')} CUBE ((q.a % 3), q.b)) y",
        f"SELECT x.k, y.g FROM t0 x, LATERAL ({inner.format('GROUPING(((q.a)))')} ROLLUP ((q.a), q.b)) y",
        f"SELECT x.k, y.g FROM t0 x, LATERAL ({inner.format('GROUPING((q.b), (q.a))')} CUBE (q.a, q.b)) y",
        "SELECT GROUPING((q.a + x.a)) AS g, count(DISTINCT q.b) AS n FROM t0 q JOIN t0 x ON q.k = x.b "
        "GROUP BY CUBE ((q.a + x.a), x.b)",
    )


@pytest.mark.slow
@pytest.mark.parametrize("dialect", ["postgres", "duckdb"])
def test_distinct_on_a_subquery_by_which_rows_are_sorted(dialect: str) -> None:
    """ProgrammingError: SELECT DISTINCT ON expressions must match …: it was bound twice, as two."""
    shardings = (Sharding("h0", "MOD 2"),)
    rows = ((1, 1), (2, 2), (3, 1), (4, None), (None, 3))
    tables = (
        Table("t1", "k INTEGER, c BIGINT", "SHARD BY h0 (k)", rows=rows),
        Table("t5", "k INTEGER, id BIGINT", "SHARD BY h0 (k)", rows=rows),
    )
    one = "(SELECT min(r.k) FROM t1 r WHERE r.c = q.id)"
    listed = "q.id IN (SELECT r.k FROM t1 r WHERE r.c = q.k)"
    agree(
        World(2, shardings, tables, dialect=dialect, products=(dialect,)),
        f"SELECT DISTINCT ON ({one}) {one} AS x, q.k FROM t5 q ORDER BY 1, 2",
        f"SELECT DISTINCT ON ({one}) q.k FROM t5 q ORDER BY {one}, 1",
        f"SELECT DISTINCT ON ({one}, q.k) q.k, q.id FROM t5 q ORDER BY {one} DESC, 1, 2",
        f"SELECT DISTINCT ON ({one} + 1) q.*, {one} + 1 AS x FROM t5 q ORDER BY {one} + 1, q.k, q.id",
        f"SELECT DISTINCT ON ({listed}) q.k FROM t5 q ORDER BY {listed}, 1",
        f"SELECT DISTINCT ON ({one}) {one} AS x, count(*) AS n FROM t5 q GROUP BY q.id ORDER BY 1, 2",
        "SELECT DISTINCT ON ((SELECT max(k) FROM t1)) (SELECT max(k) FROM t1) AS x, k FROM t5 ORDER BY 1, 2",
    )


@pytest.mark.slow
@pytest.mark.parametrize("place", ["REFERENCE ON h0", "ON s1", "SHARD BY h1 (k)"])
def test_the_first_rows_of_a_union_sort_otherwise_than_its_arms(place: str) -> None:
    """rows: 5 rows, expected 5: an arm gave its first by its ENUM's places, or by its own collation."""
    shardings = (Sharding("h0", "MOD 2"), Sharding("h1", "HASH(crc32) SLOTS 8"))
    texts = ("b", "a", "10", "1", "B", None, "a", "1", "A")
    rows = tuple((n, text, text, text, text) for n, text in enumerate(texts))
    columns = (
        "k INT, e ENUM('b','a','10','1'), st SET('b','a','10','1'), "
        "s VARCHAR(9) COLLATE utf8mb4_general_ci, n VARCHAR(9) COLLATE utf8mb4_bin"
    )
    tables = (
        Table("t0", columns, "SHARD BY h0 (k)", rows=rows),
        Table("t1", columns, place, rows=rows[:2]),
    )
    world = World(2, shardings, tables, dialect="mysql", products=("mysql",))
    for one, other in (("e", "e"), ("st", "st"), ("s", "n"), ("n", "s"), ("e", "s"), ("k", "s"), ("s", "s")):
        for limit in (2, "4 OFFSET 2"):
            union = f"SELECT x.{one} AS c FROM t0 x UNION ALL SELECT y.{other} FROM t1 y"
            agree(world, f"SELECT * FROM ({union}) z ORDER BY 1 LIMIT {limit}")
            agree(world, f"SELECT * FROM ({union}) z ORDER BY 1 DESC LIMIT {limit}", force=("seek_pages",))


@pytest.mark.slow
@pytest.mark.parametrize("dialect", ["postgres", "duckdb"])
@pytest.mark.parametrize("shards", [1, 2])
def test_distinct_on_a_subquery_in_a_statement_that_is_kept_whole(dialect: str, shards: int) -> None:
    """ProgrammingError: SELECT DISTINCT ON expressions must match …: its tables had two names each."""
    shardings = (Sharding("h0", "MOD 2"),)
    rows = ((1, 1), (2, 2), (3, 1), (4, None), (None, 3))
    tables = (
        Table("t1", "k INTEGER, c BIGINT", "SHARD BY h0 (k)", rows=rows),
        Table("t5", "k INTEGER, id BIGINT", "SHARD BY h0 (k)", rows=rows),
    )
    one = "(SELECT min(r.k) FROM t1 r JOIN t5 s ON r.k = s.id WHERE r.c = q.id)"
    other = "(SELECT max(c) FROM t1)"
    listed = f"string_agg(DISTINCT CAST({one} AS TEXT), ',' ORDER BY CAST({one} AS TEXT))"
    ahead = "WITH RECURSIVE w(n) AS (SELECT 1 UNION SELECT n + 1 FROM w WHERE n < 4)"
    source = "FROM t5 q JOIN w ON w.n = q.k"
    agree(
        World(shards, shardings, tables, dialect=dialect, products=(dialect,)),
        f"{ahead} SELECT DISTINCT ON ({one}) {one} AS x, q.k {source} ORDER BY 1, 2",
        f"{ahead} SELECT DISTINCT ON ({one}) q.k {source} ORDER BY {one} DESC, 1",
        f"{ahead} SELECT DISTINCT ON ({one}, {other}) {one} + 1 AS x, k {source} ORDER BY {one}, {other}, 2",
        f"{ahead} SELECT DISTINCT ON ({one}) {one} AS x, count(*) AS n {source} GROUP BY {one} ORDER BY 1, 2",
        f"{ahead} SELECT x.* FROM (SELECT DISTINCT ON ({one}) {one} AS x, q.k {source} ORDER BY 1, 2) x",
        f"{ahead} SELECT DISTINCT {one} AS x, {other} AS y {source} ORDER BY {other}, {one}",
        f"{ahead} SELECT DISTINCT {one} AS x {source} GROUP BY {one} ORDER BY {one}",
        *([f"{ahead} SELECT {listed} AS x {source}"] if dialect == "postgres" else []),
    )


@pytest.mark.parametrize("shards", [1, 2])
def test_groups_by_what_is_computed_are_filtered_by_it(shards: int) -> None:
    """column "f1.c4" does not exist: MariaDB's HAVING knows columns that are grouped by, no expressions."""
    rows = ((1, 2), (2, 2), (3, 1), (4, 0), (5, None), (6, 3))
    tables = (Table("t3", "k INTEGER, n INTEGER", "SHARD BY h0 (k)", rows=rows),)
    world = World(shards, (Sharding("h0", "MOD 2"),), tables, dialect="mysql", products=("mysql",))
    for sql in (
        "SELECT 1 AS x FROM (SELECT q.c % 3 g, min(1) n FROM (SELECT 1 c FROM t3) q GROUP BY 1) r WHERE g=n",
        "SELECT n + 1 AS g, count(*) AS c FROM t3 GROUP BY n + 1 HAVING g > c",
        "SELECT k, n + 1 AS g, count(*) AS c FROM t3 GROUP BY k, n + 1 HAVING g > c OR g IS NULL",
        "SELECT concat(n, 'x') AS g, avg(k) AS c FROM t3 GROUP BY concat(n, 'x') HAVING g > c",
        "SELECT k, n % 2 AS g, avg(n) AS c FROM t3 GROUP BY k, n % 2 HAVING coalesce(g, 0) < c AND k > g",
    ):
        agree(world, sql)


_REPEATED = (
    "(SELECT min(r.k) FROM t1 r WHERE r.c = q.id)",
    "(SELECT max(k) FROM t1)",
    "EXISTS (SELECT 1 FROM t1 r WHERE r.c = q.id)",
    "(SELECT count(*) FROM t1 r WHERE r.c IN (SELECT z.id FROM t5 z WHERE z.k > q.id) AND r.k > 1)",
)


def _repeated_world(shards: int, dialect: str) -> World:
    rows = ((1, 1), (2, 2), (3, 1), (4, None), (None, 3))
    tables = (
        Table("t1", "k INTEGER, c BIGINT", "SHARD BY h0 (k)", rows=rows),
        Table("t5", "k INTEGER, id BIGINT", "SHARD BY h0 (k)", rows=rows),
    )
    return World(shards, (Sharding("h0", "MOD 2"),), tables, dialect=dialect, products=(dialect,))


@pytest.mark.slow
@pytest.mark.parametrize("shards", [1, 2])
@pytest.mark.parametrize("dialect", ["postgres", "duckdb", "mysql", "sqlite"])
@pytest.mark.parametrize("one", _REPEATED)
def test_a_subquery_that_is_written_again_is_the_key(dialect: str, shards: int, one: str) -> None:
    """ProgrammingError: "id" must appear in the GROUP BY clause: it was bound twice, as two."""
    agree(
        _repeated_world(shards, dialect),
        f"SELECT {one} AS x, count(*) AS n FROM t5 q GROUP BY {one}",
        f"SELECT {one} + 1 > 1 AS x, count(*) AS n FROM t5 q GROUP BY {one}"
        if not one.startswith("EXISTS")
        else f"SELECT NOT {one} AS x, count(*) AS n FROM t5 q GROUP BY {one}",
        f"SELECT {one} AS x, count(*) AS n FROM t5 q GROUP BY {one} ORDER BY {one}, 2",
        f"SELECT DISTINCT {one} AS x FROM t5 q ORDER BY {one}",
        f"SELECT {one} AS x, count({one}) AS n FROM t5 q GROUP BY {one}",
        f"SELECT {one} AS x, sum(count(*)) OVER (PARTITION BY {one}) AS n FROM t5 q GROUP BY {one}",
        *([f"SELECT {one} AS x FROM t5 q GROUP BY 1 HAVING {one} = {one}"] if dialect != "mysql" else []),
    )


@pytest.mark.slow
@pytest.mark.parametrize("shards", [1, 2])
@pytest.mark.parametrize("dialect", ["postgres", "duckdb"])
@pytest.mark.parametrize("one", _REPEATED)
def test_a_subquery_among_grouping_sets_is_null_where_it_is_left_out(
    dialect: str, shards: int, one: str
) -> None:
    """Wrong rows: it had its value in the row of the total, or was computed of the other keys."""
    agree(
        _repeated_world(shards, dialect),
        f"SELECT {one} AS x, count(*) AS n FROM t5 q GROUP BY ROLLUP ({one})",
        f"SELECT {one} AS x, q.id, count(*) AS n FROM t5 q GROUP BY GROUPING SETS (({one}), (q.id))",
        f"SELECT q.id, {one} AS x, count(*) AS n FROM t5 q GROUP BY CUBE ({one}, q.id) ORDER BY {one}, 1, 3",
        f"SELECT count(*) AS n FROM t5 q GROUP BY ROLLUP ({one}) ORDER BY {one} NULLS FIRST, 1",
    )


@pytest.mark.slow
@pytest.mark.parametrize("dialect", ["postgres", "duckdb"])
def test_of_two_select_items_that_are_a_key_beside_grouping_sets(dialect: str) -> None:
    """To PostgreSQL the first is the key, and the second is computed; to DuckDB both are."""
    one = "(SELECT max(k) FROM t1)"
    smallest = "(SELECT min(k) FROM t1)"
    joined, crossed = (f"(SELECT max(a.k) FROM t1 a, t1 b WHERE {on})" for on in ("a.k = b.c", "b.k = a.c"))
    agree(
        _repeated_world(2, dialect),
        f"SELECT {one} AS x, {one} AS y, count(*) AS n FROM t5 q GROUP BY ROLLUP ({one})",
        f"SELECT {one} AS x, {one} AS y, count(*) AS n FROM t5 q GROUP BY ROLLUP (2)",
        f"SELECT {one} IS NULL AS x, count(*) AS n FROM t5 q GROUP BY ROLLUP ({one})",
        f"SELECT {one} AS x, {smallest} AS y FROM t5 GROUP BY GROUPING SETS (({one}), ({smallest}))",
        f"SELECT {joined} AS x, {crossed} AS y FROM t5 GROUP BY GROUPING SETS (({joined}), ({crossed}))",
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("dialect", "tables", "key"),
    [
        ("postgres", "t5", "max(t1.k)"),
        ("duckdb", "t5", "max(t1.k)"),
        ("duckdb", "t5", "max(k) AS m"),
        ("postgres", "t5 NATURAL JOIN t1", "max(k)"),
    ],
)
def test_a_subquery_is_not_taken_for_a_key_in_doubt(dialect: str, tables: str, key: str) -> None:
    """Wrong rows: it depends on how both are written, or on names that a text kept whole changes."""
    sql = f"SELECT (SELECT max(k) FROM t1) AS x FROM {tables} GROUP BY ROLLUP ((SELECT {key} FROM t1))"
    with pytest.raises(AssertionError, match="NotSupportedError: a subquery among the keys"):
        agree(_repeated_world(2, dialect), sql)


@pytest.mark.slow
@pytest.mark.parametrize("dialect", ["postgres", "mysql", "duckdb"])
def test_using_of_columns_of_two_types(dialect: str) -> None:
    """rows: sum(k) was a bigint: PostgreSQL brings both columns of USING to one type, of which k is."""
    shardings = (Sharding("h0", "MOD 3"),)
    rows = ((2, 1), (3, 2), (None, 3), (8, None), (2, 2))
    tables = (
        Table("t0", "k BIGINT, b INTEGER", "SHARD BY h0 (k)", rows=rows),
        Table("t1", "k INTEGER, b INTEGER", "SCATTERED ON h0", rows=rows),
        Table("t2", "k DECIMAL(9,2), b INTEGER", "SCATTERED ON h0", rows=rows[1:]),
    )
    world = World(2, shardings, tables, dialect=dialect, products=(dialect,))
    for one, other in (("t0", "t1"), ("t1", "t0"), ("t1", "t2"), ("t2", "t0")):
        for join in ("JOIN", "LEFT JOIN", "RIGHT JOIN"):
            text = f"FROM {one} x {join} {other} y USING (k)"
            agree(world, f"SELECT x.b, sum(k) AS s, min(k) AS m {text} GROUP BY x.b")
        made = f"(SELECT k + 1 AS k FROM {other}) y"
        agree(world, f"SELECT k, count(*) AS n FROM {one} JOIN {made} USING (k) GROUP BY k")


@pytest.mark.slow
def test_using_of_a_date_and_a_moment() -> None:
    """rows: k was a date."""
    shardings = (Sharding("h0", "MOD 3"),)
    tables = (
        Table("t0", "k DATE, a INT", "SHARD BY h0 (a)", rows=((date(2024, 2, 29), 1), (None, 2))),
        Table("t1", "k TIMESTAMP, b INT", "SHARD BY h0 (b)", rows=((datetime(2024, 2, 29), 4), (None, 2))),
    )
    agree(
        World(2, shardings, tables, dialect="postgres", products=("postgres",)),
        "SELECT k, a, b FROM t0 JOIN t1 USING (k)",
        "SELECT max(k) AS k, a FROM t0 LEFT JOIN t1 USING (k) GROUP BY a",
        "SELECT max(k) AS k, b FROM t1 LEFT JOIN t0 USING (k) GROUP BY b",
    )


@pytest.mark.slow
@pytest.mark.parametrize("product", ["mysql", "postgres", "sqlite"])
def test_a_moment_among_those_of_groups_that_have_none(product: str) -> None:
    """rows: MariaDB takes a moment for none of `min(w)` that is NULL, where it asks HAVING for it."""
    moment = datetime(2024, 1, 1)
    rows = ((1, moment, date(2024, 1, 1), 1), (2, None, None, None), (3, moment, None, 2))
    none = ((1, None, None, None), (2, moment, date(2024, 2, 29), 1), (3, None, None, 2))
    tables = (
        Table("t", "k BIGINT, w TIMESTAMP, d DATE, a INTEGER", "SHARD BY h (k)", rows=rows),
        Table("z", "k BIGINT, w TIMESTAMP, d DATE, a INTEGER", "REFERENCE ON h", rows=none),
    )
    world = World(2, (Sharding("h", "MOD 2"),), tables, products=(product,))
    for c in ("w", "d", "a"):
        for inner in (
            f"SELECT min(y.{c}) FROM z y WHERE y.k > 3",
            f"SELECT max(y.{c}) FROM z y WHERE y.k = x.k GROUP BY y.a",
            f"SELECT y.{c} FROM z y WHERE y.k = x.k GROUP BY y.{c} HAVING count(*) < 3",
            f"SELECT (SELECT min(v.{c}) FROM z v WHERE v.k = y.k) FROM z y WHERE y.k = x.k",
            f"SELECT y.{c} FROM z y WHERE y.k = x.k",
        ):
            is_in = f"x.{c} IN ({inner})"
            agree(world, f"SELECT x.k, {is_in} AS f FROM t x WHERE NOT {is_in} OR x.k = 1")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("dialect", "product"),
    [(dialect, product) for product in ("mysql", "postgres", "sqlite") for dialect in ("duckdb", product)],
)
def test_keys_in_a_subquery_that_runs_on_a_shard(dialect: str, product: str) -> None:
    """InternalError: no node makes the column .c1: the keys' own column was taken for an outer row's."""
    tables = (
        Table("z", "k BIGINT, s VARCHAR(9)", "REFERENCE ON h", rows=((6, "a"), (6, "b"), (6, None))),
        Table("e", "k BIGINT, s VARCHAR(9)", "SHARD BY h (k)", rows=((6, "a"), (8, "b"), (7, "b"))),
    )
    world = World(2, (Sharding("h", "MOD 2"),), tables, dialect=dialect, products=(product,))
    for maybe in ("", "NOT "):
        for on in ("y.k = x.k", "y.k = x.k AND y.s = x.s"):
            sql = f"SELECT x.s FROM z x WHERE {maybe}EXISTS (SELECT 1 FROM e y WHERE {on})"
            for statistics in (5, 19):
                agree(world, sql, force=("keys",), statistics=statistics)
                agree(world, sql, force=("broadcast",), statistics=statistics)


@pytest.mark.parametrize("product", ["postgres", "mysql", "sqlite", "duckdb"])
def test_groups_by_a_constant(product: str) -> None:
    """OperationalError: non-integer constant in GROUP BY, which PostgreSQL says of GROUP BY NULL."""
    tables = (
        Table("t", "k INTEGER", "SHARD BY h (k)", rows=((1,), (2,), (3,))),
        Table("e", "k INTEGER", "ON s1"),
        Table("o", "k INTEGER", "ON s1", rows=((1,), (1,))),
    )
    of_constant = "SELECT q.c AS c, count(*) AS n FROM (SELECT 1 AS c, k FROM {} x) q GROUP BY q.c"
    agree(
        World(2, (Sharding("h", "MOD 2"),), tables, products=(product,)),
        *(of_constant.format(table) for table in "teo"),
        *(f"{of_constant.format(table)} HAVING max(q.k) > 1" for table in "teo"),
        *(f"SELECT sum(z.n) AS s FROM ({of_constant.format(table)}) z" for table in "teo"),
    )


@pytest.mark.parametrize("product", ["postgres", "mysql", "sqlite"])
def test_groups_of_groups_that_a_select_list_parts(product: str) -> None:
    """InternalError: nothing makes the columns agg_groups.n: there was no join to group before."""
    tables = (
        Table("t", "k INTEGER, a INTEGER", "SHARD BY h (k)", rows=((1, 1), (2, 1), (3, None), (4, 1))),
        Table("o", "k INTEGER", "ON s0", rows=((1,), (1,))),
    )
    groups = "SELECT a, COALESCE(sum(k), 0) + count(*) AS n FROM t GROUP BY k, a"
    agree(
        World(1, (Sharding("h", "MOD 1"),), tables, products=(product,)),
        f"SELECT 1 AS c FROM (SELECT count(*) AS n FROM ({groups}) v GROUP BY v.a) g JOIN o ON 1",
        f"SELECT g.m FROM (SELECT count(*), max(v.a) AS m FROM ({groups}) v GROUP BY v.a) g JOIN o ON 1",
        force=("group_before_joins",),
    )


PICKED = (
    "SELECT q.c, b.k FROM (SELECT max(c) AS c FROM r) q LEFT JOIN t b ON q.c = b.k AND b.k = 2",
    "SELECT q.c, b.k FROM (SELECT c FROM r ORDER BY c LIMIT 2) q LEFT JOIN t b ON q.c = b.k AND b.k = 2",
    "SELECT q.c, b.k FROM o q LEFT JOIN t b ON q.c = b.k AND b.k = 2",
    "SELECT q.c, b.k FROM o q JOIN t b ON q.c = b.k AND b.k IN (2, 4)",
    "SELECT q.c, b.k FROM t b JOIN o q ON b.k = 2",
)
"""Rows of one shard, of which another shard would make some of its own, or lacks a table."""


@pytest.mark.parametrize("dialect", ["duckdb", "sqlite", "postgres", "mysql"])
def test_what_is_on_one_shard_is_not_asked_on_others(dialect: str) -> None:
    """rows: a FULL JOIN had rows twice; OperationalError: shard "s1" is not as the catalog says."""
    tables = (
        Table(
            "t", "k INTEGER, v INTEGER", "SHARD BY h (k)", rows=((2, 1), (3, 2), (None, 3), (4, 4), (2, 5))
        ),
        Table("r", "c INTEGER", "REFERENCE ON h", rows=((1,), (2,), (3,))),
        Table("o", "c INTEGER", "ON s0", rows=((1,), (2,))),
    )
    world = World(2, (Sharding("h", "MOD 2"),), tables, dialect=dialect, products=(dialect,))
    kinds = ("LEFT", "RIGHT") if dialect == "mysql" else ("FULL", "LEFT", "RIGHT")
    every = "" if dialect == "sqlite" else " ALL"
    for picked in PICKED:
        agree(
            world,
            *(f"SELECT x.v, y.c, y.k FROM t x {kind} JOIN ({picked}) y ON x.k = y.k" for kind in kinds),
            *(f"SELECT x.v, y.c, y.k FROM ({picked}) y {kind} JOIN t x ON x.k = y.k" for kind in kinds),
            f"SELECT x.v FROM t x WHERE NOT EXISTS (SELECT 1 FROM ({picked}) y WHERE y.k = x.k)",
            f"SELECT x.v, (SELECT count(*) FROM ({picked}) y WHERE y.k = x.k) AS n FROM t x",
            f"SELECT k FROM t EXCEPT{every} SELECT y.k FROM ({picked}) y",
        )


@pytest.mark.parametrize("dialect", ["mysql", "duckdb"])
@pytest.mark.parametrize("shards", [1, 2])
def test_a_limit_in_a_derived_table_of_a_list(dialect: str, shards: int) -> None:
    """OperationalError: This version of MariaDB doesn't yet support 'LIMIT & IN/ALL/ANY/SOME subquery'."""
    tables = (
        Table(
            "t", "k INTEGER, v INTEGER", "SHARD BY h (k)", rows=((2, 1), (4, 2), (None, 3), (3, 3), (4, 5))
        ),
        Table("r", "c INTEGER", "REFERENCE ON h", rows=((1,), (2,), (4,))),
    )
    world = World(shards, (Sharding("h", f"MOD {shards}"),), tables, dialect=dialect, products=("mysql",))
    for few in (
        "SELECT b.c FROM (SELECT c FROM r ORDER BY c LIMIT 2) b",
        "SELECT b.k FROM (SELECT k FROM t WHERE k = 4 ORDER BY k LIMIT 2) b",
        "SELECT b.c FROM (SELECT c FROM r ORDER BY c LIMIT 1) b UNION SELECT 4 FROM r",
    ):
        agree(
            world,
            *(f"SELECT k, v FROM t WHERE k {test} ({few})" for test in ("IN", "NOT IN", "= ANY", "> ALL")),
            f"SELECT k, v FROM t WHERE k = 4 AND v NOT IN ({few})",
            f"SELECT k, count(*) AS n FROM t WHERE k = 4 GROUP BY k HAVING k IN ({few})",
            f"SELECT c, (SELECT max(k) FROM t WHERE k IN ({few})) AS m FROM r",
            f"SELECT c FROM r WHERE c IN ({few})",
        )


@pytest.mark.parametrize("dialect", ["mysql", "duckdb"])
@pytest.mark.parametrize("shards", [1, 2])
def test_groups_by_two_keys_of_the_same_name(dialect: str, shards: int) -> None:
    """UnknownName: column "f2.k" does not exist: MariaDB's HAVING finds neither b.k nor a.k."""
    rows = ((1, 1), (2, 0), (2, 1), (2, 1), (3, 0), (None, 0))
    tables = (Table("t", "k SMALLINT, a BIGINT", "SHARD BY h (k)", rows=rows),)
    world = World(shards, (Sharding("h", f"MOD {shards}"),), tables, dialect=dialect, products=("mysql",))
    shown = "b.k AS bk, c.k AS ck, count(*) AS n, avg(c.a) AS v"
    pairs = f"SELECT {shown} FROM t c JOIN t b ON c.a = b.a GROUP BY b.k, c.k"
    joined = "t c JOIN t b ON c.a >= b.a"
    for without in ((), ("push_filters",)):
        agree(
            world,
            f"SELECT x.n FROM ({pairs}) x WHERE x.bk + x.n > x.ck",
            f"SELECT x.n FROM ({pairs}) x WHERE x.bk + x.n > x.ck AND x.v * 3 > -1",
            f"SELECT x.bk, x.ck FROM ({pairs}) x WHERE x.bk >= x.n AND x.ck <> x.n",
            f"SELECT (SELECT count(*) FROM ({pairs}) x WHERE x.bk + x.n > y.k) AS c FROM t y",
            "SELECT b.k FROM t c JOIN t b ON 1 = 1 GROUP BY b.k, c.k HAVING count(*) >= b.k",
            # A derived table would cut the quotient:
            f"SELECT b.k, avg(c.a) * 3 AS v FROM {joined} GROUP BY b.k, c.k HAVING count(*) + b.k > 0",
            without=without,
        )


@pytest.mark.parametrize("shards", [1, 2])
def test_arms_in_parentheses_give_a_text_in_quotes_its_type(shards: int) -> None:
    """rows: 'ab' for 'ab    '; OperationalError: UNION types text and date cannot be matched."""
    rows = (("ab", date(2024, 1, 1), 5), ("c", None, 6), (None, date(2024, 2, 1), 7))
    tables = (Table("t", "s CHAR(6), d DATE, n INTEGER", "SHARD BY h (n)", rows=rows),)
    world = World(
        shards, (Sharding("h", f"MOD {shards}"),), tables, dialect="postgres", products=("postgres",)
    )
    arms = (
        ("''", "s"),
        ("NULL", "s"),
        ("'2024-03-01'", "d"),
        ("NULL", "n"),
        ("'a'", "'b'"),
        ("NULL", "NULL"),
    )
    for one, other in arms:
        for x, y in ((one, other), (other, one)):
            for first, last in (("(", ")"), ("", "")):
                union = f"{first}SELECT {x} AS c FROM t{last} UNION {first}SELECT {y} AS c FROM t{last}"
                agree(world, f"SELECT c FROM ({union}) z", f"WITH z AS ({union}) SELECT c FROM z", union)


def test_a_table_of_which_no_slot_is_wanted_has_its_own_types() -> None:
    """OperationalError: column "c1" is TINYINT on shard "s1", not INT as the catalog says."""
    values = {
        "TINYINT": 4,
        "SMALLINT UNSIGNED": 4,
        "DECIMAL(9,2)": Decimal("1.50"),
        "FLOAT": 0.5,
        "YEAR": 2024,
        "BIT(5)": 9,
        "CHAR(6) COLLATE utf8mb4_general_ci": "a",
        "ENUM('a','b')": "a",
    }
    for type_, value in values.items():
        tables = (
            Table("x", f"b TINYINT, d {type_}", "SHARD BY h (b)", rows=((1, value), (2, None), (4, value))),
            Table("y", f"k TINYINT, c {type_}", "SHARD BY h (k)", rows=((4, value), (5, None)), by_slot=True),
        )
        few = "SELECT k, c FROM y WHERE k IN (4)"
        agree(
            World(2, (Sharding("h", "MOD 3"),), tables, dialect="mysql", products=("mysql",)),
            f"SELECT x.b, q.c FROM x LEFT JOIN ({few}) q ON x.b = q.k",
            f"SELECT x.b, q.k FROM x LEFT JOIN ({few}) q ON x.b = q.k AND x.d = q.c",
        )
