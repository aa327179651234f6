"""How each aggregate function of DuckDB splits into a shard part and a merge part.

Two roads. *Decomposable* functions have partials that combine:

    avg(x)     =>  shards: sum(x) AS p0, count(x) AS p1      merge: sum(p0) / sum(p1)

Everything else that depends on its arguments' values alone goes *by its argument*: the
shards group by the arguments too, and the merge repeats each row as often as it occurred:

    median(x)  =>  shards: x AS k0, count(*) AS n, GROUP BY x      merge: median(k0), each row n times

Both stand side by side in one query (`combine`), so that one hard aggregate does not make
it ship raw rows. A split is right for every argument type that the function takes; where
it would not be, or the type is not known, the second road is taken.

Sound, because the shards' groups partition the rows of the whole group, and each final is
the function over the multiset of rows itself (by its argument) or over partials for which
an associative, commutative combination is written down. Partials of no rows, which a
global aggregate on an empty shard yields, are NULL and ignored, or marked by a count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from shardwise.planner.aggregate_keys import by_argument
from shardwise.planner.aggregate_names import EXACT, MACROS, ORDERED, aggregate_name
from shardwise.planner.aggregate_partials import by_partials
from shardwise.planner.aggregate_sql import (
    Call,
    Split,
    as_node,
    filtered,
    is_idempotent,
    slot_name,
    take_apart,
)
from shardwise.planner.families import TypeOf, kind_of
from shardwise.planner.functions import is_constant, is_volatile

__all__ = [
    "Combined",
    "Split",
    "combine",
    "is_aggregate",
    "is_order_sensitive",
    "slot_name",
    "split_aggregate",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Combined:
    """How several aggregate calls of one query level are computed together.

    Shards: `SELECT groups…, keys, partials, count(*) AS count … GROUP BY groups…, keys`.
    Merge: `SELECT groups…, finals FROM … GROUP BY groups…`; if `expand`, over those rows each
    repeated `count` times (0 times: gone), numbered from 0 in an integer column `i`, as
    by `unnest(range(n)) AS i`.
    """

    partials: tuple[tuple[str, exp.Expr], ...]
    keys: tuple[tuple[str, exp.Expr], ...]
    count: str | None
    expand: bool
    finals: tuple[exp.Expr, ...]
    """One for each call, in order; columns without table: p0…, k0…, i."""


_NEVER = frozenset({"combine_aggr", "variant_group_object"})  # internal to DuckDB: states, VARIANT keys
_REPEATED = "i"
_ROWS = "n"


def is_aggregate(expr: exp.Expr) -> bool:
    """Whether this node calls an aggregate of DuckDB, bare or under FILTER or WITHIN GROUP.

    False for GROUPING and GROUPING_ID, which belong to the grouping sets, and for the
    window-only functions. A call below OVER is the window's, which is for the caller to see.
    """
    while isinstance(expr, exp.Filter | exp.WithinGroup | exp.IgnoreNulls):
        expr = expr.this
    return aggregate_name(expr) is not None


def is_order_sensitive(call: exp.Expr, type_of: TypeOf | None = None) -> bool:
    """Whether the result may depend on the order in which the rows come.

    That are `first`, `list` and their kin, ties of `arg_min` and `mode`, sketches, and sums of
    floating-point numbers (of unknown types: taken for such).
    """
    parts = take_apart(call)
    if parts is None:
        return True
    if parts.name in EXACT:
        return False
    if parts.name in ORDERED:
        keys = [ordered.this for ordered in parts.order]
        return not keys or not all(argument in keys or is_constant(argument) for argument in parts.args)
    if parts.name in ("sum", "avg") and len(parts.args) == 1:
        kind = kind_of(parts.args[0], type_of)
        return kind is None or not kind.is_numeric or kind.family == "float"
    return True


def split_aggregate(call: exp.Expr, type_of: TypeOf | None = None) -> Split | None:
    """The shard part and merge part of one aggregate call; None if it must not be split.

    `call` is left as it is. `type_of` makes it cheaper: without it `avg` goes by its argument, as
    it does for times, and an ordered `list` or `string_agg` ships its argument's text as well.
    """
    parts = take_apart(call)
    if parts is None or parts.name in _NEVER or is_volatile(call) or _has_star(parts):
        return None
    if parts.name == "bitstring_agg" and len(parts.args) != 3:
        return None  # its length is read off the table's statistics
    if parts.name in MACROS and (parts.distinct or parts.order or parts.condition is not None):
        return None  # which DuckDB refuses
    collated = any(node.find(exp.Collate) for node in (*parts.args, *parts.order))
    if not collated and (not parts.distinct or is_idempotent(parts)):
        split = by_partials(parts, type_of)
        if split is not None:
            return split
    return by_argument(call, parts, type_of)


def combine(calls: Sequence[exp.Expr], type_of: TypeOf | None = None) -> Combined | None:
    """All of a query level's aggregate calls together; None if one of them must not be split.

    Equal partials and keys are shared. Where rows are repeated, the finals that combine
    partials see each row once.
    """
    partials: dict[str, tuple[str, exp.Expr]] = {}
    keys: dict[str, tuple[str, exp.Expr]] = {}
    splits: list[tuple[Split, dict[str, str]]] = []
    for call in calls:
        split = split_aggregate(call, type_of)
        if split is None:
            return None
        names = {f"p{i}": _shared(partials, "p", item) for i, item in enumerate(split.partials)}
        names |= {f"k{i}": _shared(keys, "k", item) for i, item in enumerate(split.keys)}
        splits.append((split, names))
    expand = any(split.needs_count for split, _ in splits)
    return Combined(
        partials=tuple(partials.values()),
        keys=tuple(keys.values()),
        count=_ROWS if expand else None,
        expand=expand,
        finals=tuple(_place(split, names, once=expand and bool(split.partials)) for split, names in splits),
    )


def _shared(pool: dict[str, tuple[str, exp.Expr]], prefix: str, expr: exp.Expr) -> str:
    # By text: sqlglot's equality takes j -> '$.A' for j -> '$.a'.
    return pool.setdefault(expr.sql("duckdb"), (f"{prefix}{len(pool)}", as_node(expr)))[0]


def _place(split: Split, names: dict[str, str], *, once: bool) -> exp.Expr:
    def column(node: exp.Expr) -> exp.Expr:
        name = slot_name(node)
        return node if name is None else exp.column(names.get(name, name))

    final = as_node(split.final.copy().transform(column, copy=False))
    return _first_time_only(final) if once else final


def _first_time_only(final: exp.Expr) -> exp.Expr:
    """`final` with each of its aggregates restricted to the first of a row's repetitions."""
    condition = exp.EQ(this=exp.column(_REPEATED), expression=exp.Literal.number(0))
    wrappers = (exp.Filter, exp.WithinGroup, exp.IgnoreNulls)
    for node in list(final.walk()):
        if not is_aggregate(node) or isinstance(node.parent, wrappers):
            continue
        if node is final:
            return filtered(node, condition)
        node.replace(filtered(node, condition))
    return final


def _has_star(call: Call) -> bool:
    """`count(t.*)`, `sum(COLUMNS(*))`: to be expanded by whoever knows the columns; count(*) is no star."""
    if call.name == "count" and len(call.args) == 1 and isinstance(call.args[0], exp.Star):
        return False
    return any(argument.find(exp.Star, exp.Columns) for argument in call.args) or bool(
        call.distinct and not call.args
    )
