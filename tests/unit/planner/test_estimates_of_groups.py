"""HAVING is estimated by what ANALYZE found: beside groups that were really made."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from random import Random

import pytest

from shardwise.catalog import Catalog
from shardwise.catalog.statistics import ColumnStatistics, TableStatistics
from tests.unit.planner.test_estimates import CATALOG, rows

ROWS, GROUPS = 50_000, 5_000
FIGURES = tuple(str(10 * n) for n in range(11))  # of values that lie evenly between 0 and 100


def catalog(**columns: ColumnStatistics) -> Catalog:
    orders = TableStatistics(name="orders", rows=ROWS, source="scan", columns=columns)
    return Catalog(name=CATALOG.name, dialect=CATALOG.dialect, items=(*CATALOG.items, orders))


KNOWN = catalog(
    id=ColumnStatistics(distinct=ROWS),
    customer=ColumnStatistics(distinct=GROUPS),
    total=ColumnStatistics(distinct=100_000, bounds=FIGURES),
    placed=ColumnStatistics(distinct=700, nulls=0.5),
)


@pytest.fixture(scope="module")
def groups() -> list[list[float]]:
    """Rows that fall into groups without regard to them."""
    random, made = Random(5), defaultdict[int, list[float]](list)
    for _ in range(ROWS):
        made[random.randrange(GROUPS)].append(random.uniform(0, 100))
    return list(made.values())


@pytest.mark.parametrize(
    ("having", "passes"),
    [
        ("count(*) > 12", lambda g: len(g) > 12),
        ("count(*) >= 12", lambda g: len(g) >= 12),
        ("count(*) <= 5", lambda g: len(g) <= 5),
        ("count(*) < 5", lambda g: len(g) < 5),
        ("count(*) = 10", lambda g: len(g) == 10),
        ("7 < count(*)", lambda g: len(g) > 7),
        ("count(total) > 12", lambda g: len(g) > 12),
        ("sum(total) > 600", lambda g: sum(g) > 600),
        ("sum(total) > 1000", lambda g: sum(g) > 1000),
        ("sum(total) < 300", lambda g: sum(g) < 300),
        ("sum(total) BETWEEN 400 AND 500", lambda g: 400 <= sum(g) <= 500),
        ("avg(total) > 60", lambda g: sum(g) / len(g) > 60),
        ("max(total) < 90", lambda g: max(g) < 90),
        ("min(total) > 10", lambda g: min(g) > 10),
        ("min(total) < 5", lambda g: min(g) < 5),
    ],
)
def test_as_many_groups_pass_as_of_rows_that_fall_evenly(
    groups: list[list[float]], having: str, passes: Callable[[list[float]], bool]
) -> None:
    real = sum(map(passes, groups))
    found = rows(f"SELECT customer FROM orders GROUP BY customer HAVING {having}", catalog=KNOWN)
    assert found == pytest.approx(real, rel=0.35, abs=0.01 * GROUPS)


def test_few_groups_are_far_above_the_mean() -> None:
    """Q18: HAVING sum(l_quantity) > 300 passes 5 of 150,000 orders at scale 0.1; orders have 4 lines."""
    lines = catalog(
        customer=ColumnStatistics(distinct=ROWS / 4),
        total=ColumnStatistics(distinct=50, bounds=tuple(map(str, range(1, 51)))),
    )
    query = "SELECT customer FROM orders GROUP BY customer HAVING sum(total) > 300"
    assert rows(query, catalog=lines) < 10


def test_no_key_comes_twice() -> None:
    assert rows("SELECT id FROM orders GROUP BY id HAVING count(*) > 1", catalog=KNOWN) <= 1
    assert rows("SELECT id FROM orders GROUP BY id HAVING count(*) = 1", catalog=KNOWN) == ROWS


def test_nulls_are_not_counted() -> None:
    """A group has 10 rows, 5 of them NULL."""
    few = rows("SELECT customer FROM orders GROUP BY customer HAVING count(placed) > 8", catalog=KNOWN)
    assert few < 0.2 * GROUPS
    assert (
        rows("SELECT customer FROM orders GROUP BY customer HAVING count(*) > 8", catalog=KNOWN) > GROUPS / 2
    )


@pytest.mark.parametrize(
    "having",
    [
        "sum(total * 2) > 600",
        "count(DISTINCT total) > 9",
        "stddev(total) > 1",
        "sum(total) FILTER (id > 7) > 1",
    ],
)
def test_what_is_not_known_is_one_in_twenty(having: str) -> None:
    found = rows(f"SELECT customer FROM orders GROUP BY customer HAVING {having}", catalog=KNOWN)
    assert found == pytest.approx(GROUPS / 20)


@pytest.mark.parametrize("call", ["sum", "avg"])
def test_numbers_whose_squares_are_none_are_not_estimated(call: str) -> None:
    vast = catalog(
        customer=ColumnStatistics(distinct=GROUPS),
        total=ColumnStatistics(distinct=100, bounds=("-1e200", "1.7e308")),
    )
    found = rows(f"SELECT customer FROM orders GROUP BY customer HAVING {call}(total) > 5", catalog=vast)
    assert found == pytest.approx(GROUPS / 20)


def test_without_statistics_it_is_one_in_twenty() -> None:
    query = "SELECT customer FROM orders GROUP BY customer HAVING sum(total) > 600"
    assert rows(query, catalog=CATALOG) == pytest.approx(500)  # a value for every 10 rows of 100,000
    unknown = catalog(total=ColumnStatistics(distinct=100_000, bounds=FIGURES))
    assert rows(query, catalog=unknown) == pytest.approx(ROWS / 10 / 20)


def test_a_value_in_a_subquery_has_at_most_the_subquerys_values() -> None:
    inner = "SELECT customer FROM orders WHERE customer IN (SELECT id FROM customers WHERE id < 100)"
    assert (
        rows(f"SELECT customer FROM ({inner}) GROUP BY customer", catalog=KNOWN)
        < rows("SELECT id FROM customers WHERE id < 100", catalog=KNOWN) + 2
    )


def test_a_bound_that_is_a_common_value_counts_its_rows() -> None:
    """Nine in ten rows are 0: `> 0` and `<= 0` are told apart."""
    many = catalog(
        total=ColumnStatistics(distinct=100, bounds=(*["0"] * 10, "9"), common=(("0", 0.9),)),
    )
    assert rows("SELECT * FROM orders WHERE total > 0", catalog=many) == pytest.approx(ROWS / 10)
    assert rows("SELECT * FROM orders WHERE total <= 0", catalog=many) == pytest.approx(ROWS * 0.9)


def test_a_key_tells_what_else_is_in_its_rows() -> None:
    """As many groups as orders, not as many combinations of what they have."""
    joined = "SELECT count(*) FROM orders o JOIN orders p ON p.customer = o.customer"
    assert rows(f"{joined} GROUP BY o.id, o.customer, o.placed", catalog=KNOWN) == pytest.approx(ROWS)
    assert rows(f"{joined} GROUP BY o.customer, o.placed", catalog=KNOWN) > GROUPS
