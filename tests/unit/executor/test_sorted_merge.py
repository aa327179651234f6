"""Sorted streams merged: the order that DuckDB has, whatever the values, and few batches held."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from shardwise.executor.sorted_merge import ArrowForm, merged
from shardwise.plan.run import OrderKey

VALUES: dict[str, tuple[str, list[Any]]] = {
    "i": ("BIGINT", [None, 0, 1, 1, -5, 2**62, -(2**63)]),
    "f": ("DOUBLE", [None, math.nan, math.inf, -math.inf, 0.0, -0.0, 1.5, 1.5]),
    "s": ("VARCHAR", [None, "", "a", "B", "b", "é", "a b", "\U0001f600", "\uffff"]),
    "d": ("DECIMAL(12,2)", [None, Decimal("1.10"), Decimal("-0.50"), Decimal("1000.01")]),
    "day": ("DATE", [None, date(2024, 2, 29), date(1969, 7, 20)]),
    "ts": ("TIMESTAMP", [None, datetime(2024, 2, 29, 23, 59, 59, 123456), datetime(1969, 7, 20)]),
    "b": ("BOOLEAN", [None, True, False]),
}
NAMES = list(VALUES)


def parts(con: duckdb.DuckDBPyConnection, count: int, order: str, size: int) -> list[list[pa.RecordBatch]]:
    """Each shard's rows in order, in batches of so many."""
    found = []
    for n in range(count):
        table = con.sql(f"SELECT * FROM t WHERE shard = {n} ORDER BY {order}").to_arrow_table()
        found.append(table.combine_chunks().to_batches(max_chunksize=size))
    return found


def taking(
    batches: Iterator[pa.RecordBatch], taken: list[int], n: int
) -> Callable[[], pa.RecordBatch | None]:
    def take() -> pa.RecordBatch | None:
        batch = next(batches, None)
        taken[n] += 0 if batch is None else batch.num_rows
        return batch

    return take


@pytest.mark.parametrize("seed", range(12))
def test_the_order_is_that_of_one_sort(seed: int) -> None:
    rng = random.Random(seed)
    shards = rng.choice((1, 2, 3, 7))
    con = duckdb.connect()
    con.execute("SET arrow_lossless_conversion = true")  # as a source's: a BOOLEAN is then an extension type
    con.execute(f"CREATE TABLE t ({', '.join(f'{n} {t}' for n, (t, _) in VALUES.items())}, shard INT)")
    for _ in range(rng.choice((0, 3, 200))):
        row = [rng.choice(values) for _, values in VALUES.values()]
        con.execute(f"INSERT INTO t VALUES ({', '.join('?' * len(row))}, ?)", [*row, rng.randrange(shards)])
    for _ in range(6):
        keys = [
            OrderKey(NAMES.index(name), rng.random() < 0.5, rng.random() < 0.5)
            for name in rng.sample(NAMES, rng.choice((1, 2, 3, 7)))
        ]
        order = ", ".join(map(_written, keys))
        batches = parts(con, shards, order, rng.choice((1, 2, 10, 1000)))
        taken = [0] * shards
        takes = [taking(iter(each), taken, n) for n, each in enumerate(batches)]
        found = [
            row
            for batch in merged(takes, ArrowForm(keys))
            for row in zip(*batch.to_pydict().values(), strict=True)
        ]
        wanted = con.execute(f"SELECT * FROM t ORDER BY {order}").fetchall()
        columns = [k.column for k in keys]
        assert [[_seen(row[c]) for c in columns] for row in found] == [
            [_seen(row[c]) for c in columns] for row in wanted
        ]
        assert sorted(map(repr, found)) == sorted(map(repr, wanted))


@pytest.mark.parametrize("type_", ["DATE", "TIMESTAMP"])
@pytest.mark.parametrize("key", [OrderKey(0, False, False), OrderKey(0, True, True)])
def test_days_that_python_has_none_of_are_in_order(type_: str, key: OrderKey) -> None:
    con = duckdb.connect()
    con.execute(f"CREATE TABLE t (i {type_}, shard INT)")
    days = ["infinity", "-infinity", "12000-01-01", "0044-03-15 (BC)", "2024-02-29", None]
    con.executemany("INSERT INTO t VALUES (?, ?)", [(day, n % 2) for n, day in enumerate(days)])
    batches = parts(con, 2, _written(key), 1)
    found = merged([taking(iter(each), [0, 0], n) for n, each in enumerate(batches)], ArrowForm([key]))
    rows = con.from_arrow(pa.Table.from_batches(found)).project("i::VARCHAR").fetchall()
    assert rows == con.execute(f"SELECT i::VARCHAR FROM t ORDER BY {_written(key)}").fetchall()


def _written(key: OrderKey) -> str:
    direction = "DESC" if key.descending else "ASC"
    return f"{NAMES[key.column]} {direction} NULLS {'FIRST' if key.nulls_first else 'LAST'}"


def _seen(value: Any) -> str:
    return repr(value + 0.0 if value == 0 and isinstance(value, float) else value)


def test_the_first_rows_come_before_the_streams_end() -> None:
    def numbers(n: int) -> Iterator[pa.RecordBatch]:
        for start in range(0, 1_000_000, 100):
            yield pa.record_batch({"v": list(range(start + n, start + n + 100, 4))})

    taken = [0] * 4
    rows = merged([taking(numbers(n), taken, n) for n in range(4)], ArrowForm([OrderKey(0, False, False)]))
    seen = [v for _ in range(10) for v in next(rows).column(0).to_pylist()]
    assert seen == list(range(len(seen)))
    assert sum(taken) <= len(seen) + 4 * 25


def test_one_stream_that_is_far_behind_the_others() -> None:
    streams = [iter([pa.record_batch({"v": [n] * 5}) for n in range(k, k + 3)]) for k in (0, 100)]
    found = [
        v
        for batch in merged(
            [lambda s=s: next(s, None) for s in streams], ArrowForm([OrderKey(0, False, False)])
        )
        for v in batch.column(0).to_pylist()
    ]
    assert found == [n for k in (0, 100) for n in range(k, k + 3) for _ in range(5)]
