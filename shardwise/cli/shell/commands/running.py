"""Commands that run things, and help."""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path
from shutil import get_terminal_size
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from shardwise.cli.console import Exit
from shardwise.cli.shell.commands.registry import COMMANDS, NAMES, Completes, Known, command, unknown
from shardwise.cli.shell.leaving import Leave, Stopped
from shardwise.cli.shell.splitting import Command
from shardwise.errors import OperationalError, ProgrammingError
from shardwise.plan.wrap import labelled

if TYPE_CHECKING:
    from shardwise.cli.shell.shell import Shell


@command(".read", "\\i", arguments="FILE", completes=Completes.FILE)
def read(shell: Shell, arguments: list[str], _: Command) -> None:
    """Run a file of statements and commands"""
    code = shell.read(Path(arguments[0]).expanduser())
    if code and (shell.settings.bail or code == Exit.INTERRUPTED):
        raise Stopped(code)


@command("\\e", ".edit", arguments="[FILE]", completes=Completes.FILE)
def edit(shell: Shell, arguments: list[str], given: Command) -> None:
    """Change the last statement, or a file, in $EDITOR, and put it on the line"""
    if not shell.is_interactive:
        raise ProgrammingError("there is no terminal to edit on")
    if arguments:
        shell.edited = _edited(Path(arguments[0]).expanduser())
        return
    with TemporaryDirectory() as folder:
        path = Path(folder) / "statement.sql"
        path.write_text(given.pending or shell.last_sql, encoding="utf-8")
        shell.edited = _edited(path)


def _edited(path: Path) -> str:
    command_ = shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi")
    try:
        subprocess.run([*command_, str(path)], check=True)  # noqa: S603  the user's own
    except (OSError, subprocess.CalledProcessError) as error:
        raise OperationalError(f"the editor {command_[0]} failed: {error}", hint="Set EDITOR") from error
    return path.read_text(encoding="utf-8").strip()


@command("\\r", ".reset")
def reset(shell: Shell, arguments: list[str], _: Command) -> None:
    """Forget the statement that is half typed"""


@command("\\g", "\\gx", arguments="[FILE]", completes=Completes.FILE)
def again(shell: Shell, arguments: list[str], given: Command) -> None:
    """End the statement, as ; does, or run the last one again; to a file; \\gx with a line per value"""
    if not shell.last_sql:
        raise ProgrammingError("there is no statement to run again")
    if arguments:
        shell.redirect(shell.file_target(arguments[0], is_once=True))
    shell.execute(shell.last_sql, is_expanded=given.text.startswith("\\gx") or None)


@command(".open", "\\c", arguments="CATALOG", completes=Completes.FILE)
def open_(shell: Shell, arguments: list[str], _: Command) -> None:
    """Go on with another catalog"""
    path = Path(arguments[0]).expanduser()
    if not path.is_file():
        raise ProgrammingError(f"there is no catalog {path}")
    shell.open(path)


@command(".cd", "\\cd", arguments="[FOLDER]", completes=Completes.FILE)
def cd(shell: Shell, arguments: list[str], _: Command) -> None:
    """Change the folder that file names start from"""
    os.chdir(Path(arguments[0]).expanduser() if arguments else Path.home())


@command(".print", "\\echo", arguments="[TEXT] …")
def print_(shell: Shell, arguments: list[str], given: Command) -> None:
    """Print a text"""
    shell.print(" ".join(arguments))


@command(".help", "\\?", "\\h", arguments="[COMMAND]", completes=Completes.COMMAND)
def help_(shell: Shell, arguments: list[str], _: Command) -> None:
    """All commands, or one"""
    if arguments:
        name = arguments[0] if arguments[0][0] in ".\\" else f".{arguments[0]}"
        known = NAMES.get(name) or NAMES.get("\\" + name[1:])
        if known is None:
            raise unknown(name)
        shell.print(f"{_usage(known)}\n    {known.help}")
        return
    usages = [(_usage(known), known.help) for known in COMMANDS]
    lines = labelled(usages, max(get_terminal_size().columns - 1, 60))
    lines += ["", "Statements end with ; and may have many lines. Ctrl-C stops one, Ctrl-D leaves."]
    shell.print("\n".join(lines))


@command(".quit", ".exit", "\\q", arguments="[CODE]")
def quit_(shell: Shell, arguments: list[str], _: Command) -> None:
    """Leave"""
    raise Leave(int(arguments[0]) if arguments and arguments[0].isdigit() else Exit.OK)


def _usage(known: Known) -> str:
    return f"{' '.join(known.names)} {known.arguments}".rstrip()
