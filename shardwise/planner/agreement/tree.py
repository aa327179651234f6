"""Plan nodes as a source of another dialect is to compute them: the same tree, its expressions written anew.

A column keeps its identity where its node passes it on. Where whole rows are compared (DISTINCT, UNION) all
columns are made canonical first, under new identities; `Done.forms` says under which each is read.

    Distinct                    Distinct
    └─ Scan u: name       =>    └─ Project u:values: name = (the value of u.name)
                                   └─ Scan u: name
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Sequence
from typing import Any, ClassVar

from sqlglot import exp

from shardwise.plan.nodes import (
    Aggregate,
    ColumnId,
    Distinct,
    Empty,
    Fence,
    Filter,
    Gather,
    Item,
    Join,
    Keep,
    Limit,
    Node,
    Output,
    Project,
    Rows,
    Scan,
    SetOp,
    Sort,
    SortKey,
    Window,
)
from shardwise.plan.tree import bare, column, free_columns, subplan
from shardwise.planner.agreement.entries import is_one_row
from shardwise.planner.agreement.forms import Done, Form, Forms, NotAgreed
from shardwise.planner.agreement.known import Agreed, Disagreement, Known
from shardwise.planner.agreement.leaving import finished, only
from shardwise.planner.agreement.sent import SentColumn, of_rows
from shardwise.planner.agreement.types import BIGINT, Type, common, type_of
from shardwise.planner.agreement.writer import Writer
from shardwise.planner.functions import is_constant


class Tree(ABC):
    """Writes the nodes of one statement, each once for the same outer columns and the same parameters.

    A product has a subclass: what it does otherwise is a method of that.
    """

    product: ClassVar[str]
    """Under which name what was written is kept with a node."""
    digits_max: ClassVar[int]
    """Of DECIMALs that are computed with."""

    def __init__(self, known: Known) -> None:
        self.known = known

    def agree(self, node: Node) -> Agreed | Disagreement:
        """The tree in the source's expressions, or what it would compute otherwise."""
        try:
            return finished(self.of(node, {}), self)
        except NotAgreed as no:
            return Disagreement(no.what, no.why)

    def of(self, node: Node, outer: Forms) -> Done:
        rule = _RULES.get(type(node))
        if rule is None:
            raise NotAgreed(node, "does not compute it here")
        mine = {id: outer[id] for id in free_columns(node) if id in outer}
        values = self.known.values
        kept: tuple[Forms, object, Done | NotAgreed] | None = node.__dict__.get(self.product)
        if kept is not None and kept[0] == mine and kept[1] is values:
            found = kept[2]
        else:
            try:
                found = rule(self, node, mine)
            except NotAgreed as no:
                found = no
            node.__dict__[self.product] = mine, values, found
        if isinstance(found, NotAgreed):
            raise found
        return found

    # ------------------------------------------------------------------ of the product

    @abstractmethod
    def writer(self, forms: Forms) -> Writer:
        """Writes expressions over these columns."""

    @abstractmethod
    def column_of(self, scan: Scan, output: Output) -> Form:
        """How a table's column is read."""

    @abstractmethod
    def condition(self, writer: Writer, expr: exp.Expr, kept: Collection[ColumnId] = ()) -> exp.Expr:
        """TRUE for the rows for which `expr` is. `kept` are columns of rows that are there even if it is not
        TRUE (the left side of a LEFT JOIN)."""

    @abstractmethod
    def aggregate(self, writer: Writer, expr: exp.Expr) -> tuple[exp.Expr, Type | None]:
        """An aggregate call; without a type nothing is computed with its value."""

    @abstractmethod
    def leaving(self, form: Form) -> exp.Expr | None:
        """How a column leaves the fragment, if not as it is."""

    @abstractmethod
    def rows(self, columns: tuple[SentColumn, ...]) -> exp.Select:
        """Rows that ran first, as a query with an item for each column, canonical."""

    def keys(self, columns: tuple[SentColumn, ...]) -> exp.Select:
        """The same as what IN reads."""
        return self.rows(columns)

    def holds(self, number: float) -> bool:
        """Whether a floating-point number of such rows is the same there; none is NaN."""
        return True

    def is_encoded(self, form: Form) -> bool:
        """Whether it leaves as text that the fragment makes (`#…`)."""
        return form.is_encoded

    def joins(self, node: Join, writer: Writer) -> bool:
        """Whether the source is to be asked for this join of a kind that it has."""
        return True

    def sort_key(self, node: Sort, writer: Writer, key: SortKey) -> SortKey:
        """What rows are sorted by."""
        return key._replace(expr=writer.value(key.expr)[0])

    def more_keys(self, keys: Sequence[tuple[Item, Type]]) -> list[Item]:
        """Keys that tell apart what the source would not; they are no columns of what comes out."""
        return []

    def check_filter(self, node: Filter, below: Done) -> None:
        """Raises for a filter that the source has no place for."""
        if is_one_row(node.input):
            raise NotAgreed(node, "has no HAVING without GROUP BY")

    def has_set_operation(self, node: SetOp) -> bool:
        """Whether the source has this one."""
        return True

    # ------------------------------------------------------------------ joins

    def join(self, node: Join, left: Done, right: Done, writer: Writer) -> Done:
        """RIGHT as LEFT of the exchanged sides, SEMI and ANTI as EXISTS: SQLite before 3.39 has no other
        way."""
        forms = {**left.forms, **right.forms}
        if node.kind in ("semi", "anti"):
            on = tuple(self.condition(writer, c, left.forms) for c in node.on)
            inner = Filter(input=right.node, conjuncts=on) if on else right.node
            exists: exp.Expr = exp.Exists(this=subplan(self.any_row(Done(inner, right.forms))))
            if node.kind == "anti":
                exists = exp.Not(this=exists)
            return Done(Filter(input=left.node, conjuncts=(exists,)), left.forms)
        if node.kind in ("inner", "cross"):
            on = tuple(self.condition(writer, c) for c in node.on)
            return Done(node.but(left=left.node, right=right.node, on=on), forms)
        kept, other = (right, left) if node.kind == "right" else (left, right)
        on = tuple(self.condition(writer, c, kept.forms) for c in node.on)
        joined = Join(kind="left", left=kept.node, right=other.node, on=on)
        return Done(only(joined, forms.values()) if node.kind == "right" else joined, forms)

    # ------------------------------------------------------------------ subqueries

    def any_row(self, done: Done) -> Node:
        """What EXISTS reads: of each row as little as can be."""
        return only(done.node, [next(iter(done.forms.values()))])

    def one_value(self, done: Done, where: exp.Expr) -> tuple[Node, Type]:
        """A plan of one column, canonical."""
        if len(done.forms) != 1:
            raise NotAgreed(where, "does not compare rows as DuckDB does")
        made = self.canonical(done, done.node)
        (form,) = made.forms.values()
        assert form.type is not None
        return only(made.node, [form]), form.type

    def canonical(self, done: Done, where: Node) -> Done:
        """All columns in their canonical form: two rows are the same if they are."""
        items: list[Item] = []
        forms: dict[ColumnId, Form] = {}
        ids = [form.id for form in done.forms.values()]
        is_done = len(set(ids)) == len(ids) and ids == [output.id for output in done.node.outputs]
        rel = f"{ids[0].rel}:values" if ids else ""
        writer = self.writer(done.forms)
        for position, (id, form) in enumerate(done.forms.items()):
            if form.type is None:
                raise NotAgreed(where, "does not compare all of these columns as DuckDB does")
            new = ColumnId(rel, f"{position}" if _is_taken(form.id.name, items) else form.id.name)
            items.append(Item(new.name, writer.read(column(form.id), form)))
            forms[id] = Form(new, form.type)
            is_done = is_done and form.raw is None
        if is_done:
            return done
        return Done(Project(input=done.node, rel=rel, items=tuple(items)), forms)


def _is_taken(name: str, items: list[Item]) -> bool:
    return any(item.name.casefold() == name.casefold() for item in items)


# ------------------------------------------------------------------ nodes


def _scan(tree: Tree, node: Scan, outer: Forms) -> Done:
    return Done(node, {output.id: tree.column_of(node, output) for output in node.columns})


def _empty(tree: Tree, node: Empty, outer: Forms) -> Done:
    return Done(node, {o.id: Form(o.id, type_of(o.type)) for o in node.columns})


def _keep(tree: Tree, node: Keep, outer: Forms) -> Done:
    below = tree.of(node.input, outer)
    forms = {output.id: below.forms[output.id] for output in node.columns}
    return Done(only(below.node, forms.values()), forms)


def _gather(tree: Tree, node: Gather, outer: Forms) -> Done:
    """What is above a fragment is asked about as if it were put into it."""
    return tree.of(node.input, outer)


def _filter(tree: Tree, node: Filter, outer: Forms) -> Done:
    below = tree.of(node.input, outer)
    tree.check_filter(node, below)
    writer = tree.writer({**outer, **below.forms})
    conjuncts = tuple(tree.condition(writer, conjunct) for conjunct in node.conjuncts)
    return Done(node.but(input=below.node, conjuncts=conjuncts), below.forms)


def _fence(tree: Tree, node: Fence, outer: Forms) -> Done:
    """No source moves a condition into a subquery with a LIMIT."""
    below = tree.of(node.input, outer)
    return Done(node.but(input=below.node), below.forms)


def _project(tree: Tree, node: Project, outer: Forms) -> Done:
    below = tree.of(node.input, outer)
    writer = tree.writer({**outer, **below.forms})
    items, forms = [], {}
    for item in node.items:
        id = ColumnId(node.rel, item.name)
        form = writer.form_of(item.expr) if isinstance(item.expr, exp.Column) else None
        if form is not None and isinstance(item.expr, exp.Column):
            items.append(item._replace(expr=writer.column(item.expr)))
            forms[id] = Form(id, form.type, form.raw, form.is_encoded)
            continue
        written, type_ = writer.value(item.expr)
        items.append(item._replace(expr=written))
        forms[id] = Form(id, type_)
    return Done(node.but(input=below.node, items=tuple(items)), forms)


def _join(tree: Tree, node: Join, outer: Forms) -> Done:
    if node.lateral or node.kind not in ("inner", "cross", "left", "right", "semi", "anti"):
        raise NotAgreed(node, "has no join of this kind")
    left, right = tree.of(node.left, outer), tree.of(node.right, outer)
    writer = tree.writer({**outer, **left.forms, **right.forms})
    if not tree.joins(node, writer):
        raise NotAgreed(node, "would compare each row of one side with each of the other")
    return tree.join(node, left, right, writer)


def _aggregate(tree: Tree, node: Aggregate, outer: Forms) -> Done:
    if node.sets is not None:
        raise NotAgreed(node, "has no grouping sets")
    below = tree.of(node.input, outer)
    writer = tree.writer({**outer, **below.forms})
    forms: dict[ColumnId, Form] = {}
    keys: list[tuple[Item, Type]] = []
    calls = []
    for item in node.keys:
        if is_constant(item.expr):
            raise NotAgreed(item.expr, "takes a constant in GROUP BY otherwise")
        written, type_ = writer.value(item.expr)
        keys.append((item._replace(expr=written), type_))
        forms[ColumnId(node.rel, item.name)] = Form(ColumnId(node.rel, item.name), type_)
    for item in node.calls:
        made, of_call = tree.aggregate(writer, item.expr)
        calls.append(item._replace(expr=made))
        id = ColumnId(node.rel, item.name)
        forms[id] = Form(id, of_call, is_encoded=of_call is None)
    all_keys = (*(key for key, _ in keys), *tree.more_keys(keys))
    grouped = node.but(input=below.node, keys=all_keys, calls=tuple(calls))
    return Done(only(grouped, forms.values()), forms)


def _distinct(tree: Tree, node: Distinct, outer: Forms) -> Done:
    if node.on is not None:
        raise NotAgreed(node, "has no DISTINCT ON")
    below = tree.canonical(tree.of(node.input, outer), node)
    return Done(Distinct(input=below.node), below.forms)


def _sort(tree: Tree, node: Sort, outer: Forms) -> Done:
    below = tree.of(node.input, outer)
    writer = tree.writer({**outer, **below.forms})
    keys = tuple(tree.sort_key(node, writer, key) for key in node.keys)
    return Done(node.but(input=below.node, keys=keys), below.forms)


def _window(tree: Tree, node: Window, outer: Forms) -> Done:
    """Rows are numbered in an order that the source sorts by as well; other windows it does not compute."""
    below = tree.of(node.input, outer)
    writer = tree.writer({**outer, **below.forms})
    forms = dict(below.forms)
    items = []
    for item in node.items:
        order = _order_of_numbers(item.expr)
        if order is None:
            raise NotAgreed(node, "does not compute it here")
        sort = Sort(input=node.input, keys=order)
        ordered = [
            exp.Ordered(this=key.expr, desc=key.descending or None, nulls_first=key.nulls_first)
            for key in (tree.sort_key(sort, writer, key) for key in order)
        ]
        numbered = exp.Window(this=exp.RowNumber(), order=exp.Order(expressions=ordered))
        items.append(item._replace(expr=numbered))
        id = ColumnId(node.rel, item.name)
        forms[id] = Form(id, BIGINT)
    return Done(node.but(input=below.node, items=tuple(items)), forms)


def _order_of_numbers(expr: exp.Expr) -> tuple[SortKey, ...] | None:
    """Of `row_number() OVER (ORDER BY …)`, which nothing parts, its order."""
    order = expr.args.get("order")
    if order is None or not isinstance(expr, exp.Window) or not isinstance(expr.this, exp.RowNumber):
        return None
    if any(expr.args.get(part) for part in ("partition_by", "spec", "first", "alias")):
        return None
    return tuple(
        SortKey(o.this, bool(o.args.get("desc")), bool(o.args.get("nulls_first"))) for o in order.expressions
    )


def _limit(tree: Tree, node: Limit, outer: Forms) -> Done:
    if node.percent:
        raise NotAgreed(node, "has no LIMIT of a percentage")
    below = tree.of(node.input, outer)
    count, offset = (None if e is None else _number(tree, e) for e in (node.count, node.offset))
    return Done(node.but(input=below.node, count=count, offset=offset), below.forms)


def _number(tree: Tree, expr: exp.Expr) -> exp.Expr:
    """A whole number of rows: a negative one is no limit to SQLite, and an error to DuckDB."""
    inner = bare(expr)
    if (
        isinstance(inner, exp.Literal)
        and not inner.is_string
        and inner.name.isdigit()
        and len(inner.name) < 19
    ):
        return inner.copy()
    if isinstance(inner, exp.Placeholder):
        given = tree.known.exact(inner.name)
        if type(given) is int and 0 <= given < 1 << 63:
            return exp.Placeholder(this=inner.name)
    raise NotAgreed(expr, "takes this number of rows otherwise")


def _set_operation(tree: Tree, node: SetOp, outer: Forms) -> Done:
    if not tree.has_set_operation(node):
        raise NotAgreed(node, f"has no {node.kind.upper()} ALL")
    arms = [tree.canonical(tree.of(arm, outer), node) for arm in node.arms]
    forms = {}
    for output, *same in zip(node.outputs, *(arm.forms.values() for arm in arms), strict=True):
        type_ = common([form.type for form in same if form.type is not None])
        if type_ is None:
            raise NotAgreed(node, "is not known to find the types that the arms have in common")
        forms[output.id] = Form(output.id, type_)
    inputs = tuple(only(arm.node, arm.forms.values()) for arm in arms)
    return Done(node.but(arms=inputs), forms)


_RULES: dict[type[Node], Callable[[Tree, Any, Forms], Done]] = {
    Scan: _scan,
    Empty: _empty,
    Rows: of_rows,
    Keep: _keep,
    Gather: _gather,
    Filter: _filter,
    Fence: _fence,
    Project: _project,
    Join: _join,
    Aggregate: _aggregate,
    Distinct: _distinct,
    Sort: _sort,
    Window: _window,
    Limit: _limit,
    SetOp: _set_operation,
}
