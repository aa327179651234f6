"""Lists of keys that ran first, as predicates: `column IN $keys`, in each dialect's own form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from sqlglot import exp

from shardwise.plan.nodes import ColumnId
from shardwise.plan.tree import bare, column_id, columns_in

KeyLists = Mapping[str, list[Any]]
"""Keys by the parameter that they are bound to."""
Lists = Mapping[str, Any]
"""Keys, and rows as lists or as a text."""


class KeyTest(NamedTuple):
    """That a column is one of a list."""

    name: str
    column: ColumnId


def key_test(conjunct: exp.Expr, lists: KeyLists) -> KeyTest | None:
    """What `early_values` wrote: `x IN (SELECT unnest($keys))`, `x = ANY ($keys)`, `x IN ($keys)`.

    It compares values with others of the same declared type, and cannot fail.
    """
    if not lists:
        return None
    test = bare(conjunct)
    names = {p.name for p in conjunct.find_all(exp.Placeholder)}
    id = column_id(bare(test.this)) if type(test) in (exp.In, exp.EQ) else None
    if id is None or len(names) != 1 or not names <= lists.keys() or columns_in(conjunct) != {id}:
        return None
    (name,) = names
    return KeyTest(name, id)
