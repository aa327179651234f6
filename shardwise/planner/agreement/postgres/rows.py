"""Rows that ran first, for PostgreSQL: lists as they were given, side by side.

SELECT r.c1, r.c2 COLLATE "C"
FROM unnest(CAST(%(rows_1_1)s AS bigint[]), CAST(%(rows_1_2)s AS text[])) AS r(c1, c2)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sqlglot import exp

from shardwise.planner.agreement.make import call
from shardwise.planner.agreement.sent import SentColumn
from shardwise.planner.agreement.types import Family


def rows_of_lists(
    columns: tuple[SentColumn, ...],
    types: Mapping[Family, str],
    by_code_point: Callable[[exp.Expr], exp.Expr],
) -> exp.Select:
    """The rows, whose columns are canonical. `types` are the names of types there."""
    names = [f"c{at}" for at in range(1, len(columns) + 1)]
    lists = [
        exp.Cast(this=exp.Placeholder(this=column.name), to=exp.Var(this=f"{types[column.type.family]}[]"))
        for column in columns
    ]
    values = [exp.Var(this=name) for name in names]  # no columns of the plan's
    items = [
        by_code_point(value) if column.type.family is Family.TEXT else value
        for column, value in zip(columns, values, strict=True)
    ]
    alias = exp.TableAlias(this=exp.to_identifier("r"), columns=[exp.to_identifier(name) for name in names])
    table = exp.Table(this=call("unnest", *lists), alias=alias)
    return exp.Select(expressions=items, from_=exp.From(this=table))
