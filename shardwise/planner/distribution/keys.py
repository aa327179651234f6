"""What becomes of keys: renamed, made full, held by the columns of a group."""

from __future__ import annotations

from collections.abc import Iterable, Set
from dataclasses import replace

from sqlglot import exp

from shardwise.plan.nodes import ColumnId
from shardwise.plan.tree import column_id
from shardwise.planner.distribution.values import Key
from shardwise.planner.equivalence import Equivalence
from shardwise.planner.functions import rejects_null


def firmer(key: Key, conjuncts: tuple[exp.Expr, ...]) -> Key:
    if key.strength != "loose":
        return key
    firm = all(any(rejects_null(c, {column}) for c in conjuncts) for column in key.columns)
    return replace(key, strength="full") if firm else key


def renamed_keys(
    keys: tuple[Key, ...], copies: dict[ColumnId, tuple[ColumnId, ...]], known: Equivalence
) -> tuple[Key, ...]:
    renamed = []
    for key in keys:
        columns = []
        for column in key.columns:
            new = next(
                (c for same in (column, *sorted(known.same_as(column))) for c in copies.get(same, ())), None
            )
            if new is not None:
                columns.append(new)
        if len(columns) == len(key.columns):
            renamed.append(replace(key, columns=tuple(columns)))
    return tuple(dict.fromkeys(renamed))


def bare_columns(expressions: Iterable[exp.Expr]) -> frozenset[ColumnId]:
    return frozenset(id for e in expressions if (id := column_id(e)) is not None)


def holds(columns: Set[ColumnId], key: Key, known: Equivalence) -> bool:
    """Whether rows that agree in `columns` agree in the key, which says where they all are."""
    return key.strength == "full" and all(known.same_as(column) & columns for column in key.columns)
