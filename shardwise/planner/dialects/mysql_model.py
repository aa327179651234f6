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
from shardwise.planner.dialects.mysql_reading import called
from shardwise.planner.dialects.mysql_words import AGGREGATES, SCALARS, WINDOWS

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


def unmodelled(ast: exp.Expr, catalog: Catalog) -> str | None:
    """The first thing found that is not modelled."""
    return next(_found(ast, catalog), None)


def _found(ast: exp.Expr, catalog: Catalog) -> Iterator[str]:
    for node in ast.walk():
        what = _of_node(node)
        if what is not None:
            yield what
    for select in ast.find_all(exp.Select):
        yield from _of_select(select, catalog, is_outermost=select is ast)
    for operation in ast.find_all(exp.SetOperation):
        yield from _of_set_operation(operation, ast)


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


def _columns_of(item: exp.Expr, catalog: Catalog) -> set[str] | None:
    """The names that an item of FROM gives; None where that is not plain."""
    if isinstance(item, exp.Subquery):
        query = item.this
        while isinstance(query, exp.SetOperation | exp.Subquery):
            query = query.this
        return _names_of(query, catalog) if isinstance(query, exp.Select) else None
    if isinstance(item, exp.Table):
        cte = None if item.db else items_in_sight(item).get(item.name.lower())
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
        yield "a RIGHT join beside others"
    if any(j.args.get("method") for j in joins):
        yield "a NATURAL join"
    if any(str(j.args.get("kind") or "").upper().startswith("STRAIGHT") for j in joins):
        yield "STRAIGHT_JOIN"
    has_star = any(isinstance(part, exp.Star) for item in select.expressions for part in item.walk())
    if any(j.args.get("using") for j in joins) and (has_star or outer or commas or len(joins) > 1):
        yield "USING beside * or other joins"
    if commas and len(commas) != len(joins):
        yield "a comma beside a JOIN"
    if any(
        isinstance(source, exp.Subquery) and isinstance(source.this, exp.Table | exp.Subquery)
        for source in _sources(select)
    ):
        yield "a join in parentheses"
    if select.args.get("windows"):
        yield "WINDOW"
    if select.args.get("having") is not None and select.args.get("group") is None:
        yield "HAVING without GROUP BY"
    group = select.args.get("group")
    for key in group.expressions if group is not None else ():
        place = int(key.name) if isinstance(key, exp.Literal) and key.name.isdigit() else None
        grouped = select.expressions[place - 1 : place] if place else [key]
        if any(each.find(exp.Column) is None for each in grouped):
            yield "GROUP BY a constant"
    order = select.args.get("order")
    if any(isinstance(o.this, exp.Null) for o in (order.expressions if order is not None else ())):
        yield "ORDER BY NULL"
    yield from _of_aliases(select, catalog, is_outermost=is_outermost)


def _of_aliases(select: exp.Select, catalog: Catalog, *, is_outermost: bool) -> Iterator[str]:
    aliased = [i for i in select.expressions if isinstance(i, exp.Alias) and not _is_itself(i)]
    aliases = Counter(item.alias.lower() for item in aliased)
    is_named = any(select.args.get(key) is not None for key in ("group", "having", "order"))
    if is_named and any(count > 1 for count in aliases.values()):
        yield "an alias given twice"
    below = [_columns_of(source, catalog) for source in _sources(select)]
    if aliases and is_named and None in below:
        yield "aliases beside columns that are not known"
    known = set().union(*(names for names in below if names is not None))
    if is_named and any(alias in known for alias in aliases):
        yield "an alias that is a column's name too"
    for item in select.expressions:
        if not isinstance(item, exp.Alias | exp.Column | exp.Star):
            yield "an expression whose name no alias can be"
    if not is_outermost:
        shown = Counter(item.alias_or_name.lower() for item in select.expressions if item.alias_or_name)
        if any(count > 1 for count in shown.values()):
            yield "a name given twice in a subquery"


def _is_itself(item: exp.Alias) -> bool:
    """A column under its own name, as each is that was selected by it."""
    return isinstance(item.this, exp.Column) and item.this.name.lower() == item.alias.lower()


def _of_set_operation(operation: exp.SetOperation, ast: exp.Expr) -> Iterator[str]:
    kinds = {type(o) for o in operation.find_all(exp.SetOperation)}
    if len(kinds) > 1:
        yield "set operations of several kinds"
    if operation.args.get("with_") is not None and operation is not ast:
        yield "WITH in an arm of a set operation"
    order = operation.args.get("order")
    first: exp.Expr = operation
    while isinstance(first, exp.SetOperation | exp.Subquery):
        first = first.this
    names = {item.alias_or_name.lower() for item in first.expressions if item.alias_or_name}
    for ordered in order.expressions if order is not None else ():
        key = ordered.this
        is_name = isinstance(key, exp.Column) and not key.table and key.name.lower() in names
        if not is_name and not (isinstance(key, exp.Literal) and not key.is_string):
            yield "ORDER BY of an expression after a set operation"
