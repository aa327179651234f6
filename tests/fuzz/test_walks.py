"""Pages of a few fixed worlds; `python -m tests.fuzz.walks` is the long run."""

from __future__ import annotations

import pytest

from tests.fuzz.walks import Walker


@pytest.mark.parametrize(
    ("seed", "dialect"),
    [
        (3, "duckdb"),
        (3, "sqlite"),
        pytest.param(3, "mysql", marks=pytest.mark.slow),
        pytest.param(3, "postgres", marks=pytest.mark.slow),
    ],
)
def test_walks(seed: int, dialect: str) -> None:
    walker = Walker()
    for each in range(seed, seed + 3):
        walker.world(each, dialect, walks=10)
    assert not walker.failures, "\n".join(walker.failures)
    assert walker.count["pages"] > 20, walker.told()
