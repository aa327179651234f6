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


def unmodelled(ast: exp.Expr, catalog: Catalog) -> str | None:
    """The first thing found that is not modelled."""
    return next(_found(ast, catalog), None)


def _found(ast: exp.Expr, catalog: Catalog) -> Iterator[str]:
    for node in ast.walk():
        what = _of_node(node)
        if what is not None:
            yield what
    yield from _of_tables(ast, catalog)
    for select in ast.find_all(exp.Select):
        yield from _of_select(select, catalog, is_outermost=select is ast)
    for operation in ast.find_all(exp.SetOperation):
        yield from _of_set_operation(operation, ast)


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


def _columns_of(item: exp.Expr, catalog: Catalog) -> set[str] | None:
    """The names that an item of FROM gives; None where that is not plain."""
    if isinstance(item, exp.Subquery):
        query = item.this
        while isinstance(query, exp.SetOperation):
            query = query.this
        return _names_of(query, catalog) if isinstance(query, exp.Select) else None
    if isinstance(item, exp.Table):
        cte = with_item(item)
        if cte is not None:
            alias = cte.args.get("alias")
            given = {c.name.lower() for c in alias.args.get("columns") or ()} if alias is not None else set()
            return given or (_names_of(cte.this, catalog) if isinstance(cte.this, exp.Select) else None)
        found = relation_of(item, catalog)
        if isinstance(found, Table) and found.columns is not None:
            return {column.name.lower() for column in found.columns}
    return None


def _names_of(select: exp.Select, catalog: Catalog) -> set[str] | None:
    names: set[str] = set()
    for item in select.expressions:
        if isinstance(item, exp.Star) or (isinstance(item, exp.Column) and isinstance(item.this, exp.Star)):
            for source in _sources(select):
                inner = _columns_of(source, catalog)
                if inner is None:
                    return None
                names |= inner
        elif item.alias_or_name:
            names.add(item.alias_or_name.lower())
    return names


def _sources(select: exp.Select) -> list[exp.Expr]:
    clause = select.args.get("from_")
    if clause is None:
        return []
    joins = [*(clause.this.args.get("joins") or ()), *(select.args.get("joins") or ())]
    return [clause.this, *(join.this for join in joins)]


# ------------------------------------------------------------------ blocks


def _of_select(select: exp.Select, catalog: Catalog, *, is_outermost: bool) -> Iterator[str]:
    joins = select.args.get("joins") or ()
    outer = [j for j in joins if str(j.args.get("side") or "").upper() in ("RIGHT", "FULL")]
    commas = [j for j in joins if not any(j.args.get(k) for k in ("kind", "side", "method", "on", "using"))]
    if outer and len(joins) > 1:
        yield "a RIGHT or FULL join beside others"
    if any(j.args.get("method") for j in joins):
        yield "a NATURAL join"
    has_star = any(isinstance(part, exp.Star) for item in select.expressions for part in item.walk())
    if any(j.args.get("using") for j in joins) and (has_star or outer or commas or len(joins) > 1):
        yield "USING beside * or other joins"
    if commas and len(commas) != len(joins):
        yield "a comma beside a JOIN"
    if any(
        isinstance(source, exp.Subquery) and isinstance(source.this, exp.Table) for source in _sources(select)
    ):
        yield "a join in parentheses"
    if select.args.get("having") is not None and select.args.get("group") is None:
        yield "HAVING without GROUP BY"
    group = select.args.get("group")
    for key in group.expressions if group is not None else ():
        place = int(key.name) if isinstance(key, exp.Literal) and key.name.isdigit() else None
        grouped = select.expressions[place - 1 : place] if place else [key]
        if any(each.find(exp.Column) is None for each in grouped):
            yield "GROUP BY a constant"
    yield from _of_aliases(select, catalog, is_outermost=is_outermost)


def _of_aliases(select: exp.Select, catalog: Catalog, *, is_outermost: bool) -> Iterator[str]:
    aliased = [item for item in select.expressions if isinstance(item, exp.Alias)]
    aliases = Counter(item.alias.lower() for item in aliased)
    if any(count > 1 for count in aliases.values()):
        yield "an alias given twice"
    below = [_columns_of(source, catalog) for source in _sources(select)]
    if aliases and None in below:
        yield "aliases beside columns that are not known"
    known = set().union(*(names for names in below if names is not None))
    for item in aliased:
        is_itself = isinstance(item.this, exp.Column) and item.this.name.lower() == item.alias.lower()
        if item.alias.lower() in known and not is_itself:
            yield "an alias that is a column's name too"
    if not is_outermost:
        shown = Counter(item.alias_or_name.lower() for item in select.expressions if item.alias_or_name)
        if any(count > 1 for count in shown.values()):
            yield "a name given twice in a subquery"


def _of_set_operation(operation: exp.SetOperation, ast: exp.Expr) -> Iterator[str]:
    if operation.parent is not None and not isinstance(operation.parent, exp.SetOperation):
        yield "a set operation in a subquery"
        return
    order = operation.args.get("order")
    first: exp.Expr = operation
    while isinstance(first, exp.SetOperation):
        first = first.this
    names = {item.alias_or_name.lower() for item in first.expressions if item.alias_or_name}
    for ordered in order.expressions if order is not None else ():
        key = ordered.this
        is_name = isinstance(key, exp.Column) and not key.table and key.name.lower() in names
        if not is_name and not (isinstance(key, exp.Literal) and not key.is_string):
            yield "ORDER BY of an expression after a set operation"
    if operation is not ast and operation.args.get("with_") is not None:
        yield "WITH in an arm of a set operation"
