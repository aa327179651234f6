"""What a MySQL, MariaDB or PostgreSQL server says of its tables, and which catalog types its own stand for.

Only SELECT rights are needed: what a user may not read, its server does not list.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from shardwise.catalog.model import Column
from shardwise.catalog.types import read_type
from shardwise.inspection.physical import PhysicalTable, SourceReader

_MYSQL_COLUMNS = """
    SELECT NULL, TABLE_NAME, COLUMN_NAME, COLUMN_TYPE, IS_NULLABLE = 'YES', COLLATION_NAME, COLUMN_DEFAULT, 1
    FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() ORDER BY TABLE_NAME, ORDINAL_POSITION"""
_MYSQL_KEYS = """
    SELECT NULL, TABLE_NAME, INDEX_NAME, INDEX_NAME = 'PRIMARY',
        CASE WHEN SUB_PART IS NULL THEN COLUMN_NAME END
    FROM information_schema.STATISTICS WHERE NON_UNIQUE = 0 AND TABLE_SCHEMA = DATABASE()
    ORDER BY TABLE_NAME, INDEX_NAME, SEQ_IN_INDEX"""
_POSTGRES_COLUMNS = """
    SELECT CASE WHEN n.nspname = current_schema() THEN NULL ELSE n.nspname END, c.relname, a.attname,
        CASE WHEN b.typtype = 'e' THEN (
            SELECT 'ENUM(' || string_agg(quote_literal(enumlabel), ', ' ORDER BY enumsortorder) || ')'
            FROM pg_enum WHERE enumtypid = b.oid)
        ELSE format_type(b.oid, CASE WHEN t.typtype = 'd' THEN t.typtypmod ELSE a.atttypmod END) END,
        NOT (a.attnotnull OR t.typnotnull),
        CASE WHEN l.collname <> 'default' THEN l.collname END, pg_get_expr(d.adbin, d.adrelid),
        coalesce(l.collisdeterministic, true)
    FROM pg_attribute a
    JOIN pg_class c ON c.oid = a.attrelid AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
    JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname !~ '^(pg_|information_schema$)'
    JOIN pg_type t ON t.oid = a.atttypid
    JOIN pg_type b ON b.oid = CASE WHEN t.typtype = 'd' THEN t.typbasetype ELSE t.oid END
    LEFT JOIN pg_collation l ON l.oid = a.attcollation
    LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum AND a.attgenerated = ''
    WHERE a.attnum > 0 AND NOT a.attisdropped
        AND (has_table_privilege(c.oid, 'SELECT') OR has_any_column_privilege(c.oid, 'SELECT'))
    ORDER BY n.nspname, c.relname, a.attnum"""
_POSTGRES_KEYS = """
    SELECT CASE WHEN n.nspname = current_schema() THEN NULL ELSE n.nspname END, c.relname, i.indexrelid::text,
        i.indisprimary, a.attname
    FROM pg_index i
    JOIN pg_class c ON c.oid = i.indrelid
    JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname !~ '^(pg_|information_schema$)'
    CROSS JOIN LATERAL unnest(i.indkey::int2[]) WITH ORDINALITY AS k (number, place)
    LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.number AND k.number > 0
    WHERE i.indisunique AND i.indisvalid AND i.indpred IS NULL AND k.place <= i.indnkeyatts
    ORDER BY n.nspname, c.relname, i.indexrelid, k.place"""
_QUESTIONS = {"mysql": (_MYSQL_COLUMNS, _MYSQL_KEYS), "postgres": (_POSTGRES_COLUMNS, _POSTGRES_KEYS)}
_CONSTANT = re.compile(r"(?:'(?:[^'\\]|'')*'|-?\d+(?:\.\d+)?)(?=::[\w ]+(?:\(\d+\))?$|$)")


def read_server_tables(reader: SourceReader, dialect: str) -> Mapping[str, PhysicalTable]:
    """All tables and views, by name in lower case: "schema.name" outside the source's own database or schema.

    In a catalog of the server's own dialect columns are as declared, with their collations. In another they
    are of the types that these stand for, "" for those that stand for none, and without collations: text is
    compared there as that dialect compares it. MySQL's are those of the source's database alone.
    """
    is_own = reader.dialect == dialect
    columns_of, keys_of = _QUESTIONS[reader.dialect]
    names: dict[str, str] = {}
    columns: dict[str, list[Column]] = {}
    declared: dict[str, dict[str, str]] = {}
    for schema, table, column, type_, nullable, collation, default, is_strict in reader.rows(columns_of):
        name = f"{schema}.{table}" if schema else str(table)
        key = name.lower()
        names[key] = name
        said = f"{type_} COLLATE {collation}" if collation else str(type_)
        if not is_strict and not is_own:
            said = f"{said} (not deterministic)"
        declared.setdefault(key, {})[str(column).lower()] = said
        columns.setdefault(key, []).append(
            Column(
                name=str(column),
                type=_own_type(str(type_), dialect) if is_own else catalog_type(reader.dialect, str(type_)),
                nullable=bool(nullable),
                collation=str(collation) if collation and is_own else None,
                default=_constant(default) if is_own else None,
            )
        )
    primary, unique = _keys(reader.rows(keys_of))
    return {
        key: PhysicalTable(
            name=names[key],
            columns=tuple(found),
            primary_key=primary.get(key, ()),
            unique=tuple(unique.get(key, ())),
            declared=declared[key],
            product=reader.dialect,
        )
        for key, found in columns.items()
    }


def _keys(
    rows: Sequence[tuple[Any, ...]],
) -> tuple[dict[str, tuple[str, ...]], dict[str, list[tuple[str, ...]]]]:
    """Primary keys and other unique ones, by table; none over expressions or beginnings of texts."""
    found: dict[tuple[str, str], tuple[bool, list[str | None]]] = {}
    for schema, table, index, is_primary, column in rows:
        key = (f"{schema}.{table}" if schema else str(table)).lower()
        found.setdefault((key, str(index)), (bool(is_primary), []))[1].append(column)
    primary: dict[str, tuple[str, ...]] = {}
    unique: dict[str, list[tuple[str, ...]]] = {}
    for (key, _), (is_primary, columns) in found.items():
        whole = tuple(column for column in columns if column is not None)
        if len(whole) < len(columns):
            continue
        if is_primary:
            primary[key] = whole
        else:
            unique.setdefault(key, []).append(whole)
    return primary, unique


def _constant(default: object) -> str | None:
    """A default that is a constant; others are the server's own affair."""
    found = _CONSTANT.match(str(default)) if default is not None else None
    return found[0] if found else None


def _own_type(type_: str, dialect: str) -> str:
    """A type as the server says it; "" for one that the catalog's language does not know."""
    return type_ if read_type(type_, dialect) is not None else ""


# ------------------------------------------------------------------ the types of another dialect


def catalog_type(product: str, type_: str) -> str:
    """The catalog's type for a server's; "" if it stands for none.

    >>> catalog_type("mysql", "int(10) unsigned"), catalog_type("postgres", "character varying(40)")
    ('UINTEGER', 'VARCHAR')
    """
    text = " ".join(type_.lower().split())
    name, _, rest = text.partition("(")
    arguments = rest.partition(")")[0]
    if name.strip() in ("decimal", "numeric"):
        return _decimal(arguments)
    if product == "mysql":
        return _of_mysql(name.strip(), arguments, is_unsigned="unsigned" in text)
    if text.endswith("[]"):
        inner = catalog_type(product, type_[:-2])
        return f"{inner}[]" if inner else ""
    return _POSTGRES.get(re.sub(r"\(\d+\)", "", text), type_ if type_.startswith("ENUM(") else "")


def _decimal(arguments: str) -> str:
    precision, _, scale = arguments.partition(",")
    if not precision or not 0 < int(precision) <= 38 or not 0 <= int(scale or 0) <= int(precision):
        return ""
    return f"DECIMAL({int(precision)},{int(scale or 0)})"


def _of_mysql(name: str, arguments: str, *, is_unsigned: bool) -> str:
    word = name.split(maxsplit=1)[0]
    if word in _MYSQL_WHOLE:
        return ("U" if is_unsigned else "") + _MYSQL_WHOLE[word]
    if word == "bit":
        return "BOOLEAN" if arguments == "1" else ""
    return _MYSQL.get(word, "")


_MYSQL_WHOLE = {
    "tinyint": "TINYINT",
    "smallint": "SMALLINT",
    "mediumint": "INTEGER",
    "int": "INTEGER",
    "bigint": "BIGINT",
}
_TEXTS = ("char", "varchar", "tinytext", "text", "mediumtext", "longtext", "enum", "set", "inet4", "inet6")
_BLOBS = ("binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob")
_MYSQL = {
    **dict.fromkeys(_TEXTS, "VARCHAR"),
    **dict.fromkeys(_BLOBS, "BLOB"),
    "float": "FLOAT",
    "double": "DOUBLE",
    "date": "DATE",
    "time": "TIME",
    "datetime": "TIMESTAMP",
    "timestamp": "TIMESTAMPTZ",
    "year": "SMALLINT",
    "uuid": "UUID",
    "json": "JSON",
}
_POSTGRES = {
    "boolean": "BOOLEAN",
    "smallint": "SMALLINT",
    "integer": "INTEGER",
    "bigint": "BIGINT",
    "oid": "UINTEGER",
    "real": "FLOAT",
    "double precision": "DOUBLE",
    "text": "VARCHAR",
    "character varying": "VARCHAR",
    "name": "VARCHAR",
    "character": "CHAR",
    "bytea": "BLOB",
    "uuid": "UUID",
    "json": "JSON",
    "jsonb": "JSON",
    "date": "DATE",
    "time without time zone": "TIME",
    "time with time zone": "TIMETZ",
    "timestamp without time zone": "TIMESTAMP",
    "timestamp with time zone": "TIMESTAMPTZ",
    "interval": "INTERVAL",
}
