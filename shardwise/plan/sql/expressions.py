"""Expressions: parentheses where an operator would bind otherwise, and what may not be doubled."""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp

from shardwise.plan.nodes import Node

_LEVELS: dict[type[exp.Expr], int] = {
    level_type: level
    for level, types in enumerate(
        (
            (exp.Or,),
            (exp.And,),
            (exp.Not,),
            (exp.EQ, exp.NEQ, exp.NullSafeEQ, exp.NullSafeNEQ),
            (exp.LT, exp.LTE, exp.GT, exp.GTE),
            (exp.Between, exp.In, exp.Like, exp.ILike, exp.Is),
            (exp.BitwiseAnd, exp.BitwiseOr, exp.BitwiseXor, exp.BitwiseLeftShift, exp.BitwiseRightShift),
            (exp.DPipe,),
            (exp.Add, exp.Sub),
            (exp.Mul, exp.Div, exp.IntDiv, exp.Mod),
            (exp.Neg, exp.BitwiseNot),
        )
    )
    for level_type in types
}
"""Operators from the loosest to the tightest, as sqlglot reads them: a parsed tree is never changed."""

_TIGHT = (exp.Dot, exp.Bracket, exp.AtTimeZone, exp.Collate, exp.Interval, exp.Binary, exp.Unary)
_LOOSE = (exp.Binary, exp.Case, exp.Lambda, exp.Window, exp.Filter, exp.AtTimeZone, exp.Interval)
_FREE = (exp.Paren, exp.Func)

_VOLATILE_TYPES = (exp.Rand, exp.Randn, exp.Uuid)
_VOLATILE_NAMES = frozenset(
    {
        *("random", "rand", "setseed", "uuid", "uuid_short", "uuidv4", "uuidv7", "gen_random_uuid"),
        *("nextval", "currval", "clock_timestamp", "timeofday", "sleep", "last_insert_id"),
    }
)


def parenthesise(root: exp.Expr) -> None:
    """Puts parentheses, in place, around operands that the operator above would otherwise take apart."""
    for node in list(root.walk()):
        level = _LEVELS.get(type(node))
        if level is None:
            continue
        for key in ("this", "expression", "low", "high"):
            child = node.args.get(key)
            below = _LEVELS.get(type(child)) if child is not None else None
            if below is None or (key == "expression" and type(node) is exp.Is):
                continue
            loose = below < level or (below == level and key != "this" and level > 1)
            loose = loose or (type(node) is exp.Neg and type(child) is exp.BitwiseNot)  # -~ is an operator
            if loose and not (type(node) is exp.Not and level == below):
                node.set(key, exp.Paren(this=child))


def put(old: exp.Expr, new: exp.Expr) -> None:
    """Puts `new` where `old` stands, in parentheses where `parenthesise` would not see that it needs them."""
    parent = old.parent
    if (
        (type(new) in _LEVELS or isinstance(new, _LOOSE))
        and isinstance(parent, _TIGHT)
        and type(parent) not in _LEVELS
        and not isinstance(parent, _FREE)
    ) or _is_read_otherwise(new, parent):
        new = exp.Paren(this=new)
    old.replace(new)


def _is_read_otherwise(new: exp.Expr, parent: exp.Expr | None) -> bool:
    """Whether some dialect would take the operand apart: to SQLite `||` binds tightest, LIKE as `=` does."""
    level = _LEVELS.get(type(new))
    if level is None or parent is None:
        return False
    if isinstance(parent, exp.DPipe | exp.JSONExtract | exp.JSONExtractScalar):
        return True
    return level <= _LEVELS[exp.Is] and _LEVELS.get(type(parent), 0) > _LEVELS[exp.Not]


def conjunction(conjuncts: Iterable[exp.Expr]) -> exp.Expr | None:
    """All of them, joined by AND; None if there are none. Takes over the expressions."""
    result: exp.Expr | None = None
    for conjunct in conjuncts:
        part = exp.Paren(this=conjunct) if type(conjunct) in (exp.Or, exp.Xor) else conjunct
        result = part if result is None else exp.And(this=result, expression=part)
    return result


def is_constant(expr: exp.Expr) -> bool:
    """A literal, NULL, a bound value, or one of these cast: nothing that reads a row or may differ."""
    while type(expr) in (exp.Cast, exp.TryCast, exp.Paren, exp.Neg):
        expr = expr.this
    return type(expr) in (exp.Literal, exp.Null, exp.Boolean, exp.Placeholder, exp.Parameter)


def is_ordinal_like(expr: exp.Expr) -> bool:
    """A constant that GROUP BY, ORDER BY or DISTINCT ON would take for a position, or refuse."""
    return is_constant(expr)


def is_volatile(expr: exp.Expr) -> bool:
    """May differ from one evaluation to the next, so it is written once or not at all."""
    for part in expr.walk():
        if isinstance(part, _VOLATILE_TYPES):
            return True
        if type(part) is exp.Anonymous and part.name.casefold() in _VOLATILE_NAMES:
            return True
        plan = part.args.get("plan")
        if plan is not None and any(is_volatile(e) for n in every(plan) for e in n.expressions):
            return True
    return False


def has_lambda(expr: exp.Expr) -> bool:
    """Whether a lambda is in it, which DuckDB binds in a select list but not in HAVING."""
    found = expr.find_all(exp.Lambda, exp.Var)
    return any(type(part) is exp.Lambda or part.name.startswith("LAMBDA ") for part in found)


def has_subquery(expr: exp.Expr) -> bool:
    """Whether a query stands anywhere in it."""
    return expr.find(exp.Subquery, exp.Query) is not None


def every(node: Node) -> Iterable[Node]:
    """The node and all below it, in no order, subqueries' plans not among them. Not recursive."""
    stack = [node]
    while stack:
        top = stack.pop()
        yield top
        stack.extend(top.inputs)
