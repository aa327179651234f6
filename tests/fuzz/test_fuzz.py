"""A short run with fixed seeds; `make fuzz SECONDS=600` is the long one."""

from __future__ import annotations

import pytest

from tests.fuzz.run import Fuzzer

SEEDS = (1, 2, 4, 6)


def check(seed: int, dialect: str, statements: int) -> None:
    fuzzer = Fuzzer(reduce_s=20)
    fuzzer.world(seed, dialect, statements=statements)
    assert not fuzzer.failures, "\n".join(fuzzer.failures)
    assert fuzzer.count["statements"] > statements / 2, "one database raises for most of what is drawn"


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
