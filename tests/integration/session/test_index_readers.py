"""Nobody reads an index half written: not in this process, nor in another one of the same catalog's file."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import threading
from contextlib import closing
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
from shardwise.session.index_readers import IndexReaders
from shardwise.session.indexes import Asked, check
from shardwise.session.indexes.states import _locked, set_state
from shardwise.session.known import KnownCatalog
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
    leave = readers.enter()
    guard = Guard(Options(deadline_s=0.1))
    with pytest.raises(shardwise.OperationalError, match="deadline"):
        readers.wait_until_left("i", guard)
    leave()
    leave()
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
            index = cluster.catalog.index("visits")
            assert index is not None
            state = cluster.catalog.state_of(index)
            assert state is not None
            set_state(cluster, index, Built.BUILDING, state.fingerprint)
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
    leave = readers.enter()

    def collected_meanwhile() -> None:
        with readers._lock:
            leave()

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
leave, others = readers.enter(), readers.enter()
child = os.fork()
if child == 0:
    leave()  # as what it has of a result does, which is not its own
    signal.pause()
try:
    others()
    assert readers._is_read_elsewhere() or readers._inside
    leave()
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
    readers.enter()()  # no such file: nobody can write, either
    with pytest.raises(OperationalError, match=r"cannot lock .*cluster\.sql"):
        readers.wait_until_left("i", Guard(Options()), wait_s=0)

    def no_descriptor(*_: object) -> int:
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr("shardwise.session.index_readers.os.open", no_descriptor)
    with pytest.raises(OperationalError, match="Too many open files"):
        readers.enter()
    monkeypatch.undo()
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
