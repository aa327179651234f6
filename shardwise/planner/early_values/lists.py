"""Rows as lists side by side, where an engine has lists: `unnest` makes rows of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from sqlglot import exp

from shardwise.planner.early_values.base import Bind


class Lists(Protocol):
    def listed(self, parameter: exp.Expr, type_text: str) -> exp.Expr: ...


def unnested(of: Lists, types: Sequence[str], rows: Sequence[tuple[Any, ...]], bind: Bind) -> exp.Select:
    """SELECT unnest(values of a), unnest(values of b): lists of one length are taken side by side."""
    items = []
    for position, type_text in enumerate(types):
        values = bind(f"{position + 1}", [row[position] for row in rows])
        items.append(exp.Anonymous(this="unnest", expressions=[of.listed(values, type_text)]))
    return exp.Select(expressions=items)


def among_unnested(
    of: Lists,
    columns: Sequence[exp.Expr],
    keys: Sequence[tuple[Any, ...]],
    types: Sequence[str],
    bind: Bind,
) -> exp.Expr:
    rows = exp.Subquery(this=unnested(of, types, keys, bind))
    return exp.In(this=exp.Tuple(expressions=list(columns)), query=rows)
