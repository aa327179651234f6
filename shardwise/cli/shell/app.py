"""`shardwise shell`: at a terminal a prompt, else a text from standard input."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Final

import typer
from prompt_toolkit import PromptSession
from prompt_toolkit.formatted_text import StyleAndTextTuples
from rich.text import Text

from shardwise._version import __version__
from shardwise.cli import console as consoles
from shardwise.cli.catalog import DEFAULT_CATALOG, existing
from shardwise.cli.console import Exit, failing
from shardwise.cli.shell.completion import SqlCompleter
from shardwise.cli.shell.history import PrivateHistory, history_path
from shardwise.cli.shell.leaving import Leave
from shardwise.cli.shell.prompting import session
from shardwise.cli.shell.settings import Settings
from shardwise.cli.shell.shell import Shell
from shardwise.cli.terminal import one_line, pager_of
from shardwise.planner.scope import Scope

Given = Annotated[
    Path | None, typer.Argument(metavar="[CATALOG]", help="The catalog file. [default: cluster.sql]")
]
Option = Annotated[
    Path | None, typer.Option("-c", "--catalog", envvar="SHARDWISE_CATALOG", help="The same, as for `query`.")
]

_RC: Final = Path("shardwise/shellrc")


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
                code = _interact(opened, is_vi=vi, has_rc=not no_rc)
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


def _interact(opened: Shell, *, is_vi: bool, has_rc: bool) -> int:
    completer = SqlCompleter(lambda: opened.connection)
    prompt = session(
        lambda: prompt_of(opened),
        lambda: opened.dialect,
        history=PrivateHistory(history_path(os.environ)),
        completer=completer,
        is_vi=is_vi,
    )
    name = one_line(opened.connection.cluster.declared.name)
    greeting = f"shardwise {__version__}, catalog {name}. .help lists the commands, Ctrl-D leaves."
    consoles.stderr().print(Text(greeting, style="dim"))
    rc = rc_path()
    if has_rc and rc.is_file():
        opened.read(rc)
    loop(opened, prompt, completer)
    return Exit.OK


def loop(opened: Shell, prompt: PromptSession[str], completer: SqlCompleter) -> None:
    """Reads and runs until Ctrl-D. Raises `Leave` where a command says so."""
    while True:
        completer.refresh()
        edited, opened.edited = opened.edited, None
        try:
            text = prompt.prompt(default=edited or "")
        except KeyboardInterrupt:
            continue
        except EOFError:
            return
        try:
            opened.run(text)
        except KeyboardInterrupt:
            continue


def prompt_of(opened: Shell) -> StyleAndTextTuples:
    """The catalog's name, and the scope if there is one: `shop[tenant=acme]> `."""
    parts: StyleAndTextTuples = [("class:prompt", one_line(opened.connection.cluster.declared.name))]
    scope = scope_text(opened.connection.scope)
    if scope:
        parts.append(("class:prompt.scope", f"[{scope}]"))
    return [*parts, ("class:prompt", "> ")]


def scope_text(scope: Scope) -> str:
    """A scope in few words."""
    named = [(key.name, tuple(map(str, key.values))) for key in scope.keys]
    if scope.shards is not None:
        named.append(("shard", scope.shards))
    return ", ".join(
        f"{name}={one_line(values[0])}" if len(values) == 1 else f"{name}: {len(values)}"
        for name, values in named
    )


def rc_path() -> Path:
    """The startup file, in the folder for configuration, as the XDG base directory specification has it."""
    return Path(os.environ.get("XDG_CONFIG_HOME") or "~/.config").expanduser() / _RC
