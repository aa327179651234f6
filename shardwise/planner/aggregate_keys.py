"""Aggregates computed by grouping by their arguments: the second road of `aggregates`."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from shardwise.planner.aggregate_names import aggregate_name
from shardwise.planner.aggregate_sql import Call, Split, as_node, build, is_idempotent, slot
from shardwise.planner.families import TypeOf, kind_of
from shardwise.planner.functions import is_constant

_PLAIN = frozenset({"integer", "decimal", "BOOLEAN", "DATE", "TIMESTAMP", "UUID"})


def by_argument(call: exp.Expr, parts: Call, type_of: TypeOf | None) -> Split:
    """Group by arguments, ordering values and condition; compute the call itself in the merge.

    Under FILTER the keys are CASE WHEN condition THEN value END: rows that do not count make one
    group, and a value that would raise for them is not computed.
    """
    keys: list[exp.Expr] = []
    guard = parts.condition if parts.condition is not None and not is_constant(parts.condition) else None

    def key(value: exp.Expr) -> exp.Expr:
        if is_constant(value):
            return as_node(value.copy())
        if isinstance(value, exp.Collate):
            return exp.Collate(this=key(value.this), expression=value.expression.copy())
        if isinstance(value, exp.Tuple):
            return exp.Tuple(expressions=[key(item) for item in value.expressions])
        return _keyed(keys, value if guard is None else _guarded(guard, value))

    def condition(value: exp.Expr) -> exp.Expr:
        return as_node(value.copy()) if guard is None else _keyed(keys, value)

    final = _rewritten(call, key, condition)
    repeats = not (parts.distinct or is_idempotent(parts))
    if repeats and parts.name in ("list", "string_agg") and not _looks_as_it_compares(parts.args[0], type_of):
        _keyed(keys, _discriminator(parts.args[0], guard))
    return Split(keys=tuple(keys), needs_count=repeats or not keys, final=final)


def _keyed(keys: list[exp.Expr], value: exp.Expr) -> exp.Expr:
    text = value.sql("duckdb")
    for position, known in enumerate(keys):
        if known.sql("duckdb") == text:
            return slot(f"k{position}")
    keys.append(as_node(value.copy()))
    return slot(f"k{len(keys) - 1}")


def _guarded(guard: exp.Expr, value: exp.Expr) -> exp.Expr:
    return build("CASE WHEN c THEN v END", c=guard, v=value)


def _looks_as_it_compares(value: exp.Expr, type_of: TypeOf | None) -> bool:
    """Whether equal values of this expression are the same value; not known of text, for its collation."""
    kind = kind_of(value, type_of)
    return is_constant(value) or (kind is not None and kind.family in _PLAIN)


def _discriminator(value: exp.Expr, guard: exp.Expr | None) -> exp.Expr:
    """Keeps apart what is equal and yet looks different: -0.0 and 0.0, a month and 30 days."""
    return build("ENCODE(CAST(x AS TEXT))", x=value if guard is None else _guarded(guard, value))


def _rewritten(
    node: exp.Expr,
    key: Callable[[exp.Expr], exp.Expr],
    condition: Callable[[exp.Expr], exp.Expr],
) -> exp.Expr:
    """A copy of the call with arguments, ordering values and condition replaced."""
    if isinstance(node, exp.Where):
        return exp.Where(this=condition(node.this))
    wrappers = (exp.Filter, exp.WithinGroup, exp.IgnoreNulls, exp.Order, exp.Ordered, exp.Distinct)
    if not isinstance(node, wrappers) and aggregate_name(node) is None:
        return key(node)
    copy = as_node(node.copy())
    for name, value in node.args.items():
        if isinstance(value, list):
            copy.set(name, [_rewritten(item, key, condition) for item in value])
        elif isinstance(value, exp.Expr):
            copy.set(name, _rewritten(value, key, condition))
    return copy
