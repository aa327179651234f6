"""Servers' texts as what they are sorted by: the same alone as among others, and in the server's order."""

from __future__ import annotations

import pyarrow as pa
import pytest

from shardwise.executor.served.sort_columns import sort_column
from shardwise.plan.run import Compared, OrderKey

IN_ORDER = [
    (
        Compared("day"),
        [
            "-infinity",
            "4713-01-01 BC",
            "0001-12-31 BC",
            "0001-01-01",
            "2000-01-01",
            "9999-12-31",
            "10000-01-01",
            "5874897-12-31",
            "infinity",
        ],
    ),
    (
        Compared("moment"),
        [
            "-infinity",
            "0001-12-31 23:59:59 BC",
            "0001-01-01 00:00:00",
            "2000-01-01 00:00:00",
            "2000-01-01 00:00:00.000001",
            "2029-06-01 12:30:00.5",
            "12000-01-01 00:00:00",
            "294276-12-31 23:59:59",
            "infinity",
        ],
    ),
    (
        Compared("moment"),
        [
            "1900-01-01 00:19:32+00:19:33",
            "1900-01-01 00:00:00+00",
            "2024-01-01 05:30:00+05:30",
            "2024-01-01 00:00:00.5+00",
            "2024-01-01 00:00:00-03:30",
            "infinity",
        ],
    ),
    (Compared("decimal", 2), ["-1.00", "0.00", "0.01", "9.00", "10.00", "9" * 35 + ".99", "NaN"]),
    (Compared("unsigned"), ["0", "9", "10", "18446744073709551615"]),
    (Compared("whole"), ["-9223372036854775808", "-1", "9", "10"]),
    (Compared("double"), ["-Infinity", "-1e300", "5e-324", "0.1", "1e300", "Infinity"]),
    (Compared("padded", 3), ["", "a\t", "a", "a!", "ab"]),
]


@pytest.mark.parametrize(("compared", "texts"), IN_ORDER, ids=lambda v: getattr(v, "how", ""))
def test_in_the_order_of_the_server(compared: Compared, texts: list[str]) -> None:
    key = OrderKey(0, False, False, compared)
    together = sort_column(pa.array([*texts, None]), key)
    alone = [sort_column(pa.array([text]), key)[0].as_py() for text in texts]
    assert together.to_pylist() == [*alone, None]
    assert alone == sorted(alone)
    assert len(set(alone)) == len(alone)
