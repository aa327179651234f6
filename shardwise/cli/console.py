"""The two consoles, how an error is shown, and the exit codes."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from enum import IntEnum
from pathlib import Path
from typing import Final

import typer
from rich.console import Console
from rich.text import Text

from shardwise.cli.terminal import harmless
from shardwise.errors import (
    Cancelled,
    CatalogError,
    Error,
    InternalError,
    OperationalError,
    Position,
    ShardUnavailable,
)


class Exit(IntEnum):
    """Exit codes, as docs/cli.md has them. 2, wrong usage, is the argument parser's own."""

    OK = 0
    FAILED = 1
    USAGE = 2
    UNAVAILABLE = 3
    DRIFT = 4
    INTERRUPTED = 130


DEFAULT_CATALOG: Final = Path("cluster.sql")
_WIDTH_SHOWN: Final = 100


class _Output(Console):
    """Standard output; whoever reads it may have seen enough."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def stdout() -> Console:
    """For answers. Without colours where the output is no terminal, or NO_COLOR is set."""
    return _Output(highlight=False)


def paged() -> Console:
    """For the demo: as wide as the terminal, or as a page where there is none."""
    console = stdout()
    return console if console.is_terminal else _Output(highlight=False, width=_WIDTH_SHOWN)


def stderr() -> Console:
    """For everything that is not the answer: progress, statistics, errors."""
    return Console(stderr=True, highlight=False)


@contextmanager
def failing(sql: str | None = None, own: Callable[[str], str] | None = None) -> Iterator[None]:
    """Ends with the exit code of what happened: our error, which is shown, an interrupt, a closed pipe.

    `own` says an error in other words, as `show_error` takes it.
    """
    try:
        yield
    except Error as error:
        show_error(error, sql, own)
        raise typer.Exit(exit_code(error)) from error
    except KeyboardInterrupt:
        stderr().print("interrupted")
        raise typer.Exit(Exit.INTERRUPTED) from None
    except BrokenPipeError:
        # Whoever read our output has seen enough. Python would complain once more while it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(Exit.OK) from None


def file_error(error: OSError) -> OperationalError:
    """Any other error of the system that reaches the user, in one line."""
    where = f"{error.filename}: " if error.filename is not None else ""
    return OperationalError(f"{where}{error.strerror or error}")


def exit_code(error: Error) -> Exit:
    """The exit code of a statement that failed."""
    if isinstance(error, Cancelled):
        return Exit.INTERRUPTED
    return Exit.UNAVAILABLE if isinstance(error, ShardUnavailable) else Exit.FAILED


def show_error(error: Error, sql: str | None = None, own: Callable[[str], str] | None = None) -> None:
    """What went wrong, with the place in the user's own text underlined, and what to do.

    `own` says it in the words of where the user is: by default the command line's.
    """
    own = own or own_words
    console = stderr()
    source = sql
    if isinstance(error, CatalogError) and error.file is not None:
        source = _text_of(error.file)
        where = ":".join(str(part) for part in (error.file, *(error.position or ())[:2]))
        console.print(Text(where, style="bold"), soft_wrap=True)
    console.print(Text.assemble(("error: ", "bold red"), harmless(own(error.message))), soft_wrap=True)
    if error.position is not None and source is not None:
        for line in underlined(source, error.position):
            console.print(line, soft_wrap=True)
    if error.hint:
        console.print(Text.assemble(("hint: ", "bold cyan"), harmless(own(error.hint))), soft_wrap=True)
    if isinstance(error, InternalError):
        console.print(Text("This is a bug of shardwise: please report it with the statement.", style="dim"))


# What hints say to do from Python, and what it is here.
_OWN_WORDS: Final = (
    (r"allow it: scatter='allow'", "drop --refuse-scatter"),
    (
        r"Give options to open\(\), connect\(\) or execute\(\).*",
        "Give options to the command, as --deadline 10",
    ),
    (r"Give parameters to execute\(sql, params\)", "Give each parameter by --param"),
    (r"Pass one value for each \?", "Give one --param for each ?"),
    (r'Pass a mapping with that key, such as \{"(\w+)": …\}', r"Give --param \1=VALUE"),
    (r"Use cursor\.to_arrow_reader\(\), or", "Use"),
    (r", or register it on the connection", ""),
    (r"\brows_max\b", "--rows-moved-max"),
    (r"\bdeadline_s\b", "--deadline"),
)


def own_words(text: str) -> str:
    """A message or hint in the command line's own options."""
    return rewritten(text, _OWN_WORDS)


def rewritten(text: str, words: Sequence[tuple[str, str]]) -> str:
    """Each pattern replaced, one after the other."""
    for pattern, own in words:
        text = re.sub(pattern, own, text)
    return text


def underlined(source: str, position: Position) -> list[Text]:
    """The line of `position` with carets under its span; of a long line, the part around it."""
    lines = source.splitlines()
    if not 1 <= position.line <= len(lines):
        return []
    line = _blank_controls(lines[position.line - 1])
    start = min(max(position.column - 1, 0), len(line))
    length = max(1, min(position.length, len(line) - start))
    cut = 0
    if len(line) > _WIDTH_SHOWN:
        cut = max(0, min(start - _WIDTH_SHOWN // 3, len(line) - _WIDTH_SHOWN))
        line = line[cut : cut + _WIDTH_SHOWN]
        length = max(1, min(length, len(line) - (start - cut)))
    number = f"{position.line:>4} | "
    marks = " " * (len(number) - 2) + "| " + " " * (start - cut)
    return [
        Text.assemble((number, "dim"), line),
        Text.assemble((marks[: len(number)], "dim"), marks[len(number) :], ("^" * length, "bold red")),
    ]


def _blank_controls(line: str) -> str:
    """As long as before, so that the marks fit."""
    return "".join(c if c.isprintable() else " " for c in line)


def _text_of(file: str) -> str | None:
    try:
        return Path(file).read_text(encoding="utf-8")
    except OSError:
        return None
