"""The prompt: reads a text, runs it, and reads the next."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from prompt_toolkit import PromptSession
from prompt_toolkit.formatted_text import StyleAndTextTuples
from rich.text import Text

from shardwise._version import __version__
from shardwise.cli import console as consoles
from shardwise.cli.console import Exit
from shardwise.cli.shell.completion import SqlCompleter
from shardwise.cli.shell.history import PrivateHistory, history_path
from shardwise.cli.shell.prompting import session
from shardwise.cli.shell.shell import Shell
from shardwise.cli.terminal import one_line
from shardwise.planner.scopes.scope import Scope

_RC: Final = Path("shardwise/shellrc")


def interact(opened: Shell, *, is_vi: bool, has_rc: bool) -> int:
    """The shell at a terminal, until its user leaves."""
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
    """The catalog, the schema and the scope, if there are any: `shop.crm[tenant=acme]> `."""
    connection = opened.connection
    place = ".".join(filter(None, (connection.cluster.declared.name, connection.options.schema)))
    parts: StyleAndTextTuples = [("class:prompt", one_line(place))]
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
