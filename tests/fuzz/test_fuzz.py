"""A short run with fixed seeds; `make fuzz SECONDS=600` is the long one."""

from __future__ import annotations

import pytest

from tests.fuzz.run import Fuzzer

SEEDS = (1, 2, 4, 6)


def check(seed: int, dialect: str, statements: int, *, may_be_on_servers: bool = False) -> Fuzzer:
    fuzzer = Fuzzer(reduce_s=20, may_be_on_servers=may_be_on_servers)
    fuzzer.world(seed, dialect, statements=statements)
    assert not fuzzer.failures, "\n".join(fuzzer.failures)
    assert fuzzer.count["statements"] > statements / 2, "one database raises for most of what is drawn"
    return fuzzer


@pytest.mark.parametrize("seed", SEEDS)
def test_a_world(seed: int) -> None:
    check(seed, "duckdb", 12)


@pytest.mark.parametrize("seed", SEEDS[:2])
def test_a_world_of_sqlites(seed: int) -> None:
    check(seed, "sqlite", 12)


@pytest.mark.slow
@pytest.mark.parametrize("dialect", ["mysql", "postgres"])
def test_a_world_of_servers(dialect: str) -> None:
    check(1, dialect, 8)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [21, 35, 45])
def test_a_world_of_other_servers_and_files(seed: int) -> None:
    assert check(seed, "duckdb", 8, may_be_on_servers=True).count["on servers"]
