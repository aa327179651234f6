"""What `make fuzz` found, as it printed it: each was wrong once."""

from __future__ import annotations

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
