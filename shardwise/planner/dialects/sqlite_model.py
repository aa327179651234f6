"""What of SQLite's SQL the plan's nodes have a form for; a statement with anything else is kept whole.

The nodes know filters, joins, groups, windows, DISTINCT, set operations, ORDER BY and LIMIT, and the
aggregates that have parts. Not modelled is what would be read otherwise there than by SQLite: collations
where they compare, bare columns beside aggregates, aliases that hide a column, commas beside outer joins, and
whatever is not listed here. Kept whole it is right as well: it moves more rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from sqlglot import exp

from shardwise.catalog.model import Catalog, Table, View
from shardwise.catalog.sqlite_types import affinity
from shardwise.catalog.types import Family, type_family
from shardwise.plan.tree import plan_of
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
from shardwise.planner.dialects.sqlite_with import with_item
from shardwise.planner.dialects.sqlite_words import FALLIBLE, SCALARS, WINDOWS
from shardwise.planner.equivalence import is_binary

_OPERATORS: Final[tuple[type[exp.Expr], ...]] = (
    *(exp.Column, exp.Identifier, exp.Literal, exp.HexString, exp.Null, exp.Boolean, exp.Paren),
    *(exp.Parameter, exp.Placeholder, exp.Var),
    *(exp.And, exp.Or, exp.Not, exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE),
    *(exp.Is, exp.NullSafeEQ, exp.NullSafeNEQ, exp.In, exp.Between, exp.Like, exp.Glob, exp.Escape),
    *(exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod, exp.Neg, exp.DPipe),
    *(exp.BitwiseAnd, exp.BitwiseOr, exp.BitwiseNot, exp.BitwiseLeftShift, exp.BitwiseRightShift),
    *(exp.Case, exp.If, exp.Cast, exp.DataType, exp.Greatest, exp.Least),
)
_AGGREGATES: Final = (exp.Count, exp.Sum, exp.Avg, exp.Min, exp.Max)
_QUERIES: Final[tuple[type[exp.Expr], ...]] = (
    *(exp.Select, exp.From, exp.Join, exp.Where, exp.Group, exp.Having, exp.Order, exp.Ordered, exp.Limit),
    *(exp.Offset, exp.Alias, exp.TableAlias, exp.Table, exp.Subquery, exp.Union, exp.Intersect, exp.Except),
    *(exp.With, exp.CTE, exp.Distinct, exp.Window, exp.WindowSpec, exp.Filter, exp.Exists, exp.Star),
    *(*_AGGREGATES, exp.RowNumber, exp.Rank, exp.DenseRank, exp.JSONExtract, exp.JSONExtractScalar),
)
_EQUALITIES: Final = (
    *(exp.EQ, exp.NEQ, exp.Is, exp.NullSafeEQ, exp.NullSafeNEQ, exp.In, exp.Like, exp.Glob, exp.Between),
)
_COMPARISONS: Final = (exp.LT, exp.LTE, exp.GT, exp.GTE)
_AFFINITIES: Final = {Family.INT: "INTEGER", Family.TEXT: "TEXT", Family.FLOAT: "REAL", Family.BLOB: "BLOB"}


def is_plain(expr: exp.Expr) -> bool:
    """Whether it is made of operators and functions that give the same for the same row, and never fail."""
    return all(
        isinstance(part, (*_OPERATORS, exp.Collate))
        or (isinstance(part, exp.Anonymous) and part.name.lower() in SCALARS - FALLIBLE)
        for part in expr.walk()
    )


def never_fails(expr: exp.Expr) -> bool:
    """Whether no row raises: of what is plain a pattern may, by its length, and what ESCAPE names, if it is
    not one character. Values that ran first, which are a query in IN, are read without error."""
    rest = expr.copy().transform(_without_values) if expr.find(exp.Subquery) is not None else expr
    return is_plain(rest) and not any(
        not isinstance(part.expression, exp.Literal)
        or (isinstance(part, exp.Escape) and len(part.expression.name) != 1)
        for part in rest.find_all(exp.Like, exp.Glob, exp.Escape)
    )


def _without_values(part: exp.Expr) -> exp.Expr:
    query = part.args.get("query") if isinstance(part, exp.In) else None
    is_of_values = query is not None and isinstance(query.this, exp.Select) and plan_of(query) is None
    return exp.Is(this=part.this.copy(), expression=exp.Null()) if is_of_values else part


def unmodelled(ast: exp.Expr, catalog: Catalog) -> str | None:
    """The first thing found that is not modelled."""
    return next(_found(ast, catalog), None)


def _found(ast: exp.Expr, catalog: Catalog) -> Iterator[str]:
    for node in ast.walk():
        what = _of_node(node)
        if what is not None:
            yield what
    yield from _of_tables(ast, catalog)
    names = Names(catalog, relation_of, with_item, (exp.SetOperation,))
    for select in ast.find_all(exp.Select):
        yield from _of_select(select, names, is_outermost=select is ast)
    for operation in ast.find_all(exp.SetOperation):
        yield from _of_set_operation(operation, ast, names)


def _of_node(node: exp.Expr) -> str | None:
    if isinstance(node, exp.Collate):
        return "COLLATE"
    if isinstance(node, exp.Anonymous):
        is_window = isinstance(node.parent, exp.Window) and node.name.lower() in WINDOWS
        return None if is_window or node.name.lower() in SCALARS else f"the function {node.name}()"
    if not isinstance(node, (*_OPERATORS, *_QUERIES)):
        return f"a {node.key}"
    if isinstance(node, (*_EQUALITIES, *_COMPARISONS)) and _is_chained(node):
        return "a chain of comparisons"
    if isinstance(node, exp.Limit | exp.Offset) and not _is_number(node.expression):
        return "a computed LIMIT"
    if isinstance(node, exp.With) and node.args.get("recursive"):
        return "WITH RECURSIVE"
    if isinstance(node, exp.Not) and not isinstance(
        node.parent, exp.And | exp.Or | exp.Not | exp.Paren | exp.Where | exp.Having | exp.Alias | exp.Select
    ):
        return "NOT as an operand" if isinstance(node.parent, (*_OPERATORS,)) else None
    return None


def _is_chained(node: exp.Expr) -> bool:
    """`a = b IN (c)`: which of the two is the other's operand sqlglot need not read as SQLite does."""
    operands = (node.args.get(key) for key in ("this", "expression", "low", "high"))
    if isinstance(node, _COMPARISONS):
        return any(isinstance(o, _EQUALITIES) for o in operands)
    return any(isinstance(o, (*_EQUALITIES, *_COMPARISONS, exp.Not)) for o in operands)


def _is_number(expr: exp.Expr | None) -> bool:
    return isinstance(expr.this if isinstance(expr, exp.Neg) else expr, exp.Literal | exp.Parameter)


# ------------------------------------------------------------------ tables


def _of_tables(ast: exp.Expr, catalog: Catalog) -> Iterator[str]:
    names = {name.name.lower() for name in ast.find_all(exp.Identifier)}
    has_star = any(not isinstance(star.parent, exp.Count) for star in ast.find_all(exp.Star))
    has_parts = ast.find(exp.SetOperation, exp.CTE, exp.Subquery, exp.Exists) is not None or any(
        test.args.get("query") is not None for test in ast.find_all(exp.In)
    )
    for table in ast.find_all(exp.Table):
        if not isinstance(table.this, exp.Identifier):
            yield "a table function"
            continue
        found = relation_of(table, catalog)
        for column in (found.columns or ()) if isinstance(found, Table) else ():
            wanted = _AFFINITIES.get(type_family(column.type, "duckdb"), "NUMERIC")
            if column.type and affinity(column.type) not in (wanted, "BLOB"):
                yield f"a column of type {column.type}"
            # In one block it is compared as the column that it is; a subquery's column is another.
            is_read = column.name.lower() in names or has_star
            if has_parts and is_read and not is_binary(column.collation):
                yield f"a column of COLLATE {column.collation} beside a subquery"


def relation_of(table: exp.Table, catalog: Catalog) -> Table | View | None:
    """What a name in FROM is in the catalog; `main` is SQLite's word for no schema."""
    return catalog.table(table.name, None if table.db.lower() in ("", "main") else table.db)


# ------------------------------------------------------------------ blocks


def _of_select(select: exp.Select, names: Names, *, is_outermost: bool) -> Iterator[str]:
    joins = Joins(select)
    is_joined_again = len(joins.all) > 1
    if joins.has_outer and is_joined_again:
        yield "a RIGHT or FULL join beside others"
    if joins.has_natural:
        yield "a NATURAL join"
    if joins.has_using and (has_star(select) or joins.has_outer or joins.commas or is_joined_again):
        yield "USING beside * or other joins"
    if joins.commas and len(joins.commas) != len(joins.all):
        yield "a comma beside a JOIN"
    if any(
        isinstance(source, exp.Subquery) and isinstance(source.this, exp.Table) for source in sources(select)
    ):
        yield "a join in parentheses"
    if select.args.get("having") is not None and select.args.get("group") is None:
        yield "HAVING without GROUP BY"
    if groups_by_constant(select):
        yield "GROUP BY a constant"
    yield from _of_aliases(select, names, is_outermost=is_outermost)


def _of_aliases(select: exp.Select, names: Names, *, is_outermost: bool) -> Iterator[str]:
    aliased = [item for item in select.expressions if isinstance(item, exp.Alias)]
    aliases = Counter(item.alias.lower() for item in aliased)
    if any(count > 1 for count in aliases.values()):
        yield "an alias given twice"
    below = [names.of(source) for source in sources(select)]
    if aliases and None in below:
        yield "aliases beside columns that are not known"
    known = set().union(*(given for given in below if given is not None))
    if any(item.alias.lower() in known and not is_itself(item) for item in aliased):
        yield "an alias that is a column's name too"
    if not is_outermost and gives_name_twice(select):
        yield "a name given twice in a subquery"


def _of_set_operation(operation: exp.SetOperation, ast: exp.Expr, names: Names) -> Iterator[str]:
    if operation.parent is not None and not isinstance(operation.parent, exp.SetOperation):
        yield "a set operation in a subquery"
        return
    if orders_by_expression(operation, names.first_select(operation)):
        yield "ORDER BY of an expression after a set operation"
    if operation is not ast and operation.args.get("with_") is not None:
        yield "WITH in an arm of a set operation"
