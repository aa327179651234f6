"""What of PostgreSQL's SQL the plan's nodes have a form for; a statement with anything else is kept whole.

Not modelled is what would be read otherwise there than by PostgreSQL: * beside USING, aliases that hide an
outer query's column, functions that give rows or another value each time, and whatever is not listed here.
Kept whole it is right as well: it moves more rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from sqlglot import exp

from shardwise.catalog.model import Catalog, Table, View
from shardwise.plan.sql.in_sight import items_in_sight
from shardwise.planner.aggregates import is_aggregate
from shardwise.planner.dialects.blocks import Joins, arms, group_keys, is_itself, is_star, sources
from shardwise.planner.dialects.postgres_words import AGGREGATES, SAFE, SCALARS, WINDOWS

_COMPARISONS: Final = (
    *(exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Is, exp.NullSafeEQ, exp.NullSafeNEQ, exp.In),
    *(exp.Between, exp.Like, exp.ILike, exp.Escape),
)
_PLAIN: Final[tuple[type[exp.Expr], ...]] = (
    *(exp.Column, exp.Identifier, exp.Literal, exp.Null, exp.Boolean, exp.Paren),
    *(exp.Parameter, exp.Placeholder, exp.Var, exp.Tuple),
    *(exp.And, exp.Or, exp.Not, *_COMPARISONS, exp.Case, exp.If, exp.Coalesce, exp.Collate),
)
"""What fails for no row, between values of types that compare."""

_OPERATORS: Final[tuple[type[exp.Expr], ...]] = (
    *_PLAIN,
    *(exp.HexString, exp.BitString, exp.UnicodeString, exp.RegexpLike, exp.RegexpILike, exp.SimilarTo),
    *(exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod, exp.Neg, exp.DPipe, exp.Pow),
    *(exp.BitwiseAnd, exp.BitwiseOr, exp.BitwiseNot, exp.BitwiseXor),
    *(exp.BitwiseLeftShift, exp.BitwiseRightShift),
    *(exp.Cast, exp.DataType, exp.DataTypeParam, exp.Interval, exp.IntervalSpan, exp.AtTimeZone),
    *(exp.Extract, exp.Substring, exp.Trim, exp.StrPosition, exp.Overlay, exp.Array, exp.Bracket, exp.Slice),
    *(exp.JSONExtract, exp.JSONExtractScalar, exp.JSONBExtract, exp.JSONBExtractScalar, exp.JSONBContains),
    *(exp.JSONPath, exp.JSONPathKey, exp.JSONPathRoot, exp.JSONPathSubscript),
    *(exp.ArrayContainsAll, exp.ArrayOverlaps, exp.Any, exp.All),
)
_AGGREGATES: Final = (exp.Count, exp.Sum, exp.Avg, exp.Min, exp.Max, exp.PercentileCont, exp.PercentileDisc)
_QUERIES: Final[tuple[type[exp.Expr], ...]] = (
    *(exp.Select, exp.From, exp.Join, exp.Where, exp.Group, exp.Having, exp.Order, exp.Ordered, exp.Limit),
    *(exp.Offset, exp.Alias, exp.TableAlias, exp.Table, exp.Subquery, exp.Union, exp.Intersect, exp.Except),
    *(exp.With, exp.CTE, exp.Distinct, exp.Window, exp.WindowSpec, exp.Filter, exp.WithinGroup, exp.Exists),
    *(exp.Star, exp.Rollup, exp.Cube, exp.GroupingSets, exp.Grouping, exp.Lateral, exp.Values, *_AGGREGATES),
)


def is_plain(expr: exp.Expr) -> bool:
    """Whether it is made of operators and functions that give the same for the same row, and never fail."""
    return all(
        isinstance(part, _PLAIN) or (isinstance(part, exp.Anonymous) and part.name.lower() in SAFE)
        for part in expr.walk()
    )


def unmodelled(ast: exp.Expr, catalog: Catalog) -> str | None:
    """The first thing found that is not modelled."""
    return next(_found(ast, catalog), None)


def relation_of(table: exp.Table, catalog: Catalog) -> Table | View | None:
    """What a name in FROM is in the catalog; `public` is PostgreSQL's word for no schema."""
    if table.catalog:
        return None
    return catalog.table(table.name, table.db or None) or (
        catalog.table(table.name) if table.db.lower() == "public" else None
    )


def _found(ast: exp.Expr, catalog: Catalog) -> Iterator[str]:
    for node in ast.walk():
        what = _of_node(node)
        if what is not None:
            yield what
    names = {name.name for name in ast.find_all(exp.Identifier)}
    if len({name.lower() for name in names}) < len(names):
        yield "two names that differ in letter case alone"
    for select in ast.find_all(exp.Select):
        yield from _of_select(select, catalog)
    for operation in ast.find_all(exp.SetOperation):
        yield from _of_set_operation(operation, ast)


def _of_node(node: exp.Expr) -> str | None:
    if isinstance(node, exp.Anonymous):
        return _of_call(node)
    if not isinstance(node, (*_OPERATORS, *_QUERIES)):
        return f"a {node.key}"
    if isinstance(node, exp.With) and node.args.get("recursive"):
        return "WITH RECURSIVE"
    if isinstance(node, exp.Table) and not isinstance(node.this, exp.Identifier):
        return "a table function"
    if isinstance(node, exp.Lateral) and not isinstance(node.this, exp.Subquery):
        return "a table function"
    if isinstance(node, exp.Limit | exp.Offset) and not _is_number(node.expression):
        return "a computed LIMIT"
    is_value = isinstance(node.parent, exp.Select | exp.Alias | exp.Distinct) and node.arg_key != "on"
    if isinstance(node, exp.Tuple) and is_value:
        return "a row as a value"
    if isinstance(node, exp.Is) and node.args.get("negate"):
        return "IS NOT NULL of a row"
    if isinstance(node, exp.Between) and node.args.get("symmetric"):
        return "BETWEEN SYMMETRIC"
    return None


def _of_call(call: exp.Anonymous) -> str | None:
    name, above = call.name.lower(), call.parent
    if name == "row" and not isinstance(above, _COMPARISONS):
        return "a row as a value"
    while isinstance(above, exp.Filter | exp.WithinGroup):
        above = above.parent
    if isinstance(above, exp.Window) and name in WINDOWS:
        return None
    if isinstance(call.parent, exp.WithinGroup) and name != "mode":
        return f"{name}() WITHIN GROUP"
    if name in AGGREGATES:
        return None if is_aggregate(call) else f"the aggregate {name}()"
    return None if name in SCALARS else f"the function {name}()"


def _is_number(expr: exp.Expr | None) -> bool:
    return isinstance(expr, exp.Literal | exp.Parameter | exp.Placeholder)


# ------------------------------------------------------------------ blocks


def _of_select(select: exp.Select, catalog: Catalog) -> Iterator[str]:
    joins = Joins(select)
    has_star = any(map(is_star, select.expressions))
    if joins.has_natural:
        yield "a NATURAL join"
    if joins.has_using and (has_star or len(joins.all) > 1 or joins.has_outer):
        yield "USING beside * or other joins"
    if joins.commas and joins.has_outer:
        yield "a comma beside a RIGHT or FULL join"
    if any(isinstance(s, exp.Subquery) and isinstance(s.this, exp.Table) for s in sources(select)):
        yield "a join in parentheses"
    if any(isinstance(s, exp.Table) and s.args.get("sample") for s in sources(select)):
        yield "TABLESAMPLE"
    yield from _of_keys(select)
    yield from _of_aliases(select, catalog)


def _of_keys(select: exp.Select) -> Iterator[str]:
    group = select.args.get("group")
    if group is not None:
        if group.args.get("all") is not None:
            yield "GROUP BY ALL or DISTINCT"
        for key, is_constant in group_keys(select):
            if is_constant and not isinstance(key, exp.Rollup | exp.Cube | exp.GroupingSets | exp.Tuple):
                yield "GROUP BY a constant"
    order = select.args.get("order")
    for ordered in order.expressions if order is not None else ():
        if isinstance(ordered.this, exp.Paren) and isinstance(ordered.this.this, exp.Literal):
            yield "a position in parentheses"
        if isinstance(ordered.this, exp.Var):
            yield "ORDER BY ALL"


def _of_aliases(select: exp.Select, catalog: Catalog) -> Iterator[str]:
    """Names that are an alias to the binder, and to PostgreSQL a column of an outer query."""
    aliases = {
        item.alias.lower()
        for item in select.expressions
        if isinstance(item, exp.Alias) and not is_itself(item)
    }
    if not aliases:
        return
    having, distinct = select.args.get("having"), select.args.get("distinct")
    for name in select.find_all(exp.Column):
        if name.table or name.name.lower() not in aliases:
            continue
        if _is_key(name, select) and not (distinct is not None and distinct.args.get("on")):
            continue
        if _is_within(name, having) or _is_within(name, distinct):
            yield "an alias in HAVING or DISTINCT ON"
        known = _known(select, catalog)
        if known is None or name.name.lower() not in known:
            yield "an alias where PostgreSQL reads a column"


def _is_key(name: exp.Expr, select: exp.Select) -> bool:
    """Whether it is a key of the block's own GROUP BY or ORDER BY as it stands there."""
    above = name.parent
    if isinstance(above, exp.Ordered):
        above = above.parent
    while isinstance(above, exp.Tuple | exp.Rollup | exp.Cube | exp.GroupingSets):
        above = above.parent
    return (
        above is not None
        and above in (select.args.get("group"), select.args.get("order"))
        and (above is select.args.get("group") or above is select.args.get("order"))
    )


def _is_within(node: exp.Expr, clause: exp.Expr | None) -> bool:
    above: exp.Expr | None = node
    while above is not None and clause is not None:
        if above is clause:
            return True
        above = above.parent
    return False


def _known(select: exp.Select, catalog: Catalog) -> set[str] | None:
    """The names of the columns of FROM; None where they are not plain to see."""
    names: set[str] = set()
    for source in sources(select):
        found = relation_of(source, catalog) if isinstance(source, exp.Table) else None
        if not isinstance(found, Table) or found.columns is None or _is_with_item(source):
            return None
        names |= {column.name.lower() for column in found.columns}
    return names


def _is_with_item(item: exp.Expr) -> bool:
    return not item.args.get("db") and item.name.lower() in items_in_sight(item)


# ------------------------------------------------------------------ set operations


def _of_set_operation(operation: exp.SetOperation, ast: exp.Expr) -> Iterator[str]:
    """What is asked of a set operation from outside must not meet an arm before its types are the whole's."""
    if operation.args.get("by_name"):
        yield "BY NAME"
    if _is_outermost(operation, ast):
        if _takes_types(operation):
            yield "a text in quotes or NULL that takes the type of another arm"
        return
    for arm in arms(operation):
        if isinstance(arm, exp.Select) and any(is_unknown(item) for item in arm.expressions):
            yield "a text in quotes in a set operation in a subquery"


def _takes_types(operation: exp.SetOperation) -> bool:
    """Whether a column is of no type in one arm and maybe of one in another.

    What a fragment gives is of a type: the arm would be a text, or NULL a text, before it meets the other.
    """
    found = list(arms(operation))
    unknown = [
        {at for at, item in enumerate(arm.expressions) if is_unknown(item)}
        for arm in found
        if isinstance(arm, exp.Select)
    ]
    if len(unknown) == len(found) and all(places == unknown[0] for places in unknown):
        return False
    reading = [arm for arm in found if isinstance(arm, exp.Select) and arm.args.get("from_") is not None]
    return any(is_unknown(item) for arm in reading for item in arm.expressions)


def _is_outermost(operation: exp.Expr, ast: exp.Expr) -> bool:
    at: exp.Expr | None = operation
    while at is not None and at is not ast:
        at = at.parent
        if not isinstance(at, exp.SetOperation) and at is not ast:
            return False
    return at is ast


def is_unknown(item: exp.Expr) -> bool:
    """Whether it is of no type before it meets another: a text in quotes, NULL, a parameter."""
    while isinstance(item, exp.Alias | exp.Paren):
        item = item.this
    if isinstance(item, exp.Literal):
        return bool(item.is_string)
    return isinstance(item, exp.Null | exp.Parameter | exp.Placeholder)
