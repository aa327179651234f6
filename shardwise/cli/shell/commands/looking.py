"""Commands that look at the catalog."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from sqlglot import exp

from shardwise.catalog import Catalog
from shardwise.catalog.model import Table, View
from shardwise.catalog.printing import print_catalog
from shardwise.cli.attended import attended
from shardwise.cli.shell.commands.registry import Completes, command
from shardwise.cli.shell.splitting import Command
from shardwise.dbapi.show import placement_text
from shardwise.errors import Reason, UnknownName

if TYPE_CHECKING:
    from shardwise.cli.shell.shell import Shell

_PLAIN_VALUE: Final = re.compile(r"[-+]?[0-9.]+(e[-+]?[0-9]+)?|true|false|null", re.IGNORECASE)
_NUMBERS: Final = ("shards", "rows", "slots", "tables", "views")


def _rows(shell: Shell, sql: str) -> tuple[list[str], list[tuple[Any, ...]]]:
    cursor = shell.connection.cursor()

    def rows() -> tuple[list[str], list[tuple[Any, ...]]]:
        with cursor:
            cursor.execute(sql)
            return [column.name for column in cursor.description or ()], cursor.fetchall()

    return attended(rows, cursor.cancel)


def _catalog(shell: Shell) -> Catalog:
    """With columns, which may have to be read off the sources: ctrl-C does not wait for that."""
    return attended(lambda: shell.connection.cluster.catalog, lambda: None)


def _list(shell: Shell, sql: str, pattern: str | None) -> None:
    """What a SHOW lists, of those whose name fits the pattern."""
    names, rows = _rows(shell, sql)
    fits = _fitting(pattern)
    shell.show(names, [row for row in rows if fits(str(row[0]))], _NUMBERS)


def _fitting(pattern: str | None) -> Any:
    """`*` and `%` stand for anything, `?` for a character; case does not matter."""
    if pattern is None:
        return lambda _: True
    text = "".join({"*": ".*", "%": ".*", "?": "."}.get(c) or re.escape(c) for c in pattern.replace('"', ""))
    compiled = re.compile(text, re.IGNORECASE | re.DOTALL)
    return lambda name: bool(compiled.fullmatch(name) or compiled.fullmatch(name.rpartition(".")[2]))


@command(".tables", "\\dt", arguments="[PATTERN]", completes=Completes.TABLE)
def tables(shell: Shell, arguments: list[str], _: Command) -> None:
    """The tables and views, how they are placed, and on how many shards"""
    _list(shell, "SHOW TABLES", next(iter(arguments), None))


@command("\\dv", arguments="[PATTERN]", completes=Completes.TABLE)
def views(shell: Shell, arguments: list[str], _: Command) -> None:
    """The views"""
    _list(shell, "SHOW VIEWS", next(iter(arguments), None))


@command("\\d", ".columns", arguments="[TABLE]", completes=Completes.TABLE)
def describe(shell: Shell, arguments: list[str], given: Command) -> None:
    """A table's columns and its placement; without a name, all tables"""
    if not arguments:
        tables(shell, arguments, given)
        return
    names, rows = _rows(shell, f"DESCRIBE {arguments[0]}")
    shell.show(names, rows)
    table = _relation(_catalog(shell), arguments[0])
    if isinstance(table, Table):
        shell.print(placement_text(table, _catalog(shell).dialect))


@command(".schema", arguments="[PATTERN]", completes=Completes.TABLE)
def schema(shell: Shell, arguments: list[str], _: Command) -> None:
    """What the catalog says of the tables, or of all that it has"""
    catalog = _catalog(shell)
    if not arguments:
        shell.print(catalog.to_sql(locked=False).rstrip())
        return
    fits = _fitting(arguments[0])
    found = [
        each for each in catalog.tables() if fits(each.name if isinstance(each, View) else each.full_name)
    ]
    if not found:
        raise _no_such(arguments[0])
    shell.print("\n".join(_text(catalog, each) for each in found))


@command("\\dn", ".schemas")
def schemas(shell: Shell, arguments: list[str], _: Command) -> None:
    """The schemas, and how many tables each has"""
    _list(shell, "SHOW SCHEMAS", None)


@command(".shards", arguments="[PATTERN]")
def shards(shell: Shell, arguments: list[str], _: Command) -> None:
    """The shards, where they are, and which shardings use them"""
    _list(shell, "SHOW SHARDS", next(iter(arguments), None))


@command(".sources", arguments="[PATTERN]")
def sources(shell: Shell, arguments: list[str], _: Command) -> None:
    """The databases and folders that shards are on"""
    _list(shell, "SHOW SOURCES", next(iter(arguments), None))


@command(".shardings")
def shardings(shell: Shell, arguments: list[str], _: Command) -> None:
    """The rules by which rows are split"""
    _list(shell, "SHOW SHARDINGS", None)


@command(".route", arguments="TABLE KEY …", completes=Completes.TABLE)
def route(shell: Shell, arguments: list[str], _: Command) -> None:
    """The shard that has a key's rows: .route orders 17; what is no number is a text"""
    table, *key = arguments
    values = ", ".join(k if _PLAIN_VALUE.fullmatch(k) else exp.Literal.string(k).sql() for k in key)
    names, rows = _rows(shell, f"SHOW ROUTE FOR {table} KEY ({values})")
    shell.show(names, rows)


def _relation(catalog: Catalog, name: str) -> Table | View | None:
    schema, _, last = name.replace('"', "").rpartition(".")
    return catalog.table(last, schema or None)


def _text(catalog: Catalog, item: Table | View) -> str:
    """A table in the catalog's language."""
    text = print_catalog(catalog.name, catalog.dialect, {}, [item])
    return text.partition(";\n")[2].strip()


def _no_such(name: str) -> UnknownName:
    return UnknownName(
        f'there is no table "{name}"',
        reason=Reason.UNKNOWN_TABLE,
        sqlstate="42P01",
        hint=".tables lists them",
    )
