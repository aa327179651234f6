"""The plan: a tree of frozen nodes that a person can read.

A column is known by its identity `(rel, name)`: `rel` is the name of the node that made it,
unique in the statement, so that a column keeps its identity through Filter, Join, Sort and Limit
and no name is ever resolved twice. Expressions are sqlglot's; in them a column is
`exp.Column(table=rel, this=name)` and a subquery is an `exp.Subquery(plan=<Node>)` (see `tree.subplan`).
Expressions are mutable, so one inside a node is read-only: edit a copy.

A correlated subquery's plan simply mentions columns that no node in it makes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Final, Literal, NamedTuple, Self

from sqlglot import exp

from shardwise.caching import cached_property
from shardwise.catalog.model import Spelling, Table
from shardwise.catalog.shardings import SlotSet
from shardwise.plan.route import Note, Route

JoinKind = Literal[
    "inner", "left", "right", "full", "semi", "anti", "cross", "asof", "asof_left", "positional"
]
SetKind = Literal["union", "intersect", "except"]


class ColumnId(NamedTuple):
    """A column's identity in the statement."""

    rel: str
    name: str


class Output(NamedTuple):
    """One column that a node gives: its identity, and its type where it is declared (else None).

    `collation` is None where two of its values that are equal are the same bytes, `declared` what the catalog
    says. `spelling`: two of its values that are equal by its collation are the same text.
    """

    id: ColumnId
    type: str | None = None
    collation: str | None = None
    spelling: Spelling | None = None
    declared: str | None = None

    def named(self, id: ColumnId) -> Output:
        """The same as another column."""
        return Output(id, self.type, self.collation, self.spelling, self.declared)


class Item(NamedTuple):
    """A computed column: `name` in the node's rel, and how it is computed."""

    name: str
    expr: exp.Expr


class SortKey(NamedTuple):
    """`nulls_first` is always explicit: the dialect's default is resolved when the query is bound."""

    expr: exp.Expr
    descending: bool = False
    nulls_first: bool = False


@dataclass(frozen=True, kw_only=True)
class Node:
    """A relation: rows of `outputs`, in no order unless it is a Sort (or a Limit over one)."""

    @cached_property
    def inputs(self) -> tuple[Node, ...]:
        """The nodes this one reads, subqueries in expressions not among them."""
        return tuple(node for name in fields_of(type(self)).nodes for node in _nodes(getattr(self, name)))

    @cached_property
    def expressions(self) -> tuple[exp.Expr, ...]:
        """All expressions of this node itself."""
        return tuple(
            e for name in fields_of(type(self)).expressions for e in _expressions(getattr(self, name))
        )

    @cached_property
    def subplans(self) -> tuple[Node, ...]:
        """The plans of the subqueries in this node's own expressions, not those inside these plans."""
        found = (q.args.get("plan") for e in self.expressions for q in e.find_all(exp.Subquery))
        return tuple(plan for plan in found if plan is not None)

    @cached_property
    def kinds(self) -> frozenset[type[Node]]:
        """The classes of the tree's nodes, subqueries' plans included: most passes look for one of them."""
        below = (node.kinds for node in (*self.inputs, *self.subplans))
        return frozenset((type(self),)).union(*below)

    @cached_property
    def has_subqueries(self) -> bool:
        """Whether any expression of the tree has a subquery."""
        return bool(self.subplans) or any(node.has_subqueries for node in self.inputs)

    @cached_property
    def outputs(self) -> tuple[Output, ...]:
        """The columns, in order."""
        (only,) = self.inputs
        return only.outputs

    @cached_property
    def output_ids(self) -> frozenset[ColumnId]:
        outputs = self.outputs
        for node in self.inputs:
            if node.outputs is outputs:
                return node.output_ids
        return frozenset(o.id for o in outputs)

    def but(self, **changes: object) -> Self:
        """The same node with some fields changed."""
        fields = self.__dict__
        new = object.__new__(type(self))
        new.__dict__.update({name: fields[name] for name in fields_of(type(self)).all}, **changes)
        return new

    def over(self, **inputs: object) -> Self:
        """The same node over other inputs: what is known of its own expressions stays known."""
        new = self.but(**inputs)
        for name in ("expressions", "subplans", "columns_read"):
            if name in self.__dict__:
                new.__dict__[name] = self.__dict__[name]
        return new


class Fields(NamedTuple):
    """The names of the fields of a class of nodes, of those that hold other nodes, and expressions."""

    all: tuple[str, ...]
    nodes: tuple[str, ...]
    expressions: tuple[str, ...]


_FIELDS: Final[dict[type[Node], Fields]] = {}


def fields_of(kind: type[Node]) -> Fields:
    """As the fields' annotations say."""
    found = _FIELDS.get(kind)
    if found is None:
        annotated = [(f.name, str(f.type)) for f in fields(kind)]
        found = _FIELDS[kind] = Fields(
            tuple(name for name, _ in annotated),
            tuple(name for name, of in annotated if "Node" in of),
            tuple(name for name, of in annotated if any(word in of for word in ("Expr", "Item", "SortKey"))),
        )
    return found


def _nodes(value: Node | tuple[Node, ...]) -> tuple[Node, ...]:
    return value if isinstance(value, tuple) else (value,)


def _expressions(value: object) -> Iterator[exp.Expr]:
    if isinstance(value, exp.Expr):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from _expressions(item)


@dataclass(frozen=True, kw_only=True)
class Scan(Node):
    """All rows of a catalog table, or of those of its slots that `slots` leaves (None: all).

    `route` is where the table's rows are after pruning.
    """

    table: Table
    rel: str
    columns: tuple[Output, ...]
    slots: SlotSet | None = None
    route: Route

    @cached_property
    def outputs(self) -> tuple[Output, ...]:
        return self.columns


@dataclass(frozen=True, kw_only=True)
class Local(Node):
    """A relation that lives in the merge: a registered DataFrame or Arrow table."""

    name: str
    rel: str
    columns: tuple[Output, ...]

    @cached_property
    def outputs(self) -> tuple[Output, ...]:
        return self.columns


@dataclass(frozen=True, kw_only=True)
class OneRow(Node):
    """One row without columns: a SELECT without FROM."""

    @cached_property
    def outputs(self) -> tuple[Output, ...]:
        return ()


@dataclass(frozen=True, kw_only=True)
class Empty(Node):
    """No rows of the given columns."""

    rel: str
    columns: tuple[Output, ...]

    @cached_property
    def outputs(self) -> tuple[Output, ...]:
        return self.columns


@dataclass(frozen=True, kw_only=True)
class Values(Node):
    """Rows written in the statement: one tuple of expressions each."""

    rel: str
    names: tuple[str, ...]
    rows: tuple[tuple[exp.Expr, ...], ...]

    @cached_property
    def outputs(self) -> tuple[Output, ...]:
        return tuple(Output(ColumnId(self.rel, name)) for name in self.names)


@dataclass(frozen=True, kw_only=True)
class Rows(Node):
    """The rows of a part of the statement that ran first, under `name`; its columns keep their identities.

    `query` gives them, an item for each column; None while they are not known. `is_sent`: they go to the
    shards, beside what they are joined with there; else they stay in the merge.
    """

    name: str
    columns: tuple[Output, ...]
    query: exp.Select | None = None
    count: int | None = None
    is_sent: bool = False

    @cached_property
    def outputs(self) -> tuple[Output, ...]:
        return self.columns


@dataclass(frozen=True, kw_only=True)
class TableFunction(Node):
    """`range(…)`, `unnest(…)` and the like in FROM; its arguments may mention outer columns (LATERAL)."""

    rel: str
    call: exp.Expr
    names: tuple[str, ...]

    @cached_property
    def outputs(self) -> tuple[Output, ...]:
        return tuple(Output(ColumnId(self.rel, name)) for name in self.names)


@dataclass(frozen=True, kw_only=True)
class Filter(Node):
    """The rows for which every conjunct is TRUE."""

    input: Node
    conjuncts: tuple[exp.Expr, ...]


@dataclass(frozen=True, kw_only=True)
class Fence(Node):
    """The input's rows. Nothing that is above is evaluated for a row that the input leaves out.

    Engines move what can fail below what would have dropped the row: here they must not. A strict one lets
    nothing pass, for of a loosely typed source's rows every comparison can fail.
    """

    input: Node
    is_strict: bool = False


@dataclass(frozen=True, kw_only=True)
class Join(Node):
    """`on` is a tuple of conjuncts, empty for a cross join. `lateral`: `right` mentions columns of `left`."""

    kind: JoinKind
    left: Node
    right: Node
    on: tuple[exp.Expr, ...] = ()
    lateral: bool = False

    @cached_property
    def outputs(self) -> tuple[Output, ...]:
        if self.kind in ("semi", "anti"):
            return self.left.outputs
        return self.left.outputs + self.right.outputs

    @cached_property
    def output_ids(self) -> frozenset[ColumnId]:
        if self.kind in ("semi", "anti"):
            return self.left.output_ids
        return self.left.output_ids | self.right.output_ids


@dataclass(frozen=True, kw_only=True)
class Project(Node):
    """Computes `items` from each row; nothing else passes."""

    input: Node
    rel: str
    items: tuple[Item, ...]

    @cached_property
    def outputs(self) -> tuple[Output, ...]:
        return tuple(_computed(self.rel, item, self.input) for item in self.items)


@dataclass(frozen=True, kw_only=True)
class Keep(Node):
    """The input's rows with only `columns` of it, identities kept: what leaves a fragment."""

    input: Node
    columns: tuple[Output, ...]

    @cached_property
    def outputs(self) -> tuple[Output, ...]:
        return self.columns


@dataclass(frozen=True, kw_only=True)
class Aggregate(Node):
    """One row per group. Outputs: `keys`, then `calls`.

    `sets` are the grouping sets as tuples of positions in `keys` (None: one set of all keys).
    Without keys and sets there is exactly one row.
    """

    input: Node
    rel: str
    keys: tuple[Item, ...]
    calls: tuple[Item, ...]
    sets: tuple[tuple[int, ...], ...] | None = None

    @cached_property
    def outputs(self) -> tuple[Output, ...]:
        return tuple(_computed(self.rel, item, self.input) for item in self.keys + self.calls)


@dataclass(frozen=True, kw_only=True)
class Window(Node):
    """The input's columns, then one per window call."""

    input: Node
    rel: str
    items: tuple[Item, ...]

    @cached_property
    def outputs(self) -> tuple[Output, ...]:
        return self.input.outputs + tuple(Output(ColumnId(self.rel, item.name)) for item in self.items)


@dataclass(frozen=True, kw_only=True)
class Distinct(Node):
    """Without `on`: duplicate rows removed. With `on`: the first row, by `order`, of each value of `on`."""

    input: Node
    on: tuple[exp.Expr, ...] | None = None
    order: tuple[SortKey, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Sort(Node):
    """The input's rows in the order of `keys`."""

    input: Node
    keys: tuple[SortKey, ...]


@dataclass(frozen=True, kw_only=True)
class Limit(Node):
    """`count` rows after `offset`; both expressions without columns. `percent`: count is a percentage."""

    input: Node
    count: exp.Expr | None
    offset: exp.Expr | None = None
    percent: bool = False


@dataclass(frozen=True, kw_only=True)
class SetOp(Node):
    """UNION, INTERSECT or EXCEPT; columns by position, named as the first arm's."""

    kind: SetKind
    all: bool
    arms: tuple[Node, ...]
    rel: str

    @cached_property
    def outputs(self) -> tuple[Output, ...]:
        """A column keeps its declared type if all arms declare the same."""
        columns = zip(*(arm.outputs for arm in self.arms), strict=False)  # of one width, says verify
        return tuple(
            Output(
                ColumnId(self.rel, same[0].id.name),
                same[0].type if len({(o.type, o.collation) for o in same}) == 1 else None,
                same[0].collation if len({o.collation for o in same}) == 1 else None,
                same[0].spelling if len({(o.collation, o.spelling) for o in same}) == 1 else None,
                same[0].declared if len({o.declared for o in same}) == 1 else None,
            )
            for same in columns
        )


@dataclass(frozen=True, kw_only=True)
class Cte(Node):
    """`definition`, computed once and read by every `CteRef` of `name` in `body`."""

    name: str
    definition: Node
    body: Node

    @cached_property
    def outputs(self) -> tuple[Output, ...]:
        return self.body.outputs


@dataclass(frozen=True, kw_only=True)
class CteRef(Node):
    """One reading of a Cte, or of a Recursive from inside its step."""

    name: str
    rel: str
    columns: tuple[Output, ...]

    @cached_property
    def outputs(self) -> tuple[Output, ...]:
        return self.columns


@dataclass(frozen=True, kw_only=True)
class Recursive(Node):
    """WITH RECURSIVE: `base`, then `step` (which reads CteRef `name`) until it gives nothing new."""

    name: str
    rel: str
    names: tuple[str, ...]
    base: Node
    step: Node
    all: bool

    @cached_property
    def outputs(self) -> tuple[Output, ...]:
        return tuple(Output(ColumnId(self.rel, name)) for name in self.names)


@dataclass(frozen=True, kw_only=True)
class Raw(Node):
    """A statement kept whole because the nodes do not model it; runs where all of `tables` are.

    In `sql` a table that is `tables[i]` has i in its `meta` (see `sql.sources.RAW`), and the user's alias.
    """

    rel: str
    sql: exp.Expr
    tables: tuple[Node, ...]
    columns: tuple[Output, ...]
    reason: str

    @cached_property
    def expressions(self) -> tuple[exp.Expr, ...]:
        """None: what `sql` mentions are the user's names, not identities."""
        return ()

    @cached_property
    def outputs(self) -> tuple[Output, ...]:
        return self.columns


@dataclass(frozen=True, kw_only=True)
class Gather(Node):
    """The border: `input` runs on the shards, its rows come to the merge.

    `fragment` names it (f1, f2, …); `shards` are where it runs. `notes` say what was not pushed, and why.
    `own`: what runs on each shard where that is not the same on all; `input` is then that of one of them.
    `is_sought`: a page of it is, and its place is to be found by seeks. With an `order` each shard's rows are
    in it, and so are those of all: the streams are merged.
    """

    input: Node
    fragment: str
    shards: tuple[str, ...]
    notes: tuple[Note, ...] = ()
    own: Own | None = None
    is_sought: bool = False
    order: tuple[SortKey, ...] = ()


@dataclass(frozen=True, eq=False)
class Own:
    """A fragment's tree for each shard. They differ in constants, and give the same columns."""

    trees: Mapping[str, Node]


def _computed(rel: str, item: Item, source: Node) -> Output:
    """A bare column keeps its declared type and collation; of the rest, what cannot be otherwise is said."""
    expr = item.expr
    if type(expr) is exp.Column:
        wanted = ColumnId(expr.table, expr.name)
        for output in source.outputs:
            if output.id == wanted:
                return output.named(ColumnId(rel, item.name))
    call = expr.this if type(expr) is exp.Window else expr
    if isinstance(call, exp.Count | exp.RowNumber | exp.Rank | exp.DenseRank):
        return Output(ColumnId(rel, item.name), "BIGINT")
    return Output(ColumnId(rel, item.name))
