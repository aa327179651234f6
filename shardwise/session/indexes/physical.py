"""The columns that an index table has on a source, in the words of the source's product.

A column is as the base table has it on the first of its shards that is of the same product: the same type,
the same collation, so that values compare in the index as they do there. Where the base table is on no such
shard (a catalog of the duckdb dialect may mix products) it is of the product's type for the catalog's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from shardwise.catalog.model import Catalog, Column, Table
from shardwise.catalog.spoken import spoken
from shardwise.catalog.types import Family, read_type
from shardwise.errors import CatalogError, NotSupportedError
from shardwise.executor.writing import Form, FormColumn
from shardwise.inspection.physical import PhysicalTable
from shardwise.session.indexes.shapes import Shape
from shardwise.session.opened import OpenedSource

_BINARY = "utf8mb4_bin"
"""In a catalog of another dialect texts are compared by their bytes."""


@dataclass
class Physical:
    """What sources said of the base tables; each is asked once."""

    catalog: Catalog
    open_source: Callable[[str], OpenedSource]
    _tables: dict[str, Mapping[str, PhysicalTable]] = field(default_factory=dict)

    def form(self, shape: Shape, shard: str) -> Form:
        """The index table as the source of a shard is to have it."""
        product = self.catalog.dialect_of_shard(shard)
        (name,) = self.catalog.partitions(shape.table, shard)
        columns = []
        for own, (base, column), is_text in zip(shape.columns, shape.origins, shape.are_text, strict=True):
            found = self._as_there(base, column, product) or _mapped(column, product, self.catalog.dialect)
            columns.append(
                FormColumn(
                    name=own.name,
                    type=found.type,
                    nullable=own.nullable,
                    collation=found.collation,
                    stored=column.stored,
                    is_text=is_text,
                )
            )
        return Form(table=name, columns=tuple(columns), searched=shape.searched)

    def _as_there(self, base: Table, column: Column, product: str) -> Column | None:
        """The column as a source of the product declares it; None if none has the table."""
        for shard in self.catalog.homes(base):
            if self.catalog.dialect_of_shard(shard) != product:
                continue
            source = self.catalog.source_of(shard)
            there = self._tables_of(source)
            for name in self.catalog.partitions(base, shard):
                table = there.get(name.casefold())
                if table is None:
                    continue
                by_name = {each.name.casefold(): each for each in table.columns}
                found = by_name.get(column.name.casefold())
                if found is not None and product == "postgres" and found.type.startswith("ENUM("):
                    return replace(found, type=self._enumeration(source, table, found))
                if found is not None:
                    return _declared_there(found, table, base, product)
            return None
        return None

    def _enumeration(self, source: str, table: PhysicalTable, column: Column) -> str:
        """The name of PostgreSQL's type, which the source of the index is to have as well."""
        place = ".".join(map(spoken("postgres").quoted, table.name.split(".")))
        with self.open_source(source) as opened:
            ((name,),) = opened.rows(
                "SELECT format_type(atttypid, NULL) FROM pg_attribute"
                " WHERE attrelid = to_regclass(%(place)s) AND attname = %(name)s",
                {"place": place, "name": column.name},
            )
        return str(name)

    def _tables_of(self, source: str) -> Mapping[str, PhysicalTable]:
        if source not in self._tables:
            with self.open_source(source) as opened:
                self._tables[source] = opened.tables(opened.dialect)
        return self._tables[source]


def _declared_there(found: Column, table: PhysicalTable, base: Table, product: str) -> Column:
    """Its type in the product's words, also where the catalog's language has none for it."""
    if found.type or product == "sqlite":
        return found
    said = table.declared.get(found.name.casefold(), "")
    type_ = said.partition(" COLLATE ")[0]
    if not type_:
        raise CatalogError(f'the type of column "{found.name}" of "{base.full_name}" is not known')
    return Column(name=found.name, type=type_, nullable=found.nullable, collation=found.collation)


def _mapped(column: Column, product: str, dialect: str) -> Column:
    """The product's type for a type of the catalog's dialect, which is another product's."""
    if product == "duckdb":
        return Column(name=column.name, type=column.type)
    found = read_type(column.type, dialect)
    type_ = None
    if found is not None:
        arguments = f"({', '.join(found.arguments)})" if found.arguments else ""
        type_ = _TYPES[product].get(found.name) or _FAMILIES[product].get(found.family)
        if found.family is Family.DECIMAL and type_ is not None:
            type_ += "" if product == "sqlite" else arguments or "(18, 3)"
        if found.family is Family.TEXT and product != "sqlite" and found.arguments:
            type_ = f"VARCHAR{arguments}"
    if type_ is None:
        raise NotSupportedError(
            f'column "{column.name}" is {column.type}, which an index table on {product} cannot hold',
            hint="Leave it out of the index, or shard the index over sources of the base table's product",
        )
    is_text = found is not None and found.family in (Family.TEXT, Family.ENUM)
    return Column(name=column.name, type=type_, collation=_BINARY if is_text and product == "mysql" else None)


_TYPES: Mapping[str, Mapping[str, str]] = {
    "mysql": {
        "TINYINT": "TINYINT",
        "SMALLINT": "SMALLINT",
        "INTEGER": "INTEGER",
        "INT": "INTEGER",
        "UTINYINT": "TINYINT UNSIGNED",
        "USMALLINT": "SMALLINT UNSIGNED",
        "UINTEGER": "INTEGER UNSIGNED",
        "UBIGINT": "BIGINT UNSIGNED",
        "FLOAT": "FLOAT",
        "REAL": "FLOAT",
        "FLOAT4": "FLOAT",
    },
    "postgres": {
        "TINYINT": "SMALLINT",
        "SMALLINT": "SMALLINT",
        "INTEGER": "INTEGER",
        "INT": "INTEGER",
        "UTINYINT": "SMALLINT",
        "USMALLINT": "INTEGER",
        "UINTEGER": "BIGINT",
        "UBIGINT": "NUMERIC(20, 0)",
        "FLOAT": "REAL",
        "REAL": "REAL",
        "FLOAT4": "REAL",
    },
    "sqlite": {},
}
_FAMILIES: Mapping[str, Mapping[Family, str]] = {
    "mysql": {
        Family.INT: "BIGINT",
        Family.BOOL: "TINYINT(1)",
        Family.FLOAT: "DOUBLE",
        Family.DECIMAL: "DECIMAL",
        Family.TEXT: "LONGTEXT",
        Family.BLOB: "LONGBLOB",
        Family.DATE: "DATE",
        Family.TIME: "TIME(6)",
        Family.TIMESTAMP: "DATETIME(6)",
        Family.TIMESTAMPTZ: "TIMESTAMP(6)",
    },
    "postgres": {
        Family.INT: "BIGINT",
        Family.BOOL: "BOOLEAN",
        Family.FLOAT: "DOUBLE PRECISION",
        Family.DECIMAL: "NUMERIC",
        Family.TEXT: "TEXT",
        Family.BLOB: "BYTEA",
        Family.DATE: "DATE",
        Family.TIME: "TIME(6)",
        Family.TIMESTAMP: "TIMESTAMP(6)",
        Family.TIMESTAMPTZ: "TIMESTAMPTZ(6)",
        Family.UUID: "UUID",
        Family.JSON: "JSON",
    },
    "sqlite": {
        Family.INT: "INTEGER",
        Family.BOOL: "BOOLEAN",
        Family.FLOAT: "REAL",
        Family.DECIMAL: "TEXT",
        Family.TEXT: "TEXT",
        Family.BLOB: "BLOB",
        Family.DATE: "TEXT",
        Family.TIME: "TEXT",
        Family.TIMESTAMP: "TEXT",
        Family.TIMESTAMPTZ: "TEXT",
        Family.UUID: "TEXT",
        Family.JSON: "TEXT",
    },
}
