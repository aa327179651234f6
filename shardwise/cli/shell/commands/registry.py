"""What a command is, and how a line is read as one."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable
from enum import Enum
from typing import TYPE_CHECKING, Final, NamedTuple

from shardwise.cli.shell.splitting import Command
from shardwise.errors import ProgrammingError, Reason

if TYPE_CHECKING:
    from shardwise.cli.shell.shell import Shell

Run = Callable[["Shell", list[str], Command], None]


class Completes(Enum):
    """What an argument may be, for completion."""

    NOTHING = "nothing"
    TABLE = "table"
    FILE = "file"
    FORMAT = "format"
    SWITCH = "switch"
    EXPLAIN = "explain"
    OPTION = "option"
    COMMAND = "command"


class Known(NamedTuple):
    """A command: its names, its arguments in words, how many it takes, and one line of help."""

    names: tuple[str, ...]
    arguments: str
    takes: range
    completes: Completes
    help: str
    run: Run


COMMANDS: Final[list[Known]] = []
"""In the order of help."""
NAMES: Final[dict[str, Known]] = {}


def command(
    *names: str, arguments: str = "", completes: Completes = Completes.NOTHING
) -> Callable[[Run], Run]:
    """Registers a function as a command. `[X]` in `arguments` may be left out, `…` takes any number."""

    def register(run: Run) -> Run:
        words = arguments.split()
        least = sum(not word.startswith("[") for word in words if word != "…")
        most = 1_000 if "…" in arguments else len(words)
        assert run.__doc__ is not None
        known = Known(names, arguments, range(least, most + 1), completes, run.__doc__, run)
        COMMANDS.append(known)
        NAMES.update(dict.fromkeys(names, known))
        return run

    return register


_WORD = re.compile(r"""'((?:[^']|'')*)'|("(?:[^"]|"")*"(?:\."(?:[^"]|"")*"|\.\w+)*)|(\S+)""")


def words(text: str) -> list[str]:
    r"""The words of a line. 'One in quotes' may have blanks; a "name" keeps its quotes."""
    return [
        match[1].replace("''", "'") if match[1] is not None else match[0] for match in _WORD.finditer(text)
    ]


def run(shell: Shell, given: Command) -> None:
    """Runs the command of a line."""
    name, *arguments = words(given.text)
    known = NAMES.get(name) or NAMES.get(name.lower())
    if known is None and name.endswith("+"):
        known = NAMES.get(name.rstrip("+"))  # psql's `\d+`: there is no more to tell
    if known is None:
        raise unknown(name)
    if len(arguments) not in known.takes:
        raise ProgrammingError(
            f"{name} takes {known.arguments or 'nothing'}", hint=f"{name}: {known.help}", reason=Reason.SYNTAX
        )
    known.run(shell, arguments, given)


def unknown(name: str) -> ProgrammingError:
    """The error for a name that is none, with the one that was meant if that can be guessed."""
    same_kind = [each for each in NAMES if each[0] == name[0]]
    close = difflib.get_close_matches(name.lower(), same_kind, n=1, cutoff=0.5)
    starting = [each for each in same_kind if len(name) > 1 and each.startswith(name.lower())]
    meant = starting[:1] or close
    help_ = ".help lists the commands"
    return ProgrammingError(
        f'there is no command "{name}"',
        hint=f"Did you mean {meant[0]}? {help_}" if meant else help_,
        reason=Reason.SYNTAX,
    )


def switch(value: str | None, before: bool) -> bool:
    """on or off; without a value the other of what was."""
    if value is None:
        return not before
    match value.lower():
        case "on" | "true" | "yes" | "1":
            return True
        case "off" | "false" | "no" | "0":
            return False
    raise ProgrammingError(f'"{value}" is neither on nor off', reason=Reason.SYNTAX)


def count(value: str) -> int:
    """A whole number, 0 or more."""
    try:
        number = int(value.replace("_", "").replace(",", ""))
    except ValueError:
        number = -1
    if number < 0:
        raise ProgrammingError(f'"{value}" is no whole number', reason=Reason.SYNTAX)
    return number
