"""Values that are equal and not the same, or equal to Python alone, in joins across shards."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from tests.oracle.cluster import By, Cluster, Table, mod
from tests.oracle.compare import answer_of, difference
from tests.oracle.harness import Stage, run
from tests.oracle.worlds import World

COLUMNS = "k INTEGER, t VARCHAR, f FLOAT, i INTERVAL, z TIMESTAMPTZ, w TIMETZ, u UHUGEINT"


def _odd(first: int, step: int) -> str:
    """Rows of values that are equal and not the same, or that are equal to Python alone."""
    large = 2**128 - 1
    rows = (
        "'-0.0', 0.0, '30 days', '2021-11-07 05:30:00+00', '12:00:00+00', 1",
        f"'0.0', '-0.0', '1 month', '2021-11-07 06:30:00+00', '13:00:00+01', '{large}'",
        "'30 days', 0.0, '30 days', '2021-11-07 05:30:00+00', '12:00:00+00', 1",
        "'1 month', '-0.0', '720 hours', '2021-11-07 06:30:00+00', '13:00:00+01', 2",
    )
    selects = (f"SELECT {first + n * step} AS k, {row}" for n, row in enumerate(rows))
    return " UNION ALL ".join(selects)


ODD = World(
    "odd",
    [
        Table("odd", COLUMNS, By("by_k", "k"), query=_odd(0, 1)),
        Table("even", COLUMNS, By("by_k", "k"), query=_odd(6, 6) + " UNION ALL " + _odd(30, 6)),
    ],
    [mod("by_k")],
)

CASES = {
    "one of equal values stood for all": """
        SELECT k FROM odd o SEMI JOIN even e ON e.f = o.f AND CAST(e.f AS VARCHAR) = o.t;
        SELECT k FROM odd o ANTI JOIN even e ON e.f = o.f AND CAST(e.f AS VARCHAR) = o.t;
        SELECT k FROM odd o SEMI JOIN even e ON e.f = o.f AND CAST(e.i AS VARCHAR) = o.t;
        SELECT k FROM odd o WHERE EXISTS (SELECT 1 FROM even e WHERE e.f = o.f AND concat(e.f, '') = o.t);
        SELECT k FROM odd o WHERE EXISTS (SELECT 1 FROM even e WHERE e.i = o.i AND e.f = o.f)""",
    "two that are equal to Python were one key": """
        SELECT o.k, g.n FROM odd o LEFT JOIN (SELECT z, count(*) AS n FROM even GROUP BY z) g ON g.z = o.z;
        SELECT o.k, g.n FROM odd o LEFT JOIN (SELECT w, count(*) AS n FROM even GROUP BY w) g ON g.w = o.w;
        SELECT o.k, e.k FROM odd o LEFT JOIN even e ON o.z = e.z AND e.t <> 'x';
        SELECT o.k, e.k FROM odd o JOIN even e ON o.z = e.z AND o.f = e.f WHERE o.t <> 'x';
        SELECT o.k FROM odd o WHERE o.z IN (SELECT z FROM even WHERE k > 6);
        SELECT o.k FROM odd o WHERE o.w IN (SELECT w FROM even WHERE k > 6)""",
    "the driver does not take it": """
        SELECT o.k, g.n FROM odd o JOIN (SELECT u, count(*) AS n FROM even GROUP BY u) g ON g.u = o.u;
        SELECT o.k FROM odd o WHERE o.u IN (SELECT u FROM even WHERE k > 6);
        SELECT o.k FROM odd o WHERE o.u = (SELECT max(u) FROM even)""",
}


@pytest.mark.parametrize("shards", [2, 3])
@pytest.mark.parametrize("force", [(), ("keys", "push_distinct"), ("broadcast", "push_distinct")], ids=str)
@pytest.mark.parametrize("sql", [sql.strip() for each in CASES.values() for sql in each.split(";")])
def test_equal_and_not_the_same(stage: Stage, sql: str, force: tuple[str, ...], shards: int) -> None:
    zone = "America/New_York"
    cluster = stage.cluster(ODD, shards, "shard")
    one = duckdb.connect(str(cluster.folder / "whole.duckdb"), read_only=True)
    one.execute(f"SET TimeZone = '{zone}'")
    with one, cluster.connect(force=force, time_zone=zone) as connection:
        expected = answer_of(one.execute(sql))
        assert difference(run(connection, sql), expected) is None


def test_what_is_compared_as_floating_point_is_not_chained(tmp_path: Path) -> None:
    """HUGEINT = UHUGEINT compares DOUBLEs: 2^100 and 2^100 + 1 both equal a third, and not one another."""
    large = 2**100
    tables = [
        Table("a", "h HUGEINT", By("by_h", "h"), query=f"SELECT {large}"),
        Table("b", "u UHUGEINT, k INTEGER", By("by_h", "k"), query=f"SELECT {large}, 1"),
        Table("c", "h HUGEINT", By("by_h", "h"), query=f"SELECT {large} + 1"),
    ]
    cluster = Cluster.build(tmp_path, tables, [mod("by_h")], shards=2)
    sql = "SELECT a.h, b.u, c.h FROM a JOIN b ON a.h = b.u JOIN c ON b.u = c.h"
    expected = answer_of(cluster.whole().execute(sql))
    assert len(expected.rows) == 1
    for force in ((), ("keys",), ("broadcast",)):
        with cluster.connect(force=force) as connection:
            assert difference(run(connection, sql), expected) is None
