"""The sqlite dialect's: keys, as one text of JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from sqlglot import exp

from shardwise.catalog.sqlite_types import affinity
from shardwise.errors import InternalError
from shardwise.plan.kinds import KeyList
from shardwise.plan.nodes import ColumnId, Output
from shardwise.plan.run import Bound
from shardwise.planner.early_values.base import TEXTS_MAX, Bind, Collations
from shardwise.planner.equivalence import Types, is_binary


class SQLiteValues:
    """Keys alone: whole numbers and texts, as JSON.

    A value has a type of its own there, whatever its column's is, and `=` converts by the affinities of both
    sides. Between columns of one kind of affinity it converts nothing, nor does IN beside values that the
    column's affinity leaves as they are: a text that looks like no number, and any whole number.
    """

    are_lazy = True
    list_type: type[list[Any]] = KeyList

    def value_may_travel(self, type_text: str | None) -> bool:
        return False

    def travels(self, bound: Bound) -> bool:
        return False

    def may_travel(self, column: Output, collation: str | None) -> bool:
        return False

    def rows_travel(self, bound: Bound, collations: Collations) -> bool:
        return False

    def as_rows(self, bound: Bound, collations: Collations, bind: Bind) -> exp.Select:
        raise InternalError("no rows travel in the sqlite dialect")

    def keys_meet(self, one: ColumnId, other: ColumnId, types: Types) -> bool:
        outputs = types.get(one), types.get(other)
        if any(o is None or o.type is None or not is_binary(o.collation) for o in outputs):
            return False
        kinds = {_kind_of_affinity(o.type) for o in outputs if o is not None and o.type is not None}
        return len(kinds) == 1 and None not in kinds

    def keys_travel(self, bound: Bound, position: int) -> bool:
        values = [row[position] for row in bound.rows or ()]
        texts = [value for value in values if type(value) is str]
        are_kept = all(value is None or type(value) in (int, str) for value in values)
        are_texts = not any("\0" in text or _is_number(text) for text in texts)
        return are_kept and are_texts and sum(map(len, texts)) <= TEXTS_MAX

    def value(self, parameter: exp.Expr, type_text: str) -> exp.Expr:
        return parameter

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
        raise InternalError("no rows travel in the sqlite dialect")


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
