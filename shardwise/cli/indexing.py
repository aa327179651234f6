"""`shardwise index list | build | check | drop`: statements about the catalog's indexes, one by one."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import BarColumn, TaskID, TextColumn
from rich.progress import Progress as Bars
from rich.text import Text

from shardwise.catalog.model import JoinIndex, LookupIndex
from shardwise.catalog.printing import print_item
from shardwise.cli import console as consoles
from shardwise.cli import table
from shardwise.cli.attended import attended, is_idle
from shardwise.cli.catalog import CatalogPath, existing
from shardwise.cli.console import DEFAULT_CATALOG, Exit, failing
from shardwise.cli.terminal import one_line
from shardwise.dbapi import Connection, connect
from shardwise.errors import UnknownName
from shardwise.plan.wrap import count_text
from shardwise.session.indexes import Progress

app = typer.Typer(
    help="Build join indexes and lookup indexes, compare them with their tables, drop them.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
Names = Annotated[list[str] | None, typer.Argument(metavar="[INDEX]...", help="Only these indexes.")]


@app.command("list")
def list_(catalog: CatalogPath = DEFAULT_CATALOG) -> None:
    """List the catalog's indexes, and how far each is."""
    with failing(), _connected(catalog) as connection:
        cursor = connection.execute("SHOW INDEXES")
        names = [column.name for column in cursor.description or ()]
        table.show(table.of_values(names, cursor.fetchall()), consoles.stdout())


@app.command("build")
def build_(names: Names = None, catalog: CatalogPath = DEFAULT_CATALOG) -> None:
    """Build the catalog's indexes that are not built, or whose build was stopped."""
    with failing(), _connected(catalog) as connection:
        for index in _chosen(connection, names, only={"not built", "building", "outdated"}):
            statement = print_item(index, connection.cluster.declared.dialect)
            began = time.monotonic()
            ((name, rows, built_at, note),) = _run(connection, statement)
            where = count_text(_shards_of(connection, name), "shard")
            took = f"{time.monotonic() - began:.1f} s"
            told = f"{name}: {count_text(rows, 'row')} on {where}, as of {built_at}, in {took}"
            consoles.stdout().print(Text(told), soft_wrap=True)
            if note:
                consoles.stderr().print(Text(note), soft_wrap=True)


@app.command("check")
def check_(
    names: Names = None,
    catalog: CatalogPath = DEFAULT_CATALOG,
    repair: Annotated[bool, typer.Option("--repair", help="Put right what differs.")] = False,
) -> None:
    """Tell where indexes differ from their tables, shard by shard."""
    count = 0
    screen = consoles.stdout()
    with failing(), _connected(catalog) as connection:
        for index in _chosen(
            connection, names, only={"valid", "building"} if repair else {"valid", "building", "attached"}
        ):
            found = _run(connection, f"CHECK {_of(index)}{' REPAIR' if repair else ''}")
            for shard, what, rows, is_repaired in found:
                put_right = ", put right" if is_repaired else ""
                where = f" on {shard}" if shard is not None else ""
                told = f"{index.name}: {count_text(rows, 'row')} {what}{where}{put_right}"
                screen.print(Text(told), soft_wrap=True)
                count += not is_repaired
            if not found:
                screen.print(Text(f"{index.name}: as its tables are"), soft_wrap=True)
    if count:
        raise typer.Exit(Exit.DRIFT)


@app.command("drop")
def drop_(
    names: Annotated[list[str], typer.Argument(metavar="INDEX...", help="The indexes.")],
    catalog: CatalogPath = DEFAULT_CATALOG,
) -> None:
    """Drop index tables. What the catalog's file declares stays declared."""
    with failing(), _connected(catalog) as connection:
        for index in _chosen(connection, names, only=set()):
            _run(connection, f"DROP {_of(index)}")
            consoles.stdout().print(Text(f"{index.name}: dropped on all of its shards"), soft_wrap=True)


def _chosen(
    connection: Connection, names: list[str] | None, *, only: set[str]
) -> list[LookupIndex | JoinIndex]:
    """The indexes named; without names all that are in one of the states."""
    catalog = connection.cluster.catalog
    if not names:
        states = {name: state for name, _, _, state, *_ in connection.execute("SHOW INDEXES").fetchall()}
        return [index for index in catalog.indexes() if states[index.name] in only]
    found = []
    for name in names:
        index = catalog.index(name)
        if index is None:
            raise UnknownName(f'there is no index "{name}"', hint="`shardwise index list` lists them")
        found.append(index)
    return found


def _shards_of(connection: Connection, name: str) -> int:
    catalog = connection.cluster.catalog
    return len(catalog.homes(catalog.index_tables[name.casefold()].table))


def _of(index: LookupIndex | JoinIndex) -> str:
    kind = "JOIN" if isinstance(index, JoinIndex) else "LOOKUP"
    name = index.name.replace('"', '""')
    return f'{kind} INDEX "{name}"'


def _run(connection: Connection, statement: str) -> list[tuple[Any, ...]]:
    """A statement's rows; a terminal is shown how far it is, and ctrl-C stops it after the batch."""
    cursor = connection.cursor()

    def work() -> list[tuple[Any, ...]]:
        cursor.execute(statement)
        return cursor.fetchall() if cursor.description is not None else []

    with _shown(connection):
        return attended(work, cursor.cancel)


@contextmanager
def _shown(connection: Connection) -> Iterator[None]:
    errors = consoles.stderr()
    if not errors.is_terminal:
        yield
        return
    with Bars(
        TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[told]}"), console=errors
    ) as bars:
        connection.on_index_progress = _watcher(bars)
        try:
            yield
        finally:
            connection.on_index_progress = None


def _watcher(bars: Bars) -> Callable[[Progress], None]:
    task: list[TaskID] = []

    def told(progress: Progress) -> None:
        if not task:
            task.append(bars.add_task(one_line(progress.name), total=None, told=""))
        bars.update(task[0], total=progress.to_write, completed=progress.written, told=str(progress))

    return told


@contextmanager
def _connected(catalog: Path) -> Iterator[Connection]:
    connection = connect(existing(catalog))
    try:
        yield connection
    finally:
        if is_idle(patience_s=3.0):
            connection.close()
