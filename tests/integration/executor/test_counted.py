"""Dates and times that a file holds as numbers."""

from __future__ import annotations

import pytest

from shardwise.executor.cells import Misfit, kind_of


@pytest.mark.parametrize(
    ("name", "cell", "text"),
    [
        ("TIMESTAMP EPOCH SECONDS", 0, "1970-01-01 00:00:00.000000"),
        ("TIMESTAMP EPOCH SECONDS", -1, "1969-12-31 23:59:59.000000"),
        ("TIMESTAMP EPOCH SECONDS", 0.25, "1970-01-01 00:00:00.250000"),
        ("TIMESTAMP EPOCH MILLISECONDS", -1, "1969-12-31 23:59:59.999000"),
        ("TIMESTAMP EPOCH MICROSECONDS", 1767225600000001, "2026-01-01 00:00:00.000001"),
        ("TIMESTAMP JULIAN", 2440587.5, "1970-01-01 00:00:00.000000"),
        ("TIMESTAMP JULIAN", 2461041.9375, "2026-01-01 10:30:00.000000"),
        ("DATE JULIAN", 2461042, "2026-01-01"),
        ("DATE EPOCH SECONDS", 1767225599, "2025-12-31"),
    ],
)
def test_text_of_the_usual_form(name: str, cell: float, text: str) -> None:
    assert kind_of(name).canonical(cell) == text


@pytest.mark.parametrize("cell", ["2026-01-01", float("inf"), 10**18, -(10**18), b"1"])
def test_what_is_no_number_of_time(cell: object) -> None:
    with pytest.raises(Misfit):
        kind_of("DATE EPOCH SECONDS").canonical(cell)
