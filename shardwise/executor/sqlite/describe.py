"""What a statement's columns are in the sqlite dialect, from SQLite itself: the catalog's tables, empty.

    describer.describe("SELECT id, count(*) FROM t")  =>  (("id", "INTEGER"), ("count(*)", ""))

Names are those that one database would give; a type is the declared one of a bare column, else none.
"""

from __future__ import annotations

import re
import sqlite3
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from shardwise.catalog.hints import did_you_mean
from shardwise.catalog.model import Catalog, Table, View
from shardwise.errors import CatalogError, Error, InternalError, Reason
from shardwise.executor import lite
from shardwise.executor.backends.base import Columns
from shardwise.executor.backends.sqlite.connection import bound
from shardwise.executor.describe import HIDDEN_COLUMNS
from shardwise.executor.reading import Reader
from shardwise.executor.sqlite.direct import SQLiteDirect
from shardwise.executor.sqlite.merge import declared
from shardwise.executor.sqlite.rows import Row, RowBatch
from shardwise.executor.sqlite.translate import translate
from shardwise.plan.run import Fragment, Request, Shape

Params = Mapping[str, Any] | Sequence[Any]

_CACHE_MAX = 512
_STEPS = 200_000
_PARAMETERS = re.compile(
    r"""'(?:[^']|'')*' | "(?:[^"]|"")*" | `[^`]*` | \[[^\]]*\] | --[^\n]* | /\*.*?\*/
    | (?P<parameter>\?\d* | [:@$][A-Za-z_]\w*)""",
    re.VERBOSE | re.DOTALL,
)
_SUFFIX = re.compile(r"(.*):\d+", re.DOTALL)


class EmptyTables:
    """A `SourceConnection` to the catalog's tables, empty: of one statement, whose rows are made at once."""

    def __init__(self, describer: SQLiteDescriber) -> None:
        self._describer = describer
        self._rows: list[Row] = []

    def version(self) -> object:
        return 0

    def columns(self, table: str) -> Columns:
        return ()

    def assumes(self, version: object) -> bool:
        return False

    def has_schema(self, name: str) -> bool:
        return False

    def execute(self, sql: str, params: Mapping[str, Any], wanted: Columns | None = None) -> Columns:
        self._rows = [row for batch in self._describer.batches(sql, params) for row in batch.rows]
        return wanted or ()

    def fetchmany(self, count: int) -> list[Row]:
        rows, self._rows = self._rows[:count], self._rows[count:]
        return rows

    def arrow(
        self, sql: str, params: Mapping[str, Any], batch_rows: int, wanted: Columns | None = None
    ) -> pa.RecordBatchReader:
        raise InternalError("the sqlite dialect's rows are no Arrow")

    def interrupt(self) -> None:
        """It is over at once."""

    def close(self) -> None:
        """It holds nothing."""


class SQLiteDescriber:
    """Threads may share it. A describer is made for one version of a catalog."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._lock = threading.RLock()
        self._instances: dict[bool, sqlite3.Connection] = {}
        self._described: OrderedDict[str, Columns] = OrderedDict()

    def describe(
        self,
        sql: str,
        params: Params = (),
        locals: Mapping[str, Any] | None = None,  # noqa: A002
        schema: str | None = None,
        near: str | None = None,
    ) -> Columns:
        """Names and declared types of a query's columns; raises ours for what is wrong with the text."""
        with self._lock:
            known = None if locals else self._described.get(sql)
            if known is not None:
                self._described.move_to_end(sql)
                return known
            try:
                found = self._describe(sql, params, locals or {})
            except sqlite3.Error as error:
                raise self._objection(error, sql, locals or {}) from error
            if not locals:
                self._described[sql] = found
                while len(self._described) > _CACHE_MAX:
                    self._described.popitem(last=False)
            return found

    def local(self, name: str, data: Any) -> Columns:
        """The columns of a registered table."""
        return self.describe(f"SELECT * FROM {lite.identifier(name)}", (), {name: data})

    def stream(
        self, fragment: Fragment, *, passes: bool = False
    ) -> tuple[None, tuple[tuple[str, Shape], ...]]:
        """A fragment's stream: no Arrow, and how its columns are kept in the merge."""
        names = [name for name, _ in fragment.columns]
        return None, tuple(zip(names, fragment.shapes, strict=True))

    def columns_of(self, fragment: Fragment) -> Columns:
        """A fragment's columns, whose types only its rows tell."""
        return tuple((name, "") for name, _ in fragment.columns)

    def direct(self, reader: Reader, request: Request, columns: Columns) -> SQLiteDirect:
        """A statement that one shard answers whole."""
        return SQLiteDirect(reader, request, columns)

    def batches(self, sql: str, params: Mapping[str, Any], schema: Any = None) -> list[RowBatch]:
        """The statement's answer where all tables are empty."""
        with self._lock:
            rows = self._instance(sql).execute(sql, bound(params)).fetchall()
        return [RowBatch(rows, 0)]

    def connect(self, sql: str) -> EmptyTables:
        """What answers a statement where all tables are empty; closed by the caller."""
        return EmptyTables(self)

    def normal_type(self, type_: str) -> str | None:
        """Types are as they are written."""
        return type_

    def arrow_type(self, type_: str) -> pa.DataType | None:
        """None is known before the values are."""
        return None

    def close(self) -> None:
        with self._lock:
            for con in self._instances.values():
                con.close()
            self._instances.clear()

    # -- inside -------------------------------------------------------------------------------

    def _describe(self, sql: str, params: Params, locals: Mapping[str, Any]) -> Columns:  # noqa: A002
        con = self._instance(sql)
        for name, data in locals.items():
            columns = ", ".join(f"{lite.identifier(f.name)} {declared(f.type)}" for f in data.schema)
            con.execute(f"CREATE TEMP TABLE {lite.identifier(name)} ({columns})")
        try:
            con.execute(f"EXPLAIN {_without_parameters(sql)}").close()  # raises what is wrong
            viewed = _view(con, sql)
            names = _names(con, sql, params) or _plain([name for name, _ in viewed])
        finally:
            for name in locals:
                con.execute(f"DROP TABLE temp.{lite.identifier(name)}")
        types = [type_ for _, type_ in viewed]
        return tuple(zip(names, types if len(types) == len(names) else [""] * len(names), strict=True))

    def _instance(self, sql: str) -> sqlite3.Connection:
        words = {word.casefold() for word in re.findall(r"\w+", sql)}
        has_hidden = not words.isdisjoint(HIDDEN_COLUMNS)
        con = self._instances.get(has_hidden)
        if con is None:
            con = self._instances[has_hidden] = _empty(self._catalog, has_hidden=has_hidden)
        return con

    def _objection(self, error: sqlite3.Error, sql: str, locals: Mapping[str, Any]) -> Error:  # noqa: A002
        ours = translate(error)
        if ours.reason == Reason.UNKNOWN_COLUMN:
            name = ours.message.split('"')[1].rpartition(".")[2]
            ours.hint = did_you_mean(name, self._columns_in(sql))
        if ours.reason == Reason.UNKNOWN_TABLE:
            name = ours.message.split('"')[1]
            ours.hint = did_you_mean(name, [*(t.name for t in self._catalog.tables()), *locals])
        return ours

    def _columns_in(self, sql: str) -> list[str]:
        """The columns of the tables that a text seems to name: to suggest one of them."""
        words = {word.casefold() for word in re.findall(r"\w+", sql)}
        named = (each for each in self._catalog.tables() if each.name.casefold() in words)
        return [column.name for table in named if isinstance(table, Table) for column in table.columns or ()]


def _empty(catalog: Catalog, *, has_hidden: bool) -> sqlite3.Connection:
    con = lite.open_memory()
    try:
        schemas = {relation.schema.casefold() for relation in catalog.tables() if relation.schema}
        for schema in sorted(schemas - {"main", "temp"}):
            con.execute(f"ATTACH ':memory:' AS {lite.identifier(schema)}")
        for relation in catalog.stored_tables():
            for statement in _definition(relation, has_hidden=has_hidden):
                con.execute(statement)
    except sqlite3.Error as error:
        con.close()
        raise CatalogError(f'"{relation.name}" cannot be described: {error}') from error
    return con


def _definition(relation: Table | View, *, has_hidden: bool) -> list[str]:
    name = lite.identifier(relation.name)
    if relation.schema:
        name = f"{lite.identifier(relation.schema.casefold())}.{name}"
    if isinstance(relation, View):
        columns = f"({', '.join(map(lite.identifier, relation.columns))})" if relation.columns else ""
        return [f"CREATE VIEW {name}{columns} AS {relation.sql}"]
    if relation.columns is None:
        return []
    defined = [
        f"{lite.identifier(column.name)} {column.type}"
        + (f" COLLATE {column.collation}" if column.collation else "")
        for column in relation.columns
    ]
    defined += [f"{hidden} TEXT" for hidden in HIDDEN_COLUMNS if has_hidden]
    return [f"CREATE TABLE {name} ({', '.join(defined)})"]


def _without_parameters(sql: str) -> str:
    return _PARAMETERS.sub(lambda m: "NULL" if m["parameter"] else m[0], sql)


def _view(con: sqlite3.Connection, sql: str) -> Columns:
    """The columns of a view of the statement: declared types, and names that are made unique (`a:1`)."""
    try:
        con.execute(
            f"CREATE TEMP VIEW shardwise_statement AS {_without_parameters(sql).rstrip().rstrip(';')}"
        )
    except sqlite3.Error:  # what no view can be, such as one with a comment at its end
        return ()
    try:
        return tuple(con.execute("SELECT name, type FROM pragma_table_xinfo('shardwise_statement', 'temp')"))
    finally:
        con.execute("DROP VIEW temp.shardwise_statement")


def _names(con: sqlite3.Connection, sql: str, params: Params) -> list[str] | None:
    """The names as SQLite gives them with rows; None where it has no first row soon, or not with NULLs."""
    con.set_progress_handler(lambda: True, _STEPS)
    try:
        values = _nulls(params)
        return [column[0] for column in con.execute(sql, values).description or ()]
    except sqlite3.Error:
        return None
    finally:
        con.set_progress_handler(None, 0)


def _nulls(params: Params) -> Params:
    """Lists, for `IN (?)`, as one value."""

    def one(value: Any) -> Any:
        return None if isinstance(value, list | tuple | set | frozenset) else value

    if isinstance(params, Mapping):
        return {name: one(value) for name, value in params.items()}
    return [one(value) for value in params]


def _plain(names: list[str]) -> list[str]:
    """A view's names without the numbers that keep them apart."""
    plain: list[str] = []
    for name in names:
        found = _SUFFIX.fullmatch(name)
        is_copy = found is not None and found[1].casefold() in (each.casefold() for each in plain)
        plain.append(found[1] if found is not None and is_copy else name)
    return plain
