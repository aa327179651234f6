"""Limits, open sources, a statement's switch, and types that widen."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from shardwise.errors import BudgetExceeded, Cancelled, DeadlineExceeded, InterfaceError, OperationalError
from shardwise.executor.backends.base import Location, SourceOptions
from shardwise.executor.conform import Conform, widens
from shardwise.executor.guard import Guard
from shardwise.executor.limits import WORKERS, Limits
from shardwise.executor.pools import SourcePool
from shardwise.executor.threads import Workers
from shardwise.options import Options


class Calls(list[str]):
    """Remembers that it was called."""

    def __call__(self) -> None:
        self.append("called")


def test_limits_per_source_and_in_all() -> None:
    limits, later = Limits(total=3), Calls()
    assert all(limits.take("a", later, per_source=2, is_starving=False) for _ in range(2))
    assert not limits.take("a", later, per_source=2, is_starving=False)
    assert limits.take("b", later, per_source=2, is_starving=False)
    assert not limits.take("c", later, per_source=2, is_starving=False)
    limits.give_back("b")
    assert later == ["called"] * 2
    assert limits.take("c", later, per_source=2, is_starving=False)


def test_sources_on_one_server_share_its_limit() -> None:
    urls = {
        "a": "mysql://x@db/one",
        "b": "mariadb://y@db:3306/two",
        "c": "mysql://x@db:3307/one",
        "d": "duckdb:///d.duckdb",
    }
    pool = SourcePool(lambda name: Location(source=name, url=urls[name]), SourceOptions())
    limits, later = Limits(total=9, place_of=pool.place_of), Calls()
    assert limits.take("a", later, per_source=2, is_starving=False)
    assert limits.take("b", later, per_source=2, is_starving=False)
    assert not limits.take("a", later, per_source=2, is_starving=False)
    for other in ("c", "d", WORKERS):
        assert limits.take(other, later, per_source=1, is_starving=False)
    limits.park("a")
    limits.give_back("b")
    assert limits.take("b", later, per_source=2, is_starving=False)
    for each in ("a", "b", "c", "d", WORKERS):
        limits.give_back(each, is_parked=each == "a")
    assert limits.take("a", later, per_source=1, is_starving=False)


def test_a_starving_stream_gets_one_more_where_all_are_parked() -> None:
    limits, later = Limits(total=9), Calls()
    assert limits.take("a", later, per_source=1, is_starving=True)
    assert not limits.take("a", later, per_source=1, is_starving=True)
    limits.park("a")
    assert later == ["called"]
    assert not limits.take("a", later, per_source=1, is_starving=False)
    assert limits.take("a", later, per_source=1, is_starving=True)
    assert not limits.take("a", later, per_source=1, is_starving=True)
    limits.give_back("a")
    limits.resume("a")
    limits.give_back("a")
    assert limits.take("a", later, per_source=1, is_starving=False)


@pytest.fixture
def pool(tmp_path: Path) -> SourcePool:
    for n in range(4):
        duckdb.connect(str(tmp_path / f"s{n}.duckdb")).close()
    return SourcePool(
        lambda name: Location(source=name, url=f"duckdb:///{tmp_path}/{name}.duckdb"),
        SourceOptions(),
        open_max=2,
    )


def test_the_least_recently_used_source_is_closed(pool: SourcePool) -> None:
    for name in ("s0", "s1", "s0", "s2"):
        pool.lease(name).release()
    assert list(pool._entries) == ["s0", "s2"]
    held = [pool.lease(name) for name in ("s0", "s1", "s2", "s3")]
    assert pool.open_count() == 4
    for lease in held:
        lease.release()
        lease.release()
    assert pool.open_count() == 2
    pool.close()
    assert pool.open_count() == 0
    with pytest.raises(InterfaceError):
        pool.lease("s0")


def test_a_source_in_use_is_closed_when_it_is_given_back(pool: SourcePool) -> None:
    lease = pool.lease("s0")
    pool.close()
    connection = lease.connect("UTC")
    connection.execute("SELECT 1", {})
    assert connection.fetchmany(1) == [(1,)]
    connection.close()
    lease.release()


def test_a_source_that_cannot_be_opened_is_not_kept(pool: SourcePool) -> None:
    with pytest.raises(OperationalError):
        pool.lease("none")
    assert not pool._entries


def test_threads_open_a_source_once(pool: SourcePool, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    lease = pool.lease("s0")
    backend: Any = type(lease._backend)
    lease.release()
    before = backend.open

    def slowly(self: Any, location: Location, options: SourceOptions) -> Any:
        opened.append(location.source)
        time.sleep(0.05)
        return before(self, location, options)

    monkeypatch.setattr(backend, "open", slowly)
    threads = [threading.Thread(target=lambda: pool.lease("s1").release()) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert opened == ["s1"]


def test_workers_that_are_closed_take_no_work() -> None:
    workers, done = Workers(1), Calls()
    workers.submit(done)
    workers.close()
    assert done == ["called"]
    with pytest.raises(InterfaceError):
        workers.submit(done)
    assert not workers.resubmit(done)


def test_the_first_error_is_the_statements() -> None:
    guard, stopped = Guard(Options()), Calls()
    guard.on_stop(stopped)
    forget = guard.on_stop(pytest.fail)
    forget()
    guard.check()
    first = ValueError("first")
    guard.stop(first)
    guard.cancel()
    assert guard.error is first
    assert stopped == ["called"]
    guard.on_stop(stopped)
    assert stopped == ["called"] * 2
    with pytest.raises(ValueError, match="first"):
        guard.check()


def test_cancel_and_deadline() -> None:
    guard = Guard(Options())
    guard.cancel()
    assert isinstance(guard.error, Cancelled)
    stopped = threading.Event()
    late = Guard(Options(deadline_s=0.05))
    late.on_stop(stopped.set)
    assert stopped.wait(5)
    assert isinstance(late.error, DeadlineExceeded)
    in_time = Guard(Options(deadline_s=0.05))
    in_time.done()
    time.sleep(0.1)
    in_time.check()


def test_budgets_count_all_fragments() -> None:
    guard = Guard(Options(rows_max=10, bytes_max=1000))
    guard.count("f1", 6, 10)
    guard.count("f2", 4, 10)
    with pytest.raises(
        BudgetExceeded, match="more than 10 rows off the shards: fragment f1 brought it to 11"
    ):
        guard.count("f1", 1, 10)
    with pytest.raises(BudgetExceeded, match="more than 1,000 bytes off the shards"):
        Guard(Options(bytes_max=1000)).count("f1", 1, 1001)


D = pa.decimal128


@pytest.mark.parametrize(
    ("given", "wanted", "fits"),
    [
        (pa.int32(), pa.int64(), True),
        (pa.int64(), pa.int32(), False),
        (pa.uint32(), pa.int64(), True),
        (pa.uint64(), pa.int64(), False),
        (pa.int8(), pa.uint8(), False),
        (pa.int32(), pa.float64(), True),
        (pa.int64(), pa.float64(), False),
        (pa.float32(), pa.float64(), True),
        (pa.float64(), pa.float32(), False),
        (D(9, 2), D(12, 2), True),
        (D(9, 2), D(12, 4), True),
        (D(9, 2), D(10, 4), False),
        (D(12, 2), D(9, 2), False),
        (pa.int32(), D(12, 2), True),
        (pa.int32(), D(11, 2), False),
        (pa.int64(), D(18, 0), False),
        (pa.int64(), D(19, 0), True),
        (pa.dictionary(pa.uint8(), pa.string()), pa.string(), True),
        (pa.string(), pa.large_string(), True),
        (pa.string(), pa.int32(), False),
        (pa.int32(), pa.string(), False),
        (pa.date32(), pa.timestamp("us"), False),
        (pa.timestamp("us"), pa.timestamp("us", "UTC"), False),
        (pa.null(), pa.string(), True),
        (pa.bool_(), pa.int8(), False),
        (pa.list_(pa.int32()), pa.list_(pa.int32()), True),
        (pa.list_(pa.int32()), pa.list_(pa.int64()), False),
    ],
)
def test_types_widen_without_loss_or_not_at_all(given: pa.DataType, wanted: pa.DataType, fits: bool) -> None:
    assert widens(given, wanted) is fits


def test_batches_become_the_fragments() -> None:
    wanted = pa.schema([("p0", pa.int64()), ("p1", D(12, 2)), ("p2", pa.string())])
    batch = pa.record_batch(
        {"a": pa.array([1, None], pa.int16()), "b": pa.array([7, -7], pa.int32()), "c": ["x", None]}
    )
    conform = Conform(batch.schema, wanted, shard="s1", fragment="f1")
    made = conform(batch)
    assert made.schema == wanted
    assert [list(map(str, row.values())) for row in made.to_pylist()] == [
        ["1", "7.00", "x"],
        ["None", "-7.00", "None"],
    ]
    same = pa.record_batch({"p0": pa.array([1], pa.int64())})
    assert Conform(same.schema, same.schema, shard="s1", fragment="f1")(same) is same


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (pa.schema([("a", pa.int64())]), 'shard "s1" answered fragment f1 with 1 columns, not 2'),
        (
            pa.schema([("a", pa.string()), ("b", pa.string())]),
            'column "p0" is string on shard "s1", not int64',
        ),
    ],
)
def test_a_shard_that_differs(given: pa.Schema, message: str) -> None:
    wanted = pa.schema([("p0", pa.int64()), ("p1", pa.string())])
    with pytest.raises(OperationalError, match=message) as caught:
        Conform(given, wanted, shard="s1", fragment="f1")
    assert caught.value.shard == "s1"
    assert "catalog check" in str(caught.value)
