"""What can be named: a snapshot of the catalog and the connection, made to be searched while one types.

It holds no source and no shard of a family: a catalog may have ten thousand of them.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any, Final

import duckdb
from sqlglot import exp

from shardwise.caching import cached_property
from shardwise.catalog import Catalog
from shardwise.catalog.model import Sharded, ShardedWith, Table, View
from shardwise.catalog.spoken import spoken
from shardwise.cli.shell.vocabulary import RESERVED
from shardwise.dbapi import Connection
from shardwise.planner.dialects import mysql_words, postgres_words

_SHARDS_MAX: Final = 500
_PLAIN: Final = re.compile(r"[^\W\d]\w*")


@dataclass(frozen=True, slots=True)
class Relation:
    """A table, view or local table. `keys` are its shard keys, those of one column, in `sharding`."""

    name: str
    kind: str
    schema: str | None = None
    columns: tuple[str, ...] = ()
    sharding: str | None = None
    keys: tuple[str, ...] = ()
    parent: tuple[str, str, str] | None = None
    """(own column, the table it is placed with, the column there)."""
    sql: str = ""
    """A view's query, whose columns are found when they are asked for."""


@dataclass(frozen=True)
class Names:
    """Everything that may be completed but keywords."""

    relations: tuple[Relation, ...] = ()
    shardings: tuple[str, ...] = ()
    shards: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()
    dialect: str = "duckdb"

    def quoted(self, name: str) -> str:
        """The name as it is written: in quotes where it needs some."""
        if _PLAIN.fullmatch(name) and name.upper() not in RESERVED:
            return name
        return spoken(self.dialect).quoted(name)

    @cached_property
    def schemas(self) -> tuple[str, ...]:
        """The schemas that tables are in."""
        return tuple(dict.fromkeys(r.schema for r in self.relations if r.schema))

    @cached_property
    def _by_name(self) -> dict[tuple[str, str], Relation]:
        found: dict[tuple[str, str], Relation] = {}
        for relation in self.relations:
            found[(relation.schema or "").casefold(), relation.name.casefold()] = relation
        for relation in self.relations:
            found.setdefault(("", relation.name.casefold()), relation)
        return found

    def relation(self, name: str, schema: str = "") -> Relation | None:
        """The relation of that name; without a schema, of any."""
        return self._by_name.get((schema.casefold(), name.casefold()))


def names_of(connection: Connection) -> Names:
    """Reads what there is. May open sources, where the catalog does not know the columns: takes its time."""
    catalog = connection.cluster.catalog
    local = (_local(name, data) for name, data in connection.locals.items())
    return Names(
        relations=(*map(_relation, catalog.tables()), *local),
        shardings=tuple(sharding.name for sharding in catalog.shardings()),
        shards=_shards(catalog),
        functions=functions(catalog.dialect),
        dialect=catalog.dialect,
    )


def _relation(table: Table | View) -> Relation:
    if isinstance(table, View):
        return Relation(table.name, "view", columns=table.columns, sql=table.sql)
    sharding: str | None = None
    keys: tuple[str, ...] = ()
    parent = None
    match table.placement:
        case Sharded(sharding=name, keys=all_keys):
            sharding = name
            firsts = (key.parts[0] for key in all_keys)
            keys = tuple(part.name for part in firsts if isinstance(part, exp.Column))
        case ShardedWith(parent=name, column=column, parent_column=parent_column):
            parent = (column, name, parent_column)
    columns = tuple(column.name for column in table.columns or ())
    return Relation(table.name, "table", table.schema, columns, sharding, keys, parent)


def _shards(catalog: Catalog) -> tuple[str, ...]:
    """Their names; none where there are many."""
    found = [shard.name for shard in islice(catalog.shards(), _SHARDS_MAX + 1)]
    return tuple(found) if len(found) <= _SHARDS_MAX else ()


def _local(name: str, data: Any) -> Relation:
    """Registered data, a stored result, or a view."""
    if isinstance(data, View):
        return Relation(name, "local view", columns=data.columns, sql=data.sql)
    found = getattr(data, "column_names", None)
    columns = getattr(data, "columns", ()) if found is None else found
    return Relation(name, "local", columns=tuple(str(c[0] if isinstance(c, tuple) else c) for c in columns))


@lru_cache
def functions(dialect: str) -> tuple[str, ...]:
    """The functions of the dialect's engine."""
    return tuple(sorted({name for name in _engine_functions(dialect) if re.fullmatch(r"[a-z]\w*", name)}))


def _engine_functions(dialect: str) -> Iterator[str]:
    if dialect == "sqlite":
        with sqlite3.connect(":memory:") as lite:
            yield from (str(row[0]) for row in lite.execute("SELECT name FROM pragma_function_list"))
        lite.close()
        return
    if dialect == "mysql":
        yield from mysql_words.SCALARS | mysql_words.AGGREGATES | mysql_words.WINDOWS | mysql_words.CLOCKS
        return
    if dialect == "postgres":
        yield from postgres_words.SCALARS | postgres_words.AGGREGATES | postgres_words.WINDOWS
        return
    with duckdb.connect() as engine:
        rows = engine.execute("SELECT DISTINCT function_name FROM duckdb_functions()").fetchall()
    hidden = ("pg_", "duckdb_", "pragma_", "has_", "read_")
    yield from (str(name) for (name,) in rows if not str(name).startswith(hidden))
