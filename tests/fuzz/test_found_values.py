"""Values that are known only while a statement runs: what a source compares otherwise is not sent to it."""

from __future__ import annotations

from decimal import Decimal

import pytest

from tests.fuzz.harness import agree
from tests.fuzz.schema import Sharding, Table, World


@pytest.mark.parametrize(
    "product",
    [
        "sqlite",
        pytest.param("mysql", marks=pytest.mark.slow),
        pytest.param("postgres", marks=pytest.mark.slow),
    ],
)
def test_a_page_among_decimals_of_many_digits(product: str) -> None:
    """InternalError: a fragment has what its source does not compute alike, once a round found values."""
    least = Decimal("12345678901234.5678")
    rows = tuple((k, least + k % 40) for k in range(300))
    table = Table(
        "t", "k BIGINT NOT NULL, p DECIMAL(18, 4)", "SHARD BY h (k)", rows=rows, keys="PRIMARY KEY (k)"
    )
    agree(
        World(3, (Sharding("h", "MOD 3"),), (table,), products=(product,)),
        "SELECT p, k FROM t ORDER BY 1 DESC, 2 LIMIT 3 OFFSET 150",
        "SELECT p, k FROM t ORDER BY 1, 2 DESC LIMIT 5 OFFSET 250",
        force=("seek_pages",),
    )
