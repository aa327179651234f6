"""The shell at a real terminal: a pseudo-terminal, key by key, with the clock running."""

from __future__ import annotations

import contextlib
import os
import pty
import re
import select
import signal
import sys
import termios
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import shardwise
from tests.integration.cli.conftest import *  # noqa: F403  the cluster

pytestmark = pytest.mark.slow

_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b[=>]|\x1b\][^\x07]*\x07")
PROMPT = "tiny> "
SLOW = "SELECT sum(sqrt(c.id + x)) FROM customers c, range(100000000) r(x);"
SLOW_MERGE = (
    "SELECT median(c.id + x) FROM customers c JOIN customers d ON c.id = d.id+1, range(9000000) r(x);"
)
BACK_WITHIN_S = 0.2


class Terminal:
    """`shardwise shell` under a pseudo-terminal of 80 by 24."""

    def __init__(self, folder: Path, **environment: str) -> None:
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.environ.update(environment)
            os.execv(sys.executable, [sys.executable, "-m", "shardwise", "shell"])
        termios.tcsetwinsize(self.fd, (24, 80))
        self.seen = ""

    def send(self, text: str) -> None:
        os.write(self.fd, text.encode())

    def wait_for(self, text: str, seconds: float = 60.0) -> str:
        """What was shown up to `text`, escapes left out; answers the terminal's questions meanwhile."""
        deadline = time.monotonic() + seconds
        while text not in self.seen:
            left = deadline - time.monotonic()
            assert left > 0, f"no {text!r} in {self.seen[-2000:]!r}"
            if select.select([self.fd], [], [], min(left, 0.02))[0]:
                data = os.read(self.fd, 65_536).decode(errors="replace")
                if "\x1b[6n" in data:
                    self.send("\x1b[1;1R")
                self.seen += _ESCAPES.sub("", data)
        before, _, self.seen = self.seen.partition(text)
        return before

    def quiet(self, seconds: float = 0.3) -> None:
        """Until nothing was shown for a while."""
        while select.select([self.fd], [], [], seconds)[0]:
            self.seen += _ESCAPES.sub("", os.read(self.fd, 65_536).decode(errors="replace"))

    def end(self) -> int:
        """The exit code; what is left to be shown is read."""
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            if select.select([self.fd], [], [], 0.02)[0]:
                with contextlib.suppress(OSError):  # closed
                    os.read(self.fd, 65_536)
            done, status = os.waitpid(self.pid, os.WNOHANG)
            if done:
                self.pid = 0
                return os.waitstatus_to_exitcode(status)
        raise AssertionError("the shell did not end")

    def close(self) -> None:
        if self.pid:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.fd)


@pytest.fixture
def terminal(imported: Path) -> Iterator[Terminal]:
    root = str(Path(shardwise.__file__).parents[1])
    opened = Terminal(
        imported,
        PYTHONPATH=root,
        XDG_STATE_HOME=str(imported / "state"),
        XDG_CONFIG_HOME=str(imported / "config"),
        TERM="xterm-256color",
        NO_COLOR="1",
        PAGER="less",
    )
    opened.wait_for(PROMPT)
    opened.quiet()
    yield opened
    opened.close()


def is_interrupted_in_time(terminal: Terminal, line: str) -> bool:
    """Whether ctrl-C stops what `line` begins; other work on the machine may delay some of the attempts."""
    took: list[float] = []
    while len(took) < 6 and (not took or min(took) >= BACK_WITHIN_S):
        terminal.send(f"{line}\r")
        time.sleep(1.5)
        terminal.quiet(0.0)
        took.append(interrupted_after(terminal))
    return min(took) < BACK_WITHIN_S


def interrupted_after(terminal: Terminal) -> float:
    """Ctrl-C, and how many seconds later the prompt is back and takes keys."""
    terminal.seen = ""
    started = time.monotonic()
    terminal.send("\x03")
    terminal.wait_for(PROMPT)
    return time.monotonic() - started


@pytest.mark.parametrize("sql", [SLOW, SLOW_MERGE, "EXPLAIN ANALYZE " + SLOW])
def test_ctrl_c_stops_the_statement_and_not_the_shell(terminal: Terminal, sql: str) -> None:
    assert is_interrupted_in_time(terminal, sql)
    terminal.send("SELECT 40 + 2 AS answer;\r")
    assert "42" in terminal.wait_for("(1 row)")
    terminal.wait_for(PROMPT)
    terminal.send("\x04")
    assert terminal.end() == 0


def test_ctrl_c_stops_a_file_too(terminal: Terminal, imported: Path) -> None:
    (imported / "slow.sql").write_text(f"{SLOW}\n{SLOW}\n.print after\n", encoding="utf-8")
    assert is_interrupted_in_time(terminal, ".read slow.sql")
    terminal.quiet()
    assert "after" not in terminal.seen


def test_what_is_typed_meanwhile_is_run_and_not_echoed_amid_the_rows(terminal: Terminal) -> None:
    terminal.send("SELECT count(*) AS many FROM customers c, range(3000000) r(x) WHERE sqrt(c.id + x) > 1;\r")
    time.sleep(0.5)
    terminal.send("SELECT 40 + 2 AS answer;\r")
    assert "40 + 2" not in terminal.wait_for("(1 row)")
    assert "42" in terminal.wait_for("(1 row)")


def test_progress_is_shown_and_erased(terminal: Terminal) -> None:
    terminal.send(SLOW + "\r")
    terminal.wait_for("requests answered")
    interrupted_after(terminal)


def test_lines_history_and_leaving(terminal: Terminal, imported: Path) -> None:
    terminal.send("SELECT 'half\x03")
    terminal.wait_for(PROMPT)
    terminal.send("SELECT 6 *\r7 AS answer;\r")
    assert "42" in terminal.wait_for("(1 row)")
    terminal.wait_for(PROMPT)
    terminal.send("\x1b[A\r")  # once more, whole
    assert "42" in terminal.wait_for("(1 row)")
    terminal.wait_for(PROMPT)
    terminal.send(".quit\r")
    assert terminal.end() == 0
    history = (imported / "state" / "shardwise" / "shell_history").read_text(encoding="utf-8")
    assert "+SELECT 6 *\n+7 AS answer;\n" in history
    assert "half" not in history


def test_a_long_result_is_paged_and_ctrl_c_leaves_the_pager(terminal: Terminal) -> None:
    terminal.send("SELECT id FROM customers ORDER BY id;\r")
    terminal.wait_for("│      15 │")
    terminal.quiet()
    terminal.send("\x03")
    terminal.wait_for(PROMPT)
    terminal.send("SELECT 40 + 2 AS answer;\r")
    assert "42" in terminal.wait_for("(1 row)")


def test_the_startup_file(imported: Path) -> None:
    (imported / "config" / "shardwise").mkdir(parents=True)
    (imported / "config" / "shardwise" / "shellrc").write_text(".mode csv\n", encoding="utf-8")
    root = str(Path(shardwise.__file__).parents[1])
    opened = Terminal(
        imported,
        PYTHONPATH=root,
        XDG_CONFIG_HOME=str(imported / "config"),
        XDG_STATE_HOME=str(imported / "state"),
    )
    try:
        opened.wait_for(PROMPT)
        opened.quiet()
        opened.send("SELECT 1 AS a, 2 AS b;\r")
        opened.wait_for("a,b\r\n1,2\r\n")
    finally:
        opened.close()
