"""use_lookup_indexes: what a lookup index knows of a value says on which shards its rows are.

    Filter i.no = 'A7'                     runs first: keys_1 = SELECT k FROM invoices_no WHERE no = 'A7'
    └─ Scan i on s0, s1, s2, s3     =>     Filter i.no = 'A7' AND i.k IN keys_1
                                           └─ Scan i on s2

The index is asked first, on its own shard where its place is known by the value; its rows are the shard keys,
which prune as constants do. A scan that goes to one shard anyway is left alone.

Sound: all searched columns are compared with constants, and a row that passes has its key among those found,
as of the index's build; so the condition drops no row that the filter keeps, wherever the scan stands. A key
that is NULL is found as NULL: the row is where NULLs are. The constants are compared in the index as in the
table, for the columns are declared alike: under another collation `no = 'a7'` would miss the key of 'A7'.
IS NULL, `<>` and ranges find nothing here: rows with a NULL in a searched column are in no index.

Of an index that shardwise built, no key means no row. A table that the application keeps may lack a value,
which is then looked for on all shards; of several values each must be there, and where equal ones may be
spelled otherwise they are not counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, Final
from uuid import UUID

from sqlglot import exp

from shardwise.catalog import keys
from shardwise.catalog.index_tables import IndexTable, KeyColumn
from shardwise.catalog.model import LookupIndex, Table
from shardwise.catalog.types import Family, type_family
from shardwise.plan.holes import LIKE
from shardwise.plan.kinds import type_like
from shardwise.plan.nodes import ColumnId, Distinct, Filter, Item, Node, Project, Scan
from shardwise.plan.reasons import OfIndex
from shardwise.plan.run import Bound
from shardwise.plan.tree import all_of, any_of, bare, column, replace_columns, rewrite
from shardwise.planner.early_values import different, told_apart
from shardwise.planner.functions import is_constant
from shardwise.planner.pass_context import PlanContext
from shardwise.planner.prune_slots import pruned_scan
from shardwise.planner.push_filters import is_movable
from shardwise.planner.strategies.keys import waits
from shardwise.planner.usable_indexes import (
    compare_alike,
    compares_alike_anywhere,
    not_used,
    scan_of_index,
    tell,
    tell_used,
    usable,
)

Conjuncts = tuple[exp.Expr, ...]

SPARED_MIN: Final = 0.5
"""An index is not asked that is expected to spare fewer shards."""
KEYS_TOGETHER_MAX: Final = 100
"""With more keys of several columns than this each column is compared by itself."""


def use_lookup_indexes(plan: Node, ctx: PlanContext) -> Node:
    if not ctx.catalog.indexes():
        return plan

    def change(node: Node) -> Node:
        if isinstance(node, Filter) and isinstance(node.input, Scan) and len(node.input.route.shards) > 1:
            return _looked_up(node, node.input, plan, ctx)
        return node

    return rewrite(plan, change)


def _looked_up(node: Filter, scan: Scan, plan: Node, ctx: PlanContext) -> Node:
    lookup = _chosen(node, scan, plan, ctx)
    if lookup is None:
        return node
    early = ctx.firsts.add("lookup", lookup.query(ctx))
    bound = ctx.firsts.bound.get(early.name)
    if bound is None:
        condition: exp.Expr | None = lookup.unknown(early.name)
    else:
        condition = lookup.condition(early.name, bound, ctx)
    if condition is None:
        return node
    tests = (*node.conjuncts, condition)
    pruned = pruned_scan(scan, tests, ctx)
    if bound is not None and pruned is scan:
        decline(lookup.index, OfIndex.NOT_CHEAPER, "the keys found are on all shards", ctx)
        return node
    tell_used(lookup.index, ctx)
    return node.but(input=pruned, conjuncts=tests)


def decline(index: LookupIndex, reason: OfIndex, why: str, ctx: PlanContext) -> None:
    """Tells why an index is not asked."""
    tell(not_used(index, reason, why), ctx)


def _chosen(node: Filter, scan: Scan, plan: Node, ctx: PlanContext) -> _Lookup | None:
    """The index to ask: a unique one before others, then that of most columns."""
    fixed = [(test, fixed_by(test, scan)) for test in node.conjuncts if _is_safe(test, ctx)]
    indexes = ctx.catalog.lookup_indexes(scan.table)
    for index in sorted(indexes, key=lambda each: (not each.unique, -len(each.columns))):
        tests = _tests(index, fixed)
        if tests is None or waits(Filter(input=scan, conjuncts=tests), ctx):
            continue
        found = usable(index, plan, ctx)
        if found is None or not compares(index, found, scan.table, ctx):
            continue
        rows = Filter(input=scan, conjuncts=tests)
        if not index.unique and _are_known(index, scan, ctx) and _are_everywhere(rows, scan, ctx):
            decline(index, OfIndex.NOT_CHEAPER, "the keys are expected on all shards", ctx)
            continue
        return _Lookup(index, found, scan, tests)
    return None


def _are_known(index: LookupIndex, scan: Scan, ctx: PlanContext) -> bool:
    """Whether it is known how many values the index's columns have. The table's rows alone do not tell."""
    known = ctx.catalog.statistics_of(scan.table)
    if known is None:
        return False
    columns = [known.columns.get(name.casefold()) for name in index.columns]
    return all(column is not None and column.distinct is not None for column in columns)


def _are_everywhere(rows: Filter, scan: Scan, ctx: PlanContext) -> bool:
    """Whether so many rows are expected that all shards have some."""
    if ctx.catalog.is_slot_grain(scan.table):
        return False
    shards = len(scan.route.shards)
    spared: float = shards * (1 - 1 / shards) ** ctx.estimates.rows(rows)
    return spared < SPARED_MIN


@dataclass(frozen=True, slots=True)
class Fixed:
    """What a predicate says of columns: together they are one of so many constants. Names are folded."""

    columns: tuple[str, ...]
    values: int


def fixed_by(test: exp.Expr, scan: Scan) -> Fixed | None:
    """Of `x = 5`, `x IN (5, 6)`, `(x, y) = (1, 2)` and `(x, y) IN ((1, 2), …)`; None of anything else."""
    test = bare(test)
    if type(test) is exp.EQ:
        for one, other in ((test.this, test.expression), (test.expression, test.this)):
            columns = _columns(one, scan)
            if columns and is_constant(other):
                return Fixed(columns, 1)
    if type(test) is exp.In and test.expressions and all(is_constant(e) for e in test.expressions):
        columns = _columns(test.this, scan)
        if columns:
            return Fixed(columns, len(test.expressions))
    return None


def _is_safe(test: exp.Expr, ctx: PlanContext) -> bool:
    """Whether the index may be asked, whatever else would have dropped a row first: it cannot fail."""
    test = bare(test)
    others = test.expressions if type(test) is exp.In else [test.args.get("expression")]
    rows = [row for row in (test.this, *others) if isinstance(row, exp.Tuple)]
    if len(rows) != 1 + len(others):
        return is_movable(test, ctx)
    mine, *theirs = (row.expressions for row in rows)
    if any(len(row) != len(mine) for row in theirs):
        return False
    pairs = ((one, other) for row in theirs for one, other in zip(mine, row, strict=True))
    return all(is_movable(exp.EQ(this=one.copy(), expression=other.copy()), ctx) for one, other in pairs)


def _columns(expr: exp.Expr, scan: Scan) -> tuple[str, ...]:
    expr = bare(expr)
    parts = [bare(part) for part in expr.expressions] if type(expr) is exp.Tuple else [expr]
    is_own = all(type(p) is exp.Column and ColumnId(p.table, p.name) in scan.output_ids for p in parts)
    return tuple(part.name.casefold() for part in parts) if is_own else ()


def _tests(index: LookupIndex, fixed: Iterable[tuple[exp.Expr, Fixed | None]]) -> Conjuncts | None:
    """The predicates that fix all of the index's columns, and nothing else; None if one is not fixed."""
    wanted = {name.casefold() for name in index.columns}
    tests: list[exp.Expr] = []
    left = set(wanted)
    for test, of in fixed:
        if of is not None and set(of.columns) <= wanted and left & set(of.columns):
            tests.append(test)
            left -= set(of.columns)
    return None if left else tuple(tests)


def compares(index: LookupIndex, found: IndexTable, table: Table, ctx: PlanContext) -> bool:
    """Whether the index compares as the table; a note if it does not."""
    for name, own in zip(index.columns, found.searched, strict=True):
        declared, there = table.column(name), found.table.column(own)
        assert declared is not None
        assert there is not None
        is_kept = index.index_table is not None
        if not (compare_alike(declared, there, ctx) if is_kept else compares_alike_anywhere(declared, ctx)):
            why = f"{table.name}.{declared.name} may compare otherwise than {found.table.name}.{there.name}"
            decline(index, OfIndex.OTHER_EQUALITY, why, ctx)
            return False
    for key in found.keys:
        if not _is_alike(key, found, table, ctx):
            why = f"{found.table.name}.{key.name} is not of the type of the shard key"
            decline(index, OfIndex.OTHER_EQUALITY, why, ctx)
            return False
    return True


def _is_alike(key: KeyColumn, found: IndexTable, table: Table, ctx: PlanContext) -> bool:
    there = found.table.column(key.name)
    assert there is not None
    dialect = ctx.catalog.dialect
    families = {c.name.lower(): type_family(c.type, dialect) for c in table.columns or ()}
    return keys.family_of(key.expr, families, dialect) is type_family(there.type, dialect)


# ------------------------------------------------------------------ the query, and what it says


@dataclass(frozen=True, slots=True)
class _Lookup:
    """An index that is asked with a scan's predicates."""

    index: LookupIndex
    found: IndexTable
    scan: Scan
    tests: Conjuncts

    def query(self, ctx: PlanContext) -> Node:
        """The keys of the rows that pass; of a table that the application keeps, beside what was found."""
        index = scan_of_index(self.index, self.found, ctx)
        own = dict(zip((name.casefold() for name in self.index.columns), self.found.searched, strict=True))
        by: dict[ColumnId, exp.Expr] = {
            o.id: column(ColumnId(index.rel, own[o.id.name.casefold()]))
            for o in self.scan.columns
            if o.id.name.casefold() in own
        }
        tests = tuple(replace_columns(test, by) for test in self.tests)
        names = [key.name for key in self.found.keys]
        names += self.found.searched if self._is_kept else ()
        items = tuple(Item(f"key{n}", column(ColumnId(index.rel, name))) for n, name in enumerate(names, 1))
        rel = f"keys of {self.index.name} for {self.scan.rel}"
        keys = Project(input=Filter(input=index, conjuncts=tests), rel=rel, items=items)
        return Distinct(input=keys) if self._is_kept else keys

    @property
    def _is_kept(self) -> bool:
        return self.index.index_table is not None

    def unknown(self, name: str) -> exp.Expr:
        """The condition while the keys are not known: what EXPLAIN shows."""
        parts = self._targets()
        this = parts[0] if len(parts) == 1 else exp.Tuple(expressions=parts)
        return exp.In(this=this, expressions=[exp.Placeholder(this=name)])

    def _targets(self) -> list[exp.Expr]:
        """The key's parts over the scan's columns."""
        ids = {o.id.name.casefold(): o.id for o in self.scan.columns}

        def own(part: exp.Expr) -> exp.Expr:
            return column(ids[part.name.casefold()]) if type(part) is exp.Column else part

        return [key.expr.copy().transform(own) for key in self.found.keys]

    def condition(self, name: str, bound: Bound, ctx: PlanContext) -> exp.Expr | None:
        """What the keys say of the scan's rows; None, and a note, where they say nothing."""
        width = len(self.found.keys)
        if bound.rows is None or not all(_travels(bound, n, ctx) for n in range(width)):
            why = "the keys found are too many, or not the same once they were read"
            decline(self.index, OfIndex.KEYS_UNKNOWN, why, ctx)
            return None
        if self._is_kept and not self._has_all([row[width:] for row in bound.rows], ctx):
            why = f"{self.found.table.name} does not have each value"
            decline(self.index, OfIndex.MISS, why, ctx)
            return None
        rows = different(tuple(row[:width]) for row in bound.rows)
        return _condition(self._targets(), rows, bound.types, name, ctx) if rows else exp.false()

    def _has_all(self, found: Sequence[tuple[Any, ...]], ctx: PlanContext) -> bool:
        """Whether each of the values that are asked for was found.

        Found values are some of those asked for, so that as many different ones are all of them. Where values
        that are equal need not be the same they cannot be counted, unless there is one.
        """
        fixed = [of for of in (fixed_by(test, self.scan) for test in self.tests) if of is not None]
        wanted = reduce(lambda product, of: product * of.values, fixed, 1)
        if wanted == 1:
            return bool(found)
        columns = [self.scan.table.column(name) for name in self.index.columns]
        families = [type_family(c.type, ctx.catalog.dialect) for c in columns if c is not None]
        are_counted = all(family in _COUNTED for family in families)
        are_counted = are_counted and ctx.dialect.constants.keys_fit
        return are_counted and len(set(found)) == wanted


_COUNTED: Final = frozenset({Family.INT, Family.DATE, Family.UUID})


def _condition(
    targets: Sequence[exp.Expr],
    rows: Sequence[tuple[Any, ...]],
    types: Sequence[str],
    name: str,
    ctx: PlanContext,
) -> exp.Expr:
    """That the targets are together one of the rows; or, where these are many, each one of its column's."""

    def value(row: int, n: int) -> exp.Expr:
        return _constant(f"{name}_{row}_{n}", rows[row][n], types[n], ctx)

    if len(targets) == 1 or len(rows) > KEYS_TOGETHER_MAX:
        return all_of(tuple(_among(t, n, rows, value) for n, t in enumerate(targets)))
    whole = [
        all_of(tuple(_is(t, rows[r][n], lambda r=r, n=n: value(r, n)) for n, t in enumerate(targets)))
        for r in range(len(rows))
    ]
    return any_of(tuple(whole)) if len(whole) > 1 else whole[0]


def _among(target: exp.Expr, n: int, rows: Sequence[tuple[Any, ...]], value: Any) -> exp.Expr:
    places = {told_apart(row[n]): r for r, row in reversed(list(enumerate(rows)))}
    has_null = places.pop(None, None) is not None
    members = [value(r, n) for r in sorted(places.values())]
    is_null = exp.Is(this=target.copy(), expression=exp.Null())
    if not members:
        return is_null
    listed = exp.In(this=target.copy(), expressions=members)
    return exp.Or(this=listed, expression=is_null) if has_null else listed


def _is(target: exp.Expr, given: Any, value: Any) -> exp.Expr:
    if given is None:
        return exp.Is(this=target.copy(), expression=exp.Null())
    return exp.EQ(this=target.copy(), expression=value())


def _travels(bound: Bound, n: int, ctx: PlanContext) -> bool:
    """Whether a column's values are the same once they were read. A text is: it is compared with the key as a
    constant, by the key's own collation. So is a whole number, in any dialect."""
    if all(_is_plain(row[n]) for row in bound.rows or ()):
        return True
    return ctx.early.travels(_only(bound, n))


def _is_plain(value: Any) -> bool:
    return value is None or type(value) in (str, UUID) or (type(value) is int and abs(value) < 2**63)


def _only(bound: Bound, n: int) -> Bound:
    rows = None if bound.rows is None else [(row[n],) for row in bound.rows]
    return Bound((bound.types[n],), rows)


def _constant(name: str, value: Any, type_text: str, ctx: PlanContext) -> exp.Expr:
    """A value as a parameter: as it is where it is compared so, else of the type that the index gave it."""
    parameter = ctx.parameters.bind_value(name, value)
    typed = ctx.early.value(parameter.copy(), type_text)
    like = type_like(value)
    if like is not None:
        parameter.set(LIKE, like)
    is_plain = type(value) in (int, str)
    known = ctx.parameters.as_constants(typed, ctx.dialect.literal_of)
    return parameter if is_plain or ctx.dialect.constants.read(known) is None else typed
