"""Ctrl-C while work goes on."""

from __future__ import annotations

import os
import signal
import threading
import time

import pytest

from shardwise.cli import attended as module
from shardwise.cli.attended import attended, leave
from shardwise.errors import Cancelled

pytestmark = pytest.mark.skipif(
    threading.current_thread() is not threading.main_thread(), reason="signals need the main thread"
)


def never() -> None:
    raise AssertionError("nothing was interrupted")


def interrupting(started: threading.Event) -> None:
    def interrupt() -> None:
        assert started.wait(10)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt).start()


def test_work_gives_what_it_gives() -> None:
    before = signal.getsignal(signal.SIGINT)
    assert attended(lambda: (threading.current_thread() is threading.main_thread(), 7), never) == (False, 7)
    with pytest.raises(ZeroDivisionError):
        attended(lambda: 1 // 0, never)
    assert signal.getsignal(signal.SIGINT) is before


def test_ctrl_c_cancels_and_raises_what_the_work_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PATIENCE_S", 10)
    started, stopped = threading.Event(), threading.Event()

    def work() -> None:
        started.set()
        assert stopped.wait(10)
        raise Cancelled("as told")

    interrupting(started)
    with pytest.raises(Cancelled, match="as told"):
        attended(work, stopped.set)
    assert leave(3) == 3


def test_work_that_does_not_stop_is_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PATIENCE_S", 0.01)
    started, ended = threading.Event(), threading.Event()

    def work() -> bool:
        started.set()
        return ended.wait(10)

    interrupting(started)
    before = time.monotonic()
    with pytest.raises(Cancelled, match="still being stopped"):
        attended(work, lambda: None)
    assert time.monotonic() - before < 5
    ended.set()
    assert leave(0) == 0


def test_a_program_ends_even_if_its_work_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    class Ended(Exception):
        pass

    def end(code: int) -> None:
        raise Ended(code)

    monkeypatch.setattr(module, "PATIENCE_S", 0.01)
    monkeypatch.setattr(module.os, "_exit", end)
    started, ended = threading.Event(), threading.Event()
    interrupting(started)
    with pytest.raises(Cancelled):
        attended(lambda: (started.set(), ended.wait(10)), lambda: None)
    with pytest.raises(Ended, match="130"):
        leave(130, patience_s=0.01)
    ended.set()
    assert leave(0) == 0


def test_in_another_thread_work_is_simply_done() -> None:
    found: list[int] = []
    thread = threading.Thread(target=lambda: found.append(attended(lambda: 1, never)))
    thread.start()
    thread.join()
    assert found == [1]
