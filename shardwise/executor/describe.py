"""What a statement's columns are, from DuckDB itself: the catalog's tables, empty, in a locked instance.

    describer.describe("SELECT count(*), max(AB) + 1 FROM t")
    => (("count_star()", "BIGINT"), ("(max(AB) + 1)", "INTEGER"))

Names and types are exactly those that one database would give, and so are the mistakes in the user's SQL that
it finds, with their positions. Nothing is run; only fragments that go to no shard are answered on the
empty tables. A describer is made for one version of a catalog.
"""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any

import duckdb
import pyarrow as pa

from shardwise.catalog.hints import did_you_mean
from shardwise.catalog.model import MAIN, Catalog, Table, View
from shardwise.errors import CatalogError, Error, Reason
from shardwise.executor import duck, translate
from shardwise.executor.backends.duckdb import DuckDBConnection
from shardwise.executor.conform import plain
from shardwise.executor.direct import Direct
from shardwise.executor.locals import StoredTable
from shardwise.executor.reading import Reader
from shardwise.plan.kinds import kinds_of
from shardwise.plan.run import Fragment, Request

HIDDEN_COLUMNS = ("_shard", "_source", "_table")
_CACHE_MAX = 512
_DESCRIBE = "DESCRIBE "
_CATALOGS = ("table_catalog", "constraint_catalog", "catalog_name")
_CATALOG_COLUMNS = (*_CATALOGS, "unique_constraint_catalog", "default_collate_catalog")


class Describer:
    """Threads may share it. Local tables are given by name; none of their rows is read."""

    def __init__(self, catalog: Catalog, *, time_zone: str = "UTC") -> None:
        self._catalog = catalog
        self._settings = duck.Settings(
            time_zone=time_zone, threads=1, memory_bytes_max=256 << 20, lossless=True
        )
        self._lock = threading.Lock()
        self._instances: dict[bool, _Empty] = {}
        self._whole: _Empty | None = None
        self._information: dict[str, pa.Table] = {}
        self._described: OrderedDict[object, duck.Columns] = OrderedDict()
        self._fields: dict[str, pa.DataType | None] = {}
        self._normal: dict[str, str | None] = {}

    def describe(
        self,
        sql: str,
        params: duck.Params = (),
        locals: Mapping[str, Any] | None = None,  # noqa: A002
        schema: str | None = None,
        near: str | None = None,
    ) -> duck.Columns:
        """Names and types of a SELECT's columns; raises ours for what is wrong with the user's text.

        A name without a schema is looked for in `schema` first.

        Where the text mentions a hidden column (`_shard`), `*` shows them too: compare the count.
        """
        key = None if locals else _key(sql, params, schema)
        if key is not None:
            with self._lock:
                if key in self._described:
                    self._described.move_to_end(key)
                    return self._described[key]
        con = self._cursor(sql, locals, schema)
        try:
            found = duck.describe(con, sql, params)
        except duckdb.Error as error:
            raise self._objection(error, sql, locals) from error
        finally:
            con.close()
        if key is not None:
            with self._lock:
                self._described[key] = found
                while len(self._described) > _CACHE_MAX:
                    self._described.popitem(last=False)
        return found

    def schema(
        self, columns: Sequence[tuple[str, str | None]], sql: str, params: duck.Params = ()
    ) -> tuple[pa.Schema, duck.Columns]:
        """A fragment's stream: its Arrow schema (no type lost, ENUM as text), and its columns' DuckDB types.

        `columns` give the names, `sql` is in logical names.
        """
        described = self.describe(sql, params)
        types: list[Any] = [self.arrow_type(type_) for _, type_ in described]
        if None in types:
            con = self._cursor(sql)
            try:
                types = duck.arrow_reader(con, f"SELECT * FROM ({sql}\n) LIMIT 0", params, 1).schema.types
            finally:
                con.close()
        names = [name for name, _ in columns] or [name for name, _ in described]
        schema = pa.schema([pa.field(name, plain(t)) for name, t in zip(names, types, strict=True)])
        return schema, tuple((name, d[1]) for name, d in zip(names, described, strict=True))

    def local(self, name: str, data: Any) -> duck.Columns:
        """The columns of a local relation."""
        return self.describe(f"SELECT * FROM {duck.identifier(name)}", (), {name: data})

    def stream(self, fragment: Fragment, *, passes: bool = False) -> tuple[pa.Schema, duck.Columns]:
        """A fragment's stream, as `schema` has it."""
        return self.schema(fragment.columns, fragment.sql, fragment.params)

    def columns_of(self, fragment: Fragment) -> duck.Columns:
        """A fragment's columns, with DuckDB's types."""
        return self.stream(fragment)[1]

    def direct(self, reader: Reader, request: Request, columns: duck.Columns) -> Direct:
        """A statement that one shard answers whole."""
        return Direct(reader, request, columns, self.arrow_type)

    def batches(self, sql: str, params: duck.Params, schema: pa.Schema) -> list[pa.RecordBatch]:
        """The statement's answer where all tables are empty."""
        con = self._cursor(sql)
        try:
            table = duck.arrow_reader(con, sql, params, 1024).read_all()
        finally:
            con.close()
        columns = [column.cast(f.type) for column, f in zip(table.columns, schema, strict=True)]
        batches: list[pa.RecordBatch] = pa.Table.from_arrays(columns, schema=schema).to_batches()
        return batches

    def connect(self, sql: str) -> DuckDBConnection:
        """A connection to the empty tables that `sql`, in logical names, mentions; closed by the caller."""
        return DuckDBConnection(self._cursor(sql))

    def information(self, name: str, locals: Mapping[str, Any]) -> pa.Table:  # noqa: A002
        """What DuckDB's information_schema says of the catalog's tables and views, and of local ones."""
        with self._lock:
            if not locals and name in self._information:
                return self._information[name]
            if self._whole is None:
                self._whole = _Empty(self._catalog, self._settings, has_hidden=False, with_keys=True)
            self._whole.add_all()
            con = self._whole.cursor(None)
        try:
            _register_all(con, locals, None)
            where = next((c for c, _ in duck.describe(con, f"FROM information_schema.{name}")), "")
            own = f"WHERE {where} IN ('memory', 'temp')" if where.startswith(_CATALOGS) else ""
            columns = duck.columns(con.execute(f"SELECT * FROM information_schema.{name} {own}"))
            rows = [self._said(dict(zip((c for c, _ in columns), r, strict=True))) for r in con.fetchall()]
        finally:
            con.close()
        schema = pa.schema([(column, self.arrow_type(type_)) for column, type_ in columns])
        table = pa.Table.from_pylist(rows, schema)
        if not locals:
            with self._lock:
                self._information[name] = table
        return table

    def _said(self, row: dict[str, Any]) -> dict[str, Any]:
        """The instance's own row as one about the catalog."""
        if "column_default" in row and row["table_catalog"] == "memory":
            schema = row["table_schema"]
            table = self._catalog.table(row["table_name"], None if schema == MAIN else schema)
            column = table.column(row["column_name"]) if isinstance(table, Table) else None
            row["column_default"] = column.default if column is not None else None
        if "is_insertable_into" in row:
            row["is_insertable_into"] = "NO"
        own = {k: self._catalog.name for k, v in row.items() if v == "memory" and k in _CATALOG_COLUMNS}
        return row | own

    def close(self) -> None:
        """Frees the instances."""
        with self._lock:
            for instance in (*self._instances.values(), *filter(None, [self._whole])):
                instance.con.close()
            self._instances.clear()
            self._whole = None

    def _objection(
        self,
        error: duckdb.Error,
        sql: str,
        locals: Mapping[str, Any] | None,  # noqa: A002
    ) -> Error:
        """Ours; tables that come close are the catalog's, for DuckDB knows only those made so far."""
        ours = translate.translate(error, translate.Text(sql, len(_DESCRIBE)))
        if ours.reason == Reason.UNKNOWN_TABLE and ours.sqlstate == "42P01":
            name = ours.message.split('"')[1]
            ours.hint = did_you_mean(name, [*(t.name for t in self._catalog.tables()), *(locals or {})])
        return ours

    def _cursor(
        self,
        sql: str,
        locals: Mapping[str, Any] | None = None,  # noqa: A002
        schema: str | None = None,
    ) -> duckdb.DuckDBPyConnection:
        views = [data.sql for data in (locals or {}).values() if isinstance(data, View)]
        words = {word.casefold() for text in (sql, *views) for word in _WORD.findall(text)}
        has_hidden = not words.isdisjoint(HIDDEN_COLUMNS)
        with self._lock:
            instance = self._instances.get(has_hidden)
            if instance is None:
                instance = _Empty(self._catalog, self._settings, has_hidden=has_hidden)
                self._instances[has_hidden] = instance
            instance.add(words)
            con = instance.cursor(schema)
        try:
            _register_all(con, locals or {}, schema)
        except BaseException:
            con.close()
            raise
        return con

    def normal_type(self, type_: str) -> str | None:
        """A type as DuckDB writes it: INT is INTEGER, `NUMERIC(9, 2)` DECIMAL(9,2); None: it is no type."""
        if type_ not in self._normal:
            con = self._cursor("")
            try:
                ((_, self._normal[type_]),) = duck.describe(con, f"SELECT CAST(NULL AS {type_}) AS x")
            except duckdb.Error:
                self._normal[type_] = None
            finally:
                con.close()
        return self._normal[type_]

    def arrow_type(self, type_: str) -> pa.DataType | None:
        """The Arrow type of a DuckDB type; None where its name is no SQL."""
        if type_ not in self._fields:
            con = self._cursor("")
            try:
                reader = duck.arrow_reader(con, f"SELECT CAST(NULL AS {type_})", (), 1)
                self._fields[type_] = reader.schema.types[0]
                reader.close()
            except (duckdb.Error, OSError):
                self._fields[type_] = None
            finally:
                con.close()
        return self._fields[type_]


_WORD = re.compile(r"\w+")


def _register_all(
    con: duckdb.DuckDBPyConnection,
    locals: Mapping[str, Any],  # noqa: A002
    schema: str | None,
) -> None:
    """Local relations, each after those that it reads; `schema` is the current one before and after."""
    for name, data in locals.items():
        if isinstance(data, View) and data.schema != schema:
            duck.search(con, data.schema)
            _register(con, name, data)
            duck.search(con, schema)
        else:
            _register(con, name, data)


def _register(con: duckdb.DuckDBPyConnection, name: str, data: Any) -> None:
    """A local relation; a view after those that it reads."""
    own = duck.identifier(name)
    if isinstance(data, StoredTable):
        columns = ", ".join(f"{duck.identifier(c)} {type_}" for c, type_ in data.columns)
        con.execute(f"CREATE TEMP TABLE {own} ({columns})")
    elif isinstance(data, View):
        try:
            con.execute(f"CREATE TEMP VIEW {own}{_column_list(data)} AS {data.sql}")
        except duckdb.Error as error:
            ours: Error = translate.translate(error)
            ours.message = f'in the view "{name}": {ours.message}'
            raise ours from error
    else:
        con.register(name, data)


def _column_list(view: View) -> str:
    return f" ({', '.join(map(duck.identifier, view.columns))})" if view.columns else ""


class _Empty:
    """An instance with the catalog's tables, made when first mentioned. Guarded by the describer's lock."""

    def __init__(
        self, catalog: Catalog, settings: duck.Settings, *, has_hidden: bool, with_keys: bool = False
    ) -> None:
        self.con = duck.connect(":memory:", settings)
        self._has_hidden = has_hidden
        self._with_keys = with_keys
        self._schemas = catalog.schemas()
        self._missing: dict[str, list[Table | View]] = {}
        # What a fragment reads may be an index, which a user is told nothing of.
        for relation in catalog.tables() if with_keys else catalog.stored_tables():
            # Folded after it was taken apart, as a text's words are: "İ" folds to a letter and a mark.
            words = [word.casefold() for word in _WORD.findall(relation.name)]
            self._missing.setdefault(words[0] if words else "", []).append(relation)

    def add_all(self) -> None:
        """Makes all relations; raises for a table whose columns are not known."""
        for schema in self._schemas:
            self._add_schema(schema)
        waiting = [relation for each in self._missing.values() for relation in each]
        for relation in waiting:
            if isinstance(relation, Table) and relation.columns is None:
                raise CatalogError(
                    f'the columns of table "{relation.full_name}" are not known',
                    hint="List them in the catalog, or read them off the sources: shardwise catalog import",
                )
        self.add(set(self._missing))

    def add(self, words: set[str]) -> None:
        """Makes the relations whose names may be among the words of a text."""
        for word in words & self._missing.keys() | ({""} & self._missing.keys()):
            for relation in self._missing.pop(word, ()):  # a view may have made it meanwhile
                if isinstance(relation, View):
                    self.add({each.casefold() for each in _WORD.findall(relation.sql)})
                    self._view(relation)
                elif relation.columns is not None:
                    self._table(relation)

    def _table(self, table: Table) -> None:
        columns = []
        for column in table.columns or ():
            collation = f" COLLATE {column.collation}" if column.collation else ""
            null = "" if column.nullable else " NOT NULL"
            columns.append(f"{duck.identifier(column.name)} {column.type}{collation}{null}")
        if self._has_hidden:
            columns += [f"{name} VARCHAR" for name in HIDDEN_COLUMNS]
        if self._with_keys:
            for key in table.unique:
                kind = "PRIMARY KEY" if key == table.primary_key else "UNIQUE"
                columns.append(f"{kind} ({', '.join(map(duck.identifier, key))})")
        self._create(table.full_name, f"CREATE TABLE {self._name(table)} ({', '.join(columns)})")

    def _view(self, view: View) -> None:
        name = self._name(view)
        self._create(
            view.full_name, f"CREATE VIEW {name}{_column_list(view)} AS {view.sql}", schema=view.schema
        )

    def _name(self, relation: Table | View) -> str:
        """In a schema that is there."""
        if not relation.schema:
            return duck.identifier(relation.name)
        self._add_schema(relation.schema)
        return f"{duck.identifier(relation.schema)}.{duck.identifier(relation.name)}"

    def _add_schema(self, schema: str) -> None:
        self.con.execute(f"CREATE SCHEMA IF NOT EXISTS {duck.identifier(schema)}")

    def cursor(self, schema: str | None) -> duckdb.DuckDBPyConnection:
        """A connection on which names without a schema are looked for in this one first."""
        con = self.con.cursor()
        if schema is not None:
            self._add_schema(schema)
            duck.search(con, schema)
        return con

    def _create(self, name: str, statement: str, *, schema: str | None = None) -> None:
        con = self.cursor(schema)
        try:
            con.execute(statement)
        except duckdb.Error as error:
            ours: Error = translate.translate(error)
            raise CatalogError(f'"{name}" cannot be described: {ours.message}', hint=ours.hint) from error
        finally:
            con.close()


def _key(sql: str, params: duck.Params, schema: str | None) -> object:
    """What a description depends on: the text and the kinds of the values. None: do not keep it."""
    if not params:
        return sql, schema
    if not isinstance(params, Mapping):
        kinds = kinds_of(params)
        return None if kinds is None else (sql, schema, kinds)
    kinds = kinds_of(params.values())
    return None if kinds is None else (sql, schema, frozenset(zip(params, kinds, strict=True)))
