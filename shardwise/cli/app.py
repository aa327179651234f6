"""`shardwise query` and `shardwise explain`, and what all commands share."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from shardwise._version import __version__
from shardwise.cli import console as consoles
from shardwise.cli import output, table
from shardwise.cli.answering import Way, answer
from shardwise.cli.attended import attended, is_idle, leave
from shardwise.cli.catalog import CatalogPath, existing
from shardwise.cli.catalog import app as catalog_app
from shardwise.cli.console import DEFAULT_CATALOG, Exit, failing
from shardwise.cli.demo import demo
from shardwise.cli.indexing import app as index_app
from shardwise.cli.output import Format
from shardwise.cli.parameters import parameters
from shardwise.cli.shell.command import shell
from shardwise.cli.shell.splitting import Statement, pieces
from shardwise.dbapi import Connection, connect
from shardwise.plan.wrap import bytes_text, count_text

app = typer.Typer(
    name="shardwise",
    help="Ordinary SQL over a database that is split into many.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(catalog_app, name="catalog")
app.add_typer(index_app, name="index")
app.command("demo")(demo)
app.command("shell")(shell)

Sql = Annotated[str, typer.Argument(metavar="SQL", help="The statement; - reads it from standard input.")]
Params = Annotated[
    list[str] | None,
    typer.Option(
        "-p", "--param", metavar="VALUE", help="A value for ?, or NAME=VALUE for :NAME. May be repeated."
    ),
]
Refuse = Annotated[bool, typer.Option("--refuse-scatter", help="Fail if more than one shard would be asked.")]
Deadline = Annotated[float | None, typer.Option(metavar="SECONDS", help="Stop after so long.")]
MovedMax = Annotated[
    int | None, typer.Option(metavar="N", help="Fail if more rows than this come off the shards.")
]


@app.callback(invoke_without_command=True)
def _options(
    version: Annotated[bool, typer.Option("--version", help="Print the version.", is_eager=True)] = False,
) -> None:
    if version:
        typer.echo(f"shardwise {__version__}")
        raise typer.Exit


@app.command()
def query(
    sql: Sql,
    *,
    catalog: CatalogPath = DEFAULT_CATALOG,
    form: Annotated[Format, typer.Option("-f", "--format", help="How rows are written.")] = Format.TABLE,
    out: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write to a file.")
    ] = None,
    param: Params = None,
    rows: Annotated[
        int | None, typer.Option(metavar="N", help="Rows of a table; 0 for all. [default: 100 on a terminal]")
    ] = None,
    stats: Annotated[bool, typer.Option("--stats", help="Tell what was moved, on standard error.")] = False,
    refuse_scatter: Refuse = False,
    deadline: Deadline = None,
    rows_moved_max: MovedMax = None,
) -> None:
    """Answer a statement."""
    form = _format(form, out)
    text = _statement(sql)
    way = Way(form=form, path=out, rows_max=rows)
    options = {
        "scatter": "refuse" if refuse_scatter else "allow",
        "deadline_s": deadline,
        "rows_max": rows_moved_max,
    }
    with failing(), connected(catalog) as connection:
        for each in _statements(text, connection.cluster.declared.dialect, way, param or ()):
            with failing(each):
                answered = answer(connection, each, parameters(each, param or ()), way, **options)
            if stats and answered.statistics is not None:
                moved = answered.statistics
                told = f"{count_text(moved.rows_moved, 'row')}, {bytes_text(moved.bytes_moved)}"
                consoles.stderr().print(Text(f"{told} moved off the shards", style="dim"))


@app.command()
def explain(
    sql: Sql,
    *,
    catalog: CatalogPath = DEFAULT_CATALOG,
    param: Params = None,
    analyze: Annotated[
        bool, typer.Option("--analyze", help="Run it, and tell what each shard sent.")
    ] = False,
    route: Annotated[bool, typer.Option("--route", help="One row per shard: shard, source, SQL.")] = False,
    steps: Annotated[bool, typer.Option("--steps", help="The plan after each pass.")] = False,
    shards: Annotated[bool, typer.Option("--shards", help="Each source's own EXPLAIN.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Tell what runs where, and why."""
    names = {"ANALYZE": analyze, "ROUTE": route, "STEPS": steps, "SHARDS": shards, "FORMAT json": as_json}
    modes = [name for name, is_given in names.items() if is_given]
    text = _statement(sql)
    with failing(text), connected(catalog) as connection:
        values = parameters(text, param or ())
        explanation = attended(
            lambda: connection.explain(text, values, mode=", ".join(modes)), connection.interrupt
        )
        screen = consoles.stdout()
        if route:
            table.show(table.of_values(explanation.columns, explanation.rows), screen)
        else:
            screen.print(Text(explanation.text), soft_wrap=True)


@contextmanager
def connected(catalog: Path) -> Iterator[Connection]:
    """A connection to the catalog's cluster, both closed at the end."""
    connection = connect(existing(catalog))
    try:
        yield connection
    finally:
        if is_idle(patience_s=3.0):
            connection.close()


def _format(form: Format, out: Path | None) -> Format:
    """The format that `--output`'s name says, unless `--format` says another."""
    if out is None:
        if form in output.BINARY_FORMATS and sys.stdout.isatty():
            raise typer.BadParameter(f"{form} is not for a terminal: give --output FILE, or a pipe")
        return form
    if form is not Format.TABLE:
        return form
    named = output.FORMAT_OF_SUFFIX.get(out.suffix.lower())
    if named is None:
        raise typer.BadParameter(
            f"what format is {out.name}? Give --format csv, json, jsonl, parquet or arrow"
        )
    return named


def _statement(sql: str) -> str:
    text = sys.stdin.read() if sql == "-" else sql
    if not text.strip():
        raise typer.BadParameter("the statement is empty", param_hint="SQL")
    return text


def _statements(text: str, dialect: str, way: Way, param: Sequence[str]) -> Sequence[str]:
    """The text's statements, which share a connection. One file, and one set of parameters, are for one."""
    read = pieces(text, dialect)
    found = [each.sql for each in read if isinstance(each, Statement)]
    if len(found) <= 1 or len(found) < len(read):
        return [text]  # as it stands: there are no commands here, a backslash is the statement's own matter
    if param:
        raise typer.BadParameter(f"--param is for one statement, the text has {len(found)}")
    if way.path is not None or way.form in output.BINARY_FORMATS:
        where = "--output" if way.path is not None else f"--format {way.form}"
        raise typer.BadParameter(f"{where} is for one statement, the text has {len(found)}")
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; gives the exit code."""
    try:
        app(args=None if arguments is None else list(arguments))
    except SystemExit as end:
        return leave(end.code if isinstance(end.code, int) else Exit.FAILED)
    except OSError as error:
        consoles.show_error(consoles.file_error(error))
        return Exit.FAILED
    return Exit.OK
