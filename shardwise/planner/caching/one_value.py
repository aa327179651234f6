"""A scan that is limited by `key = ?` alone: what most statements that are run often have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlglot import exp

from shardwise.catalog.model import Sharding
from shardwise.catalog.shardings import Value, canonical
from shardwise.catalog.types import Family
from shardwise.errors import Error
from shardwise.plan.holes import Written, unquoted
from shardwise.plan.nodes import Scan
from shardwise.planner.shard_keys import Place, ShardKeys

_FAR = 1 << 62
_FAMILIES = {
    "duckdb": frozenset(Family),
    # Of text, collations decide.
    "mysql": frozenset((Family.INT,)),
    "postgres": frozenset((Family.INT,)),
}


class OneValue(NamedTuple):
    """The parameter that a scan's only key, a plain column of `family`, must equal."""

    name: str
    family: Family
    place: Place

    def key(self, given: Any) -> Value:
        """The key that a value is; None where that takes thinking (`literals.py` does it)."""
        value = self._plain(given)
        try:
            return None if value is None else canonical(value, self.family)
        except Error:
            return None

    def _plain(self, given: Any) -> Value:
        if type(given) is Written:
            given = unquoted(given) if given.is_string else int(given) if given.isdigit() else None
        if type(given) is int:
            return given if self.family is Family.INT and -_FAR < given < _FAR else None
        return given if type(given) is str and self.family is Family.TEXT else None


def one_value(scan: Scan, conjuncts: Sequence[exp.Expr], sharding: Sharding, dialect: str) -> OneValue | None:
    """None if the predicates are not of that kind."""
    if dialect not in _FAMILIES or len(conjuncts) != 1 or type(conjuncts[0]) is not exp.EQ:
        return None
    column, value = conjuncts[0].this, conjuncts[0].expression
    if type(column) is not exp.Column:
        column, value = value, column
    if type(column) is not exp.Column or type(value) is not exp.Placeholder:
        return None
    keys = ShardKeys(scan.rel, scan.table, sharding, dialect, {})
    parts = [part for key in keys.keys for part in key.parts]
    if len(parts) != 1 or parts[0].target != keys.target(column) or parts[0].expr is not None:
        return None
    if not parts[0].place.is_whole or parts[0].family not in _FAMILIES[dialect]:
        return None
    return OneValue(value.name, parts[0].family, parts[0].place)
