"""Nobody reads an index half written: not in this process, nor in another one of the same catalog's file."""

from __future__ import annotations

import errno
import gc
import os
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from itertools import count
from pathlib import Path
from typing import Any, cast

import pytest

import shardwise
from shardwise.catalog import load
from shardwise.catalog.model import Built
from shardwise.errors import OperationalError
from shardwise.executor.guard import Guard
from shardwise.executor.result import Result
from shardwise.options import Options
from shardwise.session.environments import Environments
from shardwise.session.index_readers import IndexReaders, Reader
from shardwise.session.indexes import Asked, check
from shardwise.session.indexes.states import _locked, set_state
from shardwise.session.known import KnownCatalog
from shardwise.session.name_locks import ByteLocks, FileLocks, NameLocks, opened
from tests.integration.session.indexed import VISITS, World

SQL = "SELECT customer_id, weight FROM clicks JOIN pages ON page = url"
REPAIR = "CHECK JOIN INDEX visits REPAIR"


def _world(folder: Path) -> World:
    made = World(folder, 3, ("sqlite",))
    made.make()
    with closing(made.connect()) as con:
        con.execute(VISITS)
    return made


def _used(con: Any) -> bool:
    return "answers as of the build" in con.explain(SQL).text


def test_a_repair_is_seen_whole_or_not_at_all(tmp_path: Path) -> None:
    """A row that changes goes and comes back in two batches: between them it would be missed."""
    world = _world(tmp_path)
    with (
        closing(world.connect()) as con,
        closing(shardwise.connect(world.folder / "cluster.sql", trust_indexes=True)) as other,
    ):
        mine = con.cluster.connect(trust_indexes=True)
        assert _used(mine)
        assert _used(other)
        before = sorted(other.execute(SQL).fetchall(), key=repr)
        for shard in range(3):
            world.run(shard, "UPDATE pages SET weight = weight + 100")
        after = sorted(con.execute(SQL).fetchall(), key=repr)
        assert before != after
        seen: list[str] = []

        def watch(progress: Any) -> None:
            if progress.written:
                for each in (mine, other):
                    rows = sorted(each.execute(SQL).fetchall(), key=repr)
                    assert rows in (before, after)
                    seen.append(each.explain(SQL).text)

        asked = Asked(options=Options(), guard=Guard(Options()), watcher=watch, batch_rows=5)
        check(con.cluster, con.cluster.catalog.index("visits"), asked, repair=True)
        assert len(seen) > 4
        assert all("its state is building" in told for told in seen)
        assert _used(mine)
        assert _used(other)
        assert sorted(other.execute(SQL).fetchall(), key=repr) == after


@pytest.mark.parametrize("statement", [REPAIR, "DROP JOIN INDEX visits"])
def test_readers_are_waited_for(tmp_path: Path, statement: str, monkeypatch: pytest.MonkeyPatch) -> None:
    world = _world(tmp_path)
    with (
        closing(world.connect()) as con,
        closing(shardwise.connect(world.folder / "cluster.sql", trust_indexes=True)) as other,
    ):
        for reader in (con.cluster.connect(trust_indexes=True), other):
            result = reader.cluster.run(SQL, options=reader.options)
            monkeypatch.setattr("shardwise.session.index_readers.WAIT_S", 0.2)
            with pytest.raises(OperationalError, match='index "visits" is to be written to'):
                con.execute(statement)
            assert _used(reader)  # nothing was written: it is valid as before
            result.close()
        monkeypatch.setattr("shardwise.session.index_readers.WAIT_S", 20)
        result = other.cluster.run(SQL, options=other.options)
        worker = threading.Thread(target=lambda: con.cluster.connect().execute(statement))
        worker.start()
        worker.join(0.5)
        assert worker.is_alive()
        assert result.fetchall()
        worker.join(20)
        assert not worker.is_alive()


def test_readers_of_the_tables_are_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shardwise.session.index_readers.WAIT_S", 0.0)
    world = _world(tmp_path)
    with (
        closing(world.connect()) as con,
        closing(shardwise.connect(world.folder / "cluster.sql", trust_indexes=True)) as other,
    ):
        results = [
            con.cluster.run(SQL),
            other.cluster.run("SELECT no FROM invoices", options=other.options),
        ]
        con.execute(REPAIR)
        assert all(result.fetchall() for result in results)
        results = [other.cluster.run(SQL, options=other.options)]
        with pytest.raises(OperationalError, match="is to be written to"):
            con.execute(REPAIR)
        results[0].close()


NEVER_PAUSING = """
import sys, shardwise
con = shardwise.connect(sys.argv[1], trust_indexes=True)
before = con.cluster.run(sys.argv[2], options=con.options)
print("reads", flush=True)
while True:
    after = con.cluster.run(sys.argv[2], options=con.options)
    before.close()
    before = after
"""
BY_NO = "SELECT customer_id FROM invoices WHERE no = 3"


@contextmanager
def _reading_elsewhere(world: World, code: str, sql: str) -> Iterator[subprocess.Popen[str]]:
    """A process that reads; it has begun."""
    argv = [sys.executable, "-c", code, str(world.folder / "cluster.sql"), sql]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "reads\n"
            yield process
        finally:
            process.kill()


@contextmanager
def _reading_here(cluster: Any, sql: str) -> Iterator[None]:
    """Threads of which each begins a statement before it closes its last one."""
    begun, over = threading.Barrier(3), threading.Event()
    options = cluster.connect(trust_indexes=True).options

    def read() -> None:
        before = cluster.run(sql, options=options)
        begun.wait(20)
        while not over.is_set():
            after = cluster.run(sql, options=options)
            before.close()
            before = after
        before.close()

    workers = [threading.Thread(target=read) for _ in range(2)]
    for worker in workers:
        worker.start()
    try:
        begun.wait(20)
        yield
    finally:
        over.set()
        for worker in workers:
            worker.join(20)


def _with_lookup(world: World) -> None:
    with closing(world.connect()) as con:
        con.execute("CREATE LOOKUP INDEX invoices_no ON invoices (no)")
        assert "invoices_no answers as of" in con.cluster.connect(trust_indexes=True).explain(BY_NO).text


@pytest.mark.parametrize("sql", [BY_NO, SQL], ids=["of another index", "of the same"])
def test_readers_that_never_pause_keep_no_writer_waiting(
    tmp_path: Path, sql: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = _world(tmp_path)
    _with_lookup(world)
    for shard in range(3):
        world.run(shard, "PRAGMA journal_mode = WAL")  # in which SQLite's own locks have no writer wait
    monkeypatch.setattr("shardwise.session.index_readers.WAIT_S", 10)
    with (
        closing(world.connect()) as con,
        _reading_here(con.cluster, sql),
        _reading_elsewhere(world, NEVER_PAUSING, sql),
    ):
        con.execute(REPAIR)
        con.execute("DROP JOIN INDEX visits")


def test_a_plan_says_which_indexes_it_reads_or_may_read(tmp_path: Path) -> None:
    world = _world(tmp_path)
    _with_lookup(world)
    late = f"{SQL} WHERE customer_id = (SELECT max(customer_id) FROM invoices)"
    with closing(world.connect()) as con:
        trusting = con.cluster.connect(trust_indexes=True)

        def read_by(connection: Any, sql: str) -> set[str]:
            plan = connection.cluster.plan(sql, options=connection.options)
            return {state.name for state in plan.indexes}

        assert read_by(trusting, SQL) == read_by(trusting, SQL) == {"visits"}  # out of the plan cache, too
        assert read_by(trusting, BY_NO) == {"invoices_no"}
        assert read_by(trusting, "SELECT no FROM invoices") == set()
        assert read_by(trusting, late) == {"visits", "invoices_no"}
        assert read_by(con, SQL) == read_by(con, late) == set()


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a reader of one index counts as one of all")
def test_readers_of_other_indexes_are_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shardwise.session.index_readers.WAIT_S", 0.0)
    world = _world(tmp_path)
    _with_lookup(world)
    with (
        closing(world.connect()) as con,
        closing(shardwise.connect(world.folder / "cluster.sql", trust_indexes=True)) as other,
    ):
        results = [
            each.cluster.run(BY_NO, options=other.options)
            for each in (con.cluster.connect(trust_indexes=True), other)
        ]
        con.execute(REPAIR)
        with pytest.raises(OperationalError, match='"invoices_no" is to be written to'):
            con.execute("CHECK LOOKUP INDEX invoices_no REPAIR")
        assert [result.fetchall() for result in results]
        for result in results:
            result.close()
        con.execute("CHECK LOOKUP INDEX invoices_no REPAIR")


def test_a_reader_that_dies_is_waited_for_no_longer(tmp_path: Path) -> None:
    world = _world(tmp_path)
    code = NEVER_PAUSING.replace("while True:", "sys.stdin.read()\nwhile False:")
    with closing(world.connect()) as con, _reading_elsewhere(world, code, SQL) as process:
        assert con.cluster.index_readers._is_read_elsewhere("visits")
        worker = threading.Thread(target=lambda: con.cluster.connect().execute(REPAIR))
        worker.start()
        worker.join(0.5)
        assert worker.is_alive()
        process.kill()
        worker.join(20)
        assert not worker.is_alive()
        assert _used(con.cluster.connect(trust_indexes=True))


def test_an_index_that_is_shut_after_it_was_planned_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By this process or another one, which finds that nobody holds it yet."""
    world, hold = _world(tmp_path), Reader.hold
    with (
        closing(world.connect()) as con,
        closing(shardwise.connect(world.folder / "cluster.sql", trust_indexes=True)) as other,
    ):
        right = sorted(con.execute(SQL).fetchall(), key=repr)
        held: list[list[str]] = []

        def shut_meanwhile(reader: Reader, indexes: Iterable[str]) -> None:
            held.append(list(indexes))
            con.cluster.index_readers.wait_until_left("visits", Guard(Options()), wait_s=0)
            _stop_a_repair(con.cluster)
            hold(reader, held[-1])

        monkeypatch.setattr(Reader, "hold", shut_meanwhile)
        for reading in (con.cluster.connect(trust_indexes=True), other):
            result = reading.cluster.run(SQL, options=reading.options)
            con.cluster.index_readers.wait_until_left("visits", Guard(Options()), wait_s=0)
            assert sorted(result.fetchall(), key=repr) == right
            con.execute(REPAIR)
        assert held == [["visits"], ["visits"]]


def _stop_a_repair(cluster: Any) -> None:
    """As one that was killed while it waited."""
    index = cluster.catalog.index("visits")
    set_state(cluster, index, Built.BUILDING, cluster.catalog.state_of(index).fingerprint)


@pytest.mark.parametrize("at", ["shardwise.session.cluster", "shardwise.session.index_readers"])
def test_wherever_a_statement_is_interrupted_it_holds_nothing_after(tmp_path: Path, at: str) -> None:
    """At each line in turn, from the statement's begin until its result is closed."""
    world, file = _world(tmp_path), sys.modules[at].__file__

    def interrupted_at(number: int) -> bool:
        seen = 0

        def trace(frame: Any, event: str, _: Any) -> Any:
            nonlocal seen
            if frame.f_code.co_filename != file or frame.f_code.co_name == "__del__":
                return None
            if frame.f_back.f_code.co_name == "__del__":  # whose errors Python ignores
                return None
            if event == "line":
                seen += 1
                if seen == number:
                    sys.settrace(None)
                    raise KeyboardInterrupt
            return trace

        before = sys.gettrace()
        sys.settrace(trace)
        try:
            con.cluster.run(SQL, options=con.options).close()
        except KeyboardInterrupt:
            return True
        finally:
            sys.settrace(before)
        return False

    with closing(shardwise.connect(world.folder / "cluster.sql", trust_indexes=True)) as con:
        assert _used(con)
        gc.freeze()  # what there is by now is looked through no more
        numbers = count(1)
        while interrupted_at(next(numbers)):
            gc.collect()
            con.cluster.index_readers.wait_until_left("visits", Guard(Options()), wait_s=0)
        assert next(numbers) > 20


@pytest.mark.skipif(sys.platform == "win32", reason="no locks between processes")
@pytest.mark.parametrize("locks", [ByteLocks(), FileLocks()], ids=["bytes", "the file"])
def test_locks_on_names(tmp_path: Path, locks: NameLocks) -> None:
    file = tmp_path / "cluster.sql"
    file.touch(0o444)
    with opened(file) as one, opened(file) as other, opened(file) as third:
        assert not locks.is_held(third, "i")
        for each in (one, other):
            locks.hold(each, ["i", "k"])
        locks.let_go(one)
        assert locks.is_held(third, "I")
        assert locks.is_held(third, "k")
        assert locks.is_held(third, "l") is isinstance(locks, FileLocks)
        other.close()
        assert not locks.is_held(third, "i")


def test_what_another_process_drops_or_builds_is_known(tmp_path: Path) -> None:
    world = _world(tmp_path)
    code = (
        "import sys, shardwise\ncon = shardwise.connect(sys.argv[1])\ncon.execute(sys.argv[2])\ncon.close()"
    )

    def elsewhere(statement: str) -> None:
        subprocess.run(
            [sys.executable, "-c", code, str(world.folder / "cluster.sql"), statement],
            check=True,
            timeout=120,
        )

    with closing(shardwise.connect(world.folder / "cluster.sql", trust_indexes=True)) as con:
        right = sorted(con.execute(SQL).fetchall(), key=repr)
        assert _used(con)
        elsewhere("DROP JOIN INDEX visits")
        assert not _used(con)
        assert sorted(con.execute(SQL).fetchall(), key=repr) == right
        elsewhere(VISITS)
        assert _used(con)


def test_a_statement_that_is_stopped_waits_no_longer(tmp_path: Path) -> None:
    readers = IndexReaders(None)
    reader = readers.reader()
    reader.hold(["i"])
    guard = Guard(Options(deadline_s=0.1))
    with pytest.raises(shardwise.OperationalError, match="deadline"):
        readers.wait_until_left("i", guard)
    reader.leave()
    reader.leave()
    readers.wait_until_left("i", Guard(Options()), wait_s=0)


def test_states_are_taken_in_before_they_are_taken_for_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A statement that finds the lock file seen goes on at once: by what it says, not by what it said."""
    world = _world(tmp_path)
    known = KnownCatalog(load(world.folder / "cluster.sql"), world.folder / "cluster.sql", cast(Any, None))
    first, second = (threading.Thread(target=known.look_at_states, daemon=True) for _ in range(2))
    halfway, go_on = threading.Event(), threading.Event()

    def slowly(catalog: Any, states: Any) -> Any:
        halfway.set()
        assert go_on.wait(20)
        return catalog

    monkeypatch.setattr("shardwise.session.known._with_states", slowly)
    first.start()
    assert halfway.wait(20)
    second.start()
    second.join(0.3)
    assert second.is_alive()
    go_on.set()
    for each in (first, second):
        each.join(20)
        assert not each.is_alive()


def test_states_seen_while_columns_are_learned_are_not_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To list the members of an open family may be to run a statement, which looks at the states."""
    world = _world(tmp_path)
    file = world.folder / "cluster.sql"
    known = KnownCatalog(load(file), file, Environments(cast(Any, None)))
    known.look_at_states()

    def learn(catalog: Any, *_: Any, are_open: bool) -> Any:
        if are_open:
            con.execute("DROP JOIN INDEX visits")
            known.look_at_states()
        return catalog, {}

    with closing(world.connect()) as con:
        con.execute(SQL).fetchall()  # its columns are known from now on
        monkeypatch.setattr("shardwise.session.known.learn", learn)
        known.learned(cast(Any, None), cast(Any, None))
    known.look_at_states()
    for catalog in (known.declared, known.catalog):
        assert catalog is not None
        index = catalog.index("visits")
        assert index is not None
        assert catalog.state_of(index) is None


def test_readers_of_a_repair_that_was_killed_while_it_waited_are_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shardwise.session.index_readers.WAIT_S", 0.1)
    world = _world(tmp_path)
    with closing(world.connect()) as con:
        cluster = con.cluster
        reader = cluster.connect(trust_indexes=True)
        for statement in (REPAIR, VISITS, "DROP JOIN INDEX visits"):
            result = cluster.run(SQL, options=reader.options)
            _stop_a_repair(cluster)
            with pytest.raises(OperationalError, match="is to be written to"):
                con.execute(statement)
            result.close()
            con.execute(REPAIR)


def test_a_statement_that_is_stopped_as_it_begins_reads_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = _world(tmp_path)

    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Result, "when_closed", stopped)
    with closing(shardwise.connect(world.folder / "cluster.sql", trust_indexes=True)) as con:
        with pytest.raises(KeyboardInterrupt):
            con.execute(SQL)
        con.cluster.index_readers.wait_until_left("visits", Guard(Options()), wait_s=0)


def test_a_result_may_be_dropped_by_whatever_its_thread_is_doing() -> None:
    readers = IndexReaders(None)
    reader = readers.reader()
    reader.hold(["i"])

    def collected_meanwhile() -> None:
        with readers._lock:
            readers.reader()
            reader.leave()

    worker = threading.Thread(target=collected_meanwhile, daemon=True)
    worker.start()
    worker.join(20)
    assert not worker.is_alive()


@pytest.mark.skipif(sys.platform == "win32", reason="no locks between processes")
def test_a_process_that_was_forked_meanwhile_keeps_nobody_waiting(tmp_path: Path) -> None:
    file = tmp_path / "cluster.sql"
    file.touch()
    code = """
import os, signal, sys
from pathlib import Path
from shardwise.executor.guard import Guard
from shardwise.options import Options
from shardwise.session.index_readers import IndexReaders

file = Path(sys.argv[1])
readers = IndexReaders(file)
one, other = readers.reader(), readers.reader()
for each in (one, other):
    each.hold(["i"])
child = os.fork()
if child == 0:
    one.leave()  # as what it has of a result does, which is not its own
    signal.pause()
try:
    other.leave()
    assert IndexReaders(file)._is_read_elsewhere("i")
    one.leave()
    IndexReaders(file).wait_until_left("i", Guard(Options()), wait_s=0)
finally:
    os.kill(child, signal.SIGKILL)
"""
    subprocess.run([sys.executable, "-c", code, str(file)], check=True, timeout=60)


def test_a_reader_that_nobody_can_know_of_does_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "cluster.sql"
    readers = IndexReaders(file)
    reader = readers.reader()
    reader.hold(["i"])  # no such file: nobody can write, either
    reader.leave()
    with pytest.raises(OperationalError, match=r"cannot lock .*cluster\.sql"):
        readers.wait_until_left("i", Guard(Options()), wait_s=0)

    def no_descriptor(*_: object) -> int:
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr("shardwise.session.name_locks.FileIO", no_descriptor)
    with pytest.raises(OperationalError, match="Too many open files"):
        reader.hold(["i"])
    monkeypatch.undo()
    reader.leave()
    file.touch()
    readers.wait_until_left("i", Guard(Options()), wait_s=0)


def test_a_file_that_its_owner_removes_is_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, samestat, seen = tmp_path / "cluster.lock.building", os.path.samestat, []

    def removed_meanwhile(*stats: os.stat_result) -> bool:
        seen.append(stats)
        if len(seen) == 1:
            path.unlink()
            path.stat()
        return samestat(*stats)

    monkeypatch.setattr("shardwise.session.indexes.states.os.path.samestat", removed_meanwhile)
    os.close(_locked(path))
    assert path.exists()
    assert len(seen) == 2
