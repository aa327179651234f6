"""Makes a failing case small: by its statement's tree, then by its rows, tables and shards.

A smaller case is taken if it fails in the same way (`Failure.kind`) and one database still determines its
answer. Of all smaller statements the shortest is tried first, so that a few steps take most of it away.
"""

from __future__ import annotations

import re
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from tests.fuzz.build import Built
from tests.fuzz.oracles import Failure, NotAnswered, Variant, expected, judge
from tests.fuzz.schema import Table, World


@dataclass(frozen=True)
class Case:
    world: World
    sql: str
    variant: Variant


def failure(case: Case, built: Built | None = None) -> Failure | None:
    """What is wrong with the answer; None where nothing is, or one database does not determine it."""
    if built is None:
        with tempfile.TemporaryDirectory() as folder:
            try:
                built = Built(case.world, Path(folder))
            except Exception:  # a world that cannot be made is no smaller case
                return None
            try:
                return failure(case, built)
            finally:
                built.close()
    right = expected(built, case.sql)
    if right is None:
        return None
    try:
        return judge(built, case.sql, case.variant, right)
    except NotAnswered:
        return None


def reduced(case: Case, kind: str, seconds: float = 60.0) -> Case:
    """The smallest case found in that time that fails in this way."""
    return Reduction(case, kind, time.monotonic() + seconds).run()


class Reduction:
    def __init__(self, case: Case, kind: str, end: float) -> None:
        self.case, self.kind, self.end = case, kind, end

    def run(self) -> Case:
        before = None
        while before != self.case and self.has_time():
            before = self.case
            self.variant()
            self.statement()
            self.world()
        return self.case

    def has_time(self) -> bool:
        return time.monotonic() < self.end

    def fails(self, case: Case, built: Built | None = None) -> bool:
        found = failure(case, built)
        return found is not None and found.kind == self.kind

    def take(self, case: Case) -> bool:
        if case != self.case and self.has_time() and self.fails(case):
            self.case = case
            return True
        return False

    def variant(self) -> None:
        """As few passes off and options set as it takes."""
        now = self.case.variant
        if now == Variant() or self.take(replace(self.case, variant=Variant())):
            return
        for simpler in (
            replace(now, statistics=None),
            replace(now, plan_cache=True),
            replace(now, parameters=False),
            replace(now, force=()),
            replace(now, indexes=False),
        ):
            self.take(replace(self.case, variant=simpler))
        for name in now.without:
            left = tuple(n for n in self.case.variant.without if n != name)
            self.take(replace(self.case, variant=replace(self.case.variant, without=left)))

    # -- the statement

    def statement(self) -> None:
        dialect = self.case.world.dialect
        with tempfile.TemporaryDirectory() as folder:
            built = Built(self.case.world, Path(folder))
            try:
                while self.has_time() and self._shorter(built, dialect):
                    pass
            finally:
                built.close()

    def _shorter(self, built: Built, dialect: str) -> bool:
        now = self.case.sql
        for sql in smaller(now, dialect):
            if not self.has_time():
                return False
            if self.fails(replace(self.case, sql=sql), built):
                self.case = replace(self.case, sql=sql)
                return True
        return False

    # -- the world

    def world(self) -> None:
        world = self.case.world
        used = _used(self.case)
        for view in world.views:
            kept = tuple(v for v in self.case.world.views if v != view)
            self._try(views=kept, view_columns=())
        for view in reversed(self.case.world.views):
            self._inside(view)
        self._try(tables=tuple(t for t in world.tables if t.name in used))
        for index in world.indexes:
            self._try(indexes=tuple(i for i in self.case.world.indexes if i != index))
        if world.dialect == "duckdb" and not self._try(products=("duckdb",)):
            any(self._try(products=(product,)) for product in dict.fromkeys(world.products))
        for shards in range(1, world.shards):
            if self._try(shards=shards):
                break
        for table in self.case.world.tables:
            self._rows(table.name)
        for table in self.case.world.tables:
            self._simpler(table.name)
        self._one_sharding()
        named = {word for t in self.case.world.tables for word in t.place.split()}
        self._try(shardings=tuple(s for s in self.case.world.shardings if s.name in named))
        for sharding in self.case.world.shardings:
            plain = replace(sharding, rule=f"MOD {max(self.case.world.shards, 1)}", values=())
            others = self.case.world.shardings
            if not sharding.text and sharding.rule not in ("GRID", "MONTHS", "DIRECTORY"):
                self._try(shardings=tuple(plain if s is sharding else s for s in others))

    def _inside(self, view: str) -> None:
        """The view's query in the statement, where it can be made small."""
        name, _, query = view.partition(" AS ")
        sql, head = self.case.sql, f"WITH {name} AS ({query})"
        text = f"{head}, {sql.removeprefix('WITH ')}" if sql.startswith("WITH ") else f"{head} {sql}"
        kept = tuple(v for v in self.case.world.views if v != view)
        self.take(replace(self.case, sql=text, world=replace(self.case.world, views=kept, view_columns=())))

    def _one_sharding(self) -> None:
        """All tables by one sharding."""
        for sharding in self.case.world.shardings:
            tables = [
                replace(t, place=re.sub(r"\bh\d+\b", sharding.name, t.place)) for t in self.case.world.tables
            ]
            if self._try(tables=tuple(tables)):
                return

    def _try(self, **changes: object) -> bool:
        return self.take(replace(self.case, world=replace(self.case.world, **changes)))  # type: ignore[arg-type]

    def _with(self, table: Table) -> Case:
        tables = tuple(table if t.name == table.name else t for t in self.case.world.tables)
        return replace(self.case, world=replace(self.case.world, tables=tables))

    def _table(self, name: str) -> Table:
        return next(t for t in self.case.world.tables if t.name == name)

    def _rows(self, name: str) -> None:
        """Fewer rows, by halves, then one by one (delta debugging)."""
        size = max(len(self._table(name).rows), 1)
        while size >= 1 and self.has_time():
            start = 0
            while start < len(rows := self._table(name).rows):
                left = rows[:start] + rows[start + size :]
                if not self.take(self._with(replace(self._table(name), rows=left))):
                    start += size
                if not self.has_time():
                    return
            size = size // 2 if size > 1 else 0

    def _simpler(self, name: str) -> None:
        """Without columns that nothing reads, a table per slot, keys and promises."""
        self.take(self._with(replace(self._table(name), by_slot=False)))
        self.take(self._with(replace(self._table(name), keys="")))
        for clause in (" UNIQUE ACROSS SHARDS (id)", " ALSO BY (id)"):
            table = self._table(name)
            self.take(self._with(replace(table, place=table.place.replace(clause, ""))))
        for column in self._table(name).names:
            table = self._table(name)
            if len(table.names) > 1 and column not in table.place:
                at = table.names.index(column)
                parts = table.columns.split(", ")
                rows = tuple(row[:at] + row[at + 1 :] for row in table.rows)
                columns = ", ".join(parts[:at] + parts[at + 1 :])
                self.take(self._with(replace(table, columns=columns, rows=rows)))
        table = self._table(name)
        self.take(self._with(replace(table, columns=table.columns.replace(" NOT NULL", ""))))


def _used(case: Case) -> set[str]:
    """Tables that the statement or a view reads, and their parents."""
    texts = [case.sql, *(view.partition(" AS ")[2] for view in case.world.views)]
    found = {
        table.name
        for text in texts
        for table in sqlglot.parse_one(text, read=case.world.dialect).find_all(exp.Table)
    }
    for table in reversed(case.world.tables):
        if table.name in found and table.place.startswith("SHARD WITH"):
            found.add(table.place.split()[2])
    return found


# -- smaller statements ---------------------------------------------------------------


def smaller(sql: str, dialect: str) -> list[str]:
    """All statements that one step makes of this one, the shortest first; where one has a LIMIT it still has
    an order."""
    try:
        tree = sqlglot.parse_one(sql, read=dialect)
    except SqlglotError:
        return []
    found: dict[str, None] = {}
    for at, node in enumerate(tree.walk()):
        for edit in EDITS:
            for choice in range(edit.choices(node)):
                copy = tree.copy()
                root = edit.make(next(n for i, n in enumerate(copy.walk()) if i == at), choice) or copy
                if is_ordered(root):
                    found[root.sql(dialect)] = None
    found.pop(sql, None)
    return sorted(found, key=len)


def is_ordered(tree: exp.Expression) -> bool:
    """Whether every LIMIT and OFFSET is that of a query ordered by all its columns, by their positions."""
    for query in tree.find_all(exp.Query):
        if not query.args.get("limit") and not query.args.get("offset"):
            continue
        order = query.args.get("order")
        if order is None or len({key.this.sql() for key in order.expressions}) < _width(query):
            return False
    return True


def _width(query: exp.Query) -> int:
    selects = query.selects
    if any(isinstance(item, exp.Star) for item in selects):
        inner = query.find(exp.Subquery)
        return _width(inner.this) if inner is not None and isinstance(inner.this, exp.Query) else 99
    return len(selects)


class Edit:
    """`choices(node)`: in how many ways it can be done there. `make` changes the tree in place, or gives
    another root."""

    def choices(self, node: exp.Expression) -> int:
        raise NotImplementedError

    def make(self, node: exp.Expression, choice: int) -> exp.Expression | None:
        raise NotImplementedError


class DropClause(Edit):
    CLAUSES = ("where", "having", "qualify", "distinct", "limit", "offset", "with_", "with", "group", "order")

    def here(self, node: exp.Expression) -> list[str]:
        return [name for name in self.CLAUSES if node.args.get(name)] if isinstance(node, exp.Query) else []

    def choices(self, node: exp.Expression) -> int:
        return len(self.here(node))

    def make(self, node: exp.Expression, choice: int) -> None:
        name = self.here(node)[choice]
        for each in (name, *(("limit", "offset") if name == "order" else ())):
            node.set(each, None)


class DropItem(Edit):
    """A group key, a sort key, a CTE, a value of IN, an argument of COALESCE."""

    def choices(self, node: exp.Expression) -> int:
        is_list = isinstance(node, exp.Group | exp.Order | exp.With | exp.In | exp.Tuple | exp.Coalesce)
        return len(node.expressions) if is_list and len(node.expressions) > 1 else 0

    def make(self, node: exp.Expression, choice: int) -> None:
        node.set("expressions", node.expressions[:choice] + node.expressions[choice + 1 :])


class DropColumn(Edit):
    """A column of a select list, of all arms of a set operation, and of positions that count them."""

    def choices(self, node: exp.Expression) -> int:
        if not isinstance(node, exp.Select | exp.SetOperation):
            return 0
        above = node.parent.parent if isinstance(node.parent, exp.Subquery) else node.parent
        if isinstance(above, exp.SetOperation):
            return 0
        width = min((len(arm.expressions) for arm in _arms(node)), default=0)
        return width if width > 1 else 0

    def make(self, node: exp.Expression, choice: int) -> None:
        for arm in list(_arms(node)):
            arm.set("expressions", arm.expressions[:choice] + arm.expressions[choice + 1 :])
            if arm is not node:
                _renumber(arm, choice + 1)
        _renumber(node, choice + 1)
        outer = (
            node.parent.parent.parent
            if isinstance(node.parent, exp.Subquery) and node.parent.parent
            else None
        )
        if isinstance(outer, exp.Select) and any(isinstance(e, exp.Star) for e in outer.expressions):
            _renumber(outer, choice + 1)


def _arms(node: exp.Expression) -> Iterator[exp.Select]:
    if isinstance(node, exp.SetOperation):
        yield from _arms(node.this)
        yield from _arms(node.expression)
    elif isinstance(node, exp.Subquery):
        yield from _arms(node.this)
    elif isinstance(node, exp.Select):
        yield node


def _renumber(query: exp.Expression, dropped: int) -> None:
    order = query.args.get("order")
    if order is None:
        return
    left = []
    for key in order.expressions:
        number = int(key.this.this) if isinstance(key.this, exp.Literal) and key.this.is_int else 0
        if number == dropped:
            continue
        if number > dropped:
            key.set("this", exp.Literal.number(number - 1))
        left.append(key)
    order.set("expressions", left)
    if not left:
        query.set("order", None)


class DropJoin(Edit):
    """One of the tables of FROM."""

    def choices(self, node: exp.Expression) -> int:
        joins = node.args.get("joins") if isinstance(node, exp.Select) else None
        return len(joins) + 1 if joins else 0

    def make(self, node: exp.Expression, choice: int) -> None:
        joins = node.args["joins"]
        if choice < len(joins):
            node.set("joins", joins[:choice] + joins[choice + 1 :])
            return
        (node.args.get("from_") or node.args["from"]).set("this", joins[0].this)
        node.set("joins", joins[1:])


class PlainJoin(Edit):
    def choices(self, node: exp.Expression) -> int:
        return int(isinstance(node, exp.Join) and bool(node.args.get("side") or node.args.get("kind")))

    def make(self, node: exp.Expression, choice: int) -> None:
        for name in ("side", "kind"):
            node.set(name, None)


class Hoist(Edit):
    """A query becomes the whole statement; an arm stands for its set operation."""

    def choices(self, node: exp.Expression) -> int:
        if isinstance(node, exp.SetOperation):
            return 3 if node.parent is not None else 2
        return int(isinstance(node, exp.Select) and node.parent is not None)

    def make(self, node: exp.Expression, choice: int) -> exp.Expression | None:
        if not isinstance(node, exp.SetOperation) or choice == 2:
            return _with_its_ctes(node)
        arm = (node.this, node.expression)[choice].copy()
        while isinstance(arm, exp.Subquery) and not arm.alias:
            arm = arm.this
        if node.parent is None:
            if node.args.get("with_"):
                arm.set("with_", node.args["with_"].copy())
            return arm  # type: ignore[no-any-return]
        node.replace(arm)
        return None


def _with_its_ctes(node: exp.Expression) -> exp.Expression:
    root, copy = node.root(), node.copy()
    if root.args.get("with_") and not copy.args.get("with_") and node.find_ancestor(exp.With) is None:
        copy.set("with_", root.args["with_"].copy())
    return copy


class Operand(Edit):
    """A part of an expression stands for all of it."""

    def parts(self, node: exp.Expression) -> list[exp.Expression]:
        kinds = exp.Condition | exp.Paren | exp.Case | exp.If | exp.Filter | exp.Window
        if (
            node.parent is None
            or not isinstance(node, kinds)
            or isinstance(node, exp.Column | exp.Literal | exp.Star)
        ):
            return []
        found = [
            child
            for child in node.iter_expressions()
            if isinstance(child, exp.Condition) and not isinstance(child, exp.Tuple | exp.DataType)
        ]
        return found + [
            branch.args["true"] for branch in node.args.get("ifs") or () if isinstance(node, exp.Case)
        ]

    def choices(self, node: exp.Expression) -> int:
        return len(self.parts(node))

    def make(self, node: exp.Expression, choice: int) -> None:
        node.replace(self.parts(node)[choice].copy())


class Constant(Edit):
    """1 or NULL in place of an expression."""

    def choices(self, node: exp.Expression) -> int:
        kept = exp.Literal | exp.Null | exp.Star | exp.Boolean
        if not isinstance(node, exp.Condition) or isinstance(node, kept) or node.parent is None:
            return 0
        return 0 if isinstance(node.parent, exp.Column | exp.Table | exp.Ordered) else 2

    def make(self, node: exp.Expression, choice: int) -> None:
        node.replace(exp.Null() if choice else exp.Literal.number(1))


class Inline(Edit):
    """A CTE's query in place of its name."""

    def choices(self, node: exp.Expression) -> int:
        return int(isinstance(node, exp.Table) and self.definition(node) is not None)

    def definition(self, node: exp.Expression) -> exp.CTE | None:
        inside = node.find_ancestor(exp.CTE)
        found = (cte for cte in node.root().find_all(exp.CTE) if cte.alias == node.name and cte is not inside)
        return next(found, None)

    def make(self, node: exp.Expression, choice: int) -> None:
        definition = self.definition(node)
        assert definition is not None
        alias = exp.TableAlias(this=exp.to_identifier(node.alias or node.name))
        node.replace(exp.Subquery(this=definition.this.copy(), alias=alias))


class Unwrap(Edit):
    """SELECT * FROM (query) z ORDER BY …: the query with the order."""

    def inner(self, node: exp.Expression) -> exp.Query | None:
        if not isinstance(node, exp.Select) or not any(isinstance(e, exp.Star) for e in node.expressions):
            return None
        start = node.args.get("from_") or node.args.get("from")
        inner = start.this if start is not None else None
        if not isinstance(inner, exp.Subquery) or node.args.get("joins") or inner.this.args.get("limit"):
            return None
        return inner.this  # type: ignore[no-any-return]

    def choices(self, node: exp.Expression) -> int:
        return int(self.inner(node) is not None)

    def make(self, node: exp.Expression, choice: int) -> exp.Expression | None:
        query = self.inner(node).copy()  # type: ignore[union-attr]
        for name in ("order", "limit", "offset", "with", "with_"):
            if node.args.get(name):
                query.set(name, node.args[name].copy())
        if node.parent is None:
            return query  # type: ignore[no-any-return]
        node.replace(query)
        return None


EDITS = (
    DropClause(),
    DropItem(),
    DropColumn(),
    DropJoin(),
    PlainJoin(),
    Hoist(),
    Operand(),
    Constant(),
    Inline(),
    Unwrap(),
)
