"""Binding queries: SELECT blocks, set operations, WITH, VALUES, parentheses around them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import sqlglot
from sqlglot import exp

from shardwise.catalog.model import MAIN, Catalog, Table, View
from shardwise.errors import Error, ProgrammingError
from shardwise.plan.nodes import (
    ColumnId,
    Cte,
    CteRef,
    Item,
    Limit,
    Node,
    Output,
    Project,
    Recursive,
    SetKind,
    SetOp,
    Sort,
    SortKey,
    Values,
)
from shardwise.plan.tree import column, columns_in, free_columns, plans_in
from shardwise.planner.bind.bound import BoundQuery
from shardwise.planner.bind.expressions import Expressions
from shardwise.planner.bind.information import PREFIX
from shardwise.planner.bind.names import Names
from shardwise.planner.bind.order import is_order_by_all, place, sort_key
from shardwise.planner.bind.repeated import Written
from shardwise.planner.bind.scope import NO_FROM, FromItem, Named, Relation, Scope, unique_names
from shardwise.planner.bind.select import bind_select
from shardwise.planner.bind.unmodelled import Unmodelled
from shardwise.planner.caching.observed import Scoped
from shardwise.planner.context import Context
from shardwise.planner.determinism import is_deterministic
from shardwise.planner.dialects import DUCKDB, Dialect
from shardwise.planner.parameters import Parameters, literal_of
from shardwise.planner.scopes.values import Value

LocalTables = Mapping[str, tuple[Output, ...] | View]


@dataclass(frozen=True, slots=True)
class CteDefinition:
    """A WITH item, and the names that are in scope where it stands.

    `shared` is its name in the plan where CteRefs of `bound` read it; else each mention binds it anew.
    """

    ast: exp.CTE
    scope: Scope | None
    ctes: Ctes
    shared: str | None = None
    bound: BoundQuery | None = None


Ctes = Mapping[str, CteDefinition]


@dataclass
class Binder:
    """Turns one statement's syntax tree into its first plan."""

    catalog: Catalog
    context: Context
    parameters: Parameters
    locals: LocalTables = field(default_factory=dict)
    names: Names = field(default_factory=Names)
    ctes: Ctes = field(default_factory=dict)
    windows: dict[str, exp.Window] = field(default_factory=dict)
    views_open: tuple[str, ...] = ()
    _scope_values: dict[tuple[str, type, Value], exp.Expr] = field(default_factory=dict)
    dialect: Dialect = DUCKDB
    written: Written = field(default_factory=Written)
    schema: str | None = field(init=False)
    """Where a name without a schema is looked for before the default one."""

    def __post_init__(self) -> None:
        self.schema = self.context.schema

    def query(self, ast: exp.Expr, outer: Scope | None) -> BoundQuery:
        """Any query expression."""
        if ast.args.get("with_") is not None:
            return self._with(ast, outer)
        if isinstance(ast, exp.Select):
            return bind_select(self, ast, outer)
        if isinstance(ast, exp.SetOperation):
            return self._ordered(self._set_operation(ast, outer), ast, outer)
        if isinstance(ast, exp.Subquery):
            return self._ordered(self.query(ast.this, outer), ast, outer)
        if isinstance(ast, exp.Values):
            return self._ordered(self.values(ast, outer), ast, outer)
        if isinstance(ast, exp.Table):  # FROM t, without SELECT
            return self.query(exp.select("*").from_(ast.copy()), outer)
        raise Unmodelled(f"a {ast.key} as a query")

    def value_of(self, call: exp.Expr) -> exp.Expr | None:
        """The constant that a stable function of the dialect stands for."""
        value = self.dialect.value_of(call, self.context)
        if value is not None:
            self.parameters.observed.is_bound_to_context = True
        return value

    def scope(self, item: FromItem, outer: Scope | None = None) -> Scope:
        """Where names over a FROM are looked up, by the rules of the dialect."""
        return Scope(item, outer, has_fields=self.dialect.has_fields)

    def subquery(self, ast: exp.Expr, outer: Scope) -> Node:
        """A query inside an expression."""
        node = self.query(ast, outer).node
        self.written.note(node, ast)
        return node

    def values(self, ast: exp.Values, outer: Scope | None) -> BoundQuery:
        bind = Expressions(self, self.scope(NO_FROM, outer)).bind
        rows = tuple(
            tuple(bind(e) for e in (row.expressions if isinstance(row, exp.Tuple) else [row]))
            for row in ast.expressions
        )
        names = tuple(f"col{i}" for i in range(len(rows[0])))
        return BoundQuery(Values(rel=self.names.fresh("values"), names=names, rows=rows), names)

    def scope_value(self, name: str, value: Value, where: Scoped) -> exp.Expr:
        """A value of the connection's scope as a parameter of that name, the same for all tables."""
        known = (name, type(value), value)
        if known not in self._scope_values:
            self._scope_values[known] = self.parameters.bind_scoped(name, value)
        bound = self._scope_values[known].copy()
        self.parameters.observed.scoped.setdefault(bound.name, []).append(where)
        return bound

    def named_window(self, window: exp.Expr) -> exp.Expr:
        """`OVER w` and `OVER (w ORDER BY …)` with the named window's parts filled in."""
        name = window.args.get("alias")
        if name is None:
            return window
        base = self.windows.get(name.name.lower())
        if base is None:
            raise Unmodelled(f"an unknown window {name.name}")
        args = {k: v for k, v in window.args.items() if k not in ("alias", "first") and v}
        for key in ("partition_by", "order", "spec"):
            if key not in args and base.args.get(key):
                args[key] = base.args[key]
        return exp.Window(**args)

    # WITH

    def _with(self, ast: exp.Expr, outer: Scope | None) -> BoundQuery:
        clause = ast.args["with_"]
        body = ast.copy()
        body.set("with_", None)
        saved, shared = self.ctes, []
        try:
            for cte in clause.expressions:
                if cte.args.get("scalar") or cte.args.get("key_expressions"):
                    raise Unmodelled("a CTE of this kind")
                definition = CteDefinition(cte, outer, self.ctes)
                if clause.args.get("recursive") and _mentions(cte.this, cte.alias):
                    pass  # bound anew at each reference: see recursive()
                elif _count_mentions(clause, body, cte) > 1:
                    bound = self._aliased(self.query(cte.this, outer), cte)
                    if not is_deterministic(bound.node):
                        definition = replace(definition, shared=self.names.fresh(cte.alias), bound=bound)
                        shared.append(definition)
                self.ctes = {**self.ctes, cte.alias.lower(): definition}
            result = self.query(body, outer)
        finally:
            self.ctes = saved
        node = result.node
        for definition in reversed(shared):
            assert definition.shared is not None
            assert definition.bound is not None
            node = Cte(name=definition.shared, definition=definition.bound.node, body=node)
        return BoundQuery(node, result.names)

    def reference(self, name: str) -> BoundQuery | None:
        """What a CTE's name in FROM stands for; None if it is none."""
        definition = self.ctes.get(name.lower())
        if definition is None:
            return None
        if definition.shared is not None:
            assert definition.bound is not None
            return self._read(definition.shared, definition.bound)
        saved, self.ctes = self.ctes, definition.ctes
        try:
            cte = definition.ast
            if cte.parent is not None and cte.parent.args.get("recursive") and _mentions(cte.this, cte.alias):
                return self._recursive(definition)
            return self._aliased(self.query(cte.this, definition.scope), cte)
        finally:
            self.ctes = saved

    def _read(self, shared: str, bound: BoundQuery) -> BoundQuery:
        rel = self.names.fresh(shared)
        columns = tuple(o.named(ColumnId(rel, o.id.name)) for o in bound.node.outputs)
        return BoundQuery(CteRef(name=shared, rel=rel, columns=columns), bound.names)

    def _recursive(self, definition: CteDefinition) -> BoundQuery:
        cte = definition.ast
        union = cte.this
        while isinstance(union, exp.Subquery) and not _modifiers(union):
            union = union.this
        if not isinstance(union, exp.Union) or _modifiers(union) or union.args.get("by_name"):
            raise Unmodelled("a recursive CTE that is no UNION")
        base = self._aliased(self.query(union.left, definition.scope), cte)
        name = self.names.fresh(cte.alias)
        rel = self.names.fresh(cte.alias)
        here = BoundQuery(
            CteRef(
                name=name, rel=rel, columns=tuple(Output(ColumnId(rel, n)) for n in unique_names(base.names))
            ),
            base.names,
        )
        inner = replace(definition, shared=name, bound=here)
        self.ctes = {**self.ctes, cte.alias.lower(): inner}
        step = self.query(union.right, definition.scope)
        if len(step.names) != len(base.names):
            raise Unmodelled("a recursive CTE whose arms differ in columns")
        out = self.names.fresh(cte.alias)
        node = Recursive(
            name=name,
            rel=out,
            names=unique_names(base.names),
            base=base.node,
            step=step.node,
            all=not union.args.get("distinct"),
        )
        return BoundQuery(node, base.names)

    def _aliased(self, bound: BoundQuery, cte: exp.CTE) -> BoundQuery:
        alias = cte.args.get("alias")
        columns = [c.name for c in alias.args.get("columns") or ()] if alias is not None else []
        return bound.renamed(columns)

    # Set operations

    def _set_operation(self, ast: exp.SetOperation, outer: Scope | None) -> BoundQuery:
        kind = _SET_KINDS.get(type(ast))
        if kind is None:
            raise Unmodelled(f"a {ast.key}")
        all_ = not ast.args.get("distinct")
        arms = [self.query(side, outer) for side in _chained(ast)]
        if ast.args.get("by_name"):
            arms = self._by_name(arms)
        if len({len(arm.ids) for arm in arms}) != 1:
            raise Unmodelled("a set operation of different widths")
        node = SetOp(kind=kind, all=all_, arms=tuple(arm.node for arm in arms), rel=self.names.fresh(kind))
        return BoundQuery(node, arms[0].names)

    def _by_name(self, arms: list[BoundQuery]) -> list[BoundQuery]:
        names = list(arms[0].names) + [
            n for n in arms[1].names if n.lower() not in {m.lower() for m in arms[0].names}
        ]
        aligned = []
        for arm in arms:
            known = {n.lower(): id for n, id in zip(arm.names, arm.ids, strict=True)}
            if len(known) != len(arm.names):
                raise Unmodelled("UNION BY NAME with a name twice")
            items = tuple(
                Item(name, column(known[name.lower()]) if name.lower() in known else exp.Null())
                for name in unique_names(names)
            )
            aligned.append(
                BoundQuery(Project(input=arm.node, rel=self.names.fresh("named"), items=items), tuple(names))
            )
        return aligned

    # ORDER BY and LIMIT after a set operation or parentheses

    def _ordered(self, bound: BoundQuery, ast: exp.Expr, outer: Scope | None) -> BoundQuery:
        node = bound.node
        order = ast.args.get("order")
        if order is not None:
            node = self._sorted(bound, order, outer)
        node = self.limited(node, ast, outer)
        if ast.args.get("sample") is not None:
            raise Unmodelled("SAMPLE")
        return BoundQuery(node, bound.names)

    def _sorted(self, bound: BoundQuery, order: exp.Order, outer: Scope | None) -> Node:
        """Keys are output columns, by position or name (of two the first), or expressions over them."""
        first: dict[str, Named] = {}
        for name, id in zip(bound.names, bound.ids, strict=True):
            first.setdefault(name.lower(), Named(name, column(id)))
        columns = tuple(first.values())
        scope = self.scope(FromItem(bound.node, (Relation("", columns),), columns), outer)
        binder = Expressions(self, scope)
        keys: list[SortKey] = []
        for ordered in order.expressions:
            if is_order_by_all(ordered):
                keys += [sort_key(ordered, column(id)) for id in bound.ids]
                continue
            position = place(ordered.this, len(bound.ids), "ORDER BY")
            expr = column(bound.ids[position - 1]) if position else binder.bind(ordered.this)
            keys.append(sort_key(ordered, expr))
        if any(free_columns(plan) for key in keys for plan in plans_in(key.expr)):
            raise Unmodelled("a correlated subquery in ORDER BY after a set operation")
        return Sort(input=bound.node, keys=tuple(keys))

    def limited(self, node: Node, ast: exp.Expr, outer: Scope | None) -> Node:
        limit, offset = ast.args.get("limit"), ast.args.get("offset")
        if limit is None and offset is None:
            return node
        if isinstance(limit, exp.Fetch):
            raise Unmodelled("FETCH")
        bind = Expressions(self, self.scope(NO_FROM, outer)).bind
        count = bind(limit.expression) if limit is not None else None
        options = limit.args.get("limit_options") if limit is not None else None
        percent = bool(options is not None and options.args.get("percent"))
        if options is not None and options.args.get("with_ties"):
            raise Unmodelled("WITH TIES")
        if percent and isinstance(count, exp.Placeholder):  # DuckDB reads no parameter before a %
            count = literal_of(self.parameters.exact(count.name))
        start = bind(offset.expression) if offset is not None else None
        if any(columns_in(e) for e in (count, start) if e is not None):
            raise Unmodelled("a LIMIT that depends on an outer row")
        return Limit(input=node, count=count, offset=start, percent=percent)

    # Views

    def view(self, view: View, *, is_local: bool = False) -> BoundQuery:
        """A view's query."""
        key = f"{'local ' if is_local else ''}{view.full_name.lower()}"
        if key in self.views_open:
            raise ProgrammingError(
                f'the view "{view.name}" reads itself', hint="Its definition names it, or a view that does"
            )
        saved, self.views_open = self.views_open, (*self.views_open, key)
        try:
            with self.inside(view):
                query = sqlglot.parse_one(view.sql, read="duckdb")
                return self.query(query, None).renamed(list(view.columns))
        finally:
            self.views_open = saved

    @contextmanager
    def inside(self, view: View) -> Iterator[None]:
        """Names are the view's own: no WITH item of the statement is one, and of the connection's relations
        only a view of the connection reads any."""
        saved = self.ctes, self.windows, self.locals, self.schema
        self.ctes, self.windows, self.schema = {}, {}, view.schema
        if not any(relation is view for relation in self.locals.values()):
            self.locals = {n: r for n, r in self.locals.items() if n.startswith(PREFIX)}
        try:
            yield
        except Error as error:
            if error.view is None:
                error.message = f'in the view "{view.name}": {error.message}'
                error.position = None  # it is one in the view's text, not in the statement's
                error.view = view.name
            raise
        finally:
            self.ctes, self.windows, self.locals, self.schema = saved

    def table(self, name: str, schema: str | None) -> Table | View | None:
        """What a name stands for in the catalog: without a schema, in the current one or else the default."""
        if schema is not None:
            return self.catalog.table(name, None if schema.lower() == MAIN else schema)
        found = self.catalog.table(name, self.schema) if self.schema is not None else None
        return found or self.catalog.table(name)

    def local(self, name: str) -> tuple[str, tuple[Output, ...] | View] | None:
        """A relation of the connection, and its name as it was given."""
        wanted = name.lower()
        return next(((n, found) for n, found in self.locals.items() if n.lower() == wanted), None)


_SET_KINDS: dict[type[exp.Expr], SetKind] = {
    exp.Union: "union",
    exp.Intersect: "intersect",
    exp.Except: "except",
}


def _modifiers(ast: exp.Expr) -> bool:
    return any(
        ast.args.get(key) is not None for key in ("order", "limit", "offset", "sample", "with_", "alias")
    )


def _mentions(ast: exp.Expr, name: str) -> bool:
    return any(t.name.lower() == name.lower() and not t.db for t in ast.find_all(exp.Table))


def _count_mentions(clause: exp.Expr, body: exp.Expr, cte: exp.CTE) -> int:
    """How often a CTE may be read: an upper bound, through the other CTEs too.

    Not by those that are not read themselves: what they read is looked up by nobody.
    """
    parts = [body, *(c.this for c in _read_through(clause, body) if c is not cte)]
    return sum(_tables_read(part).count(cte.alias.lower()) for part in parts)


def _read_through(clause: exp.Expr, body: exp.Expr) -> list[exp.CTE]:
    """The CTEs that the body may read, at once or by way of others."""
    names, left = set(_tables_read(body)), list(clause.expressions)
    found: list[exp.CTE] = []
    while more := [cte for cte in left if cte.alias.lower() in names]:
        found += more
        left = [cte for cte in left if cte.alias.lower() not in names]
        names.update(name for cte in more for name in _tables_read(cte.this))
    return found


def _tables_read(ast: exp.Expr) -> list[str]:
    return [t.name.lower() for t in ast.find_all(exp.Table) if not t.db]


def _chained(ast: exp.SetOperation) -> list[exp.Expr]:
    """The arms of `a UNION ALL b UNION ALL c`, whose types meet at once; one in parentheses has its own."""
    arms: list[exp.Expr] = [ast.right]
    left: exp.Expr = ast.left
    while isinstance(left, exp.Union) and _continues(ast, left):
        arms.append(left.right)
        left = left.left
    return [left, *reversed(arms)]


def _continues(ast: exp.SetOperation, left: exp.Union) -> bool:
    """Whether a union's left arm is the beginning of the same chain."""
    by_name = ast.args.get("by_name") or left.args.get("by_name")
    alike = isinstance(ast, exp.Union) and left.args.get("distinct") == ast.args.get("distinct")
    return alike and not by_name and not _modifiers(left)
