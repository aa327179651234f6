"""What of MySQL's SQL the plan's nodes have a form for; a statement with anything else is kept whole.

The nodes know filters, joins, groups, windows, DISTINCT, set operations, ORDER BY and LIMIT, and the
aggregates that have parts. Not modelled is what would be read otherwise there than by MySQL: operators that
sqlglot binds otherwise, COLLATE where it compares, bare columns beside aggregates, WITH ROLLUP, aliases that
hide a column, commas beside outer joins, and whatever is not listed here. Kept whole it is right as well: it
moves more rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from sqlglot import exp

from shardwise.catalog.model import Catalog, Table, View
from shardwise.plan.sql.in_sight import items_in_sight
from shardwise.plan.sql.own_mysql import MARK
from shardwise.planner.dialects.blocks import (
    Joins,
    Names,
    gives_name_twice,
    groups_by_constant,
    has_star,
    is_itself,
    orders_by_expression,
    sources,
)
from shardwise.planner.dialects.mysql_reading import called
from shardwise.planner.dialects.mysql_words import AGGREGATES, RAISING, SCALARS, WINDOWS

_ATOMS: Final[tuple[type[exp.Expr], ...]] = (
    *(exp.Column, exp.Literal, exp.Null, exp.Boolean, exp.Paren, exp.Anonymous, exp.Case, exp.Subquery),
    *(exp.Parameter, exp.Placeholder, exp.National, exp.BitString, exp.Identifier),
)
_AGGREGATES: Final = (exp.Count, exp.Sum, exp.Avg, exp.Min, exp.Max)
_ARITHMETIC: Final = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod, exp.IntDiv, exp.Neg)
_BITWISE: Final = (
    *(exp.BitwiseAnd, exp.BitwiseOr, exp.BitwiseNot, exp.BitwiseXor),
    *(exp.BitwiseLeftShift, exp.BitwiseRightShift),
)
_COMPARISONS: Final = (
    *(exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.NullSafeEQ, exp.Is, exp.In, exp.Between),
    *(exp.Like, exp.ILike, exp.Escape),
)
_OPERATORS: Final[tuple[type[exp.Expr], ...]] = (
    *(*_ATOMS, *_ARITHMETIC, *_BITWISE, *_COMPARISONS),
    *(exp.And, exp.Or, exp.Not, exp.If, exp.Tuple),
)
_QUERIES: Final[tuple[type[exp.Expr], ...]] = (
    *(exp.Select, exp.From, exp.Join, exp.Where, exp.Group, exp.Having, exp.Order, exp.Ordered, exp.Limit),
    *(exp.Offset, exp.Alias, exp.TableAlias, exp.Table, exp.Union, exp.Intersect, exp.Except),
    *(exp.With, exp.CTE, exp.Distinct, exp.Window, exp.WindowSpec, exp.Exists, exp.Star),
    *(*_AGGREGATES, exp.RowNumber, exp.Rank, exp.DenseRank, exp.PercentRank, exp.CumeDist),
    *(exp.GroupConcat, exp.Concat),
)
_BOOLEANS: Final = (
    *(exp.And, exp.Or, exp.Not, exp.Paren, exp.Where, exp.Having, exp.Join, exp.Alias, exp.Select, exp.If),
    *(exp.Ordered, exp.Anonymous),
)


def is_plain(expr: exp.Expr) -> bool:
    """Whether it is made of operators and functions that give the same for the same row."""
    return all(
        called(part) in SCALARS
        if isinstance(part, exp.Anonymous)
        else isinstance(part, (*_OPERATORS, exp.Collate))
        and not isinstance(part, exp.Subquery)
        and _misread(part) is None
        for part in expr.walk()
    )


def never_fails(expr: exp.Expr) -> bool:
    """Whether no row raises. Only what leaves its type's range does; of sums, products and quotients that is
    for those to say who know their numbers' widths."""
    return is_plain(expr) and not any(map(_leaves_its_range, expr.walk()))


def _leaves_its_range(part: exp.Expr) -> bool:
    if isinstance(part, exp.Anonymous):
        return called(part) in RAISING
    return isinstance(part, exp.IntDiv) or (
        isinstance(part, exp.Neg) and not isinstance(part.this, exp.Literal)
    )


def unmodelled(ast: exp.Expr, catalog: Catalog) -> str | None:
    """The first thing found that is not modelled."""
    return next(_found(ast, catalog), None)


def _found(ast: exp.Expr, catalog: Catalog) -> Iterator[str]:
    for node in ast.walk():
        what = _of_node(node)
        if what is not None:
            yield what
    names = Names(catalog, relation_of, _with_item, (exp.SetOperation, exp.Subquery))
    for select in ast.find_all(exp.Select):
        yield from _of_select(select, names, is_outermost=select is ast)
    for operation in ast.find_all(exp.SetOperation):
        yield from _of_set_operation(operation, ast, names)


def _of_node(node: exp.Expr) -> str | None:
    if isinstance(node, exp.Collate):
        return "COLLATE"
    if isinstance(node, exp.Anonymous):
        name = called(node)
        is_window = isinstance(node.parent, exp.Window) and node.arg_key == "this"
        if name in SCALARS and not is_window:
            return None
        if name in (WINDOWS | AGGREGATES if is_window else AGGREGATES) and not name.startswith("json"):
            return None
        return f"the function {name}()"
    if not isinstance(node, (*_OPERATORS, *_QUERIES)):
        return f"a {node.key}"
    if isinstance(node, exp.Table) and not isinstance(node.this, exp.Identifier):
        return "a table function"
    if isinstance(node, exp.Limit | exp.Offset) and not _is_number(node.expression):
        return "a computed LIMIT"
    if isinstance(node, exp.With) and node.args.get("recursive"):
        return "WITH RECURSIVE"
    if isinstance(node, exp.Group) and node.args.get("rollup"):
        return "WITH ROLLUP"
    return _misread(node)


def _misread(node: exp.Expr) -> str | None:
    """Operators side by side whose order is not the same to sqlglot and to MySQL."""
    operands = [node.args.get(key) for key in ("this", "expression", "low", "high")]
    if isinstance(node, _BITWISE) and not all(o is None or isinstance(o, _ATOMS) for o in operands):
        return "a bitwise operator beside others"
    if isinstance(node, _COMPARISONS) and any(
        isinstance(o, (*_COMPARISONS, exp.Not)) and not isinstance(node, exp.Escape) for o in operands
    ):
        return "a chain of comparisons"
    if isinstance(node, _COMPARISONS) and any(isinstance(o, exp.And | exp.Or) for o in operands):
        return "AND or OR as an operand"
    if isinstance(node, exp.Neg) and not isinstance(node.this, _ATOMS):
        return "a chain of signs"
    if isinstance(node, exp.Not) and not isinstance(node.parent, _BOOLEANS) and node.parent is not None:
        return "NOT as an operand"
    if isinstance(node, exp.Escape) and not isinstance(node.this, exp.Like):
        return "ESCAPE"
    is_operator = isinstance(node, exp.Anonymous) and str(node.this).partition(MARK)[2][:1] in ("!", "B")
    if is_operator and not all(isinstance(e, _ATOMS) for e in node.expressions):
        return "BINARY or ! beside another operator"
    return None


def _is_number(expr: exp.Expr | None) -> bool:
    return isinstance(expr, exp.Literal | exp.Parameter)


# ------------------------------------------------------------------ tables


def relation_of(table: exp.Table, catalog: Catalog) -> Table | View | None:
    """What a name in FROM is in the catalog."""
    return catalog.table(table.name, table.db or None)


def _with_item(item: exp.Table) -> exp.Expr | None:
    return None if item.db else items_in_sight(item).get(item.name.lower())


# ------------------------------------------------------------------ blocks


def _of_select(select: exp.Select, names: Names, *, is_outermost: bool) -> Iterator[str]:
    joins = Joins(select)
    is_joined_again = len(joins.all) > 1
    if joins.has_outer and is_joined_again:
        yield "a RIGHT join beside others"
    if joins.has_natural:
        yield "a NATURAL join"
    if any(str(j.args.get("kind") or "").upper().startswith("STRAIGHT") for j in joins.all):
        yield "STRAIGHT_JOIN"
    if joins.has_using and (has_star(select) or joins.has_outer or joins.commas or is_joined_again):
        yield "USING beside * or other joins"
    if joins.commas and len(joins.commas) != len(joins.all):
        yield "a comma beside a JOIN"
    if any(
        isinstance(source, exp.Subquery) and isinstance(source.this, exp.Table | exp.Subquery)
        for source in sources(select)
    ):
        yield "a join in parentheses"
    if select.args.get("windows"):
        yield "WINDOW"
    if select.args.get("having") is not None and select.args.get("group") is None:
        yield "HAVING without GROUP BY"
    if groups_by_constant(select):
        yield "GROUP BY a constant"
    order = select.args.get("order")
    if any(isinstance(o.this, exp.Null) for o in (order.expressions if order is not None else ())):
        yield "ORDER BY NULL"
    yield from _of_aliases(select, names, is_outermost=is_outermost)


def _of_aliases(select: exp.Select, names: Names, *, is_outermost: bool) -> Iterator[str]:
    aliased = [i for i in select.expressions if isinstance(i, exp.Alias) and not is_itself(i)]
    aliases = Counter(item.alias.lower() for item in aliased)
    is_named = any(select.args.get(key) is not None for key in ("group", "having", "order"))
    if is_named and any(count > 1 for count in aliases.values()):
        yield "an alias given twice"
    below = [names.of(source) for source in sources(select)]
    if aliases and is_named and None in below:
        yield "aliases beside columns that are not known"
    known = set().union(*(given for given in below if given is not None))
    if is_named and any(alias in known for alias in aliases):
        yield "an alias that is a column's name too"
    for item in select.expressions:
        if not isinstance(item, exp.Alias | exp.Column | exp.Star):
            yield "an expression whose name no alias can be"
    if not is_outermost and gives_name_twice(select):
        yield "a name given twice in a subquery"


def _of_set_operation(operation: exp.SetOperation, ast: exp.Expr, names: Names) -> Iterator[str]:
    kinds = {type(o) for o in operation.find_all(exp.SetOperation)}
    if len(kinds) > 1:
        yield "set operations of several kinds"
    if operation.args.get("with_") is not None and operation is not ast:
        yield "WITH in an arm of a set operation"
    if orders_by_expression(operation, names.first_select(operation)):
        yield "ORDER BY of an expression after a set operation"
