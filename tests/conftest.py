"""The session's servers end with it."""

from __future__ import annotations

import gc
import os
from collections.abc import Generator

import lark.lexer
import pytest

from tests.servers.running import session_folder, stop_all


def pytest_configure(config: pytest.Config) -> None:
    """The process that began the session names its folder before its workers are started."""
    if "PYTEST_XDIST_WORKER" not in os.environ:
        session_folder()
    # With it the first catalog of a process is read after a second of looking for terminals that collide,
    # which the test of the grammar asks for.
    lark.lexer.has_interegular = False


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """The tests are a million objects that stay to the end: no collection of garbage looks through them."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


def pytest_unconfigure(config: pytest.Config) -> None:
    if "PYTEST_XDIST_WORKER" not in os.environ:
        stop_all()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Says how many tests were skipped for want of a server."""
    skipped = terminalreporter.stats.get("skipped", ())
    count = sum("make servers" in str(report.longrepr) for report in skipped)
    if count:
        terminalreporter.write_line(f"{count} tests were skipped for want of a server: run `make servers`")
