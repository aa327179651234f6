"""A dialect of which little is known: enough to plan and run statements, moving more rows than need be.

Every expression is its engine's to compute. Only whole numbers tell where a row is, and no aggregate is
split.
"""

from __future__ import annotations

from collections.abc import Sequence

import sqlglot
from sqlglot import exp

from shardwise.catalog.model import Catalog
from shardwise.catalog.shardings import UNKNOWN, Unknown, Value
from shardwise.catalog.types import Family, type_family
from shardwise.errors import ProgrammingError, Unplannable
from shardwise.planner import literals
from shardwise.planner.aggregates import Combined
from shardwise.planner.dialects.base import Dialect, Moment
from shardwise.planner.families import TypeOf
from shardwise.planner.parameters import literal_of
from shardwise.planner.tokens import parameters


class _WholeNumbers:
    keys_fit = True

    def read(self, expr: exp.Expr) -> literals.Typed | None:
        found = literals.read(expr)
        return found if found is not None and found.kind is literals.Kind.INT else None

    def constant(self, expr: exp.Expr, family: Family) -> literals.Constant:
        return literals.constant(expr, family) if self._tells(expr, family) else UNKNOWN

    def constants(self, exprs: Sequence[exp.Expr], family: Family) -> list[literals.Constant]:
        return [self.constant(expr, family) for expr in exprs]

    def bound(self, expr: exp.Expr, family: Family) -> Value | Unknown:
        return literals.bound(expr, family) if self._tells(expr, family) else UNKNOWN

    def bounds(self, exprs: Sequence[exp.Expr], family: Family) -> list[Value | Unknown]:
        return [self.bound(expr, family) for expr in exprs]

    def _tells(self, expr: exp.Expr, family: Family) -> bool:
        return family is Family.INT and self.read(expr) is not None


def _check(statement: exp.Expr) -> None:
    """Nothing is known to refuse."""


def _fixed(ast: exp.Expr, moment: Moment, catalog: Catalog) -> exp.Expr:
    return ast


def _no_value(call: exp.Expr, moment: Moment) -> exp.Expr | None:
    return None


def _unmodelled(ast: exp.Expr, catalog: Catalog) -> str | None:
    return None


def _no_parts(calls: Sequence[exp.Expr], type_of: TypeOf) -> Combined | None:
    return None


def plain_dialect(name: str) -> Dialect:
    """The dialect of sqlglot's name `name`."""

    def trees(sql: str) -> list[exp.Expr]:
        dialect = sqlglot.Dialect.get_or_raise(name)
        tokens = parameters(dialect.tokenize(sql))
        return [tree for tree in dialect.parser().parse(tokens, sql) if tree is not None]

    def family(type_text: str) -> Family:
        return type_family(type_text, name)

    return Dialect(
        name=name,
        trees=trees,
        check=_check,
        fixed=_fixed,
        value_of=_no_value,
        unmodelled=_unmodelled,
        literal_of=literal_of,
        constants=_WholeNumbers(),
        combine=_no_parts,
        family=family,
        is_alone=True,
        doubts=(ProgrammingError, Unplannable),
        off=frozenset({"run_first", "keys_first", "order_joins"}),
    )
