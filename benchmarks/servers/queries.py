"""TPC-H's queries in each product's SQL."""

from __future__ import annotations

from sqlglot import exp, parse_one

from benchmarks.servers.places import Product
from tests.oracle.cases import Case, read


def queries(product: Product) -> list[tuple[Case, str]]:
    """The cases, and their text for the product's own dialect."""
    return [(case, text_of(case.sql, product)) for case in read("tpch")]


def text_of(sql: str, product: Product) -> str:
    """PostgreSQL reads the standard's text as it is; MariaDB has no column names after a derived table's."""
    if product == "postgres":
        return sql
    tree = parse_one(sql, dialect="duckdb")
    for alias in list(tree.find_all(exp.TableAlias)):
        names, inner = alias.columns, alias.parent.this if alias.parent else None
        if names and isinstance(inner, exp.Select):
            for name, column in zip(names, list(inner.expressions), strict=True):
                column.replace(exp.alias_(column.unalias(), name.name))
            alias.set("columns", None)
    return tree.sql(dialect="mysql")
