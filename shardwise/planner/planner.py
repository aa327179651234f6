"""SQL + catalog → plan. A pure function: no I/O, no clock, no engine.

planner = Planner(catalog)
statement = planner.prepare("SELECT … WHERE id = ?")
plan = statement.plan([5], context=Context(now=…))
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from sqlglot import exp

from shardwise.catalog.model import Catalog, View
from shardwise.errors import NotSupportedError, Reason, Unplannable
from shardwise.options import Options
from shardwise.plan.nodes import Node, Output
from shardwise.plan.route import Note
from shardwise.plan.run import Bound, First, Plan
from shardwise.planner.bind import Binder, BoundQuery, Unmodelled
from shardwise.planner.bind.names import Names
from shardwise.planner.bind.raw import bind_whole
from shardwise.planner.context import Context
from shardwise.planner.dialects import query_dialect
from shardwise.planner.firsts import Early, Firsts
from shardwise.planner.members import place_members
from shardwise.planner.parameters import Given, Parameters, names_written
from shardwise.planner.parse import parse
from shardwise.planner.pass_context import PlanContext
from shardwise.planner.passes import PASSES, run
from shardwise.planner.render import render

Locals = Mapping[str, tuple[Output, ...] | View]


@dataclass(frozen=True)
class Planner:
    """Plans statements against one catalog. Threads may share it."""

    catalog: Catalog

    def prepare(self, sql: str, *, locals: Locals | None = None) -> Statement:  # noqa: A002
        """Parses one statement. `locals` are a connection's own relations by name.

        Raises SQLSyntaxError with the position, NotSupportedError for what is no query.
        """
        dialect = query_dialect(self.catalog.dialect)
        if dialect.is_alone:
            self._refuse_other_sources(dialect.name)
        ast = parse(sql, dialect)
        return Statement(self, sql, ast, dict(locals or {}))

    def _refuse_other_sources(self, dialect: str) -> None:
        others = sorted(self.catalog.dialects - {dialect})
        if others:
            raise NotSupportedError(
                f"a catalog of the {dialect} dialect has sources of {dialect} only, not of {others[0]}",
                hint="Write CREATE CATALOG … DIALECT duckdb to ask sources of several products at once",
            )


@dataclass(frozen=True)
class Statement:
    """A parsed statement; `plan` makes a plan for given parameters, any number of times."""

    planner: Planner
    sql: str
    ast: exp.Expr
    locals: Locals = field(default_factory=dict)
    kind: str = "query"

    @property
    def tables(self) -> tuple[str, ...]:
        """The tables and views it names, each once, in no order of meaning; WITH items are not among them."""
        with_items = {c.alias.lower() for c in self.ast.find_all(exp.CTE)}
        named = (t for t in self.ast.find_all(exp.Table) if isinstance(t.this, exp.Identifier))
        return tuple(dict.fromkeys(t.name for t in named if t.db or t.name.lower() not in with_items))

    @property
    def parameters(self) -> tuple[str, ...]:
        """The parameters, each once: positions as "1", "2", … in their order, or names."""
        written = self.ast.find_all(exp.Placeholder, exp.Parameter)
        names = dict.fromkeys(str(p.name or p.this) for p in written)
        return tuple(sorted(names, key=lambda name: int(name) if name.isdigit() else 0))

    @property
    def columns(self) -> tuple[tuple[str, str | None], ...]:
        """The result's columns, as far as they are known without parameters and without an engine."""
        positions = [int(name) for name in self.parameters if name.isdigit()]
        by_name = {name: None for name in self.parameters if not name.isdigit()}
        return self.plan(by_name or [None] * max(positions, default=0)).columns

    def plan(
        self, params: Given = None, *, context: Context | None = None, options: Options | None = None
    ) -> Plan:
        """The plan for these parameters.

        Raises ProgrammingError for a wrong number of parameters, UnknownName, Unplannable.
        """
        try:
            return make_plan(self, params, context or Context(), options or Options())
        except RecursionError as error:
            raise Unplannable(
                "the statement is nested too deeply to be planned",
                hint="Write long chains of OR as IN (…), and long unions as VALUES or a table",
            ) from error


def make_plan(statement: Statement, params: Given, context: Context, options: Options) -> Plan:
    catalog = statement.planner.catalog
    if context.members:
        catalog = catalog.with_members(context.members)
    written = names_written(statement.ast)
    parameters = Parameters(params, written)
    names = Names()
    dialect = query_dialect(catalog.dialect)
    ast = dialect.fixed(statement.ast, context, catalog)
    binder = Binder(catalog, context, parameters, statement.locals, names, dialect=dialect)
    notes: list[Note] = []
    try:
        what = dialect.unmodelled(ast, catalog)
        if what is not None:
            raise Unmodelled(what)
        bound = _bound(binder, ast)
    except Unmodelled as unmodelled:
        parameters = Parameters(params, written)
        names = Names()
        binder = Binder(catalog, context, parameters, statement.locals, names, dialect=dialect)
        bound = bind_whole(binder, ast, unmodelled.what)
        notes.append(
            Note("statement-kept-whole", f"{unmodelled.what} is not modelled: the statement runs as it is")
        )
    parameters.check_all_used()
    placing = PlanContext(catalog=catalog, parameters=parameters.copy(), names=names.copy())
    root = place_members(bound.node, placing)
    making = _Making(placing.catalog, parameters, names, tuple(notes), options, statement.sql)
    return making.plan(root, bound.names)


def _bound(binder: Binder, ast: exp.Expr) -> BoundQuery:
    """What the binder objects to another engine may take; then that engine is asked."""
    try:
        return binder.query(ast, None)
    except binder.dialect.doubts as error:
        raise Unmodelled("what the planner does not read as its engine may") from error


@dataclass(frozen=True)
class _Making:
    """Plans trees of one statement: the whole, the subqueries that run first, and the rest once they have."""

    catalog: Catalog
    parameters: Parameters
    names: Names
    notes: tuple[Note, ...]
    options: Options
    sql: str

    def plan(self, root: Node, columns: tuple[str, ...], firsts: Firsts | None = None) -> Plan:
        ctx = PlanContext(
            catalog=self.catalog,
            parameters=self.parameters.copy(),
            names=self.names.copy(),
            notes=list(self.notes),
            firsts=firsts or Firsts(),
        )
        tree, steps = run(
            root,
            PASSES,
            ctx,
            disabled={*self.options.disable_passes, *query_dialect(self.catalog.dialect).off},
            verify_each=self.options.verify_passes,
        )
        plan = render(tree, columns, ctx, sql=self.sql, steps=tuple(steps))
        waiting = [e for e in ctx.firsts.found if e.name not in ctx.firsts.bound]
        if not waiting:
            if self.options.scatter == "refuse":
                refuse_scatter(plan)
            return plan

        def then(values: Mapping[str, Bound]) -> Plan:
            known = Firsts({**ctx.firsts.bound, **values}, ctx.firsts.names)
            return self.plan(root, columns, known)

        # What already ran is bound in this context's parameters, and may stand in what runs now.
        making = replace(self, parameters=ctx.parameters)
        return replace(plan, first=tuple(making._first(e) for e in waiting), then=then)

    def _first(self, early: Early) -> First:
        names = tuple(o.id.name for o in early.plan.outputs)
        return First(
            name=early.name,
            plan=self.plan(early.plan, names),
            is_scalar=early.use == "scalar",
            rows_max=early.rows_max,
        )


def refuse_scatter(plan: Plan) -> None:
    """With scatter="refuse", a statement that asks more than one shard is an error that says why it would."""
    shards = plan.shards
    if len(shards) > 1:
        why = next(
            (n.sentence for f in plan.fragments for n in f.route.why), "nothing limits it to one shard"
        )
        raise Unplannable(
            f"the statement would ask {len(shards)} shards, and scatter is refused: {why}",
            reason=Reason.SCATTER_REFUSED,
            hint="Compare the shard key with a value, or allow it: scatter='allow'",
        )
