"""Programs of steps, on figures alone: which sides run first, and what is sent of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from shardwise.planner.strategies.programs import Ahead, Keys, Program, Send, Side, Strategy, programs

ORDERS = Side("orders", 150_000, 40, 4, {0: 10_000}, gives_keys=True, rows_max=10_000)
CUSTOMERS = Side("customers", 3_000, 24, 4, {0: 3_000, 1: 25}, gives_keys=True, rows_max=10_000)
NATIONS = Side("nations", 5, 20, 1, {1: 5}, gives_keys=True, rows_max=10_000)


def chosen(*sides: Side, groups: float | None = None, keys_max: float = 50_000) -> dict[Strategy, Program]:
    return programs(
        list(sides),
        narrows=lambda few, many, by: True,
        sends=lambda few, many: True,
        kind="inner",
        consumer=None if groups is None else lambda rows, shards: (min(rows, groups * shards), 20.0),
        keys_max=keys_max,
    )


def test_gathering_moves_all() -> None:
    found = chosen(ORDERS, CUSTOMERS)["gather"]
    assert (found.moved, found.sent, found.cost) == (153_000, 0, 150_000 * 40 + 3_000 * 24)


def test_the_small_side_comes_ahead_and_its_keys_narrow_the_large_one() -> None:
    found = chosen(ORDERS, CUSTOMERS)["keys"]
    assert found.steps == (Ahead(1), Keys(1, 0, 0))
    assert found.moved == 3_000 + 150_000 * 3_000 / 10_000
    assert found.sent == 3_000 * 4


def test_keys_run_first_alone_where_rows_do_not_travel() -> None:
    found = chosen(ORDERS, replace(CUSTOMERS, rows_max=0.0))["keys"]
    assert found.steps == (Keys(1, 0, 0),)
    assert found.moved == 3_000 + 3_000 + 45_000  # the keys, and then the rows


def test_keys_go_to_their_own_shards_only_where_they_are_routed() -> None:
    assert chosen(replace(ORDERS, routed=frozenset({0})), CUSTOMERS)["keys"].sent == 3_000


def test_what_narrows_may_have_been_narrowed() -> None:
    found = chosen(ORDERS, CUSTOMERS, NATIONS)["keys"]
    assert found.steps == (Ahead(2), Keys(2, 1, 1), Ahead(1), Keys(1, 0, 0))


def test_sides_are_sent_where_groups_then_leave_the_shards() -> None:
    found = chosen(ORDERS, CUSTOMERS, groups=25)
    assert found["broadcast"].steps == (Ahead(1), Send(1, 0))
    assert found["broadcast"].moved == 3_000 + 25 * 4
    assert found["broadcast"].cost < found["keys"].cost < found["gather"].cost


def test_what_is_here_costs_nothing_more() -> None:
    found = chosen(ORDERS, replace(CUSTOMERS, is_here=True))
    assert found["keys"].steps == (Keys(1, 0, 0),)
    assert found["keys"].moved == 45_000


@pytest.mark.parametrize("rows", [0.0, 1.0])
def test_what_must_not_run_first_does_not_however_few_rows_are_expected(rows: float) -> None:
    """NOT x IN (values that are not known yet) may leave no row, by the estimate."""
    found = chosen(ORDERS, replace(CUSTOMERS, rows=rows, rows_max=0.0, gives_keys=False), groups=1)
    assert not any(isinstance(step, Ahead) and step.few == 1 for p in found.values() for step in p.steps)
    assert not any(isinstance(step, Keys) and step.few == 1 for p in found.values() for step in p.steps)


def test_too_many_keys_are_not_sent() -> None:
    assert "keys" not in chosen(ORDERS, replace(CUSTOMERS, rows_max=0.0), keys_max=1_000)


def test_keys_that_were_counted_are_not_moved_again() -> None:
    side = replace(CUSTOMERS, rows_max=0.0, keys_here={0: 100.0})
    found = chosen(ORDERS, side)["keys"]
    assert found.moved == 3_000 + 150_000 * 100 / 10_000
    assert found.sent == 400
