"""`shardwise shell`: at a terminal a prompt (`app`), else a text from standard input."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from shardwise.cli.catalog import existing
from shardwise.cli.console import DEFAULT_CATALOG, failing
from shardwise.cli.shell.leaving import Leave
from shardwise.cli.shell.settings import Settings
from shardwise.cli.shell.shell import Shell
from shardwise.cli.terminal import pager_of

Given = Annotated[
    Path | None, typer.Argument(metavar="CATALOG", help="The catalog file. [default: cluster.sql]")
]
Option = Annotated[
    Path | None, typer.Option("-c", "--catalog", envvar="SHARDWISE_CATALOG", help="The same, as for `query`.")
]


def shell(
    given: Given = None,
    *,
    catalog: Option = None,
    no_rc: Annotated[bool, typer.Option("--no-rc", help="Leave out the startup file.")] = False,
    vi: Annotated[bool, typer.Option("--vi", help="vi's keys instead of emacs'.")] = False,
) -> None:
    """Type statements, with completion and history; or run those of standard input."""
    path = existing(given or catalog or DEFAULT_CATALOG)
    is_interactive = sys.stdin.isatty() and sys.stdout.isatty()
    settings = Settings(bail=not is_interactive, pager=pager_of(os.environ))
    with failing(), _opened(path, settings, is_interactive=is_interactive) as opened:
        try:
            if is_interactive:
                # Loaded here: only a prompt needs prompt-toolkit, which takes longer than to answer a query.
                app = import_module("shardwise.cli.shell.app")
                code = app.interact(opened, is_vi=vi, has_rc=not no_rc)
            else:
                code = opened.run_lines(sys.stdin, "stdin")
        except Leave as leave:
            code = leave.code
    if code:
        raise typer.Exit(code)


@contextmanager
def _opened(path: Path, settings: Settings, *, is_interactive: bool) -> Iterator[Shell]:
    opened = Shell(path, settings, is_interactive=is_interactive)
    try:
        yield opened
    finally:
        opened.close()
