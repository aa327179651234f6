"""What a source says of its own tables: columns, nullability, collations, keys.

One set of questions for DuckDB files and for folders of Parquet, which a DuckDB shows as views; SQLite files
and servers have their own.
"""

from __future__ import annotations

from collections.abc import Mapping

import sqlglot
from sqlglot import exp

from shardwise.catalog.model import Column
from shardwise.catalog.spoken import spoken
from shardwise.inspection.physical import PhysicalTable, SourceReader
from shardwise.inspection.servers import read_server_tables
from shardwise.inspection.sqlite import read_sqlite_tables

_COLUMNS = """
    SELECT schema_name, table_name, column_name, data_type, is_nullable, column_default
    FROM duckdb_columns() WHERE NOT internal AND database_name = current_database()
    ORDER BY schema_name, table_name, column_index"""
_CONSTRAINTS = """
    SELECT schema_name, table_name, constraint_type, constraint_column_names
    FROM duckdb_constraints()
    WHERE constraint_type IN ('PRIMARY KEY', 'UNIQUE') AND database_name = current_database()
    ORDER BY schema_name, table_name, constraint_index"""
_COLLATED = """
    SELECT schema_name, table_name, sql FROM duckdb_tables()
    WHERE NOT internal AND database_name = current_database() AND contains(lower(sql), 'collate')"""


def read_tables(reader: SourceReader, dialect: str) -> Mapping[str, PhysicalTable]:
    """All tables and views of a source, by name in lower case; "schema.name" outside the schema `main`.

    `dialect` is the catalog's: a file of loose types is described in its terms.
    """
    if reader.dialect == "sqlite":
        return read_sqlite_tables(reader, dialect)
    if spoken(reader.dialect).is_server:
        return read_server_tables(reader, dialect)
    columns: dict[str, list[Column]] = {}
    names: dict[str, str] = {}
    collations = _collations(reader)
    for schema, table, column, type_, nullable, default in reader.rows(_COLUMNS):
        name = _full_name(schema, table)
        names[name.lower()] = name
        collation = collations.get((name.lower(), column.lower()))
        columns.setdefault(name.lower(), []).append(
            Column(name=column, type=type_, nullable=bool(nullable), collation=collation, default=default)
        )
    primary: dict[str, tuple[str, ...]] = {}
    unique: dict[str, list[tuple[str, ...]]] = {}
    for schema, table, kind, key in reader.rows(_CONSTRAINTS):
        name = _full_name(schema, table).lower()
        if kind == "PRIMARY KEY":
            primary[name] = tuple(key)
        else:
            unique.setdefault(name, []).append(tuple(key))
    return {
        key: PhysicalTable(
            name=names[key],
            columns=tuple(found),
            primary_key=primary.get(key, ()),
            unique=tuple(unique.get(key, ())),
        )
        for key, found in columns.items()
    }


def row_count(reader: SourceReader, table: str) -> int:
    """The exact number of rows of a physical table."""
    ((count,),) = reader.rows(f"SELECT count(*) FROM {quoted_table(table, reader.dialect)}")
    return int(count)


def quoted(name: str, dialect: str) -> str:
    """A column's name as SQL of a source's dialect."""
    return spoken(dialect).quoted(name)


def quoted_table(name: str, dialect: str) -> str:
    """A physical table's name ("orders_24", "tenant_7.orders") as SQL."""
    return ".".join(quoted(part, dialect) for part in name.split("."))


def _full_name(schema: str, table: str) -> str:
    return table if schema == "main" else f"{schema}.{table}"


def _collations(reader: SourceReader) -> Mapping[tuple[str, str], str]:
    """DuckDB tells a column's collation only in the table's CREATE text."""
    found = {}
    for schema, table, sql in reader.rows(_COLLATED):
        for column in sqlglot.parse_one(sql, read="duckdb").find_all(exp.ColumnDef):
            collate = column.find(exp.CollateColumnConstraint)
            if collate is not None:
                found[_full_name(schema, table).lower(), column.name.lower()] = collate.this.name
    return found
