"""What `make fuzz` found, as it printed it: each was wrong once."""

from __future__ import annotations

import pytest

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
