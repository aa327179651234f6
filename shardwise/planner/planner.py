"""SQL + catalog → plan. A pure function: no I/O, no clock, no engine.

planner = Planner(catalog)
statement = planner.prepare("SELECT … WHERE id = ?")
plan = statement.plan([5], context=Context(now=…))

With a `PlanCache` it remembers plans: `Planner(catalog, PlanCache())`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Final, NamedTuple

from sqlglot import exp

from shardwise.catalog.model import Catalog, View
from shardwise.errors import Reason, Unplannable
from shardwise.options import Options
from shardwise.plan.holes import LIKE
from shardwise.plan.kinds import all_as_base
from shardwise.plan.nodes import Node, Output
from shardwise.plan.reasons import NotPushed
from shardwise.plan.route import Note
from shardwise.plan.run import Bound, First, Plan
from shardwise.planner.bind import Binder, BoundQuery, Unmodelled
from shardwise.planner.bind.names import Names
from shardwise.planner.bind.raw import bind_whole
from shardwise.planner.caching.cache import PlanCache, Text
from shardwise.planner.caching.template import Template, template_of
from shardwise.planner.context import Context
from shardwise.planner.dialects import query_dialect, refuse_other_sources
from shardwise.planner.firsts import Early, Firsts
from shardwise.planner.go_on import go_on
from shardwise.planner.members import place_members
from shardwise.planner.paging import paging_of
from shardwise.planner.parameters import Given, Parameters, names_written
from shardwise.planner.parse import parse
from shardwise.planner.pass_context import PlanContext
from shardwise.planner.passes import PASSES, run
from shardwise.planner.render import render
from shardwise.planner.usable_indexes import may_be_used

Locals = Mapping[str, tuple[Output, ...] | View]

_NO_LOCALS: Final[Locals] = {}
_CONTEXT: Final = Context()
_OPTIONS: Final = Options()


@dataclass(frozen=True)
class Planner:
    """Plans statements against one catalog. Threads may share it, and planners of one catalog their cache."""

    catalog: Catalog
    cache: PlanCache | None = None

    def prepare(self, sql: str, *, locals: Locals | None = None) -> Statement:  # noqa: A002
        """Parses one statement. `locals` are a connection's own relations by name.

        Raises SQLSyntaxError with the position, NotSupportedError for what is no query.
        """
        cache = self.cache if not locals else None
        text = cache.known(self.catalog, sql) if cache is not None else None
        if text is not None and text.statement is not None:
            return text.statement
        dialect = query_dialect(self.catalog.dialect)
        refuse_other_sources(self.catalog)
        if cache is None:
            return Statement(self, sql, parse(sql, dialect), dict(locals or {}))
        text = text or cache.text(self.catalog, sql)
        text.statement = Statement(self, sql, text.shape.ast, _NO_LOCALS, cached=text)
        return text.statement


@dataclass(frozen=True)
class Statement:
    """A parsed statement; `plan` makes a plan for given parameters, any number of times.

    `cached` is what the planner's cache knows of it; literals may then be placeholders in `ast`.
    """

    planner: Planner
    sql: str
    ast: exp.Expr
    locals: Locals = field(default_factory=dict)
    kind: str = "query"
    cached: Text | None = None

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
        names = dict.fromkeys(str(p.name or p.this) for p in written if LIKE not in p.args)
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
        cache, text = self.planner.cache, self.cached
        context, options = context or _CONTEXT, options or _OPTIONS
        if cache is None or text is None:
            return self._made(params and all_as_base(params), context, options).plan
        if context.members or options.pages:
            return self._plain(params, context, options)  # plans depend on which there are, or on a row
        key = text.shape.key_for(params, context, options)
        if key is None and params:
            params = all_as_base(params)
            key = text.shape.key_for(params, context, options)
        plan = cache.plan(text, key, self.sql, params, context.scope)
        if plan is not None:
            return plan
        if text.shape.is_reusable:
            made = self._made(params, context, options)
            cache.keep(text, key, made.template, params, context, options)
            if made.template is not None:
                return made.template.first(self.sql, params, text.literals)
            if not text.literals:
                return made.plan
        else:
            cache.keep(text, key, None, params, context, options)
        return self._plain(params, context, options)

    def _plain(self, params: Given, context: Context, options: Options) -> Plan:
        """Planned with its literals in their places."""
        ast = parse(self.sql, query_dialect(self.planner.catalog.dialect))
        return Statement(self.planner, self.sql, ast).plan(params, context=context, options=options)

    def _made(self, params: Given, context: Context, options: Options) -> Made:
        try:
            return make_plan(self, params, context, options)
        except RecursionError as error:
            raise Unplannable(
                "the statement is nested too deeply to be planned",
                hint="Write long chains of OR as IN (…), and long unions as VALUES or a table",
            ) from error


class Made(NamedTuple):
    """A plan, and for which values it is right as well (None: for these alone)."""

    plan: Plan
    template: Template | None


def make_plan(statement: Statement, params: Given, context: Context, options: Options) -> Made:
    catalog = statement.planner.catalog
    if context.members:
        catalog = catalog.with_members(context.members)
    written = names_written(statement.ast)
    literals = statement.cached.literals if statement.cached is not None else ()
    dialect = query_dialect(catalog.dialect)
    ast = dialect.fixed(statement.ast, context, catalog)

    def binder() -> Binder:
        parameters = Parameters(params, written, literals)
        return Binder(catalog, context, parameters, statement.locals, Names(), dialect=dialect)

    notes: list[Note] = []
    binding = binder()
    try:
        what = dialect.unmodelled(ast, catalog)
        if what is not None:
            raise Unmodelled(what)
        bound = _bound(binding, ast)
    except Unmodelled as unmodelled:
        binding = binder()
        bound = bind_whole(binding, ast, unmodelled.what)
        notes.append(
            Note("statement-kept-whole", f"{unmodelled.what} is not modelled: the statement runs as it is")
        )
    parameters = binding.parameters
    parameters.check_all_used()
    if ast is not statement.ast and ast != dialect.fixed(statement.ast, _another_moment(context), catalog):
        parameters.observed.is_bound_to_context = True
    placing = PlanContext(catalog=catalog, parameters=parameters, names=binding.names)
    tree = place_members(bound.node, placing)
    columns = bound.names
    if options.pages:
        placing.learn(tree)
        tree, columns = go_on(tree, columns, context.after, placing)
    making = _Making(
        placing.catalog,
        parameters,
        binding.names,
        tuple(notes),
        options,
        statement.sql,
        is_scoped=bool(context.scope),
        time_zone=context.time_zone,
        hidden=len(columns) - len(bound.names),
    )
    plan, ctx = making.planned(tree, columns)

    def moved(root: Node, catalog: Catalog) -> Plan:
        return render(root, bound.names, replace(ctx, catalog=catalog), sql=statement.sql, steps=())

    return Made(plan, template_of(plan, ctx, moved, context.scope) if statement.cached is not None else None)


def _another_moment(context: Context) -> Context:
    """One in which no part of the time is the same."""
    return replace(
        context, now=context.now + timedelta(days=400, hours=1, minutes=1, seconds=1, milliseconds=1)
    )


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
    is_scoped: bool
    time_zone: str
    hidden: int = 0

    def plan(self, root: Node, columns: tuple[str, ...], firsts: Firsts | None = None) -> Plan:
        return self.planned(root, columns, firsts)[0]

    def planned(
        self, root: Node, columns: tuple[str, ...], firsts: Firsts | None = None
    ) -> tuple[Plan, PlanContext]:
        """The plan, and what the passes knew at its end."""
        ctx = PlanContext(
            catalog=self.catalog,
            parameters=self.parameters.copy(),
            names=self.names.copy(),
            notes=list(self.notes),
            firsts=firsts or Firsts(),
            forced=frozenset(self.options.force),
            trusts_indexes=self.options.trust_indexes,
            is_scoped=self.is_scoped,
            time_zone=self.time_zone,
        )
        tree, steps = run(
            root,
            PASSES,
            ctx,
            disabled={*self.options.disable_passes, *query_dialect(self.catalog.dialect).off},
            verify_each=self.options.verify_passes,
        )
        plan = render(tree, columns, ctx, sql=self.sql, steps=tuple(steps))
        if self.hidden:
            plan = replace(plan, hidden=self.hidden)
        waiting = [e for e in ctx.firsts.found if e.name not in ctx.firsts.bound]
        if not waiting:
            if self.options.scatter == "refuse":
                refuse_scatter(plan)
            return self._paged(plan, tree, columns, ctx), ctx

        def then(values: Mapping[str, Bound]) -> Plan:
            known = Firsts({**ctx.firsts.bound, **values}, ctx.firsts.names)
            return self.plan(root, columns, known)

        # What already ran is bound in this context's parameters, and may stand in what runs now.
        making = replace(self, parameters=ctx.parameters, hidden=0)
        first = tuple(making._first(e) for e in waiting)
        return replace(plan, first=first, then=then, indexes=may_be_used(root, ctx)), ctx

    def _paged(self, plan: Plan, tree: Node, columns: tuple[str, ...], ctx: PlanContext) -> Plan:
        """The plan that seeks the statement's page, if there is one; else the plan as it is."""
        if ctx.page is None:
            return plan
        paging = paging_of(ctx.page, tree, columns, plan, ctx)
        if paging.is_agreed():
            return paging.start()
        why = f"OFFSET {ctx.page.offset:,}: a source compares its keys otherwise, or has no ROW_NUMBER()"
        return replace(plan, notes=(*plan.notes, Note(NotPushed.DEEP_PAGE, why)))

    def _first(self, early: Early) -> First:
        names = tuple(o.id.name for o in early.plan.outputs)
        dialect = query_dialect(self.catalog.dialect)
        return First(
            name=early.name,
            plan=self.plan(early.plan, names),
            is_scalar=early.use == "scalar",
            rows_max=early.rows_max,
            is_lazy=dialect.early.are_lazy,
            types=dialect.affinities(early.plan),
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
