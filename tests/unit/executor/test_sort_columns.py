"""Servers' texts as what they are sorted by: the same alone as among others, and in the server's order."""

from __future__ import annotations

import random
from functools import partial

import pyarrow as pa
import pytest

from shardwise.executor.served.sort_columns import SortedTexts, sort_column
from shardwise.executor.sorted_merge import merged
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
    (Compared("padded"), ["", "a\t", "a", "a!", "ab"]),
]


@pytest.mark.parametrize(("compared", "texts"), IN_ORDER, ids=lambda v: getattr(v, "how", ""))
def test_in_the_order_of_the_server(compared: Compared, texts: list[str]) -> None:
    key = OrderKey(0, False, False, compared)
    together = sort_column(pa.array([*texts, None]), key, 9)
    alone = [sort_column(pa.array([text]), key, 9)[0].as_py() for text in texts]
    assert together.to_pylist() == [*alone, None]
    assert alone == sorted(alone)
    assert len(set(alone)) == len(alone)


@pytest.mark.parametrize("seed", range(6))
def test_padded_texts_of_any_length(seed: int) -> None:
    """Under PAD SPACE a text that ends comes after one that goes on with a tab, however long they are."""
    pick = random.Random(seed).choice
    rows = [(pick(["", "a", "ab", "x" * 300]) + pick(["", "", " ", "\t", "\t!", "!"]), n) for n in range(60)]
    shards = [sorted(rows[n::3], key=lambda row: row[0].ljust(999)) for n in range(3)]
    streams = [
        iter(pa.table({"t": [row[0] for row in each], "n": [row[1] for row in each]}).to_batches(4))
        for each in shards
    ]
    form = SortedTexts([OrderKey(0, False, False, Compared("padded"))])
    found = [
        text
        for batch in merged([partial(next, s, None) for s in streams], form)
        for text in batch["t"].to_pylist()
    ]
    padded = [text.ljust(999) for text in found]
    assert padded == sorted(padded)
    assert sorted(found) == sorted(row[0] for row in rows)
