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


@pytest.mark.slow
@pytest.mark.parametrize("call", ["abs(x.b)", "-x.b", "x.b DIV x.a", "exp(x.r)", "pow(x.r, 2)", "x.r / x.q"])
def test_what_is_grouped_before_a_join_raises_for_no_row_that_the_join_drops(call: str) -> None:
    """DataError: BIGINT value is out of range, of a row that no other meets."""
    dropped = (1, -1, -(2**63), 1e300, 1e-300)
    rows = (dropped, (2, 1, 1, 1.0, 0.5), (3, 1, 2, 2.0, 0.5), (4, 2, 1, 1.0, 2.0))
    tables = (
        Table("t", "k BIGINT, a INTEGER, b BIGINT, r DOUBLE, q DOUBLE", "SHARD BY h (k)", rows=rows),
        Table("g", "k BIGINT, a INTEGER", "SHARD BY h (a)", rows=((1, 1), (2, 1), (1, 2))),
    )
    over = "FROM t x JOIN g y ON x.b = y.k GROUP BY"
    agree(
        World(2, (Sharding("h", "MOD 7"),), tables, dialect="mysql", products=("mysql",)),
        f"SELECT {call} AS c, count(*) AS n {over} {call}",
        f"SELECT y.k, max({call}) AS m, count(DISTINCT {call}) AS n {over} y.k",
        f"SELECT y.k, sum({call}) AS s {over} y.k",
        force=("group_before_joins",),
    )


@pytest.mark.slow
@pytest.mark.parametrize("call", ["abs(y.b)", "-y.b", "y.b DIV y.k"])
def test_what_a_subquery_asks_of_rows_raises_for_none_of_another_outer_row(call: str) -> None:
    """DataError: BIGINT value is out of range, of a row that no outer row looks up."""
    rows = ((1, 1, -(2**63)), (-1, 0, -(2**63)), (9, 1, 5), (1, 2, 5), (1, 2, 6), (9, 2, 7))
    tables = (
        Table("t", "k BIGINT, a INTEGER, b BIGINT", "SHARD BY h (k)", rows=((1, 1, 3), (2, 2, 0), (3, 1, 2))),
        Table("u", "k BIGINT, a INTEGER, b BIGINT", "SHARD BY h (k)", rows=rows),
    )
    inner = f"FROM u y WHERE y.a = x.a + 1 AND {call} <> 0"
    agree(
        World(2, (Sharding("h", "MOD 7"),), tables, dialect="mysql", products=("mysql",)),
        f"SELECT x.k FROM t x WHERE x.b = (SELECT count(*) {inner})",
        f"SELECT x.k, (SELECT max(y.b) {inner}) AS m FROM t x",
    )
