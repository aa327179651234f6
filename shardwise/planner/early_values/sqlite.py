"""The sqlite dialect's: values with their columns' affinities, keys and rows as one text of JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from sqlglot import exp

from shardwise.catalog.sqlite_types import affinity
from shardwise.plan.kinds import KeyList
from shardwise.plan.nodes import ColumnId, Output
from shardwise.plan.run import Bound
from shardwise.planner.early_values.base import TEXTS_MAX, Bind, Collations
from shardwise.planner.early_values.sqlite_rows import (
    NO_AFFINITY,
    fit,
    is_numeric,
    json_rows,
    rows_text,
    with_affinity,
)
from shardwise.planner.equivalence import Types, is_binary


class SQLiteValues:
    """A value has a type of its own there, whatever its column's is, and `=` converts by the affinities of
    both sides: what travels has its column's affinity again. `Bound.types` are affinities.

    Between columns of one kind of affinity `=` converts nothing. Nor does IN beside values that the column's
    affinity leaves as they are: whole numbers, and texts; in a numeric column, of texts those that look like
    no number.
    """

    are_lazy = True
    lists_compare_alike = False
    list_type: type[list[Any]] = KeyList

    def value_may_travel(self, type_text: str | None) -> bool:
        return True

    def travels(self, bound: Bound) -> bool:
        return all(_is_same(bound.types[0], row[0]) for row in bound.rows or ())

    def may_travel(self, column: Output, collation: str | None) -> bool:
        return is_binary(column.collation) and (column.type or "").upper() != "BLOB"

    def rows_travel(self, bound: Bound, collations: Collations) -> bool:
        return fit(bound.types, bound.rows or ())

    def as_rows(self, bound: Bound, collations: Collations, bind: Bind) -> exp.Select:
        rows = bound.rows or ()
        return json_rows(bound.types, rows, bind("json", rows_text(rows)))

    def keys_meet(self, one: ColumnId, other: ColumnId, types: Types) -> bool:
        outputs = types.get(one), types.get(other)
        if any(o is None or o.type is None or not is_binary(o.collation) for o in outputs):
            return False
        kinds = {_kind_of_affinity(o.type) for o in outputs if o is not None and o.type is not None}
        return len(kinds) == 1 and None not in kinds

    def keys_travel(self, bound: Bound, position: int) -> bool:
        values = [row[position] for row in bound.rows or ()]
        texts = [value for value in values if type(value) is str]
        is_converted = bound.types[position] not in ("TEXT", "BLOB")
        are_kept = all(value is None or type(value) in (int, str) for value in values)
        are_texts = not any("\0" in text or (is_converted and _is_number(text)) for text in texts)
        return are_kept and are_texts and sum(map(len, texts)) <= TEXTS_MAX

    def value(self, parameter: exp.Expr, type_text: str) -> exp.Expr:
        return parameter if type_text == NO_AFFINITY else with_affinity(parameter, type_text)

    def is_among(self, column: exp.Expr, keys: exp.Expr, type_text: str) -> exp.Expr:
        each = exp.From(this=exp.Anonymous(this="json_each", expressions=[keys]))
        values = exp.Select(expressions=[exp.to_identifier("value")], from_=each)
        return exp.In(this=column, query=exp.Subquery(this=values))

    def are_among(
        self,
        columns: Sequence[exp.Expr],
        keys: Sequence[tuple[Any, ...]],
        type_texts: Sequence[str],
        bind: Bind,
    ) -> exp.Expr:
        rows = exp.Subquery(this=json_rows(type_texts, keys, bind("together", rows_text(keys))))
        value = columns[0] if len(columns) == 1 else exp.Tuple(expressions=list(columns))
        return exp.In(this=value, query=rows)


def _is_same(type_text: str, value: Any) -> bool:
    """Whether the value is the same after a cast that gives it the affinity."""
    if value is None or type_text == NO_AFFINITY:
        return True
    if is_numeric(type_text):
        return type(value) is float or (type(value) is int and type_text != "REAL")
    return type(value) is (str if type_text == "TEXT" else bytes)


def _kind_of_affinity(type_text: str) -> str | None:
    """Columns of one kind are compared as their values are. None: ANY, which means two things."""
    if type_text.strip().upper() == "ANY":
        return None
    found = affinity(type_text)
    return found if found in ("TEXT", "BLOB") else "NUMERIC"


def _is_number(text: str) -> bool:
    """Whether an affinity might convert it: Python takes for a number whatever SQLite does, and more."""
    try:
        float(text)
    except ValueError:
        return False
    return True


SQLITE_VALUES: Final = SQLiteValues()
