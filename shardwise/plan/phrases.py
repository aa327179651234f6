"""Expressions and nodes in words: one line each, as a person would write them.

A column is shown by its name alone where only one column in sight has that name, and as
`rel.name` otherwise; a column from outside the node (a correlated subquery's) always as `rel.name`.
Nothing here decides anything, and nothing here is parsed again.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import singledispatchmethod

from sqlglot import exp

from shardwise.plan.nodes import (
    Aggregate,
    ColumnId,
    Cte,
    CteRef,
    Distinct,
    Empty,
    Fence,
    Filter,
    Gather,
    Item,
    Join,
    Keep,
    Limit,
    Local,
    Node,
    OneRow,
    Project,
    Raw,
    Recursive,
    Rows,
    Scan,
    SetOp,
    Sort,
    SortKey,
    TableFunction,
    Values,
    Window,
)
from shardwise.plan.sql.text import text_of
from shardwise.plan.tree import column_id, plan_of

_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_TEXT_MAX = 120
_DOUBLE = re.compile(r"\(\((subquery \d+)\)\)")
_TYPED_LITERALS = ("DATE", "TIMESTAMP", "TIMESTAMPTZ", "TIME")
_JOIN_KINDS = {
    "inner": "Join",
    "left": "Left join",
    "right": "Right join",
    "full": "Full join",
    "semi": "Semi-join",
    "anti": "Anti-join",
    "cross": "Cross join",
    "asof": "Asof join",
    "asof_left": "Left asof join",
    "positional": "Positional join",
}

Write = Callable[[exp.Expr], str]


def name_text(name: str) -> str:
    """A name, in double quotes only where it needs them."""
    return name if _PLAIN_NAME.fullmatch(name) else '"' + name.replace('"', '""') + '"'


def is_renaming(node: Node, *, at_top: bool = False) -> bool:
    """Whether a node only drops, reorders or repeats columns, under their own names: not worth a line.

    At the top of a plan other names count as well: they are the answer's.
    """
    if isinstance(node, Project):
        return all(type(item.expr) is exp.Column if at_top else _is_bare(item) for item in node.items)
    return isinstance(node, Keep | Fence)


class Phrases:
    """Writes the nodes of one plan, its expressions in the query's dialect. Subqueries are numbered in the
    order in which they are met."""

    def __init__(self, dialect: str = "duckdb") -> None:
        self.subqueries = 0
        self._dialect = dialect

    def node(self, node: Node) -> tuple[str, list[tuple[str, Node]]]:
        """The node's line, and the subqueries that the line mentions by number."""
        met: list[tuple[str, Node]] = []

        def name_of(plan: Node) -> str:
            self.subqueries += 1
            met.append((f"subquery {self.subqueries}", plan))
            return met[-1][0]

        in_sight = Counter(o.id.name for below in node.inputs for o in below.outputs)
        known = frozenset(o.id for below in node.inputs for o in below.outputs)
        if isinstance(node, Window):
            in_sight.update(item.name for item in node.items)
            known |= {ColumnId(node.rel, item.name) for item in node.items}

        def column_text(id: ColumnId) -> str:
            alone = id in known and in_sight[id.name] == 1
            return name_text(id.name) if alone else f"{name_text(id.rel)}.{name_text(id.name)}"

        return self._line(node, lambda e: expression_text(e, column_text, name_of, self._dialect)), met

    @singledispatchmethod
    def _line(self, node: Node, write: Write) -> str:
        return type(node).__name__

    @_line.register
    def _(self, node: Scan, write: Write) -> str:
        alias = "" if node.rel == node.table.name else f" AS {name_text(node.rel)}"
        route = node.route
        where = "" if len(route.shards) == route.total else f" on {len(route.shards)} of {route.total} shards"
        return f"Scan {name_text(node.table.name)}{alias}{where}: {_names(node)}"

    @_line.register
    def _(self, node: Local, write: Write) -> str:
        return f"Local table {name_text(node.name)}"

    @_line.register
    def _(self, node: OneRow, write: Write) -> str:
        return "One row"

    @_line.register
    def _(self, node: Empty, write: Write) -> str:
        return f"No rows of {_names(node)}"

    @_line.register
    def _(self, node: Rows, write: Write) -> str:
        rows = "" if node.count is None else f"{node.count} row{'s' * (node.count != 1)} of "
        return f"Rows of ${node.name}: {rows}{_names(node)}"

    @_line.register
    def _(self, node: Values, write: Write) -> str:
        return f"Values: {len(node.rows)} row{'s' * (len(node.rows) != 1)} of {_names(node)}"

    @_line.register
    def _(self, node: TableFunction, write: Write) -> str:
        return f"Table function {write(node.call)}"

    @_line.register
    def _(self, node: Filter, write: Write) -> str:
        return f"Filter {_all_of(node.conjuncts, write)}"

    @_line.register
    def _(self, node: Join, write: Write) -> str:
        kind = _JOIN_KINDS[node.kind]
        on = f" on {_all_of(node.on, write)}" if node.on else ""
        return f"Lateral {kind[0].lower()}{kind[1:]}{on}" if node.lateral else kind + on

    @_line.register
    def _(self, node: Project, write: Write) -> str:
        return f"Project {_items(node.items, write)}"

    @_line.register
    def _(self, node: Keep, write: Write) -> str:
        return f"Keep {_names(node)}"

    @_line.register
    def _(self, node: Aggregate, write: Write) -> str:
        text = "Aggregate"
        if node.sets is not None:
            names = [name_text(key.name) for key in node.keys]
            text += " by sets " + ", ".join(f"({', '.join(names[i] for i in one)})" for one in node.sets)
            computed = [key for key in node.keys if not _is_bare(key)]
            text += f" of {_items(computed, write)}" if computed else ""
        elif node.keys:
            text += f" by {_items(node.keys, write)}"
        return f"{text}: {_items(node.calls, write)}" if node.calls else text

    @_line.register
    def _(self, node: Window, write: Write) -> str:
        return f"Window {_items(node.items, write)}"

    @_line.register
    def _(self, node: Distinct, write: Write) -> str:
        if node.on is None:
            return "Distinct"
        order = f", first by {self._order(node.order, write)}" if node.order else ""
        return f"Distinct on {', '.join(write(e) for e in node.on)}{order}"

    @_line.register
    def _(self, node: Sort, write: Write) -> str:
        return f"Sort {self._order(node.keys, write)}"

    @_line.register
    def _(self, node: Limit, write: Write) -> str:
        offset = f"offset {write(node.offset)}" if node.offset is not None else ""
        if node.count is None:
            return f"Limit none {offset}".rstrip()
        return f"Limit {write(node.count)}{' %' * node.percent} {offset}".rstrip()

    @_line.register
    def _(self, node: Fence, write: Write) -> str:
        return "Fence"

    @_line.register
    def _(self, node: SetOp, write: Write) -> str:
        return node.kind.capitalize() + " all" * node.all

    @_line.register
    def _(self, node: Cte, write: Write) -> str:
        return f"With {name_text(node.name)}"

    @_line.register
    def _(self, node: CteRef, write: Write) -> str:
        return f"Read {name_text(node.name)}" + (f" AS {name_text(node.rel)}" * (node.rel != node.name))

    @_line.register
    def _(self, node: Recursive, write: Write) -> str:
        return (
            f"Recursive {name_text(node.name)}({', '.join(map(name_text, node.names))})" + " all" * node.all
        )

    @_line.register
    def _(self, node: Raw, write: Write) -> str:
        return "Statement as it is written"

    @_line.register
    def _(self, node: Gather, write: Write) -> str:
        return f"Gather in order of {self._order(node.order, write)}" if node.order else "Gather"

    def _order(self, keys: Iterable[SortKey], write: Write) -> str:
        """Where NULLs go is said where it is not the dialect's default."""
        return ", ".join(
            write(key.expr) + " DESC" * key.descending + self._nulls(key, self._dialect) for key in keys
        )

    @staticmethod
    def _nulls(key: SortKey, dialect: str) -> str:
        default = {"mysql": not key.descending, "postgres": key.descending}.get(dialect, False)
        return "" if key.nulls_first == default else " NULLS FIRST" if key.nulls_first else " NULLS LAST"


def expression_text(
    expr: exp.Expr,
    column_text: Callable[[ColumnId], str],
    name_of: Callable[[Node], str],
    dialect: str,
) -> str:
    """The expression, with `column_text` for its columns and `name_of` for its subqueries' plans.

    Less noise than SQL: `DATE '2026-01-01'` for a CAST of text, `x NOT IN (…)` for NOT x IN (…).
    What is longer than a line is told by what it reads (`formula of p0, p1`); the merge's SQL has it.
    """
    if dialect == "sqlite":
        dialect = "duckdb"  # sqlglot's printer for SQLite translates more than it writes
    if type(expr) is exp.EQ and type(expr.this) is type(expr.expression) is exp.Column:
        text = " = ".join(column_text(ColumnId(e.table, e.name)) for e in (expr.this, expr.expression))
    else:
        text = _DOUBLE.sub(r"(\1)", _Phrase(column_text, name_of, dialect).write(expr))
    if len(text) <= _TEXT_MAX:
        return text
    columns = dict.fromkeys(
        column_text(id) for part in expr.find_all(exp.Column, bfs=False) if (id := column_id(part))
    )
    named = re.findall(r"subquery \d+", text)
    return f"formula of {', '.join([*columns, *dict.fromkeys(named)])}"


@dataclass(frozen=True, slots=True)
class _Phrase:
    """How an expression's columns and subqueries are called, and in whose words it is written."""

    column_text: Callable[[ColumnId], str]
    name_of: Callable[[Node], str]
    dialect: str

    def write(self, part: exp.Expr) -> str:
        named = part.transform(self._named)
        if self.dialect in ("mysql", "postgres"):
            return text_of(named, self.dialect)
        return named.sql(dialect=self.dialect, copy=False, normalize_functions="lower", comments=False)

    def _named(self, part: exp.Expr) -> exp.Expr:
        id, plan = column_id(part), plan_of(part)
        if id is not None:
            return exp.Var(this=self.column_text(id))
        if plan is not None:
            return exp.Var(this=f"({self.name_of(plan)})")
        text = self._shorter(part)
        return part if text is None else exp.Var(this=text)

    def _shorter(self, part: exp.Expr) -> str | None:
        """What reads better than its SQL."""
        if type(part) is exp.Cast:
            if type(part.this) is exp.Coalesce and _is_zero(part.this.expressions):
                return self.write(part.this.this)
            return _typed_literal(part, self.dialect)
        if type(part) is not exp.Not:
            return None
        if type(part.this) in (exp.In, exp.Like, exp.ILike, exp.Between):
            left, whole = self.write(part.this.this), self.write(part.this)
            return f"{left} NOT {whole[len(left) + 1 :]}"
        if type(part.this) is exp.Is and type(part.this.expression) is exp.Null:
            return f"{self.write(part.this.this)} IS NOT NULL"
        return None


def _is_zero(others: list[exp.Expr]) -> bool:
    """COUNT is put together as `CAST(coalesce(sum(p0), 0) AS BIGINT)`, which says no more than the sum."""
    return len(others) == 1 and isinstance(others[0], exp.Literal) and others[0].this == "0"


def _typed_literal(cast: exp.Cast, dialect: str) -> str | None:
    value, kind = cast.this, cast.to.sql(dialect=dialect)
    if isinstance(value, exp.Literal) and value.is_string and kind in _TYPED_LITERALS:
        return f"{kind} {value.sql(dialect=dialect)}"
    return None


def _is_bare(item: Item) -> bool:
    return type(item.expr) is exp.Column and item.expr.name == item.name


def _items(items: Iterable[Item], write: Write) -> str:
    """`name` for a column that keeps its name, else `name = expression`."""
    return ", ".join(
        write(item.expr) if _is_bare(item) else f"{name_text(item.name)} = {write(item.expr)}"
        for item in items
    )


def _all_of(conjuncts: Sequence[exp.Expr], write: Write) -> str:
    def one(conjunct: exp.Expr) -> str:
        text = write(conjunct)
        return f"({text})" if type(conjunct) in (exp.Or, exp.Xor) and len(conjuncts) > 1 else text

    return " AND ".join(map(one, conjuncts))


def _names(node: Node) -> str:
    return ", ".join(name_text(o.id.name) for o in node.outputs) or "no columns"
