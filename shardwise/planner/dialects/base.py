"""What the planner asks of a query dialect: one object per dialect."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, Protocol

from sqlglot import exp
from sqlglot.tokenizer_core import Token

from shardwise.catalog.model import Catalog, Column
from shardwise.catalog.shardings import Unknown, Value
from shardwise.catalog.types import Family
from shardwise.errors import Error
from shardwise.plan.nodes import Node
from shardwise.plan.run import Shape
from shardwise.plan.sql.reader import Reader
from shardwise.planner.aggregates import Combined
from shardwise.planner.dialects.duckdb_names import name_of
from shardwise.planner.early_values import DUCKDB_VALUES, EarlyValues
from shardwise.planner.families import Kind, TypeOf
from shardwise.planner.literals import Constant, Typed
from shardwise.planner.sort_keys import DUCKDB_SORT_KEYS, SortKeys
from shardwise.planner.spellings import Folds


class Moment(Protocol):
    """The statement's own values, as `planner.context.Context` has them."""

    @property
    def now(self) -> datetime: ...
    def value_of(self, call: exp.Expr) -> exp.Expr | None: ...


class Constants(Protocol):
    """Constants of a predicate as values of a shard key's type: what `planner.literals` says of each.

    `keys_fit`: each row's key is of the type that the catalog declares, NULL aside. Where it need not be,
    only what a comparison *equals* says where a row is.
    """

    keys_fit: bool

    def read(self, expr: exp.Expr) -> Typed | None: ...
    def constant(self, expr: exp.Expr, family: Family) -> Constant: ...
    def constants(self, exprs: Sequence[exp.Expr], family: Family) -> list[Constant]: ...
    def bound(self, expr: exp.Expr, family: Family) -> Value | Unknown: ...
    def bounds(self, exprs: Sequence[exp.Expr], family: Family) -> list[Value | Unknown]: ...


Side = Literal["left", "right"]
"""Of a join."""

Mark = Callable[[list[Token]], list[Token]]
"""Puts marks on a text's tokens before they are read."""

Combine = Callable[[Sequence[exp.Expr], TypeOf], Combined | None]
"""How several aggregate calls are computed in parts, as `planner.aggregates.combine` says it."""


def _no_value(call: exp.Expr, moment: Moment) -> exp.Expr | None:
    """`fixed` has written them all out."""
    return None


def _never(_: exp.Expr) -> bool:
    return False


def _as_it_is(query: exp.Query) -> exp.Query:
    return query


Declared = Callable[[], Mapping[str, Mapping[str, str]]]


def _merged(query: exp.Query, _: Declared) -> exp.Query:
    return query


def _declared(column: Column) -> str | None:
    return column.collation


def _left(_: str | None, __: str | None) -> Side:
    return "left"


def _not_relied_on(_: Column) -> Folds | None:
    return None


def _not_wide(_: exp.Expr, __: Kind) -> exp.Expr | None:
    return None


def _no_shapes(_: Node) -> tuple[Shape, ...]:
    return ()


def _no_affinities(_: Node) -> tuple[str, ...]:
    return ()


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """One query dialect: how its text is read, and what its engine makes of statements and values."""

    name: str

    # -- reading ------------------------------------------------------------------------------

    trees: Callable[..., list[exp.Expr]]
    """A text's statements; raises sqlglot's errors. With `has_marks` it takes a `Mark` too."""
    has_marks: bool = False
    """Whether the plan cache may take literals out of a text."""
    check: Callable[[exp.Expr], None]
    """Refuses what a user's statement may not call or read."""
    fixed: Callable[[exp.Expr, Moment, Catalog], exp.Expr]
    """The statement with what its moment decides written out, and its views."""
    value_of: Callable[[exp.Expr, Moment], exp.Expr | None] = _no_value
    """The constant that a single stable call stands for."""
    literal_of: Callable[[Any], exp.Expr | None]
    """A Python value, as it is written."""
    name_of: Callable[[exp.Expr], str] = name_of
    """The name of a select item that has no alias."""
    using_reads: Callable[[str | None, str | None], Side | None] = _left
    """Whose column an inner join's USING reads, by the types of the two; None where it has neither's type, or
    that is not known. A left join's reads the left one, and has to be of its type too."""
    has_semi_join: bool = False
    """Whether the dialect has a word for it."""
    has_fields: bool = False
    """Whether `b.x` may be a field of the column `b`; else `b` is a table, whatever columns are called."""
    finds_subqueries: bool = True
    """Whether a subquery that is written as a key of GROUP BY is that key."""
    finds_keys_within: bool = True
    """Whether it is, beside grouping sets, where it is a part of an expression too, not only as a select item
    or in ORDER BY."""

    # -- statements that are kept whole --------------------------------------------------------

    unmodelled: Callable[[exp.Expr, Catalog], str | None]
    """What of a statement the nodes have no form for; None if nothing."""
    doubts: tuple[type[Error], ...] = ()
    """Errors of the binder's that the engine need not share."""
    filters_whole: bool = False
    """Whether its tables have its filters, of which each `is_plain`."""
    is_plain: Callable[[exp.Expr], bool] = _never
    """Whether it is made of operators and functions that give the same for the same row."""

    # -- planning -----------------------------------------------------------------------------

    off: frozenset[str] = frozenset()
    """Passes that do not know the dialect."""
    is_alone: bool = False
    """Whether only sources of the same dialect are asked."""
    constants: Constants
    combine: Combine
    never_fails: Callable[[exp.Expr], bool] = _never
    """What the engine computes of any row, beside what is known to be so anyhow."""
    sums_overflow: bool = False
    """Whether a SUM of whole numbers is of their own width, and may raise."""
    wide: Callable[[exp.Expr, Kind], exp.Expr | None] = _not_wide
    """An exact number of a declared kind as one that may be added up, and multiplied by a number of rows,
    without overflow (see `wide_numbers`); None where a column may hold what is no such number."""
    early: EarlyValues = DUCKDB_VALUES
    """Values that ran first."""
    sort_keys: SortKeys = DUCKDB_SORT_KEYS

    # -- how values compare -------------------------------------------------------------------

    family: Callable[[str], Family]
    """The kind of a column type of which two that are equal are equal to the engine and to a sharding."""
    collation: Callable[[Column], str | None] = _declared
    """That of a column as the dialect has it: None, or BINARY, where two values that are equal are the same
    to a sharding."""
    rows_equal_nulls: bool = True
    """Whether two rows are equal that have NULL in the same place: (1, NULL) = (1, NULL)."""
    folds: Callable[[Column], Folds | None] = _not_relied_on
    """What it takes as equal, where an EXACT column is known by it; None where EXACT says nothing."""
    carries_collations: bool = False
    """Whether the merge compares a fragment's columns as the shards do, computed ones too: but for the digits
    of those that `quotients` tells of, if the reader cuts them."""

    # -- text for the engine ------------------------------------------------------------------

    reader: Reader
    """The engine as the reader of a query."""
    readable: Callable[[exp.Query], exp.Query] = _as_it_is
    """A query that was written of a tree as the engine reads it; it may be edited in place."""
    merged: Callable[[exp.Query, Declared], exp.Query] = _merged
    """The merge's query as its engine is to have it; it may ask for the declared types of those of streams'
    columns that are a table's, by stream and name."""
    shapes: Callable[[Node], tuple[Shape, ...]] = _no_shapes
    """Those of a fragment's columns, where the merge is SQLite."""
    affinities: Callable[[Node], tuple[str, ...]] = _no_affinities
    """What columns have there in the place of types; none in other dialects."""
