"""Aggregates computed from partials that combine: the first road of `aggregates`.

A partial over no rows, which a global aggregate on an empty shard yields, is NULL and is
ignored by the final, or is marked by a count. What no table or function here knows goes
by its argument.
"""

from __future__ import annotations

from sqlglot import exp

from shardwise.planner.aggregate_moments import ONE_ARGUMENT, TWO_ARGUMENTS, split_moments
from shardwise.planner.aggregate_names import ORDERED
from shardwise.planner.aggregate_sql import Call, Split, build, filtered, is_not_null, merge, slot
from shardwise.planner.families import TypeOf, kind_of
from shardwise.planner.functions import is_constant

_SAME: dict[str, str] = {
    "bit_and": "BIT_AND(p0)",
    "bit_or": "BIT_OR(p0)",
    "bit_xor": "BIT_XOR(p0)",
    "bool_and": "BOOL_AND(p0)",
    "bool_or": "BOOL_OR(p0)",
    "bitstring_agg": "BIT_OR(p0)",  # with bounds: every shard's string has the same length
    "count": "CAST(COALESCE(SUM(p0), 0) AS BIGINT)",
    "count_star": "CAST(COALESCE(SUM(p0), 0) AS BIGINT)",
    "count_if": "SUM(p0)",
    "kahan_sum": "KAHAN_SUM(p0)",
    "list": "FLATTEN(LIST(p0) FILTER (WHERE NOT p0 IS NULL))",
    "max": "MAX(p0)",
    "min": "MIN(p0)",
    "product": "PRODUCT(p0)",
    "regr_count": "CAST(COALESCE(SUM(p0), 0) AS UINTEGER)",
    "sum": "SUM(p0)",
    "sum_no_overflow": "SUM(p0)",
}
"""Functions whose one partial is the call itself."""

_RATIO: dict[str, tuple[str, str, str]] = {
    "favg": ("KAHAN_SUM(x)", "COUNT(x)", "KAHAN_SUM(p0) / SUM(p1)"),
    "geomean": ("SUM(LN(x))", "COUNT(x)", "EXP(SUM(p0) / SUM(p1))"),
    "regr_avgx": ("SUM(CAST(y AS DOUBLE))", "COUNT(*)", "SUM(p0) / SUM(p1)"),
    "regr_avgy": ("SUM(CAST(x AS DOUBLE))", "COUNT(*)", "SUM(p0) / SUM(p1)"),
    "weighted_avg": ("SUM(x * y)", "SUM(CASE WHEN NOT x IS NULL THEN y ELSE 0 END)", "SUM(p0) / SUM(p1)"),
}
"""Functions that divide a sum by a sum; x and y are the first and second argument as written."""

_JSON_OR_NULL = "CASE WHEN {v} IS NULL THEN CAST('null' AS JSON) ELSE TO_JSON({v}) END"
_MEMBER = f"""CASE WHEN x IS NULL THEN ERROR('json_group_object key cannot be NULL')
  ELSE TO_JSON(CAST(x AS TEXT)) END || ':' || {_JSON_OR_NULL.format(v="y")}"""

_TEXTS: dict[str, tuple[str, str]] = {
    "json_group_array": (
        f"STRING_AGG({_JSON_OR_NULL.format(v='x')}, ',')",
        "CAST('[' || STRING_AGG(p0, ',') || ']' AS JSON)",
    ),
    "json_group_object": (f"STRING_AGG({_MEMBER}, ',')", "CAST('{' || STRING_AGG(p0, ',') || '}' AS JSON)"),
    "variant_group_array": ("LIST(x)", "CAST(FLATTEN(LIST(p0) FILTER (WHERE NOT p0 IS NULL)) AS VARIANT)"),
}


def by_partials(call: Call, type_of: TypeOf | None) -> Split | None:
    """The split by partials, or None: by its argument."""
    if call.name in ("any_value", "first", "last"):
        return _split_first(call)
    if call.order and (call.name in ORDERED or call.name.startswith("arg_")):
        return None  # the order shows, or breaks ties
    if call.name.startswith("arg_"):
        return _split_arg(call)
    if call.name in ("min", "max") and len(call.args) == 2:
        return _split_top(call)
    if call.name in ONE_ARGUMENT or call.name in TWO_ARGUMENTS:
        return split_moments(call)
    if call.name in _SAME:
        return Split(partials=(_plain(call),), final=merge(_SAME[call.name]))
    if call.name == "string_agg":
        separator = call.args[1] if len(call.args) > 1 else exp.Literal.string(",")
        if not is_constant(separator):
            return None
        return Split(partials=(_plain(call),), final=merge("STRING_AGG(p0, s)", s=separator))
    if call.name == "avg":
        kind = kind_of(call.args[0], type_of)
        if kind is None or not kind.is_numeric:
            return None
        partials = (call.partial("SUM(x)"), call.partial("COUNT(x)"))
        return Split(partials=partials, final=merge("CAST(SUM(p0) AS DOUBLE) / SUM(p1)"))
    if call.name in _RATIO:
        return _split_ratio(call)
    if call.name in _TEXTS:
        partial, final = _TEXTS[call.name]
        return Split(partials=(call.partial(partial),), final=merge(final))
    return None


def _plain(call: Call) -> exp.Expr:
    """The call without its DISTINCT and ORDER BY, which say nothing here."""
    if call.name == "count_star" or not call.args:
        return call.having(build("COUNT(*)"))
    names = ", ".join("xyz"[: len(call.args)])
    return call.partial(f"{call.name}({names})")


def _split_ratio(call: Call) -> Split:
    numerator, denominator, final = _RATIO[call.name]
    more = [exp.and_(*map(is_not_null, call.args))] if call.name.startswith("regr_") else []
    return Split(
        partials=(call.partial(numerator, *more), call.partial(denominator, *more)), final=merge(final)
    )


def _split_first(call: Call) -> Split:
    """`first(x ORDER BY y)`: x and the ordering values of that row, and whether there is a row.

    Ordering values of tied rows are equal, so it does not matter which row they are of.
    """
    function = call.name
    values = [ordered for ordered in call.order if not is_constant(ordered.this)]
    order = exp.Order(expressions=[ordered.copy() for ordered in values])

    def pick(name: str, value: exp.Expr) -> exp.Expr:
        this = (
            exp.Order(this=value.copy(), expressions=[o.copy() for o in order.expressions])
            if values
            else value
        )
        return build(f"{name}(x)", x=this)

    x = call.args[0]
    ignores_nulls = function == "any_value"
    more = [is_not_null(x)] if ignores_nulls else []
    partials = [call.having(pick(function, x))]
    partials += [call.having(pick("FIRST" if ignores_nulls else function, o.this), *more) for o in values]
    merged: exp.Expr = slot("p0")
    if values:
        slots = [_reordered(o, slot(f"p{i}")) for i, o in enumerate(values, 1)]
        merged = exp.Order(this=merged, expressions=slots)
    final = build(f"{function}(x)", x=merged)
    if not ignores_nulls:
        final = filtered(final, merge(f"p{len(partials)} > 0"))
        partials.append(call.having(build("COUNT(*)")))
    return Split(partials=tuple(partials), final=final)


def _reordered(ordered: exp.Ordered, by: exp.Expr) -> exp.Ordered:
    copy = ordered.copy()
    copy.set("this", by)
    return copy


def _split_arg(call: Call) -> Split | None:
    """`arg_min(x, y)`: x, and the y of the same row, for the shard that wins is known by y.

    Of {(7,5), (NULL,1)} and {(10,2)} the shards deliver (7,5) and (10,2), not (7,1): rows whose
    x is NULL do not count. arg_min_null lets them; arg_min_nulls_last lets NULL as y as well.
    """
    extreme = "MIN" if call.name.startswith("arg_min") else "MAX"
    x = call.args[0]
    skips_null = call.name in ("arg_min", "arg_max")
    more = [is_not_null(x)] if skips_null else []
    if len(call.args) == 3:
        count = call.args[2]
        if not skips_null or not isinstance(count, exp.Literal):
            return None
        best = call.partial(f"{call.name}({{'_by': y, '_of': x}}, y, z)", *more)
        top = _top("p0", "ASC" if extreme == "MIN" else "DESC", count)
        return Split(partials=(best,), final=build("LIST_TRANSFORM(t, lambda _z: _z._of)", t=top))
    partials = [call.partial(f"{call.name}(x, y)"), call.partial(f"{extreme}(y)", *more)]
    final = merge(f"{call.name}(p0, p1)")
    if call.name.endswith("nulls_last"):
        final = filtered(final, merge("p2 > 0"))
        partials.append(call.having(build("COUNT(*)")))
    return Split(partials=tuple(partials), final=final)


def _split_top(call: Call) -> Split | None:
    """`min(x, n)`: the n first of the shards' n first."""
    if not isinstance(call.args[1], exp.Literal):
        return None
    direction = "ASC" if call.name == "min" else "DESC"
    return Split(partials=(_plain(call),), final=_top("p0", direction, call.args[1]))


def _top(name: str, direction: str, count: exp.Expr) -> exp.Expr:
    # Anonymous: sqlglot makes of LIST_SORT a function that heeds the session's NULL order.
    arguments = [_lists(name), exp.Literal.string(direction), exp.Literal.string("NULLS LAST")]
    return merge("LIST_SLICE(l, 1, m)", l=exp.Anonymous(this="LIST_SORT", expressions=arguments), m=count)


def _lists(name: str) -> exp.Expr:
    return merge("FLATTEN(LIST(p) FILTER (WHERE NOT p IS NULL))", p=slot(name))
