"""From a plan tree to one query: a node is added to the SELECT below it, or makes that a derived table.

A tree is walked down its first inputs with a loop and built on the way up, so that neither a long chain
of joins nor a set operation of thousands of arms recurses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from sqlglot import exp

from shardwise.errors import InternalError
from shardwise.plan.nodes import (
    Aggregate,
    ColumnId,
    Cte,
    CteRef,
    Distinct,
    Fence,
    Filter,
    Gather,
    Join,
    Keep,
    Limit,
    Local,
    Node,
    Project,
    Recursive,
    Scan,
    Sort,
    Window,
)
from shardwise.plan.sql import clauses, sources
from shardwise.plan.sql.block import Block, Col, Scope, in_arm, written
from shardwise.plan.sql.expressions import every, parenthesise, put
from shardwise.plan.sql.joins import add_join, lateral_item
from shardwise.plan.sql.names import Names, identifier, output_names, unique
from shardwise.plan.sql.reader import ANY, Reader
from shardwise.plan.tree import free_columns, plan_of, subplans

Leaf = Callable[[Node], exp.Expr | None]
"""A Scan, Gather or Local as an item of FROM, without alias; None: as the default has it."""

_COMPARISONS = frozenset({exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE})
_SPINE = (Filter, Fence, Project, Keep, Aggregate, Window, Distinct, Sort, Limit, Cte, Join)


def to_query(
    node: Node,
    leaf: Leaf,
    names: Sequence[str] | None = None,
    reader: Reader = ANY,
) -> exp.Query:
    """The tree as one query of the duckdb dialect.

    `names` are the names of its columns (they may repeat); by default those of the outputs, made unique,
    as `stream_names` says them. `leaf` writes Scans, Gathers and Locals. The result is the caller's.
    `reader` is who reads it.
    """
    return Renderer(node, leaf, reader).statement(node, {}, names)


@dataclass
class Shared:
    """A CTE that has been written: its name, its columns' names, and how deep its WITH is."""

    name: str
    columns: tuple[str, ...]
    ids: tuple[str, ...]
    depth: int


@dataclass
class With:
    """The CTEs of one query."""

    ctes: list[exp.CTE]
    is_recursive: bool = False


class Renderer:
    """One rendering: the names given out, and the CTEs in sight."""

    def __init__(self, root: Node, leaf: Leaf, reader: Reader = ANY) -> None:
        self.reader = reader
        self._root = root
        self._leaf = leaf
        self._aliases: dict[str, str] = {}
        self._names = Names()
        self._inside = tuple(_reading_outside(root))
        self._cte_names: Names | None = None
        self._withs: list[With] = []
        self._shared: dict[str, list[Shared]] = {}

    # ------------------------------------------------------------------ queries and blocks

    def statement(
        self, node: Node, outer: Scope, names: Sequence[str] | None = None, *, hides_limit: bool = False
    ) -> exp.Query:
        """A query that may have its own WITH. `hides_limit`: what has a LIMIT becomes a derived table."""
        with self.own_with() as own:
            block = self.block(node, outer)
            if hides_limit and block.has_limit:
                block = self.wrap(block)
            own_names = tuple(id.name for id in block.outputs)
            wanted = tuple(names) if names is not None else unique(own_names)
            if block.raw is not None and wanted != own_names:
                block = self.wrap(block)
            query = block.build(wanted)
        return attach(query, own)

    @contextmanager
    def own_with(self) -> Iterator[With]:
        """A place for CTEs."""
        own = With([])
        self._withs.append(own)
        try:
            yield own
        finally:
            self._withs.pop()

    def block(self, node: Node, outer: Scope) -> Block:
        """The node as a block; `outer` says how the columns that come from outside are written."""
        spine: list[Node] = []
        while isinstance(node, _SPINE):
            spine.append(node)
            if isinstance(node, Cte):
                self._define(node.name, node.definition, outer)
                node = node.body
            else:
                node = node.inputs[0]
        block = sources.source(self, node, outer)
        for above in reversed(spine):
            block = self._add(above, block, outer)
        return block

    def _add(self, node: Node, block: Block, outer: Scope) -> Block:
        if isinstance(node, Cte):
            self._shared[node.name].pop()
            return block
        if isinstance(node, Join):
            return add_join(self, node, block, outer)
        return clauses.ADD[type(node)](self, node, block, outer)

    def lateral(self, node: Node, scope: Scope) -> Block:
        """The node as LATERAL (SELECT …), with the left side's columns in `scope`."""
        with self.own_with() as own:
            return self.wrap(self.block(node, scope), own)

    def wrap(self, block: Block, lateral: With | None = None) -> Block:
        """The block as a derived table in a block of its own."""
        names = unique(id.name for id in block.outputs)
        alias = self.alias(block.rel) if block.rel else self._names.next("q")
        table_alias = exp.TableAlias(this=identifier(alias))
        if block.raw is not None:
            table_alias.set("columns", [identifier(name) for name in names])
        query = block.build(names)
        if lateral is None:
            item: exp.Expr = exp.Subquery(this=query, alias=table_alias)
        else:
            item = lateral_item(attach(query, lateral), table_alias)
        return Block(
            outputs=block.outputs,
            columns={id: Col(alias, name) for id, name in zip(block.outputs, names, strict=True)},
            rel=block.rel,
            source=item,
        )

    def alias(self, rel: str) -> str:
        """The alias of a rel: its own name, unless another that differs in letter case only has it, or a
        column would hide it."""
        alias = self._aliases.get(rel)
        if alias is None:
            alias = self._aliases[rel] = self._new(rel)
        return alias

    def alias_of_stream(self, fragment: str) -> str:
        """A new alias: one stream may be read twice."""
        alias = self._new(fragment)
        self._aliases[alias] = alias
        return alias

    def _new(self, wanted: str) -> str:
        alias = self._names.new(wanted)
        while any(part.hides(wanted, alias) for part in self._inside):
            alias = self._names.new(wanted)
        return alias

    def item(self, node: Node) -> exp.Expr:
        """A leaf's item of FROM."""
        item = self._leaf(node)
        if item is not None:
            return item
        if isinstance(node, Scan):
            return sources.scan_item(node)
        name = node.fragment if isinstance(node, Gather) else node.name  # type: ignore[attr-defined]
        return exp.Table(this=identifier(name))

    # ------------------------------------------------------------------ expressions

    def write(self, expr: exp.Expr, block: Block | None, outer: Scope) -> exp.Expr:
        """A new expression with columns and subqueries written for this block."""
        own: Scope = block.columns if block is not None else {}
        if type(expr) is exp.Column and expr.table:
            return written(self._find(ColumnId(expr.table, expr.name), own, outer))
        if type(expr) in _COMPARISONS:
            left, right = (self._atom(side, own, outer) for side in (expr.this, expr.expression))
            if left is not None and right is not None:
                return type(expr)(this=left, expression=right)
        holder = exp.Paren(this=expr.copy())
        for part in list(holder.find_all(exp.Column, exp.Subquery)):
            if type(part) is exp.Column:
                if part.table:
                    put(part, written(self._find(ColumnId(part.table, part.name), own, outer)))
            elif (plan := plan_of(part)) is not None:
                self._put_subquery(part, plan, own, outer)
        parenthesise(holder)
        result = holder.this
        result.pop()
        assert isinstance(result, exp.Expr)
        return result

    def _atom(self, expr: exp.Expr, own: Scope, outer: Scope) -> exp.Expr | None:
        """A constant or a column, written anew, if it needs no parentheses wherever it stands; else None."""
        if type(expr) is exp.Literal:
            return expr.copy()
        if type(expr) is not exp.Column or not expr.table:
            return None
        ref = self._find(ColumnId(expr.table, expr.name), own, outer)
        return written(ref) if type(ref) is Col else None

    def _put_subquery(self, part: exp.Expr, plan: Node, own: Scope, outer: Scope) -> None:
        scope = {id: self._find(id, own, outer) for id in free_columns(plan)}
        is_list = isinstance(part.parent, exp.Any | exp.All) or part.arg_key == "query"  # of IN
        # A derived table would not see the outer row.
        query = self.statement(
            plan, scope, hides_limit=is_list and not scope and not self.reader.limits_in_lists
        )
        bare = isinstance(part.parent, (exp.Exists, exp.Array)) and not isinstance(query, exp.Subquery)
        part.replace(query if bare else exp.Subquery(this=query))

    @staticmethod
    def _find(id: ColumnId, own: Scope, outer: Scope) -> Col | exp.Expr:
        ref = own.get(id)
        if ref is None:
            ref = outer.get(id)
        if ref is None:
            raise InternalError(f"no node makes the column {id.rel}.{id.name}")
        return ref

    # ------------------------------------------------------------------ CTEs

    def _define(self, name: str, definition: Node, outer: Scope) -> None:
        columns = output_names(definition)
        depth = self._depth(definition)
        query = self.statement(definition, outer, columns)
        shared = Shared(self._cte_name(name), columns, tuple(o.id.name for o in definition.outputs), depth)
        alias = exp.TableAlias(this=identifier(shared.name))
        is_correlated = bool(free_columns(definition))
        cte = exp.CTE(this=query, alias=alias, materialized=None if is_correlated else True)
        self._withs[depth].ctes.append(cte)
        self._shared.setdefault(name, []).append(shared)

    def add_recursive(self, node: Recursive, outer: Scope) -> Shared:
        """Writes WITH RECURSIVE for the node."""
        columns = unique(node.names)
        depth = self._depth(node)
        shared = Shared(self._cte_name(node.name), columns, node.names, depth)
        self._shared.setdefault(node.name, []).append(shared)
        arms = [self.statement(arm, outer, columns) for arm in (node.base, node.step)]
        self._shared[node.name].pop()
        union = exp.Union(this=in_arm(arms[0]), expression=in_arm(arms[1]), distinct=not node.all)
        alias = exp.TableAlias(
            this=identifier(shared.name), columns=[identifier(column) for column in columns]
        )
        self._withs[depth].ctes.append(exp.CTE(this=union, alias=alias))
        self._withs[depth].is_recursive = True
        return shared

    def shared(self, name: str) -> Shared:
        """The CTE that a CteRef of this name reads."""
        found = self._shared.get(name)
        if not found:
            raise InternalError(f"no CTE {name} is in sight")
        return found[-1]

    def _depth(self, definition: Node) -> int:
        """The outermost WITH in which the definition sees what it reads."""
        if free_columns(definition):
            return len(self._withs) - 1
        return max(
            (self._shared[n][-1].depth for n in _names_read(definition) if self._shared.get(n)), default=0
        )

    def _cte_name(self, wanted: str) -> str:
        """A name that hides no table that the statement reads."""
        if self._cte_names is None:
            self._cte_names = Names(_table_names(self._root))
        return self._cte_names.new(wanted)


def attach(query: exp.Query, own: With) -> exp.Query:
    """The query with its WITH."""
    if own.ctes:
        query.set("with_", exp.With(expressions=own.ctes, recursive=own.is_recursive or None))
    return query


def _everything(root: Node) -> Iterator[Node]:
    stack = [root]
    while stack:
        for node in every(stack.pop()):
            yield node
            stack.extend(subplans(node))


def _names_read(root: Node) -> frozenset[str]:
    return frozenset(node.name for node in _everything(root) if isinstance(node, CteRef))


def _table_names(root: Node) -> Iterator[str]:
    for node in _everything(root):
        if isinstance(node, Scan):
            yield node.table.name
        elif isinstance(node, Local):
            yield node.name
        elif isinstance(node, Gather):
            yield node.fragment


@dataclass
class _Inside:
    """A part that reads rows of what is outside of it: what it has of its own, and its columns.

    FROM t AS q WHERE EXISTS (SELECT 1 FROM u HAVING max(u.k) = q.k): if u has a column q, its field is read,
    or looked for.
    """

    rels: set[str]
    columns: set[str]

    def hides(self, rel: str, alias: str) -> bool:
        return rel not in self.rels and alias.casefold() in self.columns


def _reading_outside(root: Node) -> Iterator[_Inside]:
    for node in _nodes(root):
        for part in (*subplans(node), *([node.right] if isinstance(node, Join) and node.lateral else [])):
            if free_columns(part):
                below = tuple(_nodes(part))
                rels = {n.fragment for n in below if isinstance(n, Gather)}
                rels.update(output.id.rel for n in below for output in n.outputs)
                columns = {output.id.name.casefold() for n in below for output in n.outputs}
                for scan in (n for n in below if isinstance(n, Scan)):
                    columns.update(column.name.casefold() for column in scan.table.columns or ())
                yield _Inside(rels, columns)


def _nodes(root: Node) -> Iterator[Node]:
    """All nodes, those of subqueries too, in no order; a chain may be long."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += (*node.inputs, *subplans(node))
