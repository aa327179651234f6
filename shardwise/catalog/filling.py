"""DRIFT FILL: what a column reads as on a partition that does not have it yet.

    ATTACH TABLE orders (id BIGINT, note TEXT, state INT DEFAULT 1) … DRIFT FILL
    =>  note reads as NULL, state as 1

A database that had run the migration would show just this in its old rows. So the default must be a constant:
what now() was when somebody ran the migration nobody knows. Columns of keys are never filled: rows are placed
and told apart by them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import sqlglot
from sqlglot import exp

from shardwise.catalog.tables import Column, Sharded, ShardedWith, Table


def fills(table: Table, dialect: str) -> Mapping[str, exp.Expr]:
    """The constants that missing columns of a DRIFT FILL table read as, by folded name."""
    if table.drift != "FILL":
        return {}
    keys = {name.casefold() for name in _key_columns(table)}
    found = {
        column.name.casefold(): fill_of(column, dialect)
        for column in table.columns or ()
        if column.name.casefold() not in keys and not column.virtual
    }
    return {name: constant for name, constant in found.items() if constant is not None}


def fill_of(column: Column, dialect: str) -> exp.Expr | None:
    """A column's default, if it is a constant; NULL if it has none."""
    if column.default is None:
        return exp.Null()
    found = sqlglot.parse_one(column.default, dialect=dialect)
    return found if _is_constant(found) else None


def _is_constant(expr: exp.Expr) -> bool:
    if isinstance(expr, exp.Cast):
        return not isinstance(expr, exp.TryCast) and _is_constant(expr.this)
    if isinstance(expr, (exp.Neg, exp.Paren)):
        return _is_constant(expr.this)
    return isinstance(expr, (exp.Literal, exp.Boolean, exp.Null))


def _key_columns(table: Table) -> Iterator[str]:
    placement = table.placement
    if isinstance(placement, Sharded):
        for key in placement.keys:
            for part in key.parts:
                yield from (column.name for column in part.find_all(exp.Column))
    elif isinstance(placement, ShardedWith):
        yield placement.column
    for unique in (table.primary_key, *table.unique, *table.unique_across):
        yield from unique
