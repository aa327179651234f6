"""The duckdb dialect: what the rest of the planner was written for."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import sqlglot
from sqlglot import exp

from shardwise.catalog.model import Catalog
from shardwise.catalog.shardings import Unknown, Value
from shardwise.catalog.types import Family, type_family
from shardwise.plan.sql.reader import ANY
from shardwise.planner import literals
from shardwise.planner.aggregates import combine
from shardwise.planner.allowed import check_allowed
from shardwise.planner.dialects.base import Dialect, Mark, Moment
from shardwise.planner.families import Kind
from shardwise.planner.parameters import literal_of
from shardwise.planner.tokens import mended

_SETTINGS = sqlglot.Dialect.get_or_raise("duckdb")


def _trees(sql: str, mark: Mark | None = None) -> list[exp.Expr]:
    tokens = _SETTINGS.tokenize(sql)
    tokens = mended(tokens if mark is None else mark(tokens))
    return [tree for tree in _SETTINGS.parser().parse(tokens, sql) if tree is not None]


def _fixed(ast: exp.Expr, moment: Moment, catalog: Catalog) -> exp.Expr:
    """As it is: the binder replaces stable calls and binds views one by one."""
    return ast


def _value_of(call: exp.Expr, moment: Moment) -> exp.Expr | None:
    return moment.value_of(call)


def _unmodelled(ast: exp.Expr, catalog: Catalog) -> str | None:
    """Nothing that could be said beforehand: the binder says it."""
    return None


class _Constants:
    keys_fit = True

    def read(self, expr: exp.Expr) -> literals.Typed | None:
        return literals.read(expr)

    def constant(self, expr: exp.Expr, family: Family) -> literals.Constant:
        return literals.constant(expr, family)

    def constants(self, exprs: Sequence[exp.Expr], family: Family) -> list[literals.Constant]:
        return literals.constants(exprs, family)

    def bound(self, expr: exp.Expr, family: Family) -> Value | Unknown:
        return literals.bound(expr, family)

    def bounds(self, exprs: Sequence[exp.Expr], family: Family) -> list[Value | Unknown]:
        return literals.bounds(exprs, family)


def _wide(value: exp.Expr, kind: Kind) -> exp.Expr | None:
    """A HUGEINT, or a DECIMAL that is not computed with in 64 bits; a sum is one already."""
    if kind.family == "integer":
        return value if kind.digits > 20 else exp.cast(value.copy(), "HUGEINT", dialect="duckdb")
    if kind.family == "decimal":
        to = f"DECIMAL(19, {kind.scale})"
        return value if kind.digits > 18 else exp.cast(value.copy(), to, dialect="duckdb")
    return None


DUCKDB = Dialect(
    name="duckdb",
    trees=_trees,
    check=check_allowed,
    fixed=_fixed,
    value_of=_value_of,
    unmodelled=_unmodelled,
    literal_of=literal_of,
    constants=_Constants(),
    combine=combine,
    reader=ANY,
    has_marks=True,
    has_semi_join=True,
    has_fields=True,
    wide=_wide,
    family=partial(type_family, dialect="duckdb"),
)
