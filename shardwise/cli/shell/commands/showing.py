"""Commands that say how results are shown, and where."""

from __future__ import annotations

from dataclasses import fields
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final, get_args

from shardwise.cli.output import Format
from shardwise.cli.parameters import value as read_value
from shardwise.cli.shell.commands.registry import Completes, command, count, switch
from shardwise.cli.shell.settings import Explaining
from shardwise.cli.shell.splitting import Command
from shardwise.errors import ProgrammingError, Reason
from shardwise.options import Options

if TYPE_CHECKING:
    from shardwise.cli.shell.shell import Shell

ALIASES: Final = {
    "duckbox": Format.TABLE,
    "box": Format.TABLE,
    "column": Format.TABLE,
    "aligned": Format.TABLE,
    "expanded": Format.LINE,
    "tabs": Format.TSV,
    "jsonlines": Format.JSONL,
    "ndjson": Format.JSONL,
}
"""Names that other shells have for the same."""


@command(".mode", "\\mode", arguments="[FORMAT]", completes=Completes.FORMAT)
def mode(shell: Shell, arguments: list[str], _: Command) -> None:
    """The format of results: table, line, csv, tsv, json, jsonl, markdown, list, html, insert"""
    if not arguments:
        shell.print(f"mode: {shell.settings.form}")
        return
    name = arguments[0].lower()
    form = ALIASES.get(name) or (Format(name) if name in set(Format) else None)
    if form is None:
        raise ProgrammingError(
            f'there is no format "{arguments[0]}"',
            hint=f"There are {', '.join(Format)}",
            reason=Reason.SYNTAX,
        )
    shell.settings.form = form


@command("\\x", ".expanded", arguments="[on|off]", completes=Completes.SWITCH)
def expanded(shell: Shell, arguments: list[str], _: Command) -> None:
    """A line per value instead of a row per line, on or off"""
    settings = shell.settings
    settings.is_expanded = switch(next(iter(arguments), None), settings.is_expanded)
    shell.tell(f"Expanded display is {_on(settings.is_expanded)}.")


@command(".timer", "\\timing", arguments="[on|off]", completes=Completes.SWITCH)
def timer(shell: Shell, arguments: list[str], _: Command) -> None:
    """Tell after each statement how long it took and what it moved"""
    settings = shell.settings
    settings.timer = switch(next(iter(arguments), None), settings.timer)
    shell.tell(f"Timing is {_on(settings.timer)}.")


@command(".explain", arguments="[off|on|only|analyze]", completes=Completes.EXPLAIN)
def explain(shell: Shell, arguments: list[str], _: Command) -> None:
    """Show each query's plan: before its rows (on), instead of them (only), or after a run (analyze)"""
    settings = shell.settings
    if not arguments:
        settings.explain = "on" if settings.explain == "off" else "off"
    else:
        names = get_args(Explaining)
        if arguments[0].lower() not in names:
            raise ProgrammingError(f".explain is one of {', '.join(names)}", reason=Reason.SYNTAX)
        settings.explain = next(name for name in names if name == arguments[0].lower())
    shell.tell(f"Explaining is {settings.explain}.")


@command(".headers", arguments="on|off", completes=Completes.SWITCH)
def headers(shell: Shell, arguments: list[str], _: Command) -> None:
    """Show the columns' names, or leave them out"""
    shell.settings.headers = switch(arguments[0], shell.settings.headers)


@command(".nullvalue", arguments="TEXT")
def nullvalue(shell: Shell, arguments: list[str], _: Command) -> None:
    """What is shown for NULL"""
    shell.settings.null = _unquoted(arguments[0])


@command("\\pset", arguments="[NAME] [VALUE]")
def pset(shell: Shell, arguments: list[str], given: Command) -> None:
    """psql's names for some of these: null, format, pager, expanded, tuples_only"""
    if not arguments:
        show(shell, arguments, given)
        return
    name, *rest = arguments
    match name:
        case "null":
            shell.settings.null = _unquoted(rest[0]) if rest else None
        case "format":
            mode(shell, rest, given)
        case "pager":
            pager(shell, rest, given)
        case "expanded" | "x":
            expanded(shell, rest, given)
        case "tuples_only" | "t":
            shell.settings.headers = not switch(next(iter(rest), None), not shell.settings.headers)
        case _:
            raise ProgrammingError(
                f'\\pset knows no "{name}"', hint="It knows null, format, pager, expanded, tuples_only"
            )


@command(".width", ".maxwidth", arguments="[N]")
def width(shell: Shell, arguments: list[str], _: Command) -> None:
    """How wide a table may be: 0 for as wide as it is, nothing for the terminal's width"""
    shell.settings.width = count(arguments[0]) if arguments else None


@command(".maxrows", arguments="[N]")
def maxrows(shell: Shell, arguments: list[str], _: Command) -> None:
    """How many rows a table shows: 0 for all, nothing for as many as can be read on a terminal"""
    shell.settings.rows_max = count(arguments[0]) if arguments else None


@command(".pager", arguments="[on|off]", completes=Completes.SWITCH)
def pager(shell: Shell, arguments: list[str], _: Command) -> None:
    """Show what is longer than the screen through $PAGER, else less"""
    settings = shell.settings
    settings.is_paged = switch(next(iter(arguments), None), settings.is_paged)
    shell.tell(f"Pager is {_on(settings.is_paged)}.")


@command(".output", "\\o", arguments="[FILE]", completes=Completes.FILE)
def output(shell: Shell, arguments: list[str], _: Command) -> None:
    """Write all that follows to a file; without one, to the screen again"""
    shell.redirect(shell.file_target(arguments[0], is_once=False) if arguments else None)


@command(".once", arguments="FILE", completes=Completes.FILE)
def once(shell: Shell, arguments: list[str], _: Command) -> None:
    """Write the next result to a file; its name says the format: .once orders.parquet"""
    shell.redirect(shell.file_target(arguments[0], is_once=True))


@command(".echo", arguments="on|off", completes=Completes.SWITCH)
def echo(shell: Shell, arguments: list[str], _: Command) -> None:
    """Show each statement before it runs"""
    shell.settings.echo = switch(arguments[0], shell.settings.echo)


@command(".bail", arguments="on|off", completes=Completes.SWITCH)
def bail(shell: Shell, arguments: list[str], _: Command) -> None:
    """Stop a file or a paste at its first error"""
    shell.settings.bail = switch(arguments[0], shell.settings.bail)


@command(".option", arguments="[NAME] [VALUE]", completes=Completes.OPTION)
def option(shell: Shell, arguments: list[str], _: Command) -> None:
    """An option of all statements, as in .option deadline_s 10; without a value, the default again"""
    chosen = {f.name: getattr(shell.connection.options, f.name) for f in fields(Options)}
    chosen.update(shell.settings.options)
    if not arguments:
        shell.show(["option", "value"], [(name, chosen[name]) for name in chosen])
        return
    name, *rest = arguments
    if name not in chosen:
        raise ProgrammingError(f'there is no option "{name}"', hint=f"There are {', '.join(chosen)}")
    given: Any = read_value(rest[0]) if rest else None
    given = float(given) if isinstance(given, Decimal) else given
    options = {key: value for key, value in shell.settings.options.items() if key != name}
    if rest:
        options[name] = given
        shell.connection.options_with(options)  # raises if it cannot be
    shell.settings.options = options


@command(".show")
def show(shell: Shell, arguments: list[str], _: Command) -> None:
    """All of these settings"""
    settings, target = shell.settings, shell.target
    rows = [
        ("catalog", str(shell.catalog)),
        ("mode", settings.form.value),
        ("expanded", _on(settings.is_expanded)),
        ("headers", _on(settings.headers)),
        ("nullvalue", "NULL" if settings.null is None else settings.null),
        ("width", "the terminal's" if settings.width is None else str(settings.width)),
        ("maxrows", "the terminal's" if settings.rows_max is None else str(settings.rows_max)),
        ("pager", _on(settings.is_paged) + (f": {' '.join(settings.pager)}" if settings.pager else "")),
        ("output", "the screen" if target is None else str(target.path)),
        ("timer", _on(settings.timer)),
        ("explain", settings.explain),
        ("echo", _on(settings.echo)),
        ("bail", _on(settings.bail)),
        *((f"option {name}", str(value)) for name, value in settings.options.items()),
    ]
    shell.show(["setting", "value"], rows)


def _on(is_on: bool) -> str:
    return "on" if is_on else "off"


def _unquoted(text: str) -> str:
    is_quoted = len(text) > 1 and text[0] == text[-1] == '"'
    return text[1:-1].replace('""', '"') if is_quoted else text
