"""The session's servers end with it."""

from __future__ import annotations

import os

import pytest

from tests.servers.running import session_folder, stop_all


def pytest_configure(config: pytest.Config) -> None:
    """The process that began the session names the servers' folder before its workers are started."""
    if "PYTEST_XDIST_WORKER" not in os.environ:
        session_folder()


def pytest_unconfigure(config: pytest.Config) -> None:
    if "PYTEST_XDIST_WORKER" not in os.environ:
        stop_all()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Says how many tests were skipped for want of a server."""
    skipped = terminalreporter.stats.get("skipped", ())
    count = sum("make servers" in str(report.longrepr) for report in skipped)
    if count:
        terminalreporter.write_line(f"{count} tests were skipped for want of a server: run `make servers`")
