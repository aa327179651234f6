"""What a statement kept whole says of single tables: filters that its tables may have before it runs.

    SELECT o.id, i.name FROM orders o JOIN items i ON i.k = o.k WHERE o.k = 5 AND upper(i.name) = 'A'
    =>  orders: k = 5        items: upper(name) = 'A', k = 5

The statement is still run as it is; a row that is left out is one that it would leave out itself. Read are
only conjuncts of WHERE and ON in blocks whose joins are inner or LEFT: on WHERE's side of tables that are not
null-extended, on ON's side of the null-extended one as well. What one column equals is told to columns that
equal it, where both compare alike. A name that could be another table's, an outer query's or an alias says
nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sqlglot import exp

from shardwise.plan.nodes import ColumnId, Output
from shardwise.plan.tree import bare, column, column_id, conjuncts
from shardwise.planner.bind.expressions import Expressions
from shardwise.planner.bind.scope import FromItem
from shardwise.planner.equivalence import are_told_apart_alike

if TYPE_CHECKING:
    from shardwise.planner.bind.query import Binder


@dataclass(eq=False)
class Reading:
    """One table of the statement, and what was found of it. `is_inner`: not null-extended in its block."""

    table: exp.Table
    item: FromItem
    is_inner: bool = True
    found: list[exp.Expr] = field(default_factory=list)

    @property
    def names(self) -> frozenset[str]:
        return frozenset(c.name.lower() for c in self.item.star)


def add_filters(binder: Binder, sql: exp.Expr, readings: Mapping[int, Reading]) -> None:
    """Fills `found` of the readings, which are by their tables' `id()`."""
    for select in sql.find_all(exp.Select):
        block = _block(select, readings)
        if block is not None:
            _Block(binder, *block).read(select)


def _block(
    select: exp.Select, readings: Mapping[int, Reading]
) -> tuple[list[Reading | None], list[tuple[exp.Expr, Reading | None]]] | None:
    """The items of FROM (None: not a table), and each ON with the table that it null-extends."""
    clause = select.args.get("from_")
    if clause is None:
        return None
    items = [_reading(clause.this, readings)]
    ons: list[tuple[exp.Expr, Reading | None]] = []
    joins = [*(clause.this.args.get("joins") or ()), *(select.args.get("joins") or ())]
    for join in joins:
        side, kind = (str(join.args.get(key) or "").upper() for key in ("side", "kind"))
        if side not in ("", "LEFT") or kind not in ("", "INNER", "CROSS", "OUTER"):
            return None
        reading = _reading(join.this, readings)
        if reading is not None and side:
            reading.is_inner = False
        items.append(reading)
        if join.args.get("on") is not None and (reading is not None or not side):
            ons.append((join.args["on"], reading if side else None))
    return items, ons


def _reading(ast: exp.Expr, readings: Mapping[int, Reading]) -> Reading | None:
    return readings.get(id(ast))


class _Block:
    """One SELECT's FROM while its predicates are read."""

    def __init__(
        self, binder: Binder, items: list[Reading | None], ons: list[tuple[exp.Expr, Reading | None]]
    ) -> None:
        self.binder = binder
        self.items = items
        self.ons = ons
        self.known = [item for item in items if item is not None]
        self.types: dict[ColumnId, Output] = {
            output.id: output for item in self.known for output in item.item.node.outputs
        }

    def read(self, select: exp.Select) -> None:
        where = select.args.get("where")
        predicates: list[tuple[exp.Expr, Reading | None]] = []
        if where is not None:
            predicates += [(c, None) for c in conjuncts(where.this)]
        for on, extended in self.ons:
            predicates += [(c, extended) for c in conjuncts(on)]
        pairs: list[tuple[ColumnId, ColumnId, Reading | None]] = []
        for predicate, extended in predicates:
            self._read(predicate, extended, pairs)
        self._spread(pairs)

    def _read(
        self,
        predicate: exp.Expr,
        extended: Reading | None,
        pairs: list[tuple[ColumnId, ColumnId, Reading | None]],
    ) -> None:
        if any(isinstance(part, exp.Query) for part in predicate.walk()) or not self.binder.dialect.is_plain(
            predicate
        ):
            return
        owners = {self._owner(c) for c in predicate.find_all(exp.Column)}
        if None in owners or not owners:
            return
        if len(owners) == 1:
            (owner,) = owners
            if owner is not None and (owner is extended if extended is not None else owner.is_inner):
                owner.found.append(
                    Expressions(self.binder, self.binder.scope(owner.item)).bind(_unqualified(predicate))
                )
            return
        equal = bare(predicate)
        if type(equal) is exp.EQ:
            ids = [self._id(side) for side in (equal.this, equal.expression)]
            if ids[0] is not None and ids[1] is not None:
                pairs.append((ids[0], ids[1], extended))

    def _owner(self, name: exp.Column) -> Reading | None:
        """The table that a column is of, if there is no doubt."""
        if name.table:
            named = [i for i in self.known if (i.table.alias or i.table.name).lower() == name.table.lower()]
            found = named[0] if len(named) == 1 and not name.db else None
            return found if found is not None and name.name.lower() in found.names else None
        having = [item for item in self.known if name.name.lower() in item.names]
        return having[0] if len(having) == 1 and len(self.known) == len(self.items) else None

    def _id(self, expr: exp.Expr) -> ColumnId | None:
        expr = bare(expr)
        if not isinstance(expr, exp.Column):
            return None
        owner = self._owner(expr)
        return (
            None
            if owner is None
            else column_id(self.binder.scope(owner.item).resolve(exp.Column(this=expr.this.copy())))
        )

    def _spread(self, pairs: list[tuple[ColumnId, ColumnId, Reading | None]]) -> None:
        """What equals a constant is told to what equals it; a null-extended table only hears."""
        for _ in pairs:
            changed = False
            for left, right, extended in pairs:
                for one, other in ((left, right), (right, left)):
                    changed |= self._tell(one, other, extended)
            if not changed:
                return

    def _tell(self, one: ColumnId, other: ColumnId, extended: Reading | None) -> bool:
        source, target = self._of(one), self._of(other)
        if not self._alike(one, other) or not source.is_inner:
            return False
        if target is not extended if extended is not None else not target.is_inner:
            return False
        told = [_moved(e, one, other) for e in source.found if _fixes(e, one)]
        new = [e for e in told if e not in target.found]
        target.found += new
        return bool(new)

    def _of(self, id: ColumnId) -> Reading:
        return next(item for item in self.known if id in item.item.node.output_ids)

    def _alike(self, one: ColumnId, other: ColumnId) -> bool:
        left, right = self.types[one], self.types[other]
        if not are_told_apart_alike(left, right):
            return False
        family = self.binder.dialect.family
        return family(left.type or "") == family(right.type or "") != "other"


def _unqualified(predicate: exp.Expr) -> exp.Expr:
    """Over one table alone: its alias in the statement means nothing there."""
    copied = predicate.copy()
    for name in copied.find_all(exp.Column):
        name.set("table", None)
    return copied


def _fixes(predicate: exp.Expr, id: ColumnId) -> bool:
    """`column = constant` or `column IN (constants)`."""
    predicate = bare(predicate)
    if type(predicate) is exp.EQ:
        sides = (bare(predicate.this), bare(predicate.expression))
        return any(column_id(a) == id and _is_constant(b) for a, b in (sides, sides[::-1]))
    if type(predicate) is exp.In and predicate.expressions:
        return column_id(bare(predicate.this)) == id and all(map(_is_constant, predicate.expressions))
    return False


def _is_constant(expr: exp.Expr) -> bool:
    return not any(isinstance(part, exp.Column | exp.Query | exp.Func) for part in expr.walk())


def _moved(predicate: exp.Expr, one: ColumnId, other: ColumnId) -> exp.Expr:
    return predicate.copy().transform(lambda e: column(other) if column_id(e) == one else e)


def mentioned(sql: exp.Expr) -> frozenset[str] | None:
    """The names that a column may be read by, folded; None where any may be (`*`, NATURAL, a whole row)."""
    for star in sql.find_all(exp.Star):
        if not isinstance(star.parent, exp.Count):
            return None
    if any(str(join.args.get("method") or "").upper() == "NATURAL" for join in sql.find_all(exp.Join)):
        return None
    tables = {table.alias_or_name.lower() for table in sql.find_all(exp.Table)}
    if any(not name.table and name.name.lower() in tables for name in sql.find_all(exp.Column)):
        return None
    return frozenset(_names(sql.find_all(exp.Identifier)))


def _names(identifiers: Iterable[exp.Identifier]) -> Iterator[str]:
    for identifier in identifiers:
        yield identifier.name.lower()
