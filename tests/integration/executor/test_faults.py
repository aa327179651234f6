"""What goes wrong on the way: which shard, why, and that nothing is left running."""

from __future__ import annotations

import gc
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from shardwise.errors import (
    BudgetExceeded,
    Cancelled,
    DataError,
    DeadlineExceeded,
    Error,
    InterfaceError,
    OperationalError,
    Reason,
    ShardUnavailable,
)
from shardwise.executor import reading
from shardwise.executor.result import Result
from shardwise.options import Options
from shardwise.plan.run import First, Plan
from tests.integration.executor.conftest import MakeLab
from tests.integration.executor.lab import Lab, after, merged, whole

ENDLESS = "SELECT count(*) AS n FROM range(1000000000) a, range(1000000) b WHERE a.range + b.range = -1"


def everywhere(lab: Lab, sql: str = "SELECT id FROM t") -> Plan:
    return merged("SELECT count(*) FROM f1", lab.fragment("f1", sql))


def on_one(lab: Lab, sql: str = "SELECT id FROM t", shard: str = "s1") -> Plan:
    return whole(lab.fragment("f1", sql, [shard]))


def begun(result: Result) -> Result:
    result.begin()
    return result


def fails(lab: Lab, plan: Plan, kind: type[Error], match: str, options: Options | None = None) -> Error:
    with pytest.raises(kind, match=match) as caught, lab.execute(plan, options) as result:
        result.fetchall()
    with pytest.raises(kind, match=match), lab.execute(plan, options) as result:
        result.arrow_reader().read_all()
    with pytest.raises(kind, match=match), lab.execute(plan, options) as result:
        begun(result).fetchall()
    return caught.value


@pytest.fixture(scope="module", autouse=True)
def _what_others_left_is_not_looked_through() -> None:
    gc.freeze()


@pytest.fixture(autouse=True)
def _nothing_is_left(lab: Lab) -> Iterator[None]:
    """The process may have threads of other tests' clusters."""
    before = set(threading.enumerate())
    yield
    assert lab.limits._all.held == lab.limits._all.running == 0
    assert not any(entry.users for entry in lab.pool._entries.values())
    lab.close()
    assert not {t for t in threading.enumerate() if t.name.startswith("shardwise")} - before
    gc.collect()
    links = [link for link in Path("/proc/self/fd").glob("*") if link.is_symlink()]
    assert not [link for link in links if str(lab.folder) in str(link.readlink())]


@pytest.mark.parametrize("plan", [everywhere, on_one])
def test_a_missing_file(lab: Lab, plan: Any) -> None:
    lab.file("s1").unlink()
    error = fails(lab, plan(lab), ShardUnavailable, 'shard "s1".*does not exist')
    assert error.shard == "s1"
    assert error.hint is not None
    assert not lab.file("s1").exists()


@pytest.mark.parametrize("plan", [everywhere, on_one])
def test_a_file_that_another_process_writes(lab: Lab, plan: Any) -> None:
    code = "import duckdb, sys; c = duckdb.connect(sys.argv[1]); print('open', flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", code, str(lab.file("s1"))],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "open\n"
        error = fails(lab, plan(lab), ShardUnavailable, 'shard "s1".*locked by another process')
        assert error.shard == "s1"
        assert other.stdin is not None
        other.stdin.close()
        other.wait()
    assert lab.rows(plan(lab))


def test_a_lock_that_goes_away_is_waited_for(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    backend, calls = type(lab.pool.lease("s0")._backend), []
    opened = backend.open

    def sometimes(self: Any, location: Any, options: Any) -> Any:
        calls.append(location.source)
        if calls.count("s1") == 1 and location.source == "s1":
            raise duckdb.IOException(
                "IO Error: Could not set lock on file: Conflicting lock is held in x (PID 1)"
            )
        return opened(self, location, options)

    for entry in lab.pool._entries.values():
        entry.users = 0
    monkeypatch.setattr(backend, "open", sometimes)
    assert lab.rows(everywhere(lab)) == [(300,)]
    assert calls.count("s1") == 2


@pytest.mark.parametrize("plan", [everywhere, on_one])
def test_a_file_that_this_process_holds_open(lab: Lab, plan: Any) -> None:
    with duckdb.connect(str(lab.file("s1"))):
        error = fails(lab, plan(lab), ShardUnavailable, 'shard "s1".*open elsewhere in this process')
    assert "duckdb.connect()" in str(error)


@pytest.mark.parametrize("data", [b"", b"no database" * 1000])
def test_a_file_that_is_no_database(lab: Lab, data: bytes) -> None:
    lab.file("s1").write_bytes(data)
    fails(lab, everywhere(lab), ShardUnavailable, 'shard "s1".*is not a DuckDB database')
    assert lab.file("s1").read_bytes() == data


def test_a_file_that_is_damaged(lab: Lab) -> None:
    data = bytearray(lab.file("s1").read_bytes())
    for i in range(12_288, len(data), 7):
        data[i] ^= 0xFF
    lab.file("s1").write_bytes(data)
    fails(lab, everywhere(lab), ShardUnavailable, 'shard "s1"')


@pytest.mark.parametrize("plan", [everywhere, on_one])
def test_a_missing_table_or_column(lab: Lab, plan: Any) -> None:
    lab.fill("ALTER TABLE t RENAME s TO other", shards=["s1"])
    error = fails(
        lab, plan(lab, "SELECT s FROM t"), OperationalError, 'shard "s1".*column "s" does not exist'
    )
    assert error.reason == Reason.SCHEMA_DRIFT
    assert error.shard == "s1"


@pytest.mark.parametrize("plan", [everywhere, on_one])
def test_a_missing_table(lab: Lab, plan: Any) -> None:
    lab.fill("DROP TABLE t", shards=["s1"])
    error = fails(lab, plan(lab), OperationalError, 'shard "s1".*table "t" does not exist')
    assert error.reason == Reason.SCHEMA_DRIFT
    assert error.__cause__ is not error, "whoever follows the causes would never end"


@pytest.mark.parametrize("plan", [everywhere, on_one])
def test_a_column_of_another_type(lab: Lab, plan: Any) -> None:
    lab.fill("ALTER TABLE t ALTER g TYPE VARCHAR", shards=["s1"])
    error = fails(
        lab, plan(lab, "SELECT id, g FROM t"), OperationalError, 'column "g" is .* on shard "s1", not '
    )
    assert error.reason == Reason.SCHEMA_DRIFT


def test_a_narrower_column_is_widened(lab: Lab) -> None:
    lab.fill("ALTER TABLE t ALTER id TYPE SMALLINT", shards=["s1"])
    wanted = [(i,) for i in range(9)]
    plan = merged("SELECT id FROM f1 ORDER BY id", lab.fragment("f1", "SELECT id FROM t WHERE id < 9"))
    assert lab.rows(plan) == wanted
    direct = on_one(lab, "SELECT id FROM t WHERE id < 9 ORDER BY id")
    assert lab.rows(direct) == [(1,), (4,), (7,)]
    with lab.execute(direct) as result:
        assert result.arrow_reader().read_all().schema.types == [pa.int64()]


@pytest.mark.parametrize("plan", [everywhere, on_one])
def test_an_error_on_one_shard_late_in_its_rows(lab: Lab, plan: Any) -> None:
    lab.fill(
        "INSERT INTO t SELECT 1, 1, if(range = 199000, 'no number', '1'), true FROM range(200000)",
        shards=["s1"],
    )
    sql = "SELECT CAST(ltrim(s, 'x') AS INTEGER) AS n FROM t"
    error = fails(
        lab, plan(lab, sql), DataError, "shard \"s1\": Could not convert string 'no number' to INT32"
    )
    assert error.shard == "s1"


def test_an_error_in_the_merge(lab: Lab) -> None:
    plan = merged("SELECT CAST(s AS INTEGER) FROM f1", lab.fragment("f1", "SELECT s FROM t"))
    error = fails(lab, plan, DataError, "Could not convert string 'x")
    assert error.shard is None


def test_the_first_error_is_the_exception_itself(lab: Lab) -> None:
    lab.file("s2").unlink()
    first = First(name="q", plan=everywhere(lab), is_scalar=True)
    with pytest.raises(ShardUnavailable) as caught:
        lab.execute(
            after([first, First(name="r", plan=everywhere(lab), is_scalar=True)], lambda _: on_one(lab))
        )
    assert caught.value.shard == "s2"


@pytest.mark.parametrize("plan", [everywhere, on_one])
def test_over_the_row_budget(lab: Lab, plan: Any) -> None:
    error = fails(
        lab, plan(lab), BudgetExceeded, "more than 50 rows off the shards: fragment f1", Options(rows_max=50)
    )
    assert error.reason == Reason.BUDGET
    assert lab.rows(plan(lab), Options(rows_max=300))


@pytest.mark.parametrize("plan", [everywhere, on_one])
def test_over_the_byte_budget(lab: Lab, plan: Any) -> None:
    fails(
        lab,
        plan(lab),
        BudgetExceeded,
        "more than 99 bytes off the shards: fragment f1",
        Options(bytes_max=99),
    )


def test_out_of_memory(lab: Lab) -> None:
    plan = merged(
        "SELECT list(a.id), list(b.id) FROM f1 a, f1 b, f1 c", lab.fragment("f1", "SELECT id FROM t")
    )
    options = Options(memory_bytes_max=64 << 20, spill_bytes_max=16 << 20)
    fails(lab, plan, BudgetExceeded, "more memory than it may use", options)


@pytest.mark.parametrize("plan", [everywhere, on_one])
@pytest.mark.parametrize("is_arrow", [False, True])
def test_the_deadline(lab: Lab, plan: Any, is_arrow: bool) -> None:
    """Soon after it; the best of ten, for the machine may be busy."""
    assert any(_exceed(lab, plan(lab, ENDLESS), is_arrow) < 1.5 for _ in range(10))


def _exceed(lab: Lab, plan: Plan, is_arrow: bool) -> float:
    started = time.perf_counter()
    with (
        pytest.raises(DeadlineExceeded, match=r"deadline of 0\.3 s"),
        lab.execute(plan, Options(deadline_s=0.3)) as result,
    ):
        _ = result.arrow_reader().read_all() if is_arrow else result.fetchall()
    return time.perf_counter() - started


def in_the_merge(lab: Lab, _: str) -> Plan:
    return merged("SELECT count(*) FROM f1 a, f1 b, f1 c, f1 d, f1 e", lab.fragment("f1", "SELECT id FROM t"))


def in_a_first(lab: Lab, sql: str) -> Plan:
    return after([First(name="q", plan=everywhere(lab, sql), is_scalar=True)], lambda _: on_one(lab))


@pytest.mark.parametrize("plan", [everywhere, on_one, in_the_merge])
@pytest.mark.parametrize("is_arrow", [False, True])
def test_cancel_from_another_thread(lab: Lab, plan: Any, is_arrow: bool) -> None:
    """Within 0.2 s; the best of ten, for the machine may be busy."""
    assert any(_cancel(lab, plan(lab, ENDLESS), is_arrow) < 0.2 for _ in range(10))


def _cancel(lab: Lab, plan: Plan, is_arrow: bool) -> float:
    cancelled: list[float] = []

    def cancel() -> None:
        cancelled.append(time.perf_counter())
        result.cancel()

    with lab.execute(plan) as result:
        timer = threading.Timer(0.2, cancel)
        timer.start()
        with pytest.raises(Cancelled):
            _ = result.arrow_reader().read_all() if is_arrow else result.fetchall()
        seconds = time.perf_counter() - cancelled[0]
        timer.join()
        with pytest.raises(Cancelled):
            result.fetchmany(1)
    return seconds


def test_the_deadline_holds_for_what_runs_first(lab: Lab) -> None:
    with pytest.raises(DeadlineExceeded):
        lab.execute(in_a_first(lab, ENDLESS), Options(deadline_s=0.3))


def test_close_while_shards_work(lab: Lab) -> None:
    """At once; the best of ten, for the machine may be busy."""
    assert any(_close(lab) < 0.5 for _ in range(10))


def _close(lab: Lab) -> float:
    plan = merged(
        "SELECT * FROM f1 UNION ALL SELECT * FROM f2",
        lab.fragment("f1", "SELECT range AS id FROM range(1000000)"),
        lab.fragment("f2", ENDLESS),
    )
    result = lab.execute(plan)
    assert result.fetchmany(1)
    started = time.perf_counter()
    result.close()
    seconds = time.perf_counter() - started
    result.close()
    return seconds


@pytest.mark.parametrize("after_", [0, 1, 2, 3])
def test_a_cluster_that_is_closed_meanwhile(lab: Lab, monkeypatch: pytest.MonkeyPatch, after_: int) -> None:
    """No more threads can be had: the statement ends with our error, and closing it waits for nothing."""
    resubmit, left = lab.workers.resubmit, [after_]

    def limited(work: Callable[[], None]) -> bool:
        left[0] -= 1
        return left[0] >= 0 and resubmit(work)

    plan = merged(
        "SELECT * FROM f1 UNION ALL SELECT * FROM f2",
        lab.fragment("f1", "SELECT range AS id FROM range(600000)"),
        lab.fragment("f2", "SELECT range AS id FROM range(600000)"),
    )
    monkeypatch.setattr(lab.workers, "resubmit", limited)
    with pytest.raises(InterfaceError, match="the cluster is closed"), lab.execute(plan) as result:
        result.fetchall()


def test_a_result_that_is_dropped_is_closed(lab: Lab) -> None:
    result = lab.execute(everywhere(lab, ENDLESS))
    timer = threading.Timer(0.2, result.cancel)
    timer.start()
    with pytest.raises(Cancelled):
        result.fetchall()
    timer.join()
    reader = lab.execute(merged("SELECT id FROM f1", lab.fragment("f1", "SELECT id FROM t"))).arrow_reader(10)
    assert len(reader.read_next_batch()) == 10
    del reader, result
    gc.collect()


@pytest.mark.slow
def test_memory_is_flat_while_the_merge_spills(
    lab: Lab, make_lab: MakeLab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Five million rows are sorted in less memory than they need."""
    monkeypatch.setattr(reading, "BATCH_ROWS", 16_384)
    rows = 1_700_000
    sql = f"SELECT range AS id, hash(range) AS h, repeat('x', 40) AS pad FROM range({rows})"
    plan = merged("SELECT id, h, pad FROM f1 ORDER BY h", lab.fragment("f1", sql))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    spilled = lab.folder / "spill"
    count = 0
    with lab.execute(
        plan, Options(memory_bytes_max=200 << 20, spill_directory=str(spilled), threads=2)
    ) as result:
        for batch in result.arrow_reader(8192):
            count += len(batch)
        assert result.stats.bytes_moved > 200 << 20
    assert count == 3 * rows
    after_ = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert after_ - before < 450 << 10, f"{before} kB -> {after_} kB"
    lab.merge.close()
    assert not list(spilled.iterdir())


@pytest.mark.duckdb2  # DuckDB 1 does not tell
def test_what_the_merge_spills_is_counted_if_it_is_asked_for(lab: Lab) -> None:
    sql = "SELECT range AS id, hash(range) AS h, repeat('x', 200) AS pad FROM range(200_000)"
    plan = merged("SELECT id, h, pad FROM f1 ORDER BY h", lab.fragment("f1", sql))
    small, large = (Options(memory_bytes_max=size << 20, threads=1) for size in (48, 2048))
    for options, is_asked in ((small, True), (large, True), (small, False)):
        with lab.execute(plan, options) as result:
            if is_asked:
                result.measure()
            result.drain()
            spilled = result.stats.bytes_spilled
        assert (spilled is not None) == is_asked
        assert bool(spilled) == (is_asked and options is small)


def test_no_spill_directory_is_made_in_the_working_directory(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert lab.rows(everywhere(lab)) == [(300,)]
    assert not (tmp_path / ".tmp").exists()
