"""Binding expressions: the user's names become identities, subqueries become plans."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from shardwise.errors import Unplannable
from shardwise.plan.tree import operand, subplan
from shardwise.planner.bind.scope import Scope
from shardwise.planner.bind.unmodelled import Unmodelled
from shardwise.planner.positions import position_of

if TYPE_CHECKING:
    from shardwise.planner.bind.query import Binder

Lookup = Callable[[exp.Column], exp.Expr]

# Forms that the nodes do not model; a statement with one is kept whole.
_UNMODELLED: dict[type, str] = {
    exp.Columns: "COLUMNS(…)",
    exp.Star: "* inside an expression",
    exp.Explode: "unnest(…) in the select list",
    exp.Unnest: "unnest(…) in the select list",
    exp.PositionalColumn: "a positional column (#1)",
}


class Expressions:
    """Binds the expressions of one query block. `lookup` resolves a column the user wrote."""

    def __init__(self, binder: Binder, scope: Scope, lookup: Lookup | None = None) -> None:
        self.binder = binder
        self.scope = scope
        self.lookup = lookup or self.column_first
        self._locals: list[str] = []

    def bind(self, expr: exp.Expr) -> exp.Expr:
        """A bound copy of `expr`."""
        if isinstance(expr, exp.Column):
            return self._column(expr)
        kind = type(expr)
        special = _SPECIAL.get(kind)
        if special is not None:
            return special(self, expr)
        if isinstance(expr, exp.Query):
            return self._subquery(expr)
        if kind is exp.Anonymous and expr.name.upper() in _QUANTIFIERS and _is_query(expr):
            return _QUANTIFIERS[expr.name.upper()](this=self._subquery(expr.expressions[0]))
        if kind in _UNMODELLED:
            raise Unmodelled(_UNMODELLED[kind])
        constant = self.binder.value_of(expr)
        if constant is not None:
            return constant
        return self._copy(expr)

    def column_first(self, column: exp.Column) -> exp.Expr:
        """A column of FROM, else a select item's alias, else a column from outside."""
        here = self.scope.here(column)
        if here is not None:
            return here
        alias = self.scope.alias(column)
        return self.scope.resolve(column) if alias is None else operand(alias)

    def _copy(self, expr: exp.Expr) -> exp.Expr:
        return type(expr)(**{key: self._value(value) for key, value in expr.args.items()})

    def _value(self, value: Any) -> Any:
        if isinstance(value, exp.Expr):
            return self.bind(value)
        if type(value) is list:
            return [self._value(item) for item in value]
        return value

    def _column(self, column: exp.Column) -> exp.Expr:
        if isinstance(column.this, exp.Star):
            raise Unmodelled("* inside an expression")
        parts = column.parts
        if parts[0].name.lower() in self._locals:
            return _local(column)
        if column.name.lower() == "rowid" and not self.scope.has_column(column):
            raise Unplannable(
                "rowid has no meaning over shards: each shard numbers its own rows",
                hint="Use the table's key",
                position=position_of(column),
            )
        if len(parts) == 1 and not self.scope.has(column) and self.scope.is_relation(column.name):
            raise Unmodelled("a whole row as a value")
        return self.lookup(column)

    def _connector(self, expr: exp.Expr) -> exp.Expr:
        """A chain of hundreds of ANDs or ORs is as deep as it is long; bound it is balanced."""
        kind = type(expr)
        operands: list[exp.Expr] = []
        left = expr
        while type(left) is kind:
            operands.append(left.args["expression"])
            left = left.this
        operands.append(left)
        return _balanced(kind, [self.bind(operand) for operand in reversed(operands)])

    def _subquery(self, query: exp.Expr) -> exp.Expr:
        return subplan(self.binder.subquery(query, self.scope))

    def _exists(self, expr: exp.Expr) -> exp.Expr:
        return exp.Exists(this=self._subquery(expr.this))

    def _in(self, expr: exp.Expr) -> exp.Expr:
        query = expr.args.get("query")
        if query is not None:
            return exp.In(this=self.bind(expr.this), query=self._subquery(query))
        if expr.args.get("unnest"):
            raise Unmodelled("IN UNNEST")
        return self.binder.parameters.expand_in(self._copy(expr))

    def _quantified(self, expr: exp.Expr) -> exp.Expr:
        inner = expr.this
        if isinstance(inner, exp.Paren):
            inner = inner.this
        if isinstance(inner, exp.Query):
            return type(expr)(this=self._subquery(inner))
        return self._copy(expr)

    def _lambda(self, expr: exp.Expr) -> exp.Expr:
        names = [e.name.lower() for e in expr.expressions]
        return self._with_locals(names, lambda: self._copy(expr))

    def _comprehension(self, expr: exp.Expr) -> exp.Expr:
        bound = {"iterator": self.bind(expr.args["iterator"])}
        names = [
            n.name.lower() for n in (expr.args.get("expression"), expr.args.get("position")) if n is not None
        ]

        def inside() -> exp.Expr:
            for key in ("this", "condition"):
                if expr.args.get(key) is not None:
                    bound[key] = self.bind(expr.args[key])
            kept = {k: v.copy() for k in ("expression", "position") if (v := expr.args.get(k)) is not None}
            return exp.Comprehension(**bound, **kept)

        return self._with_locals(names, inside)

    def _with_locals(self, names: list[str], make: Callable[[], exp.Expr]) -> exp.Expr:
        self._locals.extend(names)
        try:
            return make()
        finally:
            del self._locals[len(self._locals) - len(names) :]

    def _dot(self, expr: exp.Expr) -> exp.Expr:
        if isinstance(expr.this, exp.Identifier) or not isinstance(expr.expression, exp.Identifier):
            raise Unmodelled("a chained function call")
        name = exp.Literal.string(expr.expression.name)
        return exp.Anonymous(this="struct_extract", expressions=[self.bind(expr.this), name])

    def _count(self, expr: exp.Expr) -> exp.Expr:
        if isinstance(expr.this, exp.Star):
            if any(expr.this.args.values()):
                raise Unmodelled("count(* EXCLUDE …)")
            return expr.copy()
        return self._copy(expr)

    def _window(self, expr: exp.Expr) -> exp.Expr:
        return self._copy(self.binder.named_window(expr))

    def _placeholder(self, expr: exp.Expr) -> exp.Expr:
        return self.binder.parameters.use(expr)


_SPECIAL: dict[type, Callable[[Expressions, exp.Expr], exp.Expr]] = {
    exp.Subquery: lambda self, e: self._subquery(e),
    exp.And: Expressions._connector,
    exp.Or: Expressions._connector,
    exp.Exists: Expressions._exists,
    exp.In: Expressions._in,
    exp.Any: Expressions._quantified,
    exp.All: Expressions._quantified,
    exp.Lambda: Expressions._lambda,
    exp.Comprehension: Expressions._comprehension,
    exp.Dot: Expressions._dot,
    exp.Count: Expressions._count,
    exp.Window: Expressions._window,
    exp.Placeholder: Expressions._placeholder,
    exp.Parameter: Expressions._placeholder,
    exp.Identifier: lambda self, e: e.copy(),
    exp.DataType: lambda self, e: e.copy(),
}


def _local(column: exp.Column) -> exp.Expr:
    """A lambda's or comprehension's own variable, or a field of it: no column of any relation."""
    expr: exp.Expr = column.parts[0].copy()
    for part in column.parts[1:]:
        expr = exp.Dot(this=expr, expression=part.copy())
    return expr


def _balanced(kind: type[exp.Expr], operands: list[exp.Expr]) -> exp.Expr:
    if len(operands) == 1:
        return operands[0]
    middle = len(operands) // 2
    return kind(this=_balanced(kind, operands[:middle]), expression=_balanced(kind, operands[middle:]))


_QUANTIFIERS: dict[str, type[exp.Expr]] = {"ALL": exp.All, "ANY": exp.Any, "SOME": exp.Any}


def _is_query(call: exp.Expr) -> bool:
    """`ALL ((SELECT …))`, which sqlglot takes for a function of a scalar subquery."""
    return len(call.expressions) == 1 and isinstance(call.expressions[0], exp.Query)
